"""Keeps a conversation legal: providers refuse a call without its result, and the reverse."""

from __future__ import annotations

from collections.abc import Sequence

from studio.core.prompty.messages import Message, ToolCallPart, ToolResultPart
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span
from studio.core.wire.draft import result_id, tool_calls

NO_RESULT = "No result: this call was not run."
"""What stands for a result that is missing."""


def legal_history(messages: Sequence[Message]) -> tuple[tuple[Message, ...], tuple[Problem, ...]]:
    """The messages with a result for each call and no other result (docs/design/agent-loop.md).

    Missing results are put in behind their call, in the order of the calls; results that answer
    nothing are left out. Both are reported.
    """
    made: list[Message] = []
    open_: dict[str, ToolCallPart] = {}
    for message in messages:
        if message.role == "tool":
            if open_.pop(result_id(message), None) is not None:
                made.append(message)
            continue
        made += _missing(open_)
        open_ = {call.id: call for call in tool_calls(message)}
        made.append(message)
    made += _missing(open_)
    return tuple(made), history_problems(messages)


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


def _missing(open_: dict[str, ToolCallPart]) -> list[Message]:
    return [
        Message("tool", (ToolResultPart(NO_RESULT),), {"tool_call_id": call.id, "name": call.name})
        for call in open_.values()
    ]


def _problem(code: str, text: str, message: Message) -> Problem:
    span = message.origin.marker or message.origin.span or Span(0, 0)
    return Problem(code, Severity.WARNING, text, span)
