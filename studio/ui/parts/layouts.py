"""Rows and columns of widgets, each in one expression."""

from __future__ import annotations

from typing import TypeAlias, TypeVar

from PySide6.QtCore import QPoint, QRect, QSize, Qt
from PySide6.QtWidgets import (
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QLayout,
    QLayoutItem,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

LayoutPart: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | int
"""Item of a layout: a part, a part with its stretch, or an empty stretch."""

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


def scroll_area(page: QWidget | None = None, parent: QWidget | None = None) -> QScrollArea:
    """Make a scroll area without a frame, around a page as wide as there is room."""
    area = QScrollArea(parent, widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    if page is not None:
        area.setWidget(page)
    return area


# A layout that puts items side by side and starts a new line where the room ends.


class FlowLayout(QLayout):
    """Items keep their own size; lines follow each other from the top."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Take an item at the end (called by `addWidget`)."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """The item at an index, if there is one."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Remove and return the item at an index."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """Takes no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """A narrower flow is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """The height that the lines take at a width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        """Place every item."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """All items on one line."""
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """The widest item's least width."""
        size = QSize()
        for item in self._items:
            size = size.expandedTo(item.minimumSize())
        return size

    def _place(self, rect: QRect, *, move: bool) -> int:
        y = rect.y()
        for line in self._lines(rect.width()):
            x, height = rect.x(), max(size.height() for _, size in line)
            for item, size in line:
                if move:
                    top = y + (height - size.height()) // 2
                    item.setGeometry(QRect(QPoint(x, top), size))
                x += size.width() + self._gap
            y += height + self._gap
        return max(0, y - self._gap - rect.y())

    def _lines(self, room: int) -> list[list[tuple[QLayoutItem, QSize]]]:
        lines: list[list[tuple[QLayoutItem, QSize]]] = []
        used = 0
        for item in self._items:
            if item.isEmpty():
                continue
            hint = item.sizeHint()
            width = min(hint.width(), max(room, 1))
            if not lines or used + width > room:
                lines.append([])
                used = 0
            lines[-1].append((item, QSize(width, hint.height())))
            used += width + self._gap
        return lines


# How a dialog looks whose words are kept or given up: its fields, and Save and Cancel below.


def lay_out_to_save(dialog: QDialog, *parts: QLayout | QWidget) -> None:
    """Put the parts of a dialog one below the other, and its two buttons at the end."""
    buttons = QDialogButtonBox(
        QDialogButtonBox.StandardButton.Save | QDialogButtonBox.StandardButton.Cancel
    )
    buttons.accepted.connect(dialog.accept)
    buttons.rejected.connect(dialog.reject)
    layout = column_of(on=dialog, margins=16, spacing=16)
    for part in (*parts, buttons):
        if isinstance(part, QWidget):
            layout.addWidget(part)
        else:
            layout.addLayout(part)


# The size of a dialog, on screens that are smaller than it would like.

_TITLE_BAR = 40
"""Room for the window's own frame and title, in pixels."""


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Give a dialog its size, or what the screen has, so that its buttons can be reached."""
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 8), min(height, room.height() - _TITLE_BAR))


class ClosingDialog(QDialog):
    """A dialog that is deleted when it is closed."""

    def __init__(
        self, parent: QWidget | None, title: str, size: tuple[int, int] | None = None
    ) -> None:
        """Make an empty dialog.

        Args:
            parent: the window.
            title: of the dialog.
            size: width and height in pixels, at most those of the screen; None for its content's.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        if size is not None:
            resize_within_screen(self, *size)
