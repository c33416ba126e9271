"""Kit of the window: labels, buttons, rows and columns, dialogs, style of tables."""

from collections.abc import Callable, Mapping, Sequence
from typing import TypeAlias, TypeVar

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, QSize, Qt, SignalInstance
from PySide6.QtWidgets import (
    QAbstractButton,
    QBoxLayout,
    QDialog,
    QDialogButtonBox,
    QFrame,
    QHBoxLayout,
    QHeaderView,
    QLabel,
    QLayout,
    QLayoutItem,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QSizePolicy,
    QSplitter,
    QTableView,
    QToolButton,
    QTreeWidget,
    QVBoxLayout,
    QWidget,
)

from studio.ui.style.theme import blend, color_of, icon, paint_text, theme_in_use


class Chip(QAbstractButton):
    """A small label, painted by hand, since style sheets are too slow for hundreds of them."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = "muted"
        font = QtGui.QFont(self.font())
        font.setPointSizeF(max(6.0, font.pointSizeF() * 0.9))
        self.setFont(font)
        self.setText(text)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Fixed)

    def set_color(self, color: str) -> None:
        """Set the color of the text, a theme tone or `#rrggbb`; the background is a tint of it."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """Return the text's size with margins."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 18, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Return the size for a few letters; a longer text is elided."""
        metrics = self.fontMetrics()
        wanted = min(self.sizeHint().width(), metrics.averageCharWidth() * 8 + 14)
        return QSize(wanted, metrics.height() + 4)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint a rounded background and the text."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        box = self.rect().adjusted(0, 0, -1, -1).toRectF().adjusted(0.5, 0.5, 0.5, 0.5)
        theme, color = theme_in_use(), color_of(self._color)
        focused = self.hasFocus()
        painter.setPen(
            QtGui.QPen(QtGui.QColor(theme.accent), 1.5) if focused else Qt.PenStyle.NoPen
        )
        ground = QtGui.QColor(blend(color, theme.surface, 0.12))
        painter.setBrush(ground.darker(106) if self.underMouse() else ground)
        painter.drawRoundedRect(box, 5, 5)
        painter.setPen(QtGui.QColor(color))
        room = self.rect().adjusted(7, 0, -7, 0)
        text = self.fontMetrics().elidedText(self.text(), Qt.TextElideMode.ElideRight, room.width())
        painter.drawText(room, Qt.AlignmentFlag.AlignCenter, text)


class StatusLabel(QLabel):
    """Label for progress or an error of a dialog."""

    def __init__(self, tone: str) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._tone = tone
        paint_text(self, tone)

    def say(self, text: str) -> None:
        """Show a text in the normal tone."""
        self.setText(text)
        paint_text(self, self._tone)

    def complain(self, text: str) -> None:
        """Show a text as an error."""
        self.setText(text)
        paint_text(self, "error")


# A label that shrinks if there is no room.

_TOO_FEW = 4
"""Minimum number of letters, with the ellipsis, of a shortened word."""


class ElidedLabel(QLabel):
    """Label that is elided, or hidden, if there is no room; the tooltip has the full text."""

    def __init__(
        self, parent: QWidget | None = None, *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(parent)
        self.whole = ""
        """The full text."""
        self._mode = mode
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Preferred)
        self.setTextFormat(Qt.TextFormat.PlainText)

    def show_text(self, text: str) -> None:
        """Show a text."""
        self.whole = text
        self.setToolTip(text)
        self.setAccessibleName(text)
        self._elide()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Elide the text for the new width."""
        self._elide()

    def _elide(self) -> None:
        metrics = QtGui.QFontMetrics(self.font())
        shown = metrics.elidedText(self.whole, self._mode, self.width())
        is_cut = shown != self.whole
        self.setText("" if is_cut and len(shown) <= _TOO_FEW else shown)


# An icon in a layout.


class Drawing(QWidget):
    """An icon that is drawn on each paint in the colors of the current theme.

    A label's pixmap keeps its first colors, and stays empty if it was created before the first
    paint of the window.
    """

    def __init__(self, name: str, size: int = 20, tone: str | None = None) -> None:
        """Create the widget.

        Args:
            name: name of the file in `resources/icons`, without `.svg`.
            size: width and height in pixels.
            tone: tone of the theme, or `#rrggbb`; None for the text color.
        """
        super().__init__()
        self._icon = icon(name, tone)
        self.setFixedSize(size, size)

    def draw(self, name: str, tone: str | None = None) -> None:
        """Replace the icon."""
        self._icon = icon(name, tone)
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the icon."""
        painter = QtGui.QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


# Buttons with texts and functions, and widgets with accessible names.

ClickSlot: TypeAlias = Callable[..., object] | SignalInstance
"""Function that a click calls, or signal that it emits."""

_Named = TypeVar("_Named", bound=QWidget)


