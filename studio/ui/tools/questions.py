"""Questions to the user: the result of a call, and input that an MCP server requests."""

import json

from PySide6.QtCore import Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QLabel, QPlainTextEdit, QPushButton, QWidget

from studio.application.words import tr
from studio.core.text.invisible import reveal
from studio.core.tools.mcp.connection import InputGiven
from studio.ui.inputs.schema_form import SchemaForm
from studio.ui.parts import kit
from studio.ui.parts.text_views import JsonView
from studio.ui.style.theme import paint_text
from studio.viewmodels.tools.calls import InputQuestion, Question

_FIELD, _MOST_HEIGHT = 64, 448
"""Height of a field with its title, and maximum initial height of a form, in pixels."""


class _QuestionDialog(kit.ClosingDialog):
    """A waiting question; closing the dialog also answers it, so that its caller does not hang."""

    def __init__(self, title: str, width: int, parent: QWidget) -> None:
        super().__init__(parent, title)
        self._is_given = False
        self.setMinimumWidth(width)

    def withdraw(self) -> None:
        """Close a question whose answer is no longer needed."""
        self._is_given = True
        self.close()

    def done(self, result: int) -> None:
        """Emit the answer for a dialog that is closed without one."""
        if not self._is_given:
            self._is_given = True
            self._refuse()
        super().done(result)

    def _refuse(self) -> None:
        raise NotImplementedError


class AnswerDialog(_QuestionDialog):
    """Shows a call and asks for its result; closing it reports that there is none."""

    answered = Signal(int, str, bool)  # question, the answer, whether it is a failure

    def __init__(self, question: Question, parent: QWidget) -> None:
        super().__init__(tr("Answer for {tool}").format(tool=question.tool), 440, parent)
        self.question = question
        head = QLabel(
            tr("{tool} was called, and you give the result. The arguments:").format(
                tool=question.tool
            ),
            self,
            textFormat=Qt.TextFormat.PlainText,
            wordWrap=True,
        )
        arguments = kit.named(JsonView(self), tr("Arguments of the call"))
        arguments.show_json(json.dumps(question.arguments, ensure_ascii=False, indent=2))
        arguments.grow(12)
        self.text = QPlainTextEdit(
            self, placeholderText=tr("Result of the tool"), tabChangesFocus=True
        )
        self.text.setAccessibleName(tr("Your answer"))
        self.give = QPushButton(tr("Answer", "verb"), self, default=True)
        self.give.clicked.connect(lambda: self._give(is_error=False))
        fail = QPushButton(tr("Answer as a failure"), self)
        fail.clicked.connect(lambda: self._give(is_error=True))
        buttons = kit.row_of(1, fail, self.give)
        kit.column_of(head, arguments, self.text, buttons, on=self)
        self.text.setFocus()

    def _refuse(self) -> None:
        self.answered.emit(self.question.id, tr("The user gave no answer."), True)

    def _give(self, *, is_error: bool) -> None:
        self._is_given = True
        self.answered.emit(self.question.id, self.text.toPlainText(), is_error)
        self.accept()


class InputDialog(_QuestionDialog):
    """A question of a server: a form, or a page to open. Closing it cancels the question."""

    given = Signal(int, InputGiven)  # question, the user's input

    def __init__(self, question: InputQuestion, parent: QWidget) -> None:
        super().__init__(tr("A tool asks"), 460, parent)
        self.question = question
        wanted = question.wanted
        head = kit.toned_label(
            "muted", tr("The MCP server {server} asks:").format(server=wanted.server), parent=self
        )
        self.message = QLabel(reveal(wanted.message), self)
        for label in (head, self.message):
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setWordWrap(True)
        self.form = SchemaForm()
        self.remark = kit.toned_label("muted", parent=self, wraps=True, is_plain=True)
        self.remark.setText(
            tr("It receives what you enter. Never enter a password or key in a form of a server.")
        )
        self.accept_button = kit.push_button(tr("Give"), self._give, parent=self, is_default=True)
        self.decline_button = QPushButton(tr("Decline"), self, autoDefault=False)
        self.decline_button.clicked.connect(lambda: self._answer(InputGiven("decline")))
        if not wanted.url:
            self.form.set_schema(wanted.schema)
        self._arrange(head)
        if wanted.url:
            self._show_page(wanted.url)

    def _refuse(self) -> None:
        self.given.emit(self.question.id, InputGiven("cancel"))

    def _arrange(self, head: QLabel) -> None:
        area = kit.scroll_area(self.form, parent=self)
        area.setVisible(not self.question.wanted.url)
        area.setMinimumHeight(min(_FIELD * max(len(self.form.rows), 3), _MOST_HEIGHT))
        buttons = kit.row_of(1, self.decline_button, self.accept_button)
        kit.column_of(
            head,
            self.message,
            (area, 1),
            self.remark,
            buttons,
            on=self,
            margins=(20, 16, 20, 16),
            spacing=12,
        )

    def _show_page(self, address: str) -> None:
        """Ask whether to open a page in the browser."""
        self.remark.setText(
            tr("The server asks you to open this page in your browser:") + "\n" + reveal(address)
        )
        self.accept_button.setText(tr("Open the page"))
        self.accept_button.setEnabled(QUrl(address).scheme() in ("http", "https"))

    def _give(self) -> None:
        wanted = self.question.wanted
        if wanted.url:
            QDesktopServices.openUrl(QUrl(wanted.url))
            self._answer(InputGiven("accept"))
            return
        if self.form.problems():
            paint_text(self.remark, "error")
            self.remark.setText(tr("Some values need attention."))
            return
        self._answer(InputGiven("accept", self.form.values()))

    def _answer(self, given: InputGiven) -> None:
        self._is_given = True
        self.given.emit(self.question.id, given)
        self.accept()
