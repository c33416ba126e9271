"""The panel for calls: a form for the arguments, and the answer beside it."""

import base64
import json
import time
from collections.abc import Mapping, Sequence

from PySide6 import QtWidgets
from PySide6.QtCore import QBuffer, QIODevice, Qt, Signal
from PySide6.QtGui import QHideEvent, QImageReader, QKeyEvent, QPixmap, QResizeEvent

from studio.application.tools.saved_calls import SavedCall
from studio.application.words import marked, tr
from studio.core.prompty.document import ToolId
from studio.core.text.amounts import duration
from studio.core.text.invisible import reveal
from studio.core.text.values import JsonDict
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome, ToolPicture
from studio.ui.inputs.schema_form import SchemaForm
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, named, push_button, row_of, scroll_area, toned_label
from studio.ui.parts.text_views import JsonView, fixed_text
from studio.ui.preview.cards.text_body import pretty_json
from studio.ui.style.theme import icon, paint_text
from studio.viewmodels.app.jobs import repeating_timer, single_shot
from studio.viewmodels.tools.calls import ToolTrial

# The answer of a call: text, pictures, status, headers, and printed output.

_HEIGHT = 180
"""Maximum height of a picture, in pixels."""

_MOST_MEGAPIXELS = 40

_LEAST_RESULT = 72
"""Minimum height of the answer in pixels beside headers and printed output."""


_STATUS_WORDS = {
    "ok": marked("Done"),
    "error": marked("The tool failed"),
    "timeout": marked("Stopped: it took too long"),
    "cancelled": marked("Stopped by you"),
    "crashed": marked("The tool's process crashed"),
    "unknown-tool": marked("No source provides this tool"),
    "bad-arguments": marked("The arguments do not match the schema"),
}


def status_words(outcome: ToolOutcome) -> str:
    """Describe the outcome of a call, in words."""
    return tr(_STATUS_WORDS[outcome.status])


class PicturesView(QtWidgets.QScrollArea):
    """A row of pictures; nothing is loaded from the network."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setWidgetResizable(True)
        self.setFrameShape(QtWidgets.QScrollArea.Shape.NoFrame)
        self.setAccessibleName(tr("Pictures of the result"))
        self.setFixedHeight(_HEIGHT + 24)
        self.labels: list[QtWidgets.QLabel] = []
        self.show_pictures(())

    def show_pictures(self, pictures: Sequence[ToolPicture]) -> None:
        """Show pictures; hidden if there are none."""
        row = QtWidgets.QWidget()
        layout = QtWidgets.QHBoxLayout(row)
        layout.setContentsMargins(0, 4, 0, 4)
        self.labels = []
        for picture in pictures:
            label = QtWidgets.QLabel(row, textFormat=Qt.TextFormat.PlainText)
            pixmap, size = _pixmap(picture)
            if pixmap is None:
                label.setText(
                    tr("{kind}, {size}: cannot be shown").format(kind=picture.kind, size=size)
                )
            else:
                label.setPixmap(pixmap)
            label.setToolTip(f"{picture.kind}, {size}")
            self.labels.append(label)
            layout.addWidget(label)
        layout.addStretch(1)
        self.setWidget(row)
        self.setVisible(bool(pictures))


def _pixmap(picture: ToolPicture) -> tuple[QPixmap | None, str]:
    """Return the picture, limited to the row's height, and its size; None if invalid."""
    try:
        data = base64.b64decode(picture.data, validate=True)
    except ValueError:
        return None, "0"
    size = f"{len(data):,} B"
    buffer = QBuffer()
    buffer.setData(data)
    buffer.open(QIODevice.OpenModeFlag.ReadOnly)
    reader = QImageReader(buffer)
    whole = reader.size()
    if not whole.isValid() or whole.width() * whole.height() > _MOST_MEGAPIXELS * 1_000_000:
        return None, size
    if whole.height() > _HEIGHT:
        reader.setScaledSize(
            whole.scaled(whole.width(), _HEIGHT, Qt.AspectRatioMode.KeepAspectRatio)
        )
    image = reader.read()
    if image.isNull():
        return None, size
    return QPixmap.fromImage(image), f"{whole.width()} × {whole.height()}, {size}"


