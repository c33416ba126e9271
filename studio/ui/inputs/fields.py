"""Editors for single values; each tells "absent" from "empty"."""

from __future__ import annotations

import json
import os
from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtGui import QResizeEvent, QWheelEvent
from PySide6.QtWidgets import (
    QComboBox,
    QFileDialog,
    QHBoxLayout,
    QLineEdit,
    QPlainTextEdit,
    QSizePolicy,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.bridge.inputs import ABSENT, FieldSpec, FieldValue, show_value
from studio.bridge.inputs_check import Entry, check_text, read_integer, read_json, read_number
from studio.core.text.values import Json
from studio.ui.icons import icon
from studio.ui.parts.colours import fixed_font
from studio.ui.parts.json_view import JsonHighlighter, line_height
from studio.ui.theme import Theme

_FILTERS = {
    "image": "Pictures (*.png *.jpg *.jpeg *.gif *.webp *.bmp *.svg);;All files (*)",
    "audio": "Sound (*.mp3 *.wav *.ogg *.m4a *.flac);;All files (*)",
}
_MOST_LINES = 10
_PLACEHOLDER = 40


class FieldEditor(QWidget):
    """What every editor of a value has in common."""

    changed = Signal()  # by the person, not by `set_value`

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

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""

    def _placeholder(self, empty: str = "") -> str:
        return show_value(self.spec.fallback) or empty


class GrowingText(QPlainTextEdit):
    """A text editor as high as its text, within limits."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setTabChangesFocus(True)
        self.setProperty("field", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.document().setDocumentMargin(3)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """A narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the form, unless there is more text than is seen."""
        if self.hasFocus() and self.verticalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()

    def _fit(self, *_: object) -> None:
        # A plain text document measures its height in lines.
        lines = min(max(1, round(self.document().size().height())), _MOST_LINES)
        height = round(lines * line_height(self)) + 14
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)


class TextField(FieldEditor):
    """Text of any length."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.text = GrowingText()
        self.text.setAccessibleName(spec.name)
        self._given = False
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        _fill(self, self.text)
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
        self.text.setPlaceholderText("Empty text" if self._given else self._placeholder())


class NumberField(FieldEditor):
    """A number of any size: a spin box would end at 32 bits."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.line = QLineEdit()
        self.line.setAccessibleName(spec.name)
        self.line.setPlaceholderText(self._placeholder("A number"))
        self.line.textEdited.connect(self._edited)
        _fill(self, self.line)

    def value(self) -> FieldValue:
        """The number."""
        return self._entry().value

    def set_value(self, value: FieldValue) -> None:
        """Show a number."""
        self.line.setText("" if value is ABSENT else json.dumps(value))

    def problem(self) -> str:
        """Whether it is a number within its range."""
        return self._entry().problem

    def _entry(self) -> Entry:
        read = read_integer if self.spec.kind == "integer" else read_number
        return read(self.line.text(), self.spec)

    def _edited(self, _: str) -> None:
        self.changed.emit()


class _Combo(QComboBox):
    def wheelEvent(self, event: QWheelEvent) -> None:
        event.ignore()


class ChoiceField(FieldEditor):
    """One of a few values, or none."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        values: tuple[Json, ...] = spec.choices or (True, False)
        if spec.nullable and None not in values:
            values = (*values, None)
        self._values = values
        self.combo = _Combo()
        self.combo.setAccessibleName(spec.name)
        self.combo.setMinimumHeight(28)
        hint = self._placeholder()
        self.combo.addItem(f"— ({spec.fallback_origin}: {hint})" if hint else "—")
        for value in values:
            self.combo.addItem(value if isinstance(value, str) else json.dumps(value))
        self.combo.activated.connect(self._chosen)
        _fill(self, self.combo)

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
        return f"{value!r} is not one of the values allowed."

    def _chosen(self, _: int) -> None:
        self.changed.emit()


class JsonField(FieldEditor):
    """Any value, as JSON."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self.text = GrowingText()
        self.text.setAccessibleName(f"{spec.name}, as JSON")
        self.text.setFont(fixed_font(self.font()))
        self.text.setPlaceholderText(_short(self._placeholder("JSON")))
        self._highlighter: JsonHighlighter | None = None
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        _fill(self, self.text)

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

    def set_theme(self, theme: Theme) -> None:
        """Colour the JSON."""
        if self._highlighter is None:
            self._highlighter = JsonHighlighter(self.text.document(), theme)
        else:
            self._highlighter.set_theme(theme)

    def _typed(self) -> None:
        if not self._quiet:
            self.changed.emit()


class FileField(FieldEditor):
    """A path beside the prompt, or an address."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self._folder: Path | None = None
        self.line = QLineEdit()
        self.line.setAccessibleName(spec.name)
        self.line.setPlaceholderText(self._placeholder("Path beside the prompt, or URL"))
        self.line.textEdited.connect(self._edited)
        browse = QToolButton()
        browse.setIcon(icon("folder-open"))
        browse.setIconSize(QSize(16, 16))
        browse.setToolTip("Choose a file")
        browse.setAccessibleName(f"Choose a file for {spec.name}")
        browse.clicked.connect(self._browse)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(4)
        row.addWidget(self.line, 1)
        row.addWidget(browse)

    def value(self) -> FieldValue:
        """The path as written."""
        return self.line.text() or ABSENT

    def set_value(self, value: FieldValue) -> None:
        """Show a path."""
        self.line.setText("" if value is ABSENT or value is None else str(value))

    def set_folder(self, folder: Path | None) -> None:
        """Paths inside this folder are written relative to it."""
        self._folder = folder

    def choose(self, path: Path) -> None:
        """Take a file, as the dialog does."""
        text = path.as_posix()
        if self._folder is not None and path.resolve().is_relative_to(self._folder.resolve()):
            text = Path(os.path.relpath(path.resolve(), self._folder.resolve())).as_posix()
        self.line.setText(text)
        self.changed.emit()

    def _browse(self) -> None:
        folder = str(self._folder or Path.home())
        filters = _FILTERS.get(self.spec.kind, "All files (*)")
        path, _ = QFileDialog.getOpenFileName(self, f"Choose {self.spec.name}", folder, filters)
        if path:
            self.choose(Path(path))

    def _edited(self, _: str) -> None:
        self.changed.emit()


def _short(text: str) -> str:
    """Short enough for one line of a narrow field."""
    return text if len(text) <= _PLACEHOLDER else f"{text[: _PLACEHOLDER - 1]}…"


def _fill(field: QWidget, editor: QWidget) -> None:
    layout = QVBoxLayout(field)
    layout.setContentsMargins(0, 0, 0, 0)
    layout.addWidget(editor)
    field.setFocusProxy(editor)
