"""A model's id: typed, or taken from the list that the server gave."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent, QMouseEvent
from PySide6.QtWidgets import QCompleter, QLineEdit, QWidget

from studio.application.words import tr
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.labels import named, push_button
from studio.ui.parts.layouts import row_of


def make_editable(combo: ComboBox, placeholder: str) -> None:
    """Let a combo box take typed text beside its list, completed from the list."""
    combo.setEditable(True)
    combo.setLineEdit(_ModelLine())
    combo.setInsertPolicy(ComboBox.InsertPolicy.NoInsert)
    line, completer = combo.lineEdit(), combo.completer()
    if line is not None:
        line.setPlaceholderText(placeholder)
    if completer is not None:
        completer.setCompletionMode(QCompleter.CompletionMode.PopupCompletion)
        completer.setFilterMode(Qt.MatchFlag.MatchContains)


class _ModelLine(QLineEdit):
    """A line edit whose first key replaces its text."""

    _was_entered = False

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Select everything."""
        super().focusInEvent(event)
        self._was_entered = event.reason() == Qt.FocusReason.MouseFocusReason
        self.selectAll()

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Keep everything selected after the click that brought the keyboard here."""
        super().mouseReleaseEvent(event)
        if self._was_entered and not self.hasSelectedText():
            self.selectAll()
        self._was_entered = False


class ModelField(QWidget):
    """An editable list."""

    changed = Signal()
    request_list = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.combo = named(ComboBox(), tr("Model"))
        self.combo.setMinimumContentsLength(16)
        self.combo.setSizeAdjustPolicy(
            ComboBox.SizeAdjustPolicy.AdjustToMinimumContentsLengthWithIcon
        )
        make_editable(self.combo, tr("Id of the model, as the server calls it"))
        self.list = push_button(tr("List models"), self.request_list, takes_enter=False)
        self.list.setToolTip(tr("Ask the server which models it offers"))
        row_of((self.combo, 1), self.list, on=self, margins=0, spacing=8)
        self.setFocusProxy(self.combo)
        self.combo.activated.connect(self.changed)
        line = self.combo.lineEdit()
        if line is not None:
            line.editingFinished.connect(self.changed)

    def value(self) -> str:
        """The id as written."""
        return self.combo.currentText().strip()

    def set_value(self, model: str) -> None:
        """Show an id."""
        self.combo.setCurrentText(model)

    def set_models(self, models: Sequence[str]) -> None:
        """Offer the server's models; what is written stays."""
        written = self.combo.currentText()
        self.combo.clear()
        self.combo.addItems(list(models))
        self.combo.setCurrentIndex(self.combo.findText(written))
        self.combo.setCurrentText(written)
