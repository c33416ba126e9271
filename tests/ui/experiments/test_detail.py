from __future__ import annotations

from PySide6.QtWidgets import QPushButton, QScrollArea, QTextBrowser
from pytestqt.qtbot import QtBot

from studio.core.experiments.assertions.result import AssertionResult
from studio.core.experiments.results.cells import CellKey, CellOutcome, CellState, ResultRow
from studio.ui.experiments.detail import CellDetail
from studio.ui.style.theme import LIGHT
from studio.viewmodels.experiments.result_answers import ShownCell
from tests.support.themes import wear


def test_where_there_is_little_room_it_scrolls_and_nothing_is_squeezed(qtbot: QtBot) -> None:
    wear(LIGHT)
    detail = CellDetail()
    qtbot.addWidget(detail)
    checks = [AssertionResult(f"check {number}", "passed", 1, "It is.") for number in range(4)]
    outcome = CellOutcome(CellState.DONE, "Oslo " * 80, passed=True, results=tuple(checks))
    key = CellKey(1, 0, 1)
    row = ResultRow(1, "a", {"vars": {"country": "Norway, which is a kingdom in the north"}})
    detail.show_cell(ShownCell(key, "plain", row, outcome, None, (key,), b""))
    detail.resize(240, 300)
    detail.show()
    (area,) = detail.findChildren(QScrollArea)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() > 0)
    assert area.horizontalScrollBar().maximum() == 0
    parts = [each for each in detail.findChildren(QPushButton) if each.isVisible()]
    assert len(parts) >= 9
    for each in parts:
        assert each.height() >= each.sizeHint().height(), each.text()
    (answer,) = detail.findChildren(QTextBrowser)
    assert answer.height() >= 64
    detail.resize(700, 900)
    qtbot.waitUntil(lambda: area.verticalScrollBar().maximum() == 0)
    assert answer.height() > 200
