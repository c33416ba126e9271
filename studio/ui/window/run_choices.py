"""Choice of a run's model: one button with its name, and the panel in which it is chosen."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QFormLayout, QFrame, QLabel, QPushButton, QToolButton, QWidget

from studio.application.run.words import PROTOCOL_WORDS
from studio.application.words import tr
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.layouts import row_of
from studio.ui.style.icons import icon

_NARROWEST, _WIDEST = 200, 280
"""A box for a choice, and the button that names them, in pixels."""
_Box = TypeVar("_Box", bound=ComboBox)


class _ModelBox(ComboBox):
    """Says when somebody turns to it: only then is a server asked for its list."""

    request_models = Signal()

    def showPopup(self) -> None:  # noqa: N802 - Qt's name
        """Open the list."""
        self.request_models.emit()
        super().showPopup()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Take the keyboard."""
        super().focusInEvent(event)
        self.request_models.emit()


class _ChoicesPanel(QFrame):
    """The chosen model and the reason, the boxes to change it, and links to the connections."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popup")
        self.setAccessibleName(tr("Model and connection"))
        self.connection = self._combo(tr("Connection"), ComboBox(self))
        self.model = self._combo(tr("Model"), _ModelBox(self))
        self.protocol = self._combo(tr("Protocol"), ComboBox(self))
        self.chosen = QLabel(textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        self.folder = QPushButton()
        self.folder.setAccessibleName(tr("Use this model in the folder"))
        self.connect_button = QPushButton(tr("Connect a model…"))
        self.manage = QPushButton(tr("Manage connections…"))
        self._form = QFormLayout(self)
        self._form.setContentsMargins(16, 16, 16, 16)
        self._form.setSpacing(8)
        self._form.addRow(self.chosen)
        for combo in (self.connection, self.model, self.protocol):
            self._form.addRow(combo.accessibleName(), combo)
        for button in (self.folder, self.connect_button, self.manage):
            self._form.addRow(button)
            button.clicked.connect(self.hide)
        words = [(name, tr(each)) for name, each in PROTOCOL_WORDS.items()]
        _fill(self.protocol, [("", tr("Protocol of the file")), *words], "")

    def show_row(self, part: QWidget, *, shown: bool, name: str = "") -> None:
        """Show a box with its name, or hide both.

        Args:
            part: the box or button.
            shown: whether it is shown.
            name: the name beside it; empty keeps the one it has.
        """
        label = self._form.labelForField(part)
        if name and isinstance(label, QLabel):
            label.setText(name)
            part.setAccessibleName(name)
        self._form.setRowVisible(part, shown)
        if self.isVisible():
            self.adjustSize()

    def _combo(self, name: str, combo: _Box) -> _Box:
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        combo.setMinimumWidth(_NARROWEST)
        combo.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        return combo


class RunChoices(QWidget):
    """The connection, model and protocol of a run; the window's owner fills the first two.

    One button names them; what can be chosen stands in the panel that it opens.
    """

    connection_chosen = Signal(str)  # connection id
    model_chosen = Signal(str)  # model id
    request_models = Signal()  # somebody looks at the list of models
    protocol_chosen = Signal(str)  # ProtocolName, or empty for the file's own
    request_folder = Signal()  # keep the connection for the folder, or no longer
    request_connect = Signal()  # the way to a connection of one's own
    request_manage = Signal()  # the dialog of all connections
    opening = Signal()  # the panel is about to be shown

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self.button = QToolButton(self, toolButtonStyle=Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setObjectName("model")
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setAccessibleName(tr("Model and connection"))
        self.button.setMaximumWidth(_WIDEST)
        self.button.setProperty("opensPanel", True)
        self.button.clicked.connect(self.open)
        row_of(self.button, on=self, margins=0)
        self.name_choice("", "")

    @cached_property
    def panel(self) -> _ChoicesPanel:
        """Return the panel of the button, created when it is first filled or opened."""
        panel = _ChoicesPanel(self)
        panel.connection.activated.connect(
            lambda: self.connection_chosen.emit(panel.connection.currentData() or "")
        )
        panel.model.activated.connect(self._on_model)
        panel.model.request_models.connect(self.request_models)
        panel.protocol.activated.connect(
            lambda: self.protocol_chosen.emit(panel.protocol.currentData() or "")
        )
        panel.folder.clicked.connect(self.request_folder)
        panel.connect_button.clicked.connect(self.request_connect)
        panel.manage.clicked.connect(self.request_manage)
        return panel

    @property
    def connection(self) -> ComboBox:
        """The connections."""
        return self.panel.connection

    @property
    def model(self) -> ComboBox:
        """The models of the connection."""
        return self.panel.model

    def name_choice(self, model: str, connection: str, tip: str = "", drawing: str = "cpu") -> None:
        """Say what answers a run.

        Args:
            model: the model's name; empty where the connection has one of its own.
            connection: the connection's name.
            tip: why this one.
            drawing: icon of its kind.
        """
        words = " · ".join(part for part in (model, connection) if part) or tr("Model")
        self.button.setText(f" {words}")
        self.button.setIcon(icon(drawing))
        self.button.setToolTip(tip or words)

    def open(self) -> None:
        """Show what can be chosen, below the button."""
        self.opening.emit()
        self.panel.adjustSize()
        below = self.button.mapToGlobal(self.button.rect().bottomLeft())
        self.panel.move(below.x(), below.y() + 4)
        self.panel.show()
        self.connection.setFocus(Qt.FocusReason.PopupFocusReason)

    def open_models(self) -> None:
        """Show what can be chosen, with the keyboard in the box of models."""
        self.open()
        if self.model.isVisible():
            self.model.setFocus(Qt.FocusReason.PopupFocusReason)

    def explain(self, words: str, folder: str, *, is_agent: bool) -> None:
        """Say what answers and why.

        Args:
            words: the sentence.
            folder: the button that keeps the connection for a folder, or undoes it; empty for none.
            is_agent: whether the prompt has a protocol to choose.
        """
        self.panel.chosen.setText(words)
        self.panel.folder.setText(folder)
        self.panel.folder.setAccessibleName(folder or tr("Use this model in the folder"))
        self.panel.show_row(self.panel.folder, shown=bool(folder))
        self.panel.show_row(self.panel.protocol, shown=is_agent)

    def set_connections(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Offer connections as (id, name)."""
        _fill(self.connection, choices, current)

    def set_models(
        self,
        choices: Sequence[tuple[str, str]],
        current: str = "",
        *,
        name: str = "",
        is_open: bool = False,
    ) -> None:
        """Offer models as (id, name); with `is_open` any other id can be typed too.

        Args:
            choices: what is offered; nothing hides the row unless `is_open`.
            current: the one in use.
            name: the name of the row.
            is_open: whether another id can be typed.
        """
        box = self.model
        line = box.lineEdit()
        typed = line.text() if line is not None and line.isModified() and line.hasFocus() else None
        was_listed = box.view().isVisible()
        if was_listed:
            box.hidePopup()
        self._model = current
        self._set_open(is_open=is_open)
        _fill(box, choices, current)
        self.panel.show_row(box, shown=bool(choices) or is_open, name=name)
        if is_open:
            box.blockSignals(True)
            box.setCurrentIndex(box.findData(current))
            box.setCurrentText(current if typed is None else typed)
            box.blockSignals(False)
            if line is not None and line.hasFocus() and typed is None:
                line.selectAll()  # else the first key is written behind the old name
        if was_listed and is_open:
            box.showPopup()

    def _set_open(self, *, is_open: bool) -> None:
        if is_open == self.model.isEditable():
            return
        self.model.setMinimumContentsLength(16 if is_open else 0)
        if is_open:
            from studio.ui.connections.model_field import make_editable

            make_editable(self.model, tr("Model"))
            line = self.model.lineEdit()
            if line is not None:
                line.editingFinished.connect(self._on_model)
        else:
            self.model.setEditable(False)

    def _on_model(self) -> None:
        text = self.model.currentText().strip()
        index = self.model.findText(text)
        chosen = str(self.model.itemData(index)) if index >= 0 else text
        if chosen != self._model:
            self._model = chosen
            self.model_chosen.emit(chosen)


def _fill(combo: ComboBox, choices: Sequence[tuple[str, str]], current: str) -> None:
    combo.blockSignals(True)
    combo.clear()
    for identifier, name in choices:
        combo.addItem(name, identifier)
    combo.setCurrentIndex(max(0, combo.findData(current)))
    combo.blockSignals(False)
