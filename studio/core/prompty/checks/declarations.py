"""Checks of declared inputs, outputs and tools."""

import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.body.content import input_part
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.front.front_matter import read_bindings
from studio.core.prompty.known_fields import kind_of_values
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.yaml.tree import Places
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonObject, KeyPath


def check_inputs(document: PromptDocument) -> Iterator[Problem]:
    """Report names that are missing or repeated, defaults of another kind, arrays without items."""
    for declarations in (document.inputs, document.outputs):
        seen: set[str] = set()
        for item in declarations:
            place = item.name_span or item.span
            if place is None:
                continue
            if not item.name:
                yield Problem("input-without-name", Severity.ERROR, "This has no name.", place)
            elif item.name in seen:
                message = f"{item.name!r} is declared twice; only the first declaration is used."
                yield Problem("duplicate-input", Severity.ERROR, message, place)
            seen.add(item.name)
            yield from _check_values(document, item, place)
            yield from _check_choices(document, item, place)
            yield from _check_shape(document, item, place)


def _check_values(
    document: PromptDocument, item: InputDeclaration, place: Span
) -> Iterator[Problem]:
    is_sample = item.has_sample and item.sample == item.default  # Prompty 1: one value is both
    values = (
        ("default", item.has_default and not is_sample, item.default),
        ("sample", item.has_sample, item.sample),
    )
    for what, is_there, value in values:
        if not is_there or value is None or _is_reference(value):
            continue
        if not is_of_kind(value, item.kind):
            message = f"The {what} of {item.name!r} is not of kind {item.kind!r}."
            at = _place_of(document, item, what, place)
            yield Problem("default-kind", Severity.WARNING, message, at)
        elif (odd := _odd_item(value, item)) is not None:
            message = (
                f"Item {odd + 1} of the {what} of {item.name!r} is not of kind "
                f"{_item_kind(item)!r}, which its items say."
            )
            at = _place_of(document, item, what, place)
            yield Problem("default-kind", Severity.WARNING, message, at)
        elif item.enum and value not in item.enum:
            message = f"The {what} of {item.name!r} is not in its enumValues."
            at = _place_of(document, item, what, place)
            yield Problem("default-not-allowed", Severity.WARNING, message, at)


def _item_kind(item: InputDeclaration) -> str:
    return item.items.kind if item.items is not None else "any"


def _odd_item(value: Json, item: InputDeclaration) -> int | None:
    """Return the index of the first item of a list that has not the declared kind."""
    if item.kind != "array" or not isinstance(value, list):
        return None
    kind = _item_kind(item)
    wrong = (at for at, each in enumerate(value) if not is_of_kind(each, kind))
    return next(
        (at for at in wrong if value[at] is not None and not _is_reference(value[at])), None
    )


def _check_choices(
    document: PromptDocument, item: InputDeclaration, place: Span
) -> Iterator[Problem]:
    """Report a list or mapping among plain values: an extra dash, or wrong indentation."""
    if item.kind not in ("string", "integer", "float", "boolean"):
        return
    if any(isinstance(each, list | Mapping) for each in item.enum):
        message = f"The enumValues of {item.name!r} contain a list or keys; use plain values only."
        at = _place_of(document, item, "enumValues", _place_of(document, item, "enum", place))
        yield Problem("default-kind", Severity.WARNING, message, at)


def _place_of(document: PromptDocument, item: InputDeclaration, what: str, place: Span) -> Span:
    """Return the span of a declared value, else of its name."""
    whole = item.span or place
    written = (
        each.value
        for each in document.entries
        if each.path[-1] == what
        and len(each.path) == 3
        and whole.start <= each.key.start < whole.end
        and len(each.value)
    )
    return next(written, place)


