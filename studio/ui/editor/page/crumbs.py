"""The path to the caret in a prompt, read from the document."""

from __future__ import annotations

import re
from bisect import bisect_right
from dataclasses import dataclass

from studio.core.prompty.document import FrontMatterEntry, PromptDocument
from studio.core.prompty.yaml.tree import KeyPath
from studio.core.text.amounts import shortened
from studio.core.text.source import Span

_LEAD = re.compile(r" *(?:- +)*")
_LONGEST = 36
_MOST = 200


@dataclass(frozen=True, slots=True)
class Crumb:
    """One step of the way, and one choice of a menu of steps."""

    label: str
    """Label of the step; empty for the whole front matter and for text before any marker."""

    place: Span
    """Start in the text."""

    path: KeyPath | None = None
    """The key's path; None for a section of the body."""

    summary: str = ""
    """Start of a section's text."""


def crumbs_at(document: PromptDocument, offset: int) -> tuple[Crumb, ...]:
    """Return the way to a place: the front matter and its keys, or the section of the body."""
    if document.front_matter is not None and offset < document.body.start:
        front = _front(document)
        offset = max(offset, _text_begins(document, offset))
        index = bisect_right(document.entries, offset, key=lambda entry: entry.key.start) - 1
        if index < 0:
            return (front,)
        path = document.entries[index].path
        steps = [document.entry(*path[: depth + 1]) for depth in range(len(path))]
        return (front, *(_key(document, step) for step in steps if step is not None))
    index = bisect_right(document.sections, offset, key=lambda each: each.span.start) - 1
    return (_section(document, index),) if index >= 0 else ()


def _text_begins(document: PromptDocument, offset: int) -> int:
    """Return the start of the line's key: a caret in the indent is on the key."""
    text = document.source.text
    lead = _LEAD.match(text, text.rfind("\n", 0, offset) + 1)
    return lead.end() if lead is not None else offset


def beside(document: PromptDocument, crumb: Crumb) -> tuple[Crumb, ...]:
    """Return the siblings of a crumb, in the order of the text."""
    if crumb.path:
        parent = crumb.path[:-1]
        found = [
            _key(document, entry)
            for entry in document.entries
            if len(entry.path) == len(crumb.path) and entry.path[:-1] == parent
        ]
    else:
        found = [_front(document)] if document.front_matter is not None else []
        found += [_section(document, index) for index in range(len(document.sections))]
    return tuple(found[:_MOST])


def _front(document: PromptDocument) -> Crumb:
    start = document.front_matter.start if document.front_matter is not None else 0
    return Crumb("", Span(start, start), ())


def _key(document: PromptDocument, entry: FrontMatterEntry) -> Crumb:
    return Crumb(key_label(document, entry.path), entry.key, entry.path)


def key_label(document: PromptDocument, path: KeyPath) -> str:
    """Return a key as people call it; an item of a list goes by its name."""
    key = path[-1]
    if isinstance(key, str):
        return shortened(key, _LONGEST)
    named = document.entry(*path, "name") or document.entry(*path, "id")
    words = document.source.slice(named.value).strip("\"' ") if named is not None else ""
    return shortened(words, _LONGEST) if words else f"[{key}]"


def _section(document: PromptDocument, index: int) -> Crumb:
    section = document.sections[index]
    text = document.source.text
    content = section.content
    summary = text[content.start : min(content.end, content.start + 200)].strip()
    place = section.marker or section.content
    return Crumb(section.role, place, None, shortened(summary.split("\n", 1)[0], _LONGEST))
