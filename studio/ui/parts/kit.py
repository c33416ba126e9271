"""Kit of the window: labels, buttons, rows and columns, dialogs, the look of tables."""

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
    """Painted by hand: hundreds of them must cost little, and style sheets cost a lot."""

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
        """Write in a tone of the theme or in `#rrggbb`, over a breath of it."""
        self._color = color
        self.update()

    def sizeHint(self) -> QSize:
        """Return the text's size with a little room around it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 18, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Return room for a few letters; a longer text is cut with an ellipsis."""
        metrics = self.fontMetrics()
        wanted = min(self.sizeHint().width(), metrics.averageCharWidth() * 8 + 14)
        return QSize(wanted, metrics.height() + 4)

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint a rounded ground and the text."""
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
    """Says what is going on in a dialog, or what went wrong."""

    def __init__(self, tone: str) -> None:
        super().__init__(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
        self._tone = tone
        paint_text(self, tone)

    def say(self, text: str) -> None:
        """Show a text in the usual tone."""
        self.setText(text)
        paint_text(self, self._tone)

    def complain(self, text: str) -> None:
        """Show a text as an error."""
        self.setText(text)
        paint_text(self, "error")


# A label that gives way where there is no room.

_TOO_FEW = 4
"""Letters, with the ellipsis: a word of which fewer are left says nothing."""


class ElidedLabel(QLabel):
    """A label that gives way: cut with an ellipsis, or not there; whole in its tooltip."""

    def __init__(
        self, parent: QWidget | None = None, *, mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight
    ) -> None:
        super().__init__(parent)
        self.whole = ""
        """The text, uncut."""
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
        """Cut anew."""
        self._elide()

    def _elide(self) -> None:
        metrics = QtGui.QFontMetrics(self.font())
        shown = metrics.elidedText(self.whole, self._mode, self.width())
        is_cut = shown != self.whole
        self.setText("" if is_cut and len(shown) <= _TOO_FEW else shown)


# An icon as a part of a layout.


class Drawing(QWidget):
    """An icon, drawn when it is painted: in the colors of the theme that the window has then.

    A label's picture keeps the colors that it was made in, and stays empty when it was made before
    the first paint of the window.
    """

    def __init__(self, name: str, size: int = 20, tone: str | None = None) -> None:
        """Draw an icon.

        Args:
            name: its file in `resources/icons`, without `.svg`.
            size: width and height in pixels.
            tone: of the theme, or `#rrggbb`; None is the text's.
        """
        super().__init__()
        self._icon = icon(name, tone)
        self.setFixedSize(size, size)

    def draw(self, name: str, tone: str | None = None) -> None:
        """Draw another icon from now on."""
        self._icon = icon(name, tone)
        self.update()

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Draw it."""
        painter = QtGui.QPainter(self)
        self._icon.paint(painter, self.rect())
        painter.end()


# Buttons with their words and what they do, and widgets with their names.

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
    """Make a button with words.

    Args:
        words: text on it.
        clicked: what a click does.
        drawing: name of an icon before the words.
        name: accessible name, where it is not the words.
        tip: text of its tooltip.
        parent: the widget that it is in.
        is_default: whether Enter clicks it wherever the keyboard is in the dialog.
        takes_enter: whether Enter in a dialog clicks it while it has the keyboard.
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
    """Make a button that shows a drawing; its tooltip and accessible name are its words.

    Args:
        drawing: the name of an icon.
        words: what it does.
        clicked: what a click does.
        parent: the widget that it is in.
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
    """Return a widget that has its accessible name, and a tooltip."""
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
    """Make a label in a tone of the theme.

    Args:
        tone: `muted`, `error`, …, or `#rrggbb`.
        text: its text.
        parent: the widget that it is in.
        wraps: whether lines are broken where the room ends.
        is_plain: whether tags in a text are shown as they are written.
    """
    label = QLabel(text, parent, wordWrap=wraps)
    if is_plain:
        label.setTextFormat(Qt.TextFormat.PlainText)
    paint_text(label, tone)
    return label


# A line between the parts of a pane.


class Separator(QFrame):
    """One pixel from left to right, in the color of borders."""

    def __init__(self) -> None:
        super().__init__()
        self.setObjectName("separator")
        self.setFrameShape(QFrame.Shape.HLine)
        self.setFixedHeight(1)


# Rows and columns of widgets, each in one expression.

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


def split_of(
    *parts: QWidget,
    stretch: Sequence[int] = (),
    sizes: Sequence[int] = (),
    is_column: bool = False,
    parent: QWidget | None = None,
) -> QSplitter:
    """Return parts beside each other with bars between them that can be dragged.

    Args:
        parts: the parts; none of them can be dragged away.
        stretch: share of each part in room that is added.
        sizes: width or height of each part at first, in pixels.
        is_column: whether the parts are one below the other.
        parent: the widget that it is in.
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
    """Make a line to search or filter by, which a button clears.

    Args:
        words: what it says while it is empty.
        name: accessible name, where it is not the words.
        parent: the widget that it is in.
    """
    line = QLineEdit(parent, placeholderText=words, clearButtonEnabled=True)
    return named(line, name or words)


def empty_layout(layout: QLayout) -> None:
    """Take everything out of a layout, and delete its widgets."""
    while (item := layout.takeAt(0)) is not None:
        if (widget := item.widget()) is not None:
            widget.hide()
            widget.deleteLater()


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
        """Return the item at an index, if there is one."""
        return self._items[index] if 0 <= index < len(self._items) else None

    def takeAt(self, index: int) -> QLayoutItem | None:  # noqa: N802 - Qt's name
        """Remove and return the item at an index."""
        return self._items.pop(index) if 0 <= index < len(self._items) else None

    def expandingDirections(self) -> Qt.Orientation:  # noqa: N802 - Qt's name
        """Return no direction: the layout takes no more room than it needs."""
        return Qt.Orientation(0)

    def hasHeightForWidth(self) -> bool:
        """Return True: a narrower flow is higher."""
        return True

    def heightForWidth(self, width: int) -> int:
        """Return the height that the lines take at a width."""
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
        """Return the widest item's least width."""
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


# The look that tables without a frame and a grid have in common.


def style_table(table: QTableView, name: str, row_height: int = 0) -> None:
    """Give a table its accessible name, and cells in line with the heads.

    Args:
        table: the table.
        name: its accessible name.
        row_height: height of each row in pixels; 0 for that of the style.
    """
    table.setAccessibleName(name)
    table.setFrameShape(QFrame.Shape.NoFrame)
    table.setShowGrid(False)
    # A sheet of its own would have each head asked four times as often.
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
    """Make a list of rows with columns and heads.

    Args:
        name: its accessible name.
        heads: head of each column.
        stretched: the column that takes the room that is left.
        fitted: columns that are as wide as their texts.
        parent: the widget that it is in.
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


# Keys that mean something else in one pane than in the window around it.


class OwnKeys(QObject):
    """Takes keys before the window's shortcuts do, while the widget (or a child) has the keyboard.

    A second shortcut with the same key would be ambiguous, and Qt would follow neither.
    """

    def __init__(self, widget: QWidget, keys: Mapping[str, Callable[[], object]]) -> None:
        """Watch a widget.

        Args:
            widget: whose keys they are.
            keys: what each does, by its name ("Ctrl+F").
        """
        super().__init__(widget)
        self._keys = {QtGui.QKeySequence(name).toString(): act for name, act in keys.items()}
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Claim a key of ours, then act on it."""
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
