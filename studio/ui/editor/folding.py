"""Which lines can be folded away: a pure reading of the document."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument

_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")


@dataclass(frozen=True, slots=True)
class Fold:
    """Lines that can hide behind their first line."""

    first: int
    """The line that stays, from 0."""

    last: int
    """The last line that goes away."""

    summary: str = ""
    """What it is, for the accessible name."""


def folds(document: PromptDocument) -> tuple[Fold, ...]:
    """Front matter, its blocks, role sections and fenced code, in the order of their lines."""
    lines = document.source.text.split("\n")
    found: dict[int, Fold] = {}
    for fold in (*_front_matter(document, lines), *_sections(document, lines), *_fences(lines)):
        if fold.last > fold.first and fold.first not in found:
            found[fold.first] = fold
    return tuple(sorted(found.values(), key=lambda fold: fold.first))


def _front_matter(document: PromptDocument, lines: list[str]) -> list[Fold]:
    if document.front_matter is None:
        return []
    source = document.source
    first = source.line_of(document.front_matter.start)
    last = source.line_of(max(document.front_matter.start, document.front_matter.end - 1))
    found = [Fold(max(0, first - 1), last, QCoreApplication.translate("Folding", "front matter"))]
    for entry in document.entries:
        line = source.line_of(entry.key.start)
        end = line
        indent = _indent(lines[line]) if line < len(lines) else 0
        for number in range(line + 1, min(last + 1, len(lines))):
            if lines[number].strip() and _indent(lines[number]) <= indent:
                break
            if lines[number].strip():
                end = number
        found.append(Fold(line, end, str(entry.path[-1]) if entry.path else ""))
    return found


def _sections(document: PromptDocument, lines: list[str]) -> list[Fold]:
    source = document.source
    found = []
    for section in document.sections:
        if section.marker is None:
            continue
        first = source.line_of(section.marker.start)
        last = source.line_of(max(section.span.start, section.span.end - 1))
        while last > first and not lines[min(last, len(lines) - 1)].strip():
            last -= 1
        found.append(Fold(first, last, section.role))
    return found


def _fences(lines: list[str]) -> list[Fold]:
    found = []
    opened: tuple[int, str] | None = None
    for number, line in enumerate(lines):
        match = _FENCE.match(line)
        if match is None:
            continue
        if opened is None:
            opened = (number, match[1])
        elif match[1].startswith(opened[1]) and not line.strip().strip(opened[1][0]):
            found.append(Fold(opened[0], number, "code"))
            opened = None
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))
