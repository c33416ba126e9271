"""Edit a document to declare tools, choose operations of an API, and offer tools."""

import json
from collections.abc import Collection, Mapping, Sequence

from studio.core.prompty.document import PromptDocument, ToolSpec
from studio.core.prompty.edit import edits
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.text.source import TextEdit
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.tools.document import chosen_offers, declared_items, server_names
from studio.core.tools.forms import required_names
from studio.core.tools.openapi.loading import OperationRow

_KINDS = {"number": "float"}


def declare_tool(document: PromptDocument, spec: ToolSpec) -> tuple[TextEdit, ...]:
    """Return the edits that declare a function tool, in the form of the file's other tools.

    Prompty 2 properties do not support all keywords of a schema (patterns, bounds, alternatives):
    these are taken from the implementation when the tool is bound.

    Raises:
        ValueError: the document already declares a tool with that name.
    """
    if any(tool.name == spec.name for tool in document.tools):
        raise ValueError(f"the document declares a tool {spec.name!r} already")
    block: JsonDict = {"kind": "function"}
    if spec.description:
        block["description"] = " ".join(spec.description.split())
    if spec.strict:
        block["strict"] = True
    parameters = _properties(spec.parameters)
    if parameters:
        block["parameters"] = parameters
    return _declared(document, spec.name, block)


def declare_server(
    document: PromptDocument, name: str, allowed: Sequence[str]
) -> tuple[TextEdit, ...]:
    """Return the edits that declare an MCP server from a file of servers.

    Args:
        document: the prompt; if it declares the server, only its tools are changed.
        name: name of the server.
        allowed: names of the tools to use; empty for all.
    """
    declared = next(
        (
            own
            for own, item in declared_items(document.data.get("tools"))
            if item.get("kind") == "mcp" and name in server_names(own, item)
        ),
        None,
    )
    if declared is not None:
        path = ("tools", _place(document, declared), "allowedTools")
        entry = document.entry(*path)
        if allowed:
            return edits.set_value(document, path, edits.flow_value(list[Json](allowed)))
        return edits.remove_entry(document, entry) if entry is not None else ()
    block: JsonDict = {"kind": "mcp", "connection": {"kind": "reference", "name": name}}
    if allowed:
        block["allowedTools"] = list[Json](allowed)
    return _declared(document, name, block)


def _declared(document: PromptDocument, name: str, block: JsonObject) -> tuple[TextEdit, ...]:
    """Return the edits that declare a tool, in the form of the file's other tools."""
    if isinstance(document.data.get("tools"), Mapping):
        lines = [f"{edits.write_scalar(name)}:", *(f"  {line}" for line in _yaml(block))]
        flow = f"{edits.write_scalar(name)}: {json.dumps(block, ensure_ascii=False)}"
    else:
        whole: JsonDict = {"name": name, **block}
        lines = _yaml([whole])
        flow = json.dumps(whole, ensure_ascii=False)
    return keeping_dialect(document, edits.insert_below(document, ("tools",), lines, flow))


def _properties(schema: JsonObject) -> list[Json]:
    properties = schema.get("properties")
    if not isinstance(properties, Mapping):
        return []
    required = required_names(schema)
    found: list[Json] = []
    for name, part in properties.items():
        item: JsonDict = {"name": name, **_property(part)}
        if name in required:
            item["required"] = True
        found.append(item)
    return found


def _property(part: Json) -> JsonDict:
    """Return a property in Prompty 2's form (§2.4)."""
    schema, nullable = _plain(part if isinstance(part, Mapping) else {})
    kind = schema.get("type")
    if not isinstance(kind, str):
        kind = "string" if isinstance(schema.get("enum"), list | tuple) else "object"
    made: JsonDict = {"kind": _KINDS.get(kind, kind)}
    description = schema.get("description")
    if isinstance(description, str) and description:
        made["description"] = " ".join(description.split())
    if nullable:
        made["nullable"] = True
    default = schema.get("default")
    if default is not None:
        made["default"] = default
    if isinstance(schema.get("enum"), list | tuple):
        made["enumValues"] = schema["enum"]
    if kind == "array":
        made["items"] = _property(schema.get("items"))
    if kind == "object" and _properties(schema):
        made["properties"] = _properties(schema)
    return made


