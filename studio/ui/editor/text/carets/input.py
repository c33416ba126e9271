"""Keys and clipboard with several carets."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from PySide6.QtCore import QMimeData, Qt
from PySide6.QtGui import QGuiApplication, QKeyEvent, QTextCursor

from studio.ui.editor.text.keys.key_moves import (
    erase_word,
    go_by_word,
    is_command,
    smart_home,
    word_key,
)

if TYPE_CHECKING:
    from studio.ui.editor.text.carets.carets import Carets
    from studio.ui.editor.text.carets.line_edits import LineEdits

_Move = QTextCursor.MoveOperation
_MOVES = {
    Qt.Key.Key_Left: _Move.Left,
    Qt.Key.Key_Right: _Move.Right,
    Qt.Key.Key_Up: _Move.Up,
    Qt.Key.Key_Down: _Move.Down,
    Qt.Key.Key_End: _Move.EndOfLine,
}
_FAR_MOVES = {Qt.Key.Key_Home: _Move.Start, Qt.Key.Key_End: _Move.End}
"""Moves with Ctrl."""
_PAGES = {Qt.Key.Key_PageUp: _Move.Up, Qt.Key.Key_PageDown: _Move.Down}
_ERASES = (Qt.Key.Key_Backspace, Qt.Key.Key_Delete)
_KEEP = QTextCursor.MoveMode.KeepAnchor

_LINES = "application/x-prompt-studio-lines"
"""MIME type of whole lines, which are pasted above the caret's line."""
_PARTS = "application/x-prompt-studio-parts"
"""MIME type of the selected parts, a JSON array."""


class CaretKeys:
    """Handles the keys of a text with several carets."""

    def __init__(self, carets: Carets, typing: Callable[[QKeyEvent, QTextCursor], bool]) -> None:
        """Create it.

        Args:
            carets: the carets.
            typing: applies the typing rules at a caret; returns False to leave a key to the text
                widget.
        """
        self._carets = carets
        self._typing = typing

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key if there are several carets; return False to leave it to the text widget."""
        if not len(self._carets):
            return False
        if event.key() == Qt.Key.Key_Escape:
            self._carets.drop()
            return True
        return self._goes_by_word(event) or self._moves(event) or self._types(event)

    def _moves(self, event: QKeyEvent) -> bool:
        held = event.modifiers()
        with_control = bool(held & Qt.KeyboardModifier.ControlModifier)
        if held & (Qt.KeyboardModifier.AltModifier | Qt.KeyboardModifier.MetaModifier):
            return False
        mode = (
            _KEEP if held & Qt.KeyboardModifier.ShiftModifier else QTextCursor.MoveMode.MoveAnchor
        )
        key = Qt.Key(event.key())
        if key == Qt.Key.Key_Home and not with_control:
            self._carets.move(lambda cursor: smart_home(cursor, mode))
            return True
        page = None if with_control else _PAGES.get(key)
        if page is not None:
            rows = self._carets.rows_of_a_page
            self._carets.move(lambda cursor: cursor.movePosition(page, mode, rows))
            return True
        move = (_FAR_MOVES if with_control else _MOVES).get(key)
        if move is None:
            return False
        self._carets.move(lambda cursor: _step(cursor, move, mode))
        return True

    def _goes_by_word(self, event: QKeyEvent) -> bool:
        key = word_key(event)
        if key is None:
            return False
        if key.erases:
            self._carets.edit(lambda cursor: erase_word(cursor, key.by))
        else:
            mode = _KEEP if key.selects else QTextCursor.MoveMode.MoveAnchor
            self._carets.move(lambda cursor: go_by_word(cursor, key.by, mode, alone=False))
        return True

    def _types(self, event: QKeyEvent) -> bool:
        key, text = event.key(), event.text()
        known = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Tab, Qt.Key.Key_Backtab)
        erases = key in _ERASES
        if is_command(event) or not (key in known or erases or (text and text.isprintable())):
            return False
        if key in known:
            text = "\n" if key in known[:2] else ""

        def write(cursor: QTextCursor) -> None:
            if self._typing(event, cursor):
                return
            if cursor.hasSelection() and erases:
                cursor.removeSelectedText()
            elif key == Qt.Key.Key_Backspace:
                cursor.deletePreviousChar()
            elif key == Qt.Key.Key_Delete:
                cursor.deleteChar()
            elif text:
                cursor.insertText(text)

        self._carets.edit(write, typed="" if erases else text)
        return True


class TextClipboard:
    """Copies, cuts and pastes the selections of the carets, or whole lines without a selection."""

    def __init__(self, carets: Carets, lines: LineEdits) -> None:
        self._carets = carets
        self._lines = lines

    def copy(self) -> None:
        """Copy the selections of the carets, or their lines if nothing is selected."""
        data = QMimeData()
        parts = self._carets.selected()
        if parts:
            data.setText("\n".join(parts))
            if len(parts) > 1:
                import json  # not before the first paint

                data.setData(_PARTS, json.dumps(parts).encode("utf-8"))
        else:
            data.setText(self._lines.text())
            data.setData(_LINES, b"1")
        QGuiApplication.clipboard().setMimeData(data)

    def cut(self) -> None:
        """Cut the selections of the carets, or their lines if nothing is selected."""
        self.copy()
        if self._carets.selected():
            self._carets.edit(lambda cursor: cursor.removeSelectedText())
        else:
            self._lines.delete()

    def paste(self) -> bool:
        """Paste whole lines, or at every caret; return False to leave it to the text widget."""
        data = QGuiApplication.clipboard().mimeData()
        text = data.text() if data is not None and data.hasText() else ""
        if not text:
            return False
        if data.hasFormat(_LINES) and not self._carets.selected():
            self._lines.put_above(text)
        elif len(self._carets):
            parts = _parts(data, text, len(self._carets) + 1)
            self._carets.edit(lambda cursor: cursor.insertText(next(parts)))
        else:
            return False
        return True


def _step(cursor: QTextCursor, move: QTextCursor.MoveOperation, mode: QTextCursor.MoveMode) -> None:
    """Move a cursor; an arrow key without Shift goes to the end of a selection."""
    is_plain = mode != _KEEP and cursor.hasSelection()
    if is_plain and move in (_Move.Left, _Move.Right):
        at = cursor.selectionStart() if move == _Move.Left else cursor.selectionEnd()
        cursor.setPosition(at)
    else:
        cursor.movePosition(move, mode)


def _parts(data: QMimeData, text: str, count: int) -> Iterator[str]:
    """Yield the text for each caret from top to bottom: its own part if the numbers match."""
    parts = text.replace("\r\n", "\n").removesuffix("\n").split("\n")
    if data.hasFormat(_PARTS):
        from studio.core.text.values import parse_json

        try:
            held = parse_json(bytes(data.data(_PARTS).data()))
        except ValueError:
            held = None  # another program may have written it
        if isinstance(held, list) and all(isinstance(each, str) for each in held):
            parts = [str(each) for each in held]
    return iter(parts if len(parts) == count else [text] * count)
