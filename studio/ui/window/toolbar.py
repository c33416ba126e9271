"""The menu bar, the toolbar and the strip of icons at the left, from the table of actions."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property, partial
from typing import TypeVar

from PySide6.QtCore import QCoreApplication, QSize, Qt, Signal
from PySide6.QtGui import QAction, QFocusEvent
from PySide6.QtWidgets import (
    QFormLayout,
    QFrame,
    QHBoxLayout,
    QMenu,
    QMenuBar,
    QSizePolicy,
    QToolBar,
    QToolButton,
    QWidget,
)

from studio.ui.base.actions import ActionSet
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.base.menus import MENUS, PANES, RECENT, SEPARATOR
from studio.ui.parts.boxes import ComboBox
from studio.ui.style.icons import icon
from studio.ui.window.docks import Docks

_RUN = ("run.pause", "run.stop", "run.step", "run.start")

PROTOCOLS = (
    ("", QT_TRANSLATE_NOOP("Toolbar", "Protocol of the file")),
    ("native", QT_TRANSLATE_NOOP("Toolbar", "Native tool calls")),
    ("react", QT_TRANSLATE_NOOP("Toolbar", "ReAct text")),
    ("json_action", QT_TRANSLATE_NOOP("Toolbar", "JSON action")),
)


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
    """The boxes in which connection, model and protocol are chosen."""

    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent, Qt.WindowType.Popup)
        self.setObjectName("popup")
        self.setAccessibleName(parent.tr("Model and connection"))
        self.connection = self._combo(parent.tr("Connection"), ComboBox(self))
        self.model = self._combo(parent.tr("Model"), _ModelBox(self))
        self.protocol = self._combo(parent.tr("Protocol"), ComboBox(self))
        self._form = QFormLayout(self)
        self._form.setContentsMargins(16, 16, 16, 16)
        self._form.setSpacing(8)
        for combo in (self.connection, self.model, self.protocol):
            self._form.addRow(combo.accessibleName(), combo)
        words = [(name, QCoreApplication.translate("Toolbar", each)) for name, each in PROTOCOLS]
        _fill(self.protocol, words, "")

    def show_row(self, combo: ComboBox, *, shown: bool) -> None:
        """Show a box with its name, or hide both."""
        self._form.setRowVisible(combo, shown)
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
    """Which connection, model and protocol a run takes; the window's owner fills the first two.

    One button names them; what can be chosen stands in the panel that it opens.
    """

    connection_chosen = Signal(str)  # connection id
    model_chosen = Signal(str)  # model id
    request_models = Signal()  # somebody looks at the list of models
    protocol_chosen = Signal(str)  # ProtocolName, or empty for the file's own

    def __init__(self) -> None:
        super().__init__()
        self._model = ""
        self.button = QToolButton(self)
        self.button.setObjectName("model")
        self.button.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.button.setAccessibleName(self.tr("Model and connection"))
        self.button.setMaximumWidth(_WIDEST)
        self.button.setProperty("opensPanel", True)
        self.button.clicked.connect(self.open)
        row = QHBoxLayout(self)
        row.setContentsMargins(0, 0, 0, 0)
        row.addWidget(self.button)
        self.name_choice("", "")

    @cached_property
    def panel(self) -> _ChoicesPanel:
        """What the button opens, made when it is first filled or opened."""
        panel = _ChoicesPanel(self)
        panel.connection.activated.connect(
            lambda: self.connection_chosen.emit(panel.connection.currentData() or "")
        )
        panel.model.activated.connect(self._on_model)
        panel.model.request_models.connect(self.request_models)
        panel.protocol.activated.connect(
            lambda: self.protocol_chosen.emit(panel.protocol.currentData() or "")
        )
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
        words = " · ".join(part for part in (model, connection) if part) or self.tr("No model")
        self.button.setText(f" {words}")
        self.button.setIcon(icon(drawing))
        self.button.setToolTip(tip or words)

    def open(self) -> None:
        """Show what can be chosen, below the button."""
        self.panel.adjustSize()
        below = self.button.mapToGlobal(self.button.rect().bottomLeft())
        self.panel.move(below.x(), below.y() + 4)
        self.panel.show()
        self.connection.setFocus(Qt.FocusReason.PopupFocusReason)

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
        self.panel.show_row(box, shown=bool(choices) or is_open)
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
            from studio.ui.connections.model_field import make_editable

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


def _fill(combo: ComboBox, choices: Sequence[tuple[str, str]], current: str) -> None:
    combo.blockSignals(True)
    combo.clear()
    for identifier, name in choices:
        combo.addItem(name, identifier)
    combo.setCurrentIndex(max(0, combo.findData(current)))
    combo.blockSignals(False)


def build_toolbar(actions: ActionSet, choices: RunChoices, menus: QMenuBar) -> QToolBar:
    """The one row above: the menus, the commands, what a run takes, and the run."""
    bar = QToolBar(QCoreApplication.translate("Toolbar", "Toolbar"))
    bar.setObjectName("toolbar")
    bar.setMovable(False)
    bar.setIconSize(QSize(16, 16))
    bar.setContextMenuPolicy(Qt.ContextMenuPolicy.PreventContextMenu)
    if not menus.isNativeMenuBar():
        menus.setSizePolicy(QSizePolicy.Policy.Maximum, QSizePolicy.Policy.Preferred)
        bar.addWidget(menus)
    room = QWidget()
    room.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Preferred)
    bar.addWidget(room)
    actions["view.commands"].setIconText(QCoreApplication.translate("Toolbar", " Commands"))
    bar.addAction(actions["view.commands"])
    bar.addWidget(choices)
    for identifier in _RUN:
        bar.addAction(actions[identifier])
    actions["run.start"].setIconText(QCoreApplication.translate("Toolbar", "Run"))
    actions["run.step"].setIconText(QCoreApplication.translate("Toolbar", " Step"))
    for identifier in ("view.commands", "run.start", "run.step"):
        button = bar.widgetForAction(actions[identifier])
        if isinstance(button, QToolButton):
            is_run = identifier == "run.start"  # the filled one; icons are drawn for plain ones
            style = Qt.ToolButtonStyle
            button.setToolButtonStyle(
                style.ToolButtonTextOnly if is_run else style.ToolButtonTextBesideIcon
            )
            button.setProperty("primary", is_run)
    return bar


_LONGEST = 28
"""Characters of a verb in the toolbar; a tool's long name is cut, the tip of the step has it."""

