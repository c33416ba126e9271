"""The breakpoints of the open prompt as a list: on or off, and how often each was met."""

from __future__ import annotations

from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QFrame, QLabel, QListWidget, QListWidgetItem, QVBoxLayout, QWidget

from studio.application.run.debugging.breakpoints import BreakpointSet, describe
from studio.ui.style.colors import paint_text

_ID = Qt.ItemDataRole.UserRole


class BreakpointList(QListWidget):
    """Space switches one, Return opens all of it in the dialog."""

    breakpoint_switched = Signal(str, bool)  # id, whether it is on
    request_breakpoints = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._set = BreakpointSet()
        self._hits: Mapping[str, int] = {}
        self._filling = False
        self._empty = QLabel(self.tr("None yet: F9 in the prompt, or Ctrl and a click on a state."))
        self._empty.setWordWrap(True)
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        QVBoxLayout(self).addWidget(self._empty)
        self.setAccessibleName(self.tr("Breakpoints"))
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.itemChanged.connect(self._on_item)
        self.itemActivated.connect(self.request_breakpoints)
        paint_text(self._empty, "muted")

    def show_breakpoints(self, value: BreakpointSet) -> None:
        """Take the set of the open prompt."""
        self._set = value
        self._fill()

    def show_hits(self, hits: Mapping[str, int]) -> None:
        """Say how often each was met in the run that is shown."""
        if hits != self._hits:
            self._hits = hits
            self._fill()

    def _fill(self) -> None:
        self._filling = True
        row = self.currentRow()
        self.clear()
        for one in self._set.breakpoints:
            met = self._hits.get(one.id, 0)
            times = self.tr("   met {count}×").format(count=met) if met else ""
            item = QListWidgetItem(describe(one) + times)
            item.setData(_ID, one.id)
            item.setFlags(item.flags() | Qt.ItemFlag.ItemIsUserCheckable)
            item.setCheckState(Qt.CheckState.Checked if one.enabled else Qt.CheckState.Unchecked)
            item.setToolTip(item.text())
            self.addItem(item)
        self.setCurrentRow(min(row, self.count() - 1))
        self._empty.setVisible(not self.count())
        self._filling = False

    def _on_item(self, item: QListWidgetItem) -> None:
        if not self._filling:
            is_on = item.checkState() == Qt.CheckState.Checked
            self.breakpoint_switched.emit(item.data(_ID), is_on)
