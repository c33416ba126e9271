"""Carries keys to the typing rules and their answers into the text."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextBlock, QTextCursor

from studio.ui.editor.text.typing_rules import (
    TypedEdit,
    on_backspace,
    on_character,
    on_return,
    toggle_comment,
)

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


class TypingKeys:
    """Decides about keys before the text widget does."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; False leaves it to the text widget."""
        if event.modifiers() & _COMMANDS or self._editor.isReadOnly():
            return False
        if self._open_front(event):
            return True
        match event.key():
            case Qt.Key.Key_Tab if self._editor.textCursor().hasSelection():
                self.indent(1)
                return True
            case Qt.Key.Key_Tab:
                self._tab()
                return True
            case Qt.Key.Key_Backtab:
                self.indent(-1)
                return True
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                before, after = self._around()
                return self._do(on_return(before, after, yaml=self._is_yaml()))
            case Qt.Key.Key_Backspace if not self._editor.textCursor().hasSelection():
                before, after = self._around()
                return self._do(on_backspace(before, after))
        char = event.text()
        if len(char) != 1 or not char.isprintable():
            return False
        return self._character(char)

    def _open_front(self, event: QKeyEvent) -> bool:
        """A key that would write into a folded front matter opens it first; Enter does only that.

        What is typed before its first line would make text of all of it.
        """
        editor = self._editor
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        writes = is_enter or (event.text().isprintable() and bool(event.text()))
        line = editor.textCursor().blockNumber()
        if not writes or line not in editor.folding.folds or not editor.folding.is_closed(line):
            return False
        if line == 0 or is_enter:
            editor.toggle_fold(line)
            return True
        return False

    def comment(self) -> None:
        """Comment the chosen lines out or in."""
        first, last = self._chosen()
        state = self._editor.highlighter.state_before(first)
        lines = self._lines(first, last)
        changed = toggle_comment(
            lines, yaml=state.zone in ("front", "yaml"), template=state.template
        )
        self._put(first, last, changed)

    def indent(self, by: int) -> None:
        """Move the chosen lines in or out by two spaces."""
        first, last = self._chosen()
        lines = self._lines(first, last)
        if by > 0:
            changed = [f"  {line}" if line else line for line in lines]
        else:
            changed = [
                line[1:]
                if line.startswith("\t")
                else line[min(2, len(line) - len(line.lstrip(" "))) :]
                for line in lines
            ]
        self._put(first, last, changed)

    def _character(self, char: str) -> bool:
        cursor = self._editor.textCursor()
        selected = cursor.selectedText().replace("\u2029", "\n")
        block = self._editor.document().findBlock(cursor.selectionStart())
        state = self._editor.highlighter.state_before(block)
        if selected:
            before, after = "", ""
        else:
            before, after = self._around()
        return self._do(
            on_character(
                char,
                before,
                after,
                selected=selected,
                yaml=state.zone in ("front", "yaml"),
                expressions=state.template != "fstring",
            )
        )

    def _tab(self) -> None:
        column = len(self._around()[0])
        self._editor.textCursor().insertText(" " * (2 - column % 2))

    def _do(self, typed: TypedEdit | None) -> bool:
        if typed is None:
            return False
        cursor = self._editor.textCursor()
        cursor.beginEditBlock()
        move = QTextCursor.MoveOperation
        keep = QTextCursor.MoveMode.KeepAnchor
        if typed.overwrite or typed.erase:
            cursor.clearSelection()
            cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.erase)
            cursor.movePosition(move.Right, keep, typed.erase + typed.overwrite)
        cursor.insertText(typed.insert)
        cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.back)
        cursor.endEditBlock()
        self._editor.setTextCursor(cursor)
        self._editor.ensureCursorVisible()
        return True

    def _around(self) -> tuple[str, str]:
        cursor = self._editor.textCursor()
        first = self._editor.document().findBlock(cursor.selectionStart())
        last = self._editor.document().findBlock(cursor.selectionEnd())
        before = _units(first.text(), 0, cursor.selectionStart() - first.position())
        return before, _units(last.text(), cursor.selectionEnd() - last.position(), None)

    def _is_yaml(self) -> bool:
        state = self._editor.highlighter.state_before(self._editor.textCursor().block())
        return state.zone in ("front", "yaml")

    def _chosen(self) -> tuple[QTextBlock, QTextBlock]:
        cursor = self._editor.textCursor()
        first = self._editor.document().findBlock(cursor.selectionStart())
        last = self._editor.document().findBlock(cursor.selectionEnd())
        if last.position() == cursor.selectionEnd() and last.position() > first.position():
            last = last.previous()
        return first, last

    def _lines(self, first: QTextBlock, last: QTextBlock) -> list[str]:
        lines = []
        block = first
        while block.isValid() and block.blockNumber() <= last.blockNumber():
            lines.append(block.text())
            block = block.next()
        return lines

    def _put(self, first: QTextBlock, last: QTextBlock, lines: list[str]) -> None:
        """Write lines over lines as one step, and keep them selected where they were."""
        before = self._editor.textCursor()
        # Asked now: the edit moves every cursor of the document, this copy too.
        selected, column = before.hasSelection(), before.positionInBlock()
        grown = len(lines[0]) - len(first.text())
        cursor = QTextCursor(first)
        cursor.setPosition(last.position() + last.length() - 1, QTextCursor.MoveMode.KeepAnchor)
        start = cursor.selectionStart()
        text = "\n".join(lines)
        if text == cursor.selectedText().replace("\u2029", "\n"):
            return
        cursor.insertText(text)
        end = cursor.position()
        if selected:
            cursor.setPosition(start)
            cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
        else:
            cursor.setPosition(start + max(0, min(column + grown, end - start)))
        self._editor.setTextCursor(cursor)


def _units(text: str, start: int, end: int | None) -> str:
    """A part of a line given in UTF-16 units."""
    if text.isascii() or all(char <= "\uffff" for char in text):
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    stop = None if end is None else end * 2
    return raw[start * 2 : stop].decode("utf-16-le", "surrogatepass")
