from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from studio.application.run.cards.card import StepCard
from studio.ui.run.time_axis.scrubber import RunScrubber


def _scrubber(qtbot: QtBot, count: int) -> tuple[RunScrubber, list[int]]:
    scrubber = RunScrubber()
    qtbot.addWidget(scrubber)
    scrubber.resize(900, scrubber.sizeHint().height())
    cards = [StepCard(row + 1, "reply", "Reply", seconds=float(row)) for row in range(count)]
    scrubber.show_cards(cards, 12.0)
    chosen: list[int] = []

    def choose(row: int) -> None:
        chosen.append(row)
        scrubber.show_cursor(row)

    scrubber.row_chosen.connect(choose)
    return scrubber, chosen


def test_left_and_right_go_through_the_run_and_stop_at_its_ends(qtbot: QtBot) -> None:
    scrubber, chosen = _scrubber(qtbot, 3)
    scrubber.show_cursor(1)
    for key in (Qt.Key.Key_Left, Qt.Key.Key_Left, Qt.Key.Key_End, Qt.Key.Key_Right):
        qtbot.keyClick(scrubber, key)

    assert chosen == [0, 2]


def test_a_bar_is_clicked_and_dragged_from_and_the_slowest_is_the_highest(qtbot: QtBot) -> None:
    scrubber, chosen = _scrubber(qtbot, 10)
    places = [scrubber.bar_of(row).center().toPoint() for row in range(10)]
    qtbot.mousePress(scrubber, Qt.MouseButton.LeftButton, pos=places[2])
    qtbot.mouseMove(scrubber, places[7])
    qtbot.mouseRelease(scrubber, Qt.MouseButton.LeftButton, pos=places[7])

    assert chosen[0] == 2
    assert scrubber.bar_of(9).height() > scrubber.bar_of(2).height() > 0


def test_of_a_long_run_the_bars_around_the_cursor_are_seen(qtbot: QtBot) -> None:
    scrubber, chosen = _scrubber(qtbot, 40_000)
    scrubber.show_cursor(20_000)
    place = scrubber.bar_of(20_000).center()

    assert 0 < place.x() < scrubber.width()
    assert scrubber.row_at(place.x()) == 20_000
    qtbot.mouseClick(scrubber, Qt.MouseButton.LeftButton, pos=QPoint(round(place.x()), 20))
    assert chosen == [20_000]
    scrubber.grab()  # paints what is in sight only
