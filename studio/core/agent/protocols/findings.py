"""Findings of reading a reply: spans, remarks and errors, for both text protocols.

The remarks that a reading can carry, each a stable code and one sentence.

Finding labels ("Thought:", "Action:", …) at the starts of lines, and nowhere else.
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Literal, Protocol, TypeAlias

from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import (
    FormatError,
    FormatErrorCode,
    ReadAs,
    Reading,
    ReadingWarning,
    ReadSpan,
    Refused,
    Repair,
)
from studio.core.models.base import PROTOCOLS, ProtocolName
from studio.core.paths import resource_table
from studio.core.prompty.document import Message, ToolSpec
from studio.core.text.naming import nearest
from studio.core.text.source import Span
from studio.core.text.values import JsonDict
from studio.core.wire.reply import Reply

# The seam between the machine and the three ways a prompt and a model speak about tools.


@dataclass(frozen=True)
class ReadRules:
    """The rules for reading a reply."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools offered; a tool with one parameter may take a bare value."""

    final_words: tuple[str, ...] = ()
    """Further words that end a JSON-action run."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    free_text: bool = False
    """Whether the prompt teaches `Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run, without colon ("Answer", "AI")."""

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool of that exact name."""
        return next((tool for tool in self.tools if tool.name == name), None)


class LoopProtocol(Protocol):
    """One way of asking for tools and of reading a reply. Stateless."""

    @property
    def name(self) -> ProtocolName:
        """Its name."""
        ...

    @property
    def rerenders(self) -> bool:
        """Whether the template is rendered again for every step."""
        ...

    def variables(self, state: RunState, looped: frozenset[str]) -> JsonDict:
        """Return the variables of the template besides the user's inputs.

        Names in `looped` (those that the template loops over) are given as lists, others as text.
        """
        ...

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply. Total, pure, bounded; independent of how the text is split into chunks."""
        ...

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Return the messages that follow the rendered ones: bad replies with errors, steering."""
        ...


def only_parameter(tool: ToolSpec | None) -> str | None:
    """Return the name of a tool's one and only parameter (or of its only required one)."""
    if tool is None:
        return None
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return None
    if len(properties) == 1:
        return next(iter(properties))
    required = tool.parameters.get("required")
    if isinstance(required, list | tuple) and len(required) == 1:
        return str(required[0])
    return None


def takes_text(tool: ToolSpec | None) -> bool:
    """Return whether a tool's only parameter is a string (or says nothing of its type)."""
    name = only_parameter(tool)
    if tool is None or name is None:
        return False
    properties = tool.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind in (None, "string")


# What the model is told when something went wrong; every text can be edited in its step.

INTERRUPTED = "The tool call was interrupted before a result was produced."
"""Result of a call that has none, so that the history stays legal for the provider."""

RAN_WITHOUT_RESULT = "The tool ran, but its result was lost."
"""Result of a call that the user knows to have run."""

SKIPPED = "The tool was not run."
"""Result of a call that the user took out."""


def format_feedback(protocol: ProtocolName, message: str) -> str:
    """Return the one-line observation after a reply that could not be read."""
    facts = PROTOCOLS[protocol]
    return f"{facts.result_label} Error: {message.rstrip('.')}. {facts.correction}".lstrip()


def unknown_tool(name: str, known: Sequence[str]) -> str:
    """Return the observation for a tool that does not exist."""
    if not known:
        return f"Error: {name} is not a valid tool; no tools are available."
    near = nearest(name, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"Error: {name} is not a valid tool, try one of [{', '.join(known)}].{hint}"


def bad_call(problems: Sequence[str]) -> str:
    """Return the observation for arguments that cannot be used."""
    return "Error: " + "; ".join(problem.rstrip(".") for problem in problems) + "."


def rejected(reason: str) -> str:
    """Return the observation for a call that the user (or a rule) did not allow."""
    return (
        f"Error: The call was not allowed: {reason}"
        if reason
        else "Error: The call was not allowed."
    )


# `<think>` blocks: shown as reasoning, never parsed.

_OPEN = re.compile(r"(?:^|(?<=\n))[ \t]*<(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextWithoutReasoning:
    """A text with its reasoning blanked out; offsets stay as they were."""

    text: str
    """The same length as the raw text."""

    reasoning: str
    """Text of the reasoning blocks, joined by blank lines."""

    spans: tuple[Span, ...]
    """Places of the blocks, with their tags."""

    is_open: bool = False
    """Whether the last block never ends."""

    def piece(self, start: int, end: int) -> str:
        """Return the text between two places, blocks left out."""
        pieces: list[str] = []
        for span in self.spans:
            if span.end <= start or span.start >= end:
                continue
            pieces.append(self.text[start : max(start, span.start)])
            start = min(end, span.end)
        pieces.append(self.text[start:end])
        return "".join(pieces)


def blank_reasoning(raw: str) -> TextWithoutReasoning:
    """Blank out reasoning blocks that begin at the start of a line.

    A text whose template opened the block already has only the closing tag: all before it is
    reasoning. A block that never ends takes the rest.
    """
    spans: list[Span] = []
    pieces: list[str] = []
    at, is_open = 0, False
    if (bare := _bare_close(raw)) is not None:
        spans.append(Span(0, bare.end()))
        pieces.append(raw[: bare.start()].strip())
        at = bare.end()
    while (found := _OPEN.search(raw, at)) is not None:
        close = re.compile(f"</{found.group(1)}>", re.IGNORECASE).search(raw, found.end())
        end = close.end() if close else len(raw)
        pieces.append(raw[found.end() : close.start() if close else end].strip())
        spans.append(Span(found.start(), end))
        at, is_open = end, close is None
    if not spans:
        return TextWithoutReasoning(raw, "", ())
    blanked: list[str] = []
    done = 0
    for span in spans:
        blanked += (raw[done : span.start], " " * len(span))
        done = span.end
    blanked.append(raw[done:])
    return TextWithoutReasoning("".join(blanked), "\n\n".join(pieces), tuple(spans), is_open)


def _bare_close(raw: str) -> re.Match[str] | None:
    close = re.search(r"</(?:think|thinking|reasoning)>[ \t]*(?=\n|\Z)", raw, re.IGNORECASE)
    if close is None:
        return None
    opened = re.search(r"<(?:think|thinking|reasoning)>", raw[: close.start()], re.IGNORECASE)
    stands_alone = raw[raw.rfind("\n", 0, close.start()) + 1 : close.start()].strip() == ""
    return close if opened is None and (stands_alone or not _has_label(raw, close)) else None


def _has_label(raw: str, close: re.Match[str]) -> bool:
    return re.search(r"(?m)^\s*(?:Action|Final Answer|\{)", raw[: close.start()]) is not None


_DECISION = re.compile(r"(?m)^[ \t*]{0,9}(?:Thought|Action|Final Answer)[ \t*]{0,9}:|^[ \t]{0,9}\{")
_BLANK_LINE = re.compile(r"\n[ \t]*\n")


def open_thinking(
    reply: Reply, thinking: TextWithoutReasoning, *, decides: bool
) -> FormatError | None:
    """Report a reply of nothing but unended thinking, with a way to end it.

    Args:
        reply: the reply.
        thinking: its text without the thinking.
        decides: whether labels or JSON in it may be what the reply decides.
    """
    if not thinking.is_open or thinking.text.strip():
        return None
    if reply.finish_reason == "length":
        return FormatError(code="truncated", message="The reply was cut off in its thinking")
    start, end = thinking.spans[-1].start, len(reply.text)
    inside = reply.text.find(">", start) + 1
    decision = _DECISION.search(reply.text, inside) if decides else None
    if decision is not None:
        place, after = decision.start(), "</think>\n"
    else:
        paragraphs = [found.end() for found in _BLANK_LINE.finditer(reply.text.rstrip(), inside)]
        place, after = (paragraphs[-1] if paragraphs else inside), "</think>\n\n"
    words = reply.text[place:end].strip()
    message = "The reply never ends its thinking"
    if not words:
        return FormatError(code="thought_only", message=message)
    title = "End the thinking before the action" if decision else "End the thinking before the end"
    tag = re.match(r"<(\w+)>", reply.text[start:].lstrip())
    closing = after.replace("think", tag.group(1)) if tag else after
    repair = Repair("unclosed_think", title, "", closing, Span(place, place))
    return FormatError(code="thought_only", message=message, answer=words, repairs=(repair,))


LabelKind: TypeAlias = Literal["thought", "action", "args", "final", "observation"]
"""Kind of a label."""

_WORDS: dict[str, LabelKind] = {
    "Thought": "thought",
    "Action": "action",
    "Args": "args",
    "Action Input": "args",
    "Final Answer": "final",
    "Observation": "observation",
}
# Runs of blanks are bounded: two in a row would make a line of a million blanks quadratic.
_DECORATION = r"[ \t]{0,20}(?:[-*+>#][ \t]{1,9}|#{1,6}[ \t]{1,9}|\d{1,9}[.)][ \t]{1,9})?"


@dataclass(frozen=True, slots=True)
class Label:
    """One label."""

    kind: LabelKind
    """Kind of the label."""

    word: str
    """As written, without colon."""

    start: int
    """First character of the line's label, decoration included."""

    end: int
    """One past the colon (and its closing `**`)."""

    is_strict: bool
    """Whether it is written exactly as the prompt says."""


@lru_cache(maxsize=16)
def _patterns(extra_final: tuple[str, ...]) -> tuple[re.Pattern[str], re.Pattern[str]]:
    words = sorted((*_WORDS, *extra_final), key=len, reverse=True)
    either = "|".join(re.escape(word).replace(r"\ ", r"[ \t]{1,9}") for word in words)
    strict = re.compile(rf"^[ \t]*(?P<word>{either}):", re.MULTILINE)
    bold = r"(?P<mark>\*\*|__|`)?"
    lenient = re.compile(
        rf"^{_DECORATION}{bold}[ \t]{{0,9}}(?P<word>{either})"
        r"[ \t]{0,9}(?:#?\d{1,9})?[ \t]{0,9}"
        r"(?:(?P=mark)[ \t]{0,9}[:：]|[:：][ \t]{0,9}(?P=mark)|(?(mark)(?!)|[:：]))",
        re.MULTILINE | re.IGNORECASE,
    )
    return strict, lenient


