"""Find the role markers of a body (the lines `role[attributes]:`), and their sections."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from studio.core.prompty.document import BodySection, Dialect
from studio.core.text.source import Span
from studio.core.text.values import Json

ROLES: dict[Dialect, tuple[str, ...]] = {
    "prompty": ("system", "user", "assistant", "developer"),
    "section": (
        "system",
        "user",
        "assistant",
        "developer",
        "tool",
        "function",
        "tools",
        "thread",
    ),
    "legacy": ("system", "user", "assistant", "function", "tools"),
}
"""Words of role markers by dialect (Prompty's test vectors; section dialect; Prompty 1 runtime)."""

STANDARD_ROLES = ("system", "user", "assistant", "developer")
"""Roles of every dialect, except that legacy has no `developer`."""

MAX_ATTRIBUTES = 64
"""Maximum number of attributes of one marker; a line with more is text."""

_SPACE = " \t\r\f\v"
_KEY = re.compile(r"\w[\w.\-]*")
_PROMPTY_KEY = re.compile(r"\w+")
_INTEGER = re.compile(r"[+-]?\d+")
_FLOAT = re.compile(r"[+-]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][+-]?\d+)?")


@dataclass(frozen=True, slots=True)
class Attribute:
    """An attribute `key=value` of a marker or a media token."""

    key: str
    """The key as written."""

    value: Json
    """Text, or a typed value if the dialect has types."""

    key_span: Span
    """Span of the key."""

    value_span: Span
    """Span of the value, without its quotes."""

    quote: str = ""
    """The quote character around the value; empty for a bare value."""


@dataclass(frozen=True, slots=True)
class Marker:
    """A role marker."""

    role: str
    """Role word, in lower case."""

    attributes: tuple[Attribute, ...]
    """Attributes, in order."""

    span: Span
    """The whole line without line break."""

    role_span: Span
    """Span of the role word."""

    def attribute(self, key: str) -> Json:
        """Return the value of the last attribute with that name; None without one."""
        return next((item.value for item in reversed(self.attributes) if item.key == key), None)

    def shift(self, by: int) -> Marker:
        """Return the marker moved forward by `by` code points."""
        moved = tuple(
            replace(item, key_span=item.key_span.shift(by), value_span=item.value_span.shift(by))
            for item in self.attributes
        )
        return Marker(self.role, moved, self.span.shift(by), self.role_span.shift(by))


def read_marker(line: str, dialect: Dialect) -> Marker | None:
    """Read one line as a role marker.

    Takes one pass from left to right, so a hostile line takes only linear time.

    Args:
        line: A line without line break; spans count from its start.
        dialect: The dialect, which decides roles and the form of attributes.

    Returns:
        The marker; None if the line is text.
    """
    at = _skip(line, 0)
    if line[at : at + 1] == "#":
        at = _skip(line, at + 1)
    start = at
    while at < len(line) and line[at].isascii() and line[at].isalpha():
        at += 1
    role = line[start:at].lower()
    if role not in ROLES[dialect]:
        return None
    role_span = Span(start, at)
    attributes: tuple[Attribute, ...] = ()
    if line[at : at + 1] == "[":
        read = read_attributes(line, at + 1, dialect)
        if read is None or line[read[1] : read[1] + 1] != "]" or not read[0]:
            return None
        attributes, at = read[0], read[1] + 1
    at = _skip(line, at)
    if line[at : at + 1] != ":" or _skip(line, at + 1) != len(line):
        return None
    return Marker(role, attributes, Span(0, len(line)), role_span)


def read_attributes(
    line: str, start: int, dialect: Dialect
) -> tuple[tuple[Attribute, ...], int] | None:
    """Read `key=value, key="value"` from `start` up to the closing bracket.

    Returns:
        The attributes and the offset of the closing bracket; None if it is no attribute list.
    """
    key_pattern = _PROMPTY_KEY if dialect == "prompty" else _KEY
    found: list[Attribute] = []
    at = start if dialect == "prompty" else _skip(line, start)
    while at < len(line) and line[at] != "]":
        if len(found) >= MAX_ATTRIBUTES:
            return None
        key = key_pattern.match(line, at)
        if key is None:
            return None
        equals = _skip(line, key.end())
        if line[equals : equals + 1] != "=":
            if dialect != "legacy" or line[equals : equals + 1] not in (",", "]"):
                return None
            word = Attribute(key[0], True, Span(*key.span()), Span(key.end(), key.end()))
            found.append(word)  # Prompty 1 accepts bare words
            at = _skip_separator(line, equals)
            continue
        value_at = _skip(line, equals + 1)
        attribute = _read_value(line, key[0], Span(*key.span()), value_at, dialect)
        if attribute is None:
            return None
        found.append(attribute)
        at = _skip_separator(line, attribute.value_span.end + len(attribute.quote))
    return tuple(found), at


def type_value(text: str) -> Json:
    """Return the value of an unquoted word: `true`, `null`, an integer, a number, else the text."""
    if text.lower() == "null":
        return None
    if text.lower() in ("true", "false"):
        return text.lower() == "true"
    if len(text) < 40 and _INTEGER.fullmatch(text):
        return int(text)
    if len(text) < 40 and _FLOAT.fullmatch(text):
        return float(text)
    return text


def _read_value(line: str, key: str, key_span: Span, at: int, dialect: Dialect) -> Attribute | None:
    quote = line[at : at + 1]
    if quote == '"' or (quote == "'" and dialect != "prompty"):
        end = _closing_quote(line, at + 1, quote)
        if end < 0:
            return None
        text = line[at + 1 : end]
        # Prompty 2 runtimes convert quoted values too; the section dialect keeps them as text.
        value = type_value(text.strip()) if dialect == "prompty" and key != "nonce" else text
        return Attribute(key, value, key_span, Span(at + 1, end), quote)
    end = _end_of_bare(line, at)
    text = line[at:end].rstrip(_SPACE)
    value = text if key == "nonce" and dialect == "prompty" else type_value(text)
    return Attribute(key, value, key_span, Span(at, at + len(text)))


def _closing_quote(line: str, at: int, quote: str) -> int:
    """Return the offset of the closing quote; quotes inside `{{ … }}` belong to the expression."""
    while True:
        end = line.find(quote, at)
        opening = line.find("{{", at, end) if end >= 0 else -1
        if opening < 0:
            return end
        closing = line.find("}}", opening + 2)
        if closing < 0:
            return end
        at = closing + 2


def _end_of_bare(line: str, at: int) -> int:
    """Return the end of an unquoted value, before a comma, a quote or the closing bracket."""
    while at < len(line) and line[at] not in ',"]':
        if line.startswith("{{", at):
            closing = line.find("}}", at + 2)
            if closing < 0:
                return len(line)
            at = closing + 2
        else:
            at += 1
    return at


def _skip(line: str, at: int) -> int:
    while at < len(line) and line[at] in _SPACE:
        at += 1
    return at


def _skip_separator(line: str, at: int) -> int:
    at = _skip(line, at)
    return _skip(line, at + 1) if line[at : at + 1] == "," else at


YAML_TYPES = ("tool_call",)
"""Values of the attribute `type` whose section contains YAML (section dialect)."""

_YAML_KEYS = ("function", "tools")
_FENCE = re.compile(r"^ {0,3}(`{3,}|~{3,})([^\n]*)$", re.MULTILINE)
_CANDIDATES: dict[Dialect, re.Pattern[str]] = {
    dialect: re.compile(
        rf"^[ \t]*(?:#[ \t]*)?({'|'.join(roles)})(?:\[[^\n]*|[ \t]*:[ \t\r\f\v]*$)",
        re.MULTILINE | re.IGNORECASE | re.ASCII,
    )
    for dialect, roles in ROLES.items()
}


def find_markers(text: str, dialect: Dialect) -> list[Marker]:
    """Return every role marker in a text, in order.

    In the section dialect, markers inside a closed code fence are text, and so are `function:` and
    `tools:` with deeper lines below inside a section of YAML (docs/design/file-format.md).
    """
    return list(_markers(plain_newlines(text), dialect))


@lru_cache(maxsize=4)
def _markers(text: str, dialect: Dialect) -> tuple[Marker, ...]:
    """Return the markers, cached for the dialect, the sections and the checks."""
    fences = _fenced_ranges(text) if dialect == "section" else ()
    found: list[Marker] = []
    holds_yaml = False
    for marker in _candidates(text, dialect):
        if is_inside(fences, marker.span.start):
            continue
        if holds_yaml and marker.role in _YAML_KEYS and _deeper_below(text, marker):
            continue
        found.append(marker)
        holds_yaml = dialect == "section" and marker.attribute("type") in YAML_TYPES
    return tuple(found)


def sections_of(markers: list[Marker], text: str, offset: int) -> tuple[BodySection, ...]:
    """Return the sections between markers; text before the first one has no role.

    Args:
        markers: The markers from `find_markers(text, …)`.
        text: The body.
        offset: Start of the body in the source.
    """
    sections: list[BodySection] = []
    first = markers[0].span.start if markers else len(text)
    if text[:first].strip():
        whole = Span(offset, offset + first)
        sections.append(BodySection("", None, whole, whole))
    for index, marker in enumerate(markers):
        end = markers[index + 1].span.start if index + 1 < len(markers) else len(text)
        content = marker.span.end
        while text[content : content + 1] in (" ", "\t", "\f", "\v"):
            content += 1
        content = after_line(text, content)
        sections.append(
            BodySection(
                marker.role,
                marker.span.shift(offset),
                Span(marker.span.start + offset, end + offset),
                Span(content + offset, end + offset),
            )
        )
    return tuple(sections)


def fenced_ranges(text: str) -> list[Span]:
    """Return the spans of closed code fences in a Markdown text, including their fence lines.

    An unclosed fence does not count: prompts end in an open fence on purpose, and a forgotten fence
    must not disable every marker after it.
    """
    return list(_fenced_ranges(text))


@lru_cache(maxsize=4)
def _fenced_ranges(text: str) -> tuple[Span, ...]:
    if "```" not in text and "~~~" not in text:
        return ()
    found: list[Span] = []
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer(text):
        if opened is None:
            if fence[1][0] == "~" or "`" not in fence[2]:
                opened = fence
        elif fence[1].startswith(opened[1]) and not fence[2].strip():
            found.append(Span(opened.start(), fence.end()))
            opened = None
    return tuple(found)


def is_inside(ranges: Sequence[Span], at: int) -> bool:
    """Return whether an offset is inside one of the sorted spans, which do not overlap."""
    index = bisect_right(ranges, at, key=lambda span: span.start) - 1
    return index >= 0 and at < ranges[index].end


def plain_newlines(text: str) -> str:
    """Return the text with LF line breaks and all offsets unchanged."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def after_line(text: str, at: int) -> int:
    """Return the start of the next line, given the end of a line."""
    if text.startswith("\r\n", at):
        return at + 2
    return at + 1 if text[at : at + 1] in ("\n", "\r") else at


def _candidates(text: str, dialect: Dialect) -> Iterator[Marker]:
    for found in _CANDIDATES[dialect].finditer(text):
        start = found.start()
        line = found[0].rstrip(" \t\r\f\v")
        if "[" in line:
            marker = read_marker(line, dialect)
            if marker is not None:
                yield marker.shift(start)
        else:
            role = Span(*found.span(1))
            yield Marker(found[1].lower(), (), Span(start, start + len(line)), role)


def _deeper_below(text: str, marker: Marker) -> bool:
    """Return whether the next nonblank line is indented deeper than the marker's word."""
    line_start = text.rfind("\n", 0, marker.role_span.start) + 1
    indent = marker.role_span.start - line_start
    at = text.find("\n", marker.span.end)
    while at >= 0:
        end = text.find("\n", at + 1)
        line = text[at + 1 : len(text) if end < 0 else end]
        if line.strip():
            return len(line) - len(line.lstrip(" ")) > indent
        at = end
    return False
