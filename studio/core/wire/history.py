"""What providers refuse in a conversation: a call without its result, a result without a call."""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.prompty.messages import Message
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.wire.draft import result_id, tool_calls


def history_problems(messages: Sequence[Message]) -> tuple[Problem, ...]:
    """What a provider would refuse in a conversation."""
    found: list[Problem] = []
    open_: dict[str, Message] = {}
    for message in messages:
        if message.role == "tool":
            if open_.pop(result_id(message), None) is None:
                text = f"This result answers no call {result_id(message)!r} before it."
                found.append(_problem("orphan-tool-result", text, message))
            continue
        found += _unanswered(open_)
        open_ = {call.id: message for call in tool_calls(message)}
    found += _unanswered(open_)
    return tuple(found)


def _unanswered(open_: dict[str, Message]) -> list[Problem]:
    return [
        _problem("unanswered-tool-call", f"The call {call!r} has no result behind it.", message)
        for call, message in open_.items()
    ]


def _problem(code: str, text: str, message: Message) -> Problem:
    span = message.origin.marker or message.origin.span or Span(0, 0)
    return Problem(code, Severity.WARNING, text, span)
