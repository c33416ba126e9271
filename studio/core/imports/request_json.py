"""Request bodies (OpenAI, Anthropic, Gemini) and message lists as prompts.

Source: Prompty spec §7.1, §7.4 and §7.5, read backwards; the texts are literal.
"""

import json
import re
from collections.abc import Collection, Iterator, Mapping, Sequence

from studio.core.imports.anthropic_blocks import CALLS, cached, foreign_parts, is_step, thread_block
from studio.core.imports.compose import Composition, compose
from studio.core.imports.gemini_body import (
    answer_schema,
    gemini_field,
    gemini_rows,
    lower_type_names,
    ollama_rows,
    with_underscores,
)
from studio.core.imports.imported import Imported, ImportFailure, implied
from studio.core.prompty.document import Message, TextPart, ToolResultPart
from studio.core.prompty.foreign import foreign_problem
from studio.core.prompty.front.declarations import properties_of_schema
from studio.core.prompty.front.front_matter import parameter_schema
from studio.core.prompty.threads import read_thread
from studio.core.text.values import Json, JsonDict, JsonObject, list_of, object_of, objects_of
from studio.core.wire import anthropic, chat, gemini, ollama, responses

# Reads the messages and tools of a request body of any provider.

_ANTHROPIC = {"thinking", "stop_sequences", "output_config"}
"""Keys of a body that Anthropic's API alone has."""
_SHAREGPT = {"human": "user", "gpt": "assistant", "system": "system", "tool": "tool"}


def form_of(data: JsonObject) -> str:
    """Return the name of the provider's form of a body."""
    if isinstance(data.get("contents"), list):
        return "gemini"
    if "messages" not in data and "conversations" not in data:
        return "openai-responses"
    tools = objects_of(data.get("tools"))
    is_dated = any(re.search(r"_\d{8}$", str(tool.get("type"))) for tool in tools)
    if "system" in data or is_dated or any("input_schema" in tool for tool in tools):
        return "anthropic"
    kinds = {
        str(block.get("type"))
        for message in objects_of(data.get("messages"))
        for block in objects_of(message.get("content"))
    }
    if kinds & {"tool_use", "tool_result", "document"} or any(map(is_step, kinds)):
        return "anthropic"
    if isinstance(data.get("options"), Mapping) or "keep_alive" in data:
        return "ollama"
    roles = {str(message.get("role")) for message in objects_of(data.get("messages"))}
    is_claude = str(data.get("model")).startswith("claude") and "max_tokens" in data
    is_one = not _ANTHROPIC.isdisjoint(data) or (is_claude and roles <= {"user", "assistant"})
    return "anthropic" if is_one and not tools else "openai-chat"


def messages_of(data: JsonObject, form: str) -> Iterator[Message]:
    """Yield the messages of a body, in its order."""
    if form == "openai-responses":
        yield from _responses_messages(data)
        return
    if form == "anthropic":
        yield from _anthropic_messages(data)
        return
    if form in ("gemini", "ollama"):
        yield from _thread([*(gemini_rows(data) if form == "gemini" else ollama_rows(data))])
        return
    listed = list_of(data.get("messages")) or list_of(data.get("conversations"))  # ShareGPT's key
    for item in _older_calls(listed):
        if not isinstance(item, Mapping):
            continue
        if "from" in item and "role" not in item:
            role = _SHAREGPT.get(str(item["from"]), "user")
            yield from _thread(({"role": role, "content": item.get("value", "")},))
        else:
            yield from _thread((item,))


def _function_call(item: JsonObject) -> JsonObject:
    """Return a message of OpenAI's older form, whose call is in `function_call`."""
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
    """Yield messages of the older form in the current one; calls and results get ids."""
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
    rows: list[JsonDict] = []
    for item in objects_of(given):
        kind, call = str(item.get("type", "message")), str(item.get("call_id", ""))
        if kind in CALLS[:2]:
            if not rows or rows[-1].get("role") != "assistant":
                rows.append({"role": "assistant", "content": ""})
            made = list_of(rows[-1].get("tool_calls"))
            rows[-1]["tool_calls"] = [*made, {**item, "id": call or item.get("id", "")}]
        elif kind in CALLS[2:]:
            text = _as_text(item.get("output"))
            rows.append({"role": "tool", "tool_call_id": call, "content": text})
        elif kind == "message":
            rows.append({**item})
    yield from _thread(rows)


