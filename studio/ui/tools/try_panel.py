"""Trying a tool: its arguments as a form, one call, its result."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from PySide6.QtCore import QCoreApplication, QPoint, Qt, QTimer, Signal
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFrame,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QScrollArea,
    QVBoxLayout,
    QWidget,
)

from studio.core.text.invisible import reveal
from studio.core.text.values import Json
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.inputs.schema_form import SchemaForm
from studio.ui.parts.json_view import JsonView
from studio.ui.preview.cards.part_views import pretty_json
from studio.ui.style.colors import fixed_font, paint_text
from studio.ui.style.theme import Theme
from studio.ui.tools.pictures import PicturesView
from studio.viewmodels.tools.controller import ToolTrial

_MOST_PAST = 30
_REVEAL_MS = 50

_STATUS_WORDS = {
    "ok": QT_TRANSLATE_NOOP("TryPanel", "Done"),
    "error": QT_TRANSLATE_NOOP("TryPanel", "The tool failed"),
    "timeout": QT_TRANSLATE_NOOP("TryPanel", "Stopped: it took too long"),
    "cancelled": QT_TRANSLATE_NOOP("TryPanel", "Stopped by you"),
    "crashed": QT_TRANSLATE_NOOP("TryPanel", "The tool's process crashed"),
    "unknown-tool": QT_TRANSLATE_NOOP("TryPanel", "Nothing runs this tool"),
    "bad-arguments": QT_TRANSLATE_NOOP("TryPanel", "The arguments do not fit the schema"),
}


class TryPanel(QWidget):
    """A form, a button, and what came of it; each tool keeps its own values and result."""

    request_try = Signal(str, Mapping)  # tool name, arguments
    request_cancel = Signal()
    request_http_request = Signal(str, Mapping)  # tool name, arguments: the request of such a call

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = theme
        self._entry: ToolEntry | None = None
        self._held: dict[str, dict[str, Json]] = {}
        self._trials: dict[str, ToolTrial] = {}
        self._past: dict[str, list[ToolTrial]] = {}
        self.history = QComboBox(self)
        self.history.setAccessibleName(self.tr("Calls tried before"))
        self.history.setSizeAdjustPolicy(
            QComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.history.setMinimumContentsLength(16)
        self.history.activated.connect(self._show_past)
        self.history.hide()
        self.request = JsonView(theme, self, colored=False)
        self.request.setAccessibleName(self.tr("The request that will be sent"))
        self.request.grow(12)
        self._request_title = QLabel(self.tr("Request that will be sent"), self)
        self._request_timer = QTimer(self)
        self._request_timer.setSingleShot(True)
        self._request_timer.setInterval(150)
        self._request_timer.timeout.connect(self._ask_request)
        self._running = ""
        self._began = 0.0
        self._area = QScrollArea(self)
        self.form = SchemaForm(theme)
        self.call_button = QPushButton(self.tr("Call"))
        self.call_button.setProperty("primary", True)
        self.call_button.setToolTip(self.tr("Call the tool with these arguments"))
        self.call_button.clicked.connect(self._call)
        self.cancel_button = QPushButton(self.tr("Cancel"))
        self.cancel_button.clicked.connect(self.request_cancel)
        self.cancel_button.hide()
        self.status = QLabel()
        self.status.setWordWrap(True)
        self._make_result(theme)
        self.form.values_changed.connect(self._on_values)
        self._arrange()
        self._reveal_result = QTimer(self)  # once the result has its size
        self._reveal_result.setSingleShot(True)
        self._reveal_result.setInterval(_REVEAL_MS)
        self._reveal_result.timeout.connect(self._show_result)
        self._clock = QTimer(self)
        self._clock.setInterval(100)
        self._clock.timeout.connect(self._tick)
        self.set_theme(theme)
        self._show_trial(None)

    def _make_result(self, theme: Theme) -> None:
        self.result = JsonView(theme)
        self.result.setAccessibleName(self.tr("Result of the call"))
        self.result.grow(24)
        self.head = QLabel()
        self.head.setTextFormat(Qt.TextFormat.PlainText)
        self.head.setWordWrap(True)
        self.head.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.head.setAccessibleName(self.tr("Status and headers of the answer"))
        self.pictures = PicturesView()
        self.errors = QPlainTextEdit()
        self.errors.setReadOnly(True)
        self.errors.setFrameShape(QFrame.Shape.NoFrame)
        self.errors.setAccessibleName(self.tr("What the tool printed"))
        self.errors.setFont(fixed_font(self.font()))
        self.errors.setMaximumHeight(110)
        self._errors_title = QLabel(self.tr("Printed by the tool"))

    def _arrange(self) -> None:
        page = QWidget()
        inside = QVBoxLayout(page)
        inside.setContentsMargins(12, 12, 12, 12)
        inside.setSpacing(12)
        for part in (
            self.form, self._request_title, self.request, self.history, self.result,
            self.pictures, self.head, self._errors_title, self.errors,
        ):  # fmt: skip
            inside.addWidget(part)
        inside.addStretch(1)
        self._area.setFrameShape(QFrame.Shape.NoFrame)
        self._area.setWidgetResizable(True)
        self._area.setWidget(page)
        self._inside = page
        # Below what scrolls: however long the form, the button and what came of it are in sight.
        buttons = QHBoxLayout()
        buttons.setContentsMargins(12, 6, 12, 8)
        buttons.setSpacing(8)
        buttons.addWidget(self.call_button)
        buttons.addWidget(self.cancel_button)
        buttons.addWidget(self.status, 1)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(0)
        layout.addWidget(self._area, 1)
        layout.addLayout(buttons)

    def hideEvent(self, event: QHideEvent) -> None:
        """Nothing is brought into sight, or asked for, of what is not looked at."""
        super().hideEvent(event)
        self._reveal_result.stop()
        self._request_timer.stop()

    def show_entry(self, entry: ToolEntry | None) -> None:
        """Show a tool's form; values typed for it before come back."""
        if self._entry is not None:
            self._held[self._entry.name] = self.form.values()
        other = entry is None or self._entry is None or entry.name != self._entry.name
        self._entry = entry
        if entry is None:
            return
        if other:
            self.form.set_fields(())
        self.form.set_schema(entry.spec.parameters)
        if other:
            self.form.set_values(self._held.get(entry.name, {}))
            self._show_trial(self._trials.get(entry.name))
            self._list_past()
            self.request.show_json("")
        is_web = entry.runner.startswith("openapi:") and entry.mock is None
        self.request.setVisible(is_web)
        self._request_title.setVisible(is_web)
        if is_web:
            self._request_timer.start()
        self._allow()

    def show_trial(self, trial: ToolTrial) -> None:
        """Show a call that began or ended."""
        self._trials[trial.name] = trial
        if trial.outcome is None:
            self._running, self._began = trial.name, time.monotonic()
            self._clock.start()
        else:
            self._running = ""
            self._clock.stop()
            past = self._past.setdefault(trial.name, [])
            past.insert(0, trial)
            del past[_MOST_PAST:]
            self._list_past()
        if self._entry is not None and trial.name == self._entry.name:
            self._show_trial(trial)
            if trial.outcome is not None and self.isVisible():
                self._reveal_result.start()
        self._allow()

    def show_said(self, text: str) -> None:
        """Show what the running call has said so far."""
        if self._entry is None or self._entry.name != self._running:
            return
        if text and text != self.errors.toPlainText():
            self.errors.setPlainText(text)
            bar = self.errors.verticalScrollBar()
            bar.setValue(bar.maximum())
        self.errors.setVisible(bool(text))
        self._errors_title.setVisible(bool(text))

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        self.form.set_theme(theme)
        self.result.set_theme(theme)
        self.request.set_theme(theme)
        paint_text(self._request_title, theme.muted)
        paint_text(self._errors_title, theme.muted)
        trial = self._trials.get(self._entry.name) if self._entry is not None else None
        self._show_trial(trial)

    def show_request(self, name: str, text: str) -> None:
        """Show the request that a call with the form's arguments would send."""
        if self._entry is not None and self._entry.name == name:
            self.request.show_json(text)

    def _ask_request(self) -> None:
        if self._entry is not None and self.request.isVisibleTo(self):
            self.request_http_request.emit(self._entry.name, self.form.values())

    def _on_values(self, _: object) -> None:
        if self._entry is not None and self.request.isVisibleTo(self):
            self._request_timer.start()

    def _list_past(self) -> None:
        past = self._past.get(self._entry.name, []) if self._entry is not None else []
        self.history.clear()
        for trial in past:
            when = time.strftime("%H:%M:%S", time.localtime(trial.when))
            ended = (
                QCoreApplication.translate("TryPanel", _STATUS_WORDS[trial.outcome.status])
                if trial.outcome
                else ""
            )
            given = json.dumps(trial.arguments, ensure_ascii=False)
            self.history.addItem(f"{when}  {ended}  {given}"[:160])
        self.history.setVisible(len(past) > 1)

    def _show_past(self, row: int) -> None:
        past = self._past.get(self._entry.name, []) if self._entry is not None else []
        if row < len(past):
            self.form.set_values(dict(past[row].arguments))
            self._show_trial(past[row])

    def _call(self) -> None:
        if self._entry is None or self._running:
            return
        if self.form.problems():
            self._say(self.tr("Some arguments need attention."), self._theme.error)
            return
        self.request_try.emit(self._entry.name, self.form.values())

    def _allow(self) -> None:
        self.call_button.setEnabled(not self._running)
        self.cancel_button.setVisible(bool(self._running))

    def _tick(self) -> None:
        if self._entry is not None and self._entry.name == self._running:
            self._say(
                self.tr("Running, {number:.1f} s").format(number=time.monotonic() - self._began),
                self._theme.muted,
            )

    def _show_result(self) -> None:
        """Bring the top of the result into sight, below a long form."""
        top = self.result.mapTo(self._inside, QPoint(0, 0)).y()
        bar = self._area.verticalScrollBar()
        if top + min(self.result.height(), 60) > bar.value() + self._area.viewport().height():
            bar.setValue(max(0, top - 12))

    def _show_trial(self, trial: ToolTrial | None) -> None:
        outcome = trial.outcome if trial is not None else None
        self.result.setVisible(outcome is not None)
        head = outcome.head if outcome is not None else ""
        paint_text(self.head, self._theme.muted)
        self.head.setText(reveal(head))
        self.head.setVisible(bool(head))
        self.pictures.show_pictures(outcome.pictures if outcome is not None else ())
        stderr = outcome.stderr.strip() if outcome is not None else ""
        self.errors.setPlainText(stderr)
        self.errors.setVisible(bool(stderr))
        self._errors_title.setVisible(bool(stderr))
        if trial is None:
            self._say("", self._theme.muted)
        elif outcome is None:
            self._say(self.tr("Running"), self._theme.muted)
        else:
            self._show_outcome(outcome)

    def _show_outcome(self, outcome: ToolOutcome) -> None:
        color = self._theme.error if outcome.is_error else self._theme.success
        cut = self.tr(", cut at the limit") if outcome.truncated else ""
        if outcome.whole:
            cut = self.tr(", of which the model gets {count} characters").format(
                count=f"{len(outcome.text):,}"
            )
        took = (
            self.tr(" in {duration}").format(duration=_duration(outcome.duration))
            if outcome.duration
            else ""
        )
        self._say(
            QCoreApplication.translate("TryPanel", _STATUS_WORDS[outcome.status]) + took + cut,
            color,
        )
        self.result.show_json(pretty_json(outcome.text))

    def _say(self, text: str, color: str) -> None:
        paint_text(self.status, color)
        self.status.setText(text)


def _duration(seconds: float) -> str:
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
