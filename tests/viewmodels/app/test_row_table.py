from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QAbstractItemModelTester
from pytestqt.qtbot import QtBot

from studio.viewmodels.app.row_table import DISPLAY, RowTable


class Pairs(RowTable[tuple[str, int]]):
    """A word and a number in each row."""

    def head(self, column: int, role: int) -> object:
        return ("word", "number")[column] if role == DISPLAY else None

    def cell(self, row: tuple[str, int], column: int, role: int) -> object:
        return row[column] if role == DISPLAY else None


@pytest.fixture
def table() -> Pairs:
    made = Pairs(2)
    QAbstractItemModelTester(made, QAbstractItemModelTester.FailureReportingMode.Warning, made)
    return made


def test_rows_are_shown_by_their_cells(table: Pairs) -> None:
    table.show_rows((("a", 1), ("b", 2)))
    assert (table.rowCount(), table.columnCount()) == (2, 2)
    assert [table.data(table.index(row, 1)) for row in range(2)] == [1, 2]
    assert table.headerData(1, Qt.Orientation.Horizontal) == "number"
    assert table.headerData(1, Qt.Orientation.Vertical) is None
    assert table.rowCount(table.index(0, 0)) == 0


def test_rows_that_stay_are_drawn_again_and_not_reset(table: Pairs, qtbot: QtBot) -> None:
    table.show_rows((("a", 1), ("b", 2)))
    with qtbot.waitSignal(table.dataChanged), qtbot.assertNotEmitted(table.modelReset):
        table.show_rows((("a", 3), ("b", 2)), lambda row: row[0])
    assert table.rows[0] == ("a", 3)
    with qtbot.waitSignal(table.modelReset):
        table.show_rows((("b", 2),), lambda row: row[0])
    assert table.data(table.index(1, 0)) is None
    with qtbot.assertNotEmitted(table.modelReset):
        table.show_rows((("b", 2),))
