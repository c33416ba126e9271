"""Which lines of one text are folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextDocument

if TYPE_CHECKING:
    from studio.ui.editor.folding import Fold


class Folding(QObject):
    """Hides and shows the blocks of a document, in every editor that shows it; lines from 0."""

    changed = Signal()  # lines went away or came back

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._folds: dict[int, Fold] = {}
        self._closed: set[int] = set()

    @property
    def folds(self) -> Mapping[int, Fold]:
        """What can be folded, by first line."""
        return self._folds

    def is_closed(self, line: int) -> bool:
        """Whether lines are hidden behind that line."""
        return line in self._closed

    def set_folds(self, folds: Iterable[Fold]) -> None:
        """Take what can be folded in the newest text; folds that moved away open."""
        self._folds = {fold.first: fold for fold in folds}
        if self._closed:
            self._apply()

    def toggle(self, line: int) -> None:
        """Fold or unfold at a line, or at the nearest fold around it."""
        if line not in self._folds:
            around = [fold for fold in self._folds.values() if fold.first <= line <= fold.last]
            if not around:
                return
            line = max(around, key=lambda fold: fold.first).first
        self._closed ^= {line}
        self._apply()

    def fold_all(self) -> None:
        """Fold everything that can be folded."""
        self._closed = set(self._folds)
        self._apply()

    def unfold_all(self) -> None:
        """Show every line."""
        self._closed.clear()
        self._apply()

    def show_line(self, line: int) -> None:
        """Open the folds that hide a line."""
        hiding = {
            each
            for each in self._closed
            if each in self._folds and each < line <= self._folds[each].last
        }
        if hiding:
            self._closed -= hiding
            self._apply()

    def _apply(self) -> None:
        self._closed &= self._folds.keys()
        hidden: set[int] = set()
        for line in self._closed:
            hidden.update(range(line + 1, self._folds[line].last + 1))
        first, last = self._show_and_hide(hidden)
        if last < first:
            return
        start = self._document.findBlockByNumber(first).position()
        end = self._document.findBlockByNumber(last)
        self._document.markContentsDirty(start, end.position() + end.length() - start)
        self.changed.emit()

    def _show_and_hide(self, hidden: set[int]) -> tuple[int, int]:
        """Set each block's visibility; returns the first and last line that changed."""
        first, last = self._document.blockCount(), -1
        block = self._document.firstBlock()
        while block.isValid():
            number = block.blockNumber()
            visible = number not in hidden
            if block.isVisible() != visible:
                block.setVisible(visible)
                block.setLineCount(1 if visible else 0)
                first, last = min(first, number), max(last, number)
            block = block.next()
        return first, last
