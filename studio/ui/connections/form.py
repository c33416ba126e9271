"""The form of one connection; valid changes are applied at once.

It also lists request options that the server refused, with a button to reset them.
"""

import os
from collections.abc import Collection, Sequence
from dataclasses import replace
from typing import Literal, TypeAlias, cast

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent

from studio.application.connections.editing import (
    FIELDS,
    Field,
    headers_text,
    problems_of,
    read_headers,
    warnings_of,
)
from studio.application.words import tr
from studio.core.models.capabilities import facts_of, is_loaded, table_name
from studio.core.models.connections import EMBEDDED, Connection, address_of
from studio.core.models.embedded.policy import LEVELS
from studio.core.models.remote.faults import kept_refusals
from studio.core.models.remote.model import shown_address
from studio.core.text.values import JsonDict, JsonObject
from studio.ui.connections.connection_list import help_words, hint_of, name_of
from studio.ui.connections.fields import (
    AbilitiesField,
    KeyField,
    ModelField,
    PathField,
    WeightsField,
)
from studio.ui.connections.trial_bar import TriedTable
from studio.ui.parts.fields import ComboBox, DoubleSpinBox, FieldForm
from studio.ui.parts.kit import column_of, push_button, row_of
from studio.ui.style.theme import paint_text
from studio.viewmodels.connections.trials import ConnectionTrial


class RefusalsLine(QtWidgets.QWidget):
    """Lists options that are left out of requests; hidden if there are none."""

    def __init__(self) -> None:
        super().__init__()
        self._refusals = kept_refusals()
        self._address = ""
        self.words = QtWidgets.QLabel(wordWrap=True)
        self.words.setTextFormat(Qt.TextFormat.PlainText)  # names from a server are not HTML
        self.forget = push_button(tr("Forget"), self._on_forget, takes_enter=False)
        self.forget.setToolTip(
            tr("Send these options again and check whether the server accepts them")
        )
        row_of((self.words, 1), self.forget, on=self, margins=0, spacing=8)

    def show_connection(self, connection: Connection) -> None:
        """Show the refused options for a connection's address."""
        self._address = shown_address(connection) if connection.is_remote else ""
        found = self._refusals.at(self._address) if self._address else ()
        named = (
            tr("{option} by {model} ({day})").format(
                option=each.option, model=each.model, day=each.learned
            )
            for each in found
        )
        words = tr("Rejected by the server, so not sent for 30 days: {names}.")
        self.words.setText(words.format(names=", ".join(named)))
        self.setVisible(bool(found))

    def _on_forget(self) -> None:
        self._refusals.forget(self._address)
        self.hide()


FieldTone: TypeAlias = Literal["error", "warning", "hint"]
"""Kind of a note: it prevents saving, warns, or explains."""


