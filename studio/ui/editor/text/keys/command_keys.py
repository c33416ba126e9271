"""Which keys ask for something and write nothing, and where Home goes."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtGui import QKeyEvent, QTextCursor

_COMMANDS = (
    Qt.KeyboardModifier.ControlModifier
    | Qt.KeyboardModifier.AltModifier
    | Qt.KeyboardModifier.MetaModifier
)


_ALT_GR = Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier


def is_command(event: QKeyEvent) -> bool:
    """Whether the keys ask for something, and write nothing.

    Where AltGr is Ctrl with Alt, as on Windows, it writes brackets and braces on many keyboards.
    """
    held = event.modifiers()
    if held == Qt.KeyboardModifier.NoModifier:
        return False  # told apart for speed: each `&` of Python's flags costs 2 µs
    by_alt_gr = held & _ALT_GR == _ALT_GR and bool(event.text()) and event.text().isprintable()
    return bool(held & _COMMANDS) and not by_alt_gr


def smart_home(cursor: QTextCursor, mode: QTextCursor.MoveMode) -> None:
    """Go to the first word of the row, or to its start where the cursor is there already."""
    before = cursor.position()
    cursor.movePosition(QTextCursor.MoveOperation.StartOfLine, mode)
    block = cursor.block()
    if cursor.position() != block.position():
        return  # a row that goes on from the one above has no indent
    text = block.text()
    first = block.position() + len(text) - len(text.lstrip(" \t"))
    if before != first:
        cursor.setPosition(first, mode)
