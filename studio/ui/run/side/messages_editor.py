"""Editing all messages of a request: a list at the left, the chosen one's role and text beside."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor
from PySide6.QtWidgets import (
    QFrame,
    QLabel,
    QListWidget,
    QListWidgetItem,
    QPlainTextEdit,
    QSplitter,
    QWidget,
)

from studio.application.run.edits.in_place import new_message, with_role, with_text, without
from studio.core.prompty.messages import MediaPart, Message, Role, ToolCallPart
from studio.core.text.shortened import one_line
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.icon_button import icon_button
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_page, paint_text, role_color
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.style.theme import mono_font

_ROLES: tuple[Role, ...] = ("system", "developer", "user", "assistant", "tool")


class MessagesEditor(FollowsTheme, QWidget):
    """Change, add and remove messages."""

    changed = Signal()

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._messages: tuple[Message, ...] = ()
        self._loading = False
        self._list = QListWidget()
        self._list.setAccessibleName(self.tr("Messages"))
        self._list.setFrameShape(QFrame.Shape.NoFrame)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._role = ComboBox()
        self._role.addItems(list(_ROLES))
        self._role.setAccessibleName(self.tr("Role of the message"))
        self._add = icon_button("plus", self.tr("Add a message after this one"))
        self._add.setAccessibleName(self.tr("Add a message"))
        self._remove = icon_button("trash-2", self.tr("Remove this message"))
        self._note = QLabel()
        self._text = QPlainTextEdit()
        self._text.setFrameShape(QFrame.Shape.NoFrame)
        self._text.setFont(mono_font(self.font().pointSizeF()))
        self._text.setAccessibleName(self.tr("Text of the message"))
        self._text.document().setDocumentMargin(12)
        self._lay_out()
        self._list.currentRowChanged.connect(self._on_row_changed)
        self._role.currentTextChanged.connect(self._on_role_changed)
        self._text.textChanged.connect(self._on_text_changed)
        self._add.clicked.connect(self._on_add)
        self._remove.clicked.connect(self._on_remove)
        self.setFocusProxy(self._text)
        paint_text(self._note, "muted")
        self.follow_theme()

    def messages(self) -> tuple[Message, ...]:
        """All messages as they stand now."""
        return self._messages

    def show_messages(self, messages: Sequence[Message]) -> None:
        """Begin with these; the last one is chosen."""
        self._messages = tuple(messages)
        self._fill(len(self._messages) - 1)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        paint_page(self._text)
        for row in range(self._list.count()):
            self._label(row)

    def _fill(self, row: int) -> None:
        self._loading = True
        self._list.clear()
        for index in range(len(self._messages)):
            self._list.addItem(QListWidgetItem())
            self._label(index)
        self._loading = False
        self._list.setCurrentRow(row)
        self._on_row_changed(row)

    def _label(self, row: int) -> None:
        message = self._messages[row]
        item = self._list.item(row)
        item.setText(f"{message.role}   {one_line(message.text, 60)}")
        item.setForeground(QColor(role_color(theme_in_use(), message.role)))

    def _on_row_changed(self, row: int) -> None:
        if self._loading or not 0 <= row < len(self._messages):
            return
        message = self._messages[row]
        self._loading = True
        self._role.setCurrentText(message.role)
        self._text.setPlainText(message.text)
        kept = [part for part in message.parts if isinstance(part, MediaPart | ToolCallPart)]
        self._note.setText(self.tr("Its calls and files stay as they are.") if kept else "")
        self._loading = False

    def _on_text_changed(self) -> None:
        self._change(lambda message: with_text(message, self._text.toPlainText()))

    def _on_role_changed(self, role: str) -> None:
        self._change(lambda message: with_role(message, cast("Role", role)))

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
        self._messages = (*self._messages[:row], new_message(), *self._messages[row:])
        self._fill(row)
        self.changed.emit()
        self._text.setFocus()

    def _on_remove(self) -> None:
        row = self._list.currentRow()
        if row >= 0:
            self._messages = without(self._messages, row)
            self._fill(min(row, len(self._messages) - 1))
            self.changed.emit()

    def _lay_out(self) -> None:
        head = row_of(
            self._role, (self._note, 1), self._add, self._remove, margins=(8, 0, 8, 4), spacing=8
        )
        side = QWidget()
        column_of(head, (self._text, 1), on=side, margins=0, spacing=0)
        splitter = QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        splitter.addWidget(self._list)
        splitter.addWidget(side)
        splitter.setStretchFactor(1, 1)
        splitter.setSizes([220, 500])
        column_of(splitter, on=self, margins=0)