class ToolAnswer(QtWidgets.QScrollArea):
    """Shows an outcome, or the output of a running call so far."""

    def __init__(self) -> None:
        super().__init__()
        self.result = named(JsonView(), tr("Result of the call"))
        self.result.setMinimumHeight(_LEAST_RESULT)
        self.head = QtWidgets.QLabel(
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
            textInteractionFlags=Qt.TextInteractionFlag.TextSelectableByMouse,
        )
        self.head.setAccessibleName(tr("Status and headers of the answer"))
        self.pictures = PicturesView()
        self.printed = fixed_text(tr("Output of the tool"), has_frame=False)
        self.printed.setMaximumHeight(110)
        self._printed_title = toned_label("muted", tr("Printed by the tool"))
        page = QtWidgets.QWidget()
        column_of(
            (self.result, 1),
            self.pictures,
            self.head,
            self._printed_title,
            self.printed,
            on=page,
            margins=12,
            spacing=8,
        )
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setWidget(page)
        paint_text(self.head, "muted")
        self.show_outcome(None)

    def show_outcome(self, outcome: ToolOutcome | None) -> None:
        """Show the outcome of a call; None clears the view."""
        self.result.setVisible(outcome is not None)
        if outcome is not None:
            self.result.show_answer(pretty_json(outcome.text))
        head = outcome.head if outcome is not None else ""
        self.head.setText(reveal(head))
        self.head.setVisible(bool(head))
        self.pictures.show_pictures(outcome.pictures if outcome is not None else ())
        self.show_live_output(outcome.stderr.strip() if outcome is not None else "")

    def show_live_output(self, text: str) -> None:
        """Show the output of a running call so far."""
        if text != self.printed.toPlainText():
            self.printed.setPlainText(text)
            bar = self.printed.verticalScrollBar()
            bar.setValue(bar.maximum())
        self.printed.setVisible(bool(text))
        self._printed_title.setVisible(bool(text))


_MOST_PAST = 30
_ROOM_BESIDE = 560
"""Minimum width of the panel to show the answer beside the form, in pixels."""

_MOST_LISTED = 20
"""Maximum number of a tool's saved calls in its menu."""


class SavedCallsButton(QtWidgets.QToolButton):
    """Menu of a tool's saved calls and commands, which is filled when it opens."""

    request_saved = Signal()  # read the saved calls
    request_save = Signal()  # save the shown call
    request_calls = Signal()  # show all saved calls and rows of a file
    chosen = Signal(SavedCall)  # saved call to repeat

    def __init__(self) -> None:
        super().__init__()
        words = tr("Saved calls: repeat one, save this one, run all as tests or for rows")
        self.setIcon(icon("save"))
        self.setToolTip(words)
        self.setAccessibleName(words)
        self.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self._can_save = False
        self._menu = QtWidgets.QMenu(self)
        self._menu.aboutToShow.connect(self._open)
        self.setMenu(self._menu)
        self.show_calls(())

    def allow_saving(self, allowed: bool) -> None:
        """Set whether there is a call to save."""
        self._can_save = allowed

    def show_calls(self, calls: Sequence[SavedCall]) -> None:
        """List the saved calls of the tool."""
        self._menu.clear()
        for call in calls[:_MOST_LISTED]:
            words = reveal(call.name, lines=False).replace("&", "&&")
            action = self._menu.addAction(icon("rotate-ccw"), words)
            action.triggered.connect(lambda *_, call=call: self.chosen.emit(call))
        self._menu.addSeparator()
        save = self._menu.addAction(tr("Save this call"))
        save.setEnabled(self._can_save)
        save.triggered.connect(self.request_save)
        self._menu.addAction(tr("Saved calls and rows…")).triggered.connect(self.request_calls)

    def _open(self) -> None:
        self.show_calls(())
        self.request_saved.emit()


