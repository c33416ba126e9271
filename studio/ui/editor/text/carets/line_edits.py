"""Commands on whole lines: move, copy, delete, join and indent, each as one undo step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from PySide6.QtGui import QTextBlock, QTextCursor

from studio.application.highlight.lexer import PYTHON_FILE
from studio.ui.editor.text.carets.selections import whole_position
from studio.ui.editor.text.keys.typing import CommentKind, comment_parts, on_return

if TYPE_CHECKING:
    from studio.application.highlight.lexer import State
    from studio.ui.editor.text.carets.carets import Carets
    from studio.ui.editor.text.prompt_view import PromptView

_KEEP = QTextCursor.MoveMode.KeepAnchor
_BLANKS = " \t"

_Change = Callable[[list[str], QTextBlock], list[str]]
"""Function from lines and their first block to new lines."""


class LineEdits:
    """Changes the lines of the carets and selections."""

    def __init__(self, view: PromptView, carets: Carets) -> None:
        self._view = view
        self._carets = carets

    def move(self, by: int) -> None:
        """Move the lines above (-1) or below (1) the next one, with carets and selections.

        The text of the other line is moved, so that these lines stay unchanged.
        """
        ranges = [each for each in self._ranges() if self._beside(each, by).isValid()]
        if not ranges:
            return
        for each in ranges:
            self._open(self._beside(each, by))
        with self._carets.one_step(keep=by < 0):
            for first, last in ranges if by < 0 else reversed(ranges):
                other = self._beside((first, last), by)
                text, cursor = other.text(), QTextCursor(other)
                if by < 0:
                    cursor.setPosition(self._block(first).position(), _KEEP)
                    cursor.removeSelectedText()
                    cursor.setPosition(_end(self._block(last - 1)))
                    cursor.insertText("\n" + text)
                else:
                    cursor.setPosition(_end(self._block(last)))
                    cursor.setPosition(_end(other), _KEEP)
                    cursor.removeSelectedText()
                    cursor.setPosition(self._block(first).position())
                    cursor.insertText(text + "\n")
        self._view.ensureCursorVisible()

    def copy(self, by: int) -> None:
        """Duplicate the lines above (-1) or below (1); the carets are in the copy."""
        ranges = self._ranges()
        if not ranges:
            return
        with self._carets.one_step(keep=by < 0):
            for first, last in reversed(ranges):
                text, cursor = self._text(first, last), QTextCursor(self._block(first))
                if by > 0:
                    cursor.insertText(text + "\n")
                else:
                    cursor.setPosition(_end(self._block(last)))
                    cursor.insertText("\n" + text)
        self._view.ensureCursorVisible()

    def delete(self) -> None:
        """Delete the lines; the carets keep their columns."""
        ranges = self._ranges()
        if not ranges:
            return
        with self._carets.one_step() as places:
            columns = [each.positionInBlock() for each in places]
            for first, last in reversed(ranges):
                cursor = self._whole(first, last)
                if not self._block(last).next().isValid() and first > 0:
                    cursor.setPosition(_end(self._block(first - 1)))
                    cursor.setPosition(_end(self._block(last)), _KEEP)
                cursor.removeSelectedText()
            for each, column in zip(places, columns, strict=True):
                block = each.block()
                each.setPosition(block.position() + whole_position(block.text(), column))
        self._view.ensureCursorVisible()

    def join(self) -> None:
        """Join the next line to this one with one blank, or join all selected lines."""
        ranges = self._ranges()
        ranges = [
            (first, last + 1 if first == last else last)
            for first, last in ranges
            if first != last or self._block(last).next().isValid()
        ]
        if not ranges:
            return
        for _, last in ranges:
            self._open(self._block(last))
        with self._carets.one_step(keep=True):
            for first, last in reversed(ranges):
                for _ in range(first, last):
                    self._join_next(self._block(first))
        self._carets.move(QTextCursor.clearSelection)
        self._view.ensureCursorVisible()

    def open_line(self, by: int) -> None:
        """Insert a line above (-1) or below (1) that of each caret, and go to it."""
        if not self._view.isReadOnly():
            self._carets.edit(lambda cursor: self._open_line(cursor, by))

    def indent(self, by: int) -> None:
        """Indent or unindent the lines by two spaces."""
        self._change(_indented if by > 0 else _outdented)

    def comment(self, *, out: bool | None = None) -> None:
        """Comment the lines out or in; without an argument, in if all are comments."""
        state_before = self._view.highlighter.state_before

        def changed(lines: list[str], first: QTextBlock) -> list[str]:
            kinds, block = [], first
            template = state_before(first).template
            for line in lines:
                state = state_before(block)
                kinds.append(_kind(line, state))
                template = state.template
                block = block.next()
            return comment_parts(lines, kinds, template=template, out=out)

        for first, last in self._ranges():
            hidden = (self._block(number) for number in range(first, last + 1))
            if not all(block.isVisible() for block in hidden):
                self._view.folding.unfold_all()  # folded text must not be changed invisibly
            self._view.highlighter.read_to(last)  # a wrong state would write wrong comments
        self._change(changed)

    def trim(self) -> None:
        """Remove the spaces at the ends of the selected lines, or of all lines."""
        if any(each.hasSelection() for each in self._carets.all()):
            self._change(_trimmed)
            return
        if self._view.isReadOnly():
            return
        block = self._view.document().firstBlock()
        with self._carets.one_step():
            while block.isValid():
                text = block.text()
                if text != text.rstrip(_BLANKS):
                    _rewrite(block, text, text.rstrip(_BLANKS))
                block = block.next()

    def select(self) -> None:
        """Select the whole lines; repeated, also the next line."""

        def whole(cursor: QTextCursor) -> None:
            document = self._view.document()
            first = document.findBlock(cursor.selectionStart())
            last = document.findBlock(cursor.selectionEnd())
            chosen = self._whole(first.blockNumber(), last.blockNumber())
            cursor.setPosition(chosen.anchor())
            cursor.setPosition(chosen.position(), _KEEP)

        self._carets.move(whole)

    def text(self) -> str:
        """Return the lines, each with its line end."""
        return "".join(f"{self._text(*each)}\n" for each in self._carets.lines())

    def put_above(self, text: str) -> None:
        """Insert whole lines above that of each caret; the carets stay."""
        if self._view.isReadOnly():
            return
        with self._carets.one_step() as places:
            for number in sorted({each.blockNumber() for each in places}, reverse=True):
                QTextCursor(self._block(number)).insertText(text)
        self._view.ensureCursorVisible()

    def _change(self, changed: _Change) -> None:
        ranges = self._ranges()
        if not ranges:
            return
        with self._carets.one_step():
            for first, last in ranges:
                lines = [self._block(number).text() for number in range(first, last + 1)]
                new = changed(lines, self._block(first))
                for number, old, line in zip(range(first, last + 1), lines, new, strict=True):
                    _rewrite(self._block(number), old, line)
        self._view.ensureCursorVisible()

    def _open_line(self, cursor: QTextCursor, by: int) -> None:
        block = cursor.block()
        text = block.text()
        indent = text[: len(text) - len(text.lstrip())]
        if by < 0:
            cursor.setPosition(block.position())
            cursor.insertText(indent + "\n")
            cursor.setPosition(cursor.position() - 1)
        else:
            yaml = self._view.highlighter.state_before(block).zone in ("front", "yaml")
            typed = on_return(text, "", yaml=True) if yaml else None
            cursor.setPosition(_end(block))
            cursor.insertText(typed.insert if typed else "\n" + indent)

    def _join_next(self, block: QTextBlock) -> None:
        text, after = block.text(), block.next().text()
        is_blank = not text.rstrip() or not after.strip()
        cursor = QTextCursor(block)
        cursor.setPosition(_end(block) - (len(text) - len(text.rstrip())))
        stop = block.next().position() + len(after) - len(after.lstrip())
        cursor.setPosition(stop, _KEEP)
        cursor.insertText("" if is_blank else " ")

    def _ranges(self) -> list[tuple[int, int]]:
        return [] if self._view.isReadOnly() else self._carets.lines()

    def _beside(self, lines: tuple[int, int], by: int) -> QTextBlock:
        first, last = lines
        return self._block(first).previous() if by < 0 else self._block(last).next()

    def _whole(self, first: int, last: int) -> QTextCursor:
        cursor = QTextCursor(self._block(first))
        block = self._block(last)
        cursor.setPosition(_end(block), _KEEP)
        if block.next().isValid():
            cursor.setPosition(block.next().position(), _KEEP)
        return cursor

    def _block(self, number: int) -> QTextBlock:
        return self._view.document().findBlockByNumber(number)

    def _text(self, first: int, last: int) -> str:
        cursor = QTextCursor(self._block(first))
        cursor.setPosition(_end(self._block(last)), _KEEP)
        return cursor.selectedText().replace("\u2029", "\n")

    def _open(self, block: QTextBlock) -> None:
        """Unfold lines before they are changed."""
        if not block.isVisible() or self._view.folding.is_closed(block.blockNumber()):
            self._view.folding.unfold_all()


def _kind(line: str, state: State) -> CommentKind:
    """Return the comment syntax of a line from the lexer state before it."""
    if state.zone == "start" and line.removeprefix("\ufeff").rstrip() in ("---", "+++"):
        return "delimiter"
    if state.zone == "front" and line.rstrip() == state.delimiter:
        return "delimiter"
    return "#" if state.zone in ("front", "yaml") or state.fence == PYTHON_FILE.fence else "body"


def _end(block: QTextBlock) -> int:
    return block.position() + block.length() - 1


def _indented(lines: list[str], _first: QTextBlock) -> list[str]:
    return [f"  {line}" if line or len(lines) == 1 else line for line in lines]


def _outdented(lines: list[str], _first: QTextBlock) -> list[str]:
    return [
        line[1:] if line.startswith("\t") else line[min(2, len(line) - len(line.lstrip(" "))) :]
        for line in lines
    ]


def _trimmed(lines: list[str], _first: QTextBlock) -> list[str]:
    return [line.rstrip(_BLANKS) for line in lines]


def _rewrite(block: QTextBlock, old: str, new: str) -> None:
    """Replace a line but keep the common parts and the carets in them."""
    kept, is_longer = (old.strip(), True) if len(new) > len(old) else (new.strip(), False)
    at, to = old.find(kept), new.find(kept)
    if old == new or at < 0 or to < 0:
        kept, at, to = "", 0, 0
    if old == new:
        return
    begin, cursor = block.position(), QTextCursor(block)
    tail_old, tail_new = old[at + len(kept) :], new[to + len(kept) :]
    if tail_old != tail_new:
        cursor.setPosition(_end(block) - _units(tail_old))
        cursor.setPosition(_end(block), _KEEP)
        cursor.insertText(tail_new)
    head_old, head_new = old[:at], new[:to]
    if head_old != head_new:
        same = len(head_old) if is_longer and head_new.startswith(head_old) else 0
        cursor.setPosition(begin + same)
        cursor.setPosition(begin + _units(head_old), _KEEP)
        cursor.insertText(head_new[same:])


def _units(text: str) -> int:
    return len(text.encode("utf-16-le", "surrogatepass")) // 2
