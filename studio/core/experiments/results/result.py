"""Results as values: the head of one, its rows, and what a new one begins with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.experiments.results.cells import CellKey
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class ResultHead:
    """One result in the list of results."""

    id: int
    """Its number in the ledger."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    started: float
    """When, in seconds since the epoch."""

    finished: float | None
    """When it ended; None while it has not."""

    state: str
    """`running`, `done`, `paused` or `cancelled`."""

    repeats: int
    """Repeats of each row."""

    spec: Mapping[str, Json]
    """Pass rule, baseline, seed: what reading the result needs."""

    is_accepted: bool = False
    """Whether it was blessed as the baseline."""

    label: str = ""
    """A name that was given to it."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A row as the result keeps it."""

    number: int
    """From 1."""

    key: str
    """The same in other results of the same case."""

    facts: Mapping[str, Json]
    """`vars`, `tags`, `description`, `metadata`, `expected`, `file`, `line`, `threshold`."""


@dataclass(frozen=True)
class NewResult:
    """What a result begins with."""

    name: str
    """The experiment's."""

    file: str
    """The experiment file."""

    spec: Mapping[str, Json]
    """What reading the result needs."""

    variants: Sequence[str]
    """Names of the columns."""

    rows: Sequence[ResultRow]
    """In order."""

    repeats: int
    """Repeats of each row."""

    cells: Iterable[tuple[CellKey, bytes]] = field(default=())
    """Every cell with its identity."""
