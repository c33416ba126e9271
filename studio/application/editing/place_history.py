"""History of caret positions, to go back and forward."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_NEAR = 10
"""Lines: a move within them is no jump, as in other editors."""
_MOST = 100


@dataclass(frozen=True, slots=True)
class TextPlace:
    """A place in a text."""

    document: str
    """The open document's identifier."""

    path: Path | None
    """Its file, where it has one: it is opened again."""

    line: int
    """Line of the caret, from 0."""

    offset: int
    """The caret's place in the text."""


@dataclass(frozen=True, slots=True)
class RunPlace:
    """A run that was looked at."""

    run: str
    """Its identifier in the history."""


VisitedPlace = TextPlace | RunPlace


class PlaceHistory:
    """The places that were visited, in order, and which of them is the present one."""

    def __init__(self) -> None:
        self._places: list[VisitedPlace] = []
        self._at = -1
        self._leaves = False

    def leave(self) -> None:
        """Note a jump: the next place is another one if its line is, however near."""
        self._leaves = True

    def visit(self, place: VisitedPlace) -> None:
        """Note the user's place: a new one after a jump, else the present one moves along."""
        lines = 0 if self._leaves else _NEAR
        self._leaves = False
        if self._at >= 0 and _is_near(self._places[self._at], place, lines):
            self._places[self._at] = place
            return
        del self._places[self._at + 1 :]
        self._places.append(place)
        del self._places[: len(self._places) - _MOST]
        self._at = len(self._places) - 1

    def step(self, by: int) -> VisitedPlace | None:
        """Go back (-1) or forward (1); None where there is nothing more."""
        if not 0 <= self._at + by < len(self._places):
            return None
        self._at += by
        return self._places[self._at]

    def forget(self, place: VisitedPlace) -> None:
        """Take out a place that cannot be gone to any more."""
        index = self._places.index(place)
        del self._places[index]
        if index <= self._at:
            self._at -= 1


def _is_near(one: VisitedPlace, other: VisitedPlace, lines: int) -> bool:
    if isinstance(one, TextPlace) and isinstance(other, TextPlace):
        return one.document == other.document and abs(one.line - other.line) <= lines
    return one == other
