"""The messages of a `native` run: what a step adds, and what keeps a history legal."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from studio.core.agent.protocols.feedback import INTERRUPTED
from studio.core.agent.values.json_text import json_text
from studio.core.agent.values.step import Call, Step
from studio.core.prompty.messages import (
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.wire.reply import Reply


def user_message(text: str) -> Message:
    """A message of the user."""
    return Message("user", (TextPart(text),))


def assistant_message(text: str, reply: Reply | None = None) -> Message:
    """An answer of the model, with what its provider wants back."""
    carried = reply.carried if reply is not None else ()
    return Message("assistant", (TextPart(text),) if text else (), carried=carried)


def exchange(step: Step) -> tuple[Message, ...]:
    """What a step with calls adds: the assistant's message, then one result per call in order.

    The calls stand in it as they are now, so that an edited call and its result agree.
    """
    thought = step.reading.kept if step.reading is not None else ""
    parts: list[Part] = [TextPart(thought)] if thought else []
    parts += [ToolCallPart(call.id, call.tool, _arguments(call)) for call in step.calls]
    results = [_result(call.id, call.observation, call.tool) for call in step.calls]
    carried = step.reply.carried if step.reply is not None else ()
    return (Message("assistant", tuple(parts), carried=carried), *results)


def _arguments(call: Call) -> str:
    """The arguments' text; as it came where the user (or a binding) changed nothing."""
    if call.arguments is None or "arguments" not in call.edited:
        return call.text or "{}"
    return json_text(call.arguments)


def _result(call_id: str, text: str | None, tool: str = "") -> Message:
    attributes = {"tool_call_id": call_id} | ({"name": tool} if tool else {})
    return Message("tool", (ToolResultPart(INTERRUPTED if text is None else text),), attributes)


def legal(messages: Sequence[Message]) -> tuple[Message, ...]:
    """The same messages with every call answered and no answer without its call.

    Providers refuse a history in which a call has no result before the next message; people delete
    and edit messages. Missing results are put in, orphans left out.
    """
    made: list[Message] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if message.role == "tool":
            continue  # its call is gone
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
    by_id = {str(result.attributes.get("tool_call_id", "")): result for result in results}
    for call in calls:
        yield by_id.get(call.id) or _result(call.id, None)
