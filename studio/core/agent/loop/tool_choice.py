"""Which tools the model is informed of, where a prompt has more than it wants to show at once.

The program of the published instructions prompt retrieves its tools by the question. Here
`metadata.agent.most_tools` says how many; they are chosen by the words that tool and question
share.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Mapping, Sequence

from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.tool_spec import ToolSpec

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def chosen_tools(
    document: PromptDocument, question: str, tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, ...]:
    """The tools that fit the question best, in the order that they have; all without a limit.

    A word counts the more, the fewer tools have it. Of tools that fit alike the first are taken.

    Args:
        document: the prompt.
        question: what the user asks at the start of the run.
        tools: all that there are.
    """
    most = agent_settings(document).get("most_tools")
    if not isinstance(most, int) or isinstance(most, bool) or not 0 < most < len(tools):
        return tuple(tools)
    described = [_words(_text(tool)) for tool in tools]
    spread = Counter(word for words in described for word in words)
    asked = _words(question)
    weights = {word: math.log(1 + len(tools) / spread[word]) for word in asked if spread[word]}
    points = [sum(weights.get(word, 0.0) for word in words) for words in described]
    ranked = sorted(range(len(tools)), key=lambda number: (-points[number], number))
    return tuple(tools[number] for number in sorted(ranked[:most]))


def choice_words(chosen: Sequence[ToolSpec], tools: Sequence[ToolSpec]) -> str:
    """What was chosen, in words; empty where nothing was left out."""
    if len(chosen) == len(tools):
        return ""
    names = ", ".join(tool.name for tool in chosen)
    return f"{len(chosen)} of {len(tools)} tools, by the words of the question: {names}"


def _text(tool: ToolSpec) -> str:
    properties = tool.parameters.get("properties")
    names = properties.keys() if isinstance(properties, Mapping) else ()
    return " ".join((_HUMP.sub(" ", tool.name), tool.description, *names))


def _words(text: str) -> frozenset[str]:
    """The words of a text in their stems, as far as a plural `s` goes."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found)
