"""The front matter as a form: fields as values, and the YAML edits of each change."""

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from itertools import islice
from typing import Literal, TypeAlias

from studio.application.words import tr
from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import (
    declare_input,
    flow_value,
    insert_below,
    remove_entry,
    set_value,
    write_scalar,
)
from studio.core.prompty.edit.keep_dialect import keeping_dialect
from studio.core.prompty.front.schema import Key, keys_below
from studio.core.prompty.parse import parse
from studio.core.prompty.yaml.tree import value_at
from studio.core.text.source import Span, TextEdit, apply_edits
from studio.core.text.values import Json, JsonDict, KeyPath, parse_json

# Whole items of the front matter: adding a tool, removing a tool or input.

NewToolKind: TypeAlias = Literal["function", "mcp", "openapi", "custom"]
"""Kind of new tool."""

TOOL_KINDS: tuple[NewToolKind, ...] = ("function", "mcp", "openapi", "custom")
"""All kinds, in the order of the menu."""

_DASH = re.compile(r"(?:\A|\n)(?P<item>[ \t]*)-\s+\Z")


class FrontFormError(ValueError):
    """Raised when the front matter cannot be changed; the message is for the user."""


def add_tool(
    document: PromptDocument, name: str, kind: NewToolKind = "function"
) -> tuple[TextEdit, ...]:
    """Return the edits that declare another tool, in the form of the file's other tools.

    Raises:
        FrontFormError: the name exists or is invalid, or the tools have another form.
    """
    if not re.fullmatch(r"[\w-]+", name):
        words = tr("{name!r} is not a name of a tool: letters, digits, _ and -.")
        raise FrontFormError(words.format(name=name))
    if document.dialect == "legacy":
        raise FrontFormError(tr("Prompty 1 declares tools under model: write it in the text."))
    tools = document.data.get("tools")
    if name in _names(tools):
        words = tr("A tool {name!r} already exists.")
        raise FrontFormError(words.format(name=name))
    given = {"kind": kind, **({"serverName": name} if kind == "mcp" else {})}
    written = write_scalar(name)
    pairs = [f"{key}: {write_scalar(value)}" for key, value in given.items()]
    flow = ", ".join(pairs)
    if isinstance(tools, Mapping) and tools:
        lines = [f"{written}:", *(f"  {pair}" for pair in pairs)]
        wanted: Json = {**tools, name: given}
        edits = insert_below(document, ("tools",), lines, f"{written}: {{{flow}}}")
    else:
        lines = [f"- name: {written}", *(f"  {pair}" for pair in pairs)]
        wanted = [*(tools if isinstance(tools, list) else ()), {"name": name, **given}]
        edits = insert_below(document, ("tools",), lines, f"{{name: {written}, {flow}}}")
    is_free = tools is None or isinstance(tools, list | Mapping)
    return changes_only(document, edits if is_free else (), ("tools",), wanted)


def remove_item(document: PromptDocument, path: KeyPath) -> tuple[TextEdit, ...]:
    """Return the edits that remove a tool or input; removing the last one removes its key.

    Raises:
        FrontFormError: its neighbors would change.
    """
    parent, last = path[:-1], path[-1]
    held = document.data.get(str(parent[0])) if len(parent) == 1 else None
    entry = document.entry(*path)
    wanted: Json = None
    if isinstance(held, list) and isinstance(last, int):
        wanted = [*held[:last], *held[last + 1 :]]
    elif isinstance(held, Mapping):
        wanted = {key: value for key, value in held.items() if key != last}
    whole = document.entry(*parent)
    if entry is None or whole is None:
        return ()
    edits = remove_entry(document, entry if wanted else whole)
    if wanted and (not edits or isinstance(last, int)):
        edits = _in_list(document, entry) or _in_brackets(document, parent, entry)
    return changes_only(document, edits, parent, wanted or None)


def _names(tools: Json) -> set[str]:
    if isinstance(tools, Mapping):
        return set(tools)
    if not isinstance(tools, list):
        return set()
    return {str(each["name"]) for each in tools if isinstance(each, Mapping) and "name" in each}


