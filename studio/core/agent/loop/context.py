"""Making a long conversation fit its budget (Prompty 2 §13.3)."""

from __future__ import annotations

import json
from collections.abc import Sequence

from studio.core.agent.loop.conversation import legal
from studio.core.agent.values.copying import replace
from studio.core.agent.values.state import RunState
from studio.core.agent.values.trail import Trail
from studio.core.prompty.messages import Message, TextPart, ToolCallPart, ToolResultPart

_PER_MESSAGE = 4
_PER_MEDIA = 200
_MOST_RESERVED = 5000
_LEAST_RESERVED = 120
_SUMMARY_FRAME = 30
_SUMMARY_PIECE = 120


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
    return replace(state, conversation=Trail(messages), characters=counted)


def is_too_long(state: RunState) -> bool:
    """Whether the conversation is over its budget; costs nothing, whatever its length."""
    budget = state.setup.context_budget
    return budget is not None and state.characters > budget


def trim(messages: Sequence[Message], budget: int) -> tuple[tuple[Message, ...], int]:
    """The conversation within `budget` characters, and how many messages were dropped.

    Leading system messages stay, then comes one message that sums up what was dropped, then the
    newest messages. A tool's result never stays without its call.
    """
    if size(messages) <= budget:
        return tuple(messages), 0
    head = 0
    while head < len(messages) and messages[head].role in ("system", "developer"):
        head += 1
    kept = list(messages[head:])
    reserved = min(_MOST_RESERVED, max(_LEAST_RESERVED, budget // 20))
    room = budget - size(messages[:head]) - reserved
    dropped: list[Message] = []
    while len(kept) > 2 and size(kept) > room:
        dropped.append(kept.pop(0))
        while kept and kept[0].role == "tool":
            dropped.append(kept.pop(0))
    if not dropped:
        return tuple(messages), 0
    about = summarise(dropped)[: reserved - _SUMMARY_FRAME]
    summary = Message("user", (TextPart(f"[Context summary: {about}]"),))
    return legal((*messages[:head], summary, *kept)), len(dropped)


def summarise(messages: Sequence[Message]) -> str:
    """What the dropped messages were about, by their first words; no model is asked."""
    pieces: list[str] = []
    for message in messages:
        text = " ".join(message.text.split())
        if text:
            short = text if len(text) <= _SUMMARY_PIECE else text[:_SUMMARY_PIECE].rstrip() + "…"
            pieces.append(f"{message.role}: {short}")
        for part in message.parts:
            if isinstance(part, ToolCallPart):
                pieces.append(f"{message.role} called {part.name}")
    return " | ".join(pieces)
