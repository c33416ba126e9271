"""Declared inputs and outputs that cannot mean what they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from studio.core.prompty.body.content import input_part
from studio.core.prompty.document import InputDeclaration, PromptDocument
from studio.core.prompty.known_fields import kind_of_values
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span
from studio.core.text.values import Json


def check_inputs(document: PromptDocument) -> Iterator[Problem]:
    """Names missing or written twice, defaults of another kind, arrays of nothing."""
    for declarations in (document.inputs, document.outputs):
        seen: set[str] = set()
        for item in declarations:
            place = item.name_span or item.span
            if place is None:
                continue
            if not item.name:
                yield Problem("input-without-name", Severity.ERROR, "This has no name.", place)
            elif item.name in seen:
                message = f"{item.name!r} is declared twice; the first declaration counts."
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
            message = f"The {what} of {item.name!r} is none of its enumValues."
            at = _place_of(document, item, what, place)
            yield Problem("default-not-allowed", Severity.WARNING, message, at)


def _item_kind(item: InputDeclaration) -> str:
    return item.items.kind if item.items is not None else "any"


def _odd_item(value: Json, item: InputDeclaration) -> int | None:
    """Return the index of the first item of a list that is not of the kind of its items."""
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
    """A list or mapping among the values of a plain kind: a dash too many, or a column too far."""
    if item.kind not in ("string", "integer", "float", "boolean"):
        return
    if any(isinstance(each, list | Mapping) for each in item.enum):
        message = f"The enumValues of {item.name!r} hold a list or keys, not only plain values."
        at = _place_of(document, item, "enumValues", _place_of(document, item, "enum", place))
        yield Problem("default-kind", Severity.WARNING, message, at)


def _place_of(document: PromptDocument, item: InputDeclaration, what: str, place: Span) -> Span:
    """Where a value of a declaration is written, else its name."""
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
"""What an array holds, by the kind of its items."""


def _items_fix(document: PromptDocument, item: InputDeclaration) -> tuple[Fix, ...]:
    """Add `items` of the kind of its values below the line of `kind`, where that is a whole line.

    There is no fix where the values are of several kinds.
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
    """The declaration as written."""
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
    """Whether a plain value may stand for a kind; kinds that are not known allow anything."""
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
