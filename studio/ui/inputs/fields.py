"""Editors for single values; each tells "absent" from "empty"."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QLineEdit,
    QSizePolicy,
    QWidget,
)

from studio.application.inputs.check import (
    TypedValue,
    check_text,
    read_integer,
    read_json,
    read_number,
)
from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue, show_value
from studio.application.words import tr
from studio.core.text.shortened import shortened
from studio.core.text.values import Json
from studio.ui.inputs.growing_text import GrowingText
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.json_view import JsonHighlighter
from studio.ui.parts.layouts import column_of
from studio.ui.style.colors import fixed_font
from studio.ui.style.in_use import FollowsTheme

_PLACEHOLDER = 40


class FieldEditor(QWidget):
    """What every editor of a value has in common."""

    changed = Signal()  # by the user, not by `set_value`
    request_sample = Signal(str)  # take the sample or default of this input as the user's value

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def value(self) -> FieldValue:
        """The value, or absent."""
        raise NotImplementedError

    def set_value(self, value: FieldValue) -> None:
        """Show a value, without telling of a change."""
        raise NotImplementedError

    def problem(self) -> str:
        """What is wrong with what is written; empty where nothing is."""
        return ""

    def set_folder(self, folder: Path | None) -> None:
        """The prompt's folder, beside which paths are read."""

    def _placeholder(self, empty: str = "") -> str:
        return show_value(self.spec.fallback) or empty


class TextField(FieldEditor):
    """Text of any length."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.text = GrowingText()
        self.text.setAccessibleName(spec.name)
        self._given = False
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        fill(self, self.text)
        self.set_value(ABSENT)

    def value(self) -> FieldValue:
        """The text, an empty one too, once something was typed."""
        return self.text.toPlainText() if self._given else ABSENT

    def set_value(self, value: FieldValue) -> None:
        """Show a text; another value is shown as JSON."""
        self._quiet = True
        self._given = value is not ABSENT
        shown = "" if value is ABSENT else value if isinstance(value, str) else json.dumps(value)
        if shown != self.text.toPlainText():
            self.text.setPlainText(shown)
        self._say()
        self._quiet = False

    def problem(self) -> str:
        """Whether the text matches its pattern."""
        return check_text(self.text.toPlainText(), self.spec) if self._given else ""

    def _typed(self) -> None:
        if self._quiet:
            return
        self._given = True
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        self.text.setPlaceholderText(tr("Empty text") if self._given else self._placeholder())


class NumberField(FieldEditor):
    """A number of any size: a spin box would end at 32 bits."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.line = QLineEdit(placeholderText=self._placeholder(tr("A number")))
        self.line.setAccessibleName(spec.name)
        self.line.textEdited.connect(self.changed)
        fill(self, self.line)

    def value(self) -> FieldValue:
        """The number."""
        return self._entry().value

    def set_value(self, value: FieldValue) -> None:
        """Show a number."""
        self.line.setText("" if value is ABSENT else json.dumps(value))

    def problem(self) -> str:
        """Whether it is a number within its range."""
        return self._entry().problem

    def _entry(self) -> TypedValue:
        read = read_integer if self.spec.kind == "integer" else read_number
        return read(self.line.text(), self.spec)


class ChoiceField(FieldEditor):
    """One of a few values, or none."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        values: tuple[Json, ...] = spec.choices or (True, False)
        if spec.nullable and None not in values:
            values = (*values, None)
        self._values = values
        self.combo = ComboBox()
        self.combo.setAccessibleName(spec.name)
        self.combo.setMinimumHeight(28)
        hint = self._placeholder()
        self.combo.addItem(f"— ({spec.fallback_origin}: {hint})" if hint else "—")
        for value in values:
            self.combo.addItem(value if isinstance(value, str) else json.dumps(value))
        self.combo.activated.connect(self.changed)
        fill(self, self.combo)

    def value(self) -> FieldValue:
        """The value chosen."""
        index = self.combo.currentIndex()
        return ABSENT if index <= 0 else self._values[index - 1]

    def set_value(self, value: FieldValue) -> None:
        """Show a value; one that is not offered is added."""
        if value is ABSENT:
            self.combo.setCurrentIndex(0)
            return
        for index, offered in enumerate(self._values):
            if offered == value and type(offered) is type(value):
                self.combo.setCurrentIndex(index + 1)
                return
        self._values = (*self._values, value)
        self.combo.addItem(value if isinstance(value, str) else json.dumps(value))
        self.combo.setCurrentIndex(self.combo.count() - 1)

    def problem(self) -> str:
        """Whether the value is one of those allowed."""
        value = self.value()
        allowed = self.spec.choices
        if value is ABSENT or not allowed or value in allowed or value is None:
            return ""
        return tr("{value!r} is not one of the values allowed.").format(value=value)


class JsonField(FollowsTheme, FieldEditor):
    """Any value, as JSON."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.text = GrowingText()
        self.text.setAccessibleName(tr("{name}, as JSON").format(name=spec.name))
        self.text.setFont(fixed_font(self.font()))
        self.text.setPlaceholderText(shortened(self._placeholder("JSON"), _PLACEHOLDER))
        self._highlighter = JsonHighlighter(self.text.document())
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        fill(self, self.text)
        self.follow_theme()

    def value(self) -> FieldValue:
        """The value, where the JSON can be read."""
        return read_json(self.text.toPlainText()).value

    def set_value(self, value: FieldValue) -> None:
        """Show a value, indented."""
        if value is not ABSENT and self.value() == value and not self.problem():
            return
        self._quiet = True
        shown = "" if value is ABSENT else json.dumps(value, ensure_ascii=False, indent=2)
        self.text.setPlainText(shown)
        self._quiet = False

    def problem(self) -> str:
        """Where the JSON cannot be read."""
        return read_json(self.text.toPlainText()).problem

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        self._highlighter.recolor()

    def _typed(self) -> None:
        if not self._quiet:
            self.changed.emit()


def fill(field: QWidget, editor: QWidget) -> None:
    """Make an editor the only thing in a field, and the one that gets its focus."""
    column_of(editor, on=field, margins=0)
    field.setFocusProxy(editor)
