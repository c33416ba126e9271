"""The front matter of the active prompt as a form; each change is an edit of its YAML."""

from collections.abc import Callable
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, QTimer, Signal

from studio.application.editing import front_form
from studio.application.words import tr
from studio.core.prompty.document import PromptDocument
from studio.core.text.source import TextEdit
from studio.core.text.values import KeyPath
from studio.ui.parts import kit
from studio.ui.parts.fields import ComboBox

_WIDTH, _HEIGHT = 560, 640
_LABEL, _FIELD = 160, 28


class FrontMatterDialog(kit.ClosingDialog):
    """Form that stays open beside the text; each follows changes of the other."""

    edited = Signal(tuple, bool)  # TextEdits for the newest text; whether they join the last step

    def __init__(
        self,
        document: PromptDocument,
        rename_input: Callable[[PromptDocument, str, str], None],
        parent: QtWidgets.QWidget | None = None,
    ) -> None:
        """Create it.

        Args:
            document: the prompt.
            rename_input: renames an input in the text and in all files.
            parent: the window.
        """
        super().__init__(parent, tr("Front matter"), (_WIDTH, _HEIGHT))
        self._rename_input = rename_input
        self.document = document
        """The document that the next edits apply to."""
        self._fields: dict[KeyPath, QtWidgets.QLineEdit | ComboBox] = {}
        self._groups: tuple[front_form.FrontGroup, ...] = ()
        self._changed: KeyPath = ()
        """The field of the last change; its next change extends the same undo step."""
        self._said = kit.toned_label("error", wraps=True)
        self._said.hide()
        self._area = kit.scroll_area()
        self.new_input, self.new_tool, self.example = (
            QtWidgets.QLineEdit(),
            QtWidgets.QLineEdit(),
            QtWidgets.QLineEdit(),
        )
        self.tool_kind = kit.named(ComboBox(), tr("Kind of the new tool"))
        self.tool_kind.addItems(front_form.TOOL_KINDS)
        buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Close)
        buttons.rejected.connect(self.reject)
        buttons.button(QtWidgets.QDialogButtonBox.StandardButton.Close).setAutoDefault(False)
        box = kit.column_of((self._area, 1), self._said, on=self)
        more = QtWidgets.QGridLayout()
        more.addWidget(self.new_input, 0, 0, 1, 2)
        words = tr("Name of a new input"), tr("Add input")
        more.addWidget(self._adder(self.new_input, *words, self._add), 0, 2)
        more.addWidget(self.new_tool, 1, 0)
        more.addWidget(self.tool_kind, 1, 1)
        words = tr("Name of a new tool"), tr("Add tool")
        more.addWidget(self._adder(self.new_tool, *words, self._add_tool), 1, 2)
        more.addWidget(self.example, 2, 0, 1, 2)
        words = tr("An example answer in JSON, whose fields become outputs"), tr("Add outputs")
        more.addWidget(self._adder(self.example, *words, self._add_outputs), 2, 2)
        box.addLayout(more)
        box.addWidget(buttons)
        self.show_document(document)

    def _adder(
        self, field: QtWidgets.QLineEdit, words: str, label: str, add: Callable[[], None]
    ) -> QtWidgets.QPushButton:
        """Return the button beside a field for a new item; Enter in the field does the same."""
        field.setPlaceholderText(words)
        field.setAccessibleName(words)
        field.returnPressed.connect(add)
        button = kit.push_button(label, add)
        button.setAutoDefault(False)
        return button

    def field(self, *path: str | int) -> QtWidgets.QLineEdit | ComboBox:
        """Return the editor of a key."""
        return self._fields[path]

    def follow(self, document: PromptDocument) -> None:
        """Schedule an update to a newer text, after the signal of the field that changed it."""
        # The form of a text that is not read would be empty, and write over it.
        self.setEnabled(document.failure is None)
        if document.failure is None:
            self.document = document
            QTimer.singleShot(0, self, lambda: self.show_document(self.document))

    def show_document(self, document: PromptDocument) -> None:
        """Show a document; the focused field keeps its text."""
        self.document = document
        groups = front_form.front_groups(document)
        if groups == self._groups:
            return
        shape = [[(each.path, each.kind) for each in group.fields] for group in groups]
        before = [[(each.path, each.kind) for each in group.fields] for group in self._groups]
        titles = [(group.title, group.renames) for group in groups]
        same = titles == [(group.title, group.renames) for group in self._groups]
        self._groups = groups
        if shape != before or not same:
            self._build()
            return
        for group in groups:
            for each in group.fields:
                self._fill(self._fields[each.path], each)

    def _build(self) -> None:
        at = self._area.verticalScrollBar().value()
        page = QtWidgets.QWidget()
        column = kit.column_of(on=page, margins=(8, 8, 12, 8), spacing=8)
        self._fields.clear()
        for group in self._groups:
            column.addLayout(self._head(group))
            form = QtWidgets.QFormLayout()
            form.setSpacing(8)
            form.setContentsMargins(0, 0, 0, 12)
            for each in group.fields:
                editor = self._editor(each)
                self._fields[each.path] = editor
                name = kit.ElidedLabel(mode=Qt.TextElideMode.ElideMiddle)
                name.setSizePolicy(
                    QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Preferred
                )
                name.setFixedWidth(_LABEL)
                name.show_text(each.label)
                name.setBuddy(editor)
                form.addRow(name, editor)
            column.addLayout(form)
        column.addStretch(1)
        before = self._area.takeWidget()
        if before is not None:
            before.deleteLater()
        self._area.setWidget(page)
        self._area.verticalScrollBar().setValue(at)

    def _head(self, group: front_form.FrontGroup) -> QtWidgets.QHBoxLayout:
        row = QtWidgets.QHBoxLayout()
        title = QtWidgets.QLabel(group.title)
        title.setProperty("title", True)
        row.addWidget(title)
        if group.renames:
            name = QtWidgets.QLineEdit(group.renames)
            name.setAccessibleName(tr("Name of the input {name}").format(name=group.renames))
            name.editingFinished.connect(partial(self._rename, group.renames, name))
            title.setText(tr("Input"))
            row.addWidget(name)
        row.addStretch(1)
        if group.removes:
            words = tr("Remove {name}").format(name=group.renames or group.title)
            gone = kit.icon_button("x", words, partial(self._remove, group))
            gone.setAutoRaise(True)
            row.addWidget(gone)
        return row

    def _editor(self, field: front_form.FrontField) -> QtWidgets.QLineEdit | ComboBox:
        name = ".".join(map(str, field.path))
        if field.choices or field.kind == "boolean":
            box = ComboBox()
            box.setEditable(bool(field.choices))
            box.addItems(["", *(field.choices or ("true", "false"))])
            box.activated.connect(lambda: self._set(field.path, box.currentText()))
            box.setInsertPolicy(ComboBox.InsertPolicy.NoInsert)
            line = box.lineEdit()
            if line is not None:
                line.editingFinished.connect(lambda: self._set(field.path, box.currentText()))
            editor: QtWidgets.QLineEdit | ComboBox = box
        else:
            editor = QtWidgets.QLineEdit()
            editor.editingFinished.connect(lambda: self._set(field.path, editor_text(editor)))
        editor.setAccessibleName(name)
        editor.setToolTip(field.help)
        editor.setEnabled(not field.is_fixed)
        editor.setMinimumHeight(_FIELD)
        self._fill(editor, field)
        return editor

    def _fill(self, editor: QtWidgets.QLineEdit | ComboBox, field: front_form.FrontField) -> None:
        shown = front_form.shown_value(field)
        if isinstance(editor, ComboBox):
            if editor.currentText() != shown:
                editor.setCurrentText(shown)
        elif editor.text() != shown and not (editor.hasFocus() and editor.isModified()):
            editor.setText(shown)
            editor.setCursorPosition(0)  # a long text is shown from its beginning

    # -- changes --------------------------------------------------------------------------------

    def _set(self, path: KeyPath, typed: str) -> None:
        field = next((e for group in self._groups for e in group.fields if e.path == path), None)
        if field is None or typed == front_form.shown_value(field):
            return
        if self._try(
            lambda: front_form.set_front(self.document, field, typed), goes_on=path == self._changed
        ):
            self._changed = path

    def _rename(self, old: str, name: QtWidgets.QLineEdit) -> None:
        new = name.text().strip()
        if new == old:
            return
        try:
            self._rename_input(self.document, old, new)
        except ValueError as error:
            self._refuse(f"{str(error)[:1].upper()}{str(error)[1:]}.")
            name.setText(old)
        else:
            self._said.hide()

    def _remove(self, group: front_form.FrontGroup) -> None:
        self._try(lambda: front_form.remove_item(self.document, group.removes))

    def _add(self) -> None:
        name = self.new_input.text().strip()
        if name and self._try(lambda: front_form.add_input(self.document, name)):
            self.new_input.clear()

    def _add_tool(self) -> None:
        name, kind = (
            self.new_tool.text().strip(),
            front_form.TOOL_KINDS[self.tool_kind.currentIndex()],
        )
        if name and self._try(lambda: front_form.add_tool(self.document, name, kind)):
            self.new_tool.clear()

    def _add_outputs(self) -> None:
        example = self.example.text().strip()
        if example and self._try(lambda: front_form.add_outputs(self.document, example)):
            self.example.clear()

    def _refuse(self, text: str) -> None:
        self._said.setText(text)
        self._said.show()

    def _try(self, make: Callable[[], tuple[TextEdit, ...]], *, goes_on: bool = False) -> bool:
        try:
            edits = make()
        except front_form.FrontFormError as error:
            self._refuse(str(error))
            return False
        self._said.hide()
        if edits:
            self.edited.emit(edits, goes_on)
            self._changed = ()
        return True


def editor_text(editor: QtWidgets.QLineEdit | ComboBox) -> str:
    """Return the contents of a field."""
    return editor.currentText() if isinstance(editor, ComboBox) else editor.text()
