"""Editors for lists, objects and threads, composed of editors for their items."""

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue, read_json, show_value
from studio.application.words import tr
from studio.core.text.amounts import by_count
from studio.core.text.values import Json, JsonDict, JsonObject, objects_of, text_or_json
from studio.ui.inputs import fields
from studio.ui.inputs.row import HIGH, FieldRow
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import column_of, icon_button, named, push_button, row_of, toned_label
from studio.ui.style.theme import role_color, theme_in_use


def make_editor(spec: FieldSpec) -> fields.FieldEditor:
    """Create the editor for a field."""
    match spec.kind:
        case "string":
            return fields.TextField(spec)
        case "integer" | "number":
            return fields.NumberField(spec)
        case "boolean" | "choice":
            return fields.ChoiceField(spec)
        case "image" | "file" | "audio":
            return fields.FileField(spec)
        case "object":
            return ObjectField(spec)
        case "array" if spec.items is not None:
            return ListField(spec, spec.items)
        case "thread":
            return ThreadField(spec)
        case _:
            return fields.JsonField(spec)


class ObjectField(fields.FieldEditor):
    """The properties of an object, one below the other beside a line."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._extra: JsonDict = {}
        self._given = False
        self._is_whole = False
        self._base = _base(spec)
        layout = column_of(on=self, margins=(16, 0, 0, 0), spacing=12)
        self.rows: list[FieldRow] = []
        for each in spec.properties:
            item = _with_fallback(each, spec)
            row = FieldRow(item, make_editor(item), is_line=item.kind not in HIGH)
            row.changed.connect(self._changed)
            self.rows.append(row)
            layout.addWidget(row)
        self._tell_rows()

    def value(self) -> FieldValue:
        """Return the object, or ABSENT if all is empty. Keys without a field are kept.

        If the user fills in one property, the other shown values are kept, as in a list.
        """
        held = self._held()
        if not (held or self._extra or self._given):
            return ABSENT
        return {**({} if self._is_whole else self._base), **self._extra, **held}

    def set_value(self, value: FieldValue) -> None:
        """Show an object."""
        given: JsonObject = value if isinstance(value, Mapping) else {}
        names = {row.spec.name for row in self.rows}
        self._given = self._is_whole = isinstance(value, Mapping)
        self._extra = {key: item for key, item in given.items() if key not in names}
        for row in self.rows:
            row.set_value(given.get(row.spec.name, ABSENT))
        self._tell_rows()

    def problem(self) -> str:
        """Return the first problem of the properties, which is shown there."""
        return next((f"{r.spec.name}: {p}" for r in self.rows if (p := r.editor.problem())), "")

    def set_folder(self, folder: Path | None) -> None:
        """Set the folder of the properties."""
        for row in self.rows:
            row.editor.set_folder(folder)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the line beside the properties."""
        QPainter(self).fillRect(3, 2, 2, self.height() - 4, QColor(theme_in_use().border))

    def _held(self) -> JsonDict:
        values = ((row.spec.name, row.editor.value()) for row in self.rows)
        return {name: value for name, value in values if value is not ABSENT}

    def _changed(self) -> None:
        self._given = False
        self._is_whole = self._is_whole and bool(self._held() or self._extra)
        self._tell_rows()
        self.changed.emit()

    def _tell_rows(self) -> None:
        """Update in each property whether its own fallback applies."""
        counts = not self._is_whole and (self.spec.fallback is not ABSENT or bool(self._held()))
        for row in self.rows:
            row.set_falls_back(counts or row.spec.name not in self._base)


def _base(spec: FieldSpec) -> JsonDict:
    """Return the keys of an object that have no fields."""
    if isinstance(spec.fallback, Mapping):
        return dict(spec.fallback)
    return {each.name: each.proposed for each in spec.properties if each.proposed is not ABSENT}


def _with_fallback(item: FieldSpec, spec: FieldSpec) -> FieldSpec:
    """Return a property with its fallback, which the object's fallback overrides."""
    if isinstance(spec.fallback, Mapping):
        if item.name not in spec.fallback:
            return replace(item, proposed=ABSENT)
        value = spec.fallback[item.name]
        return replace(item, fallback=value, fallback_origin=spec.fallback_origin)
    if item.proposed is ABSENT:
        return item
    return replace(item, fallback=item.proposed, fallback_origin="default")


