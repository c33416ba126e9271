"""Changes to a prompt file as edits of its own text: comments, order and quoting stay."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from studio.core.prompty.document import FrontMatterEntry, InputDeclaration, PromptDocument
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.yaml.places import KeyPath, value_at
from studio.core.prompty.yaml.reader import plain_scalar
from studio.core.text.problem import TextEdit
from studio.core.text.source import SourceText
from studio.core.text.span import Span
from studio.core.text.values import Json

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z_][\w./+-]*(?: [\w./+-]+)*")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\n]*\n\s*)*|\Z))+")
_COMMA = re.compile(r"(?:\s|#[^\n]*\n)*,")
_PLAIN = re.compile(r"[A-Za-z_/.~][\w ./~+\-]*")


def declare_input(
    document: PromptDocument, name: str, kind: str = "string"
) -> tuple[TextEdit, ...]:
    """Edits that declare one input, as `declare_inputs`."""
    return declare_inputs(document, {name: kind})


def declare_inputs(document: PromptDocument, kinds: Mapping[str, str]) -> tuple[TextEdit, ...]:
    """Edits that declare inputs, in the form that the file's other inputs have.

    Args:
        document: The document as it is.
        kinds: The kind of each by its name; a Prompty 1 file gets `type`.
    """
    if not kinds:
        return ()
    word = "type" if document.dialect == "legacy" else "kind"
    is_list = isinstance(document.data.get("inputs"), list)
    lines: list[str] = []
    flow: list[str] = []
    for name, kind in kinds.items():
        written = write_scalar(name)
        if is_list:
            lines += [f"- name: {written}", f"  {word}: {kind}"]
            flow.append(f"{{name: {written}, {word}: {kind}}}")
        else:
            lines += [f"{written}:", f"  {word}: {kind}"]
            flow.append(f"{written}: {{{word}: {kind}}}")
    return insert_below(document, ("inputs",), lines, ", ".join(flow))


def rename_input(document: PromptDocument, old: str, new: str) -> tuple[TextEdit, ...]:
    """Edits that rename an input wherever it is declared, used, sampled or bound.

    Raises:
        ValueError: `new` is not a name, or is taken; the text says which.
    """
    if not _IDENTIFIER.fullmatch(new):
        raise ValueError(f"{new!r} is not a name: letters, digits and _ only, no digit first")
    taken = {item.name for item in document.variables}
    taken |= {item.name for item in document.parameters}
    if new != old and (document.input(new) or new in taken):
        raise ValueError(f"the name {new!r} is taken already")
    spans = {*_declaration_spans(document, old), *_binding_spans(document, old)}
    spans |= {variable.span for variable in document.variables if variable.name == old}
    parameter = document.parameter(old)
    spans |= set(parameter.names) if parameter is not None else set()
    spans = {inside_quotes(document.source, span) for span in spans}
    text = document.source.text
    return tuple(
        TextEdit(span, new) for span in sorted(spans) if text[span.start : span.end] == old
    )


def set_value(document: PromptDocument, path: KeyPath, value: str) -> tuple[TextEdit, ...]:
    """Edits that set a front-matter key to a scalar, adding what is missing on the way.

    Args:
        document: The document as it is.
        path: Keys from the root.
        value: The scalar, as YAML writes it.
    """
    entry = document.entry(*path)
    if entry is not None:
        empty = entry.value.start == entry.value.end
        if not empty:
            return (TextEdit(entry.value, value),)
        at = _after_colon(document, entry)
        return (TextEdit(Span(at, at), f" {value}"),)
    known = next(
        (length for length in range(len(path) - 1, 0, -1) if document.entry(*path[:length])), 0
    )
    missing = path[known:]
    lines = [f"{'  ' * depth}{key}:" for depth, key in enumerate(missing)]
    lines[-1] += f" {value}"
    flow = ": {".join(map(str, missing)) + f": {value}" + "}" * (len(missing) - 1)
    return insert_below(document, path[:known], lines, flow)


def insert_below(
    document: PromptDocument, path: KeyPath, lines: list[str], flow: str
) -> tuple[TextEdit, ...]:
    """Edits that add lines as the last child of a mapping or list of the front matter.

    Args:
        document: The document as it is.
        path: The parent; empty for the root. One that is missing is made, where it is one key.
        lines: The child in block style, without the parent's indentation.
        flow: The child in flow style, for a parent written in brackets.
    """
    newline = "\r\n" if "\r\n" in document.source.text else "\n"
    if not path:
        return _append_to_root(document, lines, newline)
    entry = document.entry(*path)
    if entry is None:
        indented = [f"{path[-1]}:", *(f"  {line}" for line in lines)]
        return insert_below(document, path[:-1], indented, f"{path[-1]}: {{{flow}}}")
    text = document.source.text
    start = _after_properties(text, entry.value)
    value = text[start : entry.value.end]
    if value.startswith(("{", "[")) and value.endswith(("}", "]")) and len(value) > 1:
        return (_into_flow(document, path, Span(start, entry.value.end), flow),)
    if value.startswith(("{", "[")) or (value and not _children(document, path)):
        written = newline + newline.join(_indent(lines, entry, document))
        return (TextEdit(Span(start, entry.value.end), written),)
    if not value:
        at = _end_of_line(text, max(start, _after_colon(document, entry)))
        block = _indent(lines, entry, document)
    else:
        column = _column(text, start)
        at = _end_of_line(text, entry.value.end)
        block = [" " * column + line for line in lines]
    return (TextEdit(Span(at, at), newline + newline.join(block)),)


def _after_properties(text: str, value: Span) -> int:
    """Where a value begins behind its anchor, its tag and comments beside them."""
    found = _PROPERTIES.match(text, value.start, value.end)
    return found.end() if found else value.start


def _into_flow(document: PromptDocument, path: KeyPath, value: Span, flow: str) -> TextEdit:
    """Add a child in brackets behind the last one: a comment may stand before the bracket."""
    text, last = document.source.text, value.end - 1
    ends = [
        max(each.value.end, _after_colon(document, each))
        for each in document.entries
        if each.path[:-1] == path
    ]
    if not ends:
        return TextEdit(Span(value.start + 1, value.start + 1), flow)
    at = max(ends)
    comma = _COMMA.match(text, at, last)
    at = comma.end() if comma else at
    gap = " " if comma else " , " if text[at - 1] == ":" else ", "  # `a:,` would be a text
    return TextEdit(Span(at, at), gap + flow)


def remove_entry(document: PromptDocument, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
    """Edits that take a key and its value out, with the lines that they fill."""
    text = document.source.text
    start = text.rfind("\n", 0, entry.key.start) + 1
    end = _end_of_line(text, max(entry.value.end, entry.key.end))
    if text[start : entry.key.start].strip():
        return ()  # inside brackets or a list item: its neighbours need a user's eye
    if text.startswith("\r\n", end):
        end += 2
    elif end < len(text):
        end += 1
    return (TextEdit(Span(start, end), ""),)


def write_scalar(value: Json) -> str:
    """A scalar as YAML, quoted where a plain word would be read as something else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _PLAIN.fullmatch(value) and plain_scalar(value) == value and not value.endswith(" "):
        return value
    return json.dumps(value, ensure_ascii=False)