def _anthropic_messages(data: JsonObject) -> Iterator[Message]:
    yield from _anthropic_system(data.get("system"))
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
                    {"tool_call_id": str(block.get("tool_use_id", "")), **cached(block)},
                )
            elif kind == "tool_use":
                calls.append(
                    {
                        "id": block.get("id", ""),
                        "name": block.get("name", ""),
                        "arguments": json.dumps(block.get("input", {}), ensure_ascii=False),
                    }
                )
            elif not is_step(kind):
                rest.append(thread_block(block))
        if rest or calls:
            made: JsonDict = {**item, "content": rest, **cached(content[-1])}
            if calls:
                made["tool_calls"] = calls
            yield from _thread((made,))


def _anthropic_system(system: Json) -> Iterator[Message]:
    blocks = objects_of(system)
    if any("cache_control" in block for block in blocks):
        for block in blocks:
            yield Message("system", (TextPart(str(block.get("text", ""))),), cached(block))
    elif system:
        yield Message("system", (TextPart(_as_text(system)),))


def tools_of(data: JsonObject) -> Iterator[JsonObject]:
    """Yield the tools of a body, without the wrapper `{type: function, function: …}`."""
    for item in objects_of([*list_of(data.get("tools")), *list_of(data.get("functions"))]):
        declared = objects_of(gemini_field(item, "functionDeclarations"))
        inner = item.get("function")
        if declared:
            yield from declared
        elif "contents" in data:
            yield from ({**object_of(options), "type": name} for name, options in item.items())
        else:
            yield inner if isinstance(inner, Mapping) else item


def schema_of(tool: JsonObject) -> JsonObject | None:
    """Return the schema of a tool's arguments under any provider's key."""
    schema = tool["parameters"] if "parameters" in tool else tool.get("input_schema")
    schema = gemini_field(tool, "parametersJsonSchema") if schema is None else schema
    lower_type_names(schema)
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


_HANDLED = {
    "openai-chat": ("model", "messages", "tools", "functions", "response_format"),
    "openai-responses": ("model", "input", "instructions", "tools", "text", "reasoning"),
    "anthropic": ("model", "messages", "system", "tools", "tool_choice", "output_config"),
    "gemini": (
        *("model", "contents", "systemInstruction", "system_instruction", "tools"),
        *("responseSchema", "responseJsonSchema", "response_schema", "response_json_schema"),
    ),
    "ollama": ("model", "messages", "tools", "format", "options"),
}
"""Keys of a body that are not model options, by form."""
_FORMATS = ("response_format", "text", "format", "responseSchema", "responseJsonSchema")
"""Keys for the format of the answer."""
_HOW_IT_COMES = ("stream", "stream_options", "conversations")
_UNKNOWN_OPTION = "the API's reference has no such option; it stays in the body as written."
_DOCUMENTED = re.compile(
    "audio|background|betas|cache_control|container|context_management|conversation|function_call"
    "|include|inference_geo|logit_bias|logprobs|max_tokens|max_tool_calls|mcp_servers|metadata"
    "|modalities|n|output_format|parallel_tool_calls|prediction|previous_response_id|prompt"
    "|prompt_cache_key|prompt_cache_retention|reasoning_effort|safety_identifier|service_tier"
    "|speed|store|thinking|tool_choice|top_logprobs|truncation|user|verbosity|web_search_options"
)
"""Matches further documented options of OpenAI's and Anthropic's APIs."""
_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "openai-chat": chat.OPTIONS | {"": "max_tokens"},
    "openai-responses": responses.OPTIONS,
    "anthropic": anthropic.OPTIONS,
    "gemini": gemini.OPTIONS,
    "ollama": {name: wire for name, wire in ollama.OPTIONS.items() if wire != "think"},
}
_LABELS = {
    "openai-chat": "OpenAI chat completions request",
    "openai-responses": "OpenAI responses request",
    "anthropic": "Anthropic messages request",
    "gemini": "Gemini request",
    "ollama": "Ollama request",
}


def is_request(data: Json) -> bool:
    """Return whether JSON is a request body, or a list of messages."""
    if isinstance(data, list):
        return bool(data) and all(_is_message(item) for item in data)
    if not isinstance(data, Mapping):
        return False
    if isinstance(data.get("conversations"), list) or _is_preference(data):
        return True
    contents = objects_of(data.get("contents"))
    if contents and all("parts" in item for item in contents):
        return True
    messages = data.get("messages")
    if isinstance(messages, list) and foreign_problem(_top_level(data), None) is None:
        return all(_is_message(item) for item in messages)
    asked = isinstance(data.get("input"), str | list)
    return asked and ("model" in data or "instructions" in data)


