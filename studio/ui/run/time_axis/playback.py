"""Playing back a run that is over: the cursor goes from card to card, in real time or faster."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QObject, Qt, QTimer, Signal
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


class Playback(QObject):
    """Moves the cursor of a scrubber; stops at the last card, or where the user goes elsewhere."""

    changed = Signal(bool)  # whether it plays

    def __init__(self, scrubber: RunScrubber) -> None:
        super().__init__(scrubber)
        self._scrubber = scrubber
        self._timer = QTimer(self, singleShot=True)
        self._timer.timeout.connect(self._on_time)
        self._row = -1
        self.speed = SPEEDS[0]
        """How many times faster than it was."""

    @property
    def is_playing(self) -> bool:
        """Whether the cursor moves."""
        return self._timer.isActive()

    def play(self) -> None:
        """Begin at the cursor; at the first card where it stands at the last one."""
        last = len(self._scrubber.cards) - 1
        if last < 1:
            return
        row = self._scrubber.row
        self._go(row if 0 <= row < last else 0)
        self.changed.emit(True)

    def stop(self) -> None:
        """Leave the cursor where it is."""
        if self.is_playing:
            self._timer.stop()
            self.changed.emit(False)

    def stay_of(self, row: int) -> int:
        """How long a card is shown, in milliseconds: as long as its work took."""
        shortest = _SHORTEST_STILL_MS if is_motion_reduced() else _SHORTEST_MS
        return max(shortest, round(self._scrubber.cards[row].seconds * 1000 / self.speed))

    def _go(self, row: int) -> None:
        self._row = row
        if row != self._scrubber.row:
            self._scrubber.row_chosen.emit(row)
        self._timer.start(self.stay_of(row))

    def _on_time(self) -> None:
        following = self._row + 1
        was_left = self._scrubber.row != self._row
        if was_left or following >= len(self._scrubber.cards):
            self.changed.emit(False)
            return
        self._go(following)
        if following == len(self._scrubber.cards) - 1:
            self.stop()


class PlayedScrubber(FollowsTheme, QWidget):
    """The scrubber with what plays the run back beside it."""

    def __init__(self, scrubber: RunScrubber) -> None:
        super().__init__()
        self.scrubber = scrubber
        self.playback = Playback(scrubber)
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
        self.playback.changed.connect(self._show)
        self._choose(SPEEDS[0])
        self.allow(False)
        self.follow_theme()

    def allow(self, allowed: bool) -> None:
        """Offer it only for a run that is over; one that begins or goes on ends it."""
        if not allowed:
            self.playback.stop()
        for button in (self.button, self.speed):
            button.setEnabled(allowed and len(self.scrubber.cards) > 1)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._show(self.playback.is_playing)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Space at the scrubber plays and stops."""
        if event.key() == Qt.Key.Key_Space and self.button.isEnabled():
            self._on_clicked()
        else:
            super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """What cannot be seen does not move."""
        super().hideEvent(event)
        self.playback.stop()

    def _on_clicked(self) -> None:
        if self.playback.is_playing:
            self.playback.stop()
        else:
            self.playback.play()

    def _choose(self, speed: int) -> None:
        self.playback.speed = speed
        self.speed.setText(f"{speed}×")

    def _show(self, playing: bool) -> None:
        words = tr("Stop playing") if playing else tr("Play the run back")
        self.button.setIcon(icon("pause" if playing else "play"))
        self.button.setToolTip(tr("{words}  (Space at the steps)").format(words=words))
        self.button.setAccessibleName(words)
