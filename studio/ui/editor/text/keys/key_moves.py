"""Moving and deleting by words, as in VS Code.

A move to the right stops at the end of a word, a move to the left at its start. Several punctuation
characters are a word; a single one before a word belongs to it.
"""

from typing import NamedTuple

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QKeySequence, QTextBlock, QTextCursor

_SIGNS = frozenset("`~!@#$%^&*()-=+[{]}\\|;:'\",.<>/?")
_BLANKS = " \t"
_Keys = QKeySequence.StandardKey
_KEEP = QTextCursor.MoveMode.KeepAnchor


class WordKey(NamedTuple):
    """Action of a key that moves or deletes by words."""

    by: int
    """Direction: -1 for left, 1 for right."""

    selects: bool = False
    """Whether the selection is extended."""

    erases: bool = False
    """Whether the text is deleted."""


_WORD_KEYS = (
    (_Keys.MoveToPreviousWord, WordKey(-1)),
    (_Keys.MoveToNextWord, WordKey(1)),
    (_Keys.SelectPreviousWord, WordKey(-1, selects=True)),
    (_Keys.SelectNextWord, WordKey(1, selects=True)),
    (_Keys.DeleteStartOfWord, WordKey(-1, erases=True)),
    (_Keys.DeleteEndOfWord, WordKey(1, erases=True)),
)


def word_key(event: QKeyEvent) -> WordKey | None:
    """Return the action of a word key; None for every other key."""
    return next((found for keys, found in _WORD_KEYS if event.matches(keys)), None)


def go_by_word(
    cursor: QTextCursor, by: int, mode: QTextCursor.MoveMode, *, alone: bool = True
) -> None:
    """Go to the next stop, across line ends.

    Args:
        cursor: the cursor to move.
        by: -1 for left, 1 for right.
        mode: whether the selection is extended.
        alone: whether it is the only caret; several carets also stop at single punctuation
            characters and so stay aligned.
    """
    block, column = cursor.block(), cursor.positionInBlock()
    if column == _edge(block, by):
        beside = _visible(block, by)
        if not beside.isValid():
            cursor.setPosition(cursor.position(), mode)
            return
        block, column = beside, _edge(beside, -by)
    line = _units(block.text())
    stop = next_stop(line, column) if by > 0 else previous_stop(line, column, alone=alone)
    cursor.setPosition(block.position() + stop, mode)


def erase_word(cursor: QTextCursor, by: int) -> None:
    """Delete the selection, or the text to the next stop; several blanks count as a word."""
    if not cursor.hasSelection():
        block, column = cursor.block(), cursor.positionInBlock()
        line = _units(block.text())
        if column == _edge(block, by):
            beside = block.previous() if by < 0 else block.next()
            if not beside.isValid() or not beside.isVisible():
                return  # the end of the text, or folded text
            words = _units(beside.text())
            blanks = len(words) - len(words.lstrip(_BLANKS))
            stop = beside.position() + (len(words) if by < 0 else blanks)
        else:
            stop = block.position() + _erased_to(line, column, by)
        cursor.setPosition(stop, _KEEP)
    cursor.removeSelectedText()


def previous_stop(line: str, column: int, *, alone: bool = True) -> int:
    """Return the start of the word before a column; the line's start if there is none."""
    word = _word_before(line, column)
    if alone and word is not None and _is_one_sign(line, word) and _kind(line, word[0] - 1) == "w":
        word = _word_before(line, word[0])
    return word[0] if word is not None else 0


def next_stop(line: str, column: int) -> int:
    """Return the end of the word after a column; the line's end if there is none."""
    word = _word_behind(line, column)
    if word is not None and _is_one_sign(line, word) and _kind(line, word[1]) == "w":
        word = _word_behind(line, word[1])
    return word[1] if word is not None else len(line)


def _erased_to(line: str, column: int, by: int) -> int:
    if by < 0:
        kept = len(line[:column].rstrip(_BLANKS))
        if column - kept > 1:
            return kept
        word = _word_before(line, column)
        return word[0] if word is not None else 0
    blanks = len(line[column:]) - len(line[column:].lstrip(_BLANKS))
    if blanks > 1:
        return column + blanks
    word = _word_behind(line, column)
    return word[1] if word is not None else len(line)


def _word_before(line: str, column: int) -> tuple[int, int] | None:
    end = len(line[:column].rstrip(_BLANKS))
    return _around(line, end - 1) if end else None


def _word_behind(line: str, column: int) -> tuple[int, int] | None:
    start = len(line) - len(line[column:].lstrip(_BLANKS))
    return _around(line, start) if start < len(line) else None


def _around(line: str, at: int) -> tuple[int, int]:
    kind, start, end = _kind(line, at), at, at + 1
    while _kind(line, start - 1) == kind:
        start -= 1
    while _kind(line, end) == kind:
        end += 1
    return start, end


def _is_one_sign(line: str, word: tuple[int, int]) -> bool:
    return word[1] - word[0] == 1 and _kind(line, word[0]) == "."


def _kind(line: str, at: int) -> str:
    """Return `w` for a letter, `.` for punctuation, or a blank outside the line."""
    if not 0 <= at < len(line) or line[at] in _BLANKS:
        return " "
    return "." if line[at] in _SIGNS else "w"


def _edge(block: QTextBlock, by: int) -> int:
    return 0 if by < 0 else block.length() - 1


def _visible(block: QTextBlock, by: int) -> QTextBlock:
    """Return the next unfolded line."""
    block = block.previous() if by < 0 else block.next()
    while block.isValid() and not block.isVisible():
        block = block.previous() if by < 0 else block.next()
    return block


def _units(text: str) -> str:
    """Return the line with one letter for each UTF-16 unit of a character."""
    return text if text.isascii() else "".join(c if c <= "\uffff" else "xx" for c in text)


# Keys that are commands, and the target of Home.

_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def is_command(event: QKeyEvent) -> bool:
    """Return whether a key is a command that writes no text.

    On Windows, AltGr is Ctrl with Alt and writes brackets and braces on many keyboards.
    """
    held = event.modifiers()
    if held == Qt.KeyboardModifier.NoModifier:
        return False  # separate tests for speed: each `&` of Python's flags costs 2 µs
    by_alt_gr = held & _ALT_GR == _ALT_GR and bool(event.text()) and event.text().isprintable()
    return bool(held & _COMMANDS) and not by_alt_gr


def smart_home(cursor: QTextCursor, mode: QTextCursor.MoveMode) -> None:
    """Go to the first word of the row, or to its start if the cursor is already there."""
    before = cursor.position()
    cursor.movePosition(QTextCursor.MoveOperation.StartOfLine, mode)
    block = cursor.block()
    if cursor.position() != block.position():
        return  # a wrapped row has no indentation
    text = block.text()
    first = block.position() + len(text) - len(text.lstrip(" \t"))
    if before != first:
        cursor.setPosition(first, mode)
