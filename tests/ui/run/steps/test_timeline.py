from __future__ import annotations

from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QMenu
from pytestqt.qtbot import QtBot

from studio.application.run.cards.timeline import timeline_of
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import LIGHT
from tests.application.run import examples as run

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


@pytest.fixture
def timeline(qtbot: QtBot, qapp: QApplication) -> Iterator[TimelineView]:
    apply_theme(qapp, LIGHT)
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(320, 900)
    view.show()
    view.show_timeline(timeline_of(run.done()))
    yield view
    view.close()


def shown(view: TimelineView) -> list[tuple[int, str]]:
    return [
        (card.step, card.kind) for row, card in enumerate(view.cards) if not view.isRowHidden(row)
    ]


def choose(menu: QMenu, words: str) -> None:
    next(action for action in menu.actions() if action.text() == words).trigger()
    menu.deleteLater()


def test_left_and_right_fold_the_iteration_of_the_chosen_card(
    timeline: TimelineView, qtbot: QtBot
) -> None:
    before = shown(timeline)
    timeline.setFocus()
    assert timeline.choose((1, "action", 0))
    qtbot.keyClick(timeline, Qt.Key.Key_Left)

    assert shown(timeline) == [(1, "prompt"), *(each for each in before if each[0] == 2)]
    card = timeline.current_card
    assert card is not None
    assert card.key == (1, "prompt", None)
    qtbot.keyClick(timeline, Qt.Key.Key_Down)
    assert timeline.current_card is not None
    assert timeline.current_card.step == 2
    # What is gone to from elsewhere comes into sight.
    assert timeline.choose((1, "observation", 0))
    assert shown(timeline) == before
    qtbot.keyClick(timeline, Qt.Key.Key_Left)
    qtbot.keyClick(timeline, Qt.Key.Key_Right)
    assert shown(timeline) == before


def test_the_arrow_of_a_head_folds_and_cards_that_come_stay_folded(
    timeline: TimelineView, qtbot: QtBot
) -> None:
    timeline.folds.reset()
    head = timeline.visualRect(timeline.model().index(0, 0))
    qtbot.mouseClick(
        timeline.viewport(), Qt.MouseButton.LeftButton, pos=QPoint(6, head.center().y())
    )
    assert [step for step, _ in shown(timeline)].count(1) == 1
    timeline.show_timeline(timeline_of(run.at_answer()))
    timeline.show_timeline(timeline_of(run.done()))
    assert [step for step, _ in shown(timeline)].count(1) == 1
    timeline.folds.fold_all(folded=True)
    assert shown(timeline) == [(1, "prompt"), (2, "prompt")]
    timeline.folds.reset()
    assert len(shown(timeline)) == len(timeline.cards)


def test_a_filter_leaves_the_calls_of_a_tool_with_the_heads_of_their_iterations(
    timeline: TimelineView,
) -> None:
    choose(timeline.folds.filter_menu(), "Calls of lookup")
    assert shown(timeline) == [(1, "prompt"), (1, "action")]
    choose(timeline.folds.filter_menu(), "Errors")
    assert shown(timeline) == []
    choose(timeline.folds.filter_menu(), "All steps")
    assert len(shown(timeline)) == len(timeline.cards)
