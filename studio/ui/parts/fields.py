"""Input widgets that the wheel does not change by accident, and forms from a table."""

import tomllib
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, TypeAlias, TypeVar, assert_never

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QMimeData, QObject, Qt, Signal, SignalInstance
from PySide6.QtGui import QDropEvent, QFocusEvent, QKeyEvent, QWheelEvent

from studio.application.words import tr
from studio.core.paths import resource_text
from studio.core.text.files import read_bounded
from studio.ui.style.theme import FollowsTheme, theme_in_use

if TYPE_CHECKING:
    from _typeshed import DataclassInstance


def ask_text(
    parent: QtWidgets.QWidget, title: str, label: str, text: str, take: Callable[[str], object]
) -> QtWidgets.QInputDialog:
    """Open a dialog for one text.

    Args:
        parent: parent widget.
        title: title of the dialog.
        label: label of the field.
        text: initial text of the field.
        take: called with the entered text.
    """
    dialog = QtWidgets.QInputDialog(parent)
    dialog.setWindowTitle(title)
    dialog.setLabelText(label)
    dialog.setTextValue(text)
    dialog.textValueSelected.connect(take)
    dialog.finished.connect(dialog.deleteLater)
    dialog.open()
    return dialog


class ComboBox(QtWidgets.QComboBox):
    """Combo box that the wheel never changes."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the surrounding scroll area."""
        event.ignore()


class DoubleSpinBox(QtWidgets.QDoubleSpinBox):
    """Number field that the wheel changes only while it has the focus."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number with the focus; otherwise leave the wheel to the scroll area."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpinBox(DoubleSpinBox):
    """Integer field that the wheel changes only while it has the focus."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(0)

    def value(self) -> int:
        """Return the number."""
        return int(super().value())


# A form that is created from a table of its fields.

FormValue: TypeAlias = str | float | bool | None
FormWidget: TypeAlias = (
    QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit | ComboBox | DoubleSpinBox | QtWidgets.QCheckBox
)
Choices: TypeAlias = Sequence[tuple[FormValue, str]]
"""Values of a list with their texts."""

_FIELD_HEIGHT = 28
"""Common height of lines, lists and numbers, in pixels."""

_Record = TypeVar("_Record", bound="DataclassInstance")
_Widget = TypeVar("_Widget", bound=QtWidgets.QWidget)


@dataclass(frozen=True, slots=True)
class FormField:
    """A row of `resources/words/forms.toml`."""

    key: str
    """Name of the value, which is an attribute of the record."""

    label: str
    """Label of the field, and its accessible name."""

    kind: Literal["text", "lines", "whole", "number", "choice", "check", "own"] = "text"
    """Kind of the field; the owner creates those of kind `own`."""

    name: str = ""
    """Accessible name, if it is not the label."""

    about: str = ""
    """Sentence that explains the field, for owners that show it."""

    hint: str = ""
    """Placeholder of a line, text of the minimum number, or text of a checkbox."""

    usual: FormValue = None
    """Default value, which is shown if none is given and omitted from `given`."""

    least: float = 0
    """Minimum number."""

    most: float = 100_000_000
    """Maximum number."""

    step: float = 1
    """Step between two adjacent values."""

    decimals: int = 0
    """Number of digits after the decimal point."""

    unit: str = ""
    """Text after a number."""

    choices: Choices = ()
    """Fixed values of a list with their texts."""

    is_live: bool = False
    """Whether each change is reported, not only the end of editing."""

    @property
    def empty(self) -> FormValue:
        """Return the value of an empty field."""
        if self.usual is not None or self.kind == "choice":
            return self.usual
        if self.kind == "check":
            return False
        return self.least if self.kind in ("whole", "number") else ""


_WORDS = ("label", "name", "about", "hint", "unit")


@cache
def _tables() -> dict[str, list[dict[str, Any]]]:
    return tomllib.loads(resource_text("words", "forms.toml"))


def form_fields(section: str) -> Iterator[FormField]:
    """Yield the fields of a form, in the window's language."""
    for row in _tables()[section]:
        words = {key: tr(row[key]) for key in _WORDS if row.get(key)}
        choices = [(value, tr(text)) for value, text in row.get("choices", {}).items()]
        yield FormField(**(row | words | {"choices": choices}))


