"""The inputs pane: the user's values for the prompt, as a form or as JSON.

It also contains the menu of named input sets.
"""

from collections.abc import Callable, Mapping
from functools import partial
from html import escape
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QRect, Qt, QTimer, Signal
from PySide6.QtGui import QAction, QColor, QKeyEvent, QPalette

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue, own_count
from studio.application.words import marked, tr
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs
from studio.core.text.amounts import shortened
from studio.core.text.source import Span
from studio.core.text.values import JsonObject
from studio.ui.inputs.compound import make_editor
from studio.ui.inputs.fields import FieldEditor, JsonField, TextField
from studio.ui.inputs.row import HIGH
from studio.ui.inputs.schema_form import SchemaForm, is_shown
from studio.ui.parts.fields import FileDrop
from studio.ui.parts.kit import column_of, icon_button, scroll_area, toned_label
from studio.ui.style.theme import FollowsTheme, icon, paint_text, theme_in_use
from studio.viewmodels.app.jobs import single_shot
from studio.viewmodels.inputs.library import InputLibrary

_FILTER = marked("Values (*.json *.jsonl *.yaml *.yml *.csv *.tsv);;All files (*)")


class SetsButton(QtWidgets.QToolButton):
    """Button with the name of the set in use, and a menu to use, save, remove and load sets."""

    request_values = Signal(str)  # name of the set to save the values as
    request_samples = Signal()  # save the values in the file

    def __init__(self, library: InputLibrary, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._library = library
        self.setPopupMode(QtWidgets.QToolButton.ToolButtonPopupMode.InstantPopup)
        self.setAutoRaise(True)
        self.clear = QAction(icon("rotate-ccw"), tr("Clear all: use defaults and samples"), self)
        self.as_json = QAction(icon("braces"), tr("Edit the values as JSON"), self)
        self.as_json.setCheckable(True)
        self._menu = QtWidgets.QMenu(self)
        self._menu.aboutToShow.connect(self._fill)
        self.setMenu(self._menu)
        library.changed.connect(self.describe)
        self.describe()

    def _fill(self) -> None:
        library, menu = self._library, self._menu
        menu.clear()
        for name in library.sets:
            action = menu.addAction(_literal(name), partial(library.take, name))
            action.setCheckable(True)
            action.setChecked(name == library.current)
        menu.addSeparator()
        current = library.current
        keep = menu.addAction(tr("Save as a set…"), self._ask_name)
        keep.setEnabled(library.can_keep)
        keep.setToolTip(tr("Saved in {file_name}").format(file_name=library.file_name))
        if current:
            menu.addAction(
                tr("Update “{current}”").format(current=_literal(current)),
                partial(self.request_values.emit, current),
            )
            menu.addAction(
                tr("Delete “{current}”").format(current=_literal(current)),
                partial(library.remove, current),
            )
        menu.addAction(tr("Save as samples in the prompt"), self.request_samples.emit)
        menu.addSeparator()
        menu.addAction(tr("Load from a file…"), self._ask_file)
        menu.addSeparator()
        menu.addActions([self.clear, self.as_json])

    def describe(self) -> None:
        """Show the set in use, and whether its values were changed since."""
        name, words = _literal(shortened(self._library.current, _LONGEST)), tr("{name}, edited")
        self.setText(words.format(name=name) if self._library.is_edited else name or tr("Sets"))
        self.setAccessibleName(": ".join(filter(None, (tr("Input sets"), self._library.current))))
        count = len(self._library.sets)
        kept = (
            tr("{count} saved in {file_name}").format(
                count=count, file_name=self._library.file_name
            )
            if count
            else tr("none saved yet")
        )
        can = self._library.can_keep
        self.setToolTip(
            tr("Input sets: {kept}").format(kept=kept)
            if can
            else tr("Input sets: save the prompt first")
        )

    def _ask_name(self) -> None:
        dialog = QtWidgets.QInputDialog(self)
        dialog.setWindowTitle(tr("Save as a set"))
        dialog.setLabelText(
            tr("Name of the set, saved in {file_name}:").format(file_name=self._library.file_name)
        )
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.request_values)
        dialog.textValueChanged.connect(partial(self._name_typed, dialog))
        dialog.open()

    def _name_typed(self, dialog: QtWidgets.QInputDialog, name: str) -> None:
        """Show on the button if a set with this name exists."""
        is_there = name.strip() in self._library.sets
        dialog.setOkButtonText(
            tr("Replace “{name}”").format(name=_literal(name.strip())) if is_there else tr("Save")
        )

    def _ask_file(self) -> None:
        words = tr(_FILTER)
        dialog = QtWidgets.QFileDialog(self, tr("Load values"), self._library.folder, words)
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.ExistingFile)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.fileSelected.connect(lambda name: self._library.load(Path(name)))
        dialog.open()


