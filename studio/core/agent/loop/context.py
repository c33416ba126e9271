"""Making a long conversation fit its budget (Prompty 2 §13.3)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studio.core.agent.loop.conversation import legal
from studio.core.agent.values.copying import replace
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.state import RunState
from studio.core.prompty.messages import Message, TextPart, ToolCallPart, ToolResultPart

_PER_MESSAGE = 4
_PER_MEDIA = 200
_MOST_RESERVED = 5000
_LEAST_RESERVED = 120
_SUMMARY_PIECE = 120
_STANDING = ("system", "developer")

SUMMARY = "[Summary of earlier conversation] "
"""What the message that stands for dropped ones begins with; it comes from the vectors."""

_OLDER_SUMMARY = "[Context summary: "
"""The same as the studio wrote it up to 0.1.0; journals hold it."""


def size(messages: Sequence[Message]) -> int:
    """Characters of a conversation as Prompty 2 counts them: text, role and 4 for each message."""
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
    """The state with messages at the end of its conversation."""
    counted = size(added) if state.setup.context_budget is not None else 0
    return replace(
        state,
        conversation=state.conversation.plus(added),
        characters=state.characters + counted,
    )


def replaced(state: RunState, messages: Sequence[Message]) -> RunState:
    """The state with another conversation."""
    if messages is state.conversation:
        return state
    counted = size(messages) if state.setup.context_budget is not None else 0
    return replace(state, conversation=PersistentList(messages), characters=counted)


def is_too_long(state: RunState) -> bool:
    """Whether the conversation is over its budget; costs nothing, whatever its length."""
    budget = state.setup.context_budget
    return budget is not None and state.characters > budget


def trim(messages: Sequence[Message], budget: int) -> tuple[tuple[Message, ...], int]:
    """The conversation within `budget` characters, and how many messages were dropped.

    System messages, the user's last message and the newest exchange stay, whatever the budget. Of
    the others the oldest are dropped, a call together with its results, and one system message
    sums them up.
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
    """The messages in order, each with the tool results that answer it."""
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
    """Whether a message stands for others that were dropped before."""
    return message.origin.source == "run" and message.text.startswith((SUMMARY, _OLDER_SUMMARY))


def _summary(dropped: Sequence[Message], reserved: int) -> Message:
    """A system message about the dropped ones, not longer than what is reserved for it.

    An earlier summary among them gets half of the room at most, so that it cannot crowd out the
    rest when a run is trimmed again and again.
    """
    room = reserved - _size(Message("system", (TextPart(SUMMARY),)))
    older = " | ".join(_inside(message) for message in dropped if _sums_up(message))
    newer = summarize([message for message in dropped if not _sums_up(message)])
    if len(older) > room // 2:
        older = older[: room // 2 - 1] + "…"
    about = " | ".join(filter(None, (older, newer)))
    return Message("system", (TextPart(SUMMARY + about[:room]),))


def _inside(summary: Message) -> str:
    text = summary.text
    if text.startswith(SUMMARY):
        return text.removeprefix(SUMMARY)
    return text.removeprefix(_OLDER_SUMMARY).removesuffix("]")


_SUMMED_UP = {"user": "User asked", "assistant": "Assistant"}


def summarize(messages: Sequence[Message]) -> str:
    """What messages were about, by their first words and calls; no model is asked."""
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
