"""Two sides of a prompt compared: its text, its messages one by one, and the request."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path

from studio.application.comparison import (
    ComparedPart,
    compare_for_taking_back,
    compare_texts,
)
from studio.application.preview.build import build_preview, prepare_job
from studio.application.preview.copy import message_as_text
from studio.application.preview.requests import provider_for, request_of
from studio.application.preview.value import PreviewJob
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import Message
from studio.core.prompty.parse import parse
from studio.core.text.bounded_file import read_text
from studio.core.text.diff import changes
from studio.core.text.values import Json

_MOST_ROWS = 2_000
"""Rows of a message; they are drawn anew after each pause in typing."""


@dataclass(frozen=True, slots=True)
class ConversationSide:
    """One of the two conversations that are compared."""

    title: str
    """For people."""

    values: Mapping[str, Json] | None = None
    """The input values; `None` for those of the inputs pane."""

    is_saved: bool = False
    """Whether the text is the file's last saved one, not the editor's."""

    text: str | None = None
    """The text, where it is an earlier one."""

    @property
    def is_editor(self) -> bool:
        """Whether its text is the editor's."""
        return not self.is_saved and self.text is None


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared with what."""

    before: ConversationSide
    """The one whose own lines are shown as gone."""

    after: ConversationSide
    """The one whose own lines are shown as new."""


@dataclass(frozen=True, slots=True)
class ConversationComparison:
    """What differs."""

    pair: Pair
    """What was compared."""

    messages: tuple[ComparedPart, ...] = ()
    """The messages that differ, in order."""

    unchanged: int = 0
    """How many messages are the same."""

    problem: str = ""
    """Why nothing could be compared."""


@dataclass(frozen=True, slots=True)
class PromptComparison:
    """What differs between two sides, whole; each is empty where nothing does."""

    text: tuple[ComparedPart, ...]
    """Of the file; of the values, where it is inputs that are compared."""

    messages: tuple[ComparedPart, ...]
    """Of the messages that differ, in order."""

    request: tuple[ComparedPart, ...]
    """Of the body that a model would get."""


class _UnsavedError(Exception):
    """There is no saved text; the message says why, for people."""


def compare(order: PreviewJob, pair: Pair) -> ConversationComparison:
    """Compare the messages of two sides; reads the saved file, so for a worker."""
    try:
        sides = [_of_side(order, side) for side in (pair.before, pair.after)]
    except _UnsavedError as error:
        return ConversationComparison(pair, problem=str(error))
    before, after = (prepare_job(side)[0].messages.messages for side in sides)
    return ConversationComparison(pair, *_changes(before, after, pair))


def compare_whole(order: PreviewJob, pair: Pair) -> PromptComparison:
    """Compare texts, messages and requests of two sides whose texts are at hand; for a worker."""
    sides = [_of_side(order, side) for side in (pair.before, pair.after)]
    before, after = map(build_preview, sides)
    texts = [side.document.source.text for side in sides]
    bodies = [request_of(made, provider_for(made)).text for made in (before, after)]
    messages, _ = _changes(before.messages.messages, after.messages.messages, pair)
    unlinked = tuple(replace(part, span=None) for part in messages)
    return PromptComparison(compare_for_taking_back(*texts), unlinked, _part(*bodies))


def compare_inputs(order: PreviewJob, pair: Pair) -> PromptComparison:
    """Compare two sides of one text by their values, messages and requests; for a worker."""
    found = compare_whole(order, pair)
    values = [
        json.dumps(
            dict(order.inputs if side.values is None else side.values), ensure_ascii=False, indent=2
        )
        for side in (pair.before, pair.after)
    ]
    return replace(found, text=_part(*values))


def _part(before: str, after: str) -> tuple[ComparedPart, ...]:
    rows = compare_texts(before, after)
    return (ComparedPart("", rows),) if rows else ()


def _of_side(order: PreviewJob, side: ConversationSide) -> PreviewJob:
    document = order.document
    if side.text is not None:
        document = parse(side.text, document.source.path)
    elif side.is_saved:
        document = _saved(document)
    values = order.inputs if side.values is None else side.values
    return replace(order, document=document, inputs=values)


def _saved(document: PromptDocument) -> PromptDocument:
    path = document.source.path
    if path is None:
        raise _UnsavedError(tr("The prompt has not been saved yet."))
    try:
        return parse(read_text(path, encoding="utf-8-sig", errors="replace"), Path(path))
    except OSError as error:
        raise _UnsavedError(
            tr("The saved file cannot be read: {reason}.").format(reason=error.strerror)
        ) from error


def _changes(
    before: tuple[Message, ...], after: tuple[Message, ...], pair: Pair
) -> tuple[tuple[ComparedPart, ...], int]:
    """The messages that differ, and how many are the same."""
    old = [message_as_text(item) for item in before]
    new = [message_as_text(item) for item in after]
    parts: list[ComparedPart] = []
    same = len(after)
    for kind, a, b, c, d in changes(old, new):
        if kind == "equal":
            continue
        same -= d - c
        for index in range(max(b - a, d - c)):
            was = before[a + index] if a + index < b else None
            here = after[c + index] if c + index < d else None
            rows = compare_texts(
                old[a + index] if was else "", new[c + index] if here else "", _MOST_ROWS
            )
            if here is not None:
                title = tr("{role}, message {number}").format(role=here.role, number=c + index + 1)
                title += "" if was is not None else tr(", only there now")
            else:
                title = tr("{role}, message {number}, no longer there").format(
                    role=before[a + index].role, number=a + index + 1
                )
            # Only places of the editor's text can be shown in the editor.
            source = here if pair.after.is_editor else was if pair.before.is_editor else None
            origin = source.origin if source is not None else None
            span = (origin.marker or origin.span) if origin is not None else None
            parts.append(ComparedPart(title, rows, span))
    return tuple(parts), same
