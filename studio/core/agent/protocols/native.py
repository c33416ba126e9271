"""Native tool calls: separate from the text; a reply without any is the answer.

Also native tool calls written as text, which servers without a parser for them pass on. Five
dialects: tags with JSON (Hermes, Qwen), a marked list (Mistral, Granite), function tags (Llama,
Qwen-Coder), the tag before a Python call (Llama), and bare or fenced JSON. They are offered as a
repair and never used silently: the text may only be an example of a call.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.core.agent.protocols.findings import (
    ReadRules,
    TextWithoutReasoning,
    blank_reasoning,
    only_parameter,
    open_thinking,
    remark,
)
from studio.core.agent.protocols.json_repair import (
    LARGEST,
    ends_inside,
    find_repair,
    read_value,
    repair_of,
)
from studio.core.agent.values.json_text import Decoded, decode_at, json_text
from studio.core.agent.values.step import (
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
from studio.core.prompty.document import ToolSpec
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.wire.reply import Reply, ToolCall

# Calls in the syntax of a program, `tool(a="b")`, and named values, `a="b", c=3`, for repairs.

_CALL = re.compile(r"(?P<name>[^\W\d][\w.:/-]{0,200})(?P<open>[(\[])")
_CLOSERS = {"(": ")", "[": "]"}
_KEY = re.compile(r"[\"'“]?(?P<key>[^\W\d][\w.-]{0,100})[\"'”]?\s{0,20}[=:]\s{0,20}(?=\S)")
_BETWEEN = re.compile(r"[\s,;]*")
_PREFIX = re.compile(r"^(?:functions?|tools?|default_api|mcp|api)[.:/_]+", re.IGNORECASE)


def read_named_values(text: str) -> JsonDict | None:
    """Read the values of `a="b", c=3`; None if the text is anything else or contains more."""
    made: JsonDict = {}
    at = _end_of_blanks(text, 0)
    while at < len(text):
        key = _KEY.match(text, at)
        if key is None or key["key"] in made or len(text) > LARGEST:
            return None
        # The added blank lets a bare number or word end with the text.
        read = read_value(f"{text} ", key.end())
        if read is None:
            return None
        made[key["key"]], end = read
        at = _end_of_blanks(text, min(end, len(text)))
        is_separated = at > end or at == len(text) or text[end - 1].isspace()
        if not is_separated:
            return None
    return made or None


def read_call(text: str) -> tuple[str, JsonObject | str] | None:
    """Read the tool and the arguments of `tool(…)` or `tool[…]`.

    Returns:
        The arguments by name, or the text of a single one; None if the text is no call.
    """
    text = text.strip().rstrip(";")
    found = _CALL.match(text)
    if found is None or not text.endswith(_CLOSERS[found["open"]]):
        return None
    inside = text[found.end() : -1].strip()
    if not inside:
        return found["name"], {}
    named = read_named_values(inside)
    if named is not None:
        return found["name"], named
    read = read_value(f"{inside} ", 0)
    if read is not None and read[1] >= len(inside):
        value = read[0]
        if isinstance(value, dict):
            return found["name"], value
        return found["name"], value if isinstance(value, str) else inside
    is_several = "=" in inside and '"' in inside
    return None if is_several else (found["name"], inside)


def hidden_arguments(text: str, tool: ToolSpec | None) -> tuple[JsonObject, str] | None:
    """Return the arguments in a text (JSON or named values), and the name of the mistake.

    Named values count only if each is a parameter of the tool: `x = 5` may be ordinary text.
    """
    stripped = text.strip()
    if stripped.startswith("{") and (read := read_value(stripped, 0)) is not None:
        if isinstance(read[0], dict) and not stripped[read[1] :].strip():
            return read[0], "unwrapped_string"
        return None
    properties = tool.parameters.get("properties") if tool is not None else None
    named = read_named_values(stripped) if isinstance(properties, Mapping) else None
    if named is None or not isinstance(properties, Mapping) or not set(named) <= set(properties):
        return None
    return named, "named_values"


def arguments_of(tool: ToolSpec | None, given: JsonObject | str) -> JsonObject | None:
    """Return arguments by name; a single value becomes the tool's only parameter, if it has one."""
    if not isinstance(given, str):
        return given
    name = only_parameter(tool)
    return {name: given} if name is not None else None


def named_tool(name: str, rules: ReadRules) -> ToolSpec | None:
    """Return the tool with that name, exact, or with another case or a prefix; else None."""
    exact = rules.tool(name)
    if exact is not None:
        return exact
    near = near_name(name, [tool.name for tool in rules.tools])
    return rules.tool(near) if near else None


