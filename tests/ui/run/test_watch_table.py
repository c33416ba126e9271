from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from studio.application.run.debugging.watch import watch_rows
from studio.ui.run.watch_table import WatchTable
from tests.application.run.examples import at_call


def test_a_typed_expression_shows_its_value_at_once_and_the_next_row_takes_another(
    qtbot: QtBot,
) -> None:
    table = WatchTable()
    qtbot.addWidget(table)
    table.expressions_changed.connect(lambda each: table.show_rows(watch_rows(at_call(), each)))
    table.show()

    for row, words in enumerate(("iteration", "args.fact")):
        # The editor of the row before is gone only once Qt has come round to it.
        qtbot.waitUntil(lambda: not table.findChildren(QLineEdit))
        table.setCurrentCell(row, 0)
        table.editItem(table.item(row, 0))
        field = table.findChild(QLineEdit)
        assert field is not None
        qtbot.keyClicks(field, words)
        qtbot.keyClick(field, Qt.Key.Key_Return)
        qtbot.waitUntil(lambda row=row: table.rowCount() == row + 2)  # type: ignore[misc]

    values = [table.item(row, 1).text() for row in range(2)]
    assert values == ["1", '"capital of France"']
