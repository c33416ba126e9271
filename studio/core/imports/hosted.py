"""Import prompts exported by services: Langfuse, OpenAI's stored prompts and evals, ChatGPT."""

import json
import re
from collections import ChainMap
from collections.abc import Iterator, Mapping

from studio.core.imports.compose import (
    Composition,
    compose,
    declare_string,
    literal,
    read_items,
    set_model,
)
from studio.core.imports.imported import Imported, ImportFailure
from studio.core.imports.request_json import read_outputs
from studio.core.prompty.document import Message, TextPart
from studio.core.prompty.front.declarations import function_tool, kind_of_value
from studio.core.prompty.yaml.reader import plain
from studio.core.text.naming import unique_names
from studio.core.text.values import Json, JsonObject, object_of

_BRACES = re.compile(r"\{\{\s*([\w.]+)\s*\}\}")
_MOST_SETS = 100
_TAG = re.compile(r"(?!\{\{\s*[\w.]+\s*\}\})\{\{[^{}]*\}\}|\{[%#]|\{\{(?=\{)")
"""Start of a Jinja tag, comment or expression that is plain text for Langfuse."""


def is_langfuse(data: Json) -> bool:
    """Return whether JSON is a prompt of Langfuse."""
    return (
        isinstance(data, Mapping)
        and isinstance(data.get("prompt"), str | list)
        and data.get("type") in ("chat", "text")
    )


def import_langfuse(data: Json) -> Imported:
    """Import a prompt of Langfuse; `{{name}}` in its texts becomes an input.

    Raises:
        ImportFailure: it contains no text.
    """
    if not isinstance(data, Mapping):
        raise ImportFailure("It is not a prompt of Langfuse.")
    work = Composition(is_template=True)
    prompt = data.get("prompt")
    items = prompt if isinstance(prompt, list) else [{"role": "user", "content": prompt}]
    for item in items:
        if isinstance(item, Mapping) and item.get("type") == "placeholder":
            work.add_thread(str(item.get("name", "thread")))
        elif isinstance(item, Mapping):
            kept = {key: item[key] for key in ("role", "content", "name") if key in item}
            if isinstance(text := kept.get("content"), str):  # Langfuse only replaces names
                kept["content"] = _TAG.sub(lambda found: literal(found[0], "jinja2"), text)
            work.messages += read_items([kept])
    name = _front(data, work)
    config = data.get("config")
    if isinstance(config, Mapping):
        _settings(config, work)
        read_outputs(config.get("response_format"), work)
    if "@@@langfusePrompt:" in json.dumps(prompt):
        work.notes.append("@@@langfusePrompt…@@@: another prompt is inserted here; copy its text.")
    return _made(work, "Langfuse prompt", name)


def is_stored(data: Json) -> bool:
    """Return whether JSON is a stored prompt of OpenAI, an eval, or a run of one."""
    if not isinstance(data, Mapping):
        return False
    word = data.get("object")
    return (
        word in ("prompt", "eval", "eval.run")
        or str(data.get("id", "")).startswith("pmpt_")
        or _template_of(data) is not None
    )


def import_stored(data: Json) -> Imported:
    """Import a stored prompt of OpenAI, or the messages of an eval.

    Raises:
        ImportFailure: it contains no messages.
    """
    if not isinstance(data, Mapping):
        raise ImportFailure("It is not a stored prompt.")
    data = _with_run(data)
    block: ChainMap[str, Json] = ChainMap(data)  # type: ignore[arg-type]
    for key in ("prompt", "version", "data_source"):
        if isinstance(inner := data.get(key), Mapping):
            block = ChainMap(inner, data)  # type: ignore[arg-type]
    work = Composition(is_template=True)
    instructions = block.get("instructions")
    if isinstance(instructions, str) and instructions:
        work.messages += read_items([{"role": "system", "content": instructions}])
    listed = _template_of(data) or block.get("messages") or block.get("input")
    if isinstance(listed, str):
        listed = [{"role": "user", "content": listed}]
    work.messages += read_items(
        [_flat(item) for item in listed] if isinstance(listed, list) else []
    )
    if not work.messages:
        raise ImportFailure("The export contains no messages: an eval stores them in its runs.")
    name = _front(data, work)
    settings = block.get("sampling_params")
    _settings(ChainMap(object_of(settings), *block.maps), work)  # type: ignore[arg-type]
    text = block.get("text")
    read_outputs(text.get("format") if isinstance(text, Mapping) else None, work)
    read_outputs(block.get("response_format"), work)
    variables = block.get("variables")
    for key, value in variables.items() if isinstance(variables, Mapping) else ():
        text = value if isinstance(value, str | int | float | bool) else None
        work.inputs[str(key)] = declare_string(default=text)
    return _made(work, "OpenAI stored prompt", name, _eval_sets(block))


def _with_run(data: JsonObject) -> JsonObject:
    """Return an eval with the first of its runs that contains messages."""
    runs = data.get("runs")
    listed = runs.get("data") if isinstance(runs, Mapping) else runs
    for run in listed if isinstance(listed, list) else []:
        if isinstance(run, Mapping) and _template_of(run) is not None:
            named = {"name": data["name"]} if "name" in data else {}
            return ChainMap(named, run)  # type: ignore[arg-type]
    return data


