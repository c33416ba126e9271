from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.ui.app.tour import STOPS, Tour
from studio.ui.app.workbench import Workbench
from tests.ui.connections import conftest

open_workbench = conftest.open_workbench


def test_the_tour_points_at_parts_that_are_there_and_esc_ends_it(
    request: pytest.FixtureRequest, qtbot: QtBot, tmp_path: Path
) -> None:
    make: Callable[[Path], Workbench] = request.getfixturevalue("open_workbench")
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    window = make(path).window
    window.actions_by_id["help.tour"].trigger()
    (tour,) = window.findChildren(Tour)
    seen = []
    for _ in STOPS:
        seen.append(tour.part)
        assert tour.part == "editor" or tour.part == "toolbar" or tour.part in window.docks
        if tour.part in window.docks:
            assert window.docks[tour.part].isVisible()
        assert tour.rect().contains(tour.card.geometry())
        assert not tour.card.geometry().intersects(tour._hole), tour.part
        assert tour.childAt(tour.card.geometry().center()) is not None
        QTest.keyClick(tour, Qt.Key.Key_Right)
    qtbot.waitUntil(lambda: not window.findChildren(Tour))
    assert seen == [stop.part for stop in STOPS]

    window.commands.tour()
    (tour,) = window.findChildren(Tour)
    QTest.keyClick(tour.forward, Qt.Key.Key_Return)
    assert tour.part == STOPS[1].part
    QTest.keyClick(tour.back, Qt.Key.Key_Return)
    assert tour.part == STOPS[0].part
    QTest.keyClick(tour.forward, Qt.Key.Key_Escape)
    qtbot.waitUntil(lambda: not window.findChildren(Tour))
