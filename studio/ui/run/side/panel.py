"""The right half of the run pane: what is asked at a pause, and below it a look or an edit."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Literal

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QLabel, QPushButton, QSplitter, QStackedWidget, QWidget

from studio.application.run.debugging.console import names_for
from studio.application.run.displayed_run import RunView
from studio.application.run.edits.in_place import (
    AfterEdit,
    EditKind,
    EditResult,
    EditSpec,
    command_of,
)
from studio.application.run.offers.offer import Offer
from studio.application.words import tr
from studio.core.agent.values.commands import Approve, Command, Continue, SendBack, StepOn, StopCall
from studio.core.agent.values.step import Call, PausePoint
from studio.core.text.amounts import duration
from studio.core.text.invisible import plain_tip, reveal
from studio.ui.parts.labels import ElidedLabel, toned_label
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.parts.text_views import fixed_text
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.side.action_bar import ActionBar
from studio.ui.run.side.edit_in_place import EditInPlace
from studio.ui.run.state.panel import StatePanel
from studio.ui.style.colors import FollowsTheme, paint_text
from studio.viewmodels.app.jobs import repeating_timer

_TICK_MS = 100
_LONGEST_LINE = 200
_MOST_KEPT = 20

_MOST_LINES = 7


class RunningCall(FollowsTheme, QWidget):
    """One call: its tool, its clock, the last line that it printed."""

    def __init__(self, tool: str, began: float, parent: QWidget) -> None:
        """Take the tool and when it was asked for, in seconds since 1970."""
        super().__init__(parent)
        self._began = began
        self.title = QLabel(reveal(tool, lines=False), self, textFormat=Qt.TextFormat.PlainText)
        self.clock = QLabel(self)
        self.output_label = ElidedLabel(self)
        self.stop_button = QPushButton(tr("Stop this call"), self)
        self.stop_button.setToolTip(
            tr("The model is informed; the other calls and the run continue")
        )
        row_of(
            self.title,
            self.clock,
            (self.output_label, 1),
            self.stop_button,
            on=self,
            margins=0,
            spacing=8,
        )
        self.follow_theme()
        self.tick()

    def tick(self) -> None:
        """Say how long it takes by now."""
        seconds = max(0.0, time.time() - self._began)
        self.clock.setText(duration(seconds))

    def show_live_output(self, text: str) -> None:
        """Show the last line of its output; the newest lines are in the tooltip."""
        lines = [line for line in reveal(text).splitlines() if line.strip()]
        self.output_label.show_text(lines[-1][:_LONGEST_LINE] if lines else "")
        newest = (line[:_LONGEST_LINE] for line in lines[-_MOST_KEPT:])
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
        self._column = column_of(on=self, margins=(16, 4, 8, 4), spacing=4)
        self._timer = repeating_timer(self, self._tick, _TICK_MS)
        self.setAccessibleName(tr("Calls under way"))
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
                self._add(row, state.step.calls[row])
        self.setVisible(bool(self.rows))
        if self.rows and not self._timer.isActive():
            self._timer.start()
        elif not self.rows:
            self._timer.stop()

    def show_live_output(self, outputs: Mapping[int, str]) -> None:
        """Show the output of the calls so far, by their rows."""
        for row, text in outputs.items():
            if row in self.rows:
                self.rows[row].show_live_output(text)

    def _add(self, row: int, call: Call) -> None:
        shown = RunningCall(call.tool, call.began, self)
        shown.stop_button.clicked.connect(lambda: self.command_given.emit((StopCall(row),)))
        self.rows[row] = shown
        self._column.addWidget(shown)

    def _tick(self) -> None:
        for row in self.rows.values():
            row.tick()


class HttpRequestView(QWidget):
    """Hidden while there is no request."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._title = toned_label("muted", tr("Request that will be sent"), parent=self)
        self.text = fixed_text(self._title.text(), parent=self, has_frame=False)
        self.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        column_of(self._title, self.text, on=self, margins=(16, 4, 8, 4), spacing=2)
        self.hide()

    def show_request(self, text: str) -> None:
        """Show a request; an empty one hides the view."""
        self.text.setPlainText(text)
        lines = min(text.count("\n") + 1, _MOST_LINES)
        self.text.setFixedHeight(self.text.fontMetrics().lineSpacing() * lines + 12)
        self.setVisible(bool(text))


_LOWEST = 64
_LOW = 180
_NO_STATE, _WITH_STATE = 260, 560
"""Heights from which on the state's head, and all of it, have room beside what is inspected."""

_HIGH, _STATE, _STATE_LOW = 660, 232, 200
"""Height from which on the state has the larger of its two usual heights."""


