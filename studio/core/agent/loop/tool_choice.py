"""Which tools the model is informed of, where a prompt has more than it wants to show at once.

The program of the published instructions prompt retrieves its tools by the question. Here
`metadata.agent.most_tools` says how many; they are chosen by the words that tool and question
share, or by a model that embeds both (`metadata.agent.tools_embedding`).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.tool_spec import ToolSpec

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_BY_WORDS = "by the words of the question"


@dataclass(frozen=True, slots=True)
class ToolScores:
    """The scores of tools for a run's question, and their source."""

    points: Sequence[float] = ()
    """One number for each tool, in their order; empty where their words decide."""

    by: str = _BY_WORDS
    """Source of the scores, as words that follow "3 of 5 tools, "."""


BY_WORDS = ToolScores()
"""The words of the question decide."""


@dataclass(frozen=True, slots=True)
class EmbeddingWish:
    """The texts that a run sends to an embedding model before it begins."""

    model: str
    """The model's id, at the connection of the run."""

    texts: tuple[str, ...] = field(repr=False)
    """The question, then each tool."""

    def scores(self, vectors: Sequence[Sequence[float]]) -> ToolScores:
        """Score the similarity of each tool to the question by their vectors."""
        question, *others = vectors
        points = tuple(_cosine(question, each) for each in others)
        return ToolScores(points, f"by the embedding {self.model}")

    def failed(self, why: str) -> ToolScores:
        """Return the scores without vectors, with the reason."""
        return ToolScores((), f"{_BY_WORDS}, since the embedding {self.model} failed ({why})")


def embedding_wish(
    document: PromptDocument, question: str, tools: Sequence[ToolSpec]
) -> EmbeddingWish | None:
    """Return the texts to embed before a run; None if words decide or all tools are sent."""
    model = agent_settings(document).get("tools_embedding")
    if not isinstance(model, str) or not model.strip() or not question.strip():
        return None
    if not _limit(document, tools):
        return None
    return EmbeddingWish(model.strip(), (question, *map(_text, tools)))


def chosen_tools(
    document: PromptDocument,
    question: str,
    tools: Sequence[ToolSpec],
    scores: ToolScores = BY_WORDS,
) -> tuple[ToolSpec, ...]:
    """The tools that fit the question best, in the order that they have; all without a limit.

    A word counts the more, the fewer tools have it. Of tools that fit alike the first are taken.

    Args:
        document: the prompt.
        question: what the user asks at the start of the run.
        tools: all that there are.
        scores: how well each of them fits.
    """
    most = _limit(document, tools)
    if not most:
        return tuple(tools)
    points = scores.points or _points_of_words(question, tools)
    ranked = sorted(range(len(tools)), key=lambda number: (-points[number], number))
    return tuple(tools[number] for number in sorted(ranked[:most]))


def _limit(document: PromptDocument, tools: Sequence[ToolSpec]) -> int:
    """Return the maximum number of tools that are sent; 0 for all."""
    most = agent_settings(document).get("most_tools")
    is_limit = isinstance(most, int) and not isinstance(most, bool) and 0 < most < len(tools)
    return int(str(most)) if is_limit else 0


def _points_of_words(question: str, tools: Sequence[ToolSpec]) -> list[float]:
    described = [_words(_text(tool)) for tool in tools]
    spread = Counter(word for words in described for word in words)
    asked = _words(question)
    weights = {word: math.log(1 + len(tools) / spread[word]) for word in asked if spread[word]}
    return [sum(weights.get(word, 0.0) for word in words) for words in described]


def _cosine(one: Sequence[float], other: Sequence[float]) -> float:
    lengths = math.hypot(*one) * math.hypot(*other)
    product = sum(x * y for x, y in zip(one, other, strict=True))  # math.sumprod is of 3.12
    return product / lengths if lengths else 0.0


def choice_words(
    chosen: Sequence[ToolSpec], tools: Sequence[ToolSpec], scores: ToolScores = BY_WORDS
) -> str:
    """Describe the choice of tools; empty if none was left out."""
    if len(chosen) == len(tools):
        return ""
    names = ", ".join(tool.name for tool in chosen)
    return f"{len(chosen)} of {len(tools)} tools, {scores.by}: {names}"


def choice_before_run(
    document: PromptDocument,
    question: str,
    chosen: Sequence[ToolSpec],
    tools: Sequence[ToolSpec],
) -> str:
    """Say which tools would be chosen, before a model is asked; empty where none is left out."""
    if len(chosen) == len(tools):
        return ""
    wish = embedding_wish(document, question, tools)
    scores = BY_WORDS
    if wish is not None:
        scores = ToolScores((), f"{_BY_WORDS} (a run asks the embedding {wish.model})")
    return choice_words(chosen, tools, scores)


def _text(tool: ToolSpec) -> str:
    properties = tool.parameters.get("properties")
    names = properties.keys() if isinstance(properties, Mapping) else ()
    return " ".join((_HUMP.sub(" ", tool.name), tool.description, *names))


def _words(text: str) -> frozenset[str]:
    """The words of a text in their stems, as far as a plural `s` goes."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found)