def _literal(name: str) -> str:
    """Return a name for a menu or button, in which & would mark a key."""
    return name.replace("&", "&&")


_NO_LIMIT = 16_777_215
"""Qt's value for no maximum size."""
_LONGEST = 14
"""Maximum number of characters of a set's name on its button."""
_OF_VALUES = (".json", ".jsonl", ".ndjson", ".yaml", ".yml", ".csv", ".tsv")
"""Endings of files with values."""
_OF_THE_DOCK = 8
"""Pixels of a dock's height that its pane does not get: four measured, rounded up."""


_NARROWEST = 200
"""Minimum width in pixels of a value that is edited in place."""
_MARGIN = 12
"""Pixels between the edge of a field and its text, plus the width of a letter."""


class ValueEditor(QtWidgets.QFrame):
    """A field over a shown value: Enter saves the value, Esc cancels."""

    entered = Signal()  # the user changed the value

    def __init__(self, field: FieldEditor, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.field = field
        """The editor of the value."""
        self._before = field.value()
        self._problem = toned_label("error", wraps=True, is_plain=True)
        self._problem.hide()
        if isinstance(field, TextField | JsonField):
            field.text.is_sent_by_enter = True
        column_of(field, self._problem, on=self, margins=0, spacing=0)
        field.setFocus()
        if isinstance(text := field.focusProxy(), QtWidgets.QLineEdit | QtWidgets.QPlainTextEdit):
            text.selectAll()

    def show_over(self, place: QRect) -> None:
        """Show it over a rectangle of the screen; if that is narrow, aligned to its right edge."""
        width = max(place.width() + _MARGIN, _NARROWEST)
        self.setFixedWidth(width)
        self.move(place.right() + 1 - width, place.top() - 4)
        self.show()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Save the value or cancel; an invalid value stays, with the reason below."""
        if event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter):
            self._problem.setText(self.field.problem())
            self._problem.setVisible(bool(self._problem.text()))
            self.adjustSize()
            if self._problem.text():
                return
            if not is_shown(self.field, self._before):
                self.entered.emit()
        elif event.key() != Qt.Key.Key_Escape:
            return
        self.close()


class InputsPane(FollowsTheme, QtWidgets.QWidget):
    """A field for each input; absent values come from defaults and samples."""

    given_changed = Signal(GivenInputs)  # values of the user
    entered = Signal()  # a value was edited on a card
    request_declare = Signal(str)  # declare this variable in the front matter
    request_reveal = Signal(Span)
    refused = Signal(str)  # a set that could not be read or saved
    request_height = Signal(int)  # pixels, when inputs change or the form is collapsed
    request_samples = Signal(Mapping)  # dict: save these values in the file, as samples

    def __init__(self, parent: QtWidgets.QWidget | None = None, memory: Path | None = None) -> None:
        """Create it.

        Args:
            parent: owner.
            memory: file that stores the chosen set of each prompt.
        """
        super().__init__(parent)
        self.setAccessibleName(tr("Inputs"))
        self._summary = QtWidgets.QLabel(textFormat=Qt.TextFormat.RichText)
        self._summary.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Ignored, QtWidgets.QSizePolicy.Policy.Preferred
        )
        self._names: tuple[str, ...] = ()
        self._before: list[tuple[str, FieldValue]] = []
        """Inputs edited on cards with their previous values, the newest last."""
        self.fold_button = self._head()
        self.library = InputLibrary(self, memory)
        FileDrop(self, self.library.load, _OF_VALUES)  # the window takes other files
        self.sets = SetsButton(self.library, self)
        self.before = icon_button("chevron-left", tr("Previous set"))
        self.after = icon_button("chevron-right", tr("Next set"))
        self.form = SchemaForm(colored=True)
        self.raw = JsonField(FieldSpec("values", "json", type_name="object"))
        self.raw_problem = toned_label("error", wraps=True, is_plain=True)
        self._form_page = _page(self.form)
        self._scroll = scroll_area(self._form_page)
        self._form_page.installEventFilter(self)
        self._raw_page = _page(self.raw, self.raw_problem)
        self._height_wanted = self._later(self._ask_height)
        """Timer: the size of new fields depends on their style, which is set later."""
        self._stack = QtWidgets.QStackedWidget()
        for page in (self._scroll, self._raw_page):
            self._stack.addWidget(page)
        self._arrange()
        self.fold_button.toggled.connect(self._fold)
        self.fold_button.setChecked(True)
        self._summary.linkActivated.connect(self.focus_input)
        self.before.clicked.connect(partial(self.library.step, -1))
        self.after.clicked.connect(partial(self.library.step, 1))
        self.library.changed.connect(self._describe)
        self.library.changed.connect(self._before.clear)  # perhaps of another prompt
        self.sets.as_json.toggled.connect(self._switch)
        self.sets.clear.triggered.connect(self.clear)
        self.form.value_changed.connect(self._from_form)
        self.form.request_declare.connect(self.request_declare)
        self.raw.changed.connect(self._from_json)
        self.sets.request_values.connect(self.library.keep_given)
        self.sets.request_samples.connect(lambda: self.request_samples.emit(self.values()))
        self.library.given_changed.connect(self._show_given)
        self.library.refused.connect(self.refused)
        paint_text(self._summary, "muted")
        self.follow_theme()

    def _later(self, act: Callable[[], None]) -> QTimer:
        return single_shot(self, act)

    def _head(self) -> QtWidgets.QToolButton:
        button = QtWidgets.QToolButton(autoRaise=True)
        button.setCheckable(True)
        button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        button.setText(tr("Inputs"))
        button.setProperty("head", True)
        button.setToolTip(tr("Fold the inputs to one line, or show them"))
        return button

    def _arrange(self) -> None:
        bar = self._bar = QtWidgets.QHBoxLayout()
        bar.setContentsMargins(4, 4, 8, 4)
        bar.setSpacing(4)
        for button in (self.before, self.after):
            button.setAutoRaise(True)
        self.cases_button = icon_button("list", tr("Run the prompt with each of its cases"))
        self.cases_button.setAutoRaise(True)
        for part in (self.fold_button, self.before, self.sets, self.after):
            bar.addWidget(part)
        bar.addWidget(self._summary, 1)
        bar.addWidget(self.cases_button)
        column_of(bar, (self._stack, 1), on=self, margins=0, spacing=0)

    def set_document(self, document: PromptDocument | None, untitled: str = "") -> None:
        """Show the inputs of a document; the user's values stay.

        Args:
            document: the prompt; None if none is open.
            untitled: identifier of a prompt that was never saved.
        """
        path = document.source.path if document is not None else None
        self.form.set_folder(path.parent if path else None)
        self.library.set_document(document, untitled)
        self.form.set_fields(self.library.specs, self.library.given)
        self._describe()
        self._choose_page()
        names = tuple(self.form.rows)
        if names != self._names:
            self._names = names
            self._height_wanted.start()

    def values(self) -> GivenInputs:
        """Return the user's values, including those without a field."""
        return self.library.given

    def set_values(self, values: JsonObject) -> None:
        """Replace all values, as if the user had typed them."""
        self.library.give_all(values)

    def clear(self) -> None:
        """Clear all values."""
        self.library.give_all({})
        self.form.clear()
        if self.sets.as_json.isChecked():
            self.raw.set_value({})
            self.raw_problem.clear()

    def edit_over(self, name: str, place: QRect) -> bool:
        """Edit a value over its place on a card; return False if it needs more than one line."""
        spec = next((each for each in self.library.specs if each.name == name), None)
        if spec is None or spec.kind in HIGH or place.isNull():
            return False
        field, value = make_editor(spec), self.values().get(name, spec.fallback)
        field.set_value(value)
        if not is_shown(field, value):
            field.deleteLater()
            return False
        editor = ValueEditor(field, self)
        editor.entered.connect(lambda: self._enter(name, field.value()))
        editor.show_over(place)
        return True

    def _enter(self, name: str, value: FieldValue) -> None:
        self._before.append((name, self.values().get(name, ABSENT)))
        self.library.give(name, value)
        self.entered.emit()

    def undo(self) -> None:
        """Undo the last value that was edited on a card."""
        if self._before:
            self.library.give(*self._before.pop())

    def focus_input(self, name: str) -> None:
        """Focus an input's field and scroll to it."""
        self.fold_button.setChecked(False)
        if self.sets.as_json.isChecked():
            self.sets.as_json.setChecked(False)
        self.form.focus_field(name)
        row = self.form.rows.get(name)
        if row is not None:
            self._scroll.ensureWidgetVisible(row, 0, 24)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme = theme_in_use()
        self.raw.setStyleSheet(self.form.styleSheet())
        self._describe()
        for area in (self._scroll, self._raw_page):
            palette = area.palette()
            palette.setColor(QPalette.ColorRole.Window, QColor(theme.window))
            area.setPalette(palette)

    def _fold(self, folded: bool) -> None:
        """Collapse the form to one line, or show it."""
        self.fold_button.setIcon(icon("chevron-right" if folded else "chevron-down"))
        self._stack.setVisible(not folded)
        self.setMaximumHeight(self.sizeHint().height() if folded else _NO_LIMIT)
        self._describe()
        self._height_wanted.start()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Notify the layouts around a field that has grown, with a delay."""
        if event.type() == QEvent.Type.LayoutRequest:
            self._height_wanted.start()
        return super().eventFilter(watched, event)

    def _ask_height(self) -> None:
        head = self._bar.sizeHint().height() + _OF_THE_DOCK
        if self.fold_button.isChecked():
            self.request_height.emit(head)
        else:
            self.request_height.emit(head + _height_of(self._form_page, self.width()))

    def _choose_page(self) -> None:
        is_raw = self.sets.as_json.isChecked()
        self._stack.setCurrentWidget(self._raw_page if is_raw else self._scroll)

    def _switch(self, as_json: bool) -> None:
        if as_json:
            self.raw.set_value(dict(self.values()))
            self.raw_problem.clear()
        self._choose_page()

    def _from_form(self, name: str) -> None:
        self._before.clear()  # an earlier value must not replace one that was typed since
        self.library.give(name, self.form.rows[name].editor.value())

    def _from_json(self) -> None:
        value = self.raw.value()
        problem = self.raw.problem()
        if not problem and not isinstance(value, dict):
            problem = tr('Write an object: {"name": value}.')
        self.raw_problem.setText(problem)
        if isinstance(value, dict) and not problem:
            self.library.give_all(value)

    def _show_given(self, given: GivenInputs) -> None:
        self.form.set_values(given)
        self._height_wanted.start()  # fields grow with their text
        if self.sets.as_json.isChecked() and self.raw.value() != given:
            self.raw.set_value(dict(given))
        self._describe()
        self.given_changed.emit(given)

    def _describe(self) -> None:
        values, specs, theme = self.values(), self.library.specs, theme_in_use()
        count = own_count(specs, values)
        words = tr("{given} of {total} given").format(given=count.given, total=count.total)
        parts = [words if count.total else tr("none")]
        for names, one, many, color in (
            (count.samples, tr("1 sample"), tr("{count} samples"), theme.warning),
            (count.missing, tr("1 missing"), tr("{count} missing"), theme.error),
        ):
            if names:
                text = one if len(names) == 1 else many.format(count=len(names))
                style = f"color: {color}; text-decoration: none"
                parts.append(f'<a href="{escape(names[0])}" style="{style}">{text}</a>')
        self._summary.setText(" · ".join(parts))
        self.sets.describe()
        for button in (self.before, self.after):
            button.setVisible(len(self.library.sets) > 1)
        self.sets.clear.setEnabled(bool(values))
        self.sets.as_json.setEnabled(bool(specs or values))


def _height_of(part: QtWidgets.QWidget, width: int) -> int:
    """Return the height that a part with wrapped lines needs at a width."""
    return part.heightForWidth(width) if part.hasHeightForWidth() else part.sizeHint().height()


def _page(*parts: QtWidgets.QWidget) -> QtWidgets.QWidget:
    page = QtWidgets.QWidget()
    layout = QtWidgets.QVBoxLayout(page)
    layout.setContentsMargins(12, 4, 12, 12)
    for part in parts:
        layout.addWidget(part)
    layout.addStretch(1)
    return page