class _LeftText(QtWidgets.QPlainTextEdit):
    """Text field that reports its text when the focus leaves."""

    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Report the end of editing when the focus leaves."""
        super().focusOutEvent(event)
        self.left.emit()


class FieldForm(QObject):
    """Fields of one record: creates them, and sets and returns values."""

    changed = Signal(str)  # key of the field that the user changed

    def __init__(
        self,
        section: str,
        *,
        own: Mapping[str, QtWidgets.QWidget] = MappingProxyType({}),
        choices: Mapping[str, Choices] = MappingProxyType({}),
        shown: object = None,
    ) -> None:
        """Create the fields.

        Args:
            section: the form in `resources/words/forms.toml`.
            own: widgets of the owner by key; the owner handles their values.
            choices: values of lists by key, added to those of the table.
            shown: record with the initial values.
        """
        super().__init__()
        self.fields = {field.key: field for field in form_fields(section)}
        """Rows of the table by key."""
        self.widgets: dict[str, FormWidget] = {}
        """Widgets that the form created, by key."""
        self.placed: dict[str, QtWidgets.QWidget] = {}
        """All widgets by key, in order."""
        for key, field in self.fields.items():
            if field.kind != "own":
                self.widgets[key] = self._make(field, choices.get(key, ()))
            self.placed[key] = self.widgets.get(key) or own[key]
            if self.placed[key].focusPolicy() != Qt.FocusPolicy.NoFocus:
                self.placed[key].setAccessibleName(field.name or field.label or field.hint)
        if shown is None:
            self.set_values({})
        else:
            self.show_record(shown)

    def widget(self, key: str, kind: type[_Widget]) -> _Widget:
        """Return the widget of a key, which must have a type."""
        widget = self.widgets[key]
        assert isinstance(widget, kind)
        return widget

    def set_hint(self, key: str, text: str) -> None:
        """Change the placeholder of a line, the text of the first choice or of the minimum."""
        match self.widgets[key]:
            case QtWidgets.QLineEdit() | QtWidgets.QPlainTextEdit() as line:
                line.setPlaceholderText(text)
            case ComboBox() as box:
                box.setItemText(0, text)
            case DoubleSpinBox() as box:
                box.setSpecialValueText(text)
            case QtWidgets.QCheckBox() as box:
                box.setText(text)

    def text(self, key: str) -> str:
        """Return the stripped text of a line; empty for other kinds."""
        value = self.value(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> float:
        """Return the value of a number field."""
        return self.widget(key, DoubleSpinBox).value()

    def value(self, key: str) -> FormValue:
        """Return the value of a field."""
        match self.widgets[key]:
            case QtWidgets.QLineEdit() as line:
                return line.text().strip()
            case QtWidgets.QPlainTextEdit() as lines:
                return lines.toPlainText()
            case ComboBox() as box:
                chosen: FormValue = box.currentData()
                return chosen
            case DoubleSpinBox() as box:
                number = box.value()
                return int(number) if self.fields[key].kind == "whole" else number
            case QtWidgets.QCheckBox() as box:
                return box.isChecked()
            case other:
                assert_never(other)

    def given(self) -> dict[str, FormValue]:
        """Return the values that differ from the defaults."""
        found = {key: self.value(key) for key in self.widgets}
        return {key: each for key, each in found.items() if each != self.fields[key].empty}

    def written_to(self, record: _Record, *keys: str) -> _Record:
        """Return a copy of a record with the values of some fields, or of all."""
        return replace(record, **{key: self.value(key) for key in keys or self.widgets})

    def show_record(self, record: object) -> None:
        """Show the values of a record's attributes."""
        self.set_values({key: getattr(record, key) for key in self.widgets})

    def set_values(self, values: Mapping[str, object]) -> None:
        """Show values; a missing one, or one of another type, is shown as the default."""
        for key, widget in self.widgets.items():
            empty = self.fields[key].empty
            value = values.get(key, empty)
            match widget:
                case QtWidgets.QLineEdit() if str(value) != widget.text():
                    widget.setText(str(value))
                    widget.setCursorPosition(0)  # a long text is shown from its beginning
                case QtWidgets.QPlainTextEdit():
                    widget.setPlainText(str(value))
                case ComboBox():
                    widget.setCurrentIndex(max(0, widget.findData(value)))
                case DoubleSpinBox():
                    numbers = (each for each in (value, empty) if isinstance(each, int | float))
                    widget.setValue(next(numbers))
                case QtWidgets.QCheckBox():
                    widget.setChecked(bool(value))

    def laid_out(self, on: QtWidgets.QWidget | None = None) -> QtWidgets.QFormLayout:
        """Return a form layout with a row for each field; `on` gets it as its layout."""
        form = QtWidgets.QFormLayout() if on is None else QtWidgets.QFormLayout(on)
        for key, widget in self.placed.items():
            form.addRow(self.fields[key].label, widget)
        return form

    def _make(self, field: FormField, choices: Choices) -> FormWidget:
        widget: FormWidget
        signal: SignalInstance
        match field.kind:
            case "text":
                widget = QtWidgets.QLineEdit(placeholderText=field.hint)
                signal = widget.textEdited if field.is_live else widget.editingFinished
            case "lines":
                widget = _LeftText(placeholderText=field.hint, tabChangesFocus=True)
                signal = widget.textChanged if field.is_live else widget.left
            case "choice":
                widget = ComboBox()
                for value, words in (*field.choices, *choices):
                    widget.addItem(words, value)
                signal = widget.activated
            case "check":
                widget = QtWidgets.QCheckBox(field.hint)
                signal = widget.toggled
            case "whole" | "number" | "own":
                widget = DoubleSpinBox()
                widget.setDecimals(field.decimals)
                widget.setRange(field.least, field.most)
                widget.setSingleStep(field.step)
                widget.setSuffix(field.unit)
                widget.setSpecialValueText(field.hint)
                widget.setGroupSeparatorShown(field.kind == "whole")
                signal = widget.valueChanged if field.is_live else widget.editingFinished
        signal.connect(lambda *_: self.changed.emit(field.key))
        widget.setMinimumHeight(0 if field.kind in ("check", "lines") else _FIELD_HEIGHT)
        return widget