def _template_of(data: JsonObject) -> Json:
    """Return the template messages of an eval's run."""
    source = data.get("data_source")
    inputs = source.get("input_messages") if isinstance(source, Mapping) else None
    return inputs.get("template") if isinstance(inputs, Mapping) else None


def _flat(item: Json) -> Json:
    """Return a message of an eval with its single block as content."""
    if isinstance(item, Mapping) and isinstance(item.get("content"), Mapping):
        return {**item, "content": [item["content"]]}
    return item


def _eval_sets(block: JsonObject) -> dict[str, JsonObject]:
    source = block.get("source")
    rows = source.get("content") if isinstance(source, Mapping) else None
    return {
        f"row {number}": {"item": row["item"]}
        for number, row in enumerate(rows[:_MOST_SETS] if isinstance(rows, list) else [], start=1)
        if isinstance(row, Mapping) and isinstance(row.get("item"), Mapping)
    }


def is_chatgpt(data: Json) -> bool:
    """Return whether JSON is a ChatGPT export, or one of its conversations."""
    first = data[0] if isinstance(data, list) and data else data
    return isinstance(first, Mapping) and isinstance(first.get("mapping"), Mapping)


def import_chatgpt(data: Json, choose: int = 0) -> Imported:
    """Import a conversation of a ChatGPT export, along its last branch.

    Raises:
        ImportFailure: there is no such conversation, or it contains no text.
    """
    listed = [item for item in (data if isinstance(data, list) else [data]) if is_chatgpt(item)]
    if not 0 <= choose < len(listed):
        raise ImportFailure(f"There are {len(listed)} conversations; none has number {choose + 1}.")
    chosen = plain(listed[choose])  # a log, of which only the texts belong to a prompt
    if not isinstance(chosen, Mapping):
        raise ImportFailure("It is not a conversation.")
    work = Composition()
    left_out = 0
    for message in _branch(chosen):
        author, content = message.get("author"), message.get("content")
        role = author.get("role") if isinstance(author, Mapping) else ""
        parts = content.get("parts") if isinstance(content, Mapping) else None
        texts = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
        text = "\n".join(texts)
        left_out += len(parts) - len(texts) if isinstance(parts, list) else 0
        if role in ("system", "user", "assistant") and text.strip():
            work.messages.append(Message(role, (TextPart(text),)))
        elif text.strip():
            left_out += 1
    if not work.messages:
        raise ImportFailure("The conversation contains no text.")
    if left_out:
        work.notes.append(f"Left out: {left_out} (pictures, files, results of tools).")
    names = unique_names(
        [str(item.get("title") or "chat") for item in listed if isinstance(item, Mapping)], " ({})"
    )
    made = _made(work, "ChatGPT conversation", names[choose])
    return Imported(
        made.text,
        made.form,
        made.notes,
        title=names[choose],
        others=names if len(names) > 1 else (),
    )


def _branch(conversation: JsonObject) -> Iterator[JsonObject]:
    """Yield the messages of the current branch, from the first on."""
    nodes = object_of(conversation.get("mapping"))
    at = conversation.get("current_node")
    if not isinstance(at, str) or at not in nodes:
        at = next(reversed(list(nodes)), None)
    found: list[JsonObject] = []
    seen: set[str] = set()
    while isinstance(at, str) and at not in seen and isinstance(node := nodes.get(at), Mapping):
        seen.add(at)
        if isinstance(node.get("message"), Mapping):
            found.append(node["message"])  # type: ignore[arg-type]
        at = node.get("parent")
    yield from reversed(found)


def _front(data: JsonObject, work: Composition) -> str:
    name = data.get("name")
    if isinstance(name, str) and name:
        work.front["name"] = name
    if isinstance(data.get("description"), str) and data["description"]:
        work.front["description"] = data["description"]
    kept = {key: data[key] for key in ("version", "tags", "labels") if data.get(key) is not None}
    kept = {key: value for key, value in kept.items() if not isinstance(value, Mapping)}
    if kept:
        work.front["metadata"] = kept
    return name if isinstance(name, str) else ""


def _settings(config: JsonObject, work: Composition) -> None:
    """Set the model and its options; other keys of the service are ignored."""
    set_model(work, config.get("model"), config)
    tools = config.get("tools")
    for tool in tools if isinstance(tools, list) else []:
        if isinstance(tool, Mapping) and (
            tool.get("name") or isinstance(tool.get("function"), Mapping)
        ):
            work.tools.append(function_tool(tool))
        else:
            work.notes.append(f"tools: {json.dumps(tool)[:60]} is a service, and is left out.")


def _made(
    work: Composition, form: str, title: str, sets: Mapping[str, JsonObject] | None = None
) -> Imported:
    """Return the file, with an input for each name in braces."""
    for message in work.messages if work.is_template else ():
        for part in message.parts if isinstance(message, Message) else ():
            for found in _BRACES.finditer(part.text) if isinstance(part, TextPart) else ():
                name = found[1].partition(".")[0]
                kind = {"kind": "object"} if "." in found[1] else declare_string()
                work.inputs.setdefault(name, kind)
    for name, value in next(iter((sets or {}).values()), {}).items():
        if name in work.inputs:
            work.inputs[name] = {"kind": kind_of_value(value), "sample": value}
    return Imported(compose(work), form, tuple(work.notes), sets or {}, title=title)
