"""Native tool calls: they travel beside the text, and a reply without any is the answer."""

from __future__ import annotations

from dataclasses import replace

from studio.core.agent.protocols.base import ReadRules, only_parameter
from studio.core.agent.protocols.call_syntax import near_name
from studio.core.agent.protocols.json_repair import ends_inside, find_repair, repair_of
from studio.core.agent.protocols.text_calls import find_text_calls
from studio.core.agent.protocols.thinking import TextWithoutReasoning, blank_reasoning
from studio.core.agent.protocols.unclosed_thinking import open_thinking
from studio.core.agent.protocols.warnings import remark
from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.agent.values.reading import (
    Action,
    Final,
    FormatError,
    FormatErrorCode,
    Reading,
    ReadingWarning,
    ReadSpan,
    Refused,
    Repair,
    RequestedCall,
)
from studio.core.text.span import Span
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply, ToolCall


def read_native(reply: Reply, rules: ReadRules) -> Reading:
    """Read a reply by its tool calls.

    Their presence decides, not the finish reason, which many servers give wrongly.
    """
    thinking = blank_reasoning(reply.text)
    text = thinking.piece(0, len(reply.text)).strip()
    reasoning = "\n\n".join(piece for piece in (reply.reasoning, thinking.reasoning) if piece)
    spans = [ReadSpan("reasoning", span) for span in thinking.spans]
    reading: Reading
    if reply.tool_calls:
        spans += _text_spans(thinking, "thought")
        reading = _calls(reply, rules, text)
    elif reply.refusal or reply.finish_reason == "refusal":
        reading = Refused(text=reply.refusal or text)
    else:
        spans += _text_spans(thinking, "answer")
        reading = (
            find_text_calls(reply, thinking.text, rules)
            or open_thinking(reply, thinking, decides=False)
            or _answer(reply, text)
        )
    ordered = tuple(sorted(spans, key=lambda item: item.span))
    return replace(reading, reasoning=reasoning, spans=ordered, kept=text)


def _text_spans(thinking: TextWithoutReasoning, label: str) -> list[ReadSpan]:
    stripped = thinking.text.strip()
    if not stripped:
        return []
    start = thinking.text.index(stripped)
    return [ReadSpan(label, Span(start, start + len(stripped)))]  # type: ignore[arg-type]


def _answer(reply: Reply, text: str) -> Final | FormatError:
    warnings: tuple[ReadingWarning, ...] = ()
    if not text:
        match reply.finish_reason:
            case "length":
                message = "The token limit was reached before any text came"
                return FormatError(code="truncated", message=message)
            case "content_filter":
                message = "The provider's filter removed the reply"
                return FormatError(code="filtered", message=message)
            case _:
                warnings = (remark("empty_answer"),)
    elif reply.finish_reason == "length":
        warnings = (remark("cut_answer"),)
    elif reply.finish_reason == "content_filter":
        warnings = (remark("filtered_answer"),)
    return Final(answer=text, warnings=warnings)


def _calls(reply: Reply, rules: ReadRules, text: str) -> Action | FormatError:
    calls: list[RequestedCall] = []
    for index, call in enumerate(reply.tool_calls):
        if not call.name.strip():
            return FormatError(
                thought=text, code="no_tool_name", message="A tool call names no tool"
            )
        is_last = index == len(reply.tool_calls) - 1
        was_cut = is_last and reply.finish_reason == "length"
        asked = _read_call(call, index, rules, was_cut)
        near = near_name(call.name, [tool.name for tool in rules.tools])
        if near and not asked.error:
            named = Repair(
                "tool_name", f"Use the tool {near!r}", call.name, near, call=index, tool=near
            )
            asked = replace(asked, repairs=(named,))
        calls.append(asked)
    return Action(thought=text, calls=tuple(calls))


def _read_call(call: ToolCall, index: int, rules: ReadRules, was_cut: bool) -> RequestedCall:
    call_id = call.id or f"call_{index + 1}"
    text = call.arguments
    if was_cut:
        # Whole JSON proves nothing here: some servers close what the model did not.
        message = "The arguments are incomplete: the reply ended while the call was written"
        return RequestedCall(call_id, call.name, None, text, "truncated", message)
    if not text.strip() or text.strip() == "null":
        return RequestedCall(call_id, call.name, {}, text)
    start = len(text) - len(text.lstrip())
    decoded = decode_at(text, start)
    if isinstance(decoded, Decoded) and not text[decoded.end :].strip():
        if isinstance(decoded.value, dict) and not decoded.has_raw_breaks:
            return RequestedCall(call_id, call.name, decoded.value, text)
        return _not_plain(call, call_id, index, decoded, rules)
    code: FormatErrorCode = "bad_args"
    if isinstance(decoded, Decoded):
        why = "other text stands after the JSON"
    else:
        code, why = decoded.code, decoded.message
    if code == "bad_args" and text.startswith("{", start) and ends_inside(text, start):
        code = "truncated"
    if code == "truncated":
        message = "The arguments are incomplete: the reply ended while the call was written"
        return RequestedCall(call_id, call.name, None, text, code, message)
    if code in ("bad_args", "args_not_object"):
        repair = find_repair(text, 0, len(text))
        repairs = (_native(repair, index),) if repair is not None else ()
        if "{" not in text:
            why = "no JSON object begins there"
    else:
        repairs = ()
    message = f"The arguments are not valid JSON: {why}"
    return RequestedCall(call_id, call.name, None, text, code, message, repairs)


def _not_plain(
    call: ToolCall, call_id: str, index: int, decoded: Decoded, rules: ReadRules
) -> RequestedCall:
    """JSON with raw line breaks, or JSON that is not an object."""
    text = call.arguments
    value = decoded.value
    if isinstance(value, dict):
        repair = repair_of(text, 0, len(text), value, ("raw_breaks",))
        message = "A string in the arguments holds a raw line break"
        return RequestedCall(
            call_id, call.name, None, text, "bad_args", message, (_native(repair, index),)
        )
    name = only_parameter(rules.tool(call.name))
    repairs: tuple[Repair, ...] = ()
    if name is not None:
        wrapped: JsonObject = {name: value}
        repairs = (_native(repair_of(text, 0, len(text), wrapped, ("wrap_argument",)), index),)
    message = "The arguments are not a JSON object"
    return RequestedCall(call_id, call.name, None, text, "args_not_object", message, repairs)


def _native(repair: Repair, index: int) -> Repair:
    """The same repair, of a native call's arguments instead of the text."""
    return replace(repair, span=None, call=index)
