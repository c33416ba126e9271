"""The grid of a result: dots, scores, what changed, and which rows a filter shows."""

from __future__ import annotations

import pytest

from studio.application.experiments.grid import DotState, ExperimentGrid, GridRow, RowFilter
from studio.core.experiments.results.cells import CellKey

DOTS = {"+": DotState.PASSED, "-": DotState.FAILED, "x": DotState.ERROR, "?": DotState.UNDECIDED}


def _grid(*rows: tuple[str, str]) -> ExperimentGrid:
    heads = [
        GridRow(
            number,
            f"r{number}",
            f"Row {'odd' if number % 2 else 'even'} {number}",
            ("tag-a",) if number == 1 else (),
            None,
        )
        for number in range(1, len(rows) + 1)
    ]
    grid = ExperimentGrid(["main", "edit"], heads, 3, "any", 0)
    for number, cells in enumerate(rows, 1):
        for variant, dots in enumerate(cells):
            for repeat, dot in enumerate(dots, 1):
                if dot != " ":
                    grid.put(CellKey(repeat, number, variant), DOTS[dot], float(dot == "+"))
    return grid


def test_a_row_is_found_by_its_metadata() -> None:
    rows = [
        GridRow(n, f"r{n}", "Hello", (), None, f"language: {x}") for n, x in ((1, "de"), (2, "en"))
    ]
    grid = ExperimentGrid(["main"], rows, 1)
    assert [grid.fits(n, "all", "Language: DE") for n in (1, 2)] == [True, False]


def test_a_cell_holds_all_its_repeats() -> None:
    grid = _grid(("+-x", "   "), ("---", "--+"), ("+++", "---"))
    first = grid.cell(1, 0)
    assert first.dots == (DotState.PASSED, DotState.FAILED, DotState.ERROR)
    assert first.score == 0.5
    assert grid.cell(1, 1).score is None
    assert grid.cell(1, 1).change == ""
    assert [grid.cell(row, 1).change for row in (2, 3)] == ["won", "lost"]
    assert [grid.cell(row, 0).change for row in (2, 3)] == ["", ""]


@pytest.mark.parametrize(
    ("wanted", "words", "rows"),
    [
        ("all", "", [1, 2, 3]),
        ("changed", "", [2, 3]),
        ("failed", "", [2, 3]),
        ("flaky", "", [1, 2]),
        ("errors", "", [1]),
        ("all", "ODD", [1, 3]),
        ("all", "tag-a", [1]),
        ("changed", "even", [2]),
    ],
)
def test_filters_choose_rows(wanted: RowFilter, words: str, rows: list[int]) -> None:
    grid = _grid(("+-x", "+  "), ("---", "--+"), ("+++", "---"))
    assert [row for row in (1, 2, 3) if grid.fits(row, wanted, words)] == rows
