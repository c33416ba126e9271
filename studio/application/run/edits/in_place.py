"""Editing in place at a pause, as values: what is edited, and the command that an edit becomes."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from studio.application.run.text import json_text
from studio.application.words import tr
from studio.core.agent.values.commands import (
    AnswerCall,
    Command,
    EditReply,
    Reject,
    SendBack,
    Steer,
    TreatAsFinal,
)
from studio.core.agent.values.user_events import (
    AnswerEdited,
    CallEdited,
    ErrorObservationEdited,
    MessagesEdited,
    ObservationEdited,
    OutcomeTold,
)
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    MessageOrigin,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.foreign_json import JsonBoundError, parse_json
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply

EditKind: TypeAlias = Literal[
    "messages",
    "reply",
    "arguments",
    "observation",
    "told",
    "answer",
    "treat_as_final",
    "reject",
    "answer_call",
    "steer",
    "send_back",
    "outcome",
]
"""What a user is writing."""

AfterEdit: TypeAlias = Literal["stay", "step", "continue"]
"""What the run does once an edit is applied."""


COMMAND_OF_EDIT: dict[EditKind, type] = {
    "messages": MessagesEdited,
    "reply": EditReply,
    "arguments": CallEdited,
    "observation": ObservationEdited,
    "told": ErrorObservationEdited,
    "answer": AnswerEdited,
    "treat_as_final": TreatAsFinal,
    "reject": Reject,
    "answer_call": AnswerCall,
    "steer": Steer,
    "send_back": SendBack,
    "outcome": OutcomeTold,
}
"""The kind of command that each becomes; whether it is possible is for the machine to say."""


class EditError(ValueError):
    """An edit that cannot become a command yet; the text is meant for the user."""


@dataclass(frozen=True, slots=True)
class EditSpec:
    """One thing that can be written at a pause."""

    kind: EditKind
    """What it is."""

    title: str
    """Heading of the editor."""

    text: str = ""
    """What stands there at first."""

    hint: str = ""
    """One sentence on what it will do."""

    apply: str = ""
    """The button that takes it; empty for "Apply"."""

    is_json: bool = False
    """Whether it is a JSON object."""

    call: int = 0
    """Row of the step, where it is about a call."""

    tool: str = ""
    """For arguments: the tool that is called."""

    tools: tuple[str, ...] = ()
    """For arguments: tools that may be called instead."""

    is_error: bool = False
    """For an observation: whether it tells of a failure."""

    messages: Sequence[Message] = ()
    """For messages: what will be sent."""

    reply: Reply = field(default_factory=Reply)
    """For a reply: what came; calls and figures are kept when only its text changes."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """What the user has written."""

    text: str = ""
    """The text."""

    tool: str = ""
    """For arguments: the tool chosen."""

    is_error: bool = False
    """For an observation: whether it tells of a failure."""

    messages: tuple[Message, ...] = ()
    """For messages: all of them."""


def command_of(spec: EditSpec, result: EditResult) -> Command:  # noqa: C901 - one flat match
    """The command that an edit becomes.

    Raises:
        EditError: the text is not what is asked for; says what to fix.
    """
    text = result.text
    match spec.kind:
        case "messages":
            if not result.messages:
                raise EditError("Nothing would be sent. Keep at least one message.")
            return MessagesEdited(result.messages)
        case "reply":
            return EditReply(replace(spec.reply, text=text))
        case "arguments":
            return CallEdited(spec.call, result.tool or spec.tool, read_object(text))
        case "observation":
            return ObservationEdited(spec.call, text, result.is_error)
        case "told":
            return ErrorObservationEdited(_needed(text, tr("the message to the model")))
        case "answer":
            return AnswerEdited(text)
        case "treat_as_final":
            return TreatAsFinal(text)
        case "reject":
            return Reject(spec.call, text.strip())
        case "answer_call":
            return AnswerCall(spec.call, text)
        case "steer":
            return Steer(_needed(text, tr("a message")))
        case "send_back":
            return SendBack(_needed(text, tr("a message")))
        case "outcome":
            return OutcomeTold(spec.call, "result", text)


def problem_of(spec: EditSpec, result: EditResult) -> str:
    """What is wrong with an edit as it stands; empty when it can be taken."""
    try:
        command_of(spec, result)
    except EditError as problem:
        return str(problem)
    return ""


def read_object(text: str) -> JsonObject:
    """Read a JSON object written by a user.

    Raises:
        EditError: it is none; says where it goes wrong.
    """
    try:
        value = parse_json(text, parse_constant=_refuse_constant)
    except json.JSONDecodeError as error:
        raise EditError(
            f"Line {error.lineno}, column {error.colno}: {error.msg[:1].lower()}{error.msg[1:]}."
        ) from error
    except JsonBoundError as error:
        raise EditError(f"This cannot be used: {error}.") from error
    if not isinstance(value, dict):
        raise EditError("Arguments are one JSON object: { … }.")
    read: JsonObject = value
    return read


def _refuse_constant(name: str) -> float:
    raise EditError(f"{name} is not JSON. Write a number, or null.")


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise EditError(f"Write {what} first.")
    return text.strip()


def arguments_text(arguments: JsonObject | None, raw: str) -> str:
    """Arguments as text to edit: indented where they could be read, else as they came."""
    if arguments is not None:
        return json_text(arguments)
    return raw or "{}"


def with_text(message: Message, text: str) -> Message:
    """A message with other words; its calls and media stay."""
    others: list[Part] = []
    is_result = False
    for part in message.parts:
        match part:
            case TextPart():
                pass
            case ToolResultPart():
                is_result = True
            case ToolCallPart() | MediaPart():
                others.append(part)
    words: Part = ToolResultPart(text) if is_result else TextPart(text)
    keeps_words = bool(text) or not others
    return replace(message, parts=((words,) if keeps_words else ()) + tuple(others))


def with_role(message: Message, role: Role) -> Message:
    """The message, spoken by another."""
    return replace(message, role=role)


def new_message() -> Message:
    """Return an empty message of the user's own."""
    return Message("user", (TextPart(""),), origin=MessageOrigin("run"))


def without(messages: Sequence[Message], index: int) -> tuple[Message, ...]:
    """All messages but one."""
    return (*messages[:index], *messages[index + 1 :])
