"""Menus of a right click, made from the table of actions, with their keys."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from PySide6.QtCore import QCoreApplication
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence
from PySide6.QtWidgets import (
    QApplication,
    QDockWidget,
    QLineEdit,
    QMenu,
    QPlainTextEdit,
    QTextEdit,
    QWidget,
)

from studio.ui.base.actions import SEPARATOR, spec_of
from studio.ui.style.icons import icon

TextWidget: TypeAlias = QLineEdit | QPlainTextEdit | QTextEdit

_IN_TEXT = (
    ("edit.undo", "undo"), ("edit.redo", "redo"), (SEPARATOR, ""), ("edit.cut", "cut"),
    ("edit.copy", "copy"), ("edit.paste", "paste"), (SEPARATOR, ""), ("edit.all", "selectAll"),
)  # fmt: skip
"""What a right click in a text offers, by the name of what the widget does."""
_READ_ONLY = ("edit.copy", "edit.all")


def own_menu(parent: QWidget) -> QMenu:
    """An empty menu, which goes when it is closed."""
    menu = QMenu(parent)
    menu.setToolTipsVisible(True)
    menu.aboutToHide.connect(menu.deleteLater)
    return menu


def add_own(
    menu: QMenu,
    words: str,
    act: Callable[[], object],
    *,
    drawing: str = "",
    keys: str = "",
    enabled: bool = True,
) -> QAction:
    """Add what only this menu offers.

    Args:
        menu: the menu.
        words: what it says.
        act: what it does.
        drawing: name of its icon; empty for none.
        keys: the keys that do the same, in portable form; they are shown, not bound.
        enabled: whether it can be done now.
    """
    shown = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
    action = menu.addAction(f"{words}\t{shown}" if shown else words)
    if drawing:
        action.setIcon(icon(drawing))
    action.triggered.connect(lambda _=False: act())
    action.setEnabled(enabled)
    return action


def add_actions(menu: QMenu, window: QWidget, identifiers: Sequence[str]) -> None:
    """Add actions of the window's table; those that it has not are left out."""
    actions = {action.objectName(): action for action in _with_actions(window).actions()}
    for identifier in identifiers:
        if identifier == SEPARATOR:
            menu.addSeparator()
        elif identifier in actions:
            menu.addAction(actions[identifier])


def open_menu(widget: QWidget, event: QContextMenuEvent, identifiers: Sequence[str]) -> None:
    """Open a menu of the window's actions where a right click or the menu key asks for one."""
    menu = own_menu(widget)
    add_actions(menu, widget.window(), identifiers)
    menu.popup(event.globalPos())
    event.accept()


def keys_of(window: QWidget, identifier: str) -> str:
    """The first keys of an action as the user has them, in portable form; empty for none."""
    actions = _with_actions(window).actions()
    found = next((each for each in actions if each.objectName() == identifier), None)
    if found is not None:
        return found.shortcut().toString()
    return spec_of(identifier).shortcut.partition(" ")[0]


def _with_actions(window: QWidget) -> QWidget:
    """A pane in a window of its own has the actions of the window that it came from."""
    parent = window.parentWidget()
    return parent.window() if isinstance(window, QDockWidget) and parent is not None else window


def text_menu(text: TextWidget) -> QMenu:
    """What a right click in a field or a read-only text offers."""
    menu = own_menu(text)
    is_read_only = text.isReadOnly()
    for identifier, act in _IN_TEXT:
        if is_read_only and identifier not in _READ_ONLY:
            continue
        if identifier == SEPARATOR:
            menu.addSeparator()
            continue
        spec = spec_of(identifier)
        add_own(
            menu,
            QCoreApplication.translate("Actions", spec.text),
            getattr(text, act),
            drawing=spec.icon,
            keys=keys_of(text.window(), identifier),
            enabled=_can(text, act),
        )
    return menu


def _can(text: TextWidget, act: str) -> bool:
    if act == "paste":
        return bool(QApplication.clipboard().text())
    if isinstance(text, QLineEdit):
        is_chosen, is_empty = text.hasSelectedText(), not text.text()
        undo, redo = text.isUndoAvailable(), text.isRedoAvailable()
    else:
        document = text.document()
        is_chosen, is_empty = text.textCursor().hasSelection(), document.isEmpty()
        undo, redo = document.isUndoAvailable(), document.isRedoAvailable()
    return {"undo": undo, "redo": redo, "selectAll": not is_empty}.get(act, is_chosen)