def find_labels(
    text: str, *, lenient: bool, extra_final: tuple[str, ...] = (), start: int = 0
) -> Iterator[Label]:
    """Yield the labels from `start` on, in order of place.

    Strictly: the exact word and a colon after blanks at most. Leniently also: any case, bold,
    numbered, a list or heading mark before it, a full-width colon.
    """
    strict_form, lenient_form = _patterns(extra_final)
    kinds = {word.lower(): kind for word, kind in _WORDS.items()}
    kinds |= {word.lower(): "final" for word in extra_final}
    for found in (lenient_form if lenient else strict_form).finditer(text, start):
        word = " ".join(found.group("word").split())
        place = found.start() + len(found.group()) - len(found.group().lstrip())
        exact = strict_form.match(text, found.start()) is not None
        yield Label(kinds[word.lower()], word, place, found.end(), exact)


_MESSAGES = resource_table("words", "reading_warnings.txt")["warnings"]


def remark(code: str, *words: str, span: Span | None = None) -> ReadingWarning:
    """Return the remark of that code about `words`."""
    return ReadingWarning(code, _MESSAGES[code].format(*words), span)


class Findings:
    """One pass over one reply; the lists collect what is found."""

    def __init__(self, reply: Reply, thinking: TextWithoutReasoning, rules: ReadRules) -> None:
        self.reply = reply
        """The reply, whole."""
        self.text = thinking.text
        """Its text, the model's thinking blanked."""
        self.rules = rules
        """Rules of the reading."""
        self._thinking = thinking
        self._spans: list[ReadSpan] = []
        self._warnings: list[ReadingWarning] = []

    @property
    def refusal(self) -> Refused | None:
        """Return the reading of a refusal."""
        if self.reply.refusal or self.reply.finish_reason == "refusal":
            return Refused(text=self.reply.refusal or self.reply.text.strip())
        return None

    @property
    def open_thinking(self) -> FormatError | None:
        """Return the reading of a reply whose thinking block never ends."""
        return open_thinking(self.reply, self._thinking, decides=True)

    @property
    def without_text(self) -> FormatError:
        """Return the reading of a reply without text."""
        match self.reply.finish_reason:
            case "length":
                return self.open_thinking or self.error(
                    "truncated", "The reply ended at the token limit before any text"
                )
            case "content_filter":
                return self.error("filtered", "The provider's filter removed the reply")
            case _:
                return self.open_thinking or self.error("empty", "The reply is empty")

    @property
    def spans(self) -> tuple[ReadSpan, ...]:
        """Return the spans of the parts."""
        return tuple(self._spans)

    @property
    def warnings(self) -> tuple[ReadingWarning, ...]:
        """The remarks."""
        return tuple(self._warnings)

    def raw(self, start: int, end: int) -> str:
        """Return a piece of the reply without its thinking."""
        return self._thinking.piece(start, end)

    def piece(self, start: int, end: int) -> str:
        """Return a piece of the reply, without blanks around it."""
        return self.raw(start, end).strip()

    def mark(self, label: ReadAs, start: int, end: int) -> str:
        """Note what `start`–`end` (blanks aside) was read as, and give its text."""
        piece = self.text[start:end]
        span = Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
        if span.end > span.start:
            self._spans.append(ReadSpan(label, span))
        return self.piece(start, end)

    def label(self, label: Label) -> None:
        """Note a label, and once that one is not written as it should be."""
        span = Span(label.start, label.end)
        self._spans.append(ReadSpan("label", span))
        known = any(item.code == "loose_label" for item in self._warnings)
        if not label.is_strict and not known:
            self.warn("loose_label", self.text[label.start : label.end], span=span)

    def warn(self, code: str, *words: str, span: Span | None = None) -> None:
        """Note a remark."""
        self._warnings.append(remark(code, *words, span=span))

    def warn_of_end(self, *, is_whole: bool = False) -> None:
        """Note that the answer was cut or filtered.

        Args:
            is_whole: whether the answer is known to be whole, because its JSON is closed.
        """
        match self.reply.finish_reason:
            case "length" if not is_whole:
                self.warn("cut_answer")
            case "content_filter":
                self.warn("filtered_answer")
            case _:
                pass

    def error(
        self,
        code: FormatErrorCode,
        message: str,
        thought: str = "",
        *,
        tool: str = "",
        answer: str = "",
        repairs: tuple[Repair, ...] = (),
    ) -> FormatError:
        """Return the error of a reply that cannot be acted on."""
        return FormatError(
            code=code,
            message=message,
            thought=thought,
            tool=tool,
            answer=answer,
            repairs=repairs,
            spans=self.spans,
            warnings=self.warnings,
        )


def read_without_reasoning(
    reply: Reply, rules: ReadRules, read: Callable[[Findings], Reading]
) -> Reading:
    """Read a reply's text without what the model thought aloud, which is shown as reasoning."""
    thinking = blank_reasoning(reply.text)
    reasoning = "\n\n".join(piece for piece in (reply.reasoning, thinking.reasoning) if piece)
    reading = read(Findings(reply, thinking, rules))
    spans = [*reading.spans, *(ReadSpan("reasoning", span) for span in thinking.spans)]
    kept = reading.kept or thinking.piece(0, len(reply.text)).strip()
    return replace(
        reading,
        reasoning=reasoning,
        spans=tuple(sorted(spans, key=lambda item: item.span)),
        kept=kept,
    )