_ROOM = 1100
"""Width of a window below which the menus need the room of a verb."""


def name_step(action: QAction, window: QWidget, verb: str) -> None:
    """Say what a step does where the run stands.

    Args:
        action: the step.
        window: the window of the toolbar.
        verb: "Send the request"; empty for what a step is called otherwise.
    """
    usual = QCoreApplication.translate("Toolbar", " Step")
    words = verb if len(verb) <= _LONGEST else f"{verb[: _LONGEST - 1]}…"
    has_room = bool(verb) and window.width() >= _ROOM
    action.setIconText(f" {words}".replace("&", "&&") if has_room else usual)


def name_menus(bar: QMenuBar) -> list[QMenu]:
    """Put the names of the menus into the bar: what is seen of them; `fill_menus` does the rest."""
    return [bar.addMenu(QCoreApplication.translate("Actions", title)) for title, _ in MENUS]


def fill_menus(menus: Sequence[QMenu], actions: ActionSet, docks: Docks, recent: QMenu) -> None:
    """Fill the menus.

    Args:
        menus: one for each of `MENUS`.
        actions: what they offer.
        docks: the panes, which have switches there.
        recent: the menu of recent files, which is filled when it opens.
    """
    for menu, (_, identifiers) in zip(menus, MENUS, strict=True):
        menu.setToolTipsVisible(True)
        for identifier in identifiers:
            if identifier == SEPARATOR:
                menu.addSeparator()
            elif identifier == RECENT:
                menu.addMenu(recent)
            elif identifier == PANES:
                panes = menu.addMenu(QCoreApplication.translate("Menus", "Panes"))
                panes.addActions(docks.toggles())
            else:
                menu.addAction(actions[identifier])


_STRIP_PANES = (
    ("files", "files", QT_TRANSLATE_NOOP("Docks", "Files")),
    ("outline", "list-tree", QT_TRANSLATE_NOOP("Docks", "Outline")),
    ("tools", "wrench", QT_TRANSLATE_NOOP("Docks", "Tools")),
    ("history", "history", QT_TRANSLATE_NOOP("Docks", "History")),
)
_STRIP_ACTIONS = ("view.right", "view.bottom", "file.settings")
_STRIP_ICON, _STRIP_BUTTON, _STRIP = 20, 40, 48


class SideStrip(QToolBar):
    """One icon for each pane of the side bar; a second click hides the pane."""

    def __init__(self, actions: ActionSet, docks: Docks) -> None:
        super().__init__(QCoreApplication.translate("SideStrip", "Side bar"))
        self.setObjectName("sideStrip")
        self.setOrientation(Qt.Orientation.Vertical)
        self.setMovable(False)
        self.setIconSize(QSize(_STRIP_ICON, _STRIP_ICON))
        self.setFixedWidth(_STRIP)
        self._docks = docks
        self._buttons: dict[str, QToolButton] = {}
        for name, drawing, words in _STRIP_PANES:
            title = QCoreApplication.translate("Docks", words)
            button = QToolButton()
            button.setIcon(icon(drawing))
            button.setCheckable(True)
            button.setToolTip(title)
            button.setAccessibleName(title)
            button.setFixedSize(_STRIP - 1, _STRIP_BUTTON)
            button.setFocusPolicy(Qt.FocusPolicy.TabFocus)
            button.clicked.connect(partial(self._press, name))
            self._buttons[name] = button
            self.addWidget(button)
        room = QWidget()
        room.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Expanding)
        self.addWidget(room)
        for identifier in _STRIP_ACTIONS:
            self.addAction(actions[identifier])
        docks.changed.connect(self._follow)

    def _press(self, name: str, _: bool = False) -> None:
        # A partial gets no argument of `clicked`: whether it is on, the button knows.
        if self._buttons[name].isChecked():
            self._docks.show(name)
        else:
            self._docks.hide(name)

    def _follow(self) -> None:
        for name, button in self._buttons.items():
            button.setVisible(name in self._docks)
            button.setChecked(self._docks.is_shown(name))
