"""The form of one connection; what is right in it holds at once.

Options that a connection's server refused, with a button that forgets them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QScrollArea,
    QToolButton,
    QWidget,
)

from studio.application.connections.editing import FIELDS, Field, problems_of, warnings_of
from studio.application.words import marked, tr
from studio.core.models.capabilities import facts_of
from studio.core.models.connections import EMBEDDED, Connection
from studio.core.models.prices import is_loaded, table_name
from studio.core.models.refused_options import kept_refusals
from studio.core.models.remote.model import shown_address
from studio.core.text.values import Json, JsonObject
from studio.ui.connections.embedded_fields import EmbeddedFields
from studio.ui.connections.kinds import hint_of, name_of
from studio.ui.connections.path_field import PathField
from studio.ui.connections.remote_fields import RemoteFields
from studio.ui.connections.trial_bar import TriedTable
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_text
from studio.viewmodels.connections.trials import ConnectionTrial


class RefusalsLine(QWidget):
    """Says what is left out of requests; hidden while that is nothing."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals = kept_refusals()
        self._address = ""
        self.words = QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)  # names come from a server
        self.forget = QPushButton(tr("Forget"), autoDefault=False)
        self.forget.setToolTip(tr("Send these options again, to see whether they are taken"))
        self.forget.clicked.connect(self._on_forget)
        row_of((self.words, 1), self.forget, on=self, margins=0, spacing=8)

    def show_connection(self, connection: Connection) -> None:
        """Show what is kept for the address of a connection."""
        self._address = shown_address(connection) if connection.is_remote else ""
        found = self._refusals.at(self._address) if self._address else ()
        named = (
            tr("{option} by {model} ({day})").format(
                option=each.option, model=each.model, day=each.learned
            )
            for each in found
        )
        words = tr("Not taken by the server, so not sent for 30 days: {names}.")
        self.words.setText(words.format(names=", ".join(named)))
        self.setVisible(bool(found))

    def _on_forget(self) -> None:
        self._refusals.forget(self._address)
        self.hide()


FieldTone: TypeAlias = Literal["error", "warning", "hint"]
"""Whether a note keeps the line from being saved, warns, or explains."""