class _Item(QWidget):
    """An item of a list with a button to remove it."""

    removed = Signal(QWidget)  # the item itself

    def __init__(self, editor: fields.FieldEditor, name: str) -> None:
        super().__init__()
        self.editor = editor
        remove = icon_button("x", tr("Remove this item"), lambda: self.removed.emit(self))
        remove.setAccessibleName(tr("Remove {name}").format(name=name))
        row = row_of((editor, 1), on=self, margins=0, spacing=4)
        row.addWidget(remove, 0, Qt.AlignmentFlag.AlignTop)


class ListField(fields.FieldEditor):
    """Items one below the other, with buttons to add and remove them."""

    def __init__(self, spec: FieldSpec, item: FieldSpec) -> None:
        super().__init__(spec)
        self._item_spec = item
        self._folder: Path | None = None
        self._given = False
        self.items: list[_Item] = []
        self._summary = toned_label("muted", wraps=True, is_plain=True)
        self.add_button = push_button(tr("Add item"), self._add_clicked, drawing="plus")
        self.add_button.setAccessibleName(tr("Add an item to {name}").format(name=spec.name))
        self._list = QVBoxLayout()
        self._list.setSpacing(4)
        layout = column_of(self._summary, self._list, on=self, margins=0, spacing=8)
        layout.addWidget(self.add_button, 0, Qt.AlignmentFlag.AlignLeft)
        self._describe()

    def value(self) -> FieldValue:
        """Return the items; an empty item is null or an empty text."""
        if not self._given:
            return ABSENT
        return [self._item_value(item.editor.value()) for item in self.items]

    def set_value(self, value: FieldValue) -> None:
        """Show a list."""
        self._given = value is not ABSENT
        values = list(value) if isinstance(value, Sequence) and not isinstance(value, str) else []
        while len(self.items) > len(values):
            self._drop(self.items[-1])
        while len(self.items) < len(values):
            self._append()
        for item, each in zip(self.items, values, strict=True):
            item.editor.set_value(each)
        self._describe()

    def problem(self) -> str:
        """Return the first problem of the items."""
        found = ((number, item.editor.problem()) for number, item in enumerate(self.items, 1))
        return next(
            (
                tr("Item {number}: {problem}").format(number=number, problem=problem)
                for number, problem in found
                if problem
            ),
            "",
        )

    def set_folder(self, folder: Path | None) -> None:
        """Set the folder of the items."""
        self._folder = folder
        for item in self.items:
            item.editor.set_folder(folder)

    def _item_value(self, value: FieldValue) -> Json:
        if value is not ABSENT:
            return value
        return "" if self._item_spec.kind == "string" else None

    def _append(self) -> _Item:
        editor = make_editor(self._item_spec)
        editor.set_folder(self._folder)
        editor.changed.connect(self._changed)
        item = _Item(
            editor,
            tr("item {number} of {name}").format(number=len(self.items) + 1, name=self.spec.name),
        )
        item.removed.connect(self._remove)
        self.items.append(item)
        self._list.addWidget(item)
        return item

    def _drop(self, item: _Item) -> None:
        self.items.remove(item)
        self._list.removeWidget(item)
        item.hide()
        item.deleteLater()

    def _add_clicked(self) -> None:
        if not self._given and isinstance(self.spec.fallback, Sequence | tuple):
            # The first change starts from the shown fallback, so that nothing is lost.
            self.set_value(self.spec.fallback)
        self._given = True
        self._append().editor.setFocus()
        self._changed()

    def _remove(self, item: _Item) -> None:
        self._drop(item)
        self._changed()

    def _changed(self) -> None:
        self._given = True
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        text = tr("Empty list") if self._given else show_value(self.spec.fallback)
        self._summary.setText(text)
        self._summary.setVisible(bool(text) and not self.items)


# A conversation as a list of messages.

_ROLES = ("user", "assistant", "system", "developer", "tool")


