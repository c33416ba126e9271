"""Convert inputs, outputs and tools of any usual form to Prompty 2's declarations."""

import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.edit.edits import ConversionDraft, flow_value, insert_below
from studio.core.prompty.front.declarations import (
    declared_tool,
    is_declaration,
    kind_of_value,
    kind_of_word,
)
from studio.core.prompty.reference_values import whole_reference
from studio.core.prompty.yaml.reader import plain_scalar
from studio.core.prompty.yaml.tree import Places
from studio.core.text.source import TextEdit
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath, pairs_of

_COMMENT = re.compile(r"(?:^|\s)#", re.MULTILINE)
_PLAIN_IN_FLOW = re.compile(r"[\w./@+ -]*")


def convert_declarations(draft: ConversionDraft, block: str) -> None:
    """Convert `inputs` or `outputs` to Prompty 2's form; valid declarations stay unchanged.

    Words are replaced in place, so comments, order and quoting stay.
    """
    value = draft.value(block)
    if isinstance(value, Mapping):
        inner = value.get("properties")
        if isinstance(inner, Mapping | list) and set(value) <= {"properties", "strict", "examples"}:
            draft.remove(block)
            draft.add_value((), block, inner)
            convert_declarations(draft, block)
            return
        for name, item in value.items():
            if not is_declaration(item) or item == {}:
                _expand(draft, (block, name), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            if isinstance(item, str):
                draft.replace((block, index), f"{{name: {flow_value(item)}, kind: string}}")
    places = Places.of(draft.document.entries)
    draft.apply(list(_block_edits(draft, places, (block,), draft.value(block))))


def _block_edits(
    draft: ConversionDraft, places: Places, path: KeyPath, value: Json
) -> Iterator[TextEdit]:
    for key, item in pairs_of(value):
        if isinstance(item, Mapping):
            yield from _edits(draft, places, (*path, key), item)


def _edits(
    draft: ConversionDraft, places: Places, path: KeyPath, item: JsonObject
) -> Iterator[TextEdit]:
    """Yield the edits of one declaration and of nested ones."""
    kind, word = item.get("kind"), item.get("type")
    added: JsonDict = {}
    if isinstance(kind, str):
        yield from _word(places, (*path, "kind"), kind)
        kind = kind_of_word(kind)
    elif isinstance(word, str):
        yield from _rename(places, (*path, "type"), "kind")
        yield from _word(places, (*path, "type"), word)
        kind = kind_of_word(word)
    else:
        kind = _shown_kind(item)
        if "kind" not in item:
            added["kind"] = kind
    for old, new in (("sample", "example"), ("enum", "enumValues")):
        if old in item and new not in item:
            yield from _rename(places, (*path, old), new)
    if kind == "array":
        if "items" not in item:
            added["items"] = items_of(item.get("default", item.get("sample")))
        yield from _item_edits(draft, places, (*path, "items"), item.get("items"))
    if "properties" in item:
        yield from _block_edits(draft, places, (*path, "properties"), item["properties"])
    if added:
        flow = ", ".join(f"{key}: {flow_value(value)}" for key, value in added.items())
        lines = [f"{key}: {flow_value(value)}" for key, value in added.items()]
        yield from insert_below(draft.document, path, lines, flow)


def _item_edits(
    draft: ConversionDraft, places: Places, path: KeyPath, item: Json
) -> Iterator[TextEdit]:
    """Yield the edit that turns the type of an array's items into a declaration."""
    if isinstance(item, Mapping):
        yield from _edits(draft, places, path, item)
    span = places.value(*path)
    if isinstance(item, str) and whole_reference(item) is None and span is not None and len(span):
        yield TextEdit(span, f"{{kind: {kind_of_word(item)}}}")


def _shown_kind(item: JsonObject) -> str:
    """Return the kind that the other keys of a declaration imply."""
    if "oneOf" in item or "anyOf" in item:
        return "union"
    if "properties" in item:
        return "object"
    if "items" in item:
        return "array"
    value = next((item[key] for key in ("default", "sample", "example") if key in item), "")
    return kind_of_value(value)


def _rename(places: Places, path: KeyPath, new: str) -> Iterator[TextEdit]:
    span = places.key(*path)
    if span is not None:
        yield TextEdit(span, new)


def _word(places: Places, path: KeyPath, word: str) -> Iterator[TextEdit]:
    """Yield the edit that replaces the word for a type by that for a kind."""
    span = places.value(*path)
    if span is not None and len(span) and kind_of_word(word) != word:
        yield TextEdit(span, kind_of_word(word))


def _expand(draft: ConversionDraft, path: tuple[str, str], value: Json) -> None:
    """Expand `name: value` to kind and default, keeping the value's text if possible."""
    entry = draft.document.entry(*path)
    if entry is None:
        return
    kind = kind_of_value(value)
    items = items_of(value) if kind == "array" else None
    written = draft.document.source.slice(entry.value)
    if not written or "\n" in written or written.startswith(("|", ">", "&", "*", "!", "{")):
        declared: JsonDict = {"kind": kind}
        if items:
            declared["items"] = items
        if value is not None and value != {}:
            declared["default"] = value
        draft.remove(*path)
        draft.add_value((path[0],), path[1], declared)
        return
    extra = f", items: {{kind: {items['kind']}}}" if items else ""
    draft.replace(path, f"{{kind: {kind}{extra}, default: {_safe_in_flow(written, value)}}}")


def _safe_in_flow(written: str, value: Json) -> str:
    """Return a value's text quoted for braces if needed; PyYAML does not accept `?` there."""
    if written[0] in "\"'[":
        return written if written[0] != "[" else flow_value(value)
    is_safe = _PLAIN_IN_FLOW.fullmatch(written) is not None and plain_scalar(written) == value
    return written if is_safe else flow_value(value)


def items_of(value: Json) -> JsonDict:
    """Return the declaration of a list's items, by its first item."""
    first = value[0] if isinstance(value, list) and value else ""
    kind = kind_of_value(first)
    return {"kind": kind, "items": items_of(first)} if kind == "array" else {"kind": kind}


def convert_tools(draft: ConversionDraft) -> None:
    """Convert `tools` to Prompty 2: by renaming keys if possible, else rewritten."""
    tools = draft.value("tools")
    if not isinstance(tools, list | Mapping):
        return
    pairs = pairs_of(tools)
    wanted = [
        declared_tool(item) if isinstance(item, Mapping) and not _is_short(item) else item
        for _, item in pairs
    ]
    if wanted == [item for _, item in pairs]:
        return
    places = Places.of(draft.document.entries)
    draft.apply(
        [
            TextEdit(span, new)
            for key, item in pairs
            if isinstance(item, Mapping) and "function" not in item
            for old, new in (("id", "name"), ("type", "kind"))
            if old in item and new not in item and (span := places.key("tools", key, old))
        ]
    )
    draft.apply(_parameter_edits(draft))
    tools = draft.value("tools")
    now = list(tools.values()) if isinstance(tools, Mapping) else tools
    if now == wanted:
        return
    entry = draft.document.entry("tools")
    if entry is not None and _COMMENT.search(draft.document.source.slice(entry.value)):
        draft.notes.append("tools: comments inside them are not carried over")
    draft.remove("tools")
    if isinstance(tools, Mapping):
        names = [name for name, _ in pairs]
        draft.add_value((), "tools", dict(zip(map(str, names), wanted, strict=True)))
    else:
        draft.add_value((), "tools", wanted)


def _is_short(item: JsonObject) -> bool:
    """Return whether the tool is defined in another file."""
    return set(item) <= {"options"}


def _parameter_edits(draft: ConversionDraft) -> list[TextEdit]:
    """Return the edits for parameters that are a list or a mapping of properties."""
    places = Places.of(draft.document.entries)
    found: list[TextEdit] = []
    for key, item in pairs_of(draft.value("tools")):
        parameters = item.get("parameters") if isinstance(item, Mapping) else None
        is_schema = isinstance(parameters, Mapping) and "properties" in parameters
        if parameters and not is_schema:
            found += _block_edits(draft, places, ("tools", key, "parameters"), parameters)
    return found
