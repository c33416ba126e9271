"""Rows and columns of widgets, each in one expression."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLayout, QVBoxLayout, QWidget

LayoutPart: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | int
"""What a layout holds: a part, a part with its stretch, or an empty stretch."""

Margins: TypeAlias = int | tuple[int, int, int, int] | None
"""All four, or left, top, right and bottom, in pixels; None for those of the style."""

_Box = TypeVar("_Box", bound=QBoxLayout)


def row_of(
    *parts: LayoutPart,
    on: QWidget | None = None,
    margins: Margins = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Return a row of parts, which `on` is given as its layout (`spacing` in pixels)."""
    return _filled(QHBoxLayout() if on is None else QHBoxLayout(on), parts, margins, spacing)


def column_of(
    *parts: LayoutPart,
    on: QWidget | None = None,
    margins: Margins = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Return a column of parts, which `on` is given as its layout (`spacing` in pixels)."""
    return _filled(QVBoxLayout() if on is None else QVBoxLayout(on), parts, margins, spacing)


def _filled(
    box: _Box, parts: tuple[LayoutPart, ...], margins: Margins, spacing: int | None
) -> _Box:
    if margins is not None:
        box.setContentsMargins(*((margins,) * 4 if isinstance(margins, int) else margins))
    if spacing is not None:
        box.setSpacing(spacing)
    for part in parts:
        item, stretch = part if isinstance(part, tuple) else (part, 0)
        if isinstance(item, int):
            box.addStretch(item)
        elif isinstance(item, QWidget):
            box.addWidget(item, stretch)
        else:
            box.addLayout(item, stretch)
    return box