def _top_level(data: JsonObject) -> str:
    """Return the top-level keys of an object as YAML, by which formats are recognized."""
    return "".join(f"{k}: {v if isinstance(v, str) else ''}\n" for k, v in data.items())


def import_request(data: Json) -> Imported:
    """Import a request body, or a list of messages, as a Prompty 2 file.

    Raises:
        ImportFailure: there are no messages in it.
    """
    if isinstance(data, list):
        data = {"messages": data}
    if not isinstance(data, Mapping):
        raise ImportFailure("The JSON is neither a request nor a list of messages.")
    work = Composition()
    if _is_preference(data):
        data = _preferred(data)
    form = form_of(data)
    compose_body(data, form, work)
    if not work.messages:
        raise ImportFailure("There are no messages in it.")
    is_body = form == "gemini" or "model" in data
    label = _LABELS[form] if is_body else "list of chat messages"
    return Imported(compose(work), label, tuple(work.notes))


def compose_body(
    data: JsonObject, form: str, work: Composition, verbatim: Collection[str] = ()
) -> None:
    """Add the model, messages, tools and answer format of a body to a prompt file being built.

    Args:
        data: the body.
        form: form of the body.
        work: the prompt file.
        verbatim: keys of options that stay as written (`additionalProperties`).
    """
    work.front = {"model": _model(data, form, work, verbatim)}
    work.messages += messages_of(data, form)
    work.notes += foreign_parts(data, form)
    work.tools = [_tool(item, work) for item in tools_of(data)]
    if not {*_FORMATS} & {*verbatim}:
        read_outputs(_answer_format(data, form), work)
    if not work.front["model"]:
        del work.front["model"]


def _answer_format(data: JsonObject, form: str) -> Json:
    """Return the format of the answer in chat completions' form."""
    if form == "openai-chat":
        return data.get("response_format")
    if form == "ollama":
        schema = data.get("format")
        is_schema = isinstance(schema, Mapping)
        return (
            {"type": "json_schema", "schema": schema} if is_schema else {"type": schema or "text"}
        )
    if form != "gemini":
        holder = data.get("text" if form == "openai-responses" else "output_config")
        return object_of(holder).get("format")
    schema = answer_schema(data)
    return {"type": "json_schema", "schema": schema} if schema else None


def _is_preference(data: JsonObject) -> bool:
    """Return whether the data is a line of OpenAI's preference tuning, with two answers."""
    asked = data.get("input")
    return (
        isinstance(asked, Mapping)
        and isinstance(asked.get("messages"), list)
        and isinstance(data.get("preferred_output"), list)
    )


def _preferred(data: JsonObject) -> JsonObject:
    """Return the conversation of a preference with the preferred answer."""
    asked, answer = data["input"], data["preferred_output"]
    asked = asked if isinstance(asked, Mapping) else {}
    listed = list_of(asked.get("messages"))
    return {**asked, "messages": [*listed, *(answer if isinstance(answer, list) else [])]}


def _model(data: JsonObject, form: str, work: Composition, verbatim: Collection[str]) -> JsonDict:
    found: JsonDict = {}
    if data.get("model"):
        found["id"] = str(data["model"]).removeprefix("models/")
    if found or form == "gemini":
        found["provider"] = "openai" if form.startswith("openai") else form
        found["apiType"] = "responses" if form == "openai-responses" else "chat"
    names = {wire: ours for ours, wire in _OPTIONS[form].items() if ours}
    names.setdefault("max_tokens", "maxOutputTokens")
    holder_key = {"gemini": "generationConfig", "ollama": "options"}.get(form, "")
    config = object_of(gemini_field(data, holder_key))
    if form == "gemini":
        names |= {with_underscores(wire): ours for wire, ours in names.items()}
    options: JsonDict = {}
    further: JsonDict = {}
    for holder, key in ((each, key) for each in (data, config) for key in each):
        is_known = holder is config or key in names or _DOCUMENTED.fullmatch(key) is not None
        is_kept = is_known or (key in gemini.BESIDE if form == "gemini" else bool(found))
        is_handled = key in _HANDLED[form] or key in _HOW_IT_COMES
        if key not in verbatim and (is_handled or not is_kept):
            continue  # keys that no list of messages has stay unread and are reported
        value = holder[key]
        if not is_known and form not in ("gemini", "ollama"):
            work.notes.append(f"{key}: {_UNKNOWN_OPTION}")
        if key == "function_call":
            further |= _choice_of_function(value)
        elif key in names and key not in verbatim and not isinstance(value, Mapping):
            listed = [value] if names[key] == "stopSequences" and isinstance(value, str) else value
            options[names[key]] = listed
        else:
            further[key] = value
    _read_choices(data, form, options, further)
    if further:
        options["additionalProperties"] = further
    if options:
        found["options"] = options
    return found