class CollapsibleSection(QtWidgets.QToolButton):
    """Heading of a section that can be expanded; collapsed at first."""

    def __init__(self, title: str, body: QtWidgets.QWidget) -> None:
        """Create a heading.

        Args:
            title: text of the heading.
            body: widget that is shown while the section is expanded; the caller lays it out.
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
        """Show or hide the section."""
        self.setVisible(available)
        self.body.setVisible(available and self.isChecked())

    def _on_toggled(self, on: bool) -> None:
        self.setArrowType(Qt.ArrowType.DownArrow if on else Qt.ArrowType.RightArrow)
        self.body.setVisible(on)


class FormLine(QtWidgets.QWidget):
    """Fields side by side with a note below."""

    def __init__(self, *fields: QtWidgets.QWidget, stretch: bool = True) -> None:
        super().__init__()
        self.tone: FieldTone = "hint"
        """Tone of the note."""
        self._usual = ""
        self.note = QtWidgets.QLabel(self, wordWrap=True)
        row = QtWidgets.QHBoxLayout()
        row.setSpacing(8)
        for field in fields:
            row.addWidget(field, 1 if stretch else 0)
        if not stretch:
            row.addStretch(1)
        column_of(row, self.note, on=self, margins=0, spacing=4)
        self.note.hide()
        self._paint()

    def set_usual(self, text: str) -> None:
        """Set the note that is shown if the fields are valid."""
        self._usual = text
        self.say("", "hint")

    def say(self, text: str, tone: FieldTone) -> None:
        """Show a note; an empty text restores the usual one."""
        self.tone = tone if text else "hint"
        shown = text or self._usual
        self.note.setText(shown)
        self.note.setVisible(bool(shown))
        self._paint()

    def _paint(self) -> None:
        paint_text(self.note, "muted" if self.tone == "hint" else self.tone)


_MORE: tuple[Field, ...] = ("api", "headers", "limits")
_OWN_LINES = ("name", "base_url", "api_version", "api")
"""Fields named like an attribute of the connection."""


class ConnectionForm(QtWidgets.QScrollArea):
    """Form with the fields of a connection's kind."""

    committed = Signal(Connection)  # changed, valid Connection
    checked = Signal(bool)  # after each edit: whether all fields are valid and saved
    request_list = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.shown = EMBEDDED
        """The connection as it was saved last."""
        self._others: tuple[str, ...] = ()
        self._listed: Sequence[JsonObject] = ()
        self._loading = False
        self.problems: dict[Field, str] = {}
        self.lines: dict[Field, FormLine] = {}
        self._make_fields()
        self.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._lay_out()
        self._connect()

    def show_connection(self, connection: Connection, others: Collection[Connection]) -> None:
        """Show a connection.

        Args:
            connection: the connection.
            others: all other connections; names must differ, and a recorder can wrap one of them.
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
        """Set the width for the theme's fonts, which are set by now."""
        super().showEvent(event)
        self._fit_width()

    def _fit_width(self) -> None:
        """Use the width of the widest line: the form scrolls only vertically."""
        page, bar = self._page.minimumSizeHint(), self.verticalScrollBar().sizeHint()
        self.setMinimumWidth(max(self.minimumWidth(), page.width() + bar.width()))

    def kept(self, connection: Connection) -> None:
        """Mark the fields as saved without changing them."""
        self.shown = connection
        self._check()

    def commit(self) -> None:
        """Apply the fields, unless one is invalid."""
        if self._loading:
            return
        candidate = self._check()
        self.checked.emit(not self.problems)
        if not self.problems and candidate != self.shown:
            self.committed.emit(candidate)

    def set_listed(self, models: Sequence[str], listed: Sequence[JsonObject] = ()) -> None:
        """Set the server's models."""
        self._loading = True
        self._listed = listed
        self.model.set_models(models)
        self._loading = False
        self._show_known(self.candidate())

    # -- between fields and values --------------------------------------------------------------

    def _fill(self, connection: Connection, others: Collection[Connection]) -> None:
        settings = connection.settings
        through = self.fields.widget("through", ComboBox)
        through.clear()
        through.addItem(tr("Nothing: only replay the recording"), "")
        for other in others:
            if other.kind != "replay":
                through.addItem(tr("The replies of {name}").format(name=other.name), other.name)
        usual = address_of(replace(connection, base_url=""))
        own = "https://RESOURCE.openai.azure.com" if connection.kind == "azure" else ""
        self.fields.set_hint("base_url", usual or own or "https://host/v1")
        self.fields.set_values(
            {
                "through": "",
                **settings,
                **{key: getattr(connection, key) for key in _OWN_LINES},
                "headers": headers_text(connection.headers),
            }
        )
        self.model.set_models(())
        self.model.set_value(connection.model)
        self.key.set_reference(connection.key)
        self.limits.show_record(connection)
        self.abilities.set_value(connection.capabilities)
        for name, path in self.paths.items():
            path.set_value(str(settings.get(name, "")))

    def candidate(self) -> Connection:
        """Return the connection in the fields."""
        fields = self.fields
        found = replace(self.shown, name=fields.text("name"), settings=self._settings())
        if not found.is_remote:
            return found
        return replace(
            self.limits.written_to(fields.written_to(found, *_OWN_LINES)),
            model=self.model.value(),
            key=self.key.reference(),
            headers=read_headers(fields.text("headers"))[0],
            capabilities=self.abilities.value(),
        )

    def _settings(self) -> JsonObject:
        """Return the settings of a local kind that differ from the defaults."""
        if self.shown.is_remote:
            return {}
        given: JsonDict = {**self.fields.given()}
        given |= {name: path.value() for name, path in self.paths.items()}
        lines = [name for name in FIELDS[self.shown.kind] if name not in _OWN_LINES]
        return {name: given[name] for name in lines if given.get(name)}

    def _check(self) -> Connection:
        """Validate the fields and show a note beside each invalid one."""
        candidate = self.candidate()
        self.problems = problems_of(candidate, self._others)
        _, header_problem = read_headers(self.fields.text("headers"))
        if candidate.is_remote and header_problem:
            self.problems["headers"] = header_problem
        warnings = warnings_of(candidate)
        for field, line in self.lines.items():
            wrong = self.problems.get(field, "")
            line.say(wrong or warnings.get(field, ""), "error" if wrong else "warning")
        if "headers" in self.problems:
            self.more.setChecked(True)
        self._show_known(candidate)
        return candidate

    def show_prices(self, fault: str = "") -> None:
        """Show the price table, or why it could not be downloaded."""
        self.abilities.set_prices(table_name() if is_loaded() else "", fault)
        self._show_known(self.candidate())

    def show_tried(self, connection: Connection, trial: ConnectionTrial) -> None:
        """Show the result of a test of the connection."""
        self.tried.show_table(connection, trial)
        self.refusals.show_connection(connection)
        self.shown_tried.set_available(connection.is_remote and self.tried.has_rows)
        if trial.asks:
            self.shown_tried.setChecked(True)

    def _show_known(self, candidate: Connection) -> None:
        model = self.model.value()
        listed = next((each for each in self._listed if each.get("id") == model), None)
        # Loading the price table takes a moment; until then, no prices are shown.
        facts = facts_of(model, listed=listed, connection=candidate, priced=is_loaded())
        self.abilities.set_known(facts, model)

    # -- building -------------------------------------------------------------------------------

    def _make_fields(self) -> None:
        self.hint = QtWidgets.QLabel(wordWrap=True)
        self.model, self.key, self.weights = ModelField(), KeyField(), WeightsField()
        self.abilities = AbilitiesField()
        self.limits = FieldForm("limits")
        limits = QtWidgets.QWidget()
        self.limits.laid_out(limits).setContentsMargins(0, 0, 0, 0)
        script = PathField(tr("Script"), tr("Scripts (*.json);;All files (*)"), tr("A JSON file"))
        recording = PathField(
            tr("Recording"),
            tr("Recordings (*.jsonl);;All files (*)"),
            tr("A .jsonl file"),
            is_new=True,
        )
        self.paths = {"weights": self.weights.path, "script": script, "recording": recording}
        levels = [(level, *help_words(level)) for level in LEVELS]
        self.fields = FieldForm(
            "connection",
            own={
                "model": self.model,
                "key": self.key,
                "weights": self.weights,
                "script": script,
                "recording": recording,
                "limits": limits,
            },
            choices={"grammar": [(level, word) for level, word, _ in levels]},
        )
        for row, (_, _, sentence) in enumerate(levels, 1):
            tip = Qt.ItemDataRole.ToolTipRole
            self.fields.widget("grammar", ComboBox).setItemData(row, sentence, tip)
        cores = os.cpu_count() or 1
        threads = self.fields.widget("threads", DoubleSpinBox)
        threads.setMaximum(cores)
        threads.setSpecialValueText(
            tr("{usual} (one less than available)").format(usual=max(1, cores - 1))
        )
        self.fields.widgets["headers"].setFixedHeight(64)
        self.more = CollapsibleSection(tr("API, headers and time limits"), QtWidgets.QWidget(self))
        self.able = CollapsibleSection(
            tr("Abilities and prices of the model"), QtWidgets.QWidget(self)
        )
        self.refusals = RefusalsLine()
        self.tried = TriedTable()
        self.shown_tried = CollapsibleSection(tr("Results of the test"), QtWidgets.QWidget(self))

    def _lay_out(self) -> None:
        page = QtWidgets.QWidget()
        column = column_of(self.hint, on=page, margins=(20, 16, 20, 12), spacing=12)
        self._form = _form_layout()
        self._more_form = _form_layout(self.more.body)
        column.addLayout(self._form)
        for key, widget in self.fields.placed.items():
            field = cast("Field", key)
            line = self.lines[field] = FormLine(widget, stretch=field != "limits")
            line.set_usual(self.fields.fields[key].about)
            label = QtWidgets.QLabel(self.fields.fields[key].label)
            label.setFixedHeight(28)  # as high as a field: it labels the field, not the note
            (self._more_form if field in _MORE else self._form).addRow(label, line)
        column_of(self.abilities, on=self.able.body, margins=(16, 0, 0, 0))
        column_of(self.tried, on=self.shown_tried.body, margins=(16, 0, 0, 0))
        column.addWidget(self.refusals)
        for fold in (self.shown_tried, self.more, self.able):
            column.addWidget(fold)
            column.addWidget(fold.body)
            fold.toggled.connect(self._fit_width)
        column.addStretch(1)
        self._page = page
        self.setWidget(page)

    def _connect(self) -> None:
        for form in (self.fields, self.limits):
            form.changed.connect(self.commit)
        for path in self.paths.values():
            path.changed.connect(self.commit)
        self.model.changed.connect(self.commit)
        self.key.changed.connect(self.commit)
        self.abilities.changed.connect(self.commit)
        self.model.request_list.connect(self.request_list)


def _form_layout(parent: QtWidgets.QWidget | None = None) -> QtWidgets.QFormLayout:
    form = QtWidgets.QFormLayout(parent) if parent is not None else QtWidgets.QFormLayout()
    form.setContentsMargins(18 if parent is not None else 0, 0, 0, 0)
    form.setHorizontalSpacing(16)
    form.setVerticalSpacing(12)
    form.setFieldGrowthPolicy(QtWidgets.QFormLayout.FieldGrowthPolicy.AllNonFixedFieldsGrow)
    form.setLabelAlignment(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignTop)
    return form
