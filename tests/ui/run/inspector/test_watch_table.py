from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLineEdit
from pytestqt.qtbot import QtBot

from studio.application.run.debugging.console import names_for, watch_rows
from studio.ui.run.inspector.tabs import WatchTable
from studio.ui.run.state.variables import ExpressionField
from tests.application.run.examples import at_call

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


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


def test_names_are_completed_while_an_expression_is_written(qtbot: QtBot) -> None:
    table = WatchTable()
    qtbot.addWidget(table)
    table.expressions_changed.connect(lambda each: table.show_rows(watch_rows(at_call(), each)))
    table.set_names(names_for(at_call()))
    table.show()
    table.setCurrentCell(0, 0)
    table.editItem(table.item(0, 0))
    field = table.findChild(ExpressionField)
    assert field is not None
    qtbot.keyClicks(field, "args.f")
    assert field.offered == ["args.fact"]
    qtbot.keyClick(field, Qt.Key.Key_Tab)
    assert field.text() == "args.fact"
    qtbot.keyClick(field, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: table.expressions == ("args.fact",))
