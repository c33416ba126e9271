"""Fields of a provider, and the models that it offers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import get_args

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QLabel,
    QLineEdit,
    QListWidget,
    QListWidgetItem,
    QWidget,
)

from studio.application.connections.provider_start import (
    Ask,
    ProviderAnswers,
    ProviderStart,
    tidied_key,
)
from studio.application.words import tr
from studio.ui.parts.fields import FieldForm
from studio.ui.parts.layouts import column_of


class ProviderFields(QWidget):
    """A line for each thing that is asked for, and below them the list of models."""

    changed = Signal()
    entered = Signal()  # Return was pressed in a line: all that is needed may stand there
    model_taken = Signal()  # a model was chosen for good: double click, or Return

    def __init__(self) -> None:
        super().__init__()
        self._listed: tuple[str, ...] = ()
        self._start: ProviderStart | None = None
        self.hint = _words()
        self.hint.setText(tr("Choose where your model answers."))
        self.lines = FieldForm("provider")
        self.address, self.key, self.deployment, self.model = (
            self.lines.widget(key, QLineEdit) for key in ("address", "key", "deployment", "model")
        )
        self.key.setEchoMode(QLineEdit.EchoMode.Password)
        self.note = _words()
        self.models = QListWidget()
        self.models.setAccessibleName(tr("Models"))
        self.models.setUniformItemSizes(True)
        self.form = self.lines.laid_out()
        self.form.setHorizontalSpacing(12)
        self.form.setVerticalSpacing(8)
        column_of(self.hint, self.form, self.note, (self.models, 1), on=self, margins=0, spacing=12)
        self.place = QWidget(self)
        """Placeholder below the button, in the room of the models."""
        self._connect()
        self._show_lines(())

    def show_start(self, start: ProviderStart) -> None:
        """Ask for what a provider needs."""
        self._start = start
        self.lines.set_values({"address": start.connection.base_url})
        self.hint.setText(self._hint(start))
        self.key.setPlaceholderText(
            tr("The one in {variable}; paste another to use that").format(variable=start.variable)
            if start.variable
            else tr("Paste it here: it goes into the system's key store")
        )
        self.say("")
        self.show_models((), "", may_be_typed=False)
        self._show_lines(start.asks)

    def focus_on(self, ask: Ask) -> None:
        """Put the keyboard where something is to be written."""
        self.lines.widgets[ask].setFocus()

    def answers(self) -> ProviderAnswers:
        """Return the contents of the fields."""
        is_azure = self._start is not None and "deployment" in self._start.asks
        model = (self.deployment if is_azure else self.model).text().strip()
        if not is_azure and self._listed and model not in self._listed:
            model = ""  # words that the list is filtered by
        return ProviderAnswers(self.address.text().strip(), tidied_key(self.key.text()), model)

    def say(self, text: str) -> None:
        """Say what is missing; empty for nothing."""
        self.note.setText(text)
        self.note.setVisible(bool(text))

    def show_models(self, models: Sequence[str], usual: str, *, may_be_typed: bool = True) -> None:
        """Offer models.

        Args:
            models: their ids, in order.
            usual: the one that was used before; taken where it is offered.
            may_be_typed: whether an id can be written though none is listed.
        """
        self._listed = tuple(models)
        is_azure = self._start is not None and "deployment" in self._start.asks
        is_shown = not is_azure and (bool(models) or may_be_typed)
        self.form.setRowVisible(self.model, is_shown)
        self.models.setVisible(is_shown and bool(models))
        self.place.setVisible(not self.models.isVisibleTo(self))
        only = models[0] if len(models) == 1 else ""
        if models and self.model.text() not in models:
            self.model.setText(usual if usual in models else only)
        self._filter("")
        if is_shown:
            self.model.setFocus()
        self.changed.emit()

    def _hint(self, start: ProviderStart) -> str:
        parts = [start.hint]
        address = start.connection.base_url
        if address and "address" not in start.asks:
            parts.append(tr("Its address is {address}.").format(address=address))
        return " ".join(parts)

    def _show_lines(self, asks: Sequence[Ask]) -> None:
        for ask in get_args(Ask):
            self.form.setRowVisible(self.lines.widgets[ask], ask in asks)
        if self._start is None:
            self.form.setRowVisible(self.model, False)
            self.models.hide()
            self.note.hide()

    def _filter(self, words: str) -> None:
        """Show the models that hold what is typed; the chosen one is marked."""
        chosen = self.model.text().strip()
        fitting = [model for model in self._listed if words.lower() in model.lower()]
        self.models.clear()
        self.models.addItems(fitting)  # at once: some servers list 50,000
        if chosen in fitting:
            self.models.setCurrentRow(fitting.index(chosen))

    def _on_edited(self, text: str) -> None:
        self._filter(text.strip())
        self.changed.emit()

    def _on_picked(self, item: QListWidgetItem | None) -> None:
        if item is not None and self.models.hasFocus():
            self._take(item)

    def _take(self, item: QListWidgetItem) -> None:
        self.model.setText(item.text())
        self.changed.emit()

    def _on_model_return(self) -> None:
        if self._listed and self.model.text().strip() in self._listed:
            self.model_taken.emit()
        elif not self._listed:
            self.entered.emit()
        elif self.models.count() == 1:
            self._take(self.models.item(0))

    def _connect(self) -> None:
        for field in (self.address, self.key, self.deployment):
            field.textEdited.connect(self.changed)
            field.returnPressed.connect(self.entered)
        self.model.textEdited.connect(self._on_edited)
        self.model.returnPressed.connect(self._on_model_return)
        self.models.itemClicked.connect(self._take)
        self.models.currentItemChanged.connect(self._on_picked)
        self.models.itemActivated.connect(self.model_taken)


def _words() -> QLabel:
    return QLabel(wordWrap=True, textFormat=Qt.TextFormat.PlainText)
