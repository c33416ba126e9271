"""Asking once before a prompt's text goes to an endpoint that the prompt itself chose."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QLabel, QWidget

from studio.application.words import tr
from studio.core.models.choice import ModelChoice
from studio.core.models.secrets import environment_name
from studio.ui.parts.labels import Drawing, push_button, toned_label
from studio.ui.parts.layouts import ClosingDialog, column_of, row_of


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
        self.explanation = toned_label("muted", _explained(choice), wraps=True, is_plain=True)
        self.once = push_button(tr("Allow once"), lambda: self._allow(origin, always=False))
        self.always = push_button(tr("Always allow"), lambda: self._allow(origin, always=True))
        self.refuse = push_button(tr("Do not send"), self.reject, is_default=True)
        words = column_of(self.title, self.endpoint, self.explanation, spacing=8)
        top = QHBoxLayout()
        top.setSpacing(16)
        top.addWidget(picture, 0, Qt.AlignmentFlag.AlignTop)
        top.addLayout(words, 1)
        buttons = row_of(1, self.always, self.once, self.refuse)
        column_of(top, buttons, on=self, margins=(20, 20, 20, 16), spacing=16)
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
