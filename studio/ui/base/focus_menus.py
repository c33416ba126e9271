"""A menu with keys for whatever has the keyboard and makes none of its own."""

from __future__ import annotations

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QLineEdit,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from studio.ui.base.menus import TextWidget, text_menu


class FocusMenus(QObject):
    """Gives the field, text, list or table that has the keyboard a menu with keys.

    Qt leaves the keys out of its own menus where the window has actions with the same ones, and has
    none for lists. Only the widget with the keyboard is watched: a filter over the application
    would see every event.
    """

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._watched: TextWidget | QAbstractItemView | None = None
        application = QApplication.instance()
        if isinstance(application, QApplication):
            application.focusChanged.connect(self._follow)

    def _follow(self, _before: QWidget | None, now: QWidget | None) -> None:
        before, self._watched = self._watched, None
        # A field that is deleted while it has the keyboard loses it when half of it is gone.
        if before is not None and isValid(before):
            for each in _asked(before):
                each.removeEventFilter(self)
            before.destroyed.disconnect(self._forget)
        kinds = QLineEdit | QPlainTextEdit | QTextEdit | QAbstractItemView
        if isinstance(now, kinds) and not has_own_menu(now):
            self._watched = now
            for each in _asked(now):
                each.installEventFilter(self)
            now.destroyed.connect(self._forget)

    def _forget(self) -> None:
        self._watched = None

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Open the menu in place of Qt's."""
        is_asked = event.type() == QEvent.Type.ContextMenu
        asked = self._watched
        if not is_asked or not isinstance(event, QContextMenuEvent) or asked is None:
            return False
        if isinstance(asked, QAbstractItemView):
            from studio.ui.base.item_menus import item_menu  # not before the first paint

            item_menu(asked).popup(event.globalPos())
        else:
            text_menu(asked).popup(event.globalPos())
        return True


def _asked(widget: TextWidget | QAbstractItemView) -> tuple[QWidget, ...]:
    """What a click reaches, and what the menu key reaches."""
    return (widget,) if isinstance(widget, QLineEdit) else (widget, widget.viewport())


def has_own_menu(widget: QWidget) -> bool:
    """Whether a widget makes its own menu."""
    is_custom = widget.contextMenuPolicy() != Qt.ContextMenuPolicy.DefaultContextMenu
    ours = (kind for kind in type(widget).__mro__ if kind.__module__.startswith("studio."))
    return is_custom or any("contextMenuEvent" in vars(kind) for kind in ours)