def _check_shape(
    document: PromptDocument, item: InputDeclaration, place: Span
) -> Iterator[Problem]:
    if document.dialect != "prompty":
        return
    if item.kind == "array" and item.items is None and item.span is not None:
        if isinstance(_written(document, item), Mapping):
            message = f"The array {item.name!r} has no items; Prompty 2.1 refuses the file."
            fixes = _items_fix(document, item)
            yield Problem("array-without-items", Severity.WARNING, message, place, fixes)
    elif item.kind == "union" and not item.variants:
        message = f"The union {item.name!r} needs oneOf or anyOf."
        yield Problem("union-without-forms", Severity.ERROR, message, place)


_HELD = {
    "string": "texts",
    "object": "objects",
    "integer": "whole numbers",
    "float": "numbers",
    "boolean": "true and false",
}
"""Plural of each kind of array item."""


def _items_fix(document: PromptDocument, item: InputDeclaration) -> tuple[Fix, ...]:
    """Return a fix that adds `items` with the kind of its values below the line of `kind`.

    There is no fix if the values have different kinds, or the line contains more.
    """
    lists = [each for each in (item.default, item.sample) if isinstance(each, list)]
    held = [value for each in lists for value in each]
    kind = kind_of_values(held) if held else "string"
    if kind not in _HELD:
        return ()
    text = document.source.text
    for entry in document.entries:
        inside = item.span is not None and item.span.start <= entry.key.start < item.span.end
        if not inside or entry.path[-1] != "kind" or len(entry.path) != 3:
            continue
        start = text.rfind("\n", 0, entry.key.start) + 1
        if text[start : entry.key.start].strip():
            return ()
        end = text.find("\n", entry.value.end)
        if end < 0 or text[entry.value.end : end].strip("\r"):
            return ()
        indent = " " * (entry.key.start - start)
        newline = "\r\n" if text[end - 1] == "\r" else "\n"
        at = end + 1
        edit = TextEdit(Span(at, at), f"{indent}items:{newline}{indent}  kind: {kind}{newline}")
        return (Fix(f"Say that it holds {_HELD[kind]}", (edit,)),)
    return ()


def _written(document: PromptDocument, item: InputDeclaration) -> Json:
    """Return the declaration as written."""
    for block in ("inputs", "outputs"):
        value = document.data.get(block)
        if isinstance(value, Mapping) and item.name in value:
            return value[item.name]
        if isinstance(value, list):
            for written in value:
                if isinstance(written, Mapping) and written.get("name") == item.name:
                    return written
    return None


def is_of_kind(value: Json, kind: str) -> bool:
    """Return whether a plain value can have a kind; unknown kinds allow any value."""
    match kind:
        case "string":
            return isinstance(value, str)
        case "integer":
            return isinstance(value, int) and not isinstance(value, bool)
        case "float" | "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "boolean":
            return isinstance(value, bool)
        case "array":
            return isinstance(value, list)
        case "object":
            return isinstance(value, Mapping)
        case "image" | "file" | "audio":
            is_part = isinstance(value, Mapping) and input_part("file", value, None) is not None
            return is_part or isinstance(value, str)
        case _:
            return True


def _is_reference(value: Json) -> bool:
    return isinstance(value, str) and value.startswith("${")


# Declared tools, their bindings, and the place of the body's `tools:` section.

_NAME = re.compile(r"[A-Za-z0-9_-]{1,64}")

_OF_ONE = ("name", "kind", "type", "id")
"""Keys of one tool that contain a text; in a mapping of tools each name contains a mapping."""

_INSIDE = frozenset(
    {"parameters", "bindings", "connection", "options", "function", "approvalMode", "operations"}
)
"""Keys of one tool that contain a mapping."""

_STATEMENT = re.compile(r"\s*(?:\{%[^%]*(?:%(?!\})[^%]*)*%\}|\{#[^#]*(?:#(?!\})[^#]*)*#\})")
"""Matches Jinja statements and comments, which write nothing."""