class CollapsibleSection(QToolButton):
    """Checked while its body is open; closed at first."""

    def __init__(self, title: str, body: QWidget) -> None:
        """Create a heading.

        Args:
            title: what is said.
            body: what is shown while it is checked; laid out by the caller.
        """
        super().__init__()
        self.body = body
        self.setText(title)
        self.setCheckable(True)
        self.setArrowType(Qt.ArrowType.RightArrow)
        self.setStyleSheet("QToolButton:checked { background: transparent; }")
        self.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.toggled.connect(self._on_toggled)
        body.hide()

    def set_available(self, available: bool) -> None:
        """Show heading and, where it is open, body; or neither."""
        self.setVisible(available)
        self.body.setVisible(available and self.isChecked())

    def _on_toggled(self, on: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.body.setVisible(on)


class FormLine(QWidget):
    """Fields side by side, with room for a note under them."""

    def __init__(self, *fields: QWidget, stretch: bool = True) -> None:
        super().__init__()
        self.tone: FieldTone = "hint"
        """Tone of the note."""
        self._usual = ""
        self.note = QLabel(self, wordWrap=True)
        row = QHBoxLayout()
        row.setSpacing(8)
        for field in fields:
            row.addWidget(field, 1 if stretch else 0)
        if not stretch:
            row.addStretch(1)
        column_of(row, self.note, on=self, margins=0, spacing=4)
        self.note.hide()
        self._paint()

    def set_usual(self, text: str) -> None:
        """Set the note that is shown if nothing is wrong."""
        self._usual = text
        self.say("", "hint")

    def say(self, text: str, tone: FieldTone) -> None:
        """Note something; an empty text leaves the usual one."""
        self.tone = tone if text else "hint"
        shown = text or self._usual
        self.note.setText(shown)
        self.note.setVisible(bool(shown))
        self._paint()

    def _paint(self) -> None:
        paint_text(self.note, "muted" if self.tone == "hint" else self.tone)


_LABELS: dict[Field, str] = {
    "name": marked("Name"),
    "base_url": marked("Address"),
    "api_version": marked("API version"),
    "model": marked("Model"),
    "key": marked("Key"),
    "api": "API",
    "headers": marked("Headers"),
    "limits": marked("Limits"),
    "weights": marked("Model file"),
    "context": marked("Context"),
    "threads": marked("Threads"),
    "grammar": marked("Help"),
    "script": marked("Script"),
    "recording": marked("Recording"),
    "through": marked("Record"),
    "abilities": marked("Model"),
}
_MORE: tuple[Field, ...] = ("api", "headers", "limits")
_NOTES: dict[Field, str] = {
    "script": marked(
        "A JSON list of replies; each is a text, or an object with text and tool_calls."
    ),
    "context": marked("A longer context needs more memory."),
    "grammar": marked("How much is decided for the model; real models need none of it."),
}


class ConnectionForm(QScrollArea):
    """Shows the lines that a kind has."""

    committed = Signal(Connection)  # Connection, changed and right
    checked = Signal(bool)  # at each end of writing: whether all is right; else nothing is saved
    request_list = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.shown = EMBEDDED
        """The connection as it was last kept."""
        self._others: tuple[str, ...] = ()
        self._listed: Sequence[JsonObject] = ()
        self._loading = False
        self.problems: dict[Field, str] = {}
        self.lines: dict[Field, FormLine] = {}
        self._make_fields()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()
        self._connect()

    def show_connection(self, connection: Connection, others: Collection[Connection]) -> None:
        """Show a connection.

        Args:
            connection: what is shown.
            others: all other connections; names must differ, and one of them can be recorded.
        """
        self._loading = True
        self.shown = connection
        self._others = tuple(other.name for other in others)
        self._listed = ()
        self.hint.setText(f"<b>{name_of(connection.kind)}</b>. {hint_of(connection)}")
        for field, line in self.lines.items():
            visible = field in FIELDS[connection.kind]
            (self._more_form if field in _MORE else self._form).setRowVisible(line, visible)
        for fold in (self.more, self.able):
            fold.set_available(connection.is_remote)
        self._fill(connection, others)
        self._loading = False
        self._check()
        self._fit_width()

    def showEvent(self, event: QShowEvent) -> None:
        """Now the fonts are the theme's."""
        super().showEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        """Be as wide as the widest line needs: the form is scrolled up and down only."""
        page, bar = self._page.minimumSizeHint(), self.verticalScrollBar().sizeHint()
        self.setMinimumWidth(max(self.minimumWidth(), page.width() + bar.width()))

    def kept(self, connection: Connection) -> None:
        """Mark the committed fields as saved; they stay unchanged."""
        self.shown = connection
        self._check()

    def commit(self) -> None:
        """Apply the fields; does nothing while one is invalid."""
        if self._loading:
            return
        candidate = self._check()
        self.checked.emit(not self.problems)
        if not self.problems and candidate != self.shown:
            self.committed.emit(candidate)

    def set_listed(self, models: Sequence[str], listed: Sequence[JsonObject] = ()) -> None:
        """Offer the server's models."""
        self._loading = True
        self._listed = listed
        self.remote.model.set_models(models)
        self._loading = False
        self._show_known(self.candidate())

    # -- between fields and values --------------------------------------------------------------

    def _fill(self, connection: Connection, others: Collection[Connection]) -> None:
        settings = connection.settings
        self.name.setText(connection.name)
        self.remote.set_value(connection)
        self.embedded.set_value(settings)
        self.script.set_value(str(settings.get("script", "")))
        self.recording.set_value(str(settings.get("recording", "")))
        self.through.clear()
        self.through.addItem(tr("Nothing: only answer from the recording"), "")
        for other in others:
            if other.kind != "replay":
                self.through.addItem(tr("What {name} answers").format(name=other.name), other.name)
        self.through.setCurrentIndex(max(0, self.through.findData(settings.get("through", ""))))

    def candidate(self) -> Connection:
        """Return the contents of the fields."""
        shown = self.shown
        changed = replace(shown, name=self.name.text().strip(), settings=self._settings())
        return self.remote.value(changed) if shown.is_remote else changed

    def _settings(self) -> JsonObject:
        kind = self.shown.kind
        values: dict[str, Json] = {}
        if kind == "embedded":
            values = dict(self.embedded.value())
        elif kind == "scripted":
            values = {"script": self.script.value()}
        elif kind == "replay":
            values = {"recording": self.recording.value(), "through": self.through.currentData()}
        return {name: value for name, value in values.items() if value}

    def _check(self) -> Connection:
        """Say beside each field what is wrong with it."""
        candidate = self.candidate()
        self.problems = problems_of(candidate, self._others)
        if candidate.is_remote and self.remote.header_problem:
            self.problems["headers"] = self.remote.header_problem
        warnings = warnings_of(candidate)
        for field, line in self.lines.items():
            wrong = self.problems.get(field, "")
            line.say(wrong or warnings.get(field, ""), "error" if wrong else "warning")
        if "headers" in self.problems:
            self.more.setChecked(True)
        self._show_known(candidate)
        return candidate

    def show_prices(self, fault: str = "") -> None:
        """The table of prices is here, or could not be fetched."""
        self.remote.abilities.set_prices(table_name() if is_loaded() else "", fault)
        self._show_known(self.candidate())

    def show_tried(self, connection: Connection, trial: ConnectionTrial) -> None:
        """Show what a test of the connection shows, or showed."""
        self.tried.show_table(connection, trial)
        self.refusals.show_connection(connection)
        self.shown_tried.set_available(connection.is_remote and self.tried.has_rows)
        if trial.asks:
            self.shown_tried.setChecked(True)

    def _show_known(self, candidate: Connection) -> None:
        model = self.remote.model.value()
        listed = next((each for each in self._listed if each.get("id") == model), None)
        # The table of prices takes a moment to load: until it is here, its figures are not shown.
        facts = facts_of(model, listed=listed, connection=candidate, priced=is_loaded())
        self.remote.abilities.set_known(facts, model)

    # -- building -------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.hint = QLabel(wordWrap=True)
        self.name = QLineEdit()
        self.remote = RemoteFields()
        self.embedded = EmbeddedFields()
        self.script = PathField(
            tr("Script"), tr("Scripts (*.json);;All files (*)"), tr("A JSON file")
        )
        self.recording = PathField(
            tr("Recording"),
            tr("Recordings (*.jsonl);;All files (*)"),
            tr("A .jsonl file"),
            is_new=True,
        )
        self.through = ComboBox()
        self.more = CollapsibleSection(tr("API, headers and time limits"), QWidget(self))
        self.able = CollapsibleSection(tr("What the model can do, and costs"), QWidget(self))
        self.refusals = RefusalsLine()
        self.tried = TriedTable()
        self.shown_tried = CollapsibleSection(tr("What its test showed"), QWidget(self))

    def _lay_out(self) -> None:
        page = QWidget()
        column = column_of(self.hint, on=page, margins=(20, 16, 20, 12), spacing=12)
        self._form = _form_layout()
        column.addLayout(self._form)
        main = {
            "name": self.name,
            **self.remote.main,
            "weights": self.embedded.weights,
            "context": self.embedded.context,
            "threads": self.embedded.threads,
            "grammar": self.embedded.grammar,
            "script": self.script,
            "recording": self.recording,
            "through": self.through,
        }
        for field, widget in main.items():
            self._add(self._form, field, FormLine(widget))
        self._more_form = _form_layout(self.more.body)
        for field, widget in self.remote.rare.items():
            self._add(self._more_form, field, FormLine(widget, stretch=field != "limits"))
        column_of(self.remote.abilities, on=self.able.body, margins=(16, 0, 0, 0))
        column_of(self.tried, on=self.shown_tried.body, margins=(16, 0, 0, 0))
        column.addWidget(self.refusals)
        for fold in (self.shown_tried, self.more, self.able):
            column.addWidget(fold)
            column.addWidget(fold.body)
            fold.toggled.connect(self._fit_width)
        column.addStretch(1)
        self._page = page
        self.setWidget(page)

    def _add(self, form: QFormLayout, field: Field, line: FormLine) -> None:
        self.lines[field] = line
        line.set_usual(tr(_NOTES[field]) if field in _NOTES else "")
        label = QLabel(tr(_LABELS[field]))
        label.setFixedHeight(28)  # as high as a field: the label stands beside it, not the note
        form.addRow(label, line)

    def _connect(self) -> None:
        remote = self.remote
        named = {
            "name": self.name,
            "base_url": remote.base_url,
            "api": remote.api,
            "api_version": remote.api_version,
            "headers": remote.headers,
            "through": self.through,
        }
        for field, widget in named.items():
            words = tr(_LABELS[cast("Field", field)])
            widget.setAccessibleName(words)
        remote.when_written(self.commit)
        for part in (self.embedded.weights, self.script, self.recording):
            part.changed.connect(self.commit)
        spins = (self.embedded.context, self.embedded.threads)
        choices = (self.through, self.embedded.grammar)
        self.name.editingFinished.connect(self.commit)
        for spin in spins:
            spin.editingFinished.connect(self.commit)
            spin.setMinimumHeight(28)
        for choice in choices:
            choice.activated.connect(self.commit)
            choice.setMinimumHeight(28)
        remote.model.request_list.connect(self.request_list)


def _form_layout(parent: QWidget | None = None) -> QFormLayout:
    form = QFormLayout(parent) if parent is not None else QFormLayout()
    form.setContentsMargins(18 if parent is not None else 0, 0, 0, 0)
    form.setHorizontalSpacing(16)
    form.setVerticalSpacing(12)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return form
