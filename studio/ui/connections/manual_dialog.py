"""The user is the model: the request above, the reply below."""

from __future__ import annotations

from collections.abc import Iterable
from typing import assert_never

from PySide6.QtCore import QCoreApplication, Qt, Signal
from PySide6.QtGui import (
    QColor,
    QFont,
    QKeySequence,
    QShortcut,
    QShowEvent,
    QTextBlockFormat,
    QTextCharFormat,
    QTextCursor,
)
from PySide6.QtWidgets import (
    QDialog,
    QFrame,
    QHBoxLayout,
    QLabel,
    QMessageBox,
    QPlainTextEdit,
    QPushButton,
    QSplitter,
    QTextEdit,
    QVBoxLayout,
    QWidget,
)

from studio.application.connections.manual_reply import example_arguments, reply_of, reply_problem
from studio.core.models.base import ModelRequest
from studio.core.models.manual import ManualQuestion
from studio.core.prompty.messages import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.wire.reply import Reply
from studio.ui.parts.boxes import ComboBox
from studio.ui.parts.json_view import JsonHighlighter
from studio.ui.style.colors import paint_page, paint_text, role_color
from studio.ui.style.in_use import FollowsTheme, theme_in_use
from studio.ui.style.theme import mono_font

_LONGEST = 200_000
_MARGIN = 14


class ManualRequestView(FollowsTheme, QTextEdit):
    """Role by role; can be selected and copied, not changed."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._request: ModelRequest | None = None
        self._last = 0
        self.setReadOnly(True)
        self.setAcceptRichText(False)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setAccessibleName(self.tr("Messages of the request"))
        self.document().setDocumentMargin(_MARGIN)
        self.setLineWrapMode(QTextEdit.LineWrapMode.WidgetWidth)
        self.follow_theme()

    def show_request(self, request: ModelRequest) -> None:
        """Show a request; its last message is in view once it is shown."""
        self._request = request
        self.clear()
        cursor = QTextCursor(self.document())
        for number, message in enumerate(request.messages):
            self._last = cursor.position() + (1 if number else 0)
            self._write(cursor, message, is_first=number == 0)
        self._show_last()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        if self._request is not None:
            self.show_request(self._request)

    def showEvent(self, event: QShowEvent) -> None:
        """Only now it is known how much room there is."""
        super().showEvent(event)
        self._show_last()

    def _show_last(self) -> None:
        """Bring the last message's head to the top, or the end into view where it is short."""
        cursor = QTextCursor(self.document())
        cursor.setPosition(self._last)
        self.setTextCursor(cursor)
        bar = self.verticalScrollBar()
        bar.setValue(bar.value() + self.cursorRect().top() - _MARGIN)

    def _write(self, cursor: QTextCursor, message: Message, *, is_first: bool) -> None:
        theme = theme_in_use()
        head = QTextCharFormat()
        head.setForeground(QColor(role_color(theme, message.role)))
        head.setFontWeight(QFont.Weight.DemiBold)
        apart = QTextBlockFormat()
        apart.setTopMargin(0 if is_first else 14)
        if is_first:
            cursor.setBlockFormat(apart)
        else:
            cursor.insertBlock(apart)
        cursor.insertText(message.role, head)
        body = QTextCharFormat()
        body.setFont(mono_font(self.font().pointSizeF()))
        body.setForeground(QColor(theme.text))
        close = QTextBlockFormat()
        close.setTopMargin(3)
        for text in _texts(message):
            cursor.insertBlock(close)
            # One block for a part: blocks stand apart, its lines do not.
            cursor.insertText(text[:_LONGEST].replace("\n", "\u2028"), body)


def _texts(message: Message) -> Iterable[str]:
    for part in message.parts:
        match part:
            case TextPart(text=text):
                yield text
            case MediaPart():
                yield f"[{part.kind}: {part.source[:80]}]"
            case ToolCallPart():
                yield QCoreApplication.translate("RequestView", "calls {name} {arguments}").format(
                    name=part.name, arguments=part.arguments
                )
            case ToolResultPart():
                yield part.text
            case _:
                assert_never(part)


