"""Find the role markers of a body, and the sections they begin."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

from studio.core.prompty.body.roles import ROLES, Marker, read_marker
from studio.core.prompty.document import BodySection, Dialect
from studio.core.text.span import Span

YAML_TYPES = ("tool_call",)
"""Values of the attribute `type` whose section holds YAML (section dialect)."""

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
    """Every role marker of a text, in order.

    Section dialect: markers inside a closed code fence are text, and so is `function:` or
    `tools:` with deeper lines under it inside a section that holds YAML
    (docs/design/file-format.md).
    """
    return list(_markers(plain_newlines(text), dialect))


@lru_cache(maxsize=4)
def _markers(text: str, dialect: Dialect) -> tuple[Marker, ...]:
    """The markers, remembered: the dialect, the sections and the checks ask about one text."""
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
    """The sections that markers cut a body into; text before the first is one with no role.

    Args:
        markers: As `find_markers(text, …)` gave them.
        text: The body.
        offset: Where the body starts in the source.
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
    """The closed code fences of a Markdown text, their fence lines included.

    A fence that is never closed protects nothing: prompts end in an open fence on purpose, and
    one forgotten fence must not swallow every marker after it.
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
    """Whether a place is inside one of some ranges, which are in order and do not overlap."""
    index = bisect_right(ranges, at, key=lambda span: span.start) - 1
    return index >= 0 and at < ranges[index].end


def plain_newlines(text: str) -> str:
    """The text with each line end as LF, every character still at its place."""
    if "\r" not in text:
        return text
    return text.replace("\r\n", " \n").replace("\r", "\n")


def after_line(text: str, at: int) -> int:
    """The start of the line after a line's end at `at`."""
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
    """Whether the next line with text is indented deeper than the marker's word."""
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