def _in_list(document: PromptDocument, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
    """Return the edits that remove a list item with its lines."""
    text = document.source.text
    dash = _DASH.search(text, 0, entry.value.start)
    if dash is None:
        return ()
    end = text.find("\n", entry.value.end)
    return (TextEdit(Span(dash.start("item"), len(text) if end < 0 else end + 1), ""),)


def _in_brackets(
    document: PromptDocument, parent: KeyPath, entry: FrontMatterEntry
) -> tuple[TextEdit, ...]:
    """Return the edits that remove an item in flow style."""
    inside = [each for each in document.entries if each.path[:-1] == parent]
    at = inside.index(entry)
    if at + 1 < len(inside):
        gone = Span(_start(entry), _start(inside[at + 1]))
    else:
        gone = Span(inside[at - 1].value.end, entry.value.end)
    return () if "#" in document.source.text[gone.start : gone.end] else (TextEdit(gone, ""),)


def _start(entry: FrontMatterEntry) -> int:
    return entry.value.start if isinstance(entry.path[-1], int) else entry.key.start


def changes_only(
    document: PromptDocument, edits: tuple[TextEdit, ...], path: KeyPath, wanted: Json
) -> tuple[TextEdit, ...]:
    """Return the edits after checking that they change only one key of the front matter.

    An anchor is used in several places, and a block scalar ends with its last line: changes with
    such side effects must be made in the text.

    Raises:
        FrontFormError: something else would change.
    """
    kept = keeping_dialect(document, edits)
    after = parse(apply_edits(document.source.text, kept)).data
    expected = {each: value for each, value in _leaves(document.data) if each[: len(path)] != path}
    expected.update(_leaves(wanted, path))
    known = {*document.data, path[0]}  # keys that keep the dialect may be added too
    if {each: value for each, value in _leaves(after) if each[0] in known} == expected:
        return kept
    raise _of_its_own(path)


def adds_only(
    document: PromptDocument, edits: tuple[TextEdit, ...], path: KeyPath
) -> tuple[TextEdit, ...]:
    """Return the edits after checking that they only add to the front matter.

    Raises:
        FrontFormError: a value would change, or nothing would be added.
    """
    kept = keeping_dialect(document, edits)
    after = dict(_leaves(parse(apply_edits(document.source.text, kept)).data))
    before = dict(_leaves(document.data))
    if len(after) > len(before) and before.items() <= after.items():
        return kept
    raise _of_its_own(path)


def _of_its_own(path: KeyPath) -> FrontFormError:
    words = tr("{key} has a form that only the text can show: change it there.")
    return FrontFormError(words.format(key=".".join(map(str, path))))


def _leaves(value: Json, path: KeyPath = ()) -> Iterator[tuple[KeyPath, Json]]:
    """Yield each value that contains no others, with its keys, except empty ones."""
    if isinstance(value, Mapping):
        for key, item in value.items():
            yield from _leaves(item, (*path, key))
    elif isinstance(value, list):
        for at, item in enumerate(value):
            yield from _leaves(item, (*path, at))
    elif value is not None:
        yield path, value


FrontKind: TypeAlias = Literal["text", "number", "integer", "boolean", "json"]
"""Kind of editor for a value; a text with choices gets a list."""


_MODEL = ("id", "provider", "apiType")
_INPUT = ("kind", "description", "required", "default", "sample")
_OUTPUT = ("kind", "description", "required")
_TOOL = ("kind", "description")
_MOST_ROWS = 40
"""Maximum number of values shown of a list or an object; larger ones are shown as JSON."""
_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])")
_OF_KIND = {"mcp": ("serverName",), "openapi": ("specification",)}


@dataclass(frozen=True, slots=True)
class FrontField:
    """A field for one key of the front matter."""

    path: KeyPath
    """Keys from the root."""

    kind: FrontKind = "text"
    """Kind of editor."""

    help: str = ""
    """Purpose of the key."""

    value: Json = None
    """Written value; None if the key is absent."""

    choices: tuple[str, ...] = ()
    """Usual values of a text."""

    is_fixed: bool = False
    """Whether the form cannot change it, because of its notation."""

    label: str = ""
    """Label of the row: the key as words, and the path of an inner value."""


@dataclass(frozen=True, slots=True)
class FrontGroup:
    """A group of fields with a common heading."""

    title: str
    """Heading."""

    fields: tuple[FrontField, ...]
    """Fields, in order."""

    renames: str = ""
    """Input whose name is the heading, which can be changed; empty for other groups."""

    removes: KeyPath = ()
    """Path to remove with this group; empty if it cannot be removed."""


