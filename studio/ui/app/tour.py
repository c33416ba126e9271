"""A short tour: each step points at a part of the window. Esc ends it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QPainter, QPainterPath, QPaintEvent, QPen
from PySide6.QtWidgets import QFrame, QLabel, QWidget

from studio.application.words import tr
from studio.core.paths import resource_table
from studio.ui.parts.kit import column_of, push_button, row_of, toned_label
from studio.ui.style.theme import FollowsTheme, theme_in_use

if TYPE_CHECKING:
    from studio.ui.window.parts import WindowParts

_WIDTH = 340
_GAP = 14
_MARGIN = 12


@dataclass(frozen=True, slots=True)
class TourStep:
    """One step of the tour."""

    part: str
    """The part: name of a dock, "editor", "toolbar" or "status"."""

    title: str
    """Title in a few words."""

    text: str
    """Text of one or two sentences."""


STOPS = tuple(TourStep(part, **rows) for part, rows in resource_table("words", "tour.txt").items())


class Tour(FollowsTheme, QWidget):
    """Darkens the window except for one part, and shows a card beside it."""

    ended = Signal()

    def __init__(self, window: WindowParts) -> None:
        super().__init__(window.widget)
        self._window = window
        self._index = 0
        self._hole = QRect()
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setAccessibleName(tr("Tour of the window"))
        self.card = QFrame(self)
        self.card.setObjectName("tour")
        self.card.setFixedWidth(_WIDTH)
        self.title = QLabel(wordWrap=True)
        self.title.setProperty("title", True)
        self.text = QLabel(wordWrap=True)
        self.count = toned_label("muted")
        self.skip = push_button(tr("End the tour"), self.close)
        self.back = push_button(tr("Back"), lambda: self.go(self._index - 1))
        self.forward = push_button("", lambda: self.go(self._index + 1))
        self.forward.setProperty("primary", True)
        for button in (self.skip, self.back, self.forward):
            button.setAutoDefault(True)  # Return presses the button with the focus
        self._lay_out()
        window.widget.installEventFilter(self)
        self.follow_theme()

    def _lay_out(self) -> None:
        row = row_of(self.count, 1, self.skip, self.back, self.forward, spacing=8)
        column_of(self.title, self.text, row, on=self.card, margins=(16, 12, 16, 12), spacing=8)

    @property
    def part(self) -> str:
        """Return the part of the step."""
        return STOPS[self._index].part

    def start(self) -> None:
        """Start with the first step."""
        self.setGeometry(self._window.widget.rect())
        self.show()
        self.raise_()
        self.go(0)

    def go(self, index: int) -> None:
        """Show a step; after the last one, the tour ends."""
        if index >= len(STOPS):
            self.close()
            return
        self._index = max(0, index)
        stop = STOPS[self._index]
        if stop.part in self._window.docks:
            self._window.docks.show(stop.part)
            self.raise_()  # a dock that is raised covers the tour
        self.title.setText(tr(stop.title))
        self.text.setText(tr(stop.text))
        self.count.setText(
            tr("{number} of {count}").format(number=self._index + 1, count=len(STOPS))
        )
        self.back.setEnabled(self._index > 0)
        is_last = self._index == len(STOPS) - 1
        self.forward.setText(tr("Done") if is_last else tr("Next"))
        self.forward.setFocus()
        self._place()

    def _place(self) -> None:
        part = _widget_of(self._window, STOPS[self._index].part)
        corner = part.mapTo(self._window.widget, QPoint(0, 0))
        self._hole = QRect(corner, part.size()).intersected(self.rect())
        # Not `adjustSize`: it measures wrapped text before the width is known.
        layout = self.card.layout()
        if layout is not None:
            self.card.resize(_WIDTH, layout.totalHeightForWidth(_WIDTH))
        self.card.move(_beside(self._hole, self.card.rect(), self.rect()))
        self.update()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self.card.setStyleSheet(
            f"QFrame#tour {{ background: {theme.surface}; border: 1px solid {theme.border};"
            " border-radius: 8px; }"
        )

    # -- events ---------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Darken everything except the part."""
        del event
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        shade = QPainterPath()
        shade.addRect(self.rect())
        light = QPainterPath()
        light.addRoundedRect(self._hole, 6, 6)
        painter.fillPath(shade.subtracted(light), QColor(0, 0, 0, 110))
        painter.setPen(QPen(QColor(theme_in_use().accent), 2))
        painter.drawPath(light)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Close on Esc; go forward and back on the arrow keys."""
        keys: dict[int, Callable[[], object]] = {
            int(Qt.Key.Key_Escape): self.close,
            int(Qt.Key.Key_Right): lambda: self.go(self._index + 1),
            int(Qt.Key.Key_Left): lambda: self.go(self._index - 1),
        }
        act = keys.get(event.key())
        if act is None:
            super().keyPressEvent(event)
        else:
            act()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Cover the window when its size changes."""
        if event.type() == QEvent.Type.Resize and watched is self._window.widget:
            self.setGeometry(self._window.widget.rect())
            self._place()
        return False

    def hideEvent(self, event: QEvent) -> None:
        """Emit that the tour has ended."""
        self._window.widget.removeEventFilter(self)
        self.ended.emit()
        super().hideEvent(event)  # type: ignore[arg-type]


def _widget_of(window: WindowParts, part: str) -> QWidget:
    if part == "toolbar":
        return window.toolbar
    if part == "status":
        return window.status
    if part in window.docks:
        return window.docks[part]
    return window.tabs


def _beside(hole: QRect, card: QRect, room: QRect) -> QPoint:
    """Return the card's position beside the part: right, left, below, above, or in a corner."""
    width, height = card.width(), card.height()
    middle_y = hole.center().y() - height // 2
    middle_x = hole.center().x() - width // 2
    for place in (
        QPoint(hole.right() + _GAP, middle_y),
        QPoint(hole.left() - _GAP - width, middle_y),
        QPoint(middle_x, hole.bottom() + _GAP),
        QPoint(middle_x, hole.top() - _GAP - height),
    ):
        x = min(max(place.x(), _MARGIN), room.width() - width - _MARGIN)
        y = min(max(place.y(), _MARGIN), room.height() - height - _MARGIN)
        if not QRect(QPoint(x, y), card.size()).intersects(hole):
            return QPoint(x, y)
    return QPoint(hole.right() - width - _MARGIN, hole.bottom() - height - _MARGIN)
