"""The messages and tools of a request body, whichever provider it is for.

Source: Prompty spec §7.1, §7.4 and §7.5, read backwards; the texts are literal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from studio.core.prompty.messages import Message, TextPart, ToolResultPart
from studio.core.prompty.threads import read_thread
from studio.core.text.values import Json, JsonObject, list_of, object_of, objects_of

_SHAREGPT = {"human": "user", "gpt": "assistant", "system": "system", "tool": "tool"}


def read_request(data: JsonObject) -> tuple[tuple[Message, ...], tuple[JsonObject, ...]]:
    """The messages and tools of a body, as they are in it."""
    form = form_of(data)
    return tuple(messages_of(data, form)), tuple(tools_of(data))


def form_of(data: JsonObject) -> str:
    """Which provider's form a body has."""
    if "messages" not in data and "conversations" not in data:
        return "openai-responses"
    tools = data.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else {}
    if "system" in data or (isinstance(first, Mapping) and "input_schema" in first):
        return "anthropic"
    messages = list_of(data.get("messages"))
    kinds = {
        str(block.get("type"))
        for message in messages
        if isinstance(message, Mapping)
        for block in list_of(message.get("content"))
        if isinstance(block, Mapping)
    }
    return "anthropic" if kinds & {"tool_use", "tool_result", "document"} else "openai-chat"


def messages_of(data: JsonObject, form: str) -> Iterator[Message]:
    """The messages of a body, in its order."""
    if form == "openai-responses":
        yield from _responses_messages(data)
        return
    if form == "anthropic":
        yield from _anthropic_messages(data)
        return
    listed = list_of(data.get("messages")) or list_of(data.get("conversations"))  # ShareGPT's word
    for item in _older_calls(listed):
        if not isinstance(item, Mapping):
            continue
        if "from" in item and "role" not in item:
            role = _SHAREGPT.get(str(item["from"]), "user")
            yield from _thread(({"role": role, "content": item.get("value", "")},))
        else:
            yield from _thread((item,))


def _function_call(item: JsonObject) -> JsonObject:
    """A message of OpenAI's older form, whose call is `function_call`."""
    call = item.get("function_call")
    if not isinstance(call, Mapping):
        return item
    kept = {key: value for key, value in item.items() if key != "function_call"}
    name = str(call.get("name", ""))
    return {
        **kept,
        "content": item.get("content") or "",
        "tool_calls": [{"id": f"call_{name}", "type": "function", "function": dict(call)}],
    }


def _older_calls(items: Sequence[Json]) -> Iterator[Json]:
    """Messages in today's words: a result has the id that its call is given here."""
    called: set[str] = set()
    for item in items:
        name = str(item.get("name", "")) if isinstance(item, Mapping) else ""
        if isinstance(item, Mapping) and item.get("role") == "function" and name in called:
            yield {"role": "tool", "tool_call_id": f"call_{name}", "content": item.get("content")}
            continue
        call = item.get("function_call") if isinstance(item, Mapping) else None
        if isinstance(call, Mapping):
            called.add(str(call.get("name", "")))
        yield _function_call(item) if isinstance(item, Mapping) else item


def _thread(items: Sequence[Json]) -> Iterator[Message]:
    for message in read_thread(list(items), {}, None) or ():
        attributes = {key: value for key, value in message.attributes.items() if value is not None}
        parts = message.parts
        if len(parts) == 1 and isinstance(parts[0], TextPart) and not parts[0].text:
            parts = ()
        yield Message(message.role, parts, attributes)


def _responses_messages(data: JsonObject) -> Iterator[Message]:
    if isinstance(data.get("instructions"), str):
        yield Message("system", (TextPart(str(data["instructions"])),))
    given = data.get("input")
    if isinstance(given, str):
        yield Message("user", (TextPart(given),))
        return
    rows: list[dict[str, Json]] = []
    for item in objects_of(given):
        kind, call = str(item.get("type", "message")), str(item.get("call_id", ""))
        if kind in ("function_call", "custom_tool_call"):
            if not rows or rows[-1].get("role") != "assistant":
                rows.append({"role": "assistant", "content": ""})
            made = list_of(rows[-1].get("tool_calls"))
            rows[-1]["tool_calls"] = [*made, {**item, "id": call or item.get("id", "")}]
        elif kind in ("function_call_output", "custom_tool_call_output"):
            text = _as_text(item.get("output"))
            rows.append({"role": "tool", "tool_call_id": call, "content": text})
        elif kind not in ("reasoning", "item_reference") and not kind.endswith("_call"):
            rows.append({**item})  # what is no message stays unread, and is named
    yield from _thread(rows)


def _anthropic_messages(data: JsonObject) -> Iterator[Message]:
    system = data.get("system")
    if system:
        yield Message("system", (TextPart(_as_text(system)),))
    for item in list_of(data.get("messages")):
        if not isinstance(item, Mapping):
            continue
        content = item.get("content")
        if not isinstance(content, list):
            yield from _thread((item,))
            continue
        rest: list[Json] = []
        calls: list[Json] = []
        for block in content:
            kind = block.get("type") if isinstance(block, Mapping) else ""
            if kind == "tool_result":
                yield Message(
                    "tool",
                    (ToolResultPart(_as_text(block.get("content"))),),
                    {"tool_call_id": str(block.get("tool_use_id", ""))},
                )
            elif kind == "tool_use":
                calls.append(
                    {
                        "id": block.get("id", ""),
                        "name": block.get("name", ""),
                        "arguments": json.dumps(block.get("input", {}), ensure_ascii=False),
                    }
                )
            elif kind not in ("thinking", "redacted_thinking"):
                rest.append(_anthropic_block(block))
        if rest or calls:
            made: dict[str, Json] = {**item, "content": rest}
            if calls:
                made["tool_calls"] = calls
            yield from _thread((made,))


def _anthropic_block(block: Json) -> Json:
    """A block of content as a thread has it: texts without `cache_control` and `citations`."""
    if not isinstance(block, Mapping):
        return block
    kind, inner = block.get("type"), object_of(block.get("source"))
    if kind in ("image", "document"):
        source = str(inner.get("url", ""))
        if inner.get("type") == "base64":
            source = f"data:{inner.get('media_type')};base64,{inner.get('data')}"
        return {"kind": "image" if kind == "image" else "file", "value": source}
    return {"type": "text", "text": block.get("text", "")} if kind == "text" else block


def tools_of(data: JsonObject) -> Iterator[JsonObject]:
    """The tools of a body, without the `{type: function, function: …}` around them."""
    for item in objects_of([*list_of(data.get("tools")), *list_of(data.get("functions"))]):
        inner = item.get("function")
        yield inner if isinstance(inner, Mapping) else item


def schema_of(tool: JsonObject) -> JsonObject | None:
    """The schema of a tool's arguments, whichever way a provider names it."""
    schema = tool["parameters"] if "parameters" in tool else tool.get("input_schema")
    return schema if isinstance(schema, Mapping) else None


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [
            str(item.get("text", "")) if isinstance(item, Mapping) else str(item) for item in value
        ]
        return "\n\n".join(texts)
    return "" if value is None else json.dumps(value, ensure_ascii=False)
