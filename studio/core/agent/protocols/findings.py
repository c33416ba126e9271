"""The result of reading a reply: spans, warnings and errors, for all protocols.

Also the warnings' codes and sentences, and the search for labels ("Thought:", "Action:", …), which
count only at the start of a line.
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

# The interface between the loop and the three protocols.


@dataclass(frozen=True)
class ReadRules:
    """The rules for reading a reply."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools offered; a tool with one parameter accepts a bare value."""

    final_words: tuple[str, ...] = ()
    """Further action names that end a JSON-action run."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    free_text: bool = False
    """Whether the prompt asks for `Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run, without the colon ("Answer", "AI")."""

    def tool(self, name: str) -> ToolSpec | None:
        """Return the tool with exactly that name; None if there is none."""
        return next((tool for tool in self.tools if tool.name == name), None)


class LoopProtocol(Protocol):
    """A protocol: the variables of the prompt, and how a reply is read. Stateless."""

    @property
    def name(self) -> ProtocolName:
        """Name of the protocol."""
        ...

    @property
    def rerenders(self) -> bool:
        """Whether the template is rendered again for every step."""
        ...

    def variables(self, state: RunState, looped: frozenset[str]) -> JsonDict:
        """Return the variables of the template besides the user's inputs.

        Variables in `looped` (those that the template loops over) are lists, others are text.
        """
        ...

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply, however it was split into chunks. Pure, bounded; never raises."""
        ...

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Return the messages after the rendered ones: unreadable replies with errors, steering."""
        ...


def only_parameter(tool: ToolSpec | None) -> str | None:
    """Return the name of a tool's only parameter, or of its only required one; else None."""
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
    """Return whether a tool's only parameter is a string or has no type."""
    name = only_parameter(tool)
    if tool is None or name is None:
        return False
    properties = tool.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind in (None, "string")


# The messages to the model about a failure; the user can edit each in its step.

INTERRUPTED = "The tool call was interrupted before a result was produced."
"""Result of an interrupted call; providers require one in the history."""

RAN_WITHOUT_RESULT = "The tool ran, but its result was lost."
"""Result of a call that ran according to the user."""

SKIPPED = "The tool was not run."
"""Result of a call that the user skipped."""


def format_feedback(protocol: ProtocolName, message: str) -> str:
    """Return the one-line observation after a reply that could not be read."""
    facts = PROTOCOLS[protocol]
    return f"{facts.result_label} Error: {message.rstrip('.')}. {facts.correction}".lstrip()


def unknown_tool(name: str, known: Sequence[str]) -> str:
    """Return the observation about a tool that does not exist."""
    if not known:
        return f"Error: {name} is not a valid tool; no tools are available."
    near = nearest(name, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"Error: {name} is not a valid tool, try one of [{', '.join(known)}].{hint}"


def bad_call(problems: Sequence[str]) -> str:
    """Return the observation about arguments that cannot be used."""
    return "Error: " + "; ".join(problem.rstrip(".") for problem in problems) + "."


def rejected(reason: str) -> str:
    """Return the observation about a call that the user or a rule rejected."""
    return (
        f"Error: The call was not allowed: {reason}"
        if reason
        else "Error: The call was not allowed."
    )


# `<think>` blocks: shown as reasoning, never parsed.

_OPEN = re.compile(r"(?:^|(?<=\n))[ \t]*<(think|thinking|reasoning)>", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class TextWithoutReasoning:
    """A text with its reasoning replaced by blanks; all offsets stay the same."""

    text: str
    """The text, as long as the raw text."""

    reasoning: str
    """Text of the reasoning blocks, joined by blank lines."""

    spans: tuple[Span, ...]
    """Spans of the blocks, including their tags."""

    is_open: bool = False
    """Whether the last block is not closed."""

    def piece(self, start: int, end: int) -> str:
        """Return the text between two offsets without the blocks."""
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

    If the template opened the block, the reply has only the closing tag: all text before it is
    reasoning. A block that is not closed extends to the end.
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
    """Report a reply that only consists of an unclosed thinking block, with a repair.

    Args:
        reply: the reply.
        thinking: the reply's text with the thinking blanked.
        decides: whether the block contains labels or JSON that could be the action.
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
# Blanks are bounded: two unbounded repetitions would be quadratic on a line of a million blanks.
_DECORATION = r"[ \t]{0,20}(?:[-*+>#][ \t]{1,9}|#{1,6}[ \t]{1,9}|\d{1,9}[.)][ \t]{1,9})?"


@dataclass(frozen=True, slots=True)
class Label:
    """One label."""

    kind: LabelKind
    """Kind of label."""

    word: str
    """The word as written, without colon."""

    start: int
    """Offset of the label, including marks before it (`**`, `#`)."""

    end: int
    """Offset after the colon (and its closing `**`)."""

    is_strict: bool
    """Whether the label is written exactly as the prompt asks."""


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
    """Yield the labels from offset `start` on, in order.

    A strict label is the exact word and a colon, with only blanks before it. `lenient` also accepts
    any case, bold, numbers, a list or heading mark before it, a full-width colon.
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
    """Return the warning with that code."""
    return ReadingWarning(code, _MESSAGES[code].format(*words), span)


class Findings:
    """A reply and the spans and warnings found in it during one pass."""

    def __init__(self, reply: Reply, thinking: TextWithoutReasoning, rules: ReadRules) -> None:
        self.reply = reply
        """The whole reply."""
        self.text = thinking.text
        """The reply's text, with the model's thinking blanked."""
        self.rules = rules
        """The rules for reading."""
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
        """Return the error for a reply whose thinking block never ends; else None."""
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
        """The warnings."""
        return tuple(self._warnings)

    def raw(self, start: int, end: int) -> str:
        """Return a slice of the reply without its thinking."""
        return self._thinking.piece(start, end)

    def piece(self, start: int, end: int) -> str:
        """Return a slice of the reply, stripped."""
        return self.raw(start, end).strip()

    def mark(self, label: ReadAs, start: int, end: int) -> str:
        """Record how the slice `start`–`end` was read, and return its text, stripped."""
        piece = self.text[start:end]
        span = Span(start + len(piece) - len(piece.lstrip()), start + len(piece.rstrip()))
        if span.end > span.start:
            self._spans.append(ReadSpan(label, span))
        return self.piece(start, end)

    def label(self, label: Label) -> None:
        """Record a label; warn once if one is not written as it should be."""
        span = Span(label.start, label.end)
        self._spans.append(ReadSpan("label", span))
        known = any(item.code == "loose_label" for item in self._warnings)
        if not label.is_strict and not known:
            self.warn("loose_label", self.text[label.start : label.end], span=span)

    def warn(self, code: str, *words: str, span: Span | None = None) -> None:
        """Record a warning."""
        self._warnings.append(remark(code, *words, span=span))

    def warn_of_end(self, *, is_whole: bool = False) -> None:
        """Warn if the answer was cut or filtered.

        Args:
            is_whole: whether the answer is known to be complete because its JSON is closed.
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
        """Return the error of a reply that is no valid action or answer."""
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
    """Read a reply's text without its `<think>` blocks, which are returned as reasoning."""
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
