"""Edits at a pause: arguments, a reply, an observation, an answer, a message, or all messages.

All messages of a request are edited in a list, with role and text of the selected one beside.
"""

from collections.abc import Callable, Sequence
from typing import cast

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, Qt, Signal
from PySide6.QtGui import QColor, QKeyEvent, QKeySequence, QShortcut, QTextCursor

from studio.application.run.edits import in_place
from studio.application.words import marked, tr
from studio.core.prompty.document import MediaPart, Message, Role, ToolCallPart
from studio.core.text.amounts import one_line
from studio.ui.parts import kit
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.text_views import JsonHighlighter
from studio.ui.style import theme

_ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")


class MessagesEditor(theme.FollowsTheme, QtWidgets.QWidget):
    """Editor for a list of messages: change, add and remove them."""

    changed = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._messages: tuple[Message, ...] = ()
        self._loading = False
        self._list = kit.named(QtWidgets.QListWidget(), tr("Messages"))
        self._list.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._role = kit.named(ComboBox(), tr("Role of the message"))
        self._role.addItems(list(_ROLES))
        self._add = kit.icon_button("plus", tr("Add a message after this one"), self._on_add)
        self._add.setAccessibleName(tr("Add a message"))
        self._remove = kit.icon_button("trash-2", tr("Remove this message"), self._on_remove)
        self._note = kit.toned_label("muted")
        self._text = kit.named(QtWidgets.QPlainTextEdit(), tr("Text of the message"))
        self._text.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self._text.setFont(theme.mono_font(self.font().pointSizeF()))
        self._text.document().setDocumentMargin(12)
        self._lay_out()
        self._list.currentRowChanged.connect(self._on_row_changed)
        self._role.currentTextChanged.connect(self._on_role_changed)
        self._text.textChanged.connect(self._on_text_changed)
        self.setFocusProxy(self._text)
        self.follow_theme()

    def messages(self) -> tuple[Message, ...]:
        """Return all messages in their current form."""
        return self._messages

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Start with messages, of which the last is selected."""
        self._messages = tuple(messages)
        self._fill(len(self._messages) - 1)

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme.paint_page(self._text)
        for row in range(self._list.count()):
            self._label(row)

    def _fill(self, row: int) -> None:
        self._loading = True
        self._list.clear()
        for index in range(len(self._messages)):
            self._list.addItem(QtWidgets.QListWidgetItem())
            self._label(index)
        self._loading = False
        self._list.setCurrentRow(row)
        self._on_row_changed(row)

    def _label(self, row: int) -> None:
        message = self._messages[row]
        item = self._list.item(row)
        item.setText(f"{message.role}   {one_line(message.text, 60)}")
        item.setForeground(QColor(theme.role_color(theme.theme_in_use(), message.role)))

    def _on_row_changed(self, row: int) -> None:
        if self._loading or not 0 <= row < len(self._messages):
            return
        message = self._messages[row]
        self._loading = True
        self._role.setCurrentText(message.role)
        self._text.setPlainText(message.text)
        kept = [part for part in message.parts if isinstance(part, MediaPart | ToolCallPart)]
        self._note.setText(tr("Its calls and files stay unchanged.") if kept else "")
        self._loading = False

    def _on_text_changed(self) -> None:
        self._change(lambda message: in_place.with_text(message, self._text.toPlainText()))

    def _on_role_changed(self, role: str) -> None:
        self._change(lambda message: in_place.with_role(message, cast("Role", role)))

    def _change(self, edit: Callable[[Message], Message]) -> None:
        row = self._list.currentRow()
        if self._loading or not 0 <= row < len(self._messages):
            return
        changed = edit(self._messages[row])
        self._messages = (*self._messages[:row], changed, *self._messages[row + 1 :])
        self._label(row)
        self.changed.emit()

    def _on_add(self) -> None:
        row = self._list.currentRow() + 1
        self._messages = (*self._messages[:row], in_place.new_message(), *self._messages[row:])
        self._fill(row)
        self.changed.emit()
        self._text.setFocus()

    def _on_remove(self) -> None:
        row = self._list.currentRow()
        if row >= 0:
            self._messages = in_place.without(self._messages, row)
            self._fill(min(row, len(self._messages) - 1))
            self.changed.emit()

    def _lay_out(self) -> None:
        head = kit.row_of(
            self._role, (self._note, 1), self._add, self._remove, margins=(8, 0, 8, 4), spacing=8
        )
        side = QtWidgets.QWidget()
        kit.column_of(head, (self._text, 1), on=side, margins=0, spacing=0)
        splitter = kit.split_of(self._list, side, stretch=(0, 1), sizes=(220, 500))
        kit.column_of(splitter, on=self, margins=0)


_CODE: tuple[in_place.EditKind, ...] = ("arguments", "reply", "observation", "answer_call")
_ALSO: dict[in_place.EditKind, str] = {
    "messages": marked("Also in the file"),
    "reply": marked("Also in the file, as an example"),
    "answer": marked("Also in the file, as an example"),
    "observation": marked("Also as the tool's mock"),
    "answer_call": marked("Also as the tool's mock"),
}
"""Labels of permanent effects of edits.

