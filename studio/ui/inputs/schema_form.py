"""A form of fields: for a prompt's inputs, and for a tool's arguments."""

from collections.abc import Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from types import MappingProxyType

from PySide6.QtCore import QEvent, QObject, Qt, Signal
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QLineEdit, QPlainTextEdit, QVBoxLayout, QWidget

from studio.application.inputs.fields import (
    ABSENT,
    FieldSpec,
    FieldValue,
    ValueHistory,
    schema_fields,
)
from studio.application.words import tr
from studio.core.text.values import JsonDict, JsonObject
from studio.ui.inputs.compound import make_editor
from studio.ui.inputs.fields import FieldEditor, FileField, JsonField, NumberField, TextField
from studio.ui.inputs.row import FieldGroup, FieldRow, GroupWords
from studio.ui.parts.kit import column_of
from studio.ui.style.theme import FollowsTheme, input_color, theme_in_use

_NONE: JsonObject = MappingProxyType({})


class HistoryKeys(QObject):
    """Keeps the history of a row's text for Up and Down; owned by the row."""

    def __init__(self, row: FieldRow, history: ValueHistory) -> None:
        super().__init__(row)
        self._history = history
        self._text: QPlainTextEdit | QLineEdit | None = None
        editor = row.editor
        if isinstance(editor, TextField | JsonField):
            self._text = editor.text
        elif isinstance(editor, NumberField | FileField):
            self._text = editor.line
        if self._text is not None:
            self._text.installEventFilter(self)

    def keep(self) -> None:
        """Add the current text to the history, such as at the start of a run."""
        if self._text is not None:
            self._history.keep(self._shown())

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Store the text when the focus leaves; step through history when the caret cannot move."""
        if event.type() == QEvent.Type.FocusOut:
            self.keep()
        elif event.type() == QEvent.Type.KeyPress and isinstance(event, QKeyEvent):
            key, plain = (
                event.key(),
                event.modifiers()
                in (Qt.KeyboardModifier.NoModifier, Qt.KeyboardModifier.KeypadModifier),
            )
            if plain and key in (Qt.Key.Key_Up, Qt.Key.Key_Down):
                return self._step(key == Qt.Key.Key_Up)
        return super().eventFilter(watched, event)

    def _step(self, back: bool) -> bool:
        if not self._is_at_edge(back):
            return False
        text = self._history.step(back, self._shown())
        if text is None:
            return False
        self._show(text)
        return True

    def _shown(self) -> str:
        if isinstance(self._text, QPlainTextEdit):
            return self._text.toPlainText()
        return self._text.text() if self._text is not None else ""

    def _show(self, text: str) -> None:
        if isinstance(self._text, QPlainTextEdit):
            self._text.selectAll()
            self._text.insertPlainText(text)  # one undo step
        elif self._text is not None:
            self._text.setText(text)
            self._text.textEdited.emit(text)

    def _is_at_edge(self, back: bool) -> bool:
        if not isinstance(self._text, QPlainTextEdit):
            return True
        cursor = self._text.textCursor()
        cursor.movePosition(cursor.MoveOperation.Up if back else cursor.MoveOperation.Down)
        return cursor.position() == self._text.textCursor().position()


class SchemaForm(FollowsTheme, QWidget):
    """One row for each field; rows of unchanged fields are kept with their focus."""

    value_changed = Signal(str)  # name of the field that the user changed
    request_declare = Signal(str)  # name of an undeclared variable
    request_sample = Signal(str)  # name of an input whose sample becomes its value

    def __init__(
        self,
        *,
        colored: bool = False,
        is_sent_by_enter: bool = False,
        parent: QWidget | None = None,
    ) -> None:
        super().__init__(parent)
        self._colored = colored
        self._is_sent_by_enter = is_sent_by_enter
        self._folder: Path | None = None
        self._specs: tuple[FieldSpec, ...] = ()
        self.rows: dict[str, FieldRow] = {}
        """The rows by name."""
        self._history: dict[str, ValueHistory] = {}
        self._own = QVBoxLayout()
        self.parameters = FieldGroup(
            GroupWords(
                tr("Parameters: {shown}"),
                tr("Parameters of the prompt: {names}"),
                tr("Values of ${params:name}, which a run needs."),
            ),
            self,
        )
        self.parameters.set_open(True)
        self.supplied = FieldGroup(
            GroupWords(
                tr("Supplied by the run: {shown}"),
                tr("Inputs supplied by the run: {names}"),
                tr("A run supplies these values; the preview shows samples."),
            ),
            self,
        )
        layout = column_of(self._own, self.parameters, self.supplied, on=self, margins=0)
        for each in (self._own, layout):
            each.setSpacing(8 if colored else 12)
        self._style()
        self.follow_theme()

    def set_schema(self, schema: JsonObject, values: JsonObject = _NONE) -> None:
        """Show the fields of an object schema."""
        self.set_fields(schema_fields(schema), values)

    def set_fields(self, specs: Sequence[FieldSpec], values: JsonObject = _NONE) -> None:
        """Show fields with their values; unchanged rows keep their text."""
        specs = tuple(specs)
        if specs == self._specs:
            return
        self._specs = specs
        before = self.rows
        self.rows = {}
        for index, spec in enumerate(specs):
            row = before.pop(spec.name, None)
            if row is not None and _placeless(row.spec) == _placeless(spec):  # same field
                row.spec = spec
            else:
                self._discard(row)
                row = self._make(spec, index, values.get(spec.name, ABSENT))
            row.set_color(self._color(index))
            self.rows[spec.name] = row
        for row in before.values():
            self._discard(row)
        self._place()

    def values(self) -> JsonDict:
        """Return the values; an empty field has none."""
        return {
            name: value
            for name, row in self.rows.items()
            if (value := row.editor.value()) is not ABSENT
        }

    def set_values(self, values: JsonObject) -> None:
        """Show values; fields without a value become ABSENT."""
        for index, (name, row) in enumerate(self.rows.items()):
            value = values.get(name, ABSENT)
            if is_shown(row.editor, value):
                continue
            row.set_value(value)
            if not is_shown(row.editor, value):
                self._discard(row)
                self.rows[name] = self._make(row.spec, index, value)
        self._place()

    def clear(self) -> None:
        """Remove all values, including invalid texts."""
        for row in self.rows.values():
            row.set_value(ABSENT)
        self._tell_group()

    def problems(self) -> dict[str, str]:
        """Return the problems by field: invalid values, and required fields without a value."""
        found: dict[str, str] = {}
        for name, row in self.rows.items():
            problem = row.editor.problem()
            needed = row.spec.required and row.spec.fallback is ABSENT
            if not problem and needed and row.editor.value() is ABSENT:
                problem = tr("A value is needed.")
                row.show_missing()
            if problem:
                found[name] = problem
        return found

    def set_folder(self, folder: Path | None) -> None:
        """Set the folder to which paths are relative."""
        self._folder = folder
        for row in self.rows.values():
            row.editor.set_folder(folder)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._style()
        for index, row in enumerate(self.rows.values()):
            row.set_color(self._color(index))

    def keep_history(self) -> None:
        """Add the text of every field to its history, for Up and Down."""
        for row in self.rows.values():
            for keys in row.findChildren(HistoryKeys):
                keys.keep()

    def focus_field(self, name: str) -> None:
        """Focus a field."""
        row = self.rows.get(name)
        if row is not None:
            if row.spec.supplied:
                self.supplied.set_open(True)
            if row.spec.parameter:
                self.parameters.set_open(True)
            row.set_open(True)
            row.editor.setFocus()

    def _make(self, spec: FieldSpec, index: int, value: FieldValue = ABSENT) -> FieldRow:
        """Create a row for a value, with a JSON editor if the field's own cannot show the value."""
        editor = make_editor(spec)
        editor.set_value(value)
        if not is_shown(editor, value):
            editor.deleteLater()
            editor = JsonField(spec)
            editor.set_value(value)
        if isinstance(editor, TextField | JsonField):
            editor.text.is_sent_by_enter = self._is_sent_by_enter
        editor.set_folder(self._folder)
        row = FieldRow(spec, editor, self._color(index), is_line=self._colored)
        row.changed.connect(partial(self._changed, spec.name))
        row.request_declare.connect(self.request_declare)
        row.editor.request_sample.connect(self.request_sample)
        HistoryKeys(row, self._history.setdefault(spec.name, ValueHistory()))
        return row

    def _place(self) -> None:
        """Put each row in its place: the user's inputs first, then parameters and the run's."""
        places = (self._own, self.parameters.rows, self.supplied.rows)
        counts = [0, 0, 0]
        for row in self.rows.values():
            place = 2 if row.spec.supplied else 1 if row.spec.parameter else 0
            if places[place].indexOf(row) != counts[place]:
                for layout in places:
                    layout.removeWidget(row)
                places[place].insertWidget(counts[place], row)
            counts[place] += 1
        self._tell_group()

    def _tell_group(self) -> None:
        values, specs = self.values(), [row.spec for row in self.rows.values()]
        parameters = [spec.name for spec in specs if spec.parameter]
        supplied = [spec.name for spec in specs if spec.supplied]
        for group, names in ((self.parameters, parameters), (self.supplied, supplied)):
            group.tell(names, sum(name in values for name in names))

    def _discard(self, row: FieldRow | None) -> None:
        if row is not None:
            for layout in (self._own, self.parameters.rows, self.supplied.rows):
                layout.removeWidget(row)
            row.hide()
            row.deleteLater()

    def _color(self, index: int) -> str:
        return input_color(theme_in_use(), index) if self._colored else ""

    def _changed(self, name: str) -> None:
        self._tell_group()
        self.value_changed.emit(name)

    def _style(self) -> None:
        theme = theme_in_use()
        self.setStyleSheet(
            f'QPlainTextEdit[field="true"] {{ background: {theme.surface};'
            f" border: 1px solid {theme.border}; border-radius: 5px; padding: 1px 3px; }}"
            f'QPlainTextEdit[field="true"]:focus {{ border-color: {theme.accent}; }}'
        )


def is_shown(editor: FieldEditor, value: FieldValue) -> bool:
    """Return whether an editor shows exactly this value, so that changes are the user's."""
    shown = editor.value()
    return type(shown) is type(value) and shown == value


def _placeless(spec: FieldSpec) -> FieldSpec:
    return replace(
        spec,
        span=None,
        properties=tuple(_placeless(item) for item in spec.properties),
        items=_placeless(spec.items) if spec.items else None,
    )
