"""Boxes that the wheel changes only on purpose, a field that grows, and forms from a table."""

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
        parent: the widget it belongs to.
        title: of the dialog.
        label: before the field.
        text: in the field at first.
        take: called with the text that was entered.
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
    """A list of choices that opens to be changed; the wheel never picks another one."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Leave the wheel to the scroll area around the box."""
        event.ignore()


class DoubleSpinBox(QtWidgets.QDoubleSpinBox):
    """A number that the wheel changes only while it has the keyboard."""

    def __init__(self, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)

    def wheelEvent(self, event: QWheelEvent) -> None:
        """Change the number, or leave the wheel to the scroll area around it."""
        if self.hasFocus():
            super().wheelEvent(event)
        else:
            event.ignore()


class SpinBox(DoubleSpinBox):
    """A whole number that the wheel changes only while it has the keyboard."""

    def __init__(self) -> None:
        super().__init__()
        self.setDecimals(0)

    def value(self) -> int:
        """Return the number."""
        return int(super().value())


# A form that is made from a table of its fields.

FormValue: TypeAlias = str | float | bool | None
FormWidget: TypeAlias = (
    QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit | ComboBox | DoubleSpinBox | QtWidgets.QCheckBox
)
Choices: TypeAlias = Sequence[tuple[FormValue, str]]
"""Values of a list with their words."""

_FIELD_HEIGHT = 28
"""Height that lines, lists and numbers share, in pixels."""

_Record = TypeVar("_Record", bound="DataclassInstance")
_Widget = TypeVar("_Widget", bound=QtWidgets.QWidget)


@dataclass(frozen=True, slots=True)
class FormField:
    """Row of `resources/words/forms.toml`."""

    key: str
    """Name of the value, as in the record that the form shows."""

    label: str
    """Words beside the field, and its accessible name."""

    kind: Literal["text", "lines", "whole", "number", "choice", "check", "own"] = "text"
    """Kind of the field; its owner makes one of its own."""

    name: str = ""
    """Accessible name, where it is not the label."""

    about: str = ""
    """Sentence that explains the field, for owners that show one."""

    hint: str = ""
    """Text of an empty line or of the least number; words of a check box."""

    usual: FormValue = None
    """Value that is shown where none is given, and that `given` leaves out."""

    least: float = 0
    """Least number."""

    most: float = 100_000_000
    """Greatest number."""

    step: float = 1
    """Step between two adjacent values."""

    decimals: int = 0
    """Count of digits after the point."""

    unit: str = ""
    """Text after a number."""

    choices: Choices = ()
    """Values of a list that are known before, with their words."""

    is_live: bool = False
    """Whether each change counts, not only the end of writing."""

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
    """Yield the fields of a form, in the language of the window."""
    for row in _tables()[section]:
        words = {key: tr(row[key]) for key in _WORDS if row.get(key)}
        choices = [(value, tr(text)) for value, text in row.get("choices", {}).items()]
        yield FormField(**(row | words | {"choices": choices}))


class _LeftText(QtWidgets.QPlainTextEdit):
    """Lines that are written when they are left."""

    left = Signal()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        """Report the end of typing when the focus leaves."""
        super().focusOutEvent(event)
        self.left.emit()


