"""Request bodies (OpenAI chat completions and responses, Anthropic) and message lists as prompts.

Source: Prompty spec §7.1, §7.4 and §7.5, read backwards; the texts are literal.
"""

from __future__ import annotations

import json
from collections.abc import Mapping

from studio.core.imports.compose import Composition, compose
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.request_messages import dropped_of, form_of, messages_of, tools_of
from studio.core.prompty.front.front_matter import parameter_schema
from studio.core.prompty.front.tool_shapes import properties_of_schema
from studio.core.text.values import Json, JsonObject
from studio.core.wire import anthropic, chat, responses

_HANDLED = {
    "openai-chat": (
        "model",
        "messages",
        "tools",
        "functions",
        "response_format",
        "stream",
        "stream_options",
    ),
    "openai-responses": ("model", "input", "instructions", "tools", "text", "reasoning", "stream"),
    "anthropic": ("model", "messages", "system", "tools", "tool_choice", "output_config", "stream"),
}
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
    if isinstance(data.get("conversations"), list) or _is_preference(data):
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
        raise ImportFailure("The JSON is neither a request nor a list of messages.")
    if isinstance(data.get("conversations"), list):  # ShareGPT's words
        data = {**data, "messages": data["conversations"]}
    work = Composition()
    if _is_preference(data):
        data = _preferred(data)
        work.notes.append("non_preferred_output: the answer that lost has no place in a prompt.")
    form = form_of(data)
    work.front = {"model": _model(data, form, work)}
    work.messages += messages_of(data, form)
    if not work.messages:
        raise ImportFailure("There are no messages in it.")
    work.tools = [_tool(item, work) for item in tools_of(data)]
    work.notes += dropped_of(data, form)
    _outputs(data, form, work)
    if not work.front["model"]:
        del work.front["model"]
    label = _LABELS[form] if "model" in data else "list of chat messages"
    return Imported(compose(work), label, tuple(work.notes))


def _is_preference(data: JsonObject) -> bool:
    """A line of OpenAI's preference fine-tuning: what was asked, and two answers to it."""
    asked = data.get("input")
    return (
        isinstance(asked, Mapping)
        and isinstance(asked.get("messages"), list)
        and isinstance(data.get("preferred_output"), list)
    )


def _preferred(data: JsonObject) -> JsonObject:
    """The conversation of a preference, with the answer that won."""
    asked, answer = data["input"], data["preferred_output"]
    asked = asked if isinstance(asked, Mapping) else {}
    messages = asked.get("messages")
    listed = messages if isinstance(messages, list) else []
    return {**asked, "messages": [*listed, *(answer if isinstance(answer, list) else [])]}


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
        if key == "function_call":
            further |= _choice_of_function(value)
            continue
        if key in names:
            listed = [value] if names[key] == "stopSequences" and isinstance(value, str) else value
            options[names[key]] = listed
        else:
            further[key] = value
    reasoning = data.get("reasoning") if form == "openai-responses" else data.get("output_config")
    if isinstance(reasoning, Mapping) and "effort" in reasoning:
        options["reasoningEffort"] = reasoning["effort"]
    if form == "anthropic" and (choice := data.get("tool_choice")) is not None:
        _anthropic_choice(choice, options, further)
    if further:
        options["additionalProperties"] = further
    if options:
        found["options"] = options
    return found


def _anthropic_choice(choice: Json, options: dict[str, Json], further: dict[str, Json]) -> None:
    if isinstance(choice, Mapping) and choice.get("disable_parallel_tool_use"):
        options["allowMultipleToolCalls"] = False
    else:
        further["tool_choice"] = choice


def _choice_of_function(value: Json) -> dict[str, Json]:
    """OpenAI's older `function_call` in the words of today; `auto` is what goes without saying."""
    if value == "auto":
        return {}
    name = value.get("name") if isinstance(value, Mapping) else None
    return {"tool_choice": {"type": "function", "function": {"name": name}} if name else value}


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
        schema = _with_known_required(name, schema, work)
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


def _with_known_required(name: str, schema: JsonObject, work: Composition) -> JsonObject:
    """The schema with those required names alone that it has properties for."""
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


def _outputs(data: JsonObject, form: str, work: Composition) -> None:
    """The schema of the answer as outputs."""
    if form == "openai-chat":
        block = data.get("response_format")
        inner = block.get("json_schema") if isinstance(block, Mapping) else None
        schema = inner.get("schema") if isinstance(inner, Mapping) else None
        if isinstance(inner, Mapping) and inner.get("name") not in (None, "structured_output"):
            work.notes.append("response_format.json_schema.name: a prompt file names no schema.")
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
