"""The list of connections: kind, name, default mark, and the result of the last test.

Buttons below it add, duplicate and delete connections and set the default.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TypeAlias

from PySide6 import QtWidgets
from PySide6.QtCore import QModelIndex, QObject, QPersistentModelIndex, QRect, QSize, Qt, Signal
from PySide6.QtGui import QColor, QFont, QFontMetrics, QPainter

from studio.application.words import marked, tr
from studio.core.models.connections import (
    PRESETS,
    Connection,
    ConnectionKind,
    Connections,
    address_of,
    all_presets,
)
from studio.core.models.embedded.policy import GrammarLevel
from studio.core.models.secrets import KEYRING
from studio.ui.parts.fields import form_fields
from studio.ui.parts.kit import icon_button, row_of
from studio.ui.style.theme import blend, icon, theme_in_use
from studio.viewmodels.connections.trials import ConnectionTrial

# Names and icons of the kinds of connections.

ICONS: Mapping[ConnectionKind, str] = {
    "openai": "bot",
    "azure": "bot",
    "anthropic": "bot",
    "gemini": "bot",
    "ollama": "plug",
    "compatible": "plug",
    "embedded": "cpu",
    "scripted": "list-ordered",
    "manual": "user",
    "replay": "history",
}
"""Icon of each kind."""


def help_words(level: GrammarLevel) -> tuple[str, str]:
    """Return the name and description of a grammar level in the window's language."""
    row = next(row for row in form_fields("grammar") if row.key == level)
    return row.label, row.about


_BUNDLED = marked("SmolLM2 135M, on this machine")
_STATES = {
    "running": marked("trying …"),
    "works": marked("works"),
    "fails": marked("does not respond"),
    "untried": "",
}


def state_words(trial: ConnectionTrial) -> str:
    """Describe the result of a test in a few words; empty if there was none."""
    return tr(_STATES[trial.state]) if _STATES[trial.state] else ""


def _what(connection: Connection) -> str:
    """Return the text that distinguishes a connection from others of its kind."""
    settings = connection.settings
    match connection.kind:
        case "compatible":
            return address_of(connection).partition("://")[2].rstrip("/") or tr("no address yet")
        case "embedded":
            return Path(str(settings.get("weights") or tr(_BUNDLED))).stem
        case "scripted":
            return Path(str(settings.get("script") or tr("no script yet"))).name
        case "replay":
            return Path(str(settings.get("recording") or tr("no file yet"))).name
        case "manual":
            return tr("you write the replies")
        case _:
            return connection.model or name_of(connection.kind)


def name_of(kind: ConnectionKind) -> str:
    """Return the name of a kind in the window's language."""
    return next(row.label for row in form_fields("kinds") if row.key == kind)


def hint_of(connection: Connection) -> str:
    """Return the requirements for a connection of this kind."""
    of_kind = [each for each in PRESETS if each.connection.kind == connection.kind]
    same = (each for each in of_kind if each.connection.base_url == connection.base_url)
    return preset_words(next(same, of_kind[-1]).hint)


def preset_words(text: str) -> str:
    """Translate a preset's title or hint; that of a plug-in stays as it is."""
    return tr(text)


# Rows of a list: an icon, a title above a detail, and text or an icon at the right.

_HEADING, _BLANK = 30, 12
_LEFT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignLeft
_RIGHT = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight

_Index: TypeAlias = QModelIndex | QPersistentModelIndex


@dataclass(frozen=True, slots=True)
class Row:
    """Texts and icons of a row."""

    title: str
    """Text of the first line."""

    detail: str
    """Text of the second line; if it is empty, the title uses the full height."""

    drawing: str
    """Name of the icon at the left."""

    end: str = ""
    """Text at the right end."""

    badge: str = ""
    """Text of the badge beside the title."""

    mark: tuple[str, str] | None = None
    """Name and tone of the icon at the right end."""

    is_accented: bool = False
    """Whether the text at the right end is emphasized."""

    is_warning: bool = False
    """Whether the icon and the detail are in the warning color."""


