"""The messages of a `native` run: what a step adds, valid histories, and the context budget.

A long conversation is trimmed to its budget as in Prompty 2 §13.3.
"""

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal

from studio.core.agent.protocols.findings import INTERRUPTED
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.state import PersistentList, RunState
from studio.core.agent.values.step import Call, Step, replace
from studio.core.prompty.document import (
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.amounts import shortened
from studio.core.wire.reply import Reply


def user_message(text: str) -> Message:
    """Return a user message with this text."""
    return Message("user", (TextPart(text),))


def assistant_message(text: str, reply: Reply | None = None) -> Message:
    """Return an assistant message with the provider data of the reply, which must be sent back."""
    carried = reply.carried if reply is not None else ()
    return Message("assistant", (TextPart(text),) if text else (), carried=carried)


def exchange(step: Step) -> tuple[Message, ...]:
    """Return the messages of a step with calls: the assistant's, then one result per call in order.

    Edited calls are used as edited, so that a call and its result agree.
    """
    thought = step.reading.kept if step.reading is not None else ""
    parts: list[Part] = [TextPart(thought)] if thought else []
    parts += [ToolCallPart(call.id, call.tool, _arguments(call)) for call in step.calls]
    results = [
        _result(call.id, call.observation, call.tool, result_media(call)) for call in step.calls
    ]
    carried = step.reply.carried if step.reply is not None else ()
    return (Message("assistant", tuple(parts), carried=carried), *results)


def _arguments(call: Call) -> str:
    """Return the arguments' text, unchanged where neither the user nor a binding changed it."""
    if call.arguments is None or "arguments" not in call.edited:
        return call.text or "{}"
    return json_text(call.arguments)


def result_media(call: Call) -> tuple[MediaPart, ...]:
    """Return the images, audio and documents of a call's result; empty if the user edited it."""
    outcome = call.outcome
    if outcome is None or "observation" in call.edited:
        return ()
    return tuple(
        MediaPart(kind, f"data:{each.kind};base64,{each.data}")
        for each in outcome.pictures
        if (kind := _SENT_KINDS.get(each.kind)) is not None
    )


def _result(
    call_id: str, text: str | None, tool: str = "", media: tuple[MediaPart, ...] = ()
) -> Message:
    attributes = {"tool_call_id": call_id} | ({"name": tool} if tool else {})
    result = ToolResultPart(INTERRUPTED if text is None else text)
    return Message("tool", (result, *media), attributes)


def legal(messages: Sequence[Message]) -> tuple[Message, ...]:
    """Return the messages with a result for every call and no result without its call.

    Providers refuse a history in which a call has no result before the next message; people delete
    and edit messages. Missing results are added, results without a call removed.
    """
    made: list[Message] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role == "tool":
            continue  # its call was deleted
        made.append(message)
        calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
        if not calls:
            continue
        results: list[Message] = []
        while at < len(messages) and messages[at].role == "tool":
            results.append(messages[at])
            at += 1
        made += _answers(calls, results)
    return tuple(made)


def _answers(calls: Iterable[ToolCallPart], results: Iterable[Message]) -> Iterable[Message]:
    by_id: dict[str, Message] = {}
    for result in results:
        by_id.setdefault(str(result.attributes.get("tool_call_id", "")), result)
    for call in calls:
        yield by_id.get(call.id) or _result(call.id, None)


_PER_MESSAGE = 4
_PER_MEDIA = 200
_MOST_RESERVED = 5000
_LEAST_RESERVED = 120
_SUMMARY_PIECE = 120
_STANDING = ("system", "developer")

SUMMARY = "[Summary of earlier conversation] "
"""Prefix of the message that replaces dropped ones; defined by Prompty's test vectors."""

_SENT_KINDS: Mapping[str, Literal["image", "audio", "file"]] = {
    "image/png": "image",
    "image/jpeg": "image",
    "image/gif": "image",
    "image/webp": "image",
    "audio/wav": "audio",
    "audio/x-wav": "audio",
    "audio/mpeg": "audio",
    "audio/mp3": "audio",
    "application/pdf": "file",
}
"""Media types of tool results that models accept, with the kind of part they are sent as."""

_OLDER_SUMMARY = "[Context summary: "
"""The prefix that versions up to 0.1.0 wrote; old journals contain it."""


def size(messages: Sequence[Message]) -> int:
    """Return the size of a conversation as Prompty 2 counts: text, role and 4 per message."""
    return sum(_size(message) for message in messages)


def _size(message: Message) -> int:
    total = len(message.role) + _PER_MESSAGE
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                total += len(part.text)
            case ToolCallPart():
                total += len(part.name) + len(json.dumps(part.arguments))
            case _:
                total += _PER_MEDIA
    return total


def extended(state: RunState, added: Sequence[Message]) -> RunState:
    """Return the state with messages added to the end of its conversation."""
    counted = size(added) if state.setup.context_budget is not None else 0
    return replace(
        state, conversation=state.conversation.plus(added), characters=state.characters + counted
    )


def replaced(state: RunState, messages: Sequence[Message]) -> RunState:
    """Return the state with another conversation."""
    if messages is state.conversation:
        return state
    counted = size(messages) if state.setup.context_budget is not None else 0
    return replace(state, conversation=PersistentList(messages), characters=counted)


def is_too_long(state: RunState) -> bool:
    """Return whether the conversation exceeds its budget, in constant time."""
    budget = state.setup.context_budget
    return budget is not None and state.characters > budget


def trim(messages: Sequence[Message], budget: int) -> tuple[tuple[Message, ...], int]:
    """Return the conversation within `budget` characters, and how many messages were dropped.

    System messages, the user's last message and the newest exchange stay, whatever the budget. The
    oldest of the others are dropped, each call together with its results, and one system message
    summarizes them.
    """
    if size(messages) <= budget:
        return tuple(messages), 0
    groups = _groups(messages)
    question = max((at for at, group in enumerate(groups) if _asks(group[0])), default=-1)
    reserved = min(_MOST_RESERVED, max(_LEAST_RESERVED, budget // 20))
    left = size(messages)
    gone: list[int] = []
    count = 0
    for at, group in enumerate(groups[:-1]):
        if count and left <= budget - reserved:
            break
        if at == question or _is_standing(group[0]):
            continue
        gone.append(at)
        left -= size(group)
        count += 0 if _sums_up(group[0]) else len(group)
    if not count:
        return tuple(messages), 0
    before = [group for at, group in enumerate(groups[: gone[-1]]) if at not in gone]
    standing = [item for group in before for item in group if item.role in _STANDING]
    others = [item for group in before for item in group if item.role not in _STANDING]
    after = [item for group in groups[gone[-1] + 1 :] for item in group]
    summary = _summary([item for at in gone for item in groups[at]], reserved)
    return legal((*standing, summary, *others, *after)), count


def _groups(messages: Sequence[Message]) -> list[list[Message]]:
    """Group the messages: each with the tool results that answer it, in order."""
    groups: list[list[Message]] = []
    for message in messages:
        if message.role == "tool" and groups:
            groups[-1].append(message)
        else:
            groups.append([message])
    return groups


def _asks(message: Message) -> bool:
    return message.role == "user" and not _sums_up(message)


def _is_standing(message: Message) -> bool:
    return message.role in _STANDING and not _sums_up(message)


def _sums_up(message: Message) -> bool:
    """Return whether a message is the summary of dropped messages."""
    return message.origin.source == "run" and message.text.startswith((SUMMARY, _OLDER_SUMMARY))


def _summary(dropped: Sequence[Message], reserved: int) -> Message:
    """Return a system message that summarizes the dropped ones, `reserved` characters at most.

    An earlier summary among them gets half of the room at most, so that it cannot crowd out the
    rest when a run is trimmed again and again.
    """
    room = reserved - _size(Message("system", (TextPart(SUMMARY),)))
    older = " | ".join(_inside(message) for message in dropped if _sums_up(message))
    newer = summarize([message for message in dropped if not _sums_up(message)])
    about = " | ".join(filter(None, (shortened(older, room // 2), newer)))
    return Message("system", (TextPart(SUMMARY + about[:room]),))


def _inside(summary: Message) -> str:
    text = summary.text
    if text.startswith(SUMMARY):
        return text.removeprefix(SUMMARY)
    return text.removeprefix(_OLDER_SUMMARY).removesuffix("]")


_SUMMED_UP = {"user": "User asked", "assistant": "Assistant"}


def summarize(messages: Sequence[Message]) -> str:
    """Summarize messages by their first words and calls, without a model."""
    pieces: list[str] = []
    for message in messages:
        text = " ".join(message.text.split())
        if text and message.role in _SUMMED_UP:
            short = text if len(text) <= _SUMMARY_PIECE else text[:_SUMMARY_PIECE].rstrip() + "…"
            pieces.append(f"{_SUMMED_UP[message.role]}: {short}")
        called = [part.name for part in message.parts if isinstance(part, ToolCallPart)]
        if called:
            pieces.append(f"Called tools: {', '.join(called)}")
    return " | ".join(pieces)