def check_tools(document: PromptDocument) -> Iterator[Problem]:
    """Report errors in names, schemas and bindings of declared tools, and a late `tools:`."""
    places = Places.of(document.entries)
    lone = _lone_tool(document)
    if lone is not None:
        yield lone
        return
    yield from _names(document, places)
    for key, item in _items(document.data.get("tools")):
        if isinstance(item, Mapping):
            yield from _bindings(document, places, ("tools", key), item)
            yield from _schema(places, ("tools", key), item)
            yield from _connection(document, places, ("tools", key), item)
    yield from _order(document)


def _lone_tool(document: PromptDocument) -> Problem | None:
    """Report a single tool instead of a list, without its dash; or a text."""
    tools, entry = document.data.get("tools"), document.entry("tools")
    if entry is None:
        return None
    if isinstance(tools, str) and tools and whole_reference(tools) is None:
        message = (
            "A text is not a list of tools, so no tool is sent; start each with a dash: - name: …"
        )
        return Problem("tool-without-dash", Severity.WARNING, message, entry.value)
    if document.dialect == "legacy" or not is_lone_tool(tools):
        return None
    written = document.source.text[entry.value.start : entry.value.end]
    if written.startswith("{"):
        edits = [TextEdit(entry.value, f"[{written}]")]
    else:
        lines = written.split("\n")
        rest = [f"  {line}" if line.strip() else line for line in lines[1:]]
        edits = [TextEdit(entry.value, "\n".join([f"- {lines[0]}", *rest]))]
    fix = Fix("Make it a list of one tool", tuple(edits))
    message = "This is one tool instead of a list of tools; start it with a dash: - name: …"
    return Problem("tool-without-dash", Severity.ERROR, message, entry.key, (fix,))


def is_lone_tool(tools: Json) -> bool:
    """Return whether a mapping is a single tool; tools by name would contain one mapping each."""
    if not isinstance(tools, Mapping) or not any(isinstance(tools.get(k), str) for k in _OF_ONE):
        return False
    return all(key in _INSIDE or not isinstance(value, Mapping) for key, value in tools.items())


def _names(document: PromptDocument, places: Places) -> Iterator[Problem]:
    seen: set[str] = set()
    for key, item in _items(document.data.get("tools")):
        written = item.get("name", item.get("id")) if isinstance(item, Mapping) else None
        name = written if isinstance(written, str) else key if isinstance(key, str) else ""
        place = places.value("tools", key, "name") or places.value("tools", key, "id")
        place = place or places.nearest("tools", key)
        if not name:
            message = "This tool has no name; the model cannot call it."
            if isinstance(item, Mapping) and isinstance(item.get("function"), Mapping):
                message = (
                    "This tool has the format of a request; here name, description and "
                    "parameters belong beside kind, not below 'function'."
                )
            yield Problem("tool-without-name", Severity.ERROR, message, place)
        elif name in seen:
            message = f"There are two tools named {name!r}; rename one."
            yield Problem("duplicate-tool", Severity.ERROR, message, place)
        elif not _NAME.fullmatch(name):
            message = (
                f"The tool name {name!r} is refused by providers: letters, digits, _ and - only, "
                "at most 64."
            )
            yield Problem("tool-name", Severity.WARNING, message, place)
        seen.add(name)


def _bindings(
    document: PromptDocument, places: Places, path: KeyPath, item: JsonObject
) -> Iterator[Problem]:
    name = item.get("name", path[-1])
    inputs = {declared.name for declared in document.inputs}
    parameters = _parameter_names(item.get("parameters"))
    for parameter, source in read_bindings(item.get("bindings")).items():
        base = (*path, "bindings", parameter)
        place = places.value(*base, "input") or places.value(*base) or places.nearest(*base)
        if source not in inputs:
            near = nearest(source, sorted(inputs))
            fixes = (Fix(f"Change to {near!r}", (TextEdit(place, near),)),) if near else ()
            message = f"{parameter!r} is bound to the input {source!r}, which is not declared."
            yield Problem("binding-unknown-input", Severity.ERROR, message, place, fixes)
        if parameters is not None and parameter not in parameters:
            message = f"The tool {name!r} has no parameter {parameter!r} to bind."
            at = places.key(*base) or place
            yield Problem("binding-unknown-parameter", Severity.WARNING, message, at)


