"""Has one line painted where one line changed."""

from __future__ import annotations

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextDocument


class LineUpdate(QObject):
    """Stands between a document's layout and the painting of the editors that show it.

    A highlighter that colours a line reports it as "so many characters removed and as many added";
    Qt adds the two up, takes the change for one of several lines, and paints the whole viewport at
    each key (`QPlainTextDocumentLayout::documentChanged`). Here the layout is silent while a
    change within one line runs, and what is needed is asked for afterwards.
    """

    all_changed = Signal()  # every line below may stand elsewhere or have other colours
    rows_changed = Signal()  # a line takes more rows or fewer: the caret may be out of sight

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._blocks = self._document.blockCount()
        self._line = 0
        self._rows = 0
        self._state_after = 0
        self._silent = False
        self.is_one_line = False
        """Whether what is asked to be painted right now is a line that kept its rows."""
        self._document.contentsChange.connect(self._on_change)
        self._document.contentsChanged.connect(self._on_changed)

    def _on_change(self, position: int, removed: int, added: int) -> None:
        """Comes before the highlighter's own slot and before the layout hears of it."""
        blocks, before = self._document.blockCount(), self._blocks
        self._blocks = blocks
        line = self._document.findBlock(position)
        if blocks != before or line != self._document.findBlock(position + added):
            return
        self._line = line.blockNumber()
        self._state_after = line.userState()
        self._silent = True
        self._document.documentLayout().blockSignals(True)

    def _on_changed(self) -> None:
        if not self._silent:
            return
        self._silent = False
        layout = self._document.documentLayout()
        line = self._document.findBlockByNumber(self._line)
        if line.isValid():
            layout.blockBoundingRect(line)  # counts its rows, which its colours undid
        layout.blockSignals(False)
        rows, before = self._document.lineCount(), self._rows
        self._rows = rows
        if line.isValid() and rows == before:
            if line.userState() == self._state_after:
                self.is_one_line = True
                layout.updateBlock.emit(line)
                self.is_one_line = False
            else:
                self.all_changed.emit()  # the lines below have other colours too
            return
        layout.documentSizeChanged.emit(layout.documentSize())
        self.all_changed.emit()
        self.rows_changed.emit()
