"""Request bodies (OpenAI chat completions and responses, Anthropic) and message lists as prompts.

Source: Prompty spec §7.1, §7.4 and §7.5, read backwards; the texts are literal.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from studio.core.imports.compose import Composition, compose
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.prompty.front_matter import parameter_schema
from studio.core.prompty.messages import Message, TextPart, ToolResultPart
from studio.core.prompty.threads import read_thread
from studio.core.prompty.tool_shapes import properties_of_schema
from studio.core.text.values import Json, JsonObject
from studio.core.wire import anthropic, chat, responses

_SHAREGPT = {"human": "user", "gpt": "assistant", "system": "system", "tool": "tool"}
_HANDLED = {
    "openai-chat": ("model", "messages", "tools", "functions", "response_format", "stream",
                    "stream_options"),
    "openai-responses": ("model", "input", "instructions", "tools", "text", "reasoning", "stream"),
    "anthropic": ("model", "messages", "system", "tools", "tool_choice", "output_config", "stream"),
}  # fmt: skip
_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "openai-chat": chat.OPTIONS | {"": "max_tokens"},
    "openai-responses": responses.OPTIONS,
    "anthropic": anthropic.OPTIONS,
}
_LABELS = {
    "openai-chat": "OpenAI chat completions request",
    "openai-responses": "OpenAI responses request",
    "anthropic": "Anthropic messages request",
}


def is_request(data: Json) -> bool:
    """Whether JSON is a request body, or a list of messages."""
    if isinstance(data, list):
        return bool(data) and all(_is_message(item) for item in data)
    if not isinstance(data, Mapping):
        return False
    if isinstance(data.get("conversations"), list):
        return True
    messages = data.get("messages")
    if isinstance(messages, list) and all(isinstance(item, Mapping) for item in messages):
        return True
    return "input" in data and ("model" in data or "instructions" in data)


def import_request(data: Json) -> Imported:
    """A request body, or a list of messages, as a Prompty 2 file.

    Raises:
        ImportFailure: there are no messages in it.
    """
    if isinstance(data, list):
        data = {"messages": data}
    if not isinstance(data, Mapping):
        raise ImportFailure("The JSON is no request and no list of messages.")
    if isinstance(data.get("conversations"), list):  # ShareGPT's words
        data = {**data, "messages": data["conversations"]}
    form = _form(data)
    work = Composition()
    work.front = {"model": _model(data, form, work)}
    work.messages += _messages(data, form)
    if not work.messages:
        raise ImportFailure("There are no messages in it.")
    work.tools = [_tool(item, work) for item in _tools(data)]
    _outputs(data, form, work)
    if not work.front["model"]:
        del work.front["model"]
    label = _LABELS[form] if "model" in data else "list of chat messages"
    return Imported(compose(work), label, tuple(work.notes))


def read_request(data: JsonObject) -> tuple[tuple[Message, ...], tuple[JsonObject, ...]]:
    """The messages and tools of a body, as they are in it."""
    form = _form(data)
    return tuple(_messages(data, form)), tuple(_tools(data))


def _form(data: JsonObject) -> str:
    if "messages" not in data:
        return "openai-responses"
    tools = data.get("tools")
    first = tools[0] if isinstance(tools, list) and tools else {}
    if "system" in data or (isinstance(first, Mapping) and "input_schema" in first):
        return "anthropic"
    messages = data["messages"] if isinstance(data["messages"], list) else []
    kinds = {
        str(block.get("type"))
        for message in messages
        if isinstance(message, Mapping) and isinstance(message.get("content"), list)
        for block in message["content"]
        if isinstance(block, Mapping)
    }
    return "anthropic" if kinds & {"tool_use", "tool_result", "document"} else "openai-chat"


def _model(data: JsonObject, form: str, work: Composition) -> dict[str, Json]:
    found: dict[str, Json] = {}
    if data.get("model"):
        found["id"] = data["model"]
        found["provider"] = "anthropic" if form == "anthropic" else "openai"
        found["apiType"] = "responses" if form == "openai-responses" else "chat"
    names = {wire: ours for ours, wire in _OPTIONS[form].items() if ours}
    names.setdefault("max_tokens", "maxOutputTokens")
    options: dict[str, Json] = {}
    further: dict[str, Json] = {}
    for key, value in data.items():
        if key in _HANDLED[form] or key == "conversations":
            if key in ("stream", "stream_options"):
                work.notes.append(f"{key}: how the answer comes is not a prompt's to say.")
            continue
        if key in names:
            listed = [value] if names[key] == "stopSequences" and isinstance(value, str) else value
            options[names[key]] = listed
        else:
            further[key] = value
    reasoning = data.get("reasoning") if form == "openai-responses" else data.get("output_config")
    if isinstance(reasoning, Mapping) and "effort" in reasoning:
        options["reasoningEffort"] = reasoning["effort"]
    choice = data.get("tool_choice")
    if form == "anthropic" and choice is not None:
        if isinstance(choice, Mapping) and choice.get("disable_parallel_tool_use"):
            options["allowMultipleToolCalls"] = False
        else:
            further["tool_choice"] = choice
    if further:
        options["additionalProperties"] = further
    if options:
        found["options"] = options
    return found


def _messages(data: JsonObject, form: str) -> Iterator[Message]:
    if form == "openai-responses":
        yield from _responses_messages(data)
        return
    if form == "anthropic":
        yield from _anthropic_messages(data)
        return
    for item in _list(data.get("messages")):
        if not isinstance(item, Mapping):
            continue
        if "from" in item and "role" not in item:
            role = _SHAREGPT.get(str(item["from"]), "user")
            yield from _thread(({"role": role, "content": item.get("value", "")},))
        else:
            yield from _thread((item,))


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
    calls: list[Json] = []
    held: JsonObject | None = None
    for item in _list(given):
        if not isinstance(item, Mapping):
            continue
        kind = item.get("type", "message")
        if kind == "function_call":
            calls.append({
                "id": item.get("call_id", item.get("id", "")), "name": item.get("name", ""),
                "arguments": item.get("arguments", "{}"),
            })  # fmt: skip
            continue
        if calls:
            yield from _thread(({**(held or {"role": "assistant", "content": ""}),
                                 "tool_calls": calls},))  # fmt: skip
            calls, held = [], None
        elif held is not None:
            yield from _thread((held,))
            held = None
        if kind == "function_call_output":
            yield Message(
                "tool", (ToolResultPart(_as_text(item.get("output"))),),
                {"tool_call_id": str(item.get("call_id", ""))},
            )  # fmt: skip
        elif item.get("role") == "assistant":
            held = item
        else:
            yield from _thread((item,))
    if calls or held is not None:
        item = held or {"role": "assistant", "content": ""}
        yield from _thread(({**item, "tool_calls": calls} if calls else item,))


def _anthropic_messages(data: JsonObject) -> Iterator[Message]:
    system = data.get("system")
    if system:
        yield Message("system", (TextPart(_as_text(system)),))
    for item in _list(data.get("messages")):
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
                    "tool", (ToolResultPart(_as_text(block.get("content"))),),
                    {"tool_call_id": str(block.get("tool_use_id", ""))},
                )  # fmt: skip
            elif kind == "tool_use":
                calls.append({
                    "id": block.get("id", ""), "name": block.get("name", ""),
                    "arguments": json.dumps(block.get("input", {}), ensure_ascii=False),
                })  # fmt: skip
            elif kind in ("image", "document"):
                rest.append(_anthropic_media(block))
            else:
                rest.append(block)
        if rest or calls:
            made: dict[str, Json] = {**item, "content": rest}
            if calls:
                made["tool_calls"] = calls
            yield from _thread((made,))


def _anthropic_media(block: JsonObject) -> JsonObject:
    source = block.get("source")
    inner = source if isinstance(source, Mapping) else {}
    kind = "image" if block.get("type") == "image" else "file"
    if inner.get("type") == "base64":
        uri = f"data:{inner.get('media_type')};base64,{inner.get('data')}"
        return {"kind": kind, "value": uri}
    return {"kind": kind, "value": str(inner.get("url", ""))}


def _tools(data: JsonObject) -> Iterator[JsonObject]:
    """Tools as `{name, description, parameters, strict}`, whichever way a provider writes them."""
    for item in (*_list(data.get("tools")), *_list(data.get("functions"))):
        if not isinstance(item, Mapping):
            continue
        inner = item.get("function")
        tool = inner if isinstance(inner, Mapping) else item
        schema = tool.get("parameters", tool.get("input_schema"))
        yield {**tool, **({"parameters": schema} if isinstance(schema, Mapping) else {})}


def _tool(item: JsonObject, work: Composition) -> JsonObject:
    """A tool as Prompty 2 declares it; its schema whole where a list of properties would lose."""
    name = str(item.get("name") or item.get("type") or "tool")
    if "name" not in item:
        work.notes.append(f"tools: {name!r} is a service of the provider; it is kept as written.")
        options = {key: value for key, value in item.items() if key != "type"}
        return {"name": name, "kind": str(item.get("type", "custom")), "options": options}
    made: dict[str, Json] = {"name": name, "kind": "function"}
    if item.get("description"):
        made["description"] = item["description"]
    schema = item.get("parameters")
    if isinstance(schema, Mapping):
        listed = properties_of_schema(schema)
        same = parameter_schema(listed) == parameter_schema(schema)
        made["parameters"] = listed if same else schema
        if not same:
            work.notes.append(
                f"tools.{name}: its schema says more than a list of properties can, so it is kept "
                "as a JSON schema, which not every Prompty runtime reads."
            )
    if item.get("strict") is True:
        made["strict"] = True
    return made


def _outputs(data: JsonObject, form: str, work: Composition) -> None:
    """The schema of the answer as outputs."""
    if form == "openai-chat":
        block = data.get("response_format")
        inner = block.get("json_schema") if isinstance(block, Mapping) else None
        schema = inner.get("schema") if isinstance(inner, Mapping) else None
    else:
        key = "text" if form == "openai-responses" else "output_config"
        holder = data.get(key)
        block = holder.get("format") if isinstance(holder, Mapping) else None
        schema = block.get("schema") if isinstance(block, Mapping) else None
    if isinstance(schema, Mapping):
        work.front["outputs"] = properties_of_schema(schema)
    elif block is not None:
        work.notes.append(f"The answer's format {json.dumps(block)} has no place in a prompt file.")


def _is_message(item: Json) -> bool:
    return isinstance(item, Mapping) and ("role" in item or "from" in item)


def _as_text(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        texts = [
            str(item.get("text", "")) if isinstance(item, Mapping) else str(item) for item in value
        ]
        return "\n\n".join(texts)
    return "" if value is None else json.dumps(value, ensure_ascii=False)


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []
