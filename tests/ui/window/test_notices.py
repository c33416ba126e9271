"""Notices over the corner of the window."""

from __future__ import annotations

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.viewmodels.app.notifications import Notification, NotificationAction


def test_three_notices_leave_a_small_window_to_be_seen(window: MainWindow, qtbot: QtBot) -> None:
    """At a first start they covered the lower right half of it."""
    window.resize(900, 600)
    messages, area = window.services.messages, window.notices
    for name in ("one", "two", "three"):
        offers = (NotificationAction("Do", lambda: None),)
        hint = "What to do about it is told at some length, so that it takes a second line here."
        messages.say(Notification("warning", f"Something {name}.", hint, offers=offers, key=name))
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
