"""A conversation too long to be looked at whole: its beginning and its end."""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.prompty.messages import Message

_BODY_MESSAGES = 400
"""Messages up to which a request's body is shown whole."""

_BODY_END = 40
"""The last messages that are shown of a longer one."""


def without_middle(messages: Sequence[Message]) -> tuple[Sequence[Message], int]:
    """A long conversation's beginning and end, and how many messages between them are left out.

    Each message of a run of the past is folded from its events when it is looked at, and a body of
    20,000 messages is nothing that anyone reads: it would keep the window still for ten seconds.
    """
    if len(messages) <= _BODY_MESSAGES:
        return messages, 0
    end = len(messages) - _BODY_END
    while end < len(messages) - 1 and messages[end].role == "tool":
        end += 1  # a result without its call would be no conversation
    first = opening(messages)
    return (*first, *messages[end:]), end - len(first)


def opening(messages: Sequence[Message]) -> Sequence[Message]:
    """The messages before the model's first word; all, where it has the first one."""
    for index, message in enumerate(messages[:_BODY_END]):
        if message.role in ("assistant", "tool"):
            return messages[: max(1, index)]
    return messages[:_BODY_END]