def _schema(places: Places, path: KeyPath, item: JsonObject) -> Iterator[Problem]:
    parameters = item.get("parameters")
    place = places.nearest(*path, "parameters")
    if isinstance(parameters, Mapping) and parameters.get("type") == "object":
        properties = parameters.get("properties")
        required = parameters.get("required")
        names = properties.keys() if isinstance(properties, Mapping) else ()
        for name in required if isinstance(required, list) else ():
            if not isinstance(name, str) or name not in names:
                message = f"The schema requires {name!r}, which is not one of its properties."
                yield Problem("tool-schema", Severity.ERROR, message, place)
        return
    if isinstance(parameters, list):
        seen: set[str] = set()
        for index, parameter in enumerate(parameters):
            at = places.nearest(*path, "parameters", index)
            name = parameter.get("name") if isinstance(parameter, Mapping) else None
            if not isinstance(name, str) or not name:
                message = "This parameter has no name."
                yield Problem("tool-schema", Severity.ERROR, message, at)
            elif name in seen:
                message = f"The parameter {name!r} is declared twice."
                yield Problem("tool-schema", Severity.ERROR, message, at)
            else:
                seen.add(name)


def _connection(
    document: PromptDocument, places: Places, path: KeyPath, item: JsonObject
) -> Iterator[Problem]:
    """Report a tool without its connection, which Prompty 2 does not load."""
    kind = item.get("kind")
    if document.dialect != "prompty" or not isinstance(kind, str) or kind == "function":
        return
    if "connection" not in item:
        message = f"Prompty 2 requires a connection for a tool of kind {kind!r}."
        near = nearest(kind, ("function",), surely=True)
        if near:
            message = f"{kind!r} is an unknown kind of tool; did you mean 'function'?"
        place = places.value(*path, "kind") or places.nearest(*path)
        fixes = (Fix(f"Change to {near!r}", (TextEdit(place, near),)),) if near else ()
        yield Problem("tool-without-connection", Severity.WARNING, message, place, fixes)


def _order(document: PromptDocument) -> Iterator[Problem]:
    """Report `tools:` after a message (docs/design/file-format.md)."""
    for index, section in enumerate(document.sections):
        if section.role == "tools" and index > 0 and section.marker is not None:
            before = document.sections[index - 1]
            if index == 1 and not before.role and _is_silent(document.source.slice(before.span)):
                continue
            if before.role == "tools":
                message = "There is already a tools: section; put all tools into one."
            else:
                message = "tools: must come before any message; move it to the top of the body."
            fixes = _move_up(document, section.span)
            yield Problem("tools-after-text", Severity.ERROR, message, section.marker, fixes)


def _is_silent(text: str) -> bool:
    """Return whether the text before the first marker is only template statements and comments."""
    place = 0
    while (found := _STATEMENT.match(text, place)) is not None:
        place = found.end()
    return not text[place:].strip()


def _move_up(document: PromptDocument, span: Span) -> tuple[Fix, ...]:
    start = document.body.start
    text = document.source.slice(span)
    moved = text if text.endswith("\n") else text + "\n"
    edits = (TextEdit(Span(start, start), moved), TextEdit(span, ""))
    return (Fix("Move tools: to the top", edits),) if span.start > start else ()


def _parameter_names(parameters: Json) -> set[str] | None:
    """Return all parameters, including bound ones; None if they cannot be determined."""
    if isinstance(parameters, list):
        found = (item.get("name") for item in parameters if isinstance(item, Mapping))
        return {name for name in found if isinstance(name, str)}
    if isinstance(parameters, Mapping):
        inner = parameters.get("properties", parameters)
        return {str(name) for name in inner} if isinstance(inner, Mapping) else None
    return None


def _items(value: Json) -> list[tuple[str | int, Json]]:
    if isinstance(value, Mapping):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, list) else []