def push_button(
    words: str,
    clicked: ClickSlot | None = None,
    *,
    drawing: str = "",
    name: str = "",
    tip: str = "",
    parent: QWidget | None = None,
    is_default: bool = False,
    takes_enter: bool = True,
) -> QPushButton:
    """Create a button with a text.

    Args:
        words: text of the button.
        clicked: slot of a click.
        drawing: name of an icon before the text.
        name: accessible name, if it is not the text.
        tip: text of its tooltip.
        parent: parent widget.
        is_default: whether Enter clicks it, whatever has the focus in the dialog.
        takes_enter: whether Enter in a dialog clicks it while it has the focus.
    """
    button = QPushButton(words, parent)
    if drawing:
        button.setIcon(icon(drawing))
    if not takes_enter:
        button.setAutoDefault(False)
    if is_default:
        button.setDefault(True)
    return _ready(button, clicked, name, tip)


def icon_button(
    drawing: str, words: str, clicked: ClickSlot | None = None, *, parent: QWidget | None = None
) -> QToolButton:
    """Create a button with an icon and a text as tooltip and accessible name.

    Args:
        drawing: name of the icon.
        words: description of the function.
        clicked: slot of a click.
        parent: parent widget.
    """
    button = QToolButton(parent)
    button.setIcon(icon(drawing))
    return _ready(button, clicked, words, words)


_Button = TypeVar("_Button", bound=QAbstractButton)


def _ready(button: _Button, clicked: ClickSlot | None, name: str, tip: str) -> _Button:
    if clicked is not None:
        button.clicked.connect(clicked)
    if name:
        button.setAccessibleName(name)
    if tip:
        button.setToolTip(tip)
    return button


def named(widget: _Named, name: str, tip: str = "") -> _Named:
    """Set a widget's accessible name and tooltip, and return it."""
    widget.setAccessibleName(name)
    if tip:
        widget.setToolTip(tip)
    return widget


def toned_label(
    tone: str,
    text: str = "",
    *,
    parent: QWidget | None = None,
    wraps: bool = False,
    is_plain: bool = False,
) -> QLabel:
    """Create a label in a tone of the theme.

    Args:
        tone: `muted`, `error`, …, or `#rrggbb`.
        text: text of the label.
        parent: parent widget.
        wraps: whether long lines wrap.
        is_plain: whether tags in the text are shown literally.
    """
    label = QLabel(text, parent, wordWrap=wraps)
    if is_plain:
        label.setTextFormat(Qt.TextFormat.PlainText)
    paint_text(label, tone)
    return label


# A line between parts of a pane.


class Separator(QFrame):
    """A horizontal line of one pixel in the color of borders."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("separator")
        self.setFrameShape(QFrame.Shape.HLine)
        self.setFixedHeight(1)


# Rows and columns of widgets in one expression each.

LayoutPart: TypeAlias = QWidget | QLayout | tuple[QWidget | QLayout, int] | int
"""Item of a layout: a part, a part with its stretch factor, or an empty stretch."""

Margins: TypeAlias = int | tuple[int, int, int, int] | None
"""One margin for all sides, or left, top, right and bottom, in pixels; None for the style's."""

_Box = TypeVar("_Box", bound=QBoxLayout)


def row_of(
    *parts: LayoutPart,
    on: QWidget | None = None,
    margins: Margins = None,
    spacing: int | None = None,
) -> QHBoxLayout:
    """Return a row of parts; `on` gets it as its layout (`spacing` in pixels)."""
    return _filled(QHBoxLayout() if on is None else QHBoxLayout(on), parts, margins, spacing)


def column_of(
    *parts: LayoutPart,
    on: QWidget | None = None,
    margins: Margins = None,
    spacing: int | None = None,
) -> QVBoxLayout:
    """Return a column of parts; `on` gets it as its layout (`spacing` in pixels)."""
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


def split_of(
    *parts: QWidget,
    stretch: Sequence[int] = (),
    sizes: Sequence[int] = (),
    is_column: bool = False,
    parent: QWidget | None = None,
) -> QSplitter:
    """Return a splitter with parts side by side or one below the other.

    Args:
        parts: the parts, which cannot be collapsed.
        stretch: stretch factor of each part.
        sizes: initial width or height of each part, in pixels.
        is_column: whether the splitter is vertical.
        parent: parent widget.
    """
    turn = Qt.Orientation.Vertical if is_column else Qt.Orientation.Horizontal
    splitter = QSplitter(turn, parent, childrenCollapsible=False)
    for part in parts:
        splitter.addWidget(part)
    for place, share in enumerate(stretch):
        splitter.setStretchFactor(place, share)
    if sizes:
        splitter.setSizes(sizes)
    return splitter


def search_line(words: str, name: str = "", parent: QWidget | None = None) -> QLineEdit:
    """Create a search line with a button to clear it.

    Args:
        words: placeholder text.
        name: accessible name, if it is not the placeholder.
        parent: parent widget.
    """
    line = QLineEdit(parent, placeholderText=words, clearButtonEnabled=True)
    return named(line, name or words)


