"""Progress of reading a large description, and its cancellation."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

LARGE = 1_000_000
"""Characters of a description from which the progress of reading is reported."""

_PARTS = 50  # of a stage, of which each is told


@dataclass(frozen=True, slots=True)
class ReadingProgress:
    """The progress of reading a description."""

    name: str
    """Its file's name, or its address."""

    stage: Literal["fetched", "read", "operations"]
    """Unit of the count: bytes from its address, characters of its text that are read, or
    operations that are turned into tools."""

    done: int
    """Number that is done."""

    whole: int
    """Number in total; 0 if unknown."""


TellProgress: TypeAlias = Callable[[ReadingProgress | None], None]
"""Callback for the progress of a reading, from any thread; None at its end."""


def tell_nobody(_: ReadingProgress | None) -> None:
    """Take no notice."""


class ReadingStoppedError(Exception):
    """The user stopped the reading."""


class DescriptionReading:
    """One reading: says how far it is, in steps worth looking at, and can be stopped."""

    def __init__(self, name: str, tell: TellProgress = tell_nobody) -> None:
        """Begin.

        Args:
            name: the description's, for people.
            tell: is told of a large one how far its reading is.
        """
        self._name = name
        self._tell = tell
        self._next = 0
        self._stage = ""
        self.is_large = False
        """Whether the description is large enough for a progress report."""
        self.is_stopped = False
        """Whether it was stopped."""
        self._is_reported = False
        self._is_over = False

    def fetched(self, done: int, whole: int) -> None:
        """So many bytes came from its address, of so many; 0 where the server does not say."""
        self.is_large = max(done, whole) >= LARGE
        self._reached("fetched", done, whole)

    def read(self, done: int, whole: int) -> None:
        """So many characters are read."""
        self.is_large = whole >= LARGE
        self._reached("read", done, whole)

    def made(self, done: int, whole: int) -> None:
        """So many operations are made tools."""
        self._reached("operations", done, whole)

    def stop(self) -> None:
        """Let the next step end the reading; may be called from any thread."""
        self.is_stopped = True

    def end(self) -> None:
        """It is over, whatever came of it."""
        self._is_over = True
        if self._is_reported:
            self._tell(None)

    def _reached(
        self, stage: Literal["fetched", "read", "operations"], done: int, whole: int
    ) -> None:
        if self.is_stopped:
            raise ReadingStoppedError
        if stage != self._stage:
            self._stage, self._next = stage, 0
        if self.is_large and done >= self._next:
            self._next = done + (whole // _PARTS or LARGE)
            self._is_reported = True
            self._tell(ReadingProgress(self._name, stage, done, whole))
            if self._is_over:  # another thread told of the end meanwhile: that is told last
                self._tell(None)