class _Turn(QWidget):
    """A message with role and text; other keys are kept."""

    changed = Signal()
    removed = Signal(QWidget)  # the message itself

    def __init__(self, message: JsonObject) -> None:
        super().__init__()
        self._message = dict(message)
        role = message.get("role")
        content = message.get("content", "")
        self._is_text = isinstance(content, str)
        self.role = named(ComboBox(), tr("Role of the message"))
        self.role.addItems(_ROLES)
        if isinstance(role, str) and role not in _ROLES:
            self.role.addItem(role)
        self.role.setCurrentText(str(role or "user"))
        self.text = named(fields.GrowingText(), tr("Text of the message"))
        self.text.setPlaceholderText(tr("Text of the message; Ctrl+Enter adds another message"))
        shown = text_or_json(content)
        self.text.setPlainText(shown)
        remove = icon_button("x", tr("Remove this message"), lambda: self.removed.emit(self))
        header = row_of(self.role, 1, remove)
        column_of(header, self.text, on=self, margins=(12, 2, 0, 2), spacing=4)
        self.role.currentTextChanged.connect(self._changed)
        self.text.textChanged.connect(self._changed)

    def message(self) -> JsonDict:
        """Return the current message."""
        text = self.text.toPlainText()
        content: Json = text
        if not self._is_text:
            entry = read_json(text)
            if entry.value is not ABSENT:
                content = entry.value
        return {**self._message, "role": self.role.currentText(), "content": content}

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the stripe in the role's color, as on the cards of the preview."""
        color = QColor(role_color(theme_in_use(), self.role.currentText()))
        QPainter(self).fillRect(2, 4, 3, self.height() - 8, color)

    def _changed(self, *_: object) -> None:
        self.update()
        self.changed.emit()


class ThreadField(fields.FieldEditor):
    """Messages one below the other; *Add* adds one with the next role."""

    def __init__(self, spec: FieldSpec) -> None:
        super().__init__(spec)
        self._given = False
        self.turns: list[_Turn] = []
        self._summary = toned_label("muted", wraps=True, is_plain=True)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.add_button = push_button(tr("Add message"), self._add_clicked, drawing="plus")
        is_default = spec.fallback_origin == "default"
        self.start_button = QPushButton(
            tr("Edit the default") if is_default else tr("Edit the sample")
        )
        self.start_button.clicked.connect(lambda: self.request_sample.emit(spec.name))
        buttons = row_of(self.add_button, self.start_button, 1)
        column_of(self._summary, self._list, buttons, on=self, margins=0, spacing=8)
        self._describe()

    def value(self) -> FieldValue:
        """Return the messages."""
        return [turn.message() for turn in self.turns] if self._given else ABSENT

    def set_value(self, value: FieldValue) -> None:
        """Show messages."""
        self._given = value is not ABSENT
        for turn in tuple(self.turns):
            self._drop(turn)
        for message in objects_of(value):
            self._append(message)
        self._describe()

    def _append(self, message: JsonObject) -> _Turn:
        turn = _Turn(message)
        turn.changed.connect(self._changed)
        turn.removed.connect(self._remove)
        turn.text.submitted.connect(self._add_clicked)
        self.turns.append(turn)
        self._list.addWidget(turn)
        return turn

    def _drop(self, turn: _Turn) -> None:
        self.turns.remove(turn)
        self._list.removeWidget(turn)
        turn.hide()
        turn.deleteLater()

    def _add_clicked(self) -> None:
        last = self.turns[-1].role.currentText() if self.turns else "assistant"
        turn = self._append({"role": "assistant" if last == "user" else "user", "content": ""})
        turn.text.setFocus(Qt.FocusReason.OtherFocusReason)
        self._changed()

    def _remove(self, turn: _Turn) -> None:
        self._drop(turn)
        self._changed()

    def _changed(self) -> None:
        self._given = True
        self._describe()
        self.changed.emit()

    def _describe(self) -> None:
        sample = len(objects_of(self.spec.fallback))
        if self._given:
            text = "" if self.turns else tr("Empty conversation")
        elif sample:
            one = tr("1 message is shown in the preview.")
            text = by_count(sample, one, tr("{count} messages are shown in the preview."))
        else:
            text = tr("No conversation yet.")
        self._summary.setText(text)
        self._summary.setVisible(bool(text))
        self.start_button.setVisible(not self._given and sample > 0)
