"""A run that is over is played back, card by card."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QCoreApplication, Qt
from pytestqt.qtbot import QtBot

from studio.application.run.cards.card import StepCard
from studio.ui.run.time_axis.scrubber import PlayedScrubber, RunScrubber
from studio.ui.style.theme import set_motion_reduced


@pytest.fixture
def less_motion(qtbot: QtBot) -> Iterator[None]:
    application = QCoreApplication.instance()
    assert application is not None
    set_motion_reduced(application, reduced=True)
    yield
    set_motion_reduced(application, reduced=False)


def _played(qtbot: QtBot, *took: float) -> tuple[PlayedScrubber, list[int]]:
    scrubber = RunScrubber()
    played = PlayedScrubber(scrubber)
    qtbot.addWidget(played)
    cards = [StepCard(row + 1, "reply", "Reply", seconds=spent) for row, spent in enumerate(took)]
    chosen: list[int] = []

    def choose(row: int) -> None:
        chosen.append(row)
        scrubber.show_cursor(row)

    scrubber.row_chosen.connect(choose)
    scrubber.show_cards(cards, sum(took))
    scrubber.show_cursor(len(cards) - 1)
    played.allow(True)
    played.show()
    return played, chosen


def test_it_plays_from_the_first_card_to_the_last_and_stops(qtbot: QtBot) -> None:
    played, chosen = _played(qtbot, 0.0, 0.0, 0.0, 0.0)
    qtbot.mouseClick(played.button, Qt.MouseButton.LeftButton)

    assert played.is_playing
    assert played.button.accessibleName() == "Stop playing"
    qtbot.waitUntil(lambda: not played.is_playing)
    assert chosen == [0, 1, 2, 3]
    assert played.button.accessibleName() == "Play the run back"


def test_a_card_is_shown_as_long_as_it_took_or_faster(qtbot: QtBot) -> None:
    played, _ = _played(qtbot, 8.0, 0.0)
    menu = played.speed.menu()
    assert [played.stay_of(row) for row in (0, 1)] == [8_000, 60]
    menu.actions()[-1].trigger()

    assert played.speed.text() == "16×"
    assert [played.stay_of(row) for row in (0, 1)] == [500, 60]


@pytest.mark.usefixtures("less_motion")
def test_with_less_motion_each_card_stays_a_second(qtbot: QtBot) -> None:
    played, _ = _played(qtbot, 8.0, 0.0)
    assert [played.stay_of(row) for row in (0, 1)] == [8_000, 1_000]


def test_space_plays_and_stops_and_going_elsewhere_ends_it(qtbot: QtBot) -> None:
    played, chosen = _played(qtbot, 3_600.0, 0.0, 0.0)
    qtbot.keyClick(played.scrubber, Qt.Key.Key_Space)
    assert (played.is_playing, chosen) == (True, [0])
    qtbot.keyClick(played.scrubber, Qt.Key.Key_Space)
    assert not played.is_playing

    played.scrubber.show_cards([StepCard(1, "reply", "a"), StepCard(2, "reply", "b")], 0.0)
    played.scrubber.show_cursor(0)
    qtbot.keyClick(played.scrubber, Qt.Key.Key_Space)
    played.scrubber.row_chosen.emit(1)
    qtbot.waitUntil(lambda: not played.is_playing)
    assert chosen == [0, 1]


def test_a_run_that_goes_on_is_not_played_back(qtbot: QtBot) -> None:
    played, _ = _played(qtbot, 3_600.0, 0.0)
    played.play()
    played.allow(False)

    assert not played.is_playing
    assert not played.button.isEnabled()
    qtbot.keyClick(played.scrubber, Qt.Key.Key_Space)
    assert not played.is_playing
