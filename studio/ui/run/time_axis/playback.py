"""Playing back a run that is over: the cursor goes from card to card, in real time or faster."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent
from PySide6.QtWidgets import QMenu, QToolButton, QWidget

from studio.application.words import tr
from studio.ui.parts.layouts import row_of
from studio.ui.run.time_axis.scrubber import RunScrubber
from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme
from studio.ui.style.motion import is_motion_reduced

SPEEDS = (1, 2, 4, 16)
_SHORTEST_MS, _SHORTEST_STILL_MS = 60, 1_000
"""How long a card is shown at least; with less motion, long enough that nothing flickers."""


class PlayedScrubber(FollowsTheme, QWidget):
    """The scrubber, and beside it what moves its cursor from card to card.

    It stops at the last card, or where the user goes elsewhere.
    """

    def __init__(self, scrubber: RunScrubber) -> None:
        super().__init__()
        self.scrubber = scrubber
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_time)
        self._row = -1
        self.button = QToolButton(autoRaise=True)
        self.button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.button.clicked.connect(self._on_clicked)
        self.speed = QToolButton(autoRaise=True)
        self.speed.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.speed.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.speed.setAccessibleName(tr("Speed of playing back"))
        self.speed.setToolTip(tr("How much faster than it was"))
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
        """Whether the cursor moves."""
        return self._timer.isActive()

    def play(self) -> None:
        """Begin at the cursor; at the first card where it stands at the last one."""
        last, row = len(self.scrubber.cards) - 1, self.scrubber.row
        if last > 0:
            self._go(row if 0 <= row < last else 0)

    def stop(self) -> None:
        """Leave the cursor where it is."""
        self._timer.stop()
        self.recolor()

    def allow(self, allowed: bool) -> None:
        """Offer it only for a run that is over; one that begins or goes on ends it."""
        if not allowed:
            self.stop()
        for button in (self.button, self.speed):
            button.setEnabled(allowed and len(self.scrubber.cards) > 1)

    def stay_of(self, row: int) -> int:
        """How long a card is shown, in milliseconds: as long as its work took."""
        shortest = _SHORTEST_STILL_MS if is_motion_reduced() else _SHORTEST_MS
        return max(shortest, round(self.scrubber.cards[row].seconds * 1000 / self._speed))

    def recolor(self) -> None:
        """Show on the button, in the colors of the theme in use, what a click on it does."""
        words = tr("Stop playing") if self.is_playing else tr("Play the run back")
        self.button.setIcon(icon("pause" if self.is_playing else "play"))
        self.button.setToolTip(tr("{words}  (Space at the steps)").format(words=words))
        self.button.setAccessibleName(words)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space at the scrubber plays and stops."""
        if event.key() == Qt.Key.Key_Space and self.button.isEnabled():
            self._on_clicked()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """What cannot be seen does not move."""
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
