"""A sequence that grows at its end and is never changed: what a run's states hold of its past.

Each state of a run holds all steps before it. As tuples, 10,000 steps would copy the square of
their number; a `PersistentList` shares one list between all states of a branch, and its first items
may come from somewhere else (the history) when they are looked at.
"""

from __future__ import annotations

import threading
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Generic, TypeVar, overload

T = TypeVar("T")


class LazySequence(Sequence[T]):
    """A sequence whose items are made, or looked up, one at a time."""

    __slots__ = ()

    @abstractmethod
    def _make(self, index: int) -> T:
        """The item at an index that there is."""

    @overload
    def __getitem__(self, at: int) -> T: ...

    @overload
    def __getitem__(self, at: slice) -> Sequence[T]: ...

    def __getitem__(self, at: int | slice) -> T | Sequence[T]:
        length = len(self)
        if isinstance(at, slice):
            return self._part(range(*at.indices(length)))
        index = at + length if at < 0 else at
        if not 0 <= index < length:
            raise IndexError(f"there is no item {at} of {length}")
        return self._make(index)

    def _part(self, indexes: range) -> Sequence[T]:
        return tuple(map(self._make, indexes))

    def __iter__(self) -> Iterator[T]:
        return map(self._make, range(len(self)))


class _SharedStore(Generic[T]):
    """What several trails share: each of them sees a beginning of it."""

    __slots__ = ("base", "items", "lock")

    def __init__(self, base: Sequence[T], items: list[T]) -> None:
        self.base = base
        self.items = items
        self.lock = threading.Lock()


class PersistentList(LazySequence[T]):
    """An immutable sequence; adding to it costs what is added, whatever its length."""

    __slots__ = ("_held", "_length")

    def __init__(self, items: Iterable[T] = ()) -> None:
        self._held: _SharedStore[T] = _SharedStore((), list(items))
        self._length = len(self._held.items)

    @classmethod
    def over(cls, base: Sequence[T]) -> PersistentList[T]:
        """A trail whose items are those of another sequence, asked for one at a time."""
        return cls._view(_SharedStore(base, []), len(base))

    @classmethod
    def _view(cls, held: _SharedStore[T], length: int) -> PersistentList[T]:
        made: PersistentList[T] = cls.__new__(cls)
        made._held, made._length = held, length
        return made

    def __len__(self) -> int:
        return self._length

    def _part(self, indexes: range) -> Sequence[T]:
        if (indexes.start, indexes.step) == (0, 1):
            return self.upto(indexes.stop)
        return super()._part(indexes)

    def upto(self, length: int) -> PersistentList[T]:
        """Its first items; shares everything."""
        return self._view(self._held, min(max(0, length), self._length))

    def _make(self, index: int) -> T:
        held = self._held
        while index < (before := len(held.base)):
            if not isinstance(held.base, PersistentList):
                return held.base[index]
            held = held.base._held  # noqa: SLF001 - its own kind
        return held.items[index - before]

    def __iter__(self) -> Iterator[T]:
        if not self._held.base:  # the common case, without a question for each item
            return iter(self._held.items[: self._length])
        return super().__iter__()

    def plus(self, more: Iterable[T]) -> PersistentList[T]:
        """This trail with further items at its end."""
        added = more if isinstance(more, tuple | list) else tuple(more)
        if not added:
            return self
        held = self._held
        with held.lock:
            if len(held.base) + len(held.items) == self._length:
                held.items.extend(added)
                return self._view(held, self._length + len(added))
        # Another branch has gone on from here: this one begins a list of its own.
        return self._view(_SharedStore(self, list(added)), self._length + len(added))

    def __eq__(self, other: object) -> bool:
        if isinstance(other, PersistentList) and other._length == self._length:
            return self.shares(other) == self._length or tuple(self) == tuple(other)
        return isinstance(other, tuple | list) and tuple(self) == tuple(other)

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"PersistentList(<{self._length} items>)"

    def shares(self, other: PersistentList[T]) -> int:
        """How many first items both are known to have in common, without looking at any."""
        mine = {id(part): seen for part, seen in self._parts()}
        for part, seen in other._parts():
            if id(part) in mine:
                return min(seen, mine[id(part)])
        own, its = self.root, other.root
        common = getattr(own, "shares", None)
        if common is None or type(own) is not type(its):
            return 0
        known: int = common(its)
        return min(known, self.rooted, other.rooted)

    @property
    def root(self) -> Sequence[T]:
        """Where its first items come from; empty where it holds all itself."""
        return self._parts()[-1][0].base

    @property
    def rooted(self) -> int:
        """How many items come from there."""
        held, seen = self._parts()[-1]
        return min(seen, len(held.base))

    def _parts(self) -> list[tuple[_SharedStore[T], int]]:
        """Its lists, the newest first, each with how many items are seen of it and those before."""
        parts: list[tuple[_SharedStore[T], int]] = [(self._held, self._length)]
        base: Any = self._held.base
        while isinstance(base, PersistentList):
            held, length = base._held, base._length  # noqa: SLF001 - its own kind
            parts.append((held, min(length, parts[-1][1])))
            base = held.base
        return parts


def known_common_length(one: Sequence[T], other: Sequence[T]) -> int:
    """How many first items two sequences are known to have in common, without looking at any."""
    return (
        one.shares(other)
        if isinstance(one, PersistentList) and isinstance(other, PersistentList)
        else 0
    )
