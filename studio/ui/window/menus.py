"""The menu bar, from the table of actions."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication
from PySide6.QtWidgets import QMenu, QMenuBar

from studio.ui.base.actions import MENUS, PANES, RECENT, SEPARATOR, ActionSet

if TYPE_CHECKING:
    from studio.ui.window.docks import Docks


def build_menus(bar: QMenuBar, actions: ActionSet, docks: Docks) -> QMenu:
    """Fill the menu bar; returns the menu of recent files, which is filled when it opens."""
    recent = QMenu(QCoreApplication.translate("Menus", "Open recent"), bar)
    for title, identifiers in MENUS:
        menu = bar.addMenu(QCoreApplication.translate("Actions", title))
        menu.setToolTipsVisible(True)
        for identifier in identifiers:
            if identifier == SEPARATOR:
                menu.addSeparator()
            elif identifier == RECENT:
                menu.addMenu(recent)
            elif identifier == PANES:
                menu.addActions(docks.toggles())
                menu.addSeparator()
            else:
                menu.addAction(actions[identifier])
    return recent
