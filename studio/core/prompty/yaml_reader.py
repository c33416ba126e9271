"""YAML as plain values with the place of every key; the only file that imports yaml.

Built on libyaml's events, so that nesting, aliases and size are bounded before anything is made
of them, and a half-typed front matter still gives what can be read of it.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import yaml
from yaml.constructor import ConstructorError, SafeConstructor
from yaml.resolver import Resolver

from studio.core.prompty.document import Entry
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span
from studio.core.text.values import Json

MAX_DEPTH = 100
"""Levels of nesting that are read."""

MAX_NODES = 50_000
"""Values that are read, aliases counted with all that they stand for."""

_Event: TypeAlias = Any  # libyaml's events carry no types
_RETRIES = 3
_NO_KEY = "\0"
_NOT_YAML = re.compile("[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_TAB_INDENT = re.compile(r"(?m)^( *)(\t[\t ]*)(?=\S)")
_AMBIGUOUS = re.compile(r"(?i:yes|no|on|off)")
_STRING_TAGS = {"tag:yaml.org,2002:str", "tag:yaml.org,2002:timestamp", "tag:yaml.org,2002:value"}
_KNOWN_TAGS = _STRING_TAGS | {
    f"tag:yaml.org,2002:{word}" for word in ("null", "bool", "int", "float", "seq", "map")
}
_RESOLVERS = Resolver.yaml_implicit_resolvers
_CONSTRUCTOR = SafeConstructor()


@dataclass(frozen=True, slots=True)
class YamlReading:
    """What could be read of a YAML text."""

    value: Json
    """The plain value; None for an empty text."""

    entries: tuple[Entry, ...]
    """Every key and list item, in source order."""

    problems: tuple[Problem, ...]
    """Syntax errors, duplicate keys and the like, in the order found."""

    broken: bool
    """Whether a syntax error was met, so that `value` may be incomplete."""


def read_yaml(text: str, offset: int = 0, path: tuple[str | int, ...] = ()) -> YamlReading:
    """Read one YAML document.

    Args:
        text: The YAML.
        offset: Where `text` starts in the source; all spans count from the source's start.
        path: Keys that lead to this text, put before every entry's path.
    """
    problems: list[Problem] = []
    text = _replace_unreadable(text, offset, problems)
    attempt = text
    for _ in range(_RETRIES + 1):
        builder = _Builder(attempt, offset, path)
        error = builder.run()
        if error is None:
            break
        if builder.stopped:
            problems.append(error)
            return YamlReading(builder.finish(), tuple(builder.entries), tuple(problems), True)
        if attempt is text:
            problems.append(error)
        shorter = _blank_line(attempt, error.span.start - offset)
        if shorter == attempt:
            break
        attempt = shorter
    problems += builder.problems
    broken = attempt is not text or error is not None
    return YamlReading(builder.finish(), tuple(builder.entries), tuple(problems), broken)


def plain_scalar(text: str) -> Json:
    """The value of an unquoted scalar, as YAML 1.1 reads it (`true`, `12`, `null`, text)."""
    return _construct(_resolve(text), text)


def write_yaml(value: Json) -> list[str]:
    """A value as lines of block-style YAML, keys in their order."""
    text = yaml.safe_dump(
        _plain(value), sort_keys=False, allow_unicode=True, default_flow_style=False, width=10_000
    )
    lines = text.rstrip("\n").split("\n")
    return lines[:-1] if lines[-1] == "..." else lines


def _plain(value: Json) -> Json:
    """A copy that shares nothing, so that no anchors are written."""
    if isinstance(value, Mapping):
        return {key: _plain(item) for key, item in value.items()}
    return [_plain(item) for item in value] if isinstance(value, list) else value


def _replace_unreadable(text: str, offset: int, problems: list[Problem]) -> str:
    """Put U+FFFD for characters that YAML forbids, and report the first."""
    found = _NOT_YAML.search(text)
    if found is None:
        return text
    place = Span(offset + found.start(), offset + found.end())
    message = f"The character U+{ord(found[0]):04X} is not allowed in YAML; remove it."
    fix = Fix("Remove the character", (TextEdit(place, ""),))
    problems.append(Problem("yaml-character", Severity.ERROR, message, place, (fix,)))
    return _NOT_YAML.sub("\ufffd", text)


def _blank_line(text: str, at: int) -> str:
    """The text with the line at `at` (or the last one before it that has text) made blank."""
    at = max(0, min(at, len(text)))
    end = text.find("\n", at)
    end = len(text) if end < 0 else end
    while True:
        start = text.rfind("\n", 0, end) + 1
        if text[start:end].strip():
            return text[:start] + " " * (end - start) + text[end:]
        if start == 0:
            return text
        end = start - 1


@dataclass(slots=True)
class _Frame:
    """A mapping or list that is open."""

    mapping: dict[str, Json] | None
    items: list[Json] | None
    path: tuple[str | int, ...]
    start: int
    anchor: str | None
    end: int = 0
    size: int = 1
    key: str | None = None
    key_span: Span = field(default=Span(0, 0))
    entry: int = -1
    merges: list[Json] = field(default_factory=list)
    keys_seen: set[str] = field(default_factory=set)


class _Builder:
    """Makes values and entries of one pass over the events."""

    def __init__(self, text: str, offset: int, path: tuple[str | int, ...]) -> None:
        self.text = text
        self.offset = offset
        self.path = path
        self.entries: list[Entry] = []
        self.problems: list[Problem] = []
        self.stopped = False
        self._frames: list[_Frame] = []
        self._root: Json = None
        self._has_root = False
        self._anchors: dict[str, tuple[Json, int]] = {}
        self._nodes = 0

    def run(self) -> Problem | None:
        """Read all events; the problem that ended it early, if one did."""
        try:
            return self._read(yaml.parse(self.text, Loader=yaml.CSafeLoader))
        except yaml.MarkedYAMLError as error:
            return self._syntax_problem(error)
        except yaml.YAMLError as error:
            return self._problem("yaml-syntax", f"Invalid frontmatter: {error}", Span(0, 0))

    def finish(self) -> Json:
        """The value so far, open containers included."""
        return self._root

    def _read(self, events: Iterable[Any]) -> Problem | None:
        for event in events:
            match event:
                case yaml.ScalarEvent():
                    self._scalar(event)
                case yaml.MappingStartEvent():
                    self._open(event, {}, None)
                case yaml.SequenceStartEvent():
                    self._open(event, None, [])
                case yaml.MappingEndEvent() | yaml.SequenceEndEvent():
                    self._close(event)
                case yaml.AliasEvent():
                    self._alias(event)
                case yaml.DocumentStartEvent() if self._has_root:
                    place = _place(event)
                    self.problems.append(
                        self._problem(
                            "yaml-documents",
                            "Only the first YAML document is read; remove the second one.",
                            place,
                        )
                    )
                    return None
            if self._nodes > MAX_NODES or len(self._frames) > MAX_DEPTH:
                self.stopped = True
                what = "deeply nested" if len(self._frames) > MAX_DEPTH else "large"
                place = Span(_place(event).start, _place(event).start)
                return self._problem(
                    "yaml-too-large",
                    f"This YAML is too {what} to be read whole (at most {MAX_NODES} values, "
                    f"{MAX_DEPTH} levels).",
                    place,
                )
        return None

    def _open(
        self, event: _Event, mapping: dict[str, Json] | None, items: list[Json] | None
    ) -> None:
        self._nodes += 1
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
            self._root, self._has_root = container, True
        elif parent.items is not None:
            parent.items.append(container)
        elif parent.mapping is not None and parent.key not in (None, "<<", _NO_KEY):
            assert parent.key is not None
            parent.mapping[parent.key] = container

    def _begin_value(self, parent: _Frame | None, start: int) -> tuple[str | int, ...]:
        """Make the entry of a list item; the path of the value that starts here."""
        if parent is None:
            return self.path
        if parent.items is not None:
            path = (*parent.path, len(parent.items))
            parent.entry = len(self.entries)
            place = Span(self.offset + start, self.offset + start + 1)
            self.entries.append(Entry(path, place, Span(place.start, place.start)))
            return path
        return (*parent.path, parent.key or "")

    def _close(self, event: _Event) -> None:
        frame = self._frames.pop()
        if event.end_mark.index > event.start_mark.index:
            frame.end = event.end_mark.index  # the bracket of a flow collection
        if frame.mapping is not None:
            for merge in frame.merges:
                self._merge(frame.mapping, merge)
        value: Json = frame.mapping if frame.mapping is not None else frame.items
        if frame.anchor:
            self._anchors[frame.anchor] = (value, frame.size)
        self._end_value(value, frame.start, frame.end, frame.size)

    def _merge(self, target: dict[str, Json], value: Json) -> None:
        """Apply a merge key (`<<`): keys written here win."""
        values = value if isinstance(value, list) else [value]
        for item in values:
            if isinstance(item, dict):
                for key, inner in item.items():
                    target.setdefault(key, inner)

    def _scalar(self, event: _Event) -> None:
        self._nodes += 1
        start, end = event.start_mark.index, event.end_mark.index
        if event.style in ("|", ">"):
            end = start + len(self.text[start:end].rstrip())
        parent = self._frames[-1] if self._frames else None
        if parent is not None and parent.mapping is not None and parent.key is None:
            self._key(parent, event.value, Span(start, end))
            return
        self._begin_value(parent, start)
        value = self._scalar_value(event, start, end)
        if event.anchor:
            self._anchors[event.anchor] = (value, 1)
        self._end_value(value, start, end, 1)

    def _scalar_value(self, event: _Event, start: int, end: int) -> Json:
        text: str = event.value
        tag = event.tag
        if tag is None or tag == "!":
            if not event.implicit[0]:
                return text
            tag = _resolve(text)
            if tag == "tag:yaml.org,2002:bool" and _AMBIGUOUS.fullmatch(text):
                self._report_ambiguous(text, start, end)
        elif tag not in _KNOWN_TAGS:
            self._report_tag(tag, start, end)
            return text
        return _construct(tag, text)

    def _key(self, frame: _Frame, name: str, place: Span) -> None:
        """Take a scalar as the key of the value that follows."""
        frame.key = name
        frame.key_span = place.shift(self.offset)
        if name == "<<":
            return
        if name in frame.keys_seen:
            message = f"The key {name!r} is written twice here; the last one counts. Remove one."
            self.problems.append(self._problem("duplicate-key", message, place))
        frame.keys_seen.add(name)
        frame.entry = len(self.entries)
        path = (*frame.path, name)
        at = frame.key_span.end
        self.entries.append(Entry(path, frame.key_span, Span(at, at)))

    def _alias(self, event: _Event) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        known = self._anchors.get(event.anchor)
        if known is None:
            message = f"The alias *{event.anchor} has no complete anchor before it."
            self.problems.append(self._problem("yaml-alias", message, Span(start, end)))
            known = (None, 1)
        value, size = known
        self._nodes += size
        parent = self._frames[-1] if self._frames else None
        if parent is not None and parent.mapping is not None and parent.key is None:
            self._key(parent, value if isinstance(value, str) else event.anchor, Span(start, end))
            return
        self._begin_value(parent, start)
        self._end_value(value, start, end, size)

    def _end_value(self, value: Json, start: int, end: int, size: int) -> None:
        """Put a finished value into its container, and its place into its entry."""
        if not self._frames:
            self._root, self._has_root = value, True
            return
        parent = self._frames[-1]
        parent.end = max(parent.end, end)
        parent.size += size
        if parent.items is not None:
            if not (parent.items and parent.items[-1] is value and isinstance(value, dict | list)):
                parent.items.append(value)
        elif parent.mapping is not None:
            key, parent.key = parent.key, None
            if key is None:  # that was a list or mapping as a key; its value comes next
                parent.key, parent.entry = _NO_KEY, -1
                return
            if key == "<<":
                parent.merges.append(value)
                return
            if key == _NO_KEY:
                return
            parent.mapping[key] = value
        if parent.entry >= 0 and end > start:
            place = Span(start + self.offset, end + self.offset)
            old = self.entries[parent.entry]
            self.entries[parent.entry] = Entry(old.path, old.key, place)

    def _syntax_problem(self, error: yaml.MarkedYAMLError) -> Problem:
        what = str(error.problem or error.context or "it cannot be read")
        mark = error.problem_mark or error.context_mark
        context = error.context or ""
        if error.context_mark is not None and ("flow" in context or "quoted" in context):
            mark = error.context_mark
            what = f"{what} ({context})"
        at = mark.index if mark is not None else 0
        if at >= len(self.text):
            at = len(self.text.rstrip())
        end = self.text.find("\n", at)
        place = Span(at, len(self.text) if end < 0 else max(end, at))
        tab = next((tab for tab in _TAB_INDENT.finditer(self.text) if tab.end() >= at), None)
        if "\\t" in what or (tab is not None and tab.start() <= at <= tab.end()):
            return self._tab_problem(tab or _TAB_INDENT.search(self.text), place)
        return self._problem("yaml-syntax", f"Invalid frontmatter: {what}.", place)

    def _tab_problem(self, tab: re.Match[str] | None, place: Span) -> Problem:
        fixes: tuple[Fix, ...] = ()
        if tab is not None:
            place = Span(*tab.span(2))
            edits = tuple(
                TextEdit(Span(*found.span(2)).shift(self.offset), found[2].replace("\t", "  "))
                for found in _TAB_INDENT.finditer(self.text)
            )
            fixes = (Fix("Indent with spaces", edits),)
        message = "Invalid frontmatter: YAML is indented with spaces, and here stands a tab."
        return Problem("yaml-tab", Severity.ERROR, message, place.shift(self.offset), fixes)

    def _report_key(self, start: int, end: int) -> None:
        message = "A key must be plain text, not a list or mapping; write it in quotes."
        if self.text[start - 1 : start + 1] == "{{":
            message = "YAML reads {{ … }} as a mapping; put the value in quotes."
        self.problems.append(self._problem("yaml-key", message, Span(start, end)))

    def _report_tag(self, tag: str, start: int, end: int) -> None:
        if tag not in _KNOWN_TAGS:
            message = f"The YAML tag {tag!r} is not supported; the value is read without it."
            self.problems.append(self._problem("yaml-tag", message, Span(start, end)))

    def _report_ambiguous(self, text: str, start: int, end: int) -> None:
        place = Span(start, end).shift(self.offset)
        value = "true" if text.lower() in ("yes", "on") else "false"
        message = f"YAML reads {text!r} as {value}; write {value}, or quote it to mean the word."
        fixes = (
            Fix(f"Write {value}", (TextEdit(place, value),)),
            Fix("Quote the word", (TextEdit(place, f'"{text}"'),)),
        )
        self.problems.append(Problem("ambiguous-boolean", Severity.WARNING, message, place, fixes))

    def _problem(self, code: str, message: str, place: Span) -> Problem:
        severity = Severity.WARNING if code in ("yaml-documents", "yaml-tag") else Severity.ERROR
        return Problem(code, severity, message, place.shift(self.offset))


def _place(event: _Event) -> Span:
    return Span(event.start_mark.index, event.end_mark.index)


def _resolve(text: str) -> str:
    """The tag of a plain scalar (YAML 1.1, as the public runtime reads it)."""
    for tag, pattern in _RESOLVERS.get(text[:1], ()):
        if pattern.match(text):
            return str(tag)
    return "tag:yaml.org,2002:str"


def _construct(tag: str, text: str) -> Json:
    """The plain value of a scalar; text where it is nothing that JSON knows."""
    if tag in _STRING_TAGS:
        return text
    node = yaml.ScalarNode(tag, text)
    try:
        match tag.rpartition(":")[2]:
            case "null":
                return None
            case "bool":
                return bool(_CONSTRUCTOR.construct_yaml_bool(node))
            case "int":
                return int(_CONSTRUCTOR.construct_yaml_int(node))
            case "float":
                number = float(_CONSTRUCTOR.construct_yaml_float(node))
                return number if number - number == 0 else text  # no .inf, no .nan in JSON
    except (ValueError, KeyError, OverflowError, ConstructorError):
        return text
    return text
