"""Menus with keys for what has the keyboard and makes none of its own: fields, texts and lists."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QContextMenuEvent
from PySide6.QtWidgets import (
    QAbstractItemView,
    QApplication,
    QDockWidget,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)
from shiboken6 import isValid

from studio.application.words import tr
from studio.ui.base.actions import spec_of
from studio.ui.base.menus import (
    ON_RUN,
    ON_SEARCH,
    SEPARATOR,
    TextWidget,
    add_actions,
    add_own,
    keys_of,
    own_menu,
    text_menu,
)


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
            self._follow(None, application.focusWidget())

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


_ON_PANE = {"dock.run": ON_RUN, "dock.search": ON_SEARCH}
_ON_ANY = ("view.maximize", "view.commands")
_SINGLE = (
    QAbstractItemView.SelectionMode.SingleSelection,
    QAbstractItemView.SelectionMode.NoSelection,
)
_TEXTS = (Qt.ItemDataRole.DisplayRole, Qt.ItemDataRole.AccessibleTextRole)


def rows_as_text(view: QAbstractItemView) -> str:
    """The selected rows, else the current one: a line each, cells parted by tabs."""
    rows: dict[tuple[int, int], list[QModelIndex]] = {}
    for index in _chosen(view):
        place = view.visualRect(index)
        rows.setdefault((place.top(), index.row()), []).append(index)
    lines = []
    for _, cells in sorted(rows.items(), key=lambda each: each[0]):
        texts = (_text(index) for index in sorted(cells, key=lambda each: each.column()))
        lines.append("\t".join(text for text in texts if text))
    return "\n".join(lines)


def copy_rows(view: QAbstractItemView) -> None:
    """Put the selected rows on the clipboard, where they say anything."""
    text = rows_as_text(view)
    if text:
        QApplication.clipboard().setText(text)


def item_menu(view: QAbstractItemView) -> QMenu:
    """What a right click offers."""
    menu = own_menu(view)
    _add(menu, view, "edit.copy", partial(copy_rows, view), enabled=any(map(_text, _chosen(view))))
    if view.selectionMode() not in _SINGLE:
        _add(menu, view, "edit.all", view.selectAll, enabled=True)
    menu.addSeparator()
    add_actions(menu, view.window(), pane_actions(view))
    return menu


def pane_actions(widget: QWidget) -> Sequence[str]:
    """The window's actions that go with the pane that a widget is in."""
    parent: QWidget | None = widget
    while parent is not None and not isinstance(parent, QDockWidget):
        parent = parent.parentWidget()
    own = _ON_PANE.get(parent.objectName(), ()) if parent is not None else ()
    return (*own, SEPARATOR, *_ON_ANY) if own else _ON_ANY


def _add(
    menu: QMenu,
    view: QAbstractItemView,
    identifier: str,
    act: Callable[[], object],
    *,
    enabled: bool,
) -> None:
    spec = spec_of(identifier)
    words = tr(spec.text)
    keys = keys_of(view.window(), identifier)
    add_own(menu, words, act, drawing=spec.icon, keys=keys, enabled=enabled)


def _chosen(view: QAbstractItemView) -> list[QModelIndex]:
    return view.selectedIndexes() or [view.currentIndex()]


def _text(index: QModelIndex) -> str:
    return next((str(text) for role in _TEXTS if (text := index.data(role))), "")
