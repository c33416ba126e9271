"""Format a prompt file without changing its meaning."""

import re
from collections.abc import Callable, Iterator

from studio.core.prompty.checks.markers import tidy_marker
from studio.core.prompty.document import PromptDocument, first_unreadable
from studio.core.text.source import Span, TextEdit
from studio.core.text.values import KeyPath

_TRAILING = re.compile(r"(?<![ \t])[ \t]+(?=\r?\n|\Z)")

Tidy = Callable[[PromptDocument], Iterator[TextEdit]]
"""Function that yields the edits of one kind of formatting."""


def tidy_edits(document: PromptDocument) -> tuple[TextEdit, ...]:
    """Return the safe edits: messages and values of the front matter stay the same."""
    found: list[TextEdit] = []
    if first_unreadable(document) is not None:
        return ()
    for tidy in TIDIES:
        found += tidy(document)
    kept: list[TextEdit] = []
    for edit in sorted(found, key=lambda item: (item.span.start, item.span.end)):
        if not kept or edit.span.start >= kept[-1].span.end:
            kept.append(edit)
    return tuple(kept)


def _front_matter_blanks(document: PromptDocument) -> Iterator[TextEdit]:
    """Yield edits that remove trailing blanks in front matter, except inside multiline values."""
    front = document.front_matter
    if front is None:
        return
    text = document.source.text
    long_values = [
        entry.value
        for entry in document.entries
        if text[entry.value.start : entry.value.start + 1] in ("|", ">", '"', "'")
        or (
            "\n" in text[entry.value.start : entry.value.end]
            and not _has_children(document, entry.path)
        )
    ]
    for found in _TRAILING.finditer(text, front.start, front.end):
        if not any(span.start <= found.start() < span.end + 1 for span in long_values):
            yield TextEdit(Span(*found.span()), "")


def _has_children(document: PromptDocument, path: KeyPath) -> bool:
    return any(entry.path[: len(path)] == path and entry.path != path for entry in document.entries)


def _markers(document: PromptDocument) -> Iterator[TextEdit]:
    """Yield edits that give role markers their standard form, without blanks after them."""
    text = document.source.text
    for section in document.sections:
        if section.marker is None:
            continue
        end = section.marker.end
        while text[end : end + 1] in (" ", "\t"):
            end += 1
        line = text[section.marker.start : end]
        tidy = tidy_marker(line)
        if tidy != line:
            yield TextEdit(Span(section.marker.start, end), tidy)


def _blank_lines_between_sections(document: PromptDocument) -> Iterator[TextEdit]:
    """Yield edits that leave at most one empty line before a marker; lines with blanks stay."""
    text = document.source.text
    for section in document.sections:
        if section.marker is None:
            continue
        start = section.marker.start
        at = start
        while at > document.body.start and text[at - 1] in "\r\n":
            at -= 1
        gap = text[at:start]
        newline = "\r\n" if "\r\n" in gap else "\n"
        if gap.count("\n") > 2 and at > document.body.start:
            yield TextEdit(Span(at, start), newline * 2)


def _last_line(document: PromptDocument) -> Iterator[TextEdit]:
    """Yield an edit that leaves exactly one line break at the end of the file."""
    text = document.source.text
    if not text.strip("\ufeff\r\n"):
        return
    end = len(text.rstrip("\r\n"))
    newline = "\r\n" if "\r\n" in text else "\n"
    if text[end:] != newline:
        yield TextEdit(Span(end, len(text)), newline)


TIDIES: tuple[Tidy, ...] = (
    _front_matter_blanks,
    _markers,
    _blank_lines_between_sections,
    _last_line,
)
"""All kinds of formatting."""
