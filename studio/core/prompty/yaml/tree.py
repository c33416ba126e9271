"""The tree of one pass over YAML events: values, spans of keys, and problems.

It uses no YAML library: an event is any object with marks, a value, a tag, an anchor and a style.
Also quotes texts for YAML.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from studio.core.prompty.document import FrontMatterEntry
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit
from studio.core.text.values import Json, JsonDict, KeyPath


def in_quotes(value: str) -> str:
    """Return a text as a YAML string in single quotes."""
    return "'" + value.replace("'", "''") + "'"


class NoReference(str):
    """A text that looks like a reference but is none: its dollar is written as an escape."""

    __slots__ = ()

    def __str__(self) -> str:
        """Return the same text with the same type."""
        return self


def in_double_quotes(value: str) -> str:
    """Return a text as a JSON and YAML string in double quotes."""
    written = json.dumps(value, ensure_ascii=False)
    return written.replace("${", "\\x24{") if isinstance(value, NoReference) else written


YamlEvent: TypeAlias = Any  # libyaml's events carry no types
"""A scalar, an alias, or the start or end of a mapping or list."""

STRING_TAGS = frozenset(f"tag:yaml.org,2002:{word}" for word in ("str", "timestamp", "value"))
"""Tags whose values are texts here, since JSON has no dates."""

KNOWN_TAGS = STRING_TAGS | {
    f"tag:yaml.org,2002:{word}" for word in ("null", "bool", "int", "float", "seq", "map")
}
"""Supported tags."""

_NO_KEY = "\0"
_AMBIGUOUS = re.compile(r"(?i:yes|no|on|off)")


@dataclass(slots=True)
class _Frame:
    """An open mapping or list."""

    mapping: JsonDict | None
    items: list[Json] | None
    path: KeyPath
    start: int
    anchor: str | None
    end: int = 0
    size: int = 1
    key: str | None = None
    key_span: Span = field(default=Span(0, 0))
    entry: int = -1
    merges: list[Json] = field(default_factory=list)
    keys_seen: set[str] = field(default_factory=set)


class TreeBuilder:
    """A builder of values and entries in one pass over the events."""

    def __init__(
        self,
        text: str,
        offset: int,
        resolve: Callable[[str], str],
        construct: Callable[[str, str], Json],
    ) -> None:
        """Start an empty tree.

        Args:
            text: The YAML text, for quotations.
            offset: Start of the text in the source.
            resolve: Returns the tag of a plain scalar.
            construct: Returns the value for a tag and a text.
        """
        self.text = text
        self.offset = offset
        self.entries: list[FrontMatterEntry] = []
        self.problems: list[Problem] = []
        self.value: Json = None
        self.has_value = False
        self.nodes = 0
        self._resolve = resolve
        self._construct = construct
        self._frames: list[_Frame] = []
        self._anchors: dict[str, tuple[Json, int]] = {}

    @property
    def depth(self) -> int:
        """Number of open mappings and lists."""
        return len(self._frames)

    def open(self, event: YamlEvent, mapping: JsonDict | None, items: list[Json] | None) -> None:
        """Begin a mapping or list; one of the two arguments is given, empty."""
        self.nodes += 1
        start = event.start_mark.index
        frame = _Frame(mapping, items, (), start, event.anchor, event.end_mark.index)
        parent = self._frames[-1] if self._frames else None
        if parent is not None and parent.mapping is not None and parent.key is None:
            self._report_key(start, event.end_mark.index)
        frame.path = self._begin_value(parent, start)
        if event.tag is not None:
            self._report_tag(event.tag, start, event.end_mark.index)
        self._frames.append(frame)
        container: Json = mapping if mapping is not None else items
        if parent is None:
            self.value, self.has_value = container, True
        elif parent.items is not None:
            parent.items.append(container)
        elif parent.mapping is not None and parent.key not in (None, "<<", _NO_KEY):
            assert parent.key is not None
            parent.mapping[parent.key] = container

    def close(self, event: YamlEvent) -> None:
        """End a mapping or list."""
        frame = self._frames.pop()
        if event.end_mark.index > event.start_mark.index:
            frame.end = event.end_mark.index  # the bracket of a flow collection
        if frame.mapping is not None:
            for merge in frame.merges:
                self._merge(frame.mapping, merge)
        value: Json = frame.mapping if frame.mapping is not None else frame.items
        if frame.anchor:
            self._anchors[frame.anchor] = (value, frame.size)
        self._end_value(value, frame.start, frame.end, frame.size, is_held=True)

    def scalar(self, event: YamlEvent) -> None:
        """Add a scalar: a key or a value."""
        self.nodes += 1
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            end = start + len(self.text[start:end].rstrip())
        parent = self._frames[-1] if self._frames else None
        if parent is not None and parent.mapping is not None and parent.key is None:
            self._key(parent, event.value, Span(start, end))
            return
        self._begin_value(parent, start)
        value = self._scalar_value(event, start, end)
        if isinstance(value, str) and value.count("${") > self.text.count("${", start, end):
            value = NoReference(value)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._end_value(value, start, end, 1)

    def alias(self, event: YamlEvent) -> None:
        """Replace an alias by the value of its anchor."""
        start, end = event.start_mark.index, event.end_mark.index
        known = self._anchors.get(event.anchor)
        if known is None:
            message = f"The alias *{event.anchor} has no complete anchor before it."
            self.problems.append(self.problem("yaml-alias", message, Span(start, end)))
            known = (None, 1)
        value, size = known
        self.nodes += size
        parent = self._frames[-1] if self._frames else None
        if parent is not None and parent.mapping is not None and parent.key is None:
            self._key(parent, value if isinstance(value, str) else event.anchor, Span(start, end))
            return
        self._begin_value(parent, start)
        self._end_value(value, start, end, size)

    def _begin_value(self, parent: _Frame | None, start: int) -> KeyPath:
        """Create the entry of a list item; return the path of the value that starts here."""
        if parent is None:
            return ()
        if parent.items is not None:
            path = (*parent.path, len(parent.items))
            parent.entry = len(self.entries)
            place = Span(self.offset + start, self.offset + start + 1)
            self.entries.append(FrontMatterEntry(path, place, Span(place.start, place.start)))
            return path
        return (*parent.path, parent.key or "")

    def _merge(self, target: JsonDict, value: Json) -> None:
        """Apply a merge key (`<<`); explicit keys take precedence."""
        for item in _listed(value):
            if isinstance(item, dict):
                for key, inner in item.items():
                    target.setdefault(key, inner)

    def _scalar_value(self, event: YamlEvent, start: int, end: int) -> Json:
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text
            tag = self._resolve(text)
            if tag == "tag:yaml.org,2002:bool" and _AMBIGUOUS.fullmatch(text):
                self._report_ambiguous(text, start, end)
        elif tag not in KNOWN_TAGS:
            self._report_tag(tag, start, end)
            return text
        return self._construct(tag, text)

    def _key(self, frame: _Frame, name: str, place: Span) -> None:
        """Use a scalar as the key of the next value."""
        frame.key = name
        frame.key_span = place.shift(self.offset)
        if name == "<<":
            return
        if name in frame.keys_seen:
            message = f"The key {name!r} occurs twice here; the last one is used. Remove one."
            self.problems.append(self.problem("duplicate-key", message, place))
        frame.keys_seen.add(name)
        frame.entry = len(self.entries)
        path = (*frame.path, name)
        at = frame.key_span.end
        self.entries.append(FrontMatterEntry(path, frame.key_span, Span(at, at)))

    def _end_value(
        self, value: Json, start: int, end: int, size: int, *, is_held: bool = False
    ) -> None:
        """Add a finished value to its container, and its span to its entry.

        A mapping or list is added to its list when it begins (`is_held`).
        """
        if not self._frames:
            self.value, self.has_value = value, True
            return
        parent = self._frames[-1]
        parent.end = max(parent.end, end)
        parent.size += size
        if parent.items is not None:
            if not is_held:
                parent.items.append(value)
        elif parent.mapping is not None:
            key, parent.key = parent.key, None
            if key is None:  # a list or mapping was the key; its value comes next
                parent.key, parent.entry = _NO_KEY, -1
                return
            if key == "<<":
                parent.merges.append(value)
                if not all(isinstance(each, dict) for each in _listed(value)):
                    message = (
                        "<<: takes keys and values, or an *alias of some; nothing of this is read. "
                        "A file's keys can be a whole value: `key: ${file:keys.json}`."
                    )
                    self.problems.append(self.problem("yaml-merge", message, Span(start, end)))
                return
            if key == _NO_KEY:
                return
            parent.mapping[key] = value
        if parent.entry >= 0 and end > start:
            place = Span(start + self.offset, end + self.offset)
            old = self.entries[parent.entry]
            self.entries[parent.entry] = FrontMatterEntry(old.path, old.key, place)

    def _report_key(self, start: int, end: int) -> None:
        message = "A key must be plain text, not a list or mapping; write it in quotes."
        fixes: tuple[Fix, ...] = ()
        if self.text[start - 1 : start + 1] == "{{":
            message = "YAML reads {{ … }} as a mapping; put the value in quotes."
            place, last = Span(start - 1, end), self.text.find("\n", end)
            value = self.text[start - 1 : last if last >= 0 else len(self.text)].rstrip()
            if value.endswith("}}") and self.text[: start - 1].rstrip(" ").endswith(":"):
                place = Span(start - 1, start - 1 + len(value))
                fixes = (Fix("Put it in quotes", (TextEdit(place, in_quotes(value)),)),)
            self.problems.append(self.problem("yaml-key", message, place, fixes))
            return
        self.problems.append(self.problem("yaml-key", message, Span(start, end)))

    def _report_tag(self, tag: str, start: int, end: int) -> None:
        if tag not in KNOWN_TAGS:
            message = f"The YAML tag {tag!r} is not supported; the value is read without it."
            self.problems.append(self.problem("yaml-tag", message, Span(start, end)))

    def _report_ambiguous(self, text: str, start: int, end: int) -> None:
        place = Span(start, end).shift(self.offset)
        value = "true" if text.lower() in ("yes", "on") else "false"
        message = f"YAML reads {text!r} as {value}; write {value}, or quote it to mean the word."
        fixes = (
            Fix(f"Write {value}", (TextEdit(place, value),)),
            Fix("Quote the word", (TextEdit(place, f'"{text}"'),)),
        )
        self.problems.append(Problem("ambiguous-boolean", Severity.WARNING, message, place, fixes))

    def problem(self, code: str, message: str, place: Span, fixes: tuple[Fix, ...] = ()) -> Problem:
        """Return a problem at a span in the YAML."""
        severity = Severity.WARNING if code in ("yaml-documents", "yaml-tag") else Severity.ERROR
        moved = tuple(fix.shift(self.offset) for fix in fixes)
        return Problem(code, severity, message, place.shift(self.offset), moved)


def _listed(value: Json) -> Sequence[Json]:
    """Return the items of a list; any other value as a single item."""
    return value if isinstance(value, list) else [value]


# The spans of the front matter's keys, by path.


def value_at(data: Json, path: KeyPath) -> Json:
    """Return the value at a path; None if it is missing."""
    for part in path:
        if isinstance(data, Mapping):
            data = data.get(str(part))
        elif isinstance(data, list) and isinstance(part, int) and part < len(data):
            data = data[part]
        else:
            return None
    return data


@dataclass(frozen=True)
class Places:
    """Entries by path."""

    by_path: dict[KeyPath, FrontMatterEntry] = field(default_factory=dict)
    """All entries; for a repeated key, the last one."""

    @classmethod
    def of(cls, entries: Iterable[FrontMatterEntry]) -> Places:
        """Return the entries of a document by path."""
        return cls({entry.path: entry for entry in entries})

    def key(self, *path: str | int) -> Span | None:
        """Return the span of the key at a path."""
        entry = self.by_path.get(path)
        return entry.key if entry else None

    def value(self, *path: str | int) -> Span | None:
        """Return the span of the value at a path."""
        entry = self.by_path.get(path)
        return entry.value if entry else None

    def whole(self, *path: str | int) -> Span | None:
        """Return the span of key and value at a path."""
        entry = self.by_path.get(path)
        return entry.key.cover(entry.value) if entry else None

    def nearest(self, *path: str | int) -> Span:
        """Return the span of the key at a path, or of its nearest existing parent."""
        for length in range(len(path), 0, -1):
            entry = self.by_path.get(path[:length])
            if entry is not None:
                return entry.key
        return Span(0, 0)
