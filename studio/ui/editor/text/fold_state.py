"""Which lines of one text are folded away."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtGui import QTextCursor, QTextDocument

from studio.viewmodels.app.jobs import LatestJob

if TYPE_CHECKING:
    from studio.application.editing.structure import FoldingRange
    from studio.core.prompty.document import PromptDocument


_LONG = 100_000
"""Characters from which on the folds are looked for in the pool: 60 ms at 50,000 lines."""


class Folding(QObject):
    """Hides and shows the blocks of a document, in every editor that shows it; lines from 0."""

    found = Signal()  # what can be folded is known anew
    changed = Signal()  # lines went away or came back

    def __init__(self, document: QTextDocument, parent: QObject) -> None:
        super().__init__(parent)
        self._document = document
        self._read: PromptDocument | None = None
        self._folds: Mapping[int, FoldingRange] = {}
        self._closed: list[QTextCursor] = []
        """At the first lines of what is folded away: they go along when lines come in above."""
        self._hidden = 0
        """How many lines were hidden the last time."""
        self._looking: LatestJob[Mapping[int, FoldingRange]] = LatestJob(self)
        self._looking.finished.connect(self._take)

    @property
    def folds(self) -> Mapping[int, FoldingRange]:
        """What can be folded, by first line."""
        return self._folds

    def is_closed(self, line: int) -> bool:
        """Whether lines are hidden behind that line."""
        behind = self._document.findBlockByNumber(line + 1)
        return line in self._folds and behind.isValid() and not behind.isVisible()

    @property
    def is_any_closed(self) -> bool:
        """Whether any lines are folded away."""
        return bool(self._closed)

    def read(self, document: PromptDocument) -> None:
        """Look for what can be folded in the newest text; each editor that shows it may ask."""
        if document is self._read:
            return
        from studio.application.editing.structure import folds  # not before the first paint

        self._read = document
        if len(document.source) < _LONG:
            self._looking.drop()
            self._take(_by_line(folds(document)))
        else:
            self._looking.submit(lambda: _by_line(folds(document)))

    def toggle(self, line: int) -> None:
        """Fold or unfold at a line, or at the nearest fold around it."""
        if line not in self._folds:
            around = [fold for fold in self._folds.values() if fold.first <= line <= fold.last]
            if not around:
                return
            line = max(around, key=lambda fold: fold.first).first
        self._close(self._closed_lines() ^ {line})

    def close_around(self, line: int) -> None:
        """Fold the nearest part around a line that is not folded yet."""
        closed = self._closed_lines()
        around = [
            fold.first
            for fold in self._folds.values()
            if fold.first <= line <= fold.last and fold.first not in closed
        ]
        if around:
            self._close(closed | {max(around)})

    def open_at(self, line: int) -> None:
        """Unfold what is folded at a line."""
        self._close(self._closed_lines() - {line})

    def close(self, line: int) -> None:
        """Fold at a line, where there is a fold."""
        self._close(self._closed_lines() | {line})

    def fold_all(self) -> None:
        """Fold everything that can be folded."""
        self._close(set(self._folds))

    def unfold_all(self) -> None:
        """Show every line."""
        self._close(set())

    def show_line(self, line: int) -> None:
        """Open the folds that hide a line."""
        self.show_lines((line,))

    def show_lines(self, lines: Sequence[int]) -> None:
        """Open the folds that hide any of some lines."""
        closed = self._closed_lines()
        hiding = {
            each
            for each in closed & self._folds.keys()
            if any(each < line <= self._folds[each].last for line in lines)
        }
        if hiding:
            self._close(closed - hiding)

    def rest(self) -> None:
        """The last editor closes: look for nothing more."""
        self._looking.drop()

    def _take(self, found: Mapping[int, FoldingRange]) -> None:
        """What can be folded now; a fold whose first line is none any more opens."""
        self._folds = found
        if self._closed and self._is_of_now():
            self._close(self._closed_lines())
        self.found.emit()

    def _is_of_now(self) -> bool:
        """Whether the folds are of the text as it stands: else their lines are others by now."""
        return self._read is not None and len(self._read.source.line_starts) == (
            self._document.blockCount()
        )

    def _closed_lines(self) -> set[int]:
        return {cursor.blockNumber() for cursor in self._closed}

    def _close(self, lines: set[int]) -> None:
        """Have these lines folded and no others."""
        lines &= self._folds.keys()
        self._closed = [
            QTextCursor(self._document.findBlockByNumber(line)) for line in sorted(lines)
        ]
        hidden: set[int] = set()
        for line in lines:
            hidden.update(range(line + 1, self._folds[line].last + 1))
        if len(hidden) == self._hidden and all(
            not self._document.findBlockByNumber(line).isVisible() for line in hidden
        ):
            return
        self._hidden = len(hidden)
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
        number = 0
        while block.isValid():
            visible = number not in hidden
            if block.isVisible() != visible:
                block.setVisible(visible)
                block.setLineCount(1 if visible else 0)
                first, last = min(first, number), number
            block = block.next()
            number += 1
        return first, last


def _by_line(found: Iterable[FoldingRange]) -> Mapping[int, FoldingRange]:
    return {fold.first: fold for fold in found}
