"""Carries keys to the typing rules and their answers into the text."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

from studio.ui.editor.text.keys.command_keys import is_command
from studio.ui.editor.text.keys.typing_rules import (
    TypedEdit,
    empty_item,
    on_backspace,
    on_character,
    on_return,
)

if TYPE_CHECKING:
    from studio.ui.editor.text.prompt_view import PromptView

_ENTER = (Qt.Key.Key_Return, Qt.Key.Key_Enter)


@dataclass(frozen=True, slots=True)
class _OfferedMark:
    """The mark of a list that the editor wrote, and how much of it the user typed again."""

    rest: str = ""
    """What of the mark and its gap the user has not typed."""

    revision: int = 0
    """Revision of the document when the mark was written."""

    position: int = 0
    """Place behind the mark, in UTF-16 units."""

    eaten: str = ""
    """What the user typed of it, which was not written."""


class TypingKeys:
    """Decides about keys before the text widget does."""

    def __init__(self, editor: PromptView) -> None:
        self._editor = editor
        self._offered = _OfferedMark()

    def press(self, event: QKeyEvent) -> bool:
        """Handle a key; False leaves it to the text widget."""
        if is_command(event) or self._editor.isReadOnly():
            return False
        if self._open_front(event):
            return True
        cursor = self._editor.textCursor()
        if self._eats(event, cursor):
            return True
        if not self.write(event, cursor):
            return False
        self._editor.setTextCursor(cursor)
        if event.key() in _ENTER:
            self.offer_mark()
        return True

    def offer_mark(self) -> None:
        """Note the mark of a list before the caret: the user who types it too means this one."""
        cursor = self._editor.textCursor()
        mark = empty_item(*_around(cursor))
        self._offered = _OfferedMark(mark, cursor.document().revision(), cursor.position())

    def _eats(self, event: QKeyEvent, cursor: QTextCursor) -> bool:
        """Whether a key types the next character of the mark that is there already."""
        mark = self._offered
        place = cursor.document().revision(), cursor.position()
        if not event.text() or not mark.rest or place != (mark.revision, mark.position):
            return False
        if cursor.hasSelection() or event.text() != mark.rest[0]:
            cursor.insertText(mark.eaten)  # another word begins with this character
            self._offered = _OfferedMark()
            return False
        self._offered = replace(mark, rest=mark.rest[1:], eaten=mark.eaten + mark.rest[0])
        return True

    def write(self, event: QKeyEvent, cursor: QTextCursor) -> bool:
        """Write what a key means at a cursor; False where it is the plain character."""
        char = event.text()
        if len(char) == 1 and char.isprintable():
            return self._character(char, cursor)
        match event.key():
            case Qt.Key.Key_Tab:
                column = len(_around(cursor)[0])
                cursor.insertText(" " * (2 - column % 2))
                return True
            case key if key in _ENTER:
                before, after = _around(cursor)
                return _do(on_return(before, after, yaml=self._is_yaml(cursor)), cursor)
            case Qt.Key.Key_Backspace if not cursor.hasSelection():
                before, after = _around(cursor)
                return _do(on_backspace(before, after), cursor)
        return False

    def _open_front(self, event: QKeyEvent) -> bool:
        """A key that would write into a folded front matter opens it first; Enter does only that.

        What is typed before its first line would make text of all of it.
        """
        editor = self._editor
        if not editor.folding.is_any_closed:
            return False
        is_enter = event.key() in _ENTER
        writes = is_enter or (event.text().isprintable() and bool(event.text()))
        line = editor.textCursor().blockNumber()
        if not writes or not editor.folding.is_closed(line):
            return False
        if line == 0 or is_enter:
            editor.toggle_fold(line)
            return True
        return False

    def _character(self, char: str, cursor: QTextCursor) -> bool:
        selected = cursor.selectedText().replace("\u2029", "\n")
        block = cursor.document().findBlock(cursor.selectionStart()) if selected else cursor.block()
        state = self._editor.highlighter.state_before(block)
        before, after = _around(cursor)
        typed = on_character(
            char,
            before,
            after,
            selected=selected,
            yaml=state.zone in ("front", "yaml"),
            expressions=state.template != "fstring",
        )
        return _do(typed, cursor)

    def _is_yaml(self, cursor: QTextCursor) -> bool:
        state = self._editor.highlighter.state_before(cursor.block())
        return state.zone in ("front", "yaml")


def _do(typed: TypedEdit | None, cursor: QTextCursor) -> bool:
    if typed is None:
        return False
    cursor.beginEditBlock()
    move = QTextCursor.MoveOperation
    if typed.overwrite or typed.erase:
        cursor.clearSelection()
        cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.erase)
        keep = QTextCursor.MoveMode.KeepAnchor
        cursor.movePosition(move.Right, keep, typed.erase + typed.overwrite)
    cursor.insertText(typed.insert)
    cursor.movePosition(move.Left, QTextCursor.MoveMode.MoveAnchor, typed.back)
    if typed.select:
        end, last = cursor.position(), len(typed.insert) - typed.back
        chosen = typed.insert[last - typed.select : last]
        cursor.setPosition(end - len(chosen.encode("utf-16-le")) // 2)
        cursor.setPosition(end, QTextCursor.MoveMode.KeepAnchor)
    cursor.endEditBlock()
    return True


def _around(cursor: QTextCursor) -> tuple[str, str]:
    document = cursor.document()
    first = document.findBlock(cursor.selectionStart())
    last = document.findBlock(cursor.selectionEnd())
    before = _units(first.text(), 0, cursor.selectionStart() - first.position())
    return before, _units(last.text(), cursor.selectionEnd() - last.position(), None)


def _units(text: str, start: int, end: int | None) -> str:
    """A part of a line given in UTF-16 units."""
    if text.isascii() or all(char <= "\uffff" for char in text):
        return text[start:end]
    raw = text.encode("utf-16-le", "surrogatepass")
    stop = None if end is None else end * 2
    return raw[start * 2 : stop].decode("utf-16-le", "surrogatepass")
