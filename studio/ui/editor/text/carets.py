"""More carets than one: what is typed is written at each, as one step to undo."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Qt
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QTextCursor, QTextDocument

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_MOVES = {
    Qt.Key.Key_Left: QTextCursor.MoveOperation.Left,
    Qt.Key.Key_Right: QTextCursor.MoveOperation.Right,
    Qt.Key.Key_Up: QTextCursor.MoveOperation.Up,
    Qt.Key.Key_Down: QTextCursor.MoveOperation.Down,
    Qt.Key.Key_Home: QTextCursor.MoveOperation.StartOfLine,
    Qt.Key.Key_End: QTextCursor.MoveOperation.EndOfLine,
}
_SHIFT = Qt.KeyboardModifier.ShiftModifier
_CONTROL = Qt.KeyboardModifier.ControlModifier
_COMMANDS = _CONTROL | Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier
_MOST = 1000


class Carets(QObject):
    """The carets beside that of the text widget."""

    def __init__(self, view: PromptView) -> None:
        super().__init__(view)
        self._view = view
        self._more: list[QTextCursor] = []

    def __len__(self) -> int:
        """How many there are beside the usual one."""
        return len(self._more)

    def add_next(self) -> None:
        """Select the word at the caret; with a selection, add the next place of the same text."""
        cursor = self._view.textCursor()
        if not cursor.hasSelection():
            cursor.select(QTextCursor.SelectionType.WordUnderCursor)
            self._view.setTextCursor(cursor)
            return
        wanted, last = cursor.selectedText(), self._more[-1] if self._more else cursor
        flags = QTextDocument.FindFlag.FindCaseSensitively
        document = self._view.document()
        found = document.find(wanted, last.selectionEnd(), flags)
        if found.isNull():
            found = document.find(wanted, 0, flags)
        taken = {each.selectionStart() for each in (cursor, *self._more)}
        if found.isNull() or found.selectionStart() in taken or len(self._more) >= _MOST:
            return
        self._view.folding.show_line(found.blockNumber())
        self._more.append(found)
        self._show()

    def toggle_at(self, place: QTextCursor) -> None:
        """A caret where there was none, or none where there was one."""
        position = place.position()
        kept = [each for each in self._more if each.position() != position]
        if len(kept) == len(self._more) and position != self._view.textCursor().position():
            kept.append(place)
        self._more = kept[:_MOST]
        self._show()

    def add_line(self, by: int) -> None:
        """A caret in the line above (-1) or below (1) the outermost one, in the same column."""
        carets = self._sorted()
        outer = QTextCursor(carets[0] if by < 0 else carets[-1])
        move = QTextCursor.MoveOperation
        outer.clearSelection()
        if outer.movePosition(move.Up if by < 0 else move.Down):
            self._more = [*self._more, outer][:_MOST]
            self._show()

    def select_column(self, start: QTextCursor, end: QTextCursor) -> None:
        """A caret in each line from one place to another, each selecting the same columns."""
        document = self._view.document()
        first, last = start.blockNumber(), end.blockNumber()
        step = 1 if last >= first else -1
        made = []
        for number in range(first, last + step, step)[:_MOST]:
            block = document.findBlockByNumber(number)
            if not block.isVisible():
                continue
            cursor = QTextCursor(block)
            longest = block.length() - 1
            cursor.setPosition(block.position() + min(start.positionInBlock(), longest))
            keep = QTextCursor.MoveMode.KeepAnchor
            cursor.setPosition(block.position() + min(end.positionInBlock(), longest), keep)
            made.append(cursor)
        self._more = made[:-1]
        self._view.setTextCursor(made[-1])
        self._show()

    def drop(self) -> None:
        """Leave only the usual caret."""
        if self._more:
            self._more = []
            self._show()

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key where there are several carets; False leaves it to the text widget."""
        if not self._more:
            return False
        key, held = event.key(), event.modifiers()
        if key == Qt.Key.Key_Escape:
            self.drop()
            return True
        if held & _COMMANDS:
            return False
        if key in _MOVES:
            mode = (
                QTextCursor.MoveMode.KeepAnchor
                if held & _SHIFT
                else QTextCursor.MoveMode.MoveAnchor
            )
            self._each_moves(_MOVES[Qt.Key(key)], mode)
            return True
        text = "\n" if key in (Qt.Key.Key_Return, Qt.Key.Key_Enter) else event.text()
        if key == Qt.Key.Key_Tab:
            text = "  "
        if key in (Qt.Key.Key_Backspace, Qt.Key.Key_Delete):
            self._each_erases(back=key == Qt.Key.Key_Backspace)
        elif text and (text == "\n" or text.isprintable()):
            self.write(text)
        else:
            return False
        return True

    def write(self, text: str) -> None:
        """Write at every caret, in place of what it selects."""
        self._edit(lambda cursor: cursor.insertText(text))

    def cut(self) -> str:
        """Take away what the carets select; gives it, a line each."""
        taken = self.selected()
        self._edit(lambda cursor: cursor.removeSelectedText())
        return taken

    def selected(self) -> str:
        """What the carets select, from top to bottom, a line each."""
        return "\n".join(each.selectedText().replace("\u2029", "\n") for each in self._sorted())

    def paint(self) -> None:
        """Paint the carets that the text widget does not know."""
        painter = QPainter(self._view.viewport())
        color = QColor(self._view.palette().text().color())
        for each in self._more:
            rectangle = self._view.cursorRect(each)
            rectangle.setWidth(2)
            painter.fillRect(rectangle, color)
        painter.end()

    def _sorted(self) -> list[QTextCursor]:
        return sorted((self._view.textCursor(), *self._more), key=QTextCursor.selectionStart)

    def _edit(self, act: Callable[[QTextCursor], object]) -> None:
        if self._view.isReadOnly():
            return
        main = self._view.textCursor()
        main.beginEditBlock()
        for each in (main, *self._more):
            act(each)
        main.endEditBlock()
        self._view.setTextCursor(main)
        self._view.ensureCursorVisible()
        self._show()

    def _each_erases(self, *, back: bool) -> None:
        def erase(cursor: QTextCursor) -> None:
            if cursor.hasSelection():
                cursor.removeSelectedText()
            elif back:
                cursor.deletePreviousChar()
            else:
                cursor.deleteChar()

        self._edit(erase)

    def _each_moves(self, move: QTextCursor.MoveOperation, mode: QTextCursor.MoveMode) -> None:
        main = self._view.textCursor()
        for each in (main, *self._more):
            each.movePosition(move, mode)
        self._view.setTextCursor(main)
        self._show()

    def _show(self) -> None:
        """Carets that met are one; mark what they select."""
        seen = {self._view.textCursor().position()}
        kept = []
        for each in self._more:
            if each.position() not in seen:
                seen.add(each.position())
                kept.append(each)
        self._more = kept
        self._view.marks.set_carets(
            [(each.selectionStart(), each.selectionEnd()) for each in kept if each.hasSelection()]
        )
        self._view.viewport().update()
