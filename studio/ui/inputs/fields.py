"""Editors for single values, which distinguish ABSENT from empty."""

import json
import os
from pathlib import Path

from PySide6.QtCore import QMimeData, QSize, Qt, Signal
from PySide6.QtGui import QKeyEvent, QResizeEvent, QWheelEvent
from PySide6.QtWidgets import QFileDialog, QLineEdit, QPlainTextEdit, QSizePolicy, QWidget

from studio.application.inputs import fields
from studio.application.words import marked, tr
from studio.core.text.amounts import shortened
from studio.core.text.values import Json
from studio.ui.parts.fields import ComboBox, FileDrop, dropped_file, dropped_files, text_of
from studio.ui.parts.kit import column_of, icon_button, named, row_of
from studio.ui.parts.text_views import JsonHighlighter, line_height
from studio.ui.style.theme import FollowsTheme, fixed_font

# A text editor as high as its text.

_MOST_LINES = 10


_SHIFT = Qt.KeyboardModifier.ShiftModifier


class GrowingText(QPlainTextEdit):
    """A text editor as high as its text, within limits."""

    submitted = Signal()  # Ctrl+Enter: the text is complete

    def __init__(self) -> None:
        super().__init__()
        self.setTabChangesFocus(True)
        self.setProperty("field", True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.is_sent_by_enter = False
        """Whether Enter belongs to the surrounding form; Shift+Enter is then a line break."""
        self.document().documentLayout().documentSizeChanged.connect(self._fit)
        self.document().setDocumentMargin(3)
        self._fit()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the height: a narrower text is higher."""
        super().resizeEvent(event)
        self._fit()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Emit `submitted` on Ctrl+Enter; leave Enter to a form that uses it."""
        is_enter = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if is_enter and self.is_sent_by_enter and not event.modifiers() & _SHIFT:
            event.ignore()  # the form handles it
        elif is_enter and event.modifiers() & Qt.KeyboardModifier.ControlModifier:
            self.submitted.emit()
            event.ignore()  # a parent widget may use it as well
        else:
            super().keyPressEvent(event)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Scroll the form, unless the text itself can scroll."""
        if self.hasFocus() and self.verticalScrollBar().maximum() > 0:
            super().wheelEvent(event)
        else:
            event.ignore()

    def canInsertFromMimeData(self, source: QMimeData) -> bool:
        """Return whether the data can be inserted: a file with readable text, or a link as text."""
        if dropped_files(source):
            path = dropped_file(source)
            return path is not None and text_of(path) is not None
        return super().canInsertFromMimeData(source)

    def insertFromMimeData(self, source: QMimeData) -> None:
        """Insert a text, or the text of a file."""
        path = dropped_file(source)
        text = text_of(path) if path is not None else None
        if text is not None:
            self.insertPlainText(text)
        else:
            super().insertFromMimeData(source)

    def _fit(self, *_: object) -> None:
        # A plain text document measures its height in lines.
        lines = min(max(1, round(self.document().size().height())), _MOST_LINES)
        height = round(lines * line_height(self)) + 14
        if height != self.height() or height != self.minimumHeight():
            self.setFixedHeight(height)


_PLACEHOLDER = 40


class FieldEditor(QWidget):
    """The interface of all value editors."""

    changed = Signal()  # by the user, not by `set_value`
    request_sample = Signal(str)  # use the sample or default of this input as the user's value

    def __init__(self, spec: fields.FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.spec = spec
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Minimum)

    def value(self) -> fields.FieldValue:
        """Return the value, or ABSENT."""
        raise NotImplementedError

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a value without emitting `changed`."""
        raise NotImplementedError

    def problem(self) -> str:
        """Return the problem of the text; empty if it is valid."""
        return ""

    def set_folder(self, folder: Path | None) -> None:
        """Set the prompt's folder, to which paths are relative."""

    def _placeholder(self, empty: str = "") -> str:
        return fields.show_value(self.spec.fallback) or empty


class TextField(FieldEditor):
    """Text of any length."""

    def __init__(self, spec: fields.FieldSpec) -> None:
        super().__init__(spec)
        self.text = named(GrowingText(), spec.name)
        self._given = False
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        fill(self, self.text)
        self.set_value(fields.ABSENT)

    def value(self) -> fields.FieldValue:
        """Return the text, which may be empty, once the user has typed."""
        return self.text.toPlainText() if self._given else fields.ABSENT

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a text; another value is shown as JSON."""
        self._quiet = True
        self._given = value is not fields.ABSENT
        shown = (
            "" if value is fields.ABSENT else value if isinstance(value, str) else json.dumps(value)
        )
        if shown != self.text.toPlainText():
            self.text.setPlainText(shown)
        self._say()
        self._quiet = False

    def problem(self) -> str:
        """Return an error if the text does not match its pattern, or ""."""
        return fields.check_text(self.text.toPlainText(), self.spec) if self._given else ""

    def _typed(self) -> None:
        if self._quiet:
            return
        self._given = True
        self._say()
        self.changed.emit()

    def _say(self) -> None:
        self.text.setPlaceholderText(tr("Empty text") if self._given else self._placeholder())


class NumberField(FieldEditor):
    """A number of any size: a spin box is limited to 32 bits."""

    def __init__(self, spec: fields.FieldSpec) -> None:
        super().__init__(spec)
        self.line = named(QLineEdit(placeholderText=self._placeholder(tr("A number"))), spec.name)
        self.line.textEdited.connect(self.changed)
        fill(self, self.line)

    def value(self) -> fields.FieldValue:
        """Return the number."""
        return self._entry().value

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a number."""
        self.line.setText("" if value is fields.ABSENT else json.dumps(value))

    def problem(self) -> str:
        """Return an error if the text is not a number within its range, or ""."""
        return self._entry().problem

    def _entry(self) -> fields.TypedValue:
        read = fields.read_integer if self.spec.kind == "integer" else fields.read_number
        return read(self.line.text(), self.spec)


class ChoiceField(FieldEditor):
    """One of several values, or none."""

    def __init__(self, spec: fields.FieldSpec) -> None:
        super().__init__(spec)
        values: tuple[Json, ...] = spec.choices or (True, False)
        if spec.nullable and None not in values:
            values = (*values, None)
        self._values = values
        self.combo = named(ComboBox(), spec.name)
        self.combo.setMinimumHeight(28)
        hint = self._placeholder()
        self.combo.addItem(f"— ({spec.fallback_origin}: {hint})" if hint else "—")
        for value in values:
            self.combo.addItem(value if isinstance(value, str) else json.dumps(value))
        self.combo.activated.connect(self.changed)
        fill(self, self.combo)

    def value(self) -> fields.FieldValue:
        """Return the selected value."""
        index = self.combo.currentIndex()
        return fields.ABSENT if index <= 0 else self._values[index - 1]

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a value; one that is not in the list is added."""
        if value is fields.ABSENT:
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
        """Return an error if the value is not allowed, or ""."""
        value = self.value()
        allowed = self.spec.choices
        if value is fields.ABSENT or not allowed or value in allowed or value is None:
            return ""
        return tr("{value!r} is not one of the allowed values.").format(value=value)


class JsonField(FollowsTheme, FieldEditor):
    """Any value as JSON."""

    def __init__(self, spec: fields.FieldSpec) -> None:
        super().__init__(spec)
        self.text = named(GrowingText(), tr("{name}, as JSON").format(name=spec.name))
        self.text.setFont(fixed_font(self.font()))
        self.text.setPlaceholderText(shortened(self._placeholder("JSON"), _PLACEHOLDER))
        self._highlighter = JsonHighlighter(self.text.document())
        self._quiet = False
        self.text.textChanged.connect(self._typed)
        fill(self, self.text)
        self.follow_theme()

    def value(self) -> fields.FieldValue:
        """Return the value if the JSON is valid."""
        return fields.read_json(self.text.toPlainText()).value

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a value as indented JSON."""
        if value is not fields.ABSENT and self.value() == value and not self.problem():
            return
        self._quiet = True
        shown = "" if value is fields.ABSENT else json.dumps(value, ensure_ascii=False, indent=2)
        self.text.setPlainText(shown)
        self._quiet = False

    def problem(self) -> str:
        """Return the error of the JSON, or ""."""
        return fields.read_json(self.text.toPlainText()).problem

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        self._highlighter.recolor()

    def _typed(self) -> None:
        if not self._quiet:
            self.changed.emit()


def fill(field: QWidget, editor: QWidget) -> None:
    """Add an editor as the only content of a field, which gets its focus."""
    column_of(editor, on=field, margins=0)
    field.setFocusProxy(editor)


# A file beside the prompt, or an address.

_FILTERS = {
    "image": marked("Pictures (*.png *.jpg *.jpeg *.gif *.webp *.bmp *.svg);;All files (*)"),
    "audio": marked("Sound (*.mp3 *.wav *.ogg *.m4a *.flac);;All files (*)"),
}


class FileField(FieldEditor):
    """A path beside the prompt, or an address."""

    def __init__(self, spec: fields.FieldSpec) -> None:
        super().__init__(spec)
        self._folder: Path | None = None
        self.line = named(QLineEdit(), spec.name)
        self.line.setPlaceholderText(self._placeholder(tr("Path relative to the prompt, or URL")))
        self.line.textEdited.connect(self.changed)
        self.line.setAcceptDrops(False)  # this widget handles drops on the line
        FileDrop(self, self.choose)
        browse = icon_button("folder-open", tr("Choose a file"), self._browse)
        browse.setAccessibleName(tr("Choose a file for {name}").format(name=spec.name))
        browse.setIconSize(QSize(16, 16))
        row_of((self.line, 1), browse, on=self, margins=0, spacing=4)

    def value(self) -> fields.FieldValue:
        """Return the typed path."""
        return self.line.text() or fields.ABSENT

    def set_value(self, value: fields.FieldValue) -> None:
        """Show a path."""
        self.line.setText("" if value is fields.ABSENT or value is None else str(value))

    def set_folder(self, folder: Path | None) -> None:
        """Set the folder that paths are relative to."""
        self._folder = folder

    def choose(self, path: Path) -> None:
        """Use a chosen or dropped file."""
        text = path.as_posix()
        if self._folder is not None and path.resolve().is_relative_to(self._folder.resolve()):
            text = Path(os.path.relpath(path.resolve(), self._folder.resolve())).as_posix()
        self.line.setText(text)
        self.changed.emit()

    def _browse(self) -> None:
        folder = str(self._folder or Path.home())
        known = _FILTERS.get(self.spec.kind, "")
        filters = tr(known) if known else tr("All files (*)")
        path, _ = QFileDialog.getOpenFileName(
            self, tr("Choose {name}").format(name=self.spec.name), folder, filters
        )
        if path:
            self.choose(Path(path))
