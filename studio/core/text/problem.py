"""Problems: what is wrong, where, and what can be done about it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from studio.core.text.source import Span


class Severity(StrEnum):
    """The severity of a problem."""

    ERROR = "error"
    """The prompt does not mean what it says, or cannot be sent."""

    WARNING = "warning"
    """It works, and probably not as intended."""

    HINT = "hint"
    """Worth knowing."""


@dataclass(frozen=True, slots=True)
class TextEdit:
    """Replace one span of the source by another text."""

    span: Span
    """Range that is replaced; an empty one inserts."""

    text: str
    """New text."""


@dataclass(frozen=True, slots=True)
class Fix:
    """A change that fixes a problem, offered and never made unasked."""

    title: str
    """Effect of the fix, for a button: "Declare input 'city'"."""

    edits: tuple[TextEdit, ...]
    """Edits to the document's own text, not overlapping."""

    def shift(self, by: int) -> Fix:
        """The same fix, `by` code points further on."""
        return Fix(
            self.title, tuple(TextEdit(edit.span.shift(by), edit.text) for edit in self.edits)
        )


@dataclass(frozen=True, slots=True)
class Problem:
    """One finding of a check."""

    code: str
    """Stable identifier, lower-case words joined by hyphens ("undeclared-variable")."""

    severity: Severity
    """Severity of the problem."""

    message: str
    """One plain sentence: what is wrong and what to do."""

    span: Span
    """Place in the document's source text."""

    fixes: tuple[Fix, ...] = ()
    """Ways to fix it, the best first."""


@dataclass(frozen=True, slots=True)
class Mistake:
    """A syntax mistake, explained; its caller makes a problem of it."""

    message: str
    """Description of the problem, without a full stop."""

    span: Span
    """Place in offsets of the text that was read."""

    fixes: tuple[Fix, ...] = ()
    """Possible fixes, in the same offsets."""

    def shift(self, by: int) -> Mistake:
        """The same mistake, `by` code points further on."""
        fixes = tuple(fix.shift(by) for fix in self.fixes)
        return Mistake(self.message, self.span.shift(by), fixes)


def fixable(message: str, span: Span, title: str, text: str, *place: int) -> Mistake:
    """Return a mistake that one edit fixes.

    Args:
        message: What is wrong, without a full stop.
        span: Where.
        title: What the fix does, as a button says it.
        text: What the fix writes.
        place: Where it writes: one offset to insert at, or the start and the end of what it
            replaces; the span where none is given.
    """
    edit = TextEdit(Span(place[0], place[-1]) if place else span, text)
    return Mistake(message, span, (Fix(title, (edit,)),))


def apply_edits(text: str, edits: Iterable[TextEdit]) -> str:
    """Apply edits that do not overlap; all spans count in the text before any edit.

    Raises:
        ValueError: two edits overlap, or one lies outside the text.
    """
    pieces: list[str] = []
    done = 0
    for edit in sort_edits(edits):
        if edit.span.start < done or edit.span.end > len(text) or edit.span.end < edit.span.start:
            raise ValueError(f"edit at {edit.span.start}-{edit.span.end} overlaps or lies outside")
        pieces += (text[done : edit.span.start], edit.text)
        done = edit.span.end
    pieces.append(text[done:])
    return "".join(pieces)


def sort_edits(edits: Iterable[TextEdit]) -> Sequence[TextEdit]:
    """Edits in the order of their places; insertions at one place keep their given order."""
    return sorted(edits, key=lambda edit: (edit.span.start, edit.span.end))
