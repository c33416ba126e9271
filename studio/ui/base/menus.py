"""The menus: actions in the menu bar and in context menus, with their keys."""

import re
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TypeAlias

from PySide6.QtCore import QEvent, QModelIndex, QObject, Qt
from PySide6.QtGui import QAction, QContextMenuEvent, QKeySequence
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
from studio.core.paths import resource_table, resource_text
from studio.ui.style.theme import icon

# All actions of the window in one table, for the menus, the toolbar and the palette.


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """An action of the window."""

    id: str
    """Stable identifier, used in settings and by tests."""

    text: str
    """Text in the menu and the palette."""

    shortcut: str = ""
    """Default shortcuts, separated by spaces."""

    icon: str = ""
    """Name of its icon; empty for none."""

    tip: str = ""
    """Longer description; empty to use the text."""

    checkable: bool = False
    """Whether the action is a toggle."""

    in_text: bool = False
    """Whether its shortcuts apply only in a prompt's text, since other panes use the keys too."""


def _bundled() -> Iterator[ActionSpec]:
    for action, row in resource_table("words", "actions.txt")["actions"].items():
        columns = ["" if each == "-" else each for each in re.split(" {2,}", row)]
        text, shortcut, drawing, tip, marks = columns + [""] * (5 - len(columns))
        checkable, in_text = "checkable" in marks, "in_text" in marks
        yield ActionSpec(action, text, shortcut, drawing, tip, checkable, in_text)


ACTIONS = tuple(_bundled())

EDITING = tuple(
    """
    file.save file.save_as file.reload file.export edit.undo edit.redo edit.cut edit.copy
    edit.paste edit.all edit.find edit.replace edit.find_next edit.find_previous edit.line
    edit.symbol edit.comment edit.complete edit.fix edit.rename edit.definition edit.uses
    edit.next_problem edit.previous_problem edit.fold edit.fold_all edit.unfold_all prompt.check
    run.breakpoint view.editor view.breadcrumbs view.split view.split_down view.other_side
    view.move_over view.join edit.snippet edit.format edit.protocol edit.front edit.add_caret
    edit.select_line edit.line_up edit.line_down edit.copy_up edit.copy_down edit.delete_line
    edit.join_lines edit.skip_caret edit.caret_all edit.caret_ends edit.caret_back edit.line_below
    edit.line_above edit.indent edit.outdent edit.unfold edit.toggle_fold edit.bracket edit.grow
    edit.shrink edit.caret_up edit.caret_down prompt.compare prompt.compare_saved
    prompt.cases edit.comment_out edit.comment_in edit.trim
""".split()
)
"""Actions that need an open document."""

CLOSING = ("file.close", "file.close_all", "view.tab_left", "view.tab_right")
"""Actions that need an open tab of any kind."""


_SPECS = {spec.id: spec for spec in ACTIONS}


def spec_of(identifier: str) -> ActionSpec:
    """Return the row of an action."""
    return _SPECS[identifier]


class ActionSet(QObject):
    """The actions of the table as Qt actions of one window."""

    def __init__(self, window: QWidget, shortcuts: Mapping[str, str]) -> None:
        super().__init__(window)
        self._actions: dict[str, QAction] = {}
        for spec in ACTIONS:
            action = QAction(tr(spec.text), window)
            action.setObjectName(spec.id)
            action.setCheckable(spec.checkable)
            action.setShortcutVisibleInContextMenu(True)
            if spec.in_text:
                action.setShortcutContext(Qt.ShortcutContext.WidgetShortcut)
            if spec.icon:
                action.setIcon(icon(spec.icon))
            window.addAction(action)
            self._actions[spec.id] = action
        self._shortcuts: Mapping[str, str] | None = None
        self.set_shortcuts(shortcuts)

    def __getitem__(self, identifier: str) -> QAction:
        return self._actions[identifier]

    def __iter__(self) -> Iterator[QAction]:
        return iter(self._actions.values())

    def set_shortcuts(self, shortcuts: Mapping[str, str]) -> None:
        """Set the shortcuts of every action: the user's, or else the defaults."""
        if self._shortcuts == shortcuts:
            return
        is_first = self._shortcuts is None
        self._shortcuts = dict(shortcuts)
        for spec in ACTIONS:
            keys = shortcuts.get(spec.id, spec.shortcut)
            action = self._actions[spec.id]
            made = [QKeySequence(each) for each in keys.split()]
            if made or not is_first:  # a new action has none
                action.setShortcuts(made)
            shown = made[0].toString(QKeySequence.SequenceFormat.NativeText) if made else ""
            words = tr(spec.tip or spec.text)
            action.setToolTip(f"{words}  ({shown})" if shown else words)

    def enable(self, identifiers: tuple[str, ...], *, enabled: bool) -> None:
        """Enable or disable a group of actions."""
        for identifier in identifiers:
            self._actions[identifier].setEnabled(enabled)


TextWidget: TypeAlias = QLineEdit | QPlainTextEdit | QTextEdit

SEPARATOR = ""
RECENT = "file.recent"
"""Placeholder in a menu for the submenu of recent files."""
PANES = "view.panes"
"""Placeholder in a menu for the toggles of the docks."""


