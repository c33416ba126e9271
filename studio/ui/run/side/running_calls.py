"""The tool calls under way: how long each takes, what it says, and a button to stop it."""

from __future__ import annotations

import time
from collections.abc import Mapping

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QVBoxLayout, QWidget

from studio.application.run.view import RunView
from studio.core.agent.values.commands import StopCall
from studio.core.text.invisible import reveal
from studio.core.text.plain_tip import plain_tip
from studio.ui.parts.elided_label import ElidedLabel
from studio.ui.style.colors import paint_text
from studio.ui.style.in_use import FollowsTheme

_TICK_MS = 100
_LONGEST_LINE = 200
_MOST_LINES = 20


class RunningCall(FollowsTheme, QWidget):
    """One call: its tool, its clock, the last line that it printed."""

    def __init__(self, tool: str, parent: QWidget) -> None:
        super().__init__(parent)
        self._began = time.monotonic()
        self.title = QLabel(reveal(tool, lines=False), self)
        self.title.setTextFormat(Qt.TextFormat.PlainText)
        self.clock = QLabel(self)
        self.output_label = ElidedLabel(self)
        self.stop_button = QPushButton(self.tr("Stop this call"), self)
        self.stop_button.setToolTip(self.tr("The model is told; the other calls and the run go on"))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(8)
        row.addWidget(self.title)
        row.addWidget(self.clock)
        row.addWidget(self.output_label, 1)
        row.addWidget(self.stop_button)
        self.follow_theme()
        self.tick()

    def tick(self) -> None:
        """Say how long it takes by now."""
        seconds = time.monotonic() - self._began
        self.clock.setText(self.tr("{number:.1f} s").format(number=seconds))

    def show_live_output(self, text: str) -> None:
        """Show the last line of what it has said; the newest lines are in the tip."""
        lines = [line for line in reveal(text).splitlines() if line.strip()]
        self.output_label.show_text(lines[-1][:_LONGEST_LINE] if lines else "")
        newest = (line[:_LONGEST_LINE] for line in lines[-_MOST_LINES:])
        self.output_label.setToolTip(plain_tip("\n".join(newest)))

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        for label in (self.clock, self.output_label):
            paint_text(label, "muted")


class RunningCalls(QWidget):
    """A row for each call; hidden while none is under way."""

    command_given = Signal(tuple)  # Commands for the run

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._of: tuple[object, ...] = ()
        self.rows: dict[int, RunningCall] = {}
        """The calls, by their rows in the step."""
        self._column = QVBoxLayout(self)
        self._column.setContentsMargins(16, 4, 8, 4)
        self._column.setSpacing(4)
        self._timer = QTimer(self)
        self._timer.setInterval(_TICK_MS)
        self._timer.timeout.connect(self._tick)
        self.setAccessibleName(self.tr("Calls under way"))
        self.hide()

    def show_view(self, view: RunView) -> None:
        """Show the calls that are under way now."""
        running, state = view.running_calls, view.state
        step = (state.setup.run, state.iteration) if state is not None else ()
        for row in [*self.rows]:
            if row not in running or step != self._of:
                gone = self.rows.pop(row)
                self._column.removeWidget(gone)
                gone.hide()
                gone.deleteLater()
        self._of = step
        for row in running:
            if row not in self.rows and state is not None:
                self._add(row, state.step.calls[row].tool)
        self.setVisible(bool(self.rows))
        if self.rows and not self._timer.isActive():
            self._timer.start()
        elif not self.rows:
            self._timer.stop()

    def show_live_output(self, outputs: Mapping[int, str]) -> None:
        """Show what the calls have said so far, by their rows."""
        for row, text in outputs.items():
            if row in self.rows:
                self.rows[row].show_live_output(text)

    def _add(self, row: int, tool: str) -> None:
        shown = RunningCall(tool, self)
        shown.stop_button.clicked.connect(lambda: self.command_given.emit((StopCall(row),)))
        self.rows[row] = shown
        self._column.addWidget(shown)

    def _tick(self) -> None:
        for row in self.rows.values():
            row.tick()
