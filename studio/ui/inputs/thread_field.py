"""A conversation as a list of turns."""

from __future__ import annotations

import json
from collections.abc import Mapping

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import (
    QLabel,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.application.inputs.check import read_json
from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue
from studio.application.words import tr
from studio.core.text.values import Json, objects_of
from studio.ui.inputs.fields import FieldEditor
from studio.ui.inputs.growing_text import GrowingText
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.icon_button import icon_button
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_text, role_color
from studio.ui.style.icons import icon
from studio.ui.style.in_use import theme_in_use

_ROLES = ("user", "assistant", "system", "developer", "tool")


class _Turn(QWidget):
    """One message: role, text, and the keys beside them, which are kept."""

    changed = Signal()
    removed = Signal(QWidget)  # itself

    def __init__(self, message: Mapping[str, Json]) -> None:
        super().__init__()
        self._message = dict(message)
        role = message.get("role")
        content = message.get("content", "")
        self._is_text = isinstance(content, str)
        self.role = ComboBox()
        self.role.addItems(_ROLES)
        if isinstance(role, str) and role not in _ROLES:
            self.role.addItem(role)
        self.role.setCurrentText(str(role or "user"))
        self.role.setAccessibleName(tr("Role of the message"))
        self.text = GrowingText()
        self.text.setAccessibleName(tr("Text of the message"))
        self.text.setPlaceholderText(tr("Text of the message; Ctrl+Enter adds the next one"))
        shown = content if isinstance(content, str) else json.dumps(content, ensure_ascii=False)
        self.text.setPlainText(shown)
        remove = icon_button("x", tr("Remove this message"))
        remove.clicked.connect(lambda: self.removed.emit(self))
        header = row_of(self.role, 1, remove)
        column_of(header, self.text, on=self, margins=(12, 2, 0, 2), spacing=4)
        self.role.currentTextChanged.connect(self._changed)
        self.text.textChanged.connect(self._changed)

    def message(self) -> dict[str, Json]:
        """The message as it stands."""
        text = self.text.toPlainText()
        content: Json = text
        if not self._is_text:
            entry = read_json(text)
            if entry.value is not ABSENT:
                content = entry.value
        return {**self._message, "role": self.role.currentText(), "content": content}

    def paintEvent(self, event: QPaintEvent) -> None:
        """The stripe in the role's color, as on the cards of the preview."""
        color = QColor(role_color(theme_in_use(), self.role.currentText()))
        QPainter(self).fillRect(2, 4, 3, self.height() - 8, color)

    def _changed(self, *_: object) -> None:
        self.update()
        self.changed.emit()


class ThreadField(FieldEditor):
    """Turns one under the other; `Add` gives the floor to whoever comes next."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self._given = False
        self.turns: list[_Turn] = []
        self._summary = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self._list = QVBoxLayout()
        self._list.setSpacing(8)
        self.add_button = QPushButton(tr("Add message"))
        self.add_button.setIcon(icon("plus"))
        self.add_button.clicked.connect(self._add_clicked)
        is_default = spec.fallback_origin == "default"
        self.start_button = QPushButton(
            tr("Edit the default") if is_default else tr("Edit the sample")
        )
        self.start_button.clicked.connect(lambda: self.request_sample.emit(spec.name))
        buttons = row_of(self.add_button, self.start_button, 1)
        column_of(self._summary, self._list, buttons, on=self, margins=0, spacing=8)
        self._describe()
        paint_text(self._summary, "muted")

    def value(self) -> FieldValue:
        """The messages."""
        return [turn.message() for turn in self.turns] if self._given else ABSENT

    def set_value(self, value: FieldValue) -> None:
        """Show messages."""
        self._given = value is not ABSENT
        for turn in tuple(self.turns):
            self._drop(turn)
        for message in objects_of(value):
            self._append(message)
        self._describe()

    def _append(self, message: Mapping[str, Json]) -> _Turn:
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
            text = self._fallback_words(sample)
        else:
            text = tr("No conversation yet.")
        self._summary.setText(text)
        self._summary.setVisible(bool(text))
        self.start_button.setVisible(not self._given and sample > 0)

    def _fallback_words(self, count: int) -> str:
        if self.spec.fallback_origin == "default":
            if count == 1:
                return tr("The default is a conversation of 1 message.")
            return tr("The default is a conversation of {count} messages.").format(count=count)
        if count == 1:
            return tr("A sample conversation of 1 message is shown in the preview.")
        return tr("A sample conversation of {sample} messages is shown in the preview.").format(
            sample=count
        )
