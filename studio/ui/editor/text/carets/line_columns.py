"""Columns of a line as they are seen, and the UTF-16 positions that Qt has for them."""

from __future__ import annotations

import unicodedata


def whole_position(text: str, position: int) -> int:
    """The UTF-16 position, or the one before it where it would cut a character in two."""
    if text.isascii():
        return min(position, len(text))
    units = 0
    for char in text:
        width = _units(char)
        if units + width > position:
            break
        units += width
    return units


def shown_column(text: str, position: int) -> int:
    """How many cells of the screen stand before a UTF-16 position of a line."""
    units = column = 0
    for char in text:
        if units >= position:
            break
        units += _units(char)
        column += _cells(char)
    return column


def position_at(text: str, column: int) -> int:
    """The UTF-16 position in a line at a column of the screen; its end where it is shorter."""
    if text.isascii():
        return min(column, len(text))
    units = cells = 0
    for char in text:
        if cells + _cells(char) > column:
            break
        cells += _cells(char)
        units += _units(char)
    return units


def _units(char: str) -> int:
    return 2 if char > "\uffff" else 1


def _cells(char: str) -> int:
    if unicodedata.combining(char) or unicodedata.category(char) in ("Mn", "Me", "Cf"):
        return 0
    return 2 if unicodedata.east_asian_width(char) in ("W", "F") else 1
