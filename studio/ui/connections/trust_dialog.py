"""Asking once before a prompt's text goes to an endpoint that the prompt itself chose."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QPushButton, QWidget

from studio.application.words import tr
from studio.core.models.choice import ModelChoice
from studio.core.models.secrets import environment_name
from studio.ui.parts.labels import Drawing
from studio.ui.parts.layouts import ClosingDialog, column_of, row_of
from studio.ui.style.colors import paint_text


class TrustDialog(ClosingDialog):
    """Allow once, allow always, or do not send; closing it does not send."""

    allowed = Signal(str, bool)  # endpoint, whether it is to be remembered

    def __init__(self, choice: ModelChoice, parent: QWidget) -> None:
        super().__init__(parent, tr("Send to a new endpoint?"))
        self.setMinimumWidth(460)
        origin = choice.untrusted
        picture = Drawing("shield-check", 32, "warning")
        self.title = QLabel(tr("This prompt wants to send to"))
        self.endpoint = QLabel(origin, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.endpoint.setStyleSheet("QLabel { font-size: 13pt; font-weight: 600; }")
        self.explanation = QLabel(_explained(choice), textFormat=Qt.TextFormat.PlainText)
        self.explanation.setWordWrap(True)
        paint_text(self.explanation, "muted")
        self.once = QPushButton(tr("Allow once"))
        self.always = QPushButton(tr("Always allow"))
        self.refuse = QPushButton(tr("Do not send"), default=True)
        words = column_of(self.title, self.endpoint, self.explanation, spacing=8)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        buttons = row_of(1, self.always, self.once, self.refuse)
        column_of(top, buttons, on=self, margins=(20, 20, 20, 16), spacing=16)
        self.once.clicked.connect(lambda: self._allow(origin, always=False))
        self.always.clicked.connect(lambda: self._allow(origin, always=True))
        self.refuse.clicked.connect(self.reject)
        self.refuse.setFocus()

    def _allow(self, origin: str, *, always: bool) -> None:
        self.accept()
        self.allowed.emit(origin, always)


def _explained(choice: ModelChoice) -> str:
    """Describe what would be sent there."""
    sent = tr("The messages, the values of the inputs and what tools answer would go there")
    variable = environment_name(choice.connection.key)
    if variable is not None:
        sent += tr(", with the key in the variable {variable}").format(variable=variable)
    return tr("{sent}. The address comes from the file, and you have not allowed it yet.").format(
        sent=sent
    )