def front_groups(document: PromptDocument) -> tuple[FrontGroup, ...]:
    """Return the groups of the form for a prompt."""
    general = [_field(document, (key,), _key((), key)) for key in ("name", "description")]
    groups = [FrontGroup(tr("Prompt"), tuple(general))]
    model = tuple(_model(document))
    groups += model[:1]
    groups += (_declaration(document, path, _INPUT) for path in _items(document, "inputs"))
    groups += (_declaration(document, path, _OUTPUT) for path in _items(document, "outputs"))
    for path in _items(document, "tools"):
        name = value_at(document.data, (*path, "name"))
        title = tr("Tool {name}").format(name=name or path[-1])
        keys = (*_TOOL, *_OF_KIND.get(str(value_at(document.data, (*path, "kind"))), ()))
        fields = tuple(_field(document, (*path, key), _key(path, key)) for key in keys)
        groups.append(FrontGroup(title, fields, removes=path))
    return (*groups, *model[1:])


def set_front(document: PromptDocument, field: FrontField, typed: str) -> tuple[TextEdit, ...]:
    """Return the edits that set a key; comments, order and quotes of the rest stay.

    Args:
        document: the current document.
        field: the key.
        typed: the user's text; empty to remove the key.

    Raises:
        FrontFormError: the text is no value of this kind, or other YAML would change.
    """
    entry = document.entry(*field.path)
    if not typed.strip():
        if entry is None:
            return ()
        gone = remove_entry(document, entry) or set_value(document, field.path, "null")
        return changes_only(document, gone, field.path, None)
    value = read_value(field, typed)
    if entry is not None and value == field.value:
        return ()
    written = flow_value(value) if isinstance(value, list | Mapping) else write_scalar(value)
    return changes_only(document, set_value(document, field.path, written), field.path, value)


def read_value(field: FrontField, typed: str) -> Json:
    """Parse a typed text as a value of a field.

    Raises:
        FrontFormError: the text is no value of this kind.
    """
    text = typed.strip()
    if field.kind == "boolean":
        if text in ("true", "false"):
            return text == "true"
        raise FrontFormError(tr("Enter true or false."))
    if field.kind in ("number", "integer"):
        try:
            number = int(text) if field.kind == "integer" else float(text)
        except ValueError as error:
            raise FrontFormError(tr("{text!r} is not a number.").format(text=text)) from error
        return int(text) if text.lstrip("+-").isdigit() else number
    if field.kind == "json":
        try:
            return parse_json(text)
        except ValueError:
            return typed  # a plain text
    return typed


def shown_value(field: FrontField) -> str:
    """Return a value as text for the form's field."""
    if field.value is None:
        return ""
    if isinstance(field.value, str):
        return field.value
    return json.dumps(field.value, ensure_ascii=False)


def add_input(document: PromptDocument, name: str) -> tuple[TextEdit, ...]:
    """Return the edits that declare another input.

    Raises:
        FrontFormError: the name exists, or is invalid.
    """
    if not name.isidentifier():
        words = tr("{name!r} is not a name: letters, digits and _ only.")
        raise FrontFormError(words.format(name=name))
    if document.input(name) is not None:
        words = tr("An input {name!r} already exists.")
        raise FrontFormError(words.format(name=name))
    return adds_only(document, declare_input(document, name), ("inputs",))


def add_outputs(document: PromptDocument, example: str) -> tuple[TextEdit, ...]:
    """Return the edits that declare an output for each new field in an example answer.

    Raises:
        FrontFormError: it is no JSON object, or has no new field.
    """
    try:
        answer = parse_json(example)
    except ValueError as error:
        raise FrontFormError(tr("The example is not JSON: {error}.").format(error=error)) from error
    if not isinstance(answer, Mapping):
        raise FrontFormError(tr('An example answer is an object: {"name": value}.'))
    word = "type" if document.dialect == "legacy" else "kind"
    known = {item.name for item in document.outputs}
    new = {name: _declared(value, word) for name, value in answer.items() if name not in known}
    if not new:
        raise FrontFormError(tr("Every field of the example is declared already."))
    flow = [f"{write_scalar(name)}: {flow_value(declared)}" for name, declared in new.items()]
    if isinstance(document.data.get("outputs"), list):
        flow = [flow_value({"name": name, **declared}) for name, declared in new.items()]
    dash = "- " if isinstance(document.data.get("outputs"), list) else ""
    lines = [f"{dash}{each}" for each in flow]
    edits = insert_below(document, ("outputs",), lines, ", ".join(flow))
    return adds_only(document, edits, ("outputs",))


