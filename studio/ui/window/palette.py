"""The command palette: a field that finds commands, files and symbols."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QRect, QSize, Qt, Signal
from PySide6.QtGui import QIcon, QKeyEvent, QPainter, QPalette, QPixmap

from studio.application.words import tr
from studio.core.text.naming import score
from studio.ui.parts.kit import column_of, named

_WIDTH = 620
_ROW = 34
_ROWS = 11
_BEFORE_DETAIL = 52
"""Pixels of a row beside text and detail: icon, margins and a gap."""


@dataclass(frozen=True, slots=True)
class PaletteItem:
    """An item of the palette."""

    text: str
    """Text of the item."""

    act: Callable[[], object]
    """Function that is called when the item is chosen."""

    detail: str = ""
    """Text at the right: a shortcut, a folder."""

    icon: QIcon | None = None
    """Icon at the left."""

    enabled: bool = True
    """Whether it can be chosen now; other items are gray and last."""

    lead: int = 0
    """Extra points for items that are searched for more often."""


class CommandPalette(QtWidgets.QFrame):
    """Popup over the window; typing filters, Enter chooses, Esc closes it."""

    closed = Signal()

    def __init__(self, window: QtWidgets.QWidget) -> None:
        super().__init__(window)
        self._window = window
        self.setObjectName("palette")
        self._choices: Sequence[PaletteItem] = ()
        self._make: Callable[[str], Sequence[PaletteItem]] | None = None
        """Builds the items for typed text, if they are not given."""
        self._before: QtWidgets.QWidget | None = None
        self._field = named(QtWidgets.QLineEdit(), tr("Search"))
        self._list = named(QtWidgets.QListWidget(), tr("Results"))
        self._list.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self._list.setItemDelegate(_Rows(self._list))
        self._list.setUniformItemSizes(True)
        self._list.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self._list.setIconSize(QSize(16, 16))
        blank = QPixmap(16, 16)
        blank.fill(Qt.GlobalColor.transparent)
        self._no_icon = QIcon(blank)
        self._empty = QtWidgets.QLabel()
        self._empty.setProperty("tone", "muted")
        self._empty.setContentsMargins(8, 8, 8, 8)
        column_of(self._field, self._list, self._empty, on=self, margins=8, spacing=8)
        shadow = QtWidgets.QGraphicsDropShadowEffect(self)
        shadow.setBlurRadius(28)
        shadow.setOffset(0, 6)
        shadow.setColor(Qt.GlobalColor.black)
        self.setGraphicsEffect(shadow)
        self._field.textChanged.connect(self._filter)
        self._list.itemClicked.connect(self._choose)
        self._field.installEventFilter(self)
        self.hide()

    def ask(self, prompt: str, choices: Sequence[PaletteItem]) -> None:
        """Open the palette with items."""
        self._choices, self._make = choices, None
        self._empty.setText(tr("No match. Try fewer letters."))
        self._before = self.window().focusWidget()
        self._field.setPlaceholderText(prompt)
        self._field.clear()
        self._filter("")
        self.show()
        self.raise_()
        self._field.setFocus(Qt.FocusReason.PopupFocusReason)

    def ask_typed(self, prompt: str, choices: Callable[[str], Sequence[PaletteItem]]) -> None:
        """Open the palette with items that depend on the typed text."""
        self.ask(prompt, ())
        self._make = choices
        self._empty.setText(prompt)

    def leave(self) -> None:
        """Close without a choice; the focus returns to its previous widget."""
        self.hide()
        if self._before is not None and self._before.isVisible():
            self._before.setFocus(Qt.FocusReason.PopupFocusReason)
        self.closed.emit()

    def _filter(self, query: str) -> None:
        ranked = []
        made = None if self._make is None else self._make(query)
        for number, choice in enumerate(self._choices if made is None else made):
            points = _points(query, choice) if made is None else 0
            if points is not None:
                ranked.append((not choice.enabled, -points, number, choice))
        ranked.sort(key=lambda each: each[:3])
        self._list.clear()
        for _, _, _, choice in ranked[:200]:
            item = QtWidgets.QListWidgetItem(choice.text)
            item.setIcon(choice.icon if choice.icon is not None else self._no_icon)
            item.setData(Qt.ItemDataRole.UserRole, choice)
            item.setToolTip(choice.detail)
            if not choice.enabled:
                item.setFlags(item.flags() & ~Qt.ItemFlag.ItemIsEnabled)
            self._list.addItem(item)
        self._list.setCurrentRow(0)
        self._empty.setVisible(not ranked)
        self._list.setVisible(bool(ranked))
        self._place()

    def _place(self) -> None:
        room = self._window.width()
        width = min(_WIDTH, room - 32)
        rows = min(max(self._list.count(), 1), _ROWS)
        self._list.setFixedHeight(rows * _ROW + 4)
        self.setGeometry(QRect((room - width) // 2, 64, width, self.sizeHint().height()))
        self.adjustSize()
        self.resize(width, self.sizeHint().height())

    def _choose(self, item: QtWidgets.QListWidgetItem | None = None) -> None:
        chosen = item or self._list.currentItem()
        if chosen is None or not chosen.flags() & Qt.ItemFlag.ItemIsEnabled:
            return
        choice: PaletteItem = chosen.data(Qt.ItemDataRole.UserRole)
        self.leave()
        choice.act()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the keys that move in the list and are not used by the field."""
        if event.type() == QEvent.Type.FocusOut and self.isVisible() and not self.hasFocus():
            self.hide()
            self.closed.emit()
            return False
        if not isinstance(event, QKeyEvent) or event.type() != QEvent.Type.KeyPress:
            return super().eventFilter(watched, event)
        row, count = self._list.currentRow(), self._list.count()
        match event.key():
            case Qt.Key.Key_Escape:
                self.leave()
            case Qt.Key.Key_Return | Qt.Key.Key_Enter:
                self._choose()
            case Qt.Key.Key_Down if count:
                self._list.setCurrentRow((row + 1) % count)
            case Qt.Key.Key_Up if count:
                self._list.setCurrentRow((row - 1) % count)
            case Qt.Key.Key_PageDown if count:
                self._list.setCurrentRow(min(row + _ROWS, count - 1))
            case Qt.Key.Key_PageUp if count:
                self._list.setCurrentRow(max(row - _ROWS, 0))
            case _:
                return super().eventFilter(watched, event)
        return True


