"""More than two ways or runs side by side: what each came to, and where it parts from the first."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from studio.application.run.past.compare import RunSide, compare, figures_of
from studio.application.words import tr
from studio.core.text.shortened import one_line


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """One figure of all sides."""

    name: str
    """What it is."""

    cells: tuple[str, ...]
    """Of each side."""

    differs: tuple[bool, ...]
    """Which of them is another than that of the first side."""


@dataclass(frozen=True, slots=True)
class RunOverview:
    """All sides; two of them are compared step by step from here."""

    sides: tuple[RunSide, ...]
    """In the order in which they are shown; the others are held against the first."""

    rows: tuple[OverviewRow, ...]
    """The figures."""


def overview(sides: Sequence[RunSide]) -> RunOverview:
    """Put several ways or runs side by side.

    Args:
        sides: two or more.
    """
    first = sides[0]
    held = [compare(first, side) for side in sides[1:]]
    figures = [figures_of(each) for each in held]
    rows: list[OverviewRow] = []
    for at, figure in enumerate(figures[0]):
        rows.append(_row(figure.name, (figure.left, *(each[at].right for each in figures))))
    rows.append(_row(tr("Answer"), tuple(one_line(side.state.answer or "–") for side in sides)))
    parted = (tr("the first"), *(each.summary for each in held))
    rows.append(OverviewRow(tr("Against the first"), parted, (False,) * len(sides)))
    return RunOverview(tuple(sides), tuple(rows))


def _row(name: str, cells: tuple[str, ...]) -> OverviewRow:
    return OverviewRow(name, cells, tuple(cell != cells[0] for cell in cells))
