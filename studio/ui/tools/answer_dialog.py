"""The person answers a tool's call: the mock "ask me"."""

from __future__ import annotations

import json

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QDialog,
    QHBoxLayout,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QVBoxLayout,
    QWidget,
)

from studio.ui.parts.json_view import JsonView
from studio.ui.style.theme import Theme
from studio.viewmodels.tools.questions import Question


class AnswerDialog(QDialog):
    """Shows a call and takes its answer; closing it tells the caller that nobody answered."""

    answered = Signal(int, str, bool)  # question, the answer, whether it tells of a failure

    def __init__(self, question: Question, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.question = question
        self._is_given = False
        self.setWindowTitle(self.tr("Answer for {tool}").format(tool=question.tool))
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setMinimumWidth(440)
        head = QLabel(
            self.tr("{tool} was called, and you answer it. The arguments:").format(
                tool=question.tool
            ),
            self,
        )
        head.setTextFormat(Qt.TextFormat.PlainText)
        head.setWordWrap(True)
        arguments = JsonView(theme, self)
        arguments.setAccessibleName(self.tr("Arguments of the call"))
        arguments.show_json(json.dumps(question.arguments, ensure_ascii=False, indent=2))
        arguments.grow(12)
        self.text = QPlainTextEdit(self)
        self.text.setAccessibleName(self.tr("Your answer"))
        self.text.setPlaceholderText(self.tr("What the tool answers"))
        self.text.setTabChangesFocus(True)
        self.give = QPushButton(self.tr("Answer"), self)
        self.give.setDefault(True)
        self.give.clicked.connect(lambda: self._give(is_error=False))
        fail = QPushButton(self.tr("Answer as a failure"), self)
        fail.clicked.connect(lambda: self._give(is_error=True))
        buttons = QHBoxLayout()
        buttons.addStretch(1)
        buttons.addWidget(fail)
        buttons.addWidget(self.give)
        layout = QVBoxLayout(self)
        for widget in (head, arguments, self.text):
            layout.addWidget(widget)
        layout.addLayout(buttons)
        self.text.setFocus()

    def withdraw(self) -> None:
        """Nobody waits for the answer any more."""
        self._is_given = True
        self.close()

    def done(self, result: int) -> None:
        """Closed without an answer: the call fails, it must not wait for ever."""
        if not self._is_given:
            self._is_given = True
            self.answered.emit(self.question.id, self.tr("The person gave no answer."), True)
        super().done(result)

    def _give(self, *, is_error: bool) -> None:
        self._is_given = True
        self.answered.emit(self.question.id, self.text.toPlainText(), is_error)
        self.accept()
