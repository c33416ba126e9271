"""The list of connections: kind, name, default mark, and the result of the last test.

Below it stands what can be done: add one, duplicate, make the default, delete.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QListWidget, QListWidgetItem, QMenu, QMessageBox, QPushButton, QWidget

from studio.application.words import tr
from studio.core.models.connections import Connection, Connections, all_presets
from studio.core.models.secrets import KEYRING
from studio.ui.connections.kinds import ICONS, preset_words, second_line, state_words
from studio.ui.connections.rows import Row, RowDelegate
from studio.ui.parts.labels import icon_button
from studio.ui.parts.layouts import row_of
from studio.ui.style.icons import icon
from studio.viewmodels.connections.trials import ConnectionTrial

_NAME = Qt.ItemDataRole.UserRole
_ROW = Qt.ItemDataRole.UserRole + 1
_IS_DEFAULT = Qt.ItemDataRole.UserRole + 2
_MARKS = {
    "works": ("circle-check", "success"),
    "fails": ("circle-x", "error"),
    "running": ("loader", "muted"),
}


class ConnectionList(QListWidget):
    """Rows of connections; at most one is chosen."""

    picked = Signal(str)  # name of the connection that is shown from now on
    request_default = Signal(str)  # name: double click or Return

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setItemDelegate(RowDelegate(self, lambda index: index.data(_ROW)))
        self.setAccessibleName(tr("Connections"))
        self.setMouseTracking(True)
        self.setViewportMargins(0, 6, 0, 6)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentItemChanged.connect(self._on_current)
        self.itemActivated.connect(lambda item: self.request_default.emit(item.data(_NAME)))

    @property
    def name(self) -> str:
        """Name of the chosen connection; empty for none."""
        item = self.currentItem()
        return str(item.data(_NAME)) if item is not None else ""

    def show_connections(
        self,
        connections: Connections,
        trial_of: Callable[[Connection], ConnectionTrial],
        current: str,
    ) -> None:
        """Show all of them with `current` chosen; nothing is emitted."""
        self.blockSignals(True)
        self.clear()
        for each in connections.connections:
            item = QListWidgetItem(self)
            item.setData(_NAME, each.name)
            item.setData(_IS_DEFAULT, each.name == connections.default)
            self._say(item, each, trial_of(each))
            if each.name == current:
                self.setCurrentItem(item)
        self.blockSignals(False)

    def show_trial(self, connection: Connection, trial: ConnectionTrial) -> None:
        """Show the state of a connection's test."""
        for row in range(self.count()):
            if self.item(row).data(_NAME) == connection.name:
                self._say(self.item(row), connection, trial)

    def _say(self, item: QListWidgetItem, connection: Connection, trial: ConnectionTrial) -> None:
        detail = second_line(connection, trial)
        badge = tr("default") if item.data(_IS_DEFAULT) else ""
        drawing, mark = ICONS[connection.kind], _MARKS.get(trial.state)
        item.setData(_ROW, Row(connection.name, detail, drawing, badge=badge, mark=mark))
        words = [connection.name, detail, state_words(trial), *filter(None, [badge])]
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(dict.fromkeys(words)))
        item.setToolTip(trial.probe.message if trial.probe is not None else "")

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.picked.emit(str(item.data(_NAME)))


class ListButtons(QWidget):
    """The row of buttons below the list."""

    request_add = Signal(Connection)  # Connection to begin with
    request_duplicate = Signal()
    request_default = Signal()
    request_delete = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.add = QPushButton(icon("plus"), tr("Add"), autoDefault=False)
        self.add.setMenu(self._presets())
        self.duplicate = icon_button("copy", tr("Duplicate"), self.request_duplicate, parent=self)
        self.make_default = icon_button("flag", tr("Make it the default"), parent=self)
        self.delete = icon_button("trash-2", tr("Delete"), self.request_delete, parent=self)
        row_of(self.add, 1, self.duplicate, self.make_default, self.delete, on=self, margins=8)
        self.make_default.clicked.connect(self.request_default)

    def show_chosen(self, *, is_default: bool, is_last: bool) -> None:
        """Enable what can be done with the chosen connection.

        Args:
            is_default: whether it is the default already.
            is_last: whether it is the last embedded model, which stays.
        """
        self.make_default.setEnabled(not is_default)
        self.delete.setEnabled(not is_last)
        self.delete.setToolTip(
            tr("The embedded model is always there") if is_last else tr("Delete")
        )

    def _presets(self) -> QMenu:
        menu = QMenu(self, toolTipsVisible=True)
        for preset in all_presets():
            action = menu.addAction(icon(ICONS[preset.connection.kind]), preset_words(preset.title))
            action.setToolTip(preset_words(preset.hint))
            action.triggered.connect(
                lambda _=False, made=preset.connection: self.request_add.emit(made)
            )
        return menu


class DeleteQuestion(QMessageBox):
    """Asks before a connection goes; says what goes with it."""

    agreed = Signal()

    def __init__(self, connection: Connection, parent: QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QMessageBox.Icon.NoIcon)
        self.setWindowTitle(tr("Delete connection"))
        self.setText(tr("Delete the connection {name!r}?").format(name=connection.name))
        with_key = tr(" The key that is kept for it goes too.") if connection.key == KEYRING else ""
        self.setInformativeText(
            tr("Prompts that name it will use the default.{with_key}").format(with_key=with_key)
        )
        delete = self.addButton(tr("Delete"), QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(QMessageBox.StandardButton.Cancel)
        delete.clicked.connect(self.agreed)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
