"""Build the setup of a run from a document, values and options.

Also selects the tools that the model gets, and the variables that the first step adds.
"""

import math
import re
import uuid
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from studio.core.agent.loop.steps import new_state
from studio.core.agent.protocols.loops import choose_protocol, loop_of, reading_style
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Final, Limits, Reading, RunModel, RunSetup, Step
from studio.core.models.base import PROTOCOLS, ChatModel, ProtocolName, place_of
from studio.core.models.capabilities import price_source
from studio.core.prompty import loop_format
from studio.core.prompty.checks.secrets import source_without_secrets
from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.front.declarations import output_schema
from studio.core.prompty.inputs import resolve_inputs
from studio.core.prompty.parse import parse
from studio.core.text.amounts import LARGEST
from studio.core.text.values import Json, JsonDict, JsonObject

# Selects the tools that the model gets, if a prompt limits how many are sent at once.

_WORD = re.compile(r"[^\W_]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


_BY_WORDS = "by the words of the question"


@dataclass(frozen=True, slots=True)
class ToolScores:
    """The scores of tools for a run's question, and their source."""

    points: Sequence[float] = ()
    """One score for each tool, in their order; empty if the tools are scored by words."""

    by: str = _BY_WORDS
    """Source of the scores, as words that follow "3 of 5 tools, "."""


BY_WORDS = ToolScores()
"""Scores by the words of the question."""


@dataclass(frozen=True, slots=True)
class EmbeddingWish:
    """The texts that a run sends to an embedding model before it begins."""

    model: str
    """The model's id at the run's connection."""

    texts: tuple[str, ...] = field(repr=False)
    """The question, then the description of each tool."""

    def scores(self, vectors: Sequence[Sequence[float]]) -> ToolScores:
        """Return the scores of the tools: how similar each embedding is to that of the question."""
        question, *others = vectors
        points = tuple(_cosine(question, each) for each in others)
        return ToolScores(points, f"by the embedding {self.model}")

    def failed(self, why: str) -> ToolScores:
        """Return scores by words, with the reason why there are no embeddings."""
        return ToolScores((), f"{_BY_WORDS}, since the embedding {self.model} failed ({why})")


def embedding_wish(
    document: PromptDocument, question: str, tools: Sequence[ToolSpec]
) -> EmbeddingWish | None:
    """Return the texts to embed before a run; None if no tools are left out or words decide."""
    model = loop_format.agent_settings(document).get("tools_embedding")
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
    """Return the tools that fit the question best, in their original order; all without a limit.

    A word that fewer tools contain counts more. Ties are decided by the order of the tools.

    Args:
        document: the prompt.
        question: the user's question at the start of the run.
        tools: all available tools.
        scores: the score of each tool.
    """
    most = _limit(document, tools)
    if not most:
        return tuple(tools)
    points = scores.points or _points_of_words(question, tools)
    ranked = sorted(range(len(tools)), key=lambda number: (-points[number], number))
    return tuple(tools[number] for number in sorted(ranked[:most]))


def _limit(document: PromptDocument, tools: Sequence[ToolSpec]) -> int:
    """Return the maximum number of tools to send; 0 for no limit."""
    most = loop_format.agent_settings(document).get("most_tools")
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
    product = sum(x * y for x, y in zip(one, other, strict=True))  # math.sumprod needs Python 3.12
    return product / lengths if lengths else 0.0


def choice_words(
    chosen: Sequence[ToolSpec], tools: Sequence[ToolSpec], scores: ToolScores = BY_WORDS
) -> str:
    """Describe how many tools were chosen, and by which method; empty if none was left out."""
    if len(chosen) == len(tools):
        return ""
    names = ", ".join(tool.name for tool in chosen)
    return f"{len(chosen)} of {len(tools)} tools, {scores.by}: {names}"


def choice_before_run(
    document: PromptDocument, question: str, chosen: Sequence[ToolSpec], tools: Sequence[ToolSpec]
) -> str:
    """Describe the tools that would be chosen before a run; empty if none is left out."""
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
    """Return the stems of a text's words, without a plural `s`."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(word[:-1] if len(word) > 3 and word.endswith("s") else word for word in found)


# The "compose answer" step: a second prompt writes the answer if the last reply has no text.


def compose_template(document: PromptDocument) -> str:
    """Return the template of the "compose answer" step; empty if the prompt has none."""
    text = loop_format.agent_settings(document).get("compose")
    return text if isinstance(text, str) else ""


def compose_document(document: PromptDocument) -> PromptDocument:
    """Return the prompt with that template as its body: same model, inputs and dialect."""
    before = document.source.text[: document.body.start]
    return parse(before + compose_template(document), document.source.path)


def must_compose(state: RunState, reading: Reading) -> bool:
    """Return whether a final reply has no text and the prompt has a template to write one."""
    return leaves_words(state.setup, reading) and not state.composing


def leaves_words(setup: RunSetup, reading: Reading | None) -> bool:
    """Return whether the answer's text is written by the step after this one."""
    wordless = isinstance(reading, Final) and reading.composed_elsewhere and not reading.answer
    return wordless and bool(setup.compose)


def tools_output(steps: Iterable[Step]) -> str:
    """List the results of the tools, a line each: `- search: Rome`."""
    return "\n".join(
        f"- {call.tool}: {call.observation or ''}" for step in steps for call in step.calls
    )


USUAL_COST = 10.0
"""Default limit of a run's cost, in US dollars."""


def make_setup(
    document: PromptDocument,
    inputs: JsonObject,
    tools: tuple[ToolSpec, ...],
    model: ChatModel,
    options: RunOptions,
    *,
    run: str | None = None,
    scores: ToolScores = BY_WORDS,
) -> RunSetup:
    """Build the setup of a run; `run` is its id, created here if none is given.

    `scores` rank the tools if a limit leaves some of them out.
    """
    settings = loop_format.agent_settings(document)
    choice = choose_protocol(document, options.protocol)
    values = resolve_inputs(document, inputs).sent
    stop = options.stop
    if stop is None:
        stop = stop_sequences(document, choice.protocol)
    parallel = options.parallel
    if parallel is None:
        parallel = loop_format.parallel_calls(document) is True
    question = question_of(document, values)
    offered = chosen_tools(document, question, tools, scores)
    reason = "; ".join(filter(None, (choice.reason, choice_words(offered, tools, scores))))
    answers = run_model_of(model)
    return RunSetup(
        run=run or uuid.uuid4().hex[:12],
        prompt=document.name or (document.source.path.stem if document.source.path else ""),
        path=str(document.source.path or ""),
        source=source_without_secrets(document),
        protocol=choice.protocol,
        protocol_reason=reason,
        inputs=dict(inputs),
        question=question,
        tools=tuple(_recorded(document, offered)),
        model=answers.name,
        model_id=answers.id,
        provider=answers.provider,
        server=answers.server,
        price=answers.price,
        options=loop_format.sent_options(document, document.model.options),
        stop=stop,
        response_schema=output_schema(document.outputs),
        limits=options.limits or limits_of(document),
        parallel=parallel,
        headless=options.headless,
        final_words=_texts(settings.get("final_words")),
        compose=compose_template(document),
        plain_is_final=options.plain_is_final,
        repairs=options.repairs,
        repair=options.repair,
        reading=reading_style(document),
        context_budget=options.context_budget,
    )


def _recorded(document: PromptDocument, tools: Sequence[ToolSpec]) -> Iterator[ToolSpec]:
    """Yield the tools for the journal: a server's instructions only once, as they are sent."""
    told = {""}
    if all(each.name != "server_instructions" for each in document.variables):
        told |= {tool.instructions for tool in tools}
    for tool in tools:
        instructions = "" if tool.instructions in told else tool.instructions
        told.add(instructions)
        yield replace(tool, span=None, instructions=instructions)


def run_model_of(model: ChatModel, *, priced: bool = True) -> RunModel:
    """Return the model as the journal records it, without its price if `priced` is False."""
    place = place_of(model)
    price = price_source(model) if priced else ""
    return RunModel(model.label, place.model, place.provider, place.server, price)


def with_inputs(setup: RunSetup, document: PromptDocument, inputs: JsonObject) -> RunSetup:
    """Return the setup with other inputs; all else stays the same.

    Only the choice of tools depends on the question, so use this for setups without tools.
    """
    assert not setup.tools
    values = resolve_inputs(document, inputs).sent
    return replace(setup, inputs=dict(inputs), question=question_of(document, values))


def told_tools(
    document: PromptDocument, values: JsonObject, tools: Sequence[ToolSpec]
) -> tuple[ToolSpec, ...]:
    """Return the tools that the model gets for the question among some values."""
    return chosen_tools(document, question_of(document, values), tools)


def stop_sequences(document: PromptDocument, protocol: ProtocolName) -> tuple[str, ...]:
    """Return the stop sequences of a reply: the agent settings', else the protocol's default."""
    return _texts(loop_format.agent_settings(document).get("stop")) or tuple(
        PROTOCOLS[protocol].stops
    )


def _texts(value: Json) -> tuple[str, ...]:
    if isinstance(value, str):
        return (value,)
    if isinstance(value, list | tuple):
        return tuple(item for item in value if isinstance(item, str))
    return ()


def limits_of(document: PromptDocument) -> Limits:
    """Return the limits at which a run pauses: the prompt's, else defaults that few runs reach."""
    settings = loop_format.agent_settings(document)
    allowed = settings.get("max_iterations")
    is_count = isinstance(allowed, int) and not isinstance(allowed, bool) and allowed >= 0
    return Limits(
        iterations=min(int(str(allowed)), LARGEST) if is_count else 10,
        tokens=int(_positive(settings, "max_tokens", 2_000_000)),
        cost=_positive(settings, "max_cost", USUAL_COST),
        seconds=_positive(settings, "max_seconds", 3600.0),
    )


def _positive(settings: JsonObject, name: str, usual: float) -> float:
    """Return a limit that the prompt sets; infinity if it is not a positive number."""
    value = settings.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float) or value <= 0:
        return usual
    return float(min(value, LARGEST))  # Python's float cannot hold a larger integer


