"""What can be done with the list of connections: add one, duplicate, make the default, delete."""

from __future__ import annotations

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QMenu, QMessageBox, QPushButton, QToolButton, QWidget

from studio.core.models.connections import Connection, all_presets
from studio.core.models.secrets import KEYRING
from studio.ui.connections.kinds import ICONS, preset_words
from studio.ui.style.icons import icon


class ListButtons(QWidget):
    """The row of buttons below the list."""

    request_add = Signal(Connection)  # Connection to begin with
    request_duplicate = Signal()
    request_default = Signal()
    request_delete = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.add = QPushButton(icon("plus"), self.tr("Add"))
        self.add.setAutoDefault(False)
        self.add.setMenu(self._presets())
        self.duplicate = self._tool("copy", self.tr("Duplicate"))
        self.make_default = self._tool("flag", self.tr("Make it the default"))
        self.delete = self._tool("trash-2", self.tr("Delete"))
        row = QHBoxLayout(self)
        row.setContentsMargins(8, 8, 8, 8)
        row.addWidget(self.add)
        row.addStretch(1)
        for button in (self.duplicate, self.make_default, self.delete):
            row.addWidget(button)
        self.duplicate.clicked.connect(self.request_duplicate)
        self.make_default.clicked.connect(self.request_default)
        self.delete.clicked.connect(self.request_delete)

    def show_chosen(self, *, is_default: bool, is_last: bool) -> None:
        """Enable what can be done with the chosen connection.

        Args:
            is_default: whether it is the default already.
            is_last: whether it is the last embedded model, which stays.
        """
        self.make_default.setEnabled(not is_default)
        self.delete.setEnabled(not is_last)
        self.delete.setToolTip(
            self.tr("The embedded model is always there") if is_last else self.tr("Delete")
        )

    def _presets(self) -> QMenu:
        menu = QMenu(self)
        menu.setToolTipsVisible(True)
        for preset in all_presets():
            action = menu.addAction(icon(ICONS[preset.connection.kind]), preset_words(preset.title))
            action.setToolTip(preset_words(preset.hint))
            action.triggered.connect(
                lambda _=False, made=preset.connection: self.request_add.emit(made)
            )
        return menu

    def _tool(self, drawing: str, name: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(drawing))
        button.setToolTip(name)
        button.setAccessibleName(name)
        return button


class DeleteQuestion(QMessageBox):
    """Asks before a connection goes; says what goes with it."""

    agreed = Signal()

    def __init__(self, connection: Connection, parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.NoIcon)
        self.setWindowTitle(self.tr("Delete connection"))
        self.setText(self.tr("Delete the connection {name!r}?").format(name=connection.name))
        with_key = (
            self.tr(" The key that is kept for it goes too.") if connection.key == KEYRING else ""
        )
        self.setInformativeText(
            self.tr("Prompts that name it will use the default.{with_key}").format(
                with_key=with_key
            )
        )
        delete = self.addButton(self.tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(QMessageBox.StandardButton.Cancel)
        delete.clicked.connect(self.agreed)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