Messages change the prompt's text, a reply or answer becomes an example in it, and a result becomes
the tool's mock. Edits of arguments, reasons and remarks have no such effect.
"""


class _TextField(QtWidgets.QPlainTextEdit):
    """Plain text; Tab moves the focus unless code is edited."""

    def event(self, event: QEvent) -> bool:
        """Leave Ctrl+Return and Esc to the surrounding editor instead of window shortcuts."""
        wanted = (Qt.Key.Key_Escape, Qt.Key.Key_Return, Qt.Key.Key_Enter)
        if (
            event.type() == QEvent.Type.ShortcutOverride
            and isinstance(event, QKeyEvent)
            and event.key() in wanted
            and event.modifiers() == Qt.KeyboardModifier.NoModifier
        ):
            return False
        return super().event(event)


class EditInPlace(theme.FollowsTheme, QtWidgets.QWidget):
    """Editor for one edit; shows at once whether the text is invalid."""

    applied = Signal(in_place.EditSpec, in_place.EditResult, str)  # EditSpec, EditResult, AfterEdit
    request_file = Signal(
        in_place.EditSpec, in_place.EditResult
    )  # EditSpec, EditResult: applied to the file as well
    cancelled = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.spec: in_place.EditSpec | None = None
        """Subject of the edit."""
        self._title = kit.ElidedLabel()
        self._title.setProperty("title", "true")
        self._tool = kit.named(ComboBox(), tr("Tool to call"))
        self._tool.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self._tool.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Fixed, QtWidgets.QSizePolicy.Policy.Fixed
        )
        self.field = _TextField()
        """The text field."""
        self.field.setAccessibleName(tr("Edited text"))
        self.field.setFrameShape(QtWidgets.QFrame.Shape.NoFrame)
        self.field.document().setDocumentMargin(12)
        self._highlighter: JsonHighlighter | None = None
        self._messages = MessagesEditor()
        self._is_error = QtWidgets.QCheckBox(tr("The result is a failure"))
        self.also_file = QtWidgets.QCheckBox()
        self._only_here = kit.toned_label("muted", tr("This run only"))
        self._hint = kit.toned_label("muted")
        self._problem = kit.toned_label("error")
        self._apply = kit.push_button(tr("Apply"), lambda: self._send("stay"))
        self._continue = kit.push_button(tr("Apply and continue"), lambda: self._send("continue"))
        self._step = kit.push_button(tr("Apply and step"), self._on_step)
        self._cancel = kit.push_button(tr("Cancel"), self.cancelled)
        self._lay_out()
        self.field.textChanged.connect(self._check)
        self._messages.changed.connect(self._check)
        self._tool.currentTextChanged.connect(self._check)
        for keys, slot in (
            ("Ctrl+Return", self._on_step),
            ("Ctrl+Enter", self._on_step),
            ("Esc", self.cancelled.emit),
        ):
            shortcut = QShortcut(QKeySequence(keys), self)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
            shortcut.activated.connect(slot)
        self.follow_theme()

    def recolor(self) -> None:
        """Use the colors of the current theme."""
        theme.paint_page(self.field)
        self._set_font()

    def open_spec(self, spec: in_place.EditSpec) -> None:
        """Start an edit."""
        self.spec = spec
        self._title.show_text(spec.title)
        self._title.ensurePolished()
        self._title.setMaximumWidth(self._title.fontMetrics().horizontalAdvance(spec.title) + 4)
        self._hint.setText(spec.hint)
        self._apply.setText(spec.apply or tr("Apply"))
        # Edits that are only sent have no "apply without continuing".
        changes = spec.kind in ("messages", "reply", "arguments", "observation", "told", "answer")
        self._continue.setVisible(changes)
        self._step.setVisible(changes)
        self._apply.setProperty("primary", None if changes else "true")
        self._apply.style().unpolish(self._apply)
        self._apply.style().polish(self._apply)
        words = _ALSO.get(spec.kind, "")
        self.also_file.setText(tr(words) if words else "")
        self.also_file.setVisible(bool(words))
        self.also_file.setChecked(False)
        self._only_here.setVisible(not words)
        self._is_error.setVisible(spec.kind == "observation")
        self._is_error.setChecked(spec.is_error)
        self._tool.setVisible(spec.kind == "arguments" and len(spec.tools) > 1)
        self._tool.clear()
        self._tool.addItems(list(spec.tools))
        self._tool.setCurrentText(spec.tool)
        self._open_text(spec)
        self._check()

    def result(self) -> in_place.EditResult:
        """Return the current text."""
        return in_place.EditResult(
            text=self.field.toPlainText(),
            tool=self._tool.currentText(),
            is_error=self._is_error.isChecked(),
            messages=self._messages.messages(),
        )

    def points_out_draft(self) -> bool:
        """Show that the text is not applied yet and focus it; return False if nothing is edited."""
        if self.spec is None:
            return False
        if self.spec.kind == "messages":
            is_draft = self._messages.messages() != self.spec.messages
        else:
            is_draft = self.field.toPlainText() != self.spec.text
        if is_draft:
            self._problem.setText(tr("This text is not applied yet. First apply or cancel it."))
            self._problem.show()
            self._hint.hide()
            self.field.setFocus()
        return is_draft

    def _set_font(self) -> None:
        """Set the font of code, which a change of the window's style resets."""
        is_code = self.spec is not None and self.spec.kind in _CODE
        size = self.font().pointSizeF()
        self.field.setFont(theme.mono_font(size) if is_code else theme.ui_font(size))

    def _open_text(self, spec: in_place.EditSpec) -> None:
        is_messages = spec.kind == "messages"
        self._messages.setVisible(is_messages)
        self.field.setVisible(not is_messages)
        if is_messages:
            self._messages.show_messages(spec.messages)
            self._messages.setFocus()
            return
        self.field.setAccessibleName(spec.title)
        self._set_font()
        self.field.setTabChangesFocus(not spec.is_json)
        if spec.is_json and self._highlighter is None:
            self._highlighter = JsonHighlighter(self.field.document())
        elif not spec.is_json and self._highlighter is not None:
            self._highlighter.setDocument(None)
            self._highlighter = None
        self.field.setPlainText(spec.text)
        self.field.moveCursor(QTextCursor.MoveOperation.End)
        self.field.setFocus()

    def _check(self) -> None:
        if self.spec is None:
            return
        problem = in_place.problem_of(self.spec, self.result())
        # Before anything is typed, there is nothing to report: the hint stays.
        blamed = bool(problem) and bool(self.field.toPlainText() or self.spec.text)
        self._problem.setText(problem)
        self._problem.setVisible(blamed)
        self._hint.setVisible(not blamed)
        self._apply.setEnabled(not problem)
        self._continue.setEnabled(not problem)
        self._step.setEnabled(not problem)

    def _on_step(self) -> None:
        self._send("step" if self._step.isVisibleTo(self) else "stay")

    def _send(self, then: in_place.AfterEdit) -> None:
        if self.spec is not None and self._apply.isEnabled():
            result = self.result()
            if self.also_file.isVisibleTo(self) and self.also_file.isChecked():
                self.request_file.emit(self.spec, result)
            self.applied.emit(self.spec, result, then)

    def _lay_out(self) -> None:
        self._step.setProperty("primary", "true")
        self._step.setToolTip("Ctrl+Return")
        self.also_file.setToolTip(
            tr("Also apply it after this run; otherwise it applies to this run only")
        )
        self._cancel.setToolTip("Esc")
        head = kit.row_of(margins=(16, 8, 8, 8), spacing=8)
        head.addWidget(self._title, 100)  # up to its own width, and before the stretch
        head.addWidget(self._tool)
        head.addStretch(1)
        buttons = kit.FlowLayout(spacing=8)
        for button in (self._cancel, self._apply, self._continue, self._step):
            buttons.addWidget(button)
        head.addLayout(buttons)
        # Below the buttons: beside them, there was too little room for both.
        keeps = kit.row_of(self._is_error, self.also_file, self._only_here, 1, spacing=16)
        footer = kit.column_of(margins=(16, 4, 8, 8), spacing=4)
        for line in (self._hint, self._problem):
            line.setWordWrap(True)
            footer.addWidget(line)
        footer.addLayout(keeps)
        kit.column_of(
            head, (self.field, 1), (self._messages, 1), footer, on=self, margins=0, spacing=0
        )
