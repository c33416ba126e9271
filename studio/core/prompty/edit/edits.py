"""Change a prompt file by edits of its text: comments, order and quoting stay."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.document import FrontMatterEntry, InputDeclaration, PromptDocument
from studio.core.prompty.foreign import split_front_matter
from studio.core.prompty.yaml.reader import plain_scalar, read_yaml, write_yaml
from studio.core.prompty.yaml.tree import in_double_quotes, value_at
from studio.core.text.source import SourceText, Span, TextEdit, apply_edits
from studio.core.text.values import Json, JsonObject, KeyPath, object_of

_IDENTIFIER = re.compile(r"[A-Za-z_]\w*")
_PLAIN_IN_FLOW = re.compile(r"[A-Za-z_][\w./+-]*(?: [\w./+-]+)*")
_PROPERTIES = re.compile(r"(?:[&!][^\s,\[\]{}]*(?:\s+(?:#[^\n]*\n\s*)*|\Z))+")
_COMMA = re.compile(r"(?:\s|#[^\n]*\n)*,")
_PLAIN = re.compile(r"[A-Za-z_/.~][\w ./~+\-]*")


def declare_input(
    document: PromptDocument, name: str, kind: str = "string"
) -> tuple[TextEdit, ...]:
    """Return the edits that declare one input; see `declare_inputs`."""
    return declare_inputs(document, {name: kind})


def declare_inputs(document: PromptDocument, kinds: Mapping[str, str]) -> tuple[TextEdit, ...]:
    """Return the edits that declare inputs, in the form of the file's other inputs.

    Args:
        document: The current document.
        kinds: Kinds by name; a Prompty 1 file gets `type`.
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
    """Return the edits that rename an input in declarations, uses, samples and bindings.

    Raises:
        ValueError: `new` is not a name, or exists already; the text says which.
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
    """Return the edits that set a front-matter key to a scalar, adding missing parents.

    Args:
        document: The current document.
        path: Keys from the root.
        value: The scalar in YAML syntax.
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
    """Return the edits that add lines as the last child of a mapping or list.

    Args:
        document: The current document.
        path: The parent; empty for the root. A missing parent of one key is created.
        lines: The child in block style, without the parent's indentation.
        flow: The child in flow style, for a parent in flow style.
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
        above = (document.entry(*path[:length]) for length in range(1, len(path)))
        written = newline + newline.join(_indent(lines, entry, document))
        if any(each and text[each.value.start : each.value.end].startswith("{") for each in above):
            written = f"{{{flow}}}"
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
    """Return the start of a value after its anchor, its tag and their comments."""
    found = _PROPERTIES.match(text, value.start, value.end)
    return found.end() if found else value.start


def _into_flow(document: PromptDocument, path: KeyPath, value: Span, flow: str) -> TextEdit:
    """Return an edit that adds a child in flow style after the last one."""
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
    gap = " " if comma else " , " if text[at - 1] == ":" else ", "  # `a:,` would be read as a text
    return TextEdit(Span(at, at), gap + flow)


def remove_entry(document: PromptDocument, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
    """Return the edits that remove a key with its value and the lines that they fill."""
    text = document.source.text
    start = text.rfind("\n", 0, entry.key.start) + 1
    end = _end_of_line(text, max(entry.value.end, entry.key.end))
    if text[start : entry.key.start].strip():
        return ()  # in flow style or a list item: neighbors may need a manual change
    if text.startswith("\r\n", end):
        end += 2
    elif end < len(text):
        end += 1
    return (TextEdit(Span(start, end), ""),)


def write_scalar(value: Json) -> str:
    """Return a scalar as YAML, quoted if a plain word would be read as something else."""
    if not isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if _PLAIN.fullmatch(value) and plain_scalar(value) == value and not value.endswith(" "):
        return value
    return in_double_quotes(value)


def flow_value(value: Json) -> str:
    """Return a value in flow style on one line: JSON is YAML, which every reader accepts."""
    match value:
        case Mapping():
            pairs = (f"{write_scalar(str(key))}: {flow_value(item)}" for key, item in value.items())
            return "{" + ", ".join(pairs) + "}"
        case list():
            return "[" + ", ".join(flow_value(item) for item in value) + "]"
        case str() if not _PLAIN_IN_FLOW.fullmatch(value):
            return in_double_quotes(value)
        case _:
            return write_scalar(value)


def _append_to_root(
    document: PromptDocument, lines: list[str], newline: str
) -> tuple[TextEdit, ...]:
    """Return the edits that add a key at the end of the front matter, creating it if missing."""
    text = document.source.text
    block = newline.join(lines)
    if document.front_matter is None:
        at = split_front_matter(text).body.start
        gap = "" if text[at : at + 1] != "" else newline
        edit = f"---{newline}{block}{newline}---{newline}{gap}"
        return (TextEdit(Span(at, at), edit),)
    data = document.data
    if document.entries and data:
        at = _end_of_line(text, max(entry.value.end for entry in document.entries))
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
    """Return nested single-key block lines in flow style (`a:` / ` b: 1` → `a: {b: 1}`)."""
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
    """Yield the spans of bindings to an input."""
    for entry in document.entries:
        path = entry.path
        if len(path) < 4 or path[0] != "tools" or path[2] != "bindings":
            continue
        if value_at(document.data, path) == name and (path[-1] == "input" or len(path) == 4):
            yield entry.value


def inside_quotes(source: SourceText, span: Span) -> Span:
    """Return the span of a scalar without its quotes."""
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


# A file during conversion: small edits one after another, each based on current spans.


@dataclass(slots=True)
class ConversionDraft:
    """The text so far; every change parses it again."""

    text: str
    """Text of the file so far."""

    notes: list[str] = field(default_factory=list)
    """Notes for the user about what could not be converted."""

    losses: list[str] = field(default_factory=list)
    """Losses of the file and changed meanings, one sentence each."""

    _read: PromptDocument | None = None

    @property
    def document(self) -> PromptDocument:
        """The parsed current text."""
        if self._read is None:
            split = split_front_matter(self.text)
            data: JsonObject = {}
            entries: tuple[FrontMatterEntry, ...] = ()
            if split.front is not None:
                front = self.text[split.front.start : split.front.end]
                reading = read_yaml(front, split.front.start)
                entries = reading.entries
                data = reading.value if isinstance(reading.value, Mapping) else {}
            self._read = PromptDocument(
                SourceText(self.text),
                front_matter=split.front,
                body=split.body,
                data=data,
                entries=entries,
            )
        return self._read

    def value(self, *path: str | int) -> Json:
        """Return the value at a path; None if it is missing."""
        return value_at(self.document.data, path)

    def block(self, *path: str | int) -> JsonObject:
        """Return the mapping at a path; empty if it is missing."""
        return object_of(self.value(*path))

    def has(self, *path: str | int) -> bool:
        """Return whether a key exists."""
        return self.document.entry(*path) is not None

    def apply(self, edits: Iterable[TextEdit]) -> None:
        """Apply edits to the text."""
        self.text = apply_edits(self.text, edits)
        self._read = None

    def rename(self, path: KeyPath, new: str) -> None:
        """Change a key's name."""
        entry = self.document.entry(*path)
        if entry is not None:
            self.apply((TextEdit(entry.key, new),))

    def set(self, path: tuple[str, ...], value: str) -> None:
        """Set a scalar, adding missing parents."""
        self.apply(set_value(self.document, path, value))

    def replace(self, path: KeyPath, value: str) -> None:
        """Replace a value by other YAML on the same line."""
        entry = self.document.entry(*path)
        if entry is not None and len(entry.value):
            self.apply((TextEdit(entry.value, value),))

    def add(self, path: KeyPath, key: str, lines: list[str], flow: str) -> None:
        """Add a child to a mapping, creating the mapping if it is missing."""
        self._make(path)
        head, *rest = lines
        self.apply(insert_below(self.document, path, [f"{key}: {head}".rstrip(), *rest], flow))

    def add_value(self, path: KeyPath, key: str, value: Json) -> None:
        """Add a child from a plain value."""
        self.add_values(path, {key: value})

    def add_values(self, path: KeyPath, values: JsonObject) -> None:
        """Add children from plain values with one change, which parses the file only once."""
        if not values:
            return
        self._make(path)
        flow = ", ".join(f"{key}: {flow_value(value)}" for key, value in values.items())
        self.apply(insert_below(self.document, path, write_yaml(values), flow))

    def add_item(self, path: KeyPath, value: Json) -> None:
        """Add an item to a list, creating the list if it is missing."""
        self.add_items(path, [value])

    def add_items(self, path: KeyPath, values: Sequence[Json]) -> None:
        """Add items to a list with one change."""
        if not values:
            return
        if not self.has(*path):
            self.add_value(path[:-1], str(path[-1]), list(values))
            return
        flow = ", ".join(map(flow_value, values))
        self.apply(insert_below(self.document, path, write_yaml(list(values)), flow))

    def remove(self, *path: str | int) -> bool:
        """Remove a key with the lines that it fills; return False if it is in flow style."""
        entry = self.document.entry(*path)
        if entry is None:
            return False
        edits = remove_entry(self.document, entry) or self._remove_from_flow(entry)
        self.apply(edits)
        return bool(edits)

    def move(self, old: KeyPath, parent: KeyPath, key: str) -> None:
        """Move a key with its value and inner comments below another mapping."""
        entry = self.document.entry(*old)
        if entry is None:
            return
        value = self.value(*old)
        lines = self.lines_of(entry)
        self.remove(*old)
        if lines is None:
            self.add_value(parent, key, value)
            return
        head = lines[0].partition(":")[2].strip()
        self.add(parent, key, [head, *lines[1:]], f"{key}: {flow_value(value)}")

    def _make(self, path: KeyPath) -> None:
        """Create the missing mappings of a path."""
        for length in range(1, len(path) + 1):
            if not self.has(*path[:length]):
                parent, name = path[: length - 1], str(path[length - 1])
                self.apply(insert_below(self.document, parent, [f"{name}:"], f"{name}: {{}}"))

    def lines_of(self, entry: FrontMatterEntry) -> list[str] | None:
        """Return a block-style key and value without indentation; None in flow style."""
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        indent = self.text[start : entry.key.start]
        if indent.strip():
            return None
        end = self.text.find("\n", max(entry.value.end, entry.key.end))
        text = self.text[start : len(self.text) if end < 0 else end].replace("\r", "")
        return [line.removeprefix(indent) for line in text.split("\n")]

    def _remove_from_flow(self, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
        """Return the edits that remove a key from `{a: 1, b: 2}`, or a list item's first key."""
        end = max(entry.value.end, entry.key.end)
        line_start = self.text.rfind("\n", 0, entry.key.start) + 1
        if self.text[line_start : entry.key.start].strip() == "-":
            after = self.text.find("\n", end)
            while after >= 0 and self.text[after + 1 : after + 2] == " ":
                after += 1
            if after < 0 or self.text[after + 1 : after + 2] in ("", "\n"):
                return ()
            return (TextEdit(Span(entry.key.start, after + 1), ""),)
        while self.text[end : end + 1] in (" ", ","):
            end += 1
        return (TextEdit(Span(entry.key.start, end), ""),)


def nest(draft: ConversionDraft, path: KeyPath, outer: str, inner: str) -> None:
    """Change `inputs: …` to `outer: {inner: …}`, at the same place, with its comments."""
    entry = draft.document.entry(*path)
    if entry is None:
        return
    lines = draft.lines_of(entry)
    if lines is None:
        value = draft.document.source.slice(entry.value)
        whole = Span(entry.key.start, max(entry.value.end, entry.key.end))
        draft.apply((TextEdit(whole, f"{outer}: {{{inner}: {value}}}"),))
        return
    head = lines[0].partition(":")[2]
    new = [f"{outer}:", f"  {inner}:{head}", *(f"  {line}" if line else "" for line in lines[1:])]
    _replace(draft, entry.key.start, max(entry.value.end, entry.key.end), new)


def unnest(draft: ConversionDraft, path: KeyPath, new: str) -> bool:
    """Change `outer: {inner: …}` to `new: …`; return False if there are other inner keys.

    Args:
        draft: The file.
        path: Path of the inner key.
        new: Name that replaces the outer one.
    """
    outer, inner = draft.document.entry(*path[:-1]), draft.document.entry(*path)
    if outer is None or inner is None or len(draft.block(*path[:-1])) != 1:
        return False
    lines = draft.lines_of(inner)
    value = draft.document.source.slice(inner.value)
    if lines is None:
        whole = Span(outer.key.start, max(outer.value.end, outer.key.end))
        draft.apply((TextEdit(whole, f"{new}: {value}"),))
        return True
    between = draft.text[outer.key.end : inner.key.start].partition(":")[2]
    comments = [line.strip() for line in between.split("\n")[1:] if line.strip()]
    head = lines[0].partition(":")[2]
    made = [f"{new}:{head}", *(f"  {line}" for line in comments), *lines[1:]]
    _replace(draft, outer.key.start, max(inner.value.end, inner.key.end), made)
    return True


def _replace(draft: ConversionDraft, start: int, value_end: int, lines: list[str]) -> None:
    """Replace a block that begins at a key by lines."""
    line_start = draft.text.rfind("\n", 0, start) + 1
    indent = draft.text[line_start:start]
    if indent.strip():  # `- key: …`: following lines are below the key, not below the dash
        indent = " " * len(indent)
    end = draft.text.find("\n", value_end)
    end = len(draft.text) if end < 0 else end
    if draft.text[end - 1 : end] == "\r":
        end -= 1
    newline = "\r\n" if "\r\n" in draft.text else "\n"
    rest = [indent + line if line else "" for line in lines[1:]]
    draft.apply((TextEdit(Span(start, end), newline.join([lines[0], *rest])),))
