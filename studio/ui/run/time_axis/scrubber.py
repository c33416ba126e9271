"""The scrubber: the steps of a run as bars along the time, with a cursor to drag."""

from collections.abc import Sequence
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolButton, QWidget

from studio.application.run.cards.card import CardKind, StepCard
from studio.application.words import tr
from studio.core.text.amounts import duration
from studio.ui.parts.kit import row_of
from studio.ui.parts.painted_parts import PaintedPart, PaintedParts
from studio.ui.style.theme import (
    FollowsTheme,
    blend,
    icon,
    is_motion_reduced,
    paint_focus,
    small_font,
    theme_in_use,
)
from studio.viewmodels.app.jobs import single_shot

_HEIGHT = 52
_BASE = 36
"""Height of the bars' base line in pixels; the iteration numbers are below."""

_LEAST, _MOST = 6.0, 28.0
_WIDEST, _NARROWEST = 40.0, 5.0
_LEFT, _RIGHT = 104.0, 72.0

_ROLE_OF_KIND: dict[CardKind, str] = {
    "prompt": "user",
    "message": "user",
    "thought": "assistant",
    "reply": "assistant",
    "action": "tool",
    "observation": "tool",
    "final": "assistant",
    "note": "user",
}


class RunScrubber(QWidget):
    """A bar for each card: its height is the duration, its color the kind, or red for an error."""

    row_chosen = Signal(int)  # row of the card that the cursor moves to

    def __init__(self) -> None:
        super().__init__()
        self.cards: Sequence[StepCard] = ()
        """The cards with bars."""
        self.row = -1
        """Row of the card at the cursor; negative for none."""
        self._total = 0.0
        self._known: tuple[int, int, float] | None = None
        """First row and number of visible bars, and their longest time."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(tr("Steps in time"))
        PaintedParts(self, self._parts)
        self.setToolTip(tr("Drag, or use Left and Right, to go through the run"))

    def show_cards(self, cards: Sequence[StepCard], total: float) -> None:
        """Show a run's cards; `total` is its working time in seconds."""
        self.cards, self._total, self._known = cards, total, None
        self.row = min(self.row, len(cards) - 1)
        self.update()

    def show_cursor(self, row: int) -> None:
        """Move the cursor to a card."""
        if row != self.row:
            self.row = row
            if 0 <= row < len(self.cards):
                self.setAccessibleDescription(self.cards[row].spoken)
            self.update()

    def sizeHint(self) -> QSize:
        """Return a wide and low size."""
        return QSize(640, _HEIGHT)

    def minimumSizeHint(self) -> QSize:
        """Return a minimum size that leaves room for the parts below."""
        return QSize(280, 0)

    # Geometry -------------------------------------------------------------------------------------

    def _window(self) -> tuple[int, int, float]:
        """Return the first row and the number of visible bars, and the width of each."""
        room = max(1.0, self.width() - _LEFT - _RIGHT)
        count = len(self.cards)
        width = min(_WIDEST, room / max(1, count))
        if width >= _NARROWEST:
            return 0, count, width
        shown = int(room / _NARROWEST)
        first = max(0, min(self.row - shown // 2, count - shown))
        return first, shown, _NARROWEST

    def row_at(self, x: float) -> int:
        """Return the row of the bar at a position, or of the nearest bar."""
        first, count, width = self._window()
        return first + max(0, min(count - 1, int((x - _LEFT) / width)))

    def bar_of(self, row: int) -> QRectF:
        """Return the rectangle of a visible bar."""
        first, _, width = self._window()
        card = self.cards[row]
        height = max(_LEAST, min(_MOST, _MOST * (card.seconds / self._slowest()) ** 0.5))
        gap = 1.0 if width < 12 else 2.0
        left = _LEFT + (row - first) * width
        return QRectF(left + gap, _BASE - height, max(2.0, width - 2 * gap), height)

    def _parts(self) -> list[PaintedPart]:
        """Return the visible bars, for screen readers."""
        first, count, _ = self._window()
        rows = range(first, first + count) if self.cards else range(0)
        return [
            PaintedPart(self.cards[row].spoken, self.bar_of(row).toAlignedRect()) for row in rows
        ]

    def _slowest(self) -> float:
        """Return the longest visible time, computed once, since past cards must be read."""
        first, count, _ = self._window()
        if self._known is None or self._known[:2] != (first, count):
            seen = self.cards[first : first + count]
            longest = max((each.seconds for each in seen), default=0) or 1.0
            self._known = (first, count, longest)
        return self._known[2]

    # Painting -------------------------------------------------------------------------------------

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the count, the bars, the iteration numbers, the time and the cursor."""
        theme = theme_in_use()
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QtGui.QColor(theme.window))
        painter.setFont(small_font(self.font()))
        if not self.cards:
            return
        self._paint_texts(painter)
        first, count, _ = self._window()
        painter.setPen(QtGui.QPen(QtGui.QColor(theme.border), 1.0))
        painter.drawLine(QPointF(_LEFT, _BASE + 0.5), QPointF(self.width() - _RIGHT, _BASE + 0.5))
        for row in range(first, first + count):
            self._paint_bar(painter, row)
        if first <= self.row < first + count:
            self._paint_cursor(painter, self.bar_of(self.row))
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _paint_texts(self, painter: QtGui.QPainter) -> None:
        theme = theme_in_use()
        painter.setPen(QtGui.QColor(theme.text))
        words = tr("{row} of {count}").format(row=f"{self.row + 1:,}", count=f"{len(self.cards):,}")
        left = QRectF(16, 0, _LEFT - 24, _BASE)
        painter.drawText(left, Qt.AlignmentFlag.AlignVCenter, words)
        painter.setPen(QtGui.QColor(theme.muted))
        right = QRectF(self.width() - _RIGHT, 0, _RIGHT - 16, _BASE)
        at = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(right, at, duration(self._total))

    def _paint_bar(self, painter: QtGui.QPainter, row: int) -> None:
        theme, card = theme_in_use(), self.cards[row]
        box = self.bar_of(row)
        tone = (
            theme.error
            if card.phase == "error"
            else theme.roles[_ROLE_OF_KIND.get(card.kind, "user")]
        )
        stands_here = card.phase in ("live", "paused")
        painter.setPen(
            QtGui.QPen(QtGui.QColor(tone), 1.2, Qt.PenStyle.DashLine)
            if stands_here
            else Qt.PenStyle.NoPen
        )
        painter.setBrush(
            Qt.BrushStyle.NoBrush if stands_here else QtGui.QColor(blend(tone, theme.window, 0.85))
        )
        painter.drawRoundedRect(box, 2, 2)
        if "edited" in card.badges or "forked" in card.badges:
            painter.setPen(QtGui.QColor(theme.accent))
            star = QRectF(box.center().x() - 8, box.top() - 14, 16, 14)
            painter.drawText(star, Qt.AlignmentFlag.AlignCenter, "★")
        if card.kind == "prompt":
            painter.setPen(QtGui.QColor(theme.muted))
            label = QRectF(box.left() - 2, _BASE + 1, 48, _HEIGHT - _BASE - 2)
            if card.step == 1 or box.width() > 10 or card.step % 10 == 0:
                painter.drawText(label, Qt.AlignmentFlag.AlignVCenter, f"{card.step}")

    def _paint_cursor(self, painter: QtGui.QPainter, box: QRectF) -> None:
        x = round(box.center().x()) + 0.5
        accent = QtGui.QColor(theme_in_use().accent)
        painter.setPen(QtGui.QPen(accent, 2.0))
        painter.drawLine(QPointF(x, 6), QPointF(x, _BASE + 4))
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(accent)
        flag = ((x - 4, 1), (x + 4, 1), (x + 4, 6), (x, 10), (x - 4, 6))
        painter.drawPolygon(QtGui.QPolygonF([QPointF(*each) for each in flag]))

    # Mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the clicked bar."""
        if event.button() == Qt.MouseButton.LeftButton and self.cards:
            self.row_chosen.emit(self.row_at(event.position().x()))

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Move the cursor through the run while dragging."""
        if event.buttons() & Qt.MouseButton.LeftButton and self.cards:
            row = self.row_at(event.position().x())
            if row != self.row:
                self.row_chosen.emit(row)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Move by one on Left and Right, to the ends on Home and End."""
        last = len(self.cards) - 1
        match event.key():
            case Qt.Key.Key_Left:
                row = self.row - 1
            case Qt.Key.Key_Right:
                row = self.row + 1
            case Qt.Key.Key_Home:
                row = 0
            case Qt.Key.Key_End:
                row = last
            case _:
                super().keyPressEvent(event)
                return
        if 0 <= row <= last:
            self.row_chosen.emit(row)


# Playback of a finished run: the cursor moves from card to card, in real time or faster.

SPEEDS = (1, 2, 4, 16)
_SHORTEST_MS, _SHORTEST_STILL_MS = 60, 1_000
"""Minimum milliseconds per card, normally and with reduced motion, to avoid flicker."""


class PlayedScrubber(FollowsTheme, QWidget):
    """The scrubber with a playback button that moves the cursor from card to card.

    Playback stops at the last card, or when the user moves the cursor.
    """

    def __init__(self, scrubber: RunScrubber) -> None:
        super().__init__()
        self.scrubber = scrubber
        self._timer = single_shot(self, self._on_time)
        self._row = -1
        self.button = QToolButton(autoRaise=True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self._on_clicked)
        self.speed = QToolButton(autoRaise=True)
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.speed.setAccessibleName(tr("Playback speed"))
        self.speed.setToolTip(tr("Speed compared with the original run"))
        menu = QMenu(self.speed)
        for speed in SPEEDS:
            menu.addAction(f"{speed}×").triggered.connect(partial(self._choose, speed))
        self.speed.setMenu(menu)
        row_of(self.button, self.speed, (scrubber, 1), on=self, margins=(8, 0, 0, 0), spacing=0)
        self._choose(SPEEDS[0])
        self.allow(False)
        self.follow_theme()

    @property
    def is_playing(self) -> bool:
        """Whether playback is running."""
        return self._timer.isActive()

    def play(self) -> None:
        """Start playback at the cursor, or at the first card if the cursor is at the last one."""
        last, row = len(self.scrubber.cards) - 1, self.scrubber.row
        if last > 0:
            self._go(row if 0 <= row < last else 0)

    def stop(self) -> None:
        """Stop playback; the cursor stays."""
        self._timer.stop()
        self.recolor()

    def allow(self, allowed: bool) -> None:
        """Enable playback only for a finished run; stop it if the run continues."""
        if not allowed:
            self.stop()
        for button in (self.button, self.speed):
            button.setEnabled(allowed and len(self.scrubber.cards) > 1)

    def stay_of(self, row: int) -> int:
        """Return the duration of a card in playback, in milliseconds."""
        shortest = _SHORTEST_STILL_MS if is_motion_reduced() else _SHORTEST_MS
        return max(shortest, round(self.scrubber.cards[row].seconds * 1000 / self._speed))

    def recolor(self) -> None:
        """Update the button's icon and text, in the colors of the current theme."""
        words = tr("Stop playing") if self.is_playing else tr("Play the run back")
        self.button.setIcon(icon("pause" if self.is_playing else "play"))
        self.button.setToolTip(tr("{words}  (Space at the steps)").format(words=words))
        self.button.setAccessibleName(words)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Start or stop playback on Space."""
        if event.key() == Qt.Key.Key_Space and self.button.isEnabled():
            self._on_clicked()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Stop playback when the widget is hidden."""
        super().hideEvent(event)
        self.stop()

    def _on_clicked(self) -> None:
        if self.is_playing:
            self.stop()
        else:
            self.play()

    def _choose(self, speed: int) -> None:
        self._speed = speed
        self.speed.setText(f"{speed}×")

    def _go(self, row: int) -> None:
        self._row = row
        if row != self.scrubber.row:
            self.scrubber.row_chosen.emit(row)
        self._timer.start(self.stay_of(row))
        self.recolor()

    def _on_time(self) -> None:
        following, last = self._row + 1, len(self.scrubber.cards) - 1
        if self.scrubber.row == self._row and following <= last:
            self._go(following)
        if self._row >= last or self.scrubber.row != self._row:
            self.stop()