def _plain(schema: JsonObject) -> tuple[JsonObject, bool]:
    """Return the schema without its null alternative, and whether it had one."""
    options = schema.get("anyOf")
    if isinstance(options, list | tuple):
        real = [
            item for item in options if isinstance(item, Mapping) and item.get("type") != "null"
        ]
        if len(real) == 1:
            rest = {key: value for key, value in schema.items() if key != "anyOf"}
            return {**real[0], **rest}, len(real) < len(options)
    kind = schema.get("type")
    if isinstance(kind, list | tuple):
        words = [word for word in kind if word != "null"]
        if len(words) == 1:
            return {**schema, "type": words[0]}, "null" in kind
    return schema, False


def _yaml(value: Json) -> list[str]:
    """Return block YAML of mappings and lists; empty ones and scalars stay on one line."""
    lines: list[str] = []
    if isinstance(value, Mapping):
        for key, item in value.items():
            head = f"{edits.write_scalar(key)}:"
            if _is_block(item):
                lines += [head, *(f"  {line}" for line in _yaml(item))]
            else:
                lines.append(f"{head} {_inline(item)}")
    elif isinstance(value, list | tuple):
        for item in value:
            first, *rest = _yaml(item) if _is_block(item) else [_inline(item)]
            lines += [f"- {first}", *(f"  {line}" for line in rest)]
    return lines


def _is_block(value: Json) -> bool:
    return isinstance(value, Mapping | list | tuple) and bool(value)


def _inline(value: Json) -> str:
    if isinstance(value, Mapping | list | tuple):
        return json.dumps(value, ensure_ascii=False)
    return edits.write_scalar(value)


def choice_value(rows: Sequence[OperationRow], chosen: Collection[str]) -> Json:
    """Return the value of `operations:` for a selection: None for all, tags, or ids.

    Args:
        rows: all operations.
        chosen: names of the selected operations.
    """
    wanted = [row for row in rows if row.name in chosen]
    if len(wanted) == len(rows):
        return None
    tags = list(dict.fromkeys(row.tag for row in wanted if row.tag))
    by_tags = [row for row in rows if set(row.tags) & set(tags)]
    if wanted and by_tags == wanted and not any(set(tag) & set("*?[") for tag in tags):
        return {"tags": list[Json](tags)}
    return [_escaped(row.identifier) for row in wanted]


def write_choice(document: PromptDocument, name: str, value: Json) -> tuple[TextEdit, ...]:
    """Return the edits that write `operations:` of a tool.

    Args:
        document: the prompt.
        name: name of the declared tool.
        value: the new value; None to remove it.

    Raises:
        LookupError: the document declares no such tool.
    """
    path = ("tools", _place(document, name), "operations")
    if value is None:
        entry = document.entry(*path)
        return edits.remove_entry(document, entry) if entry is not None else ()
    return edits.set_value(document, path, edits.flow_value(value))


def write_offers(
    document: PromptDocument, offers: Mapping[str, bool | None]
) -> tuple[TextEdit, ...]:
    """Return the edits that write which tools are offered (`metadata.agent.offered`).

    Args:
        document: the prompt.
        offers: whether each tool is offered, by name; None for the default.
    """
    chosen = {**chosen_offers(document), **offers}
    wanted: JsonDict = {name: value for name, value in chosen.items() if value is not None}
    path = ("metadata", "agent", "offered")
    if wanted:
        return edits.set_value(document, path, edits.flow_value(wanted))
    entry = document.entry(*path)
    return edits.remove_entry(document, entry) if entry is not None else ()


def _place(document: PromptDocument, name: str) -> str | int:
    tools = document.data.get("tools")
    if isinstance(tools, Mapping) and name in tools:
        return name
    for place, item in enumerate(tools if isinstance(tools, list | tuple) else ()):
        if isinstance(item, Mapping) and name in (item.get("name"), item.get("id")):
            return place
    raise LookupError(name)


def _escaped(identifier: str) -> str:
    """Return an identifier as a pattern that matches only itself."""
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in identifier)
