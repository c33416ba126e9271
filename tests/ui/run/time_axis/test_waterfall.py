from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.application.run.waterfall import waterfall_of
from studio.ui.run.time_axis.waterfall import WaterfallView, axis_step
from studio.ui.style.theme import DARK, LIGHT, Theme
from tests.application.run import examples as run
from tests.support.themes import wear


@pytest.mark.parametrize(
    ("span", "most", "step"),
    [(9.0, 10, 1.0), (9.0, 4, 5.0), (0.009, 10, 0.001), (600.0, 6, 100.0), (0.0, 0, 0.001)],
)
def test_the_marks_of_the_axis_are_round_numbers(span: float, most: int, step: float) -> None:
    assert axis_step(span, most) == pytest.approx(step)


@pytest.mark.parametrize("theme", [LIGHT, DARK])
def test_rows_are_painted_and_chosen(qtbot: QtBot, theme: Theme) -> None:
    fold = run.four_calls()
    view = WaterfallView()
    qtbot.addWidget(view)
    wear(theme)
    view.show_waterfall(waterfall_of(fold.state, fold.state.step), 1)
    view.resize(900, view.sizeHint().height())
    chosen: list[tuple[int, object]] = []
    view.row_chosen.connect(lambda step, call: chosen.append((step, call)))
    picture = view.grab().toImage()

    qtbot.mouseClick(view, Qt.MouseButton.LeftButton, pos=view.box_of(4).center().toPoint())
    qtbot.keyClick(view, Qt.Key.Key_Up)
    view.show_waterfall(view.shown, 3)

    assert chosen == [(1, 3), (1, 0)]
    assert view.grab().toImage() != picture
