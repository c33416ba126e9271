"""Notices over the corner of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.viewmodels.app.notifications import NotificationAction


def test_three_notices_leave_a_small_window_to_be_seen(window: MainWindow, qtbot: QtBot) -> None:
    """At a first start they covered the lower right half of it."""
    window.resize(900, 600)
    messages, area = window.services.messages, window.notices
    for name in ("one", "two", "three"):
        offers = (NotificationAction("Do", lambda: None),)
        hint = "What to do about it is told at some length, so that it takes a second line here."
        messages.say("warning", f"Something {name}.", hint, offers=offers, key=name)
    qtbot.waitUntil(area.isVisible)
    assert area.height() <= 0.5 * window.height()
    assert [each.key for each in area.notices] == ["one", "two", "three"]
    assert area.more.isVisible()
    shown = [card.notice.key for card in area._cards if card.isVisible()]
    assert shown[-1] == "three"
    assert len(shown) < 3
    qtbot.mouseClick(area.more, Qt.MouseButton.LeftButton)
    assert all(card.isVisible() for card in area._cards)
    assert window.rect().contains(area.geometry())
    for name in ("three", "two"):
        messages.withdraw(name)
    assert [card.notice.key for card in area._cards if card.isVisible()] == ["one"]
    assert not area.more.isVisible()


def test_a_notice_leaves_the_panes_below_the_editor_to_be_read(
    window: MainWindow, qtbot: QtBot
) -> None:
    window.resize(1200, 800)
    window.tabs.new("user:\nHi\n")
    window.docks.show("problems")
    window.docks.hide("preview")
    window.docks.hide("inputs")
    offers = (NotificationAction("Do", lambda: None),)
    window.services.messages.say("info", "New here?", offers=offers, key="new")
    pane = window.docks["problems"]

    def overlaps() -> bool:
        return pane.isVisible() and window.notices.geometry().intersects(pane.geometry())

    qtbot.waitUntil(lambda: window.notices.isVisible() and pane.isVisible() and not overlaps())
    window.docks.hide("problems")
    qtbot.waitUntil(lambda: window.notices.geometry().bottom() > 800 - 60)
    window.docks.show("problems")
    qtbot.waitUntil(lambda: pane.isVisible() and not overlaps())