def near_name(name: str, known: Sequence[str]) -> str:
    """Return the one known name that differs only by case, separators or prefix (`functions.`)."""
    if name in known:
        return ""
    wanted = {_bare(name), _bare(_PREFIX.sub("", name)), _bare(re.split(r"[.:/]", name)[-1])}
    found = [item for item in known if _bare(item) in wanted - {""}]
    return found[0] if len(found) == 1 else ""


def _bare(name: str) -> str:
    return re.sub(r"[\s_-]", "", name).lower()


def _end_of_blanks(text: str, start: int) -> int:
    found = _BETWEEN.match(text, start)
    return found.end() if found is not None else start


_TAGS = re.compile(r"<\|?tool_call\|?>|\[TOOL_CALLS\]|<\|python_tag\|>|<function=|<function_call>")
_FUNCTION = re.compile(r"<function=(?P<name>[\w.:/-]{1,200})>")
_PARAMETER = re.compile(r"<parameter=(?P<key>[\w.-]{1,100})>(?P<value>.*?)</parameter>", re.DOTALL)
_CLOSING = re.compile(
    r"\s*(?:</tool_call>|<\|?/tool_call\|?>|</function_call>|</function>|<\|e\w{1,9}\|>|```)"
)
_NAMED = re.compile(r"(?P<name>[\w.:/-]{1,200})[ \t]*(?:\[ARGS\])?[ \t]*(?=\{)")
_FENCE = re.compile(r"```(?:json|tool_call|tool_code|python)?[ \t]*\n", re.IGNORECASE)
_NAMES = ("name", "function", "tool", "tool_name")
_ARGUMENTS = ("arguments", "parameters", "args", "input", "action_input", "params")
_MOST = 50


@dataclass(frozen=True, slots=True)
class _Asked:
    tool: str
    arguments: JsonObject


def find_text_calls(reply: Reply, text: str, rules: ReadRules) -> FormatError | None:
    """Return the error of a reply with native calls written as text; None if it has none.

    Args:
        reply: the reply.
        text: its text, with the reasoning blanked out.
        rules: the rules, with the tools that were offered.
    """
    if not rules.tools or len(text) > LARGEST:
        return None
    start = _start(text, rules)
    if start is None:
        return None
    asked, end, is_whole = _read(text, start, rules)
    tagged = _TAGS.match(text, start) is not None
    if not asked and not tagged:
        return None
    answer = text.strip()
    was_cut = reply.finish_reason == "length"
    if tagged and was_cut:
        message = "The reply was cut off while it wrote a tool call as text"
        return FormatError(code="truncated", message=message, answer=answer)
    repairs: tuple[Repair, ...] = ()
    if asked and is_whole and not was_cut:
        calls = tuple(
            ToolCall(f"text_call_{number}", each.tool, json_text(each.arguments))
            for number, each in enumerate(asked, 1)
        )
        piece = Span(start, end)
        before = text[start:end]
        after = "\n".join(f"{call.name} {call.arguments}" for call in calls)
        repairs = (Repair("text_call", f"Read as a call: {after}", before, "", piece, calls=calls),)
    message = "A tool call is written as text"
    return FormatError(code="bad_action", message=message, answer=answer, repairs=repairs)


def _start(text: str, rules: ReadRules) -> int | None:
    """Return the start of the first call: a tag, or 0 if the whole text is a call."""
    tag = _TAGS.search(text)
    if tag is not None:
        return tag.start()
    fence = _FENCE.search(text)
    if fence is not None:
        return fence.start()
    first = len(text) - len(text.lstrip())
    if text.startswith(("{", "["), first):
        return first
    call = read_call(text)
    return first if call is not None and named_tool(call[0], rules) is not None else None


def _read(text: str, start: int, rules: ReadRules) -> tuple[list[_Asked], int, bool]:
    """Read the calls from an offset on; return them, their end, and whether each is complete."""
    asked: list[_Asked] = []
    at = start
    for _ in range(_MOST):
        opened = _TAGS.match(text, at) or _FENCE.match(text, at)
        if opened is not None and not opened.group().startswith("<function="):
            at = _blank(text, opened.end())
        one = _one(text, at, rules)
        if one is None:
            return asked, at, opened is None and bool(asked)
        found, end = one
        asked += found
        while (closing := _CLOSING.match(text, end)) is not None:
            end = closing.end()
        at = _blank(text, end)
        if not (_TAGS.match(text, at) or _FENCE.match(text, at) or text.startswith("{", at)):
            return asked, end, True
    return asked, at, True