def flow_value(value: Json) -> str:
    """A value in flow style, on one line: JSON is YAML, and every reader takes it."""
    match value:
        case Mapping():
            pairs = (f"{write_scalar(str(key))}: {flow_value(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(flow_value(item) for item in value) + "]"
        case str() if not _PLAIN_IN_FLOW.fullmatch(value):
            return json.dumps(value, ensure_ascii=False)
        case _:
            return write_scalar(value)


def _append_to_root(
    document: PromptDocument, lines: list[str], newline: str
) -> tuple[TextEdit, ...]:
    """Add a key at the end of the front matter, making front matter where there is none."""
    text = document.source.text
    block = newline.join(lines)
    if document.front_matter is None:
        at = split_front_matter(text).body.start
        gap = "" if text[at : at + 1] != "" else newline
        edit = f"---{newline}{block}{newline}---{newline}{gap}"
        return (TextEdit(Span(at, at), edit),)
    data = document.data
    if document.entries and data:
        last = max(entry.value.end for entry in document.entries)
        at = _end_of_line(text, last)
        root = text[document.front_matter.start : document.front_matter.end].strip()
        if root.startswith("{") and root.endswith("}"):
            at = document.front_matter.start + text[
                document.front_matter.start : document.front_matter.end
            ].rindex("}")
            return (TextEdit(Span(at, at), ", " + _as_flow(lines)),)
        return (TextEdit(Span(at, at), newline + block),)
    at = document.front_matter.end
    return (TextEdit(Span(at, at), block + newline),)


def _as_flow(lines: list[str]) -> str:
    """Nested single-key block lines in flow style (`a:` / `  b: 1` → `a: {b: 1}`)."""
    *outer, last = (line.strip() for line in lines)
    return "".join(f"{line} {{" for line in outer) + last + "}" * len(outer)


def _declaration_spans(document: PromptDocument, name: str) -> Iterator[Span]:
    declared: InputDeclaration | None = document.input(name)
    if declared is not None and declared.name_span is not None:
        yield declared.name_span
    for entry in document.entries:
        if entry.path == ("sample", name):
            yield entry.key


def _binding_spans(document: PromptDocument, name: str) -> Iterator[Span]:
    """The values of bindings that take this input."""
    for entry in document.entries:
        path = entry.path
        if len(path) < 4 or path[0] != "tools" or path[2] != "bindings":
            continue
        value = value_at(document.data, path)
        if value == name and (path[-1] == "input" or len(path) == 4):
            yield entry.value


def inside_quotes(source: SourceText, span: Span) -> Span:
    """Return the place of a scalar without its quotes."""
    text = source.slice(span)
    if len(text) > 1 and text[0] == text[-1] and text[0] in "\"'":
        return Span(span.start + 1, span.end - 1)
    return span


def _children(document: PromptDocument, path: KeyPath) -> bool:
    return any(entry.path[:-1] == path for entry in document.entries)


def _indent(lines: list[str], entry: FrontMatterEntry, document: PromptDocument) -> list[str]:
    column = _column(document.source.text, entry.key.start) + 2
    return [" " * column + line for line in lines]


def _after_colon(document: PromptDocument, entry: FrontMatterEntry) -> int:
    text = document.source.text
    at = entry.key.end
    while text[at : at + 1] in (" ", "\t"):
        at += 1
    return at + 1 if text[at : at + 1] == ":" else entry.key.end


def _column(text: str, at: int) -> int:
    return at - (text.rfind("\n", 0, at) + 1)


def _end_of_line(text: str, at: int) -> int:
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    return end - 1 if end > at and text[end - 1 : end] == "\r" else end