def _points(query: str, choice: PaletteItem) -> int | None:
    """Score an item by its text, or by folder and text if a path is typed."""
    points = score(query, choice.text)
    if points is None and "/" in query:
        points = score(query, f"{choice.detail}/{choice.text}")
    return points + choice.lead if query and points is not None else points


def detail_room(row: QRect, text_width: int) -> QRect:
    """Return the area of a row's detail: the rest beside icon and text.

    Args:
        row: the whole row.
        text_width: pixels of the text.
    """
    return row.adjusted(min(row.width() - 10, text_width + _BEFORE_DETAIL), 0, -10, 0)


class _Rows(QtWidgets.QStyledItemDelegate):
    """Rows with a detail at the right."""

    def sizeHint(self, option: QtWidgets.QStyleOptionViewItem, index: object) -> QSize:
        """Return the same height for all."""
        return QSize(200, _ROW)

    def paint(
        self, painter: QPainter, option: QtWidgets.QStyleOptionViewItem, index: object
    ) -> None:
        """Paint the text, then the detail in a muted color."""
        super().paint(painter, option, index)  # type: ignore[arg-type]
        choice: PaletteItem = index.data(Qt.ItemDataRole.UserRole)  # type: ignore[attr-defined]
        if not choice.detail:
            return
        painter.save()
        muted = option.palette.color(QPalette.ColorRole.PlaceholderText)
        painter.setPen(muted)
        chosen = option.state & QtWidgets.QStyle.StateFlag.State_Selected
        if chosen:
            painter.setPen(option.palette.color(QPalette.ColorRole.Text))
        room = detail_room(option.rect, option.fontMetrics.horizontalAdvance(choice.text))
        # Text that does not fit is elided, never painted over; the tooltip has all of it.
        shown = option.fontMetrics.elidedText(
            choice.detail, Qt.TextElideMode.ElideRight, room.width()
        )
        painter.drawText(room, Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter, shown)
        painter.restore()