def question_of(document: PromptDocument, values: JsonObject) -> str:
    """Return the user's question: the input with a usual name, else the first text input."""
    for name in loop_format.QUESTION_NAMES:
        if isinstance(value := values.get(name), str):
            return value
    for item in document.inputs:
        if isinstance(value := values.get(item.name), str) and item.kind == "string":
            return value
    thread = next(
        (values.get(item.name) for item in document.inputs if item.kind == "thread"), None
    )
    if isinstance(thread, list | tuple):
        for entry in reversed(thread):
            if isinstance(entry, Mapping) and entry.get("role") == "user":
                return str(entry.get("content") or "")
    return ""


def first_step_values(
    document: PromptDocument,
    inputs: JsonObject,
    tools: Sequence[ToolSpec],
    protocol: ProtocolName | None = None,
) -> JsonDict:
    """Return the reserved variables of the prompt's protocol (docs/design/file-format.md).

    Args:
        document: the prompt.
        inputs: the user's values; they take precedence over the loop's.
        tools: the tools that the model may call.
        protocol: replaces the prompt's own.
    """
    question = question_of(document, resolve_inputs(document, inputs).sent)
    setup = RunSetup(
        run="",
        inputs=dict(inputs),
        question=question,
        protocol=choose_protocol(document, protocol).protocol,
        tools=chosen_tools(document, question, tools),
        reading=reading_style(document),
    )
    given = loop_of(setup.protocol).variables(new_state(setup), setup.reading.looped)
    declared = {item.name for item in document.inputs}
    return {name: value for name, value in given.items() if name not in declared}


