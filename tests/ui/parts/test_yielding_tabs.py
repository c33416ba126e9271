from __future__ import annotations

import pytest
from PySide6.QtWidgets import QTabBar, QToolButton
from pytestqt.qtbot import QtBot

from studio.ui.parts.yielding_tabs import YieldingTabs
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear

_NAMES = ("Nachrichten", "Anfrage", "Antwort", "Werkzeug", "Antworten", "Verbrauch", "Beobachten")


@pytest.fixture
def bar(qtbot: QtBot) -> YieldingTabs:
    wear(LIGHT)
    made = YieldingTabs()
    qtbot.addWidget(made)
    for name in _NAMES:
        made.addTab(name)
    made.resize(900, 32)
    made.show()
    return made


def arrows(bar: QTabBar) -> list[QToolButton]:
    """What the tabs without room are scrolled to with."""
    return [each for each in bar.findChildren(QToolButton) if each.isVisible()]


def test_tabs_stand_closer_before_they_are_scrolled_and_no_name_is_cut(bar: YieldingTabs) -> None:
    wide = bar.sizeHint().width()
    bar.resize(wide + 20, 32)
    assert not bar.property("tight")
    bar.resize(wide - 40, 32)
    assert bar.property("tight")
    assert bar.sizeHint().width() <= wide - 40
    assert arrows(bar) == []
    bar.resize(240, 32)
    assert arrows(bar) != []
    for width in (wide + 20, wide - 40, 240):
        bar.resize(width, 32)
        for at, name in enumerate(_NAMES):
            assert bar.tabRect(at).width() >= bar.fontMetrics().horizontalAdvance(name), name


def test_tabs_take_their_room_again(bar: YieldingTabs) -> None:
    wide = bar.sizeHint().width()
    bar.resize(240, 32)
    bar.resize(wide + 20, 32)
    assert not bar.property("tight")
    assert arrows(bar) == []


def test_another_name_is_fitted_too(bar: YieldingTabs) -> None:
    wide = bar.sizeHint().width()
    bar.resize(wide + 20, 32)
    bar.setTabText(0, "Nachrichten des Schrittes")
    assert bar.property("tight")
