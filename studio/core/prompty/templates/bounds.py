"""How much a template may do: no template can hang the studio or eat its memory."""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

_LEAST = 25
_LEAVES = frozenset((str, int, float, bool, type(None)))


@dataclass(frozen=True, slots=True)
class Bounds:
    """Limits of one rendering; going over one is a problem, never a hang or a crash."""

    template: int = 5_000_000
    """Length of the template in code points."""

    output: int = 5_000_000
    """Length of the rendered text in code points."""

    value: int = 1_000_000
    """Length of any text, and number of items in any list, that an expression makes."""

    work: int = 10_000_000
    """Code points and items that all expressions together may make."""

    steps: int = 1_000_000
    """Statements run, loop iterations counted each time."""

    depth: int = 50
    """Calls of macros and recursive loops inside each other."""

    seconds: float = 2.0
    """Processor time of the thread that renders: a busy machine changes no result."""


DEFAULT_BOUNDS = Bounds()


class BoundExceededError(Exception):
    """A bound was reached; the text names it for the user."""


class Budget:
    """What is left of the bounds while one template renders."""

    def __init__(self, bounds: Bounds) -> None:
        self.bounds = bounds
        self._steps = bounds.steps
        self._work = bounds.work
        self._output = bounds.output
        self._end = time.thread_time() + bounds.seconds
        self._until_clock = 64

    def step(self) -> None:
        """Count one statement; the clock is read at every 64th."""
        self._steps -= 1
        if self._steps < 0:
            raise BoundExceededError(f"it runs more than {self.bounds.steps:,} steps")
        self._until_clock -= 1
        if self._until_clock <= 0:
            self._until_clock = 64
            self.check_time()

    def check_time(self) -> None:
        """Stop when the time is over."""
        if time.thread_time() > self._end:
            raise BoundExceededError(f"it takes longer than {self.bounds.seconds:g} seconds")

    def write(self, length: int) -> None:
        """Count `length` code points of output; a short piece costs more than its text."""
        self._output -= max(length, _LEAST)
        if self._output < 0:
            raise BoundExceededError(f"its output is longer than {self.bounds.output:,} characters")

    def expect(self, size: int) -> None:
        """Refuse a value of `size` code points or items before it is made."""
        if size > self.bounds.value:
            raise BoundExceededError(f"an expression makes a value of {size:,} characters or items")

    def expect_text(self, value: object, more: int = 0) -> None:
        """Refuse the text of a value, and `more` code points around it, before it is made."""
        self.expect(more + self.weigh_text(value))

    def charge(self, value: object) -> None:
        """Count a value that an expression has made."""
        if isinstance(value, str):
            size = len(value)
        elif isinstance(value, list | tuple | dict | set | frozenset):
            size = self.weigh(value)
        else:
            return
        self.expect(size)
        self._work -= size
        if self._work < 0:
            raise BoundExceededError("its expressions make too many values")
        self._until_clock -= 1 + size // 1_000

    def weigh(self, value: object) -> int:
        """Return the items of a value with all that is in it, each as often as it appears.

        Lists that hold one list twice double with every level while taking no memory, until they
        are printed or compared; so they are weighed where they are made.
        """
        weight = 0
        open_: list[Iterable[object]] = [(value,)]
        while open_:
            for item in open_.pop():
                weight += 1
                kind = type(item)
                if kind in _LEAVES:
                    continue
                if kind is dict or isinstance(item, Mapping):
                    open_.append(item.values())  # type: ignore[attr-defined]
                elif isinstance(item, list | tuple | set | frozenset):
                    open_.append(item)
            if weight > self.bounds.value:
                raise BoundExceededError(
                    f"a list or mapping holds more than {self.bounds.value:,} items"
                )
        return weight

    def weigh_text(self, value: object) -> int:
        """Return about how many code points the text of a value has, with all that is in it.

        A list that holds one long text a thousand times is small; its text is not.

        Raises:
            BoundExceededError: it has more than any value may have.
        """
        weight = 0
        open_: list[Iterable[object]] = [(value,)]
        while open_:
            for item in open_.pop():
                weight += 1
                if isinstance(item, str | bytes):
                    weight += len(item)
                elif isinstance(item, int):
                    weight += item.bit_length() // 3
                elif isinstance(item, Mapping):
                    open_ += [item.keys(), item.values()]
                elif isinstance(item, list | tuple | set | frozenset):
                    open_.append(item)
                if weight > self.bounds.value + 1:
                    raise BoundExceededError(
                        f"an expression makes a text of over {self.bounds.value:,} characters"
                    )
        return weight - 1