def previewed_values(
    document: PromptDocument,
    inputs: JsonObject,
    tools: Sequence[ToolSpec],
    protocol: ProtocolName | None = None,
    *,
    samples: bool = True,
) -> tuple[JsonDict, frozenset[str]]:
    """Return the loop's variables for the first call in a preview, and the names that are samples.

    Variables that are empty at first (the history) keep their sample, which shows their format.

    Args:
        document: the prompt.
        inputs: the user's values.
        tools: the tools that the model may call.
        protocol: replaces the prompt's own.
        samples: whether to fill in samples.
    """
    if not samples:
        return first_step_values(document, inputs, tools, protocol), frozenset()
    resolution = resolve_inputs(document, inputs)
    shown = resolution.shown
    question = loop_format.question_input(document)
    named = {item.name for item in document.inputs} | {question}
    filled = {name: shown[name] for name in named & shown.keys()}
    values = first_step_values(document, {**filled, **inputs}, tools, protocol)
    later = _LATER if tools else _LATER | {"tools", "tool_names"}
    used = {variable.name for variable in document.variables} - later
    values = {name: each for name, each in values.items() if name in used}
    return values, _QUESTIONS & values.keys() if question in resolution.samples else frozenset()


_LATER = frozenset({"history", "agent_scratchpad"})
_QUESTIONS = frozenset({"question", "input", "chat_history"})