def _items(words: str) -> tuple[str, ...]:
    """Parse the items of a menu; a bar is a separator."""
    return tuple(SEPARATOR if word == "|" else word for word in words.split())


_TABLES = tomllib.loads(resource_text("words", "menus.toml"))

MENUS = tuple((title, _items(words)) for title, words in _TABLES["bar"].items())
"""Titles and items of the menu bar."""

_CONTEXT = {name: _items(words) for name, words in _TABLES["context"].items()}
IN_EDITOR = _CONTEXT["editor"]
ON_CARD = _CONTEXT["card"]
ON_INPUT = _CONTEXT["input"]
ON_RUN = _CONTEXT["run"]
ON_SEARCH = _CONTEXT["search"]
ON_PROBLEM = _CONTEXT["problem"]
ON_OUTLINE = _CONTEXT["outline"]
BESIDE_PANES = _CONTEXT["panes"]
ON_TAB = _CONTEXT["tab"]
ON_CRUMB = _CONTEXT["crumb"]
ON_STATUS = _CONTEXT["status"]
ON_WELCOME = _CONTEXT["welcome"]
ON_TOOL = _CONTEXT["tool"]

_IN_TEXT = (
    ("edit.undo", "undo"),
    ("edit.redo", "redo"),
    (SEPARATOR, ""),
    ("edit.cut", "cut"),
    ("edit.copy", "copy"),
    ("edit.paste", "paste"),
    (SEPARATOR, ""),
    ("edit.all", "selectAll"),
)
"""Context menu of a text, with the names of the widget's functions."""
_READ_ONLY = ("edit.copy", "edit.all")


def own_menu(parent: QWidget) -> QMenu:
    """Return an empty menu that is deleted when it closes."""
    menu = QMenu(parent, toolTipsVisible=True)
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
    """Add an item that only this menu has.

    Args:
        menu: the menu.
        words: text of the item.
        act: function of the item.
        drawing: name of its icon; empty for none.
        keys: keys for the same function in portable form, which are shown but not bound.
        enabled: whether the item is enabled.
    """
    shown = QKeySequence(keys).toString(QKeySequence.SequenceFormat.NativeText) if keys else ""
    action = menu.addAction(f"{words}\t{shown}" if shown else words)
    if drawing:
        action.setIcon(icon(drawing))
    action.triggered.connect(lambda _=False: act())
    action.setEnabled(enabled)
    return action


def add_actions(menu: QMenu, window: QWidget, identifiers: Sequence[str]) -> None:
    """Add actions of the window; ids that it does not have are skipped."""
    actions = {action.objectName(): action for action in _with_actions(window).actions()}
    for identifier in identifiers:
        if identifier == SEPARATOR:
            menu.addSeparator()
        elif identifier in actions:
            menu.addAction(actions[identifier])


def open_menu(widget: QWidget, event: QContextMenuEvent, identifiers: Sequence[str]) -> None:
    """Open a menu of the window's actions at a right click or the menu key."""
    menu = own_menu(widget)
    add_actions(menu, widget.window(), identifiers)
    menu.popup(event.globalPos())
    event.accept()


def keys_of(window: QWidget, identifier: str) -> str:
    """Return the first shortcut of an action in portable form; empty for none."""
    actions = _with_actions(window).actions()
    found = next((each for each in actions if each.objectName() == identifier), None)
    if found is not None:
        return found.shortcut().toString()
    return spec_of(identifier).shortcut.partition(" ")[0]


def _with_actions(window: QWidget) -> QWidget:
    """Return the window with the actions for a pane that is in a separate window."""
    parent = window.parentWidget()
    return parent.window() if isinstance(window, QDockWidget) and parent is not None else window


def text_menu(text: TextWidget) -> QMenu:
    """Build the context menu of an input field or a read-only text."""
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
            tr(spec.text),
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


# Context menus with keys for fields, texts and lists that have none of their own.


class FocusMenus(QObject):
    """Gives the focused field, text, list or table a context menu with keys.

    Qt's own menus omit keys that the window's actions also have, and lists have no menu. Only the
    focused widget is watched: a filter on the application would see every event.
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
        # A focused field that is deleted loses the focus when it is partly destroyed.
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
        """Open the menu instead of Qt's."""
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
    """Return the item at a click, or the current one for the menu key."""
    return (widget,) if isinstance(widget, QLineEdit) else (widget, widget.viewport())


def has_own_menu(widget: QWidget) -> bool:
    """Return whether a widget has its own context menu."""
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
    """Return the selected rows, or else the current one, as lines with cells separated by tabs."""
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
    """Copy the selected rows to the clipboard if they contain text."""
    text = rows_as_text(view)
    if text:
        QApplication.clipboard().setText(text)


def item_menu(view: QAbstractItemView) -> QMenu:
    """Build the context menu of a list or table."""
    menu = own_menu(view)
    _add(menu, view, "edit.copy", partial(copy_rows, view), enabled=any(map(_text, _chosen(view))))
    if view.selectionMode() not in _SINGLE:
        _add(menu, view, "edit.all", view.selectAll, enabled=True)
    menu.addSeparator()
    add_actions(menu, view.window(), pane_actions(view))
    return menu


def pane_actions(widget: QWidget) -> Sequence[str]:
    """Return the window's actions for the pane that contains a widget."""
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