class FieldForm(QObject):
    """Fields of one record: makes them, and moves values in and out."""

    changed = Signal(str)  # key of the field that the user wrote in

    def __init__(
        self,
        section: str,
        *,
        own: Mapping[str, QtWidgets.QWidget] = MappingProxyType({}),
        choices: Mapping[str, Choices] = MappingProxyType({}),
        shown: object = None,
    ) -> None:
        """Make the fields.

        Args:
            section: the form in `resources/words/forms.toml`.
            own: widgets of the owner, by key; their values are the owner's.
            choices: values of lists, by key, after those of the table.
            shown: the record whose values are shown at first.
        """
        super().__init__()
        self.fields = {field.key: field for field in form_fields(section)}
        """The rows by key."""
        self.widgets: dict[str, FormWidget] = {}
        """The fields that the form made, by key."""
        self.placed: dict[str, QtWidgets.QWidget] = {}
        """All fields by key, in order."""
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
        """Return the field of a key, which is of that kind."""
        widget = self.widgets[key]
        assert isinstance(widget, kind)
        return widget

    def set_hint(self, key: str, text: str) -> None:
        """Change the text of an empty line, of the first choice or of the least number."""
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
        """Return what is written in a line, without blanks around it; empty for other kinds."""
        value = self.value(key)
        return value if isinstance(value, str) else ""

    def number(self, key: str) -> float:
        """Return the value in a field of a number."""
        return self.widget(key, DoubleSpinBox).value()

    def value(self, key: str) -> FormValue:
        """Return the value in a field."""
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
        """Return the values that are not as usual."""
        found = {key: self.value(key) for key in self.widgets}
        return {key: each for key, each in found.items() if each != self.fields[key].empty}

    def written_to(self, record: _Record, *keys: str) -> _Record:
        """Return a record with the values of some fields, or of all."""
        return replace(record, **{key: self.value(key) for key in keys or self.widgets})

    def show_record(self, record: object) -> None:
        """Show the values of a record's attributes."""
        self.set_values({key: getattr(record, key) for key in self.widgets})

    def set_values(self, values: Mapping[str, object]) -> None:
        """Show values; a missing one, or one of another kind, is shown as usual."""
        for key, widget in self.widgets.items():
            empty = self.fields[key].empty
            value = values.get(key, empty)
            match widget:
                case QtWidgets.QLineEdit() if str(value) != widget.text():
                    widget.setText(str(value))
                    widget.setCursorPosition(0)  # a long text is read from its beginning
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
        """Return a layout with a row for each field, which `on` is given as its layout."""
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


# A line over a place that asks for a name.


class NameField(QtWidgets.QLineEdit):
    """Enter takes the name; Esc and a click elsewhere leave everything as it is."""

    def __init__(self, parent: QtWidgets.QWidget, name: str, take: Callable[[str], object]) -> None:
        """Make it.

        Args:
            parent: what it lies over; gets the keyboard back.
            name: what is written in it first.
            take: takes the name, which is not empty.
        """
        super().__init__(name, parent)
        self._parent = parent
        self._take = take

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """End it at Enter and Esc."""
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
        """End typing when the focus leaves for anything but a menu."""
        super().focusOutEvent(event)
        if event.reason() != Qt.FocusReason.PopupFocusReason:
            self._end()

    def _end(self) -> None:
        if not self.isHidden():
            self.hide()
            self.deleteLater()


# The line below an answer: the next question in the same thread.

_MOST_LINES = 4


class ChatLine(FollowsTheme, QtWidgets.QPlainTextEdit):
    """Return sends, Shift+Return begins another line; it grows with what is written."""

    sent = Signal(str)  # the message

    def __init__(self) -> None:
        super().__init__()
        self.setPlaceholderText(tr("Go on in this thread… (Return sends)"))
        self.setAccessibleName(tr("Next message of the thread"))
        self.setTabChangesFocus(True)
        self.textChanged.connect(self._fit)
        self._fit()
        self.follow_theme()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        self.setStyleSheet(
            f"QPlainTextEdit {{ border: 1px solid {theme.border}; border-radius: 6px; "
            f"background: {theme.surface}; color: {theme.text}; padding: 2px 4px; }}"
            f"QPlainTextEdit:focus {{ border-color: {theme.accent}; }}"
        )

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Send, or write on."""
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


# Files of this machine that are dropped or pasted from the desktop.


_LARGEST = 1_000_000
"""Bytes of a text that a field takes over."""


class FileDrop(QObject):
    """Lets a file be dropped on a widget."""

    def __init__(
        self,
        widget: QtWidgets.QWidget,
        take: Callable[[Path], object],
        endings: Collection[str] = (),
    ) -> None:
        """Begin to take files.

        Args:
            widget: on which they may be dropped.
            take: is given the file.
            endings: of the files that it takes, in small letters; empty for any.
        """
        super().__init__(widget)
        self._take = take
        self._endings = endings
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the file; what is none is for the widgets around."""
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
    """Return every dropped local file and folder; none if anything else is among them."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths if len(paths) == len(data.urls()) else []


def dropped_file(data: QMimeData) -> Path | None:
    """Return the first file of this machine among what is dropped."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.is_file()), None)


def text_of(path: Path) -> str | None:
    """Return the text of a file; None where it is none, too long or cannot be read."""
    try:
        text = read_bounded(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")
