"""A right click beside the text offers actions of the table, with their keys."""

from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import QPoint
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import QAbstractButton, QApplication, QMenu, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.base.menus import ON_CRUMB, ON_STATUS, ON_WELCOME, SEPARATOR

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

REASONS = (QContextMenuEvent.Reason.Mouse, QContextMenuEvent.Reason.Keyboard)


def offered(part: QWidget, reason: QContextMenuEvent.Reason) -> list[str]:
    """The actions that a menu at a part has, which is closed again."""
    place = QPoint(2, 2)
    event = QContextMenuEvent(reason, place, part.mapToGlobal(place))
    QApplication.sendEvent(part, event)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    actions = [each for each in menu.actions() if not each.isSeparator()]
    assert all(each.isShortcutVisibleInContextMenu() for each in actions)
    menu.close()
    return [each.objectName() for each in actions]


def names(identifiers: tuple[str, ...]) -> list[str]:
    return [each for each in identifiers if each != SEPARATOR]


@pytest.mark.parametrize("reason", REASONS, ids=lambda each: each.name)
def test_parts_beside_the_text_have_menus(
    window: MainWindow, qtbot: QtBot, tmp_path: Path, reason: QContextMenuEvent.Reason
) -> None:
    window.tabs.show_welcome()
    welcome = window.welcome
    line = next(each for each in welcome.findChildren(QAbstractButton) if each.isVisible())
    assert offered(line, reason) == names(ON_WELCOME)
    assert offered(welcome.viewport(), reason) == names(ON_WELCOME)
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    page = window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: page.editor.parsed is not None)
    step = next(each for each in page.crumbs.findChildren(QAbstractButton) if each.isVisible())
    assert offered(step, reason) == names(ON_CRUMB)
    assert offered(page.crumbs, reason) == names(ON_CRUMB)
    cell = next(each for each in window.status.findChildren(QAbstractButton) if each.isVisible())
    assert offered(cell, reason) == names(ON_STATUS)
    assert offered(window.status, reason) == names(ON_STATUS)
