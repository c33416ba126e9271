"""The structure of a prompt: folding ranges, and the ranges for growing a selection."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from studio.application.words import tr
from studio.core.text.source import Span

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument

_LONG_FRONT = 10
"""Number of lines from which front matter is folded when a prompt opens."""
_FENCE = re.compile(r"^[^\S\n]{0,3}(?P<mark>`{3,}|~{3,})(?P<rest>.*)", re.MULTILINE)
_WORD = re.compile(r"[\w-]+")
_INSIDE = re.compile(
    r"\A(\{\{\{?|\{%)[-+#^/&]?\s*(?P<inside>.*?)\s*[-+]?(\}?\}\}|%\})\Z", re.DOTALL
)


@dataclass(frozen=True, slots=True)
class FoldingRange:
    """Lines that can be folded into their first line."""

    first: int
    """First line, which stays visible, from 0."""

    last: int
    """Last hidden line."""

    summary: str = ""
    """Summary for the accessible name."""


def folds(document: PromptDocument) -> tuple[FoldingRange, ...]:
    """Return the folding ranges of front matter, its blocks, role sections and fenced code."""
    lines = document.source.text.split("\n")
    found: dict[int, FoldingRange] = {}
    for fold in (
        *_front_matter(document, lines),
        *_sections(document, lines),
        *_fences(document.source.text),
    ):
        if fold.last > fold.first and fold.first not in found:
            found[fold.first] = fold
    return tuple(sorted(found.values(), key=lambda fold: fold.first))


def _front_matter(document: PromptDocument, lines: list[str]) -> list[FoldingRange]:
    if document.front_matter is None:
        return []
    source = document.source
    first = source.line_of(document.front_matter.start)
    last = source.line_of(max(document.front_matter.start, document.front_matter.end - 1))
    closing = last + 1 if lines[last + 1 : last + 2] == ["---"] else last
    found = [FoldingRange(max(0, first - 1), closing, tr("front matter"))]
    for entry in document.entries:
        line = source.line_of(entry.key.start)
        end = line
        indent = _indent(lines[line]) if line < len(lines) else 0
        for number in range(line + 1, min(last + 1, len(lines))):
            if lines[number].strip() and _indent(lines[number]) <= indent:
                break
            if lines[number].strip():
                end = number
        found.append(FoldingRange(line, end, str(entry.path[-1]) if entry.path else ""))
    return found


def front_facts(document: PromptDocument) -> tuple[str, tuple[str, ...]]:
    """Return the line shown for folded front matter: the prompt's name and its parts."""
    counts = (
        (len(document.inputs), tr("1 input"), tr("{n} inputs")),
        (len(document.tools), tr("1 tool"), tr("{n} tools")),
    )
    facts = [one if count == 1 else many.format(n=count) for count, one, many in counts if count]
    name = document.data.get("name")
    if not facts:
        facts = [tr("front matter")]
    return (name if isinstance(name, str) else "", tuple(facts))


def long_front_matter(document: PromptDocument) -> FoldingRange | None:
    """Return the folding range of front matter that would fill the first screen."""
    found = _front_matter(document, document.source.text.split("\n"))[:1]
    return next((fold for fold in found if fold.last - fold.first >= _LONG_FRONT), None)


def _sections(document: PromptDocument, lines: list[str]) -> list[FoldingRange]:
    source = document.source
    found = []
    for section in document.sections:
        if section.marker is None:
            continue
        first = source.line_of(section.marker.start)
        last = source.line_of(max(section.span.start, section.span.end - 1))
        while last > first and not lines[min(last, len(lines) - 1)].strip():
            last -= 1
        found.append(FoldingRange(first, last, section.role))
    return found


def _fences(text: str) -> list[FoldingRange]:
    found = []
    opened: tuple[int, str] | None = None
    line = at = 0
    for match in _FENCE.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        mark = match["mark"]
        if opened is None:
            opened = (line, mark)
        elif mark.startswith(opened[1]) and not match["rest"].strip():
            found.append(FoldingRange(opened[0], line, "code"))
            opened = None
    return found


def _indent(line: str) -> int:
    return len(line) - len(line.lstrip(" "))


def next_larger(document: PromptDocument, chosen: Span) -> Span:
    """Return the smallest range that is larger than the selection; the selection if none is.

    From the inside out: word, value, expression, tag, line, key, section, body, all.
    """
    larger = [
        span
        for span in _around(document, chosen)
        if span.start <= chosen.start and chosen.end <= span.end and span != chosen
    ]
    return min(larger, key=lambda span: span.end - span.start, default=chosen)


def _around(document: PromptDocument, chosen: Span) -> Iterator[Span]:
    text = document.source.text
    first = text.rfind("\n", 0, chosen.start) + 1
    last = text.find("\n", chosen.end)
    last = len(text) if last < 0 else last
    for word in _WORD.finditer(text, first, last):
        yield Span(*word.span())
    line = text[first:last]
    yield Span(first + len(line) - len(line.lstrip()), first + len(line.rstrip()))
    tags = {variable.expression for variable in document.variables}
    tags |= {use.expression for use in document.fields}
    for tag in tags:
        yield tag
        inside = _INSIDE.match(text[tag.start : tag.end])
        if inside is not None:
            yield Span(*inside.span("inside")).shift(tag.start)
    for use in document.fields:
        root = next((v for v in document.variables if v.expression == use.expression), None)
        if root is not None and root.span.start <= use.span.start:
            yield Span(root.span.start, use.span.end)
    for entry in document.entries:
        yield entry.value
        yield Span(entry.key.start, max(entry.key.end, entry.value.end))
    yield from _paragraphs(text, chosen)
    for section in document.sections:
        yield _trimmed(text, section.content)
        yield _trimmed(text, section.span)
    if document.front_matter is not None:
        yield document.front_matter
    yield document.body
    yield Span(0, len(text))


def _paragraphs(text: str, chosen: Span) -> Iterator[Span]:
    """Yield the paragraphs, which are separated by blank lines."""
    first = text.rfind("\n\n", 0, chosen.start)
    last = text.find("\n\n", chosen.end)
    yield Span(first + 2 if first >= 0 else 0, last if last >= 0 else len(text))


def _trimmed(text: str, span: Span) -> Span:
    written = text[span.start : span.end]
    return Span(span.start, span.start + len(written.rstrip()))
