"""The form of one connection; what is right in it holds at once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import cast

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication, Qt, Signal
from PySide6.QtWidgets import (
    QComboBox,
    QDoubleSpinBox,
    QFormLayout,
    QFrame,
    QLabel,
    QLineEdit,
    QPlainTextEdit,
    QScrollArea,
    QSpinBox,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.connection_check import (
    FIELDS,
    Field,
    headers_text,
    problems_of,
    read_headers,
    warnings_of,
)
from studio.core.models.capabilities import facts_of
from studio.core.models.connections import EMBEDDED, Api, Connection, address_of
from studio.core.text.values import Json, JsonObject
from studio.ui.connections.abilities_field import AbilitiesField
from studio.ui.connections.embedded_fields import EmbeddedFields
from studio.ui.connections.form_line import FormLine
from studio.ui.connections.key_field import KeyField
from studio.ui.connections.kinds import hint_of, name_of
from studio.ui.connections.model_field import ModelField
from studio.ui.connections.path_field import PathField
from studio.ui.theme import LIGHT, Theme

_LABELS: dict[Field, str] = {
    "name": QT_TRANSLATE_NOOP("Form", "Name"),
    "base_url": QT_TRANSLATE_NOOP("Form", "Address"),
    "api_version": QT_TRANSLATE_NOOP("Form", "API version"),
    "model": QT_TRANSLATE_NOOP("Form", "Model"),
    "key": QT_TRANSLATE_NOOP("Form", "Key"),
    "api": "API",
    "headers": QT_TRANSLATE_NOOP("Form", "Headers"),
    "limits": QT_TRANSLATE_NOOP("Form", "Limits"),
    "weights": QT_TRANSLATE_NOOP("Form", "Model file"),
    "context": QT_TRANSLATE_NOOP("Form", "Context"),
    "threads": QT_TRANSLATE_NOOP("Form", "Threads"),
    "grammar": QT_TRANSLATE_NOOP("Form", "Grammar"),
    "script": QT_TRANSLATE_NOOP("Form", "Script"),
    "recording": QT_TRANSLATE_NOOP("Form", "Recording"),
    "through": QT_TRANSLATE_NOOP("Form", "Record"),
    "abilities": QT_TRANSLATE_NOOP("Form", "Model"),
}
_MORE: tuple[Field, ...] = ("api", "headers", "limits")
_NOTES: dict[Field, str] = {
    "script": QT_TRANSLATE_NOOP(
        "Form", "A JSON list of replies; each is a text, or an object with text and tool_calls."
    ),
    "context": QT_TRANSLATE_NOOP("Form", "A longer context needs more memory."),
    "grammar": QT_TRANSLATE_NOOP(
        "Form", "How much is decided for the model; real models need none of it."
    ),
}


class _HeadersEdit(QPlainTextEdit):
    """A few lines; done when it is left."""

    left = Signal()

    def focusOutEvent(self, event: object) -> None:
        """Leaving is the end of writing."""
        super().focusOutEvent(event)  # type: ignore[arg-type]
        self.left.emit()


class ConnectionForm(QScrollArea):
    """Shows the lines that a kind has."""

    committed = Signal(object)  # Connection, changed and right
    checked = Signal(bool)  # at each end of writing: whether all is right; else nothing is saved
    request_list = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._shown = EMBEDDED
        self._others: tuple[str, ...] = ()
        self._listed: Sequence[JsonObject] = ()
        self._theme = LIGHT
        self._loading = False
        self.problems: dict[Field, str] = {}
        self.lines: dict[Field, FormLine] = {}
        self._make_fields()
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()
        self._connect()

    @property
    def shown(self) -> Connection:
        """The connection as it was last kept."""
        return self._shown

    def show_connection(self, connection: Connection, others: Collection[Connection]) -> None:
        """Show a connection.

        Args:
            connection: what is shown.
            others: all other connections; names must differ, and one of them can be recorded.
        """
        self._loading = True
        self._shown = connection
        self._others = tuple(other.name for other in others)
        self._listed = ()
        self.hint.setText(f"<b>{name_of(connection.kind)}</b>. {hint_of(connection)}")
        for field, line in self.lines.items():
            visible = field in FIELDS[connection.kind]
            (self._more_form if field in _MORE else self._form).setRowVisible(line, visible)
        for head, body in ((self.more, self._more_page), (self.able, self._able_page)):
            head.setVisible(connection.is_remote)
            body.setVisible(connection.is_remote and head.isChecked())
        self._fill(connection, others)
        self._loading = False
        self._check()

    def kept(self, connection: Connection) -> None:
        """What was committed is saved; the fields are as they are."""
        self._shown = connection
        self._check()

    def commit(self) -> None:
        """Take what stands in the fields; does nothing while something in it is wrong."""
        if self._loading:
            return
        candidate = self._check()
        self.checked.emit(not self.problems)
        if not self.problems and candidate != self._shown:
            self.committed.emit(candidate)

    def set_listed(self, models: Sequence[str], listed: Sequence[JsonObject] = ()) -> None:
        """Offer the server's models."""
        self._loading = True
        self._listed = listed
        self.model.set_models(models)
        self._loading = False
        self._show_known()

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self._theme = theme
        for part in (*self.lines.values(), self.key, self.abilities):
            part.set_theme(theme)

    # -- between fields and values --------------------------------------------------------------

    def _fill(self, connection: Connection, others: Collection[Connection]) -> None:
        settings = connection.settings
        self.name.setText(connection.name)
        usual = address_of(replace(connection, base_url=""))
        self.base_url.setPlaceholderText(usual or "https://host/v1")
        self.base_url.setText(connection.base_url)
        self.api_version.setText(connection.api_version)
        self.model.set_models(())
        self.model.set_value(connection.model)
        self.key.set_reference(connection.key)
        self.api.setCurrentIndex(self.api.findData(connection.api))
        self.headers.setPlainText(headers_text(connection.headers))
        self.first_byte.setValue(connection.first_byte_seconds)
        self.stall.setValue(connection.stall_seconds)
        self.retries.setValue(connection.retries)
        self.abilities.set_value(connection.capabilities)
        self.embedded.set_value(settings)
        self.script.set_value(str(settings.get("script", "")))
        self.recording.set_value(str(settings.get("recording", "")))
        self.through.clear()
        self.through.addItem(self.tr("Nothing: only answer from the recording"), "")
        for other in others:
            if other.kind != "replay":
                self.through.addItem(
                    self.tr("What {name} answers").format(name=other.name), other.name
                )
        self.through.setCurrentIndex(max(0, self.through.findData(settings.get("through", ""))))

    def candidate(self) -> Connection:
        """What stands in the fields."""
        shown = self._shown
        changed = replace(shown, name=self.name.text().strip(), settings=self._settings())
        if not shown.is_remote:
            return changed
        return replace(
            changed,
            base_url=self.base_url.text().strip(),
            api_version=self.api_version.text().strip(),
            model=self.model.value(),
            key=self.key.reference(),
            api=cast("Api", self.api.currentData()),
            headers=read_headers(self.headers.toPlainText())[0],
            first_byte_seconds=self.first_byte.value(),
            stall_seconds=self.stall.value(),
            retries=self.retries.value(),
            capabilities=self.abilities.value(),
        )

    def _settings(self) -> JsonObject:
        kind = self._shown.kind
        said: dict[str, Json] = {}
        if kind == "embedded":
            said = dict(self.embedded.value())
        elif kind == "scripted":
            said = {"script": self.script.value()}
        elif kind == "replay":
            said = {"recording": self.recording.value(), "through": self.through.currentData()}
        return {name: value for name, value in said.items() if value}

    def _check(self) -> Connection:
        """Say beside each field what is wrong with it."""
        candidate = self.candidate()
        self.problems = problems_of(candidate, self._others)
        wrong_header = read_headers(self.headers.toPlainText())[1]
        if candidate.is_remote and wrong_header:
            self.problems["headers"] = wrong_header
        warnings = warnings_of(candidate)
        for field, line in self.lines.items():
            wrong = self.problems.get(field, "")
            line.say(wrong or warnings.get(field, ""), "error" if wrong else "warning")
        if "headers" in self.problems:
            self.more.setChecked(True)
        self._show_known()
        return candidate

    def _show_known(self) -> None:
        model = self.model.value()
        listed = next((each for each in self._listed if each.get("id") == model), None)
        self.abilities.set_known(facts_of(model, listed=listed), model)

    # -- building -------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.hint = QLabel()
        self.hint.setWordWrap(True)
        self.name, self.base_url, self.api_version = QLineEdit(), QLineEdit(), QLineEdit()
        self.api_version.setPlaceholderText(self.tr("None: the v1 API, which has no versions"))
        self.model = ModelField()
        self.key = KeyField()
        self.api = QComboBox()
        self.api.addItem(self.tr("Chat completions"), "chat")
        self.api.addItem(self.tr("Responses"), "responses")
        self.headers = _HeadersEdit()
        self.headers.setPlaceholderText(self.tr("Name: value, one a line; none of them secret"))
        self.headers.setTabChangesFocus(True)
        self.headers.setFixedHeight(64)
        self.first_byte, self.stall = QDoubleSpinBox(), QDoubleSpinBox()
        for spin in (self.first_byte, self.stall):
            spin.setRange(1, 3600)
            spin.setDecimals(0)
            spin.setSuffix(" s")
        self.retries = QSpinBox()
        self.retries.setRange(0, 10)
        self.abilities = AbilitiesField()
        self.embedded = EmbeddedFields()
        self.script = PathField(
            self.tr("Script"), self.tr("Scripts (*.json);;All files (*)"), self.tr("A JSON file")
        )
        self.recording = PathField(
            self.tr("Recording"),
            self.tr("Recordings (*.jsonl);;All files (*)"),
            self.tr("A .jsonl file"),
            is_new=True,
        )
        self.through = QComboBox()
        self.more = _section(self.tr("API, headers and time limits"))
        self.able = _section(self.tr("What the model can do, and costs"))

    def _lay_out(self) -> None:
        page = QWidget()
        column = QVBoxLayout(page)
        column.setContentsMargins(20, 16, 20, 12)
        column.setSpacing(12)
        column.addWidget(self.hint)
        self._form = _form_layout()
        column.addLayout(self._form)
        main = {
            "name": self.name, "base_url": self.base_url, "api_version": self.api_version,
            "model": self.model, "key": self.key, "weights": self.embedded.weights,
            "context": self.embedded.context, "threads": self.embedded.threads,
            "grammar": self.embedded.grammar, "script": self.script, "recording": self.recording,
            "through": self.through,
        }  # fmt: skip
        for field, widget in main.items():
            self._add(self._form, cast("Field", field), FormLine(widget))
        self._more_page, self._able_page = QWidget(page), QWidget(page)
        self._more_form = _form_layout(self._more_page)
        self._add(self._more_form, "api", FormLine(self.api))
        self._add(self._more_form, "headers", FormLine(self.headers))
        limits = QWidget()
        times = QFormLayout(limits)
        times.setContentsMargins(0, 0, 0, 0)
        for name, spin in (
            (self.tr("Reply begins within"), self.first_byte),
            (self.tr("Reply pauses at most"), self.stall),
            (self.tr("Further tries"), self.retries),
        ):
            spin.setAccessibleName(name)
            spin.setMinimumHeight(26)
            times.addRow(name, spin)
        self._add(self._more_form, "limits", FormLine(limits, stretch=False))
        able = QVBoxLayout(self._able_page)
        able.setContentsMargins(18, 0, 0, 0)
        able.addWidget(self.abilities)
        for head, body in ((self.more, self._more_page), (self.able, self._able_page)):
            column.addWidget(head)
            column.addWidget(body)
            body.hide()
        column.addStretch(1)
        self.setWidget(page)

    def _add(self, form: QFormLayout, field: Field, line: FormLine) -> None:
        self.lines[field] = line
        line.set_usual(QCoreApplication.translate("Form", _NOTES[field]) if field in _NOTES else "")
        label = QLabel(QCoreApplication.translate("Form", _LABELS[field]))
        label.setFixedHeight(28)  # as high as a field: the label stands beside it, not the note
        form.addRow(label, line)

    def _connect(self) -> None:
        named = {"name": self.name, "base_url": self.base_url, "api_version": self.api_version,
                 "api": self.api, "headers": self.headers, "through": self.through}  # fmt: skip
        for field, widget in named.items():
            widget.setAccessibleName(
                QCoreApplication.translate("Form", _LABELS[cast("Field", field)])
            )
        for part in (self.model, self.key, self.abilities, self.embedded.weights, self.script,
                     self.recording):  # fmt: skip
            part.changed.connect(self.commit)
        spins = (self.first_byte, self.stall, self.retries, self.embedded.context,
                 self.embedded.threads)  # fmt: skip
        for part in (self.name, self.base_url, self.api_version, *spins):
            part.editingFinished.connect(self.commit)
        for part in (self.api, self.through, self.embedded.grammar):
            part.activated.connect(self.commit)
        for part in (*spins, self.api, self.through, self.embedded.grammar):
            part.setMinimumHeight(28)
        self.headers.left.connect(self.commit)
        self.model.request_list.connect(self.request_list)
        self.more.toggled.connect(lambda on: _open(self.more, self._more_page, on))
        self.able.toggled.connect(lambda on: _open(self.able, self._able_page, on))


def _form_layout(parent: QWidget | None = None) -> QFormLayout:
    form = QFormLayout(parent) if parent is not None else QFormLayout()
    form.setContentsMargins(18 if parent is not None else 0, 0, 0, 0)
    form.setHorizontalSpacing(16)
    form.setVerticalSpacing(10)
    form.setFieldGrowthPolicy(QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return form


def _section(title: str) -> QToolButton:
    button = QToolButton()
    button.setText(title)
    button.setCheckable(True)
    button.setArrowType(Qt.ArrowType.RightArrow)
    button.setStyleSheet("QToolButton:checked { background: transparent; }")
    button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return button


def _open(head: QToolButton, body: QWidget, on: bool) -> None:
    head.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
    body.setVisible(on)
