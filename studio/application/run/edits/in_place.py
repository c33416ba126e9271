"""Editing at a pause, as values: the edited item, and the command that an edit becomes."""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal, TypeAlias

from studio.application.run.text import json_text
from studio.application.words import tr
from studio.core.agent.values import commands, events
from studio.core.agent.values.state import RunState
from studio.core.prompty.body.sections import read_marker
from studio.core.prompty.document import (
    MediaPart,
    Message,
    MessageOrigin,
    Part,
    PromptDocument,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.parse import parse
from studio.core.text.diff import common_ends
from studio.core.text.source import Span, TextEdit
from studio.core.text.values import JsonBoundError, JsonObject, parse_json
from studio.core.wire.reply import Reply

EditKind: TypeAlias = Literal[
    "messages",
    "options",
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
"""Subject of an edit by the user."""

AfterEdit: TypeAlias = Literal["stay", "step", "continue"]
"""Next action of the run after an edit."""


COMMAND_OF_EDIT: dict[EditKind, type] = {
    "messages": events.MessagesEdited,
    "options": commands.SetOptions,
    "reply": commands.EditReply,
    "arguments": events.CallEdited,
    "observation": events.ObservationEdited,
    "told": events.ErrorObservationEdited,
    "answer": events.AnswerEdited,
    "treat_as_final": commands.TreatAsFinal,
    "reject": commands.Reject,
    "answer_call": commands.AnswerCall,
    "steer": commands.Steer,
    "send_back": commands.SendBack,
    "outcome": events.OutcomeTold,
}
"""Type of the command for each kind of edit; the state machine checks whether it is possible."""


class EditError(ValueError):
    """Raised when an edit cannot become a command yet; the message is for the user."""


@dataclass(frozen=True, slots=True)
class EditSpec:
    """An item that can be edited at a pause."""

    kind: EditKind
    """Subject of the edit."""

    title: str
    """Heading of the editor."""

    text: str = ""
    """Initial text of the editor."""

    hint: str = ""
    """One sentence on the effect of the edit."""

    apply: str = ""
    """Label of the button that applies it; empty for "Apply"."""

    is_json: bool = False
    """Whether the text must be a JSON object."""

    call: int = 0
    """Row in the step, if it is about a call."""

    tool: str = ""
    """For arguments: name of the called tool."""

    tools: tuple[str, ...] = ()
    """For arguments: tools that may be called instead."""

    is_error: bool = False
    """For observations: whether the call failed."""

    messages: Sequence[Message] = ()
    """For messages: the messages that will be sent."""

    reply: Reply = field(default_factory=Reply)
    """For a reply: the received reply; its calls and usage are kept if only its text changes."""


@dataclass(frozen=True, slots=True)
class EditResult:
    """The edited text."""

    text: str = ""
    """The text."""

    tool: str = ""
    """For arguments: the selected tool."""

    is_error: bool = False
    """For observations: whether the call failed."""

    messages: tuple[Message, ...] = ()
    """For messages: all messages."""


def command_of(spec: EditSpec, result: EditResult) -> commands.Command:  # noqa: C901 - one flat match
    """Return the command that an edit becomes.

    Raises:
        EditError: the text is invalid; the message says what to fix.
    """
    text = result.text
    match spec.kind:
        case "messages":
            if not result.messages:
                raise EditError("At least one message is needed.")
            return events.MessagesEdited(result.messages)
        case "options":
            read_object(text)
            return commands.SetOptions(text)
        case "reply":
            return commands.EditReply(replace(spec.reply, text=text))
        case "arguments":
            return events.CallEdited(spec.call, result.tool or spec.tool, read_object(text))
        case "observation":
            return events.ObservationEdited(spec.call, text, result.is_error)
        case "told":
            return events.ErrorObservationEdited(_needed(text, tr("the message to the model")))
        case "answer":
            return events.AnswerEdited(text)
        case "treat_as_final":
            return commands.TreatAsFinal(text)
        case "reject":
            return commands.Reject(spec.call, text.strip())
        case "answer_call":
            return commands.AnswerCall(spec.call, text)
        case "steer":
            return commands.Steer(_needed(text, tr("a message")))
        case "send_back":
            return commands.SendBack(_needed(text, tr("a message")))
        case "outcome":
            return events.OutcomeTold(spec.call, "result", text)


def problem_of(spec: EditSpec, result: EditResult) -> str:
    """Return what is wrong with an edit; empty if it can be applied."""
    try:
        command_of(spec, result)
    except EditError as problem:
        return str(problem)
    return ""


def read_object(text: str) -> JsonObject:
    """Read a JSON object written by a user.

    Raises:
        EditError: the text is not a JSON object; the message gives the position.
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
        raise EditError("Write one JSON object: { … }.")
    read: JsonObject = value
    return read


def _refuse_constant(name: str) -> float:
    raise EditError(f"{name} is not JSON. Write a number, or null.")


def _needed(text: str, what: str) -> str:
    if not text.strip():
        raise EditError(f"Write {what} first.")
    return text.strip()


def arguments_text(arguments: JsonObject | None, raw: str) -> str:
    """Return arguments as text to edit: indented if they are valid JSON, else unchanged."""
    if arguments is not None:
        return json_text(arguments)
    return raw or "{}"


def with_text(message: Message, text: str) -> Message:
    """Return a message with another text; its calls and media are kept."""
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
    """Return the message with another role."""
    return replace(message, role=role)


def new_message() -> Message:
    """Return an empty message of the user."""
    return Message("user", (TextPart(""),), origin=MessageOrigin("run"))


def without(messages: Sequence[Message], index: int) -> tuple[Message, ...]:
    """Return all messages except one."""
    return (*messages[:index], *messages[index + 1 :])


# Carry an edit of the sent messages over to the prompt file that produced them.

_TEMPLATE_MARK = re.compile(r"\{\{|\{%|\{#")


class NotInFileError(ValueError):
    """Raised when the file cannot take an edit; the message gives the user the reason."""


def edits_to_keep(
    document: PromptDocument, text: str, spec: EditSpec, result: EditResult, state: RunState
) -> tuple[TextEdit, ...]:
    """Return the edits of the file that make an edit at a pause permanent.

    Args:
        document: the prompt of the editor, as it was read last.
        text: the current text of the editor.
        spec: the edited item: messages, which also change in the file, or a reply, which is added
            to the file as an example.
        result: the text that the user wrote.
        state: the run at the pause.

    Raises:
        NotInFileError: it is not the run's file, or cannot take the edit; nothing is changed then.
    """
    if str(document.source.path or "") != state.setup.path:
        raise NotInFileError(tr("another prompt is open."))
    if document.source.text != text:
        raise NotInFileError(tr("it is being edited. Try again."))
    if spec.kind == "messages":
        return file_edits(document, spec.messages, result.messages)
    return (example_edit(document, _question(state), result.text),)


def _question(state: RunState) -> str:
    """Return the user's message as it was in the first request."""
    first = state.steps[0] if state.steps else state.step
    sent = first.messages or state.conversation[: first.sent]
    asked = [message.text for message in sent if message.role == "user"]
    return asked[-1] if asked else state.setup.question


def file_edits(
    document: PromptDocument, before: Sequence[Message], after: Sequence[Message]
) -> tuple[TextEdit, ...]:
    """Return the edits of the file that make the changed messages permanent.

    Args:
        document: the prompt in the editor.
        before: the messages as the run built them.
        after: the messages as the user edited them.

    Raises:
        NotInFileError: a change cannot be carried over; then none is.
    """
    if len(before) != len(after):
        raise NotInFileError("Messages that were added or removed stay in this run only.")
    edits: list[TextEdit] = []
    for one, other in zip(before, after, strict=True):
        if one.role != other.role:
            raise NotInFileError("A changed role stays in this run only.")
        if one.text != other.text:
            edits.append(_edit(document, one.text, other.text))
    edits.sort(key=lambda edit: edit.span.start)
    for first, second in pairwise(edits):
        if first.span.end > second.span.start:
            raise NotInFileError("Two changes affect the same line of the file.")
    return tuple(edits)


def _edit(document: PromptDocument, before: str, after: str) -> TextEdit:
    """Return the edit from one text to another if its lines occur once in the body."""
    old, new = before.split("\n"), after.split("\n")
    shortest = min(len(old), len(new))
    first, last = common_ends(old, new)
    if first + last == shortest:  # only whole lines changed: a neighbor keeps the line end
        first, last = (first - 1, last) if first else (first, last - 1)
    gone = "\n".join(old[first : len(old) - last])
    come = "\n".join(new[first : len(new) - last])
    if len(_TEMPLATE_MARK.findall(come)) > len(_TEMPLATE_MARK.findall(gone)):
        raise NotInFileError("Your text would be read as template code in the file.")
    return TextEdit(_only_place(document, gone), come)


def has_template_code(text: str) -> bool:
    """Return whether a text would be read as template code in a file."""
    return _TEMPLATE_MARK.search(text) is not None


def _only_place(document: PromptDocument, lines: str) -> Span:
    """Find the only occurrence of whole lines in the body.

    Raises:
        NotInFileError: there is none, or more than one.
    """
    body = document.body
    text = document.source.text[body.start : body.end]
    shown = lines.strip()[:40]
    places = [
        found.start(1)
        for found in re.finditer(rf"(?:^|(?<=\n))({re.escape(lines)})(?=\n|\r|$)", text)
    ]
    if not lines.strip() or not places:
        raise NotInFileError(
            f"“{shown}” comes from a value or is different in the file."
            if shown
            else "The place of an empty line in the file is unknown."
        )
    if len(places) > 1:
        raise NotInFileError(f"“{shown}” occurs {len(places)} times in the file.")
    start = body.start + places[0]
    return Span(start, start + len(lines))


def example_edit(document: PromptDocument, question: str, reply: str) -> TextEdit:
    """Return the edit that inserts a question and its reply before the prompt's last question.

    Args:
        document: the prompt in the editor.
        question: the user's question.
        reply: the reply that the model should have given.

    Raises:
        NotInFileError: the file cannot take the edit; the message gives the reason.
    """
    if not question.strip() or not reply.strip():
        raise NotInFileError("an example needs a question and a reply.")
    for text in (question, reply):
        if has_template_code(text):
            raise NotInFileError("its text would be read as template code in the file.")
        if any(read_marker(line, document.dialect) is not None for line in text.splitlines()):
            raise NotInFileError("one of its lines would start a message in the file.")
    last = next((one for one in reversed(document.sections) if one.role == "user"), None)
    if last is None or last.marker is None:
        raise NotInFileError("the file has no user message to insert it before.")
    at = last.marker.start
    written = f"user:\n{question.strip()}\n\nassistant:\n{reply.strip()}\n\n"
    edit = TextEdit(Span(at, at), written)
    text = document.source.text
    after = parse(text[:at] + edit.text + text[at:], document.source.path)
    if len(after.sections) != len(document.sections) + 2:
        raise NotInFileError("it would not be read as messages there.")
    return edit