def _read_choices(data: JsonObject, form: str, options: JsonDict, further: JsonDict) -> None:
    """Read the objects of a body that correspond partly to options of the studio."""
    if form == "openai-responses":
        reasoning = {**object_of(data.get("reasoning"))}
        options |= {"reasoningEffort": reasoning.pop("effort")} if "effort" in reasoning else {}
        further |= {"reasoning": reasoning} if reasoning else {}
    elif form == "anthropic":
        if effort := object_of(data.get("output_config")).get("effort"):
            options["reasoningEffort"] = effort
        choice = {**object_of(data.get("tool_choice"))}
        is_single = bool(choice.pop("disable_parallel_tool_use", False))
        options |= {"allowMultipleToolCalls": False} if is_single else {}
        if choice and (choice != {"type": "auto"} or not is_single):
            further["tool_choice"] = choice


def _choice_of_function(value: Json) -> JsonDict:
    """Return OpenAI's older `function_call` in the current form; `auto` is the default."""
    if value == "auto":
        return {}
    name = value.get("name") if isinstance(value, Mapping) else None
    return {"tool_choice": {"type": "function", "function": {"name": name}} if name else value}


def _tool(item: JsonObject, work: Composition) -> JsonObject:
    """Return a tool as Prompty 2 declares it, with the whole schema if properties lose parts."""
    own = object_of(item.get(str(item.get("type"))))  # OpenAI's `{type: custom, custom: {name}}`
    name = str(item.get("name") or own.get("name") or item.get("type") or "tool")
    schema = schema_of(item)
    is_service = item.get("type") not in (None, "function") and schema is None
    if "name" not in item or is_service:
        work.notes.append(f"tools: {name!r} is a service of the provider; it is kept, not sent.")
        options = {key: value for key, value in item.items() if key not in ("type", "name")}
        return {"name": name, "kind": str(item.get("type", "custom")), "options": options}
    made: JsonDict = {"name": name, "kind": "function"}
    if item.get("description"):
        made["description"] = item["description"]
    if schema is not None:
        schema = _with_known_required(name, schema, work)
        listed = properties_of_schema(schema)
        same = parameter_schema(listed) == parameter_schema(schema)
        made["parameters"] = listed if same else schema
        if not same:
            work.notes.append(
                f"tools.{name}: its schema cannot be expressed as a list of properties, so it is "
                "kept as a JSON schema, which not every Prompty runtime supports."
            )
    if "input_schema" not in item and item.get("strict") is True:
        made["strict"] = True
    return made


def _with_known_required(name: str, schema: JsonObject, work: Composition) -> JsonObject:
    """Return the schema with only those required names that have properties."""
    required, properties = schema.get("required"), schema.get("properties")
    if not isinstance(required, list) or not isinstance(properties, Mapping):
        return schema
    kept = [each for each in required if isinstance(each, str) and each in properties]
    if kept == required:
        return schema
    words = ", ".join(repr(each) for each in required if each not in kept)
    work.notes.append(f"tools.{name}: it requires {words}, which it does not describe; left out.")
    rest = {key: value for key, value in schema.items() if key != "required"}
    return {**rest, "required": kept} if kept else rest


def read_outputs(form: Json, work: Composition) -> None:
    """Read the format of the answer: a schema becomes outputs, other formats are reported."""
    if not isinstance(form, Mapping) or form.get("type") == "text":
        return
    inner = form.get("json_schema")
    holder = inner if isinstance(inner, Mapping) else form
    schema = holder.get("schema")
    if not isinstance(schema, Mapping):
        work.notes.append(
            f"The answer's format {json.dumps(form)} is not possible in a prompt file."
        )
        return
    work.front["outputs"] = properties_of_schema(schema)
    # A schema of outputs is sent as strict, under the name of the studio.
    implied(schema, "additionalProperties", "$schema")
    if holder.get("strict", True) is False or schema.get("additionalProperties"):
        work.notes.append("The answer's schema is strict here: all of its properties, no others.")
    if holder.get("name") not in (None, "structured_output"):
        work.notes.append(
            f"{holder.get('name')}: a prompt file has no name for the schema of its answer."
        )


def _is_message(item: Json) -> bool:
    return isinstance(item, Mapping) and ("role" in item or "from" in item)
