"""Spans of a prompt around a place, from the inside out: what expanding a selection takes next."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.prompty.document import PromptDocument
from studio.core.text.span import Span

_WORD = re.compile(r"[\w-]+")
_INSIDE = re.compile(
    r"\A(\{\{\{?|\{%)[-+#^/&]?\s*(?P<inside>.*?)\s*[-+]?(\}?\}\}|%\})\Z", re.DOTALL
)


def next_larger(document: PromptDocument, chosen: Span) -> Span:
    """The smallest part of the prompt that holds a selection and more; the selection where none.

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
    """The lines without a blank one between them."""
    first = text.rfind("\n\n", 0, chosen.start)
    last = text.find("\n\n", chosen.end)
    yield Span(first + 2 if first >= 0 else 0, last if last >= 0 else len(text))


def _trimmed(text: str, span: Span) -> Span:
    written = text[span.start : span.end]
    return Span(span.start, span.start + len(written.rstrip()))