# A line edit over a widget that asks for a name.


class NameField(QtWidgets.QLineEdit):
    """Line edit for a name: Enter accepts it; Esc and a click elsewhere cancel."""

    def __init__(self, parent: QtWidgets.QWidget, name: str, take: Callable[[str], object]) -> None:
        """Create it.

        Args:
            parent: the covered widget, which gets the focus back.
            name: initial text.
            take: called with the name, which is not empty.
        """
        super().__init__(name, parent)
        self._parent = parent
        self._take = take

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Accept on Enter, cancel on Esc."""
        is_taken = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_taken and event.key() != Qt.Key.Key_Escape:
            super().keyPressEvent(event)
            return
        name = self.text().strip()
        self._end()
        self._parent.setFocus(Qt.FocusReason.OtherFocusReason)
        if is_taken and name:
            self._take(name)

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Cancel when the focus leaves, except to a menu."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()

    def _end(self) -> None:
        if not self.isHidden():
            self.hide()
            self.deleteLater()


# The line below an answer for the next message of the thread.

_MOST_LINES = 4


class ChatLine(FollowsTheme, QtWidgets.QPlainTextEdit):
    """Growing text field: Return sends, Shift+Return inserts a line break."""

    sent = Signal(str)  # the message

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(tr("Continue this thread… (Return sends)"))
        self.setAccessibleName(tr("Next message of the thread"))
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self.setStyleSheet(
            f"QPlainTextEdit {{ border: 1px solid {theme.border}; border-radius: 6px; "
            f"background: {theme.surface}; color: {theme.text}; padding: 2px 4px; }}"
            f"QPlainTextEdit:focus {{ border-color: {theme.accent}; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send on Return, otherwise edit."""
        is_return = event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if not is_return or event.modifiers() & Qt.KeyboardModifier.ShiftModifier:
            super().keyPressEvent(event)
            return
        text = self.toPlainText().strip()
        if text:
            self.clear()
            self.sent.emit(text)

    def _fit(self) -> None:
        wanted = max(1, self.document().blockCount())
        lines = min(_MOST_LINES, wanted)
        policy = Qt.ScrollBarPolicy
        bar = policy.ScrollBarAsNeeded if wanted > lines else policy.ScrollBarAlwaysOff
        self.setVerticalScrollBarPolicy(bar)
        margins = 2 * (self.frameWidth() + int(self.document().documentMargin()))
        self.setFixedHeight(lines * self.fontMetrics().lineSpacing() + margins + 8)


# Local files that are dropped, or pasted from the desktop.


_LARGEST = 1_000_000
"""Maximum size in bytes of a text file that a field inserts."""


class FileDrop(QObject):
    """Accepts a file that is dropped on a widget."""

    def __init__(
        self,
        widget: QtWidgets.QWidget,
        take: Callable[[Path], object],
        endings: Collection[str] = (),
    ) -> None:
        """Accept files on a widget.

        Args:
            widget: the widget.
            take: called with the file.
            endings: accepted endings in lower case; empty for any.
        """
        super().__init__(widget)
        self._take = take
        self._endings = endings
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Accept a file; other drops are left to the parent widgets."""
        if not isinstance(event, QDropEvent):
            return False
        is_drop = event.type() == QEvent.Type.Drop
        path = dropped_file(event.mimeData())
        if path is None or not (is_drop or event.type() == QEvent.Type.DragEnter):
            return False
        if self._endings and path.suffix.lower() not in self._endings:
            return False
        event.acceptProposedAction()
        if is_drop:
            self._take(path)
        return True


def dropped_files(data: QMimeData) -> list[Path]:
    """Return all dropped local files and folders; empty if anything else is dropped."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths if len(paths) == len(data.urls()) else []


def dropped_file(data: QMimeData) -> Path | None:
    """Return the first dropped local file."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.is_file()), None)


def text_of(path: Path) -> str | None:
    """Return the text of a file; None if it is not text, too long or unreadable."""
    try:
        text = read_bounded(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")