class RowDelegate(QtWidgets.QStyledItemDelegate):
    """Draws rows, and headings for an index without a row."""

    def __init__(
        self, parent: QObject, row_of: Callable[[_Index], Row | None], height: int = 0
    ) -> None:
        """Create it.

        Args:
            parent: owner of the delegate.
            row_of: returns the row of an index; None for a heading.
            height: height of a row in pixels; 0 for two lines of text with margins.
        """
        super().__init__(parent)
        self._row_of = row_of
        self._height = height

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: _Index) -> QSize:
        """Return the height of a heading or of a row."""
        if self._row_of(index) is None:
            return QSize(120, _HEADING if index.data() else _BLANK)
        return QSize(120, self._height or 2 * option.fontMetrics.height() + 18)

    def paint(
        self, painter: QPainter, option: QtWidgets.QStyleOptionViewItem, index: _Index
    ) -> None:
        """Draw a row or a heading."""
        row = self._row_of(index)
        painter.save()
        if row is not None:
            self._paint_row(painter, option, row)
        else:
            font = QFont(option.font)
            font.setWeight(QFont.Weight.DemiBold)
            painter.setFont(font)
            painter.setPen(QColor(theme_in_use().muted))
            painter.drawText(option.rect.adjusted(10, 6, -8, 0), _LEFT, str(index.data()))
        painter.restore()

    def _paint_row(
        self, painter: QPainter, option: QtWidgets.QStyleOptionViewItem, row: Row
    ) -> None:
        theme, box, font = theme_in_use(), QRect(option.rect), QFont(option.font)
        chosen = bool(option.state & QtWidgets.QStyle.StateFlag.State_Selected)
        hovered = bool(option.state & QtWidgets.QStyle.StateFlag.State_MouseOver)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        if chosen or hovered:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.selection if chosen else theme.raised))
            painter.drawRoundedRect(box.adjusted(2, 1, -2, -1), 5, 5)
        middle = box.center().y() - 8
        tone = "warning" if row.is_warning else "text" if chosen else "muted"
        icon(row.drawing, tone).paint(painter, box.left() + 10, middle, 16, 16)
        text = box.adjusted(38, 4, -10, -4)
        if row.mark is not None:
            icon(*row.mark).paint(painter, text.right() - 15, middle, 16, 16)
            text.setRight(text.right() - 24)
        painter.setFont(font)
        if row.end:
            painter.setPen(QColor(theme.accent if row.is_accented else theme.muted))
            painter.drawText(text, _RIGHT, row.end)
            text.setRight(text.right() - painter.fontMetrics().horizontalAdvance(row.end) - 8)
        upper = text.adjusted(0, 0, 0, -text.height() // 2 if row.detail else 0)
        if row.badge:
            upper.setRight(upper.right() - _paint_badge(painter, upper, font, row.badge))
        painter.setFont(font)
        painter.setPen(QColor(theme.text))
        _write(painter, upper, row.title)
        painter.setPen(QColor(theme.warning if row.is_warning else theme.muted))
        font.setPointSizeF(font.pointSizeF() * 0.92)
        painter.setFont(font)
        _write(painter, text.adjusted(0, text.height() // 2, 0, 0), row.detail)


def _write(painter: QPainter, box: QRect, text: str) -> None:
    cut = painter.fontMetrics().elidedText(text, Qt.TextElideMode.ElideRight, box.width())
    painter.drawText(box, _LEFT, cut)


def _paint_badge(painter: QPainter, text: QRect, font: QFont, words: str) -> int:
    """Draw a badge at the right end of a line; return its width in pixels."""
    theme = theme_in_use()
    small = QFont(font)
    small.setPointSizeF(font.pointSizeF() * 0.85)
    metrics = QFontMetrics(small)
    width, height = metrics.horizontalAdvance(words) + 12, metrics.height() + 2
    badge = QRect(text.right() - width, text.center().y() - height // 2 + 1, width, height)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(blend(theme.accent, theme.surface, 0.16)))
    painter.drawRoundedRect(badge, 4, 4)
    painter.setFont(small)
    painter.setPen(QColor(theme.accent))
    painter.drawText(badge, Qt.AlignmentFlag.AlignCenter, words)
    return width + 8


_NAME = Qt.ItemDataRole.UserRole
_ROW = Qt.ItemDataRole.UserRole + 1
_IS_DEFAULT = Qt.ItemDataRole.UserRole + 2
_MARKS = {
    "works": ("circle-check", "success"),
    "fails": ("circle-x", "error"),
    "running": ("loader", "muted"),
}


class ConnectionList(QtWidgets.QListWidget):
    """List of connections with at most one selected."""

    picked = Signal(str)  # name of the selected connection
    request_default = Signal(str)  # name, on double click or Return

    def __init__(self) -> None:
        super().__init__()
        self.setItemDelegate(RowDelegate(self, lambda index: index.data(_ROW)))
        self.setAccessibleName(tr("Connections"))
        self.setMouseTracking(True)
        self.setViewportMargins(0, 6, 0, 6)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.currentItemChanged.connect(self._on_current)
        self.itemActivated.connect(lambda item: self.request_default.emit(item.data(_NAME)))

    @property
    def name(self) -> str:
        """Name of the selected connection; empty for none."""
        item = self.currentItem()
        return str(item.data(_NAME)) if item is not None else ""

    def show_connections(
        self,
        connections: Connections,
        trial_of: Callable[[Connection], ConnectionTrial],
        current: str,
    ) -> None:
        """Show all connections and select `current` without a signal."""
        self.blockSignals(True)
        self.clear()
        for each in connections.connections:
            item = QtWidgets.QListWidgetItem(self)
            item.setData(_NAME, each.name)
            item.setData(_IS_DEFAULT, each.name == connections.default)
            self._say(item, each, trial_of(each))
            if each.name == current:
                self.setCurrentItem(item)
        self.blockSignals(False)

    def show_trial(self, connection: Connection, trial: ConnectionTrial) -> None:
        """Show the state of a test of a connection."""
        for row in range(self.count()):
            if self.item(row).data(_NAME) == connection.name:
                self._say(self.item(row), connection, trial)

    def _say(
        self, item: QtWidgets.QListWidgetItem, connection: Connection, trial: ConnectionTrial
    ) -> None:
        detail = " · ".join(filter(None, (_what(connection), state_words(trial))))
        badge = tr("default") if item.data(_IS_DEFAULT) else ""
        drawing, mark = ICONS[connection.kind], _MARKS.get(trial.state)
        item.setData(_ROW, Row(connection.name, detail, drawing, badge=badge, mark=mark))
        words = [connection.name, detail, state_words(trial), *filter(None, [badge])]
        item.setData(Qt.ItemDataRole.AccessibleTextRole, ", ".join(dict.fromkeys(words)))
        item.setToolTip(trial.probe.message if trial.probe is not None else "")

    def _on_current(self, item: QtWidgets.QListWidgetItem | None) -> None:
        if item is not None:
            self.picked.emit(str(item.data(_NAME)))


class ListButtons(QtWidgets.QWidget):
    """The row of buttons below the list."""

    request_add = Signal(Connection)  # Connection to start with
    request_duplicate = Signal()
    request_default = Signal()
    request_delete = Signal()

    def __init__(self) -> None:
        super().__init__()
        self.add = QtWidgets.QPushButton(icon("plus"), tr("Add"), autoDefault=False)
        self.add.setMenu(self._presets())
        self.duplicate = icon_button("copy", tr("Duplicate"), self.request_duplicate, parent=self)
        self.make_default = icon_button("flag", tr("Make it the default"), parent=self)
        self.delete = icon_button("trash-2", tr("Delete"), self.request_delete, parent=self)
        row_of(self.add, 1, self.duplicate, self.make_default, self.delete, on=self, margins=8)
        self.make_default.clicked.connect(self.request_default)

    def show_chosen(self, *, is_default: bool, is_last: bool) -> None:
        """Enable the buttons that apply to the selected connection.

        Args:
            is_default: whether it is the default.
            is_last: whether it is the last embedded model, which cannot be deleted.
        """
        self.make_default.setEnabled(not is_default)
        self.delete.setEnabled(not is_last)
        self.delete.setToolTip(
            tr("The embedded model cannot be deleted") if is_last else tr("Delete")
        )

    def _presets(self) -> QtWidgets.QMenu:
        menu = QtWidgets.QMenu(self, toolTipsVisible=True)
        for preset in all_presets():
            action = menu.addAction(icon(ICONS[preset.connection.kind]), preset_words(preset.title))
            action.setToolTip(preset_words(preset.hint))
            action.triggered.connect(
                lambda _=False, made=preset.connection: self.request_add.emit(made)
            )
        return menu


class DeleteQuestion(QtWidgets.QMessageBox):
    """Asks before a connection is deleted, and lists what is deleted with it."""

    agreed = Signal()

    def __init__(self, connection: Connection, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.setIcon(QtWidgets.QMessageBox.Icon.NoIcon)
        self.setWindowTitle(tr("Delete connection"))
        self.setText(tr("Delete the connection {name!r}?").format(name=connection.name))
        with_key = tr(" Its stored key is deleted as well.") if connection.key == KEYRING else ""
        self.setInformativeText(
            tr("Prompts that name it will use the default.{with_key}").format(with_key=with_key)
        )
        delete = self.addButton(tr("Delete"), QtWidgets.QMessageBox.ButtonRole.DestructiveRole)
        self.addButton(QtWidgets.QMessageBox.StandardButton.Cancel)
        delete.clicked.connect(self.agreed)
        self.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