def empty_layout(layout: QLayout) -> None:
    """Remove all items from a layout and delete their widgets."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


def scroll_area(page: QWidget | None = None, parent: QWidget | None = None) -> QScrollArea:
    """Create a scroll area without a frame, with a page of the available width."""
    area = QScrollArea(parent, widgetResizable=True)
    area.setFrameShape(QFrame.Shape.NoFrame)
    if page is not None:
        area.setWidget(page)
    return area


# A layout that puts items side by side and wraps to new lines.


class FlowLayout(QLayout):
    """Layout of items at their own size in lines from the top."""

    def __init__(self, parent: QWidget | None = None, spacing: int = 6) -> None:
        super().__init__(parent)
        self._items: list[QLayoutItem] = []
        self._gap = spacing
        self.setContentsMargins(0, 0, 0, 0)

    def addItem(self, item: QLayoutItem) -> None:  # noqa: N802 - Qt's name
        """Append an item (called by `addWidget`)."""
        self._items.append(item)

    def count(self) -> int:
        """Return the number of items."""
        return len(self._items)

    def itemAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Return the item at an index, if there is one."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Remove and return the item at an index."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """Return no direction: the layout does not expand."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrower flow is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height of the lines at a width."""
        return self._place(QRect(0, 0, width, 0), move=False)

    def setGeometry(self, rect: QRect) -> None:  # noqa: N802 - Qt's name
        """Place every item."""
        super().setGeometry(rect)
        self._place(rect, move=True)

    def sizeHint(self) -> QSize:
        """Return the size of all items on one line."""
        hints = [item.sizeHint() for item in self._items if not item.isEmpty()]
        width = sum(hint.width() for hint in hints) + self._gap * max(0, len(hints) - 1)
        return QSize(width, max((hint.height() for hint in hints), default=0))

    def minimumSize(self) -> QSize:  # noqa: N802 - Qt's name
        """Return the minimum width of the widest item."""
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


# Layout of dialogs that save or cancel: fields, with both buttons below.


def lay_out_to_save(dialog: QDialog, *parts: QLayout | QWidget) -> None:
    """Lay out the parts of a dialog one below the other, with its two buttons at the end."""
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


# The size of a dialog on small screens.

_TITLE_BAR = 40
"""Height of the window's frame and title bar, in pixels."""


def resize_within_screen(dialog: QWidget, width: int, height: int) -> None:
    """Resize a dialog, at most to the size of the screen, so that its buttons can be reached."""
    room = dialog.screen().availableGeometry()
    dialog.resize(min(width, room.width() - 8), min(height, room.height() - _TITLE_BAR))


class ClosingDialog(QDialog):
    """A dialog that is deleted when it is closed."""

    def __init__(
        self, parent: QWidget | None, title: str, size: tuple[int, int] | None = None
    ) -> None:
        """Create an empty dialog.

        Args:
            parent: parent window.
            title: title of the dialog.
            size: width and height in pixels, limited to the screen; None for the size of its
                content.
        """
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(title)
        if size is not None:
            resize_within_screen(self, *size)


# Common style of tables without a frame and a grid.


def style_table(table: QTableView, name: str, row_height: int = 0) -> None:
    """Set a table's accessible name, and align cells with the headers.

    Args:
        table: the table.
        name: its accessible name.
        row_height: height of each row in pixels; 0 for that of the style.
    """
    table.setAccessibleName(name)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    # With its own style sheet, each header would be queried four times as often.
    table.setProperty("padded", True)
    table.verticalHeader().hide()
    if row_height:
        table.verticalHeader().setDefaultSectionSize(row_height)
    table.horizontalHeader().setHighlightSections(False)


def row_list(
    name: str,
    heads: Sequence[str],
    stretched: int,
    *,
    fitted: Sequence[int] = (),
    parent: QWidget | None = None,
) -> QTreeWidget:
    """Create a list with columns and headers.

    Args:
        name: accessible name.
        heads: header of each column.
        stretched: column that gets the remaining width.
        fitted: columns as wide as their texts.
        parent: parent widget.
    """
    rows = named(QTreeWidget(parent), name)
    rows.setRootIsDecorated(False)
    rows.setUniformRowHeights(True)
    rows.setHeaderLabels(heads)
    header = rows.header()
    header.setStretchLastSection(False)
    header.setSectionResizeMode(stretched, QHeaderView.ResizeMode.Stretch)
    for column in fitted:
        header.setSectionResizeMode(column, QHeaderView.ResizeMode.ResizeToContents)
    return rows


# Keys that have another function in a pane than in the window.


class OwnKeys(QObject):
    """Handles keys before the window's shortcuts while the widget or a child has the focus.

    A second shortcut with the same key would be ambiguous, and Qt would trigger neither.
    """

    def __init__(self, widget: QWidget, keys: Mapping[str, Callable[[], object]]) -> None:
        """Watch a widget.

        Args:
            widget: the widget.
            keys: function of each key by name ("Ctrl+F").
        """
        super().__init__(widget)
        self._keys = {QtGui.QKeySequence(name).toString(): act for name, act in keys.items()}
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim one of the keys, then call its function."""
        if not isinstance(event, QtGui.QKeyEvent):
            return False
        act = self._keys.get(QtGui.QKeySequence(event.keyCombination()).toString())
        if act is None:
            return False
        if event.type() == QEvent.Type.ShortcutOverride:
            event.accept()
            return True
        if event.type() == QEvent.Type.KeyPress:
            act()
            return True
        return False
