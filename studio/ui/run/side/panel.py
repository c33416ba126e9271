"""The right half of the run pane: choices at a pause, and below them the inspector or an edit."""

import time
from collections.abc import Mapping
from functools import partial
from typing import Literal

from PySide6 import QtWidgets
from PySide6.QtCore import QRectF, Qt, QVariantAnimation, Signal
from PySide6.QtGui import QColor, QFont, QIcon, QPainter, QPaintEvent, QPen, QPixmap, QResizeEvent

from studio.application.run.debugging.console import names_for
from studio.application.run.displayed_run import RunView
from studio.application.run.edits import in_place
from studio.application.run.offers.offer import Offer, Offers
from studio.application.words import tr
from studio.core.agent.values.commands import Approve, Command, Continue, StepOn, StopCall
from studio.core.agent.values.step import Call, PausePoint
from studio.core.text.amounts import duration
from studio.core.text.invisible import plain_tip, reveal
from studio.ui.parts import kit
from studio.ui.parts.text_views import fixed_text
from studio.ui.run.inspector.tabs import Inspector
from studio.ui.run.side.edit_in_place import EditInPlace
from studio.ui.run.state.panel import StatePanel
from studio.ui.style.theme import FollowsTheme, blend, is_motion_reduced, paint_text, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

# The action bar: shows the question and the choices at a pause.

_GAP = 6
"""Pixels between two buttons."""

_SIDES = (16, 8)
"""Left and right margins of the bar, in pixels."""

_USUAL, _FLASH = 0.08, 0.45
"""Opacity of the bar's tone: normally, and at the peak of a flash."""

_FLASH_MS = 700

_CAP = 15
"""Size of a digit's key cap in pixels."""