class TryPanel(QtWidgets.QWidget):
    """A form, a button, and the answer; each tool keeps its own values and answer."""

    request_try = Signal(ToolId, Mapping)  # tool, arguments
    request_cancel = Signal()
    request_http_request = Signal(ToolId, Mapping)  # tool, arguments: show the request
    request_saved = Signal(ToolId)  # tool whose saved calls to read
    request_save = Signal(ToolTrial)  # a call to save
    request_calls = Signal(ToolId)  # tool whose saved calls or rows to run

    def __init__(self) -> None:
        super().__init__()
        self._entry: ToolEntry | None = None
        self._held: dict[ToolId, JsonDict] = {}
        self._trials: dict[ToolId, ToolTrial] = {}
        self._past: dict[ToolId, list[ToolTrial]] = {}
        self._running: ToolId | None = None
        self._began = 0.0
        self.form = SchemaForm(is_sent_by_enter=True)
        self._make_request()
        self._make_history()
        self.answer = ToolAnswer()
        self.call_button = push_button(tr("Call"), self._call)
        self.call_button.setToolTip(tr("Call the tool with these arguments (Enter)"))
        self.cancel_button = push_button(tr("Cancel"), self.request_cancel)
        self.cancel_button.hide()
        self.saved = SavedCallsButton()
        self.saved.request_saved.connect(
            lambda: self.request_saved.emit(self._entry.id if self._entry else ToolId())
        )
        self.saved.chosen.connect(self._take)
        self.saved.request_save.connect(self._save)
        self.saved.request_calls.connect(
            lambda: self.request_calls.emit(self._entry.id if self._entry else ToolId())
        )
        self.status = QtWidgets.QLabel(wordWrap=True)
        self.form.value_changed.connect(self._on_values)
        self._splitter = QtWidgets.QSplitter(Qt.Orientation.Vertical)
        self._arrange()
        self._clock = repeating_timer(self, self._tick, 100)
        paint_text(self._request_title, "muted")
        self._show_trial(None)

    def _make_request(self) -> None:
        self.request = named(JsonView(self, colored=False), tr("The request that will be sent"))
        self.request.grow(12)
        self._request_title = QtWidgets.QLabel(tr("Request that will be sent"), self)
        self._request_timer = single_shot(self, self._ask_request, 150)

    def _make_history(self) -> None:
        self.history = named(ComboBox(self), tr("Earlier calls"))
        self.history.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        self.history.setMinimumContentsLength(12)
        self.history.activated.connect(self._show_past)
        self.again_button = push_button(tr("Call again"), self._call_again, parent=self)
        self.again_button.setToolTip(tr("Call the tool with the arguments of this call"))

    def _arrange(self) -> None:
        page = QtWidgets.QWidget()
        column_of(self.form, self._request_title, self.request, 1, on=page, margins=12, spacing=12)
        area = scroll_area(page, parent=self)
        self._beside = QtWidgets.QWidget()
        past = row_of((self.history, 1), self.again_button, margins=(12, 8, 12, 0), spacing=8)
        column_of(past, (self.answer, 1), on=self._beside, margins=0, spacing=0)
        self._splitter.addWidget(area)
        self._splitter.addWidget(self._beside)
        self._splitter.setChildrenCollapsible(False)
        self._splitter.setStretchFactor(0, 1)
        self._splitter.setStretchFactor(1, 1)
        # Below the scrolled part, so that button and answer stay visible with a long form.
        buttons = row_of(
            self.call_button,
            self.cancel_button,
            (self.status, 1),
            self.saved,
            margins=(12, 4, 12, 8),
            spacing=8,
        )
        column_of((self._splitter, 1), buttons, on=self, margins=0, spacing=0)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Call the tool on Enter in a field; Shift+Enter inserts a line break there."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._call()
            return
        super().keyPressEvent(event)

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop requesting previews of requests while hidden."""
        super().hideEvent(event)
        self._request_timer.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show the answer beside the form; in a narrow panel, each gets half the height."""
        super().resizeEvent(event)
        is_wide = self.width() >= _ROOM_BESIDE
        wanted = Qt.Orientation.Horizontal if is_wide else Qt.Orientation.Vertical
        if self._splitter.orientation() != wanted:
            self._splitter.setOrientation(wanted)
            self._splitter.setSizes([1000, 1000])

    def show_entry(self, entry: ToolEntry | None) -> None:
        """Show a tool's form with the values that were typed for it before."""
        if self._entry is not None:
            self._held[self._entry.id] = self.form.values()
        other = entry is None or self._entry is None or entry.id != self._entry.id
        self._entry = entry
        if entry is None:
            return
        if other:
            self.form.set_fields(())
        self.form.set_schema(entry.spec.parameters, self._held.get(entry.id, {}))
        if other:
            self._show_trial(self._trials.get(entry.id))
            self._list_past()
            self.request.show_json("")
        is_web = entry.id.source.startswith("openapi:") and entry.mock is None
        self.request.setVisible(is_web)
        self._request_title.setVisible(is_web)
        if is_web:
            self._request_timer.start()
        self._allow()

    def show_trial(self, trial: ToolTrial) -> None:
        """Show a call that has started or ended."""
        self._trials[trial.tool] = trial
        if trial.outcome is None:
            self._running, self._began = trial.tool, time.monotonic()
            self._clock.start()
        else:
            self._running = None
            self._clock.stop()
            past = self._past.setdefault(trial.tool, [])
            past.insert(0, trial)
            del past[_MOST_PAST:]
            self._list_past()
        if self._entry is not None and trial.tool == self._entry.id:
            self._show_trial(trial)
        self._allow()

    def show_live_output(self, text: str) -> None:
        """Show the output of the running call so far."""
        if self._entry is not None and self._entry.id == self._running:
            self.answer.show_live_output(text)
            self._beside.setVisible(bool(text) or self._beside.isVisibleTo(self))

    def show_saved(self, tool: ToolId, calls: Sequence[SavedCall]) -> None:
        """List a tool's saved calls."""
        if self._entry is not None and self._entry.id == tool:
            self.saved.show_calls(calls)

    def show_request(self, tool: ToolId, text: str) -> None:
        """Show the request of a call with the form's arguments."""
        if self._entry is not None and self._entry.id == tool:
            self.request.show_json(text)

    def _ask_request(self) -> None:
        if self._entry is not None and self.request.isVisibleTo(self):
            self.request_http_request.emit(self._entry.id, self.form.values())

    def _on_values(self, _: object) -> None:
        if self._entry is not None and self.request.isVisibleTo(self):
            self._request_timer.start()

    @property
    def _tried(self) -> list[ToolTrial]:
        return self._past.get(self._entry.id, []) if self._entry is not None else []

    def _list_past(self) -> None:
        self.history.clear()
        for trial in self._tried:
            when = time.strftime("%H:%M:%S", time.localtime(trial.when))
            ended = status_words(trial.outcome) if trial.outcome else ""
            given = json.dumps(trial.arguments, ensure_ascii=False)
            self.history.addItem(f"{when}  {ended}  {reveal(given, lines=False)}"[:160])

    def _show_past(self, row: int) -> None:
        past = self._tried
        if row < len(past):
            self.form.set_values(dict(past[row].arguments))
            self._show_trial(past[row])

    def _call_again(self) -> None:
        """Repeat the shown call, regardless of the form."""
        past, row = self._tried, self.history.currentIndex()
        if self._entry is not None and self._running is None and 0 <= row < len(past):
            self.form.set_values(dict(past[row].arguments))
            self.request_try.emit(self._entry.id, dict(past[row].arguments))

    def _take(self, call: SavedCall) -> None:
        """Put a saved call into the form and call the tool."""
        if self._entry is not None and self._running is None:
            self.form.set_values(dict(call.arguments))
            self._call()

    def _save(self) -> None:
        past, row = self._tried, max(0, self.history.currentIndex())
        if row < len(past):
            self.request_save.emit(past[row])

    def _call(self) -> None:
        if self._entry is None or self._running is not None:
            return
        if self.form.problems():
            self._say(tr("Some arguments need attention."), "error")
            return
        self.request_try.emit(self._entry.id, self.form.values())

    def _allow(self) -> None:
        self.call_button.setEnabled(self._running is None)
        self.again_button.setEnabled(self._running is None)
        self.cancel_button.setVisible(self._running is not None)
        self.saved.allow_saving(bool(self._tried))

    def _tick(self) -> None:
        if self._entry is not None and self._entry.id == self._running:
            self._say(
                tr("Running, {time}").format(time=duration(time.monotonic() - self._began)), "muted"
            )

    def _show_trial(self, trial: ToolTrial | None) -> None:
        outcome = trial.outcome if trial is not None else None
        self.answer.show_outcome(outcome)
        # The parts beside the form keep their place while a call runs.
        self._beside.setVisible(outcome is not None or bool(self._tried))
        if trial is None:
            self._say("", "muted")
        elif outcome is None:
            self._say(tr("Running"), "muted")
        else:
            self._say_outcome(outcome)

    def _say_outcome(self, outcome: ToolOutcome) -> None:
        cut = tr(", cut at the limit") if outcome.truncated else ""
        if outcome.whole:
            cut = tr("; the model gets {count} characters").format(count=f"{len(outcome.text):,}")
        took = (
            tr(" in {duration}").format(duration=duration(outcome.duration))
            if outcome.duration
            else ""
        )
        self._say(status_words(outcome) + took + cut, "error" if outcome.is_error else "success")

    def _say(self, text: str, tone: str) -> None:
        paint_text(self.status, tone)
        self.status.setText(text)
