"""The menu bar and the toolbar, from the table of actions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, TypeVar

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import (
    QComboBox,
    QHBoxLayout,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
)

from studio.ui.base.actions import MENUS, PANES, RECENT, SEPARATOR, ActionSet
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.connections.model_field import make_editable

if TYPE_CHECKING:
    from studio.ui.base.actions import ActionSet
    from studio.ui.window.docks import Docks


_GROUPS = (
    ("file.new", "file.open", "file.save"),
    ("edit.undo", "edit.redo"),
    ("prompt.check", "file.export"),
)
_RUN = ("run.start", "run.step", "run.pause", "run.stop")

PROTOCOLS = (
    ("", QT_TRANSLATE_NOOP("Toolbar", "Protocol of the file")),
    ("native", QT_TRANSLATE_NOOP("Toolbar", "Native tool calls")),
    ("react", QT_TRANSLATE_NOOP("Toolbar", "ReAct text")),
    ("json_action", QT_TRANSLATE_NOOP("Toolbar", "JSON action")),
)


_NARROWEST, _WIDEST = 90, 220
"""A box for a choice, in pixels: it gives way before a button leaves a narrow window."""
_Box = TypeVar("_Box", bound=QComboBox)


class _ModelBox(QComboBox):
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


class RunChoices(QWidget):
    """Which connection, model and protocol a run takes; the window's owner fills the first two."""

    connection_chosen = Signal(str)  # connection id
    model_chosen = Signal(str)  # model id
    request_models = Signal()  # somebody looks at the list of models
    protocol_chosen = Signal(str)  # ProtocolName, or empty for the file's own

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self.connection = self._combo(self.tr("Connection"), QComboBox(self))
        self.model = self._combo(self.tr("Model"), _ModelBox(self))
        self.protocol = self._combo(self.tr("Protocol"), QComboBox(self))
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.setSpacing(6)
        for combo in (self.connection, self.model, self.protocol):
            row.addWidget(combo)
        self.set_protocols(
            [(name, QCoreApplication.translate("Toolbar", words)) for name, words in PROTOCOLS]
        )
        self.connection.activated.connect(
            lambda: self.connection_chosen.emit(self.connection.currentData() or "")
        )
        self.model.activated.connect(self._on_model)
        self.model.request_models.connect(self.request_models)
        self.protocol.activated.connect(
            lambda: self.protocol_chosen.emit(self.protocol.currentData() or "")
        )

    def _combo(self, name: str, combo: _Box) -> _Box:
        combo.setAccessibleName(name)
        combo.setToolTip(name)
        combo.setMinimumWidth(_NARROWEST)
        combo.setMaximumWidth(_WIDEST)
        combo.setSizeAdjustPolicy(QComboBox.SizeAdjustPolicy.AdjustToContents)
        combo.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        combo.hide()
        return combo

    def set_connections(self, choices: Sequence[tuple[str, str]], current: str = "") -> None:
        """Offer connections as (id, name)."""
        _fill(self.connection, choices, current)

    def set_models(
        self, choices: Sequence[tuple[str, str]], current: str = "", *, is_open: bool = False
    ) -> None:
        """Offer models as (id, name); with `is_open` any other id can be typed too."""
        box = self.model
        line = box.lineEdit()
        typed = line.text() if line is not None and line.isModified() and line.hasFocus() else None
        was_listed = box.view().isVisible()
        if was_listed:
            box.hidePopup()
        self._model = current
        self._set_open(is_open=is_open)
        _fill(box, choices, current)
        box.setVisible(bool(choices) or is_open)
        if is_open:
            box.blockSignals(True)
            box.setCurrentIndex(box.findData(current))
            box.setCurrentText(current if typed is None else typed)
            box.blockSignals(False)
        if was_listed and is_open:
            box.showPopup()

    def _set_open(self, *, is_open: bool) -> None:
        if is_open == self.model.isEditable():
            return
        self.model.setMinimumContentsLength(16 if is_open else 0)
        if is_open:
            make_editable(self.model, self.tr("Model"))
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
    bar = QToolBar(QCoreApplication.translate("Toolbar", "Toolbar"))
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
        # The action's own short text: one set on the button goes when the action changes.
        actions["run.start"].setIconText(QCoreApplication.translate("Toolbar", " Run"))
        run.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    room = QWidget()
    room.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(room)
    bar.addAction(actions["view.commands"])
    commands = bar.widgetForAction(actions["view.commands"])
    if isinstance(commands, QToolButton):
        actions["view.commands"].setIconText(QCoreApplication.translate("Toolbar", " Commands"))
        commands.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
    return bar


def build_menus(bar: QMenuBar, actions: ActionSet, docks: Docks) -> QMenu:
    """Fill the menu bar; returns the menu of recent files, which is filled when it opens."""
    recent = QMenu(QCoreApplication.translate("Menus", "Open recent"), bar)
    for title, identifiers in MENUS:
        menu = bar.addMenu(QCoreApplication.translate("Actions", title))
        menu.setToolTipsVisible(True)
        for identifier in identifiers:
            if identifier == SEPARATOR:
                menu.addSeparator()
            elif identifier == RECENT:
                menu.addMenu(recent)
            elif identifier == PANES:
                menu.addActions(docks.toggles())
                menu.addSeparator()
            else:
                menu.addAction(actions[identifier])
    return recent