def _one(text: str, at: int, rules: ReadRules) -> tuple[list[_Asked], int] | None:
    """Return the calls of one piece and its end."""
    function = _FUNCTION.match(text, at)
    if function is not None:
        return _function(text, function, rules)
    if text.startswith(("{", "["), at):
        read = read_value(text, at)
        if read is not None and (found := list(_calls_in(read[0], rules))):
            return found, read[1]
    named = _NAMED.match(text, at)
    if named is not None and (read := read_value(text, named.end())) is not None:
        arguments, end = read
        tool = named_tool(named["name"], rules)
        if tool is not None and isinstance(arguments, dict):
            return [_Asked(tool.name, arguments)], end
    return _program(text, at, rules)


def _program(text: str, at: int, rules: ReadRules) -> tuple[list[_Asked], int] | None:
    """Read a call in Python syntax, up to the line's end or a closing tag; return its end too."""
    end = next((found.start() for found in _CLOSING.finditer(text, at)), len(text))
    line = text[at:end].strip()
    if line.startswith("[") and line.endswith("]"):
        line = line[1:-1]
    line = line.removeprefix("print(").removesuffix(")") if line.startswith("print(") else line
    call = read_call(line)
    if call is None:
        return None
    name, given = call
    tool = named_tool(name.removesuffix(".call"), rules)
    arguments = arguments_of(tool, given)
    if tool is None or arguments is None:
        return None
    return [_Asked(tool.name, arguments)], end


def _function(text: str, found: re.Match[str], rules: ReadRules) -> tuple[list[_Asked], int] | None:
    """Read `<function=name>` with JSON or one tag for each parameter; return its end too."""
    tool = named_tool(found["name"], rules)
    name = tool.name if tool is not None else found["name"]
    at = _blank(text, found.end())
    if text.startswith("{", at):
        read = read_value(text, at)
        if read is None or not isinstance(read[0], dict):
            return None
        return [_Asked(name, read[0])], read[1]
    end = text.find("</function>", at)
    if end < 0:
        return None
    values: JsonDict = {
        item["key"]: _typed(item["value"].strip("\n"))
        for item in _PARAMETER.finditer(text, at, end)
    }
    return [_Asked(name, values)], end


def _typed(text: str) -> Json:
    """Return a parameter's value: JSON numbers and words as such, anything else as text."""
    read = read_value(f"{text} ", 0) if re.fullmatch(r"-?\d+(\.\d+)?|true|false", text) else None
    return read[0] if read is not None else text


def _calls_in(value: Json, rules: ReadRules) -> Iterator[_Asked]:
    """Yield the calls in a JSON value: `{"name", "arguments"}`, or a list of them."""
    if isinstance(value, list):
        for item in value:
            yield from _calls_in(item, rules)
        return
    if not isinstance(value, dict):
        return
    inner = value.get("function")
    if isinstance(inner, dict):
        value = inner
    name = next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)
    if not isinstance(name, str):
        return
    given = next((value[key] for key in _ARGUMENTS if key in value), None)
    if isinstance(given, str):
        read = read_value(given, 0) if given.lstrip().startswith("{") else None
        given = read[0] if read is not None else given
    tool = named_tool(name, rules)
    if tool is not None and (given is None or isinstance(given, dict)):
        yield _Asked(tool.name, given or {})


def _blank(text: str, at: int) -> int:
    return at + len(text[at:]) - len(text[at:].lstrip())


def read_native(reply: Reply, rules: ReadRules) -> Reading:
    """Read a reply by its native tool calls.

    The presence of calls decides, not the finish reason, which many servers set wrongly.
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
        # Complete JSON proves nothing here: some servers close JSON that the model did not.
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
        why = "there is other text after the JSON"
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
            why = "no JSON object starts there"
    else:
        repairs = ()
    message = f"The arguments are not valid JSON: {why}"
    return RequestedCall(call_id, call.name, None, text, code, message, repairs)


def _not_plain(
    call: ToolCall, call_id: str, index: int, decoded: Decoded, rules: ReadRules
) -> RequestedCall:
    """Return a call whose JSON contains raw line breaks or is not an object, with its repair."""
    text = call.arguments
    value = decoded.value
    if isinstance(value, dict):
        repair = repair_of(text, 0, len(text), value, ("raw_breaks",))
        message = "A string in the arguments contains a raw line break"
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
    """Return the repair for the arguments of a native call instead of the text."""
    return replace(repair, span=None, call=index)