class ManualDialog(FollowsTheme, QDialog):
    """Not modal: the run can be watched, and stopped, beside it."""

    replied = Signal(ManualQuestion, Reply)  # ManualQuestion, Reply
    declined = Signal(ManualQuestion)

    def __init__(self, question: ManualQuestion, parent: QWidget) -> None:
        super().__init__(parent)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        self.setWindowTitle(self.tr("You are the model"))
        self.resize(720, 640)
        self._question = question
        self._over = False
        request = question.request
        self.request = ManualRequestView()
        self.tool = ComboBox()
        self.text = QPlainTextEdit()
        self.arguments = QPlainTextEdit()
        self._colors = JsonHighlighter(self.arguments.document())
        self._arguments_title = QLabel(self.tr("Arguments, as JSON"))
        self.problem = QLabel()
        self.send = QPushButton(self.tr("Reply"))
        self.decline = QPushButton(self.tr("No reply"))
        self._lay_out(request)
        self._connect()
        self.request.show_request(request)
        paint_text(self.problem, "muted")
        self.follow_theme()
        self._on_tool()
        self.text.setFocus()

    @property
    def question(self) -> ManualQuestion:
        """What is asked."""
        return self._question

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        for field in (self.text, self.arguments):
            paint_page(field)

    def end(self) -> None:
        """The question is over elsewhere: the run was stopped."""
        self._over = True
        self.reject()

    def reject(self) -> None:
        """Closing leaves the request without a reply; what was typed is asked about first."""
        if self._over:
            super().reject()
        elif not self.text.toPlainText().strip():
            self._on_declined()
        else:
            box = QMessageBox(self)
            box.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
            box.setIcon(QMessageBox.Icon.NoIcon)
            box.setWindowTitle(self.tr("You are the model"))
            box.setText(self.tr("Leave the request without a reply?"))
            box.setInformativeText(
                self.tr("What you typed is lost, and this call of the model fails.")
            )
            leave = box.addButton(self.tr("Leave"), QMessageBox.ButtonRole.DestructiveRole)
            box.addButton(self.tr("Go on writing"), QMessageBox.ButtonRole.RejectRole)
            leave.clicked.connect(self._on_declined)
            box.open()

    def _on_declined(self) -> None:
        self.declined.emit(self._question)
        self.end()

    def _on_send(self) -> None:
        if self.send.isEnabled():
            self._over = True
            self.replied.emit(self._question, reply_of(*self._written()))
            self.accept()

    def _on_tool(self) -> None:
        spec = self.tool.currentData()
        self.arguments.setVisible(spec is not None)
        self._arguments_title.setVisible(spec is not None)
        if spec is not None:
            self.arguments.setPlainText(example_arguments(spec.parameters))
            self.arguments.setFocus()
        self.text.setPlaceholderText(
            self.tr("Text beside the call; may be empty")
            if spec
            else self.tr("Type or paste the reply")
        )
        self._check()

    def _check(self) -> None:
        problem = reply_problem(*self._written())
        self.problem.setText(problem)
        self.send.setEnabled(not problem)

    def _written(self) -> tuple[str, str, str]:
        spec = self.tool.currentData()
        name = spec.name if spec is not None else ""
        return self.text.toPlainText(), name, self.arguments.toPlainText()

    def _connect(self) -> None:
        self.tool.activated.connect(self._on_tool)
        self.text.textChanged.connect(self._check)
        self.arguments.textChanged.connect(self._check)
        self.send.clicked.connect(self._on_send)
        self.decline.clicked.connect(self.reject)
        for keys in ("Ctrl+Return", "Ctrl+Enter"):
            QShortcut(QKeySequence(keys), self).activated.connect(self._on_send)

    def _fill(self, request: ModelRequest) -> None:
        self.tool.setAccessibleName(self.tr("What you reply with"))
        self.tool.addItem(self.tr("Text"), None)
        # The text protocols ask for tools in words: their calls are typed as text.
        if request.protocol == "native":
            for spec in request.tools:
                self.tool.addItem(self.tr("A call of {name}").format(name=spec.name), spec)
        self.tool.setVisible(self.tool.count() > 1)

    def _lay_out(self, request: ModelRequest) -> None:
        self._fill(request)
        for field, name in (
            (self.text, self.tr("Reply")),
            (self.arguments, self.tr("Arguments as JSON")),
        ):
            field.setAccessibleName(name)
            field.setFrameShape(QFrame.Shape.NoFrame)
            field.setFont(mono_font(self.font().pointSizeF()))
            field.document().setDocumentMargin(12)
        self.arguments.setTabChangesFocus(False)
        self.text.setTabChangesFocus(True)
        self._arguments_title.setProperty("title", True)
        self._arguments_title.setContentsMargins(16, 8, 16, 4)
        self.problem.setWordWrap(True)
        self.send.setProperty("primary", "true")
        self.send.setToolTip("Ctrl+Return")
        for button in (self.send, self.decline):
            button.setAutoDefault(False)
        count = len(request.messages)
        words = (
            self.tr("Request {number}: 1 message")
            if count == 1
            else self.tr("Request {number}: {count} messages")
        )
        title = QLabel(words.format(number=request.iteration, count=count))
        title.setProperty("title", True)
        title.setContentsMargins(16, 8, 16, 8)
        lower = QWidget()
        head = QHBoxLayout()
        head.setContentsMargins(16, 8, 16, 4)
        heading = QLabel(self.tr("Your reply"))
        heading.setProperty("title", True)
        head.addWidget(heading)
        head.addStretch(1)
        head.addWidget(self.tool)
        column = QVBoxLayout(lower)
        column.setContentsMargins(0, 0, 0, 0)
        column.setSpacing(0)
        column.addLayout(head)
        column.addWidget(self.text, 1)
        column.addWidget(self._arguments_title)
        column.addWidget(self.arguments, 1)
        splitter = QSplitter(Qt.Orientation.Vertical)
        splitter.setChildrenCollapsible(False)
        splitter.addWidget(self.request)
        splitter.addWidget(lower)
        splitter.setSizes([330, 230])
        footer = QHBoxLayout()
        footer.setContentsMargins(16, 8, 16, 12)
        footer.setSpacing(8)
        footer.addWidget(self.problem, 1)
        footer.addWidget(self.decline)
        footer.addWidget(self.send)
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(title)
        box.addWidget(splitter, 1)
        box.addLayout(footer)
