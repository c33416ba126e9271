"""What a list, table or tree without a menu of its own offers: its rows as text, and the pane."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtCore import QCoreApplication, QModelIndex, Qt
from PySide6.QtWidgets import QAbstractItemView, QApplication, QDockWidget, QMenu, QWidget

from studio.ui.base.actions import ON_RUN, ON_SEARCH, SEPARATOR, spec_of
from studio.ui.base.menus import add_actions, add_own, keys_of, own_menu

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
    words = QCoreApplication.translate("Actions", spec.text)
    keys = keys_of(view.window(), identifier)
    add_own(menu, words, act, drawing=spec.icon, keys=keys, enabled=enabled)


def _chosen(view: QAbstractItemView) -> list[QModelIndex]:
    return view.selectedIndexes() or [view.currentIndex()]


def _text(index: QModelIndex) -> str:
    return next((str(text) for role in _TEXTS if (text := index.data(role))), "")
