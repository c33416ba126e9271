"""What is painted by hand has children that a screen reader finds, and nobody else."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, QRect, Qt
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.application.experiments.charts import ChartFigure, ChartLine
from studio.ui.experiments.chart import ExperimentChart
from studio.ui.parts.painted_parts import PaintedPart, PaintedParts


@pytest.fixture
def screen_reader() -> Iterator[None]:
    QAccessible.setActive(True)
    yield
    QAccessible.setActive(False)


def test_a_part_is_found_where_it_is_painted(qtbot: QtBot, screen_reader: None) -> None:
    owner, shown = QWidget(), [PaintedPart("one", QRect(5, 5, 20, 10))]
    qtbot.addWidget(owner)
    parts = PaintedParts(owner, lambda: shown)
    owner.resize(100, 40)
    owner.show()
    qtbot.waitUntil(lambda: len(parts.children_shown) == 1)
    (child,) = parts.children_shown
    assert (child.accessibleName(), child.geometry()) == ("one", QRect(5, 5, 20, 10))
    assert child.focusPolicy() == Qt.FocusPolicy.NoFocus
    assert owner.childAt(QPoint(10, 10)) is None  # the mouse goes to what is painted
    interface = QAccessible.queryAccessibleInterface(owner)
    assert interface is not None
    assert interface.childCount() == 1
    shown[:] = []
    owner.update()
    qtbot.waitUntil(lambda: not parts.children_shown)


def test_without_a_screen_reader_there_are_none(qtbot: QtBot) -> None:
    owner = QWidget()
    qtbot.addWidget(owner)
    parts = PaintedParts(owner, lambda: [PaintedPart("one", QRect(0, 0, 9, 9))])
    with qtbot.waitExposed(owner):
        owner.show()
    owner.repaint()
    qtbot.wait(0)
    assert parts.children_shown == ()


def test_the_bars_of_a_chart_are_read(qtbot: QtBot, screen_reader: None) -> None:
    chart = ExperimentChart()
    qtbot.addWidget(chart)
    chart.show_figure(
        ChartFigure(
            "Pass rate",
            (ChartLine("a", 0.5, 0.2, 0.8, "half"), ChartLine("b", 1.0, 0.9, 1.0, "all")),
            unit="%",
        )
    )
    chart.resize(300, 120)
    chart.show()
    (parts,) = chart.findChildren(PaintedParts)
    qtbot.waitUntil(lambda: len(parts.children_shown) == 2)
    assert [each.accessibleName() for each in parts.children_shown] == ["a: half", "b: all"]
