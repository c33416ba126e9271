"""The toolbar: the actions used most, and what a run will use."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import QSize, Qt, Signal
from PySide6.QtWidgets import QComboBox, QHBoxLayout, QSizePolicy, QToolBar, QToolButton, QWidget

from studio.ui.actions import ActionSet

_GROUPS = (
    ("file.new", "file.open", "file.save"),
    ("edit.undo", "edit.redo"),
    ("prompt.check", "file.export"),
)
_RUN = ("run.start", "run.step", "run.pause", "run.stop")

PROTOCOLS = (
    ("", "Protocol of the file"),
    ("native", "Native tool calls"),
    ("react", "ReAct text"),
    ("json_action", "JSON action"),
)


_WIDEST = 220


class RunChoices(QWidget):
    """Which connection, model and protocol a run takes; the window's owner fills the first two."""

    connection_chosen = Signal(str)  # connection id
    model_chosen = Signal(str)  # model id
    protocol_chosen = Signal(str)  # ProtocolName, or empty for the file's own

    def __init__(self) -> None:
        super().__init__()
        self.connection = self._combo("Connection")
        self.model = self._combo("Model")
        self.protocol = self._combo("Protocol")
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for combo in (self.connection, self.model, self.protocol):
            row.addWidget(combo)
        self.set_protocols(PROTOCOLS)
        self.connection.activated.connect(
            lambda: self.connection_chosen.emit(self.connection.currentData() or "")
        )
        self.model.activated.connect(lambda: self.model_chosen.emit(self.model.currentData() or ""))
        self.protocol.activated.connect(
            lambda: self.protocol_chosen.emit(self.protocol.currentData() or "")
        )

    def _combo(self, name: str) -> QComboBox:
        combo = QComboBox()
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        combo.setMaximumWidth(_WIDEST)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        combo.hide()
        return combo

    def set_connections(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Offer connections as (id, name)."""
        _fill(self.connection, choices, current)

    def set_models(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Offer models as (id, name)."""
        _fill(self.model, choices, current)

    def set_protocols(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Offer protocols as (id, name)."""
        _fill(self.protocol, choices, current)


def _fill(combo: QComboBox, choices: Sequence[tuple[str, str]], current: str) -> None:
    combo.blockSignals(True)
    combo.clear()
    for identifier, name in choices:
        combo.addItem(name, identifier)
    combo.setCurrentIndex(max(0, combo.findData(current)))
    combo.setVisible(bool(choices))
    combo.blockSignals(False)


def build_toolbar(actions: ActionSet, choices: RunChoices) -> QToolBar:
    """The one toolbar of the window."""
    bar = QToolBar("Toolbar")
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    bar.setIconSize(QSize(18, 18))
    for group in _GROUPS:
        for identifier in group:
            bar.addAction(actions[identifier])
        bar.addSeparator()
    bar.addWidget(choices)
    bar.addSeparator()
    for identifier in _RUN:
        bar.addAction(actions[identifier])
    run = bar.widgetForAction(actions["run.start"])
    if isinstance(run, QToolButton):
        run.setText(" Run")
        run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    room = QWidget()
    room.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(room)
    bar.addAction(actions["view.commands"])
    commands = bar.widgetForAction(actions["view.commands"])
    if isinstance(commands, QToolButton):
        commands.setText(" Commands")
        commands.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return bar
