from __future__ import annotations

from dataclasses import replace

from PySide6.QtGui import QImage
from pytestqt.qtbot import QtBot

from studio.application.run.cards.card import CardList, StepCard
from studio.application.run.cards.timeline import Timeline
from studio.ui.run.steps.timeline import TimelineView
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear

CARD = StepCard(1, "observation", "Observation of the tool", "forty-two")
BADGED = replace(CARD, badges=("edited", "forked"))


def drawn(qtbot: QtBot, card: StepCard, width: int) -> QImage:
    """The card in a column of some width."""
    view = TimelineView()
    qtbot.addWidget(view)
    view.resize(width, 120)
    view.show_timeline(Timeline(CardList(tail=(card,))))
    view.show()
    view.clearSelection()
    return view.viewport().grab(view.visualRect(view.model().index(0, 0))).toImage()


def test_badges_give_way_to_the_title(qtbot: QtBot) -> None:
    wear(LIGHT)
    assert drawn(qtbot, BADGED, 210) == drawn(qtbot, CARD, 210)
    assert drawn(qtbot, BADGED, 400) != drawn(qtbot, CARD, 400)
