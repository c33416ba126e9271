"""What differs between two conversations: message by message, then line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from functools import partial
from pathlib import Path
from typing import Literal, TypeAlias

from studio.application.preview.build import PreviewJob, prepare_order
from studio.application.preview.copy import message_as_text
from studio.application.words import translate
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import Message
from studio.core.prompty.parse import parse
from studio.core.text.span import Span
from studio.core.text.values import Json

_tr = partial(translate, "PreviewDiff")

LineKind: TypeAlias = Literal["same", "added", "removed", "left-out"]

_MOST_LINES = 4_000
_MOST_SHOWN = 2_000
_AROUND = 3


@dataclass(frozen=True, slots=True)
class ConversationSide:
    """One of the two conversations that are compared."""

    title: str
    """For people."""

    values: Mapping[str, Json] | None = None
    """The input values; `None` for those of the inputs pane."""

    is_saved: bool = False
    """Whether the text is the file's last saved one, not the editor's."""


@dataclass(frozen=True, slots=True)
class Pair:
    """What is compared with what."""

    before: ConversationSide
    """The one whose own lines are shown as gone."""

    after: ConversationSide
    """The one whose own lines are shown as new."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line."""

    kind: LineKind
    """Whether it is in both, in one of them, or stands for lines that are not shown."""

    text: str
    """The line."""


@dataclass(frozen=True, slots=True)
class MessageDiff:
    """One message that differs."""

    title: str
    """Role and number."""

    lines: tuple[DiffLine, ...]
    """Its lines, those around the changes too."""

    span: Span | None = None
    """Where the message is written in the editor; `None` where it is not."""

    is_after: bool = True
    """Whether the second side has it."""


@dataclass(frozen=True, slots=True)
class ConversationComparison:
    """What differs."""

    pair: Pair
    """What was compared."""

    messages: tuple[MessageDiff, ...] = ()
    """The messages that differ, in order."""

    unchanged: int = 0
    """How many messages are the same."""

    problem: str = ""
    """Why nothing could be compared."""


class _UnsavedError(Exception):
    """There is no saved text; the message says why, for people."""


def compare(order: PreviewJob, pair: Pair) -> ConversationComparison:
    """Compare the messages of two sides; reads the saved file, so for a worker."""
    try:
        before, after = _messages(order, pair.before), _messages(order, pair.after)
    except _UnsavedError as error:
        return ConversationComparison(pair, problem=str(error))
    changed = tuple(_changes(before, after, pair))
    shared = sum(1 for item in changed if item.is_after)
    return ConversationComparison(pair, changed, max(0, len(after) - shared))


def _messages(order: PreviewJob, side: ConversationSide) -> tuple[Message, ...]:
    document = _saved(order.document) if side.is_saved else order.document
    values = order.inputs if side.values is None else side.values
    return prepare_order(replace(order, document=document, inputs=values))[0].messages.messages


def _saved(document: PromptDocument) -> PromptDocument:
    path = document.source.path
    if path is None:
        raise _UnsavedError(_tr("The prompt has not been saved yet."))
    try:
        return parse(path.read_text(encoding="utf-8-sig", errors="replace"), Path(path))
    except OSError as error:
        raise _UnsavedError(
            _tr("The saved file cannot be read: {reason}.").format(reason=error.strerror)
        ) from error


def _changes(
    before: tuple[Message, ...], after: tuple[Message, ...], pair: Pair
) -> Iterator[MessageDiff]:
    old = [message_as_text(item) for item in before]
    new = [message_as_text(item) for item in after]
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for index in range(max(b - a, d - c)):
            was = before[a + index] if a + index < b else None
            here = after[c + index] if c + index < d else None
            lines = _lines(old[a + index] if was else "", new[c + index] if here else "")
            if here is not None:
                title = _tr("{role}, message {number}").format(role=here.role, number=c + index + 1)
                title += "" if was is not None else _tr(", only there now")
            else:
                title = _tr("{role}, message {number}, no longer there").format(
                    role=before[a + index].role, number=a + index + 1
                )
            # Places of the saved text are not those of the editor's.
            source = was if pair.after.is_saved else here
            if pair.after.is_saved and pair.before.is_saved:
                source = None
            origin = source.origin if source is not None else None
            span = (origin.marker or origin.span) if origin is not None else None
            yield MessageDiff(title, tuple(lines), span, here is not None)


def _lines(left: str, right: str) -> Iterator[DiffLine]:
    old, new = left.splitlines()[:_MOST_LINES], right.splitlines()[:_MOST_LINES]
    shown = 0
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind == "equal":
            found = list(_unchanged(old[a:b], is_first=a == 0, is_last=b == len(old)))
        else:
            found = [DiffLine("removed", line) for line in old[a:b]]
            found += [DiffLine("added", line) for line in new[c:d]]
        yield from found[: _MOST_SHOWN - shown]
        shown += len(found)
        if shown > _MOST_SHOWN:
            yield DiffLine("left-out", _tr("The rest is not shown."))
            return


def _unchanged(lines: list[str], *, is_first: bool, is_last: bool) -> Iterator[DiffLine]:
    """Lines that are the same: the few beside a change, and how many more there are."""
    head = 0 if is_first else _AROUND
    tail = 0 if is_last else _AROUND
    if len(lines) <= head + tail + 1:
        yield from (DiffLine("same", line) for line in lines)
        return
    yield from (DiffLine("same", line) for line in lines[:head])
    yield DiffLine(
        "left-out",
        _tr("{number:,} lines are the same").format(number=len(lines) - head - tail),
    )
    yield from (DiffLine("same", line) for line in lines[len(lines) - tail :])
