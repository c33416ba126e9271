"""What a reply was read as: action, final answer, refusal, or an error with ways to fix it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studio.core.text.span import Span
from studio.core.text.values import JsonObject
from studio.core.wire.reply import ToolCall

ReadAs: TypeAlias = Literal["thought", "label", "tool", "args", "answer", "reasoning", "ignored"]
"""What a piece of the raw reply was taken for; `ignored` is shown struck through."""

FormatErrorCode: TypeAlias = Literal[
    "empty",
    "thought_only",
    "no_labels",
    "no_json_action",
    "no_args",
    "bad_args",
    "truncated",
    "args_not_object",
    "not_finite",
    "duplicate_key",
    "lone_surrogate",
    "no_tool_name",
    "too_deep",
    "filtered",
    "bad_action",
]
"""Why a reply (or one native call) could not be read; stable words for breakpoints and exports."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A piece of the raw reply and what it was read as."""

    label: ReadAs
    """What it was taken for."""

    span: Span
    """Where, in code points of `Reply.text` exactly as it came."""

    call: int | None = None
    """Which call of the reading it belongs to, from 0."""


@dataclass(frozen=True, slots=True)
class ReadingWarning:
    """Something that was accepted because its meaning cannot differ, and is shown."""

    code: str
    """Stable word: `text_after_args`, `second_action_ignored`, `invented_observation`, …"""

    message: str
    """One plain sentence for the user."""

    span: Span | None = None
    """Where, in the raw reply."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A change that would make the reply readable; made after a click, or where switched on."""

    name: str
    """Stable word: `trailing_comma`, `single_quotes`, `comments`, `python_words`, …; several
    joined by `+`."""

    title: str
    """What it does, for a button: "Remove the trailing comma"."""

    before: str
    """The JSON text as it came."""

    after: str
    """The JSON text after the repair."""

    span: Span | None = None
    """Where `before` stands in `Reply.text`; None for the arguments of a native call."""

    call: int = 0
    """For a native call: which one, from 0."""

    tool: str = ""
    """For a native call: the tool that it is to name, in place of other arguments."""

    calls: tuple[ToolCall, ...] = ()
    """Native calls that the piece of text in `before` stands for."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """One tool call that the reply asks for."""

    id: str
    """The provider's identifier, or one made by us."""

    tool: str
    """The tool's name, cleaned of quotes and the like where the protocol allows it."""

    arguments: JsonObject | None
    """The arguments; None where they could not be read (`error` then says why)."""

    text: str
    """The arguments as they stand in the reply."""

    error: FormatErrorCode | None = None
    """Native calls only: why this call's arguments cannot be read, while its siblings can."""

    message: str = ""
    """The same, as one plain sentence."""

    repairs: tuple[Repair, ...] = ()
    """What would make them readable."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What every reading has."""

    thought: str = ""
    """The model's thought, where it wrote one."""

    reasoning: str = ""
    """Text of `<think>` blocks, and reasoning that came apart from the text."""

    spans: tuple[ReadSpan, ...] = ()
    """What was read as what, in order of place."""

    warnings: tuple[ReadingWarning, ...] = ()
    """What was accepted with a remark."""

    kept: str = ""
    """The part of the reply that goes back to the model as history (nothing after the action)."""


@dataclass(frozen=True, slots=True)
class Action(_Read):
    """The model wants tools called."""

    calls: tuple[RequestedCall, ...] = ()
    """At least one; only the native protocol and the queue option give several."""


@dataclass(frozen=True, slots=True)
class Final(_Read):
    """The model has answered."""

    answer: str = ""
    """The answer, verbatim."""

    composed_elsewhere: bool = False
    """Whether the format carries no answer (JSON action with a null input): another prompt
    composes it, or the observations stand for themselves."""


@dataclass(frozen=True, slots=True)
class Refused(_Read):
    """The model declines; never shown as an answer."""

    text: str = ""
    """Its words."""


@dataclass(frozen=True, slots=True)
class FormatError(_Read):
    """The reply follows no format that can be acted on."""

    code: FormatErrorCode = "empty"
    """Why."""

    message: str = ""
    """What is wrong, one plain sentence; the model is told the same."""

    repairs: tuple[Repair, ...] = ()
    """Changes that would make it readable, the best first."""

    tool: str = ""
    """The tool that was named, where one was."""

    answer: str = ""
    """What "treat as the answer" would take; empty where that makes no sense."""


Reading: TypeAlias = Action | Final | Refused | FormatError
"""Closed: consumers `match` and `assert_never`."""
