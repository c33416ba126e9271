"""Every action of the window in one table: it feeds the menus, the toolbar and the palette."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QAction, QKeySequence
from PySide6.QtWidgets import QWidget

from studio.application.words import tr
from studio.core.paths import resource_table
from studio.ui.style.icons import icon


@dataclass(frozen=True, slots=True)
class ActionSpec:
    """One action."""

    id: str
    """Stable identifier, used in settings and by tests."""

    text: str
    """Text in the menu and the palette."""

    shortcut: str = ""
    """The usual shortcuts, separated by spaces."""

    icon: str = ""
    """Name of its drawing; empty for none."""

    tip: str = ""
    """A longer word on what it does; the text where empty."""

    checkable: bool = False
    """Whether it is a switch."""

    in_text: bool = False
    """Whether its shortcuts are for the text of a prompt only; other panes have those keys too."""


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
"""Actions that need an open tab, whatever it shows."""


_SPECS = {spec.id: spec for spec in ACTIONS}


def spec_of(identifier: str) -> ActionSpec:
    """The row of an action."""
    return _SPECS[identifier]


class ActionSet(QObject):
    """The table's actions as Qt actions of one window."""

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
        """Give every action its shortcuts: the user's own, else the usual ones."""
        if self._shortcuts == shortcuts:
            return
        is_first = self._shortcuts is None
        self._shortcuts = dict(shortcuts)
        for spec in ACTIONS:
            keys = shortcuts.get(spec.id, spec.shortcut)
            action = self._actions[spec.id]
            made = [QKeySequence(each) for each in keys.split()]
            if made or not is_first:  # a new action has none to lose
                action.setShortcuts(made)
            shown = made[0].toString(QKeySequence.SequenceFormat.NativeText) if made else ""
            words = tr(spec.tip or spec.text)
            action.setToolTip(f"{words}  ({shown})" if shown else words)

    def enable(self, identifiers: tuple[str, ...], *, enabled: bool) -> None:
        """Switch a group of actions on or off."""
        for identifier in identifiers:
            self._actions[identifier].setEnabled(enabled)
