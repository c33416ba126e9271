"""Whole lines at once: moved, copied, deleted, joined and selected, each as one step to undo."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtGui import QTextBlock, QTextCursor

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_KEEP = QTextCursor.MoveMode.KeepAnchor


class LineEdits:
    """Works on the lines that the selection touches, else on that of the caret."""

    def __init__(self, view: PromptView) -> None:
        self._view = view

    def move(self, by: int) -> None:
        """Change places with the line above (-1) or below (1); the selection goes along."""
        first, last = self._lines()
        other = first.previous() if by < 0 else last.next()
        if not other.isValid() or self._view.isReadOnly():
            return
        self._open(other)
        cursor = self._view.textCursor()
        anchor, position = cursor.anchor(), cursor.position()
        shift = by * other.length()
        upper, lower = (other, last) if by < 0 else (first, other)
        own, moved = self._text(first, last), other.text()
        whole = QTextCursor(self._view.document())
        whole.setPosition(position)
        whole.beginEditBlock()
        whole.setPosition(upper.position())
        whole.setPosition(lower.position() + lower.length() - 1, _KEEP)
        whole.insertText(f"{own}\n{moved}" if by < 0 else f"{moved}\n{own}")
        whole.endEditBlock()
        self._select(anchor + shift, position + shift)

    def copy(self, by: int) -> None:
        """Write the lines once more, above (-1) or below (1); the caret is in the copy."""
        if self._view.isReadOnly():
            return
        first, last = self._lines()
        cursor = self._view.textCursor()
        anchor, position = cursor.anchor(), cursor.position()
        length = last.position() + last.length() - first.position()
        put = QTextCursor(self._view.document())
        put.setPosition(position)
        put.beginEditBlock()
        put.setPosition(last.position() + last.length() - 1)
        put.insertText("\n" + self._text(first, last))
        put.endEditBlock()
        shift = length if by > 0 else 0
        self._select(anchor + shift, position + shift)

    def delete(self) -> None:
        """Take the lines away; the caret keeps its column in the line that comes up."""
        if self._view.isReadOnly():
            return
        column = self._view.textCursor().positionInBlock()
        cursor = self._whole_lines()
        is_last = not cursor.document().findBlock(cursor.selectionEnd()).next().isValid()
        if is_last and cursor.selectionStart() > 0 and cursor.atEnd():
            start = cursor.selectionStart() - 1
            cursor.setPosition(cursor.selectionEnd())
            cursor.setPosition(start, _KEEP)
        cursor.removeSelectedText()
        block = cursor.block()
        cursor.setPosition(block.position() + min(column, block.length() - 1))
        self._view.setTextCursor(cursor)

    def join(self) -> None:
        """Put the next line behind this one, with one blank between; or all lines selected."""
        if self._view.isReadOnly():
            return
        first, last = self._lines()
        if first == last:
            last = first.next()
        if not last.isValid():
            return
        self._open(last)
        lines = self._text(first, last).split("\n")
        joined = lines[0].rstrip()
        for line in lines[1:]:
            joined = f"{joined} {line.strip()}".rstrip() if joined else line.strip()
        cursor = QTextCursor(first)
        cursor.setPosition(last.position() + last.length() - 1, _KEEP)
        cursor.insertText(joined)
        self._view.setTextCursor(cursor)

    def select(self) -> None:
        """Select the lines whole; once more takes the next one too."""
        self._view.setTextCursor(self._whole_lines())

    def select_for_clipboard(self) -> None:
        """Without a selection, cut and copy take the line."""
        if not self._view.textCursor().hasSelection():
            self.select()

    def _whole_lines(self) -> QTextCursor:
        first, last = self._lines(grow=True)
        cursor = QTextCursor(first)
        cursor.setPosition(last.position() + last.length() - 1, _KEEP)
        if last.next().isValid():
            cursor.movePosition(QTextCursor.MoveOperation.Right, _KEEP)
        return cursor

    def _lines(self, *, grow: bool = False) -> tuple[QTextBlock, QTextBlock]:
        cursor, document = self._view.textCursor(), self._view.document()
        first = document.findBlock(cursor.selectionStart())
        last = document.findBlock(cursor.selectionEnd())
        if cursor.hasSelection() and last.position() == cursor.selectionEnd() and not grow:
            last = last.previous()
        return first, last

    def _text(self, first: QTextBlock, last: QTextBlock) -> str:
        cursor = QTextCursor(first)
        cursor.setPosition(last.position() + last.length() - 1, _KEEP)
        return cursor.selectedText().replace("\u2029", "\n")

    def _open(self, block: QTextBlock) -> None:
        """What is folded away is not changed unseen."""
        if not block.isVisible() or self._view.folding.is_closed(block.blockNumber()):
            self._view.folding.unfold_all()

    def _select(self, anchor: int, position: int) -> None:
        cursor = self._view.textCursor()
        cursor.setPosition(anchor)
        cursor.setPosition(position, _KEEP)
        self._view.setTextCursor(cursor)
