"""The list of connections: kind, name, default mark, and the result of the last test.

Below it stands what can be done: add one, duplicate, make the default, delete.
"""

from __future__ import annotations

from collections.abc import Callable

from PySide6.QtCore import (
    QModelIndex,
    QPersistentModelIndex,
    QRect,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter
from PySide6.QtWidgets import (
    QListWidget,
    QListWidgetItem,
    QMenu,
    QMessageBox,
    QPushButton,
    QStyle,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QWidget,
)

from studio.application.words import tr
from studio.core.models.connections import Connection, Connections, all_presets
from studio.core.models.secrets import KEYRING
from studio.ui.connections.kinds import ICONS, preset_words, second_line, state_words
from studio.ui.parts.labels import icon_button
from studio.ui.parts.layouts import row_of
from studio.ui.style.colors import blend, theme_in_use
from studio.ui.style.icons import icon
from studio.viewmodels.connections.trials import ConnectionTrial

_NAME = Qt.ItemDataRole.UserRole
_SECOND = Qt.ItemDataRole.UserRole + 1
_IS_DEFAULT = Qt.ItemDataRole.UserRole + 2
_STATE = Qt.ItemDataRole.UserRole + 3
_KIND_ICON = Qt.ItemDataRole.UserRole + 4
_STATE_ICONS = {"works": "circle-check", "fails": "circle-x", "running": "loader"}


class _Rows(QStyledItemDelegate):
    """Two lines of text between two drawings."""

    def sizeHint(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> QSize:
        """Two lines and some air."""
        return QSize(120, 2 * option.fontMetrics.height() + 18)

    def paint(
        self,
        painter: QPainter,
        option: QStyleOptionViewItem,
        index: QModelIndex | QPersistentModelIndex,
    ) -> None:
        """Draw a row."""
        theme = theme_in_use()
        box: QRect = option.rect
        chosen = bool(option.state & QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QStyle.StateFlag.State_MouseOver)
        painter.save()
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selection if chosen else theme.raised))
            painter.drawRoundedRect(box.adjusted(4, 1, -4, -1), 6, 6)
        drawing = icon(index.data(_KIND_ICON), "text" if chosen else "muted")
        drawing.paint(painter, QRect(box.left() + 14, box.center().y() - 8, 18, 18))
        right = box.right() - 14
        if state := _STATE_ICONS.get(index.data(_STATE)):
            color = {"works": theme.success, "fails": theme.error}.get(index.data(_STATE))
            mark = QRect(right - 15, box.center().y() - 7, 16, 16)
            icon(state, color or "muted").paint(painter, mark)
            right -= 24
        text = QRect(box.left() + 42, box.top() + 8, right - box.left() - 42, box.height() // 2 - 8)
        font: QFont = option.font
        room = text.width()
        if index.data(_IS_DEFAULT):
            room -= self._badge(painter, text, font)
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        _write(painter, text, index.data(_NAME), room)
        painter.setPen(QColor(theme.muted))
        _write(painter, text.translated(0, text.height() + 2), index.data(_SECOND), text.width())
        painter.restore()

    def _badge(self, painter: QPainter, text: QRect, font: QFont) -> int:
        """That it is the default, at the right end; gives the room that it takes."""
        theme = theme_in_use()
        small = QFont(font)
        small.setPointSizeF(font.pointSizeF() * 0.85)
        metrics = QFontMetrics(small)
        width = metrics.horizontalAdvance(_default()) + 12
        height = metrics.height() + 2
        top = text.center().y() - height // 2 + 1
        badge = QRect(text.right() - width, top, width, height)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(blend(theme.accent, theme.surface, 0.16)))
        painter.drawRoundedRect(badge, 4, 4)
        painter.setFont(small)
        painter.setPen(QColor(theme.accent))
        painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, _default())
        return width + 8


def _default() -> str:
    return tr("default")


class ConnectionList(QListWidget):
    """Rows of connections; at most one is chosen."""

    picked = Signal(str)  # name of the connection that is shown from now on
    request_default = Signal(str)  # name: double click or Return

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._rows = _Rows(self)
        self.setItemDelegate(self._rows)
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
            item.setData(_KIND_ICON, ICONS[each.kind])
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
        item.setData(_STATE, trial.state)
        item.setData(_SECOND, second_line(connection, trial))
        words = [connection.name, second_line(connection, trial), state_words(trial)]
        words += [_default()] if item.data(_IS_DEFAULT) else []
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(dict.fromkeys(words)))
        item.setToolTip(trial.probe.message if trial.probe is not None else "")

    def _on_current(self, item: QListWidgetItem | None) -> None:
        if item is not None:
            self.picked.emit(str(item.data(_NAME)))


def _write(painter: QPainter, box: QRect, text: str, room: int) -> None:
    cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, room)
    place = Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter
    painter.drawText(box, place, cut)


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
        self.duplicate = icon_button("copy", tr("Duplicate"), self)
        self.make_default = icon_button("flag", tr("Make it the default"), self)
        self.delete = icon_button("trash-2", tr("Delete"), self)
        row_of(self.add, 1, self.duplicate, self.make_default, self.delete, on=self, margins=8)
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