class ActionBar(FollowsTheme, QtWidgets.QWidget):
    """A tinted strip with a question and its buttons; hidden if there is no question."""

    offer_taken = Signal(Offer)

    def __init__(self) -> None:
        super().__init__()
        self._offers = Offers()
        self._is_terse = False
        self._focus_went_to: QtWidgets.QWidget | None = None
        """Widget that got the focus when the bar was hidden."""
        self._title = QtWidgets.QLabel(wordWrap=True)
        self._title.setProperty("title", "true")
        self._title.setContentsMargins(0, 4, 8, 4)
        self._detail = QtWidgets.QLabel(wordWrap=True)
        self._detail.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.buttons: list[QtWidgets.QPushButton] = []
        """The buttons of all choices, in order; those without room are in the menu."""
        self.more = kit.icon_button("ellipsis", tr("More choices"))
        self.more.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.more.setMenu(QtWidgets.QMenu(self.more, toolTipsVisible=True))
        self.more.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._row = kit.row_of((self._title, 1), self.more, spacing=_GAP)
        self._flash = QVariantAnimation(self, startValue=1.0, endValue=0.0, duration=_FLASH_MS)
        self._flash.setCurrentTime(_FLASH_MS)
        self._flash.valueChanged.connect(self._on_flash)
        kit.column_of(
            self._row, self._detail, on=self, margins=(_SIDES[0], 4, _SIDES[1], 4), spacing=2
        )
        # Not the layout's minimum width: choices without room go to the menu.
        policy = QtWidgets.QSizePolicy(
            QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Minimum
        )
        policy.setHeightForWidth(True)
        self.setSizePolicy(policy)
        self.setAccessibleName(tr("What to do at this pause"))
        self.hide()
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._fill()
        self._paint_texts()

    def show_offers(self, offers: Offers) -> None:
        """Show the choices; no choices hide the bar."""
        if offers == self._offers:
            return
        self._offers = offers
        focused = QtWidgets.QApplication.focusWidget()
        had_focus = focused is not None and (
            self.isAncestorOf(focused) or focused is self._focus_went_to
        )
        self._title.setText(offers.title)
        self._detail.setText(offers.detail)
        self._show_detail()
        self.setAccessibleDescription(f"{offers.title} {offers.detail}".strip())
        self._fill()
        self._paint_texts()
        self.setVisible(bool(offers.title))
        self._focus_went_to = None
        if had_focus and self.buttons:
            self.buttons[0].setFocus()
        elif had_focus:
            self._focus_went_to = QtWidgets.QApplication.focusWidget()
        self.update()

    def point_out(self) -> None:
        """Focus the first button and flash all, to show that a choice is needed."""
        if self.isVisibleTo(self.window()) and self.buttons:
            self.buttons[0].setFocus(Qt.FocusReason.OtherFocusReason)
            self._flash.stop()
            if not is_motion_reduced():
                self._flash.start()

    @property
    def is_flashing(self) -> bool:
        """Whether the bar is flashing."""
        return self._flash.state() == QVariantAnimation.State.Running

    def _on_flash(self) -> None:
        self.update()

    def set_terse(self, terse: bool) -> None:
        """Move the detail into the question's tooltip if there is only room for the buttons."""
        if terse != self._is_terse:
            self._is_terse = terse
            self._show_detail()

    def _show_detail(self) -> None:
        self._detail.setVisible(bool(self._offers.detail) and not self._is_terse)
        self._title.setToolTip(self._offers.detail)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Move choices without room into the menu."""
        super().resizeEvent(event)
        self._fit()

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint a tint of the accent (or of the error color), with a stripe at the left."""
        theme = theme_in_use()
        painter = QPainter(self)
        tone = self._tone()
        strength = _USUAL + (_FLASH - _USUAL) * self._flash.currentValue()
        painter.fillRect(self.rect(), QColor(blend(tone, theme.surface, strength)))
        painter.fillRect(0, 0, 3, self.height(), QColor(tone))
        painter.setPen(QColor(theme.border))
        painter.drawLine(self.rect().bottomLeft(), self.rect().bottomRight())

    def _tone(self) -> str:
        theme = theme_in_use()
        return theme.error if self._offers.is_error else theme.accent

    def _paint_texts(self) -> None:
        paint_text(self._title, self._tone() if self._offers.is_error else "text")
        paint_text(self._detail, "text")

    def _fill(self) -> None:
        for gone in self.buttons:
            gone.hide()
            gone.deleteLater()
        # The question is in the row of its buttons, since docks are low.
        offers = self._offers.offers
        self.buttons = [self._button(number, offer) for number, offer in enumerate(offers, 1)]
        for number, button in enumerate(self.buttons, 1):
            self._row.insertWidget(number, button)
        self._fit()

    def _fit(self) -> None:
        """Keep the choices in one row: shorten the question by half, then move the last ones."""
        widths = [button.sizeHint().width() + _GAP for button in self.buttons]
        whole = self._title.fontMetrics().horizontalAdvance(self._title.text()) + 16
        room = self.width() - sum(_SIDES) - min(whole, self.width() // 3)
        count = len(widths)
        if sum(widths) > room:
            room -= self.more.sizeHint().width() + _GAP
            count = next((n for n in range(count, 1, -1) if sum(widths[:n]) <= room), 1)
        for number, button in enumerate(self.buttons):
            button.setVisible(number < count)
        self.more.setVisible(count < len(widths))
        menu = self.more.menu()
        menu.clear()
        for offer in self._offers.offers[count:]:
            action = menu.addAction(offer.label, partial(self.offer_taken.emit, offer))
            action.setToolTip(offer.tip)

    def _button(self, number: int, offer: Offer) -> QtWidgets.QPushButton:
        theme = theme_in_use()
        button = QtWidgets.QPushButton(offer.label, self)
        ink = theme.on_accent if offer.is_primary else theme.muted
        button.setIcon(_figure(number, ink, self.font(), self.devicePixelRatioF()))
        keys = f"{number}, {offer.key}" if offer.key else f"{number}"
        button.setToolTip(f"{offer.tip} ({keys})")
        button.setAccessibleDescription(offer.tip)
        if offer.is_primary:
            button.setProperty("primary", "true")
        button.clicked.connect(partial(self.offer_taken.emit, offer))
        return button


def _figure(number: int, ink: str, font: QFont, ratio: float) -> QIcon:
    """Return the digit of a choice on a key cap."""
    picture = QPixmap(round(_CAP * ratio), round(_CAP * ratio))
    picture.setDevicePixelRatio(ratio)
    picture.fill(Qt.GlobalColor.transparent)
    painter = QPainter(picture)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    box = QRectF(0.5, 0.5, _CAP - 1, _CAP - 1)
    color = QColor(ink)
    color.setAlphaF(0.6)
    painter.setPen(QPen(color, 1.0))
    painter.drawRoundedRect(box, 3, 3)
    small = QFont(font)
    small.setPixelSize(10)
    painter.setFont(small)
    painter.setPen(QColor(ink))
    painter.drawText(box, Qt.AlignmentFlag.AlignCenter, f"{number}")
    painter.end()
    return QIcon(picture)


_TICK_MS = 100
_LONGEST_LINE = 200
_MOST_KEPT = 20

_MOST_LINES = 7


class RunningCall(FollowsTheme, QtWidgets.QWidget):
    """A running call: its tool, its elapsed time, and the last line of its output."""

    def __init__(self, tool: str, began: float, parent: QtWidgets.QWidget) -> None:
        """Create the row for a tool and its start time in seconds since 1970."""
        super().__init__(parent)
        self._began = began
        self.title = QtWidgets.QLabel(
            reveal(tool, lines=False), self, textFormat=Qt.TextFormat.PlainText
        )
        self.clock = QtWidgets.QLabel(self)
        self.output_label = kit.ElidedLabel(self)
        self.stop_button = QtWidgets.QPushButton(tr("Stop this call"), self)
        self.stop_button.setToolTip(tr("The model is told; the other calls and the run continue"))
        kit.row_of(
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
        """Update the elapsed time."""
        seconds = max(0.0, time.time() - self._began)
        self.clock.setText(duration(seconds))

    def show_live_output(self, text: str) -> None:
        """Show the last line of the output; the tooltip has the newest lines."""
        lines = [line for line in reveal(text).splitlines() if line.strip()]
        self.output_label.show_text(lines[-1][:_LONGEST_LINE] if lines else "")
        newest = (line[:_LONGEST_LINE] for line in lines[-_MOST_KEPT:])
        self.output_label.setToolTip(plain_tip("\n".join(newest)))

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        for label in (self.clock, self.output_label):
            paint_text(label, "muted")


class RunningCalls(QtWidgets.QWidget):
    """A row for each running call; hidden if there is none."""

    command_given = Signal(tuple)  # commands for the run

    def __init__(self) -> None:
        super().__init__()
        self._of: tuple[object, ...] = ()
        self.rows: dict[int, RunningCall] = {}
        """The calls by their rows in the step."""
        self._column = kit.column_of(on=self, margins=(16, 4, 8, 4), spacing=4)
        self._timer = repeating_timer(self, self._tick, _TICK_MS)
        self.setAccessibleName(tr("Running calls"))
        self.hide()

    def show_view(self, view: RunView) -> None:
        """Show the running calls of a view."""
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
        """Show the output of the calls so far, by row."""
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


class HttpRequestView(QtWidgets.QWidget):
    """View of an HTTP request; hidden if there is none."""

    def __init__(self) -> None:
        super().__init__()
        self._title = kit.toned_label("muted", tr("Request that will be sent"), parent=self)
        self.text = fixed_text(self._title.text(), parent=self, has_frame=False)
        self.text.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAsNeeded)
        kit.column_of(self._title, self.text, on=self, margins=(16, 4, 8, 4), spacing=2)
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
"""Minimum heights in pixels to show the header of the state, and all of it, below the inspector."""

_HIGH, _STATE, _STATE_LOW = 660, 232, 200
"""Height in pixels from which the state has the larger of its two default heights."""


class SidePanel(QtWidgets.QWidget):
    """The choices of a pause, which are hidden while the user edits, with the panels below."""

    command_given = Signal(tuple)  # commands for the run
    wish_given = Signal(Offer)  # an offer with `ask`: a request to the window

    def __init__(self) -> None:
        super().__init__()
        self._view = RunView()
        self.actions_bar = ActionBar()
        self.request = HttpRequestView()
        self.running = RunningCalls()
        self.inspector = Inspector()
        self.editor = EditInPlace()
        self.state_panel = StatePanel()
        self._is_folded: bool | None = None
        self._is_dragged = False
        self._pages = QtWidgets.QStackedWidget()
        self._pages.addWidget(self.inspector)
        self._pages.addWidget(self.editor)
        # Set explicitly: a stack is as high as its highest page, but docks are low.
        self._pages.setMinimumHeight(_LOWEST)
        above = QtWidgets.QWidget()
        kit.column_of(
            self.actions_bar,
            self.request,
            self.running,
            (self._pages, 1),
            on=above,
            margins=0,
            spacing=0,
        )
        self._split = kit.split_of(above, self.state_panel, stretch=(1,), is_column=True)
        self._split.splitterMoved.connect(self._on_dragged)
        kit.column_of(self._split, on=self, margins=0, spacing=0)
        self.running.command_given.connect(self.command_given)
        self.state_panel.command_given.connect(self.command_given)
        self.state_panel.folded.connect(self._on_folded)
        self.actions_bar.offer_taken.connect(self._on_offer)
        self.editor.applied.connect(self._on_applied)
        self.editor.cancelled.connect(self.close_editor)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide the text about a problem in a low dock: the inspector shows it."""
        super().resizeEvent(event)
        self.actions_bar.set_terse(self.height() < _LOW)
        self.state_panel.setVisible(self.height() >= _NO_STATE)
        is_open = self.height() >= _WITH_STATE
        if self._is_folded is None and is_open != self.state_panel.is_open:
            self.state_panel.set_open(is_open=is_open)
        if not self._is_dragged:
            self._give_state_room()

    def _on_folded(self, folded: bool) -> None:
        """Remember whether the user collapsed the state."""
        self._is_folded = folded
        self._give_state_room()

    def _on_dragged(self) -> None:
        """Remember the height that the user set."""
        self._is_dragged = True

    def _give_state_room(self) -> None:
        """Distribute the height after the panel below was expanded or collapsed."""
        wanted = _STATE if self.height() >= _HIGH else _STATE_LOW
        wanted = min(wanted, self.state_panel.maximumHeight())
        self._split.setSizes([max(0, self.height() - wanted), wanted])

    def show_view(self, view: RunView) -> None:
        """Show the choices of a view; close an edit that belongs to another point."""
        before, self._view = self._view, view
        self.running.show_view(view)
        if view.state is not before.state:
            self.inspector.watch.set_names(names_for(view.state))
        if view.offers != before.offers:
            self.close_editor()
            self.actions_bar.show_offers(view.offers)

    def point_out_choice(self) -> None:
        """Show what must be chosen here: the buttons, or an unfinished edit."""
        if self._pages.currentWidget() is self.editor:
            self.editor.field.setFocus()
        else:
            self.actions_bar.point_out()

    def points_out_draft(self) -> bool:
        """Show a text that is edited and not applied; return False if there is none."""
        return self._pages.currentWidget() is self.editor and self.editor.points_out_draft()

    def take_choice(self, number: int) -> bool:
        """Select the choice with a number, from 1; return False if it is not available."""
        offers = self._view.offers.offers
        if self._pages.currentWidget() is self.editor or number > len(offers):
            return False
        self._on_offer(offers[number - 1])
        return True

    def open_edit(self, kind: in_place.EditKind) -> bool:
        """Start an edit if it is offered now; return False if it is not."""
        for offer in self._view.offers.offers:
            if offer.edit is not None and offer.edit.kind == kind:
                self._on_offer(offer)
                return True
        return False

    def close_editor(self) -> None:
        """Close the current edit."""
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

    def _on_applied(
        self, spec: in_place.EditSpec, result: in_place.EditResult, then: in_place.AfterEdit
    ) -> None:
        self.close_editor()
        commands: tuple[Command, ...] = (in_place.command_of(spec, result),)
        if then != "stay":
            how: Literal["", "over"] = "over" if then == "step" else ""
            is_call = spec.kind == "arguments" and self._view.place == PausePoint.TOOL_CALL
            moves = StepOn("over") if how else Continue()
            commands += (Approve(spec.call, how=how) if is_call else moves,)
        self.command_given.emit(commands)
