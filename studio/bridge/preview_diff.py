"""What differs between two conversations: message by message, then line by line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import Literal, TypeAlias

from studio.bridge.preview_build import PreviewOrder, build_preview
from studio.bridge.preview_copy import message_as_text
from studio.core.prompty.messages import Message
from studio.core.prompty.parse import parse
from studio.core.text.span import Span
from studio.core.text.values import Json

LineKind: TypeAlias = Literal["same", "added", "removed"]

_MOST_LINES = 4_000


@dataclass(frozen=True, slots=True)
class Against:
    """What the conversation is compared with."""

    title: str
    """For people."""

    values: Mapping[str, Json] | None = None
    """Other input values; `None` for the last saved version of the file."""


@dataclass(frozen=True, slots=True)
class DiffLine:
    """One line."""

    kind: LineKind
    """Whether it is in both, only here, or only in what is compared with."""

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
    """Where the message is written; `None` where it is only in what is compared with."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs."""

    against: Against
    """What was compared with."""

    messages: tuple[MessageDiff, ...] = ()
    """The messages that differ, in order."""

    unchanged: int = 0
    """How many messages are the same."""

    problem: str = ""
    """Why nothing could be compared."""


def compare(order: PreviewOrder, against: Against) -> Comparison:
    """Compare the messages of an order with others; reads the saved file, so for a worker."""
    document, inputs = order.document, order.inputs
    if against.values is None:
        path = document.source.path
        if path is None:
            return Comparison(against, problem="The prompt has not been saved yet.")
        try:
            document = parse(path.read_text(encoding="utf-8-sig", errors="replace"), Path(path))
        except OSError as error:
            return Comparison(against, problem=f"The saved file cannot be read: {error.strerror}.")
    else:
        inputs = against.values
    other = PreviewOrder(document, inputs, order.tools, order.target, revision=order.revision)
    before = build_preview(other).messages.messages
    after = build_preview(order).messages.messages
    changed = tuple(_changes(before, after))
    shared = sum(1 for item in changed if item.span is not None)
    return Comparison(against, changed, max(0, len(after) - shared))


def _changes(before: tuple[Message, ...], after: tuple[Message, ...]) -> Iterator[MessageDiff]:
    old = [message_as_text(item) for item in before]
    new = [message_as_text(item) for item in after]
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if kind == "equal":
            continue
        for index in range(max(b - a, d - c)):
            left = old[a + index] if a + index < b else ""
            here = after[c + index] if c + index < d else None
            right = new[c + index] if here is not None else ""
            if here is not None:
                title = f"{here.role}, message {c + index + 1}"
                span = here.origin.marker or here.origin.span
            else:
                title, span = f"{before[a + index].role}, no longer there", None
            yield MessageDiff(title, tuple(_lines(left, right)), span)


def _lines(left: str, right: str) -> Iterator[DiffLine]:
    old, new = left.splitlines()[:_MOST_LINES], right.splitlines()[:_MOST_LINES]
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind == "equal":
            yield from (DiffLine("same", line) for line in old[a:b])
        else:
            yield from (DiffLine("removed", line) for line in old[a:b])
            yield from (DiffLine("added", line) for line in new[c:d])
