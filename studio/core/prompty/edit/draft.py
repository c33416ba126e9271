"""A file while it is being converted: small text edits, one after another, each on fresh places.

Puts a key of a file that is being converted one level deeper, or takes it out of one.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.edit.edits import flow_value, insert_below, remove_entry, set_value
from studio.core.prompty.split import split_front_matter
from studio.core.prompty.yaml.places import KeyPath, value_at
from studio.core.prompty.yaml.reader import read_yaml, write_yaml
from studio.core.text.problem import TextEdit, apply_edits
from studio.core.text.source import SourceText
from studio.core.text.span import Span
from studio.core.text.values import Json, JsonObject, object_of


@dataclass(slots=True)
class ConversionDraft:
    """The text so far; every change reads the places anew."""

    text: str
    """The file's text so far."""

    notes: list[str] = field(default_factory=list)
    """What a user should know: what has no home, what could not be carried over."""

    losses: list[str] = field(default_factory=list)
    """What the file does not carry, or says otherwise, a sentence each."""

    _read: PromptDocument | None = None

    @property
    def document(self) -> PromptDocument:
        """Front matter and places of the text as it is now."""
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
        """The value at a path; None where there is none."""
        return value_at(self.document.data, path)

    def block(self, *path: str | int) -> JsonObject:
        """The mapping at a path; an empty one where there is none."""
        return object_of(self.value(*path))

    def has(self, *path: str | int) -> bool:
        """Whether a key is written."""
        return self.document.entry(*path) is not None

    def apply(self, edits: Iterable[TextEdit]) -> None:
        """Change the text."""
        self.text = apply_edits(self.text, edits)
        self._read = None

    def rename(self, path: KeyPath, new: str) -> None:
        """Change a key's name."""
        entry = self.document.entry(*path)
        if entry is not None:
            self.apply((TextEdit(entry.key, new),))

    def set(self, path: tuple[str, ...], value: str) -> None:
        """Set a scalar, adding the blocks on the way."""
        self.apply(set_value(self.document, path, value))

    def replace(self, path: KeyPath, value: str) -> None:
        """Replace a value by other YAML on the same line."""
        entry = self.document.entry(*path)
        if entry is not None and len(entry.value):
            self.apply((TextEdit(entry.value, value),))

    def add(self, path: KeyPath, key: str, lines: list[str], flow: str) -> None:
        """Add a child to a mapping, making the mapping where it is missing."""
        self._make(path)
        head, *rest = lines
        self.apply(insert_below(self.document, path, [f"{key}: {head}".rstrip(), *rest], flow))

    def add_value(self, path: KeyPath, key: str, value: Json) -> None:
        """Add a child from a plain value."""
        self.add_values(path, {key: value})

    def add_values(self, path: KeyPath, values: Mapping[str, Json]) -> None:
        """Add children from plain values, all in one change: the file is read once for them."""
        if not values:
            return
        self._make(path)
        flow = ", ".join(f"{key}: {flow_value(value)}" for key, value in values.items())
        self.apply(insert_below(self.document, path, write_yaml(values), flow))

    def add_item(self, path: KeyPath, value: Json) -> None:
        """Add an item to a list, making the list where it is missing."""
        self.add_items(path, [value])

    def add_items(self, path: KeyPath, values: Sequence[Json]) -> None:
        """Add items to a list, all in one change."""
        if not values:
            return
        if not self.has(*path):
            self.add_value(path[:-1], str(path[-1]), list(values))
            return
        flow = ", ".join(map(flow_value, values))
        self.apply(insert_below(self.document, path, write_yaml(list(values)), flow))

    def remove(self, *path: str | int) -> bool:
        """Take a key out with the lines it fills; False where it stands inside brackets."""
        entry = self.document.entry(*path)
        if entry is None:
            return False
        edits = remove_entry(self.document, entry) or self._remove_from_flow(entry)
        self.apply(edits)
        return bool(edits)

    def move(self, old: KeyPath, parent: KeyPath, key: str) -> None:
        """Move a key with its value, comments inside it and all, below another mapping."""
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
        """Make the mappings of a path that are missing."""
        for length in range(1, len(path) + 1):
            if not self.has(*path[:length]):
                parent, name = path[: length - 1], str(path[length - 1])
                self.apply(insert_below(self.document, parent, [f"{name}:"], f"{name}: {{}}"))

    def lines_of(self, entry: FrontMatterEntry) -> list[str] | None:
        """A block-style key with its value, without its indentation; None inside brackets."""
        start = self.text.rfind("\n", 0, entry.key.start) + 1
        indent = self.text[start : entry.key.start]
        if indent.strip():
            return None
        end = self.text.find("\n", max(entry.value.end, entry.key.end))
        text = self.text[start : len(self.text) if end < 0 else end].replace("\r", "")
        return [line.removeprefix(indent) for line in text.split("\n")]

    def _remove_from_flow(self, entry: FrontMatterEntry) -> tuple[TextEdit, ...]:
        """Take a key out of `{a: 1, b: 2}`, or the first key out of a list item."""
        end = max(entry.value.end, entry.key.end)
        line_start = self.text.rfind("\n", 0, entry.key.start) + 1
        before = self.text[line_start : entry.key.start]
        if before.strip() == "-":
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
    """`inputs: …` becomes `outer: {inner: …}`, at the same place, comments and all."""
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
    """`outer: {inner: …}` becomes `new: …`; False where other keys stand beside the inner one.

    Args:
        draft: The file.
        path: The inner key.
        new: The name that takes the place of the outer one.
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
    """Put lines in place of a block that begins at a key."""
    line_start = draft.text.rfind("\n", 0, start) + 1
    indent = draft.text[line_start:start]
    if indent.strip():  # `- key: …`: what follows stands below the key, not below the dash
        indent = " " * len(indent)
    end = draft.text.find("\n", value_end)
    end = len(draft.text) if end < 0 else end
    if draft.text[end - 1 : end] == "\r":
        end -= 1
    newline = "\r\n" if "\r\n" in draft.text else "\n"
    rest = [indent + line if line else "" for line in lines[1:]]
    draft.apply((TextEdit(Span(start, end), newline.join([lines[0], *rest])),))