class SidePanel(QWidget):
    """One question at a time: while something is written, the offers give way to the editor."""

    command_given = Signal(tuple)  # Commands for the run
    wish_given = Signal(Offer)  # one with `ask`: what the window is asked for

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._view = RunView()
        self._chatting = False
        self.actions_bar = ActionBar()
        self.request = HttpRequestView()
        self.running = RunningCalls()
        self.inspector = Inspector()
        self.editor = EditInPlace()
        self.state_panel = StatePanel()
        self._is_folded: bool | None = None
        self._is_dragged = False
        self._pages = QStackedWidget()
        self._pages.addWidget(self.inspector)
        self._pages.addWidget(self.editor)
        # Said outright: a stack is as high as its highest page wants to be, and docks are low.
        self._pages.setMinimumHeight(_LOWEST)
        above = QWidget()
        column_of(
            self.actions_bar,
            self.request,
            self.running,
            (self._pages, 1),
            on=above,
            margins=0,
            spacing=0,
        )
        self._split = QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        self._split.addWidget(above)
        self._split.addWidget(self.state_panel)
        self._split.setStretchFactor(0, 1)
        self._split.splitterMoved.connect(self._on_dragged)
        column_of(self._split, on=self, margins=0, spacing=0)
        self.running.command_given.connect(self.command_given)
        self.state_panel.command_given.connect(self.command_given)
        self.state_panel.folded.connect(self._on_folded)
        self.actions_bar.offer_taken.connect(self._on_offer)
        self.editor.applied.connect(self._on_applied)
        self.editor.cancelled.connect(self.close_editor)
        self.inspector.answer.chat.sent.connect(self._on_message)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Leave the text about a problem to the inspector in a low dock."""
        super().resizeEvent(event)
        self.actions_bar.set_terse(self.height() < _LOW)
        self.state_panel.setVisible(self.height() >= _NO_STATE)
        is_open = self.height() >= _WITH_STATE
        if self._is_folded is None and is_open != self.state_panel.is_open:
            self.state_panel.set_open(is_open=is_open)
        if not self._is_dragged:
            self._give_state_room()

    def _on_folded(self, folded: bool) -> None:
        """From now on it stays as the user has it."""
        self._is_folded = folded
        self._give_state_room()

    def _on_dragged(self) -> None:
        """From now on it has the height that the user gave it."""
        self._is_dragged = True

    def _give_state_room(self) -> None:
        """Share the height out anew: the panel below was opened or folded."""
        wanted = _STATE if self.height() >= _HIGH else _STATE_LOW
        wanted = min(wanted, self.state_panel.maximumHeight())
        self._split.setSizes([max(0, self.height() - wanted), wanted])

    def show_view(self, view: RunView) -> None:
        """Show what can be done; what is being written is closed where that is another thing."""
        before, self._view = self._view, view
        self.running.show_view(view)
        if view.state is not before.state:
            self.inspector.watch.set_names(names_for(view.state))
        if view.offers != before.offers:
            self.close_editor()
            self.actions_bar.show_offers(view.offers)
            kinds = {each.edit.kind for each in view.offers.offers if each.edit is not None}
            self.inspector.answer.chat.setVisible("send_back" in kinds)
            if self._chatting and "send_back" in kinds:
                self._chatting = False
                self.inspector.answer.chat.setFocus()

    def point_out_choice(self) -> None:
        """Lead to what must be chosen here: the buttons, or what is being written instead."""
        if self._pages.currentWidget() is self.editor:
            self.editor.field.setFocus()
        else:
            self.actions_bar.point_out()

    def points_out_draft(self) -> bool:
        """Lead to a text that is written and not applied; False where there is none."""
        return self._pages.currentWidget() is self.editor and self.editor.points_out_draft()

    def take_choice(self, number: int) -> bool:
        """Take the choice with that number, from 1; False where there is none to be taken now."""
        offers = self._view.offers.offers
        if self._pages.currentWidget() is self.editor or number > len(offers):
            return False
        self._on_offer(offers[number - 1])
        return True

    def open_edit(self, kind: EditKind) -> bool:
        """Begin to write, where that is offered now; False where it is not."""
        for offer in self._view.offers.offers:
            if offer.edit is not None and offer.edit.kind == kind:
                self._on_offer(offer)
                return True
        return False

    def close_editor(self) -> None:
        """Leave what is being written."""
        if self._pages.currentWidget() is self.editor:
            self._pages.setCurrentWidget(self.inspector)
            self.actions_bar.setVisible(bool(self._view.offers.title))

    def _on_offer(self, offer: Offer) -> None:
        if offer.edit is not None:
            self.actions_bar.hide()
            self._pages.setCurrentWidget(self.editor)
            self.editor.open_spec(offer.edit)
        elif offer.ask:
            self.wish_given.emit(offer)
        else:
            self.command_given.emit(offer.commands)

    def _on_message(self, text: str) -> None:
        """The thread goes on; with its next answer the line has the keyboard again."""
        self._chatting = True
        self.command_given.emit((SendBack(text),))

    def _on_applied(self, spec: EditSpec, result: EditResult, then: AfterEdit) -> None:
        self.close_editor()
        commands: tuple[Command, ...] = (command_of(spec, result),)
        if then != "stay":
            how: Literal["", "over"] = "over" if then == "step" else ""
            is_call = spec.kind == "arguments" and self._view.place == PausePoint.TOOL_CALL
            moves = StepOn("over") if how else Continue()
            commands += (Approve(spec.call, how=how) if is_call else moves,)
        self.command_given.emit(commands)
