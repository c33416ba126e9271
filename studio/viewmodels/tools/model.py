"""The registry's entries as a table."""

from __future__ import annotations

import time
from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import (
    QAbstractTableModel,
    QCoreApplication,
    QModelIndex,
    QObject,
    QPersistentModelIndex,
    Qt,
    Signal,
)

from studio.application.words import marked
from studio.core.text.invisible import reveal
from studio.core.tools.registry import ToolEntry
from studio.viewmodels.plain_tip import plain_tip

_tr = partial(QCoreApplication.translate, "ToolsModel")

COLUMNS = (
    marked("Tool"),
    marked("State"),
    marked("Source"),
    marked("Declared"),
    marked("Approval"),
    marked("Effects"),
    marked("Last used"),
)

COLUMN_TIPS = (
    marked("Ticked: the model is offered the tool"),
    marked("What happens when the tool is called"),
    marked("Where the tool is from"),
    marked("Where the prompt declares the tool"),
    marked("When you are asked before a call"),
    marked("Whether a call changes something outside"),
    marked("When the tool was last called, and how often"),
)

STATE_WORDS = {
    "declared": marked("not bound"),
    "bound": marked("ready"),
    "mocked": marked("mocked"),
}
"""States for people: what happens when the tool is called."""

APPROVAL_WORDS = {
    "always": marked("always ask"),
    "once": marked("ask once"),
    "allow": marked("allowed"),
}
"""Approvals for people."""

_ROLES = (
    Qt.ItemDataRole.DisplayRole,
    Qt.ItemDataRole.CheckStateRole,
    Qt.ItemDataRole.ToolTipRole,
)

_PLAIN = Qt.ItemFlag.ItemIsEnabled | Qt.ItemFlag.ItemIsSelectable | Qt.ItemFlag.ItemNeverHasChildren
_TICKED = _PLAIN | Qt.ItemFlag.ItemIsUserCheckable
"""Made once: views ask for the flags of every row at every key of a search."""

_Index = QModelIndex | QPersistentModelIndex


class ToolsModel(QAbstractTableModel):
    """One row for each tool; the box of the first column says whether the model is offered it."""

    request_enabled = Signal(str, bool)  # name, whether the model is to be offered the tool

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._entries: tuple[ToolEntry, ...] = ()

    def show_entries(self, entries: Sequence[ToolEntry]) -> None:
        """Show entries; rows that stay keep their selection."""
        entries = tuple(entries)
        same_rows = [entry.name for entry in entries] == [entry.name for entry in self._entries]
        if same_rows:
            self._entries = entries
            if entries:
                last = self.index(len(entries) - 1, len(COLUMNS) - 1)
                self.dataChanged.emit(self.index(0, 0), last)
            return
        self.beginResetModel()
        self._entries = entries
        self.endResetModel()

    def entry(self, row: int) -> ToolEntry | None:
        """The tool of a row."""
        return self._entries[row] if 0 <= row < len(self._entries) else None

    def row_of(self, name: str) -> int:
        """The row of a tool, -1 without one."""
        return next((row for row, item in enumerate(self._entries) if item.name == name), -1)

    def rowCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """How many tools there are."""
        return 0 if parent.isValid() else len(self._entries)

    def columnCount(self, parent: _Index = QModelIndex()) -> int:  # noqa: B008
        """How many columns there are."""
        return 0 if parent.isValid() else len(COLUMNS)

    def headerData(
        self, section: int, orientation: Qt.Orientation, role: int = Qt.ItemDataRole.DisplayRole
    ) -> object:
        """The columns' titles."""
        if orientation != Qt.Orientation.Horizontal:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _tr(COLUMNS[section])
        return _tr(COLUMN_TIPS[section]) if role == Qt.ItemDataRole.ToolTipRole else None

    def flags(self, index: _Index) -> Qt.ItemFlag:
        """The first column has a box to tick."""
        if not index.isValid():
            return Qt.ItemFlag.NoItemFlags
        return _TICKED if index.column() == 0 else _PLAIN

    def data(self, index: _Index, role: int = Qt.ItemDataRole.DisplayRole) -> object:
        """What a cell shows."""
        if role not in _ROLES:  # most questions are about looks, and there are thousands of them
            return None
        entry = self.entry(index.row())
        if entry is None:
            return None
        if role == Qt.ItemDataRole.DisplayRole:
            return _cell(entry, index.column())
        if role == Qt.ItemDataRole.CheckStateRole and index.column() == 0:
            return Qt.CheckState.Checked if entry.enabled else Qt.CheckState.Unchecked
        if role == Qt.ItemDataRole.ToolTipRole:
            return plain_tip(reveal(_tip(entry)))
        return None

    def setData(self, index: _Index, value: object, role: int = Qt.ItemDataRole.EditRole) -> bool:
        """Ask for a tool to be offered or not; the answer comes with the next registry."""
        entry = self.entry(index.row())
        if entry is None or role != Qt.ItemDataRole.CheckStateRole:
            return False
        checked = Qt.CheckState(value) == Qt.CheckState.Checked
        self.request_enabled.emit(entry.name, checked)
        return True


def _cell(entry: ToolEntry, column: int) -> str:
    match column:
        case 0:
            return reveal(entry.name, lines=False)
        case 1:
            return _tr(STATE_WORDS[entry.state])
        case 2:
            return entry.source
        case 3:
            return _declared(entry)
        case 4:
            return _approval(entry)
        case 5:
            return _tr(effects_word(entry))
        case _:
            return _used(entry)


def effects_word(entry: ToolEntry) -> str:
    """Whether a call changes something: as the author says, or that nobody says it."""
    if entry.spec.has_effects:
        return marked("has effects")
    return "" if entry.spec.reads_only or not entry.runner else marked("unknown")


def _approval(entry: ToolEntry) -> str:
    if entry.change is None or entry.mock is not None:
        return _tr(APPROVAL_WORDS[entry.approval])
    return _tr("changed: asks") if entry.change.before is not None else _tr("new: asks")


def _tip(entry: ToolEntry) -> str:
    words = entry.problem or entry.spec.description or entry.name
    if not entry.called:
        return words
    own = _tr("Its source calls it {name!r}; providers refuse such a name.")
    return f"{own.format(name=entry.called)}\n{words}"


def _declared(entry: ToolEntry) -> str:
    """Where the prompt declares it: its front matter, its body's section of tools, its source."""
    if not entry.declared:
        kind = entry.runner.partition(":")[0]
        return (
            ""
            if entry.further
            else {
                "mcp": _tr("its server"),
                "openapi": _tr("its service"),
            }.get(kind, "")
        )
    return _tr("front matter") if entry.spec.source == "document" else entry.spec.source


def _used(entry: ToolEntry) -> str:
    ago = _ago(entry.last_used)
    return f"{ago}, {entry.calls} calls" if entry.calls > 1 else ago


def _ago(when: float | None) -> str:
    if when is None:
        return ""
    seconds = max(0, int(time.time() - when))
    if seconds < 60:
        return _tr("just now")
    if seconds < 3600:
        return _tr("{number} min ago").format(number=seconds // 60)
    return time.strftime("%H:%M", time.localtime(when))
