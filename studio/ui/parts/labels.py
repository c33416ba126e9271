"""A small rounded label that can be clicked: an attribute, a tag, a link to a place."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias, TypeVar

from PySide6.QtCore import QSize, Qt, SignalInstance
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter, QPaintEvent, QPen, QResizeEvent
from PySide6.QtWidgets import (
    QAbstractButton,
    QFrame,
    QLabel,
    QPushButton,
    QSizePolicy,
    QToolButton,
    QWidget,
)

from studio.ui.style.theme import blend, color_of, icon, paint_text, theme_in_use


class Chip(QAbstractButton):
    """Painted by hand: hundreds of them must cost little, and style sheets cost a lot."""

    def __init__(self, text: str, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._color = "muted"
        font = QFont(self.font())
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
        """The text with a little room around it."""
        metrics = self.fontMetrics()
        return QSize(metrics.horizontalAdvance(self.text()) + 18, metrics.height() + 4)

    def minimumSizeHint(self) -> QSize:
        """Room for a few letters; a longer text is cut with an ellipsis."""
        metrics = self.fontMetrics()
        wanted = min(self.sizeHint().width(), metrics.averageCharWidth() * 8 + 14)
        return QSize(wanted, metrics.height() + 4)

    def paintEvent(self, event: QPaintEvent) -> None:
        """A rounded ground and the text."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        box = self.rect().adjusted(0, 0, -1, -1).toRectF().adjusted(0.5, 0.5, 0.5, 0.5)
        theme, color = theme_in_use(), color_of(self._color)
        focused = self.hasFocus()
        painter.setPen(QPen(QColor(theme.accent), 1.5) if focused else Qt.PenStyle.NoPen)
        ground = QColor(blend(color, theme.surface, 0.12))
        painter.setBrush(ground.darker(106) if self.underMouse() else ground)
        painter.drawRoundedRect(box, 5, 5)
        painter.setPen(QColor(color))
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
        self,
        parent: QWidget | None = None,
        *,
        mode: Qt.TextElideMode = Qt.TextElideMode.ElideRight,
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

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Cut anew."""
        self._elide()

    def _elide(self) -> None:
        metrics = QFontMetrics(self.font())
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

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw it."""
        painter = QPainter(self)
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