def _declared(value: Json, word: str) -> JsonDict:
    """Return the declaration for values like this one."""
    match value:
        case bool():
            return {word: "boolean"}
        case int():
            return {word: "integer"}
        case float():
            return {word: "float"}
        case list():
            return {word: "array", **({"items": _declared(value[0], word)} if value else {})}
        case dict():
            inner: JsonDict = {name: _declared(each, word) for name, each in value.items()}
            return {word: "object", "properties": inner}
        case _:
            return {word: "string"}


def _model(document: PromptDocument) -> Iterator[FrontGroup]:
    title = tr("Model")
    model = document.data.get("model")
    if isinstance(model, str):
        yield FrontGroup(title, (FrontField(("model",), value=model, label="Model"),))
        return
    if document.dialect == "legacy":
        return  # Prompty 1 has other keys here, which only the text shows
    fields = tuple(_field(document, ("model", key), _key(("model",), key)) for key in _MODEL)
    yield FrontGroup(title, fields)
    if isinstance(value_at(document.data, ("model", "options")), str):
        return
    path = ("model", "options")
    keys = (key for key in keys_below(path) if key.types[0] not in ("mapping", "list"))
    options = tuple(_field(document, (*path, key.name), key) for key in keys)
    yield FrontGroup(tr("Options of the model"), options)


def _declaration(document: PromptDocument, path: KeyPath, shown: tuple[str, ...]) -> FrontGroup:
    """Return the group of a declared input or output, with its keys in the form."""
    is_list = isinstance(path[-1], int)
    name = str(value_at(document.data, (*path, "name")) or "") if is_list else str(path[-1])
    written = value_at(document.data, path)
    is_input = path[0] == "inputs"
    words = tr("Input {name}") if is_input else tr("Output {name}")
    title, renames = words.format(name=name), name if is_input else ""
    if not isinstance(written, Mapping):
        short = FrontField(path, "json", value=written, is_fixed=written is None, label=name)
        return FrontGroup(title, (short,), renames, path)
    word = "type" if document.dialect == "legacy" else "kind"
    keys = [word if key == "kind" else key for key in shown]
    fields = (_field(document, (*path, key), _key(path, key)) for key in keys)
    return FrontGroup(title, tuple(row for each in fields for row in _rows(each)), renames, path)


def _rows(field: FrontField) -> tuple[FrontField, ...]:
    """Return a field, or one for each value in a list or an object."""
    if not isinstance(field.value, list | Mapping) or not field.value:
        return (field,)
    found = tuple(islice(_inside(field), _MOST_ROWS + 1))
    return found if len(found) <= _MOST_ROWS else (field,)


def _inside(field: FrontField) -> Iterator[FrontField]:
    value = field.value
    held: list[tuple[str | int, str, Json]]
    if isinstance(value, Mapping) and value:
        joint = "." if ": " in field.label else ": "
        held = [(key, f"{field.label}{joint}{key}", each) for key, each in value.items()]
    elif isinstance(value, list) and value:
        held = [(at, f"{field.label}[{at}]", each) for at, each in enumerate(value)]
    else:
        yield replace(field, kind=_kind_of(value))
        return
    for key, label, each in held:
        yield from _inside(replace(field, path=(*field.path, key), label=label, value=each))


def _kind_of(value: Json) -> FrontKind:
    """Return the editor for a value whose kind is not declared."""
    if isinstance(value, bool):
        return "boolean"
    if isinstance(value, int | float):
        return "number"
    return "text" if isinstance(value, str) else "json"


def _items(document: PromptDocument, key: str) -> Iterator[KeyPath]:
    data = document.data.get(key)
    if isinstance(data, Mapping):
        yield from ((key, str(name)) for name in data)
    elif isinstance(data, list):
        yield from ((key, index) for index, item in enumerate(data) if isinstance(item, Mapping))


def _field(document: PromptDocument, path: KeyPath, key: Key | None) -> FrontField:
    value = value_at(document.data, path)
    kinds = key.types if key is not None else ("text",)
    kind: FrontKind = "json"
    for known in ("text", "number", "integer", "boolean"):
        if kinds[0] == known:
            kind = known
    if kind != "json" and isinstance(value, Mapping | list):
        kind = "json"
    choices = key.values if key is not None else ()
    help_text = key.help if key is not None else ""
    return FrontField(path, kind, help_text, value, tuple(choices), label=_words_of(str(path[-1])))


def _words_of(key: str) -> str:
    """Return a key as words: `maxOutputTokens` is "Max output tokens"."""
    return " ".join(_WORD.findall(key)).capitalize() or key


def _key(parent: KeyPath, name: str) -> Key | None:
    return next((key for key in keys_below(parent) if key.name == name), None)
