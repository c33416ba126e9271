"""Notifications in the editor's corner: what happened, where, and what to do.

If enabled, the desktop also shows them while another window is active.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import QEvent, QObject, QPoint, QRect, Qt, QTimer

from studio.application.words import tr
from studio.ui.parts.kit import Drawing, column_of, push_button
from studio.ui.style.theme import icon
from studio.viewmodels.app.jobs import single_shot

if TYPE_CHECKING:
    from studio.viewmodels.app.notifications import Notification, Notifications

_MARKS = {
    "info": ("info", 18, "hint"),
    "success": ("circle-check", 18, "success"),
    "warning": ("triangle-alert", 18, "warning"),
    "error": ("circle-x", 18, "error"),
}
"""Icon, size and tone of each severity."""

_SECONDS = {"info": 5, "success": 5}
_WIDTH, _LEAST = 400, 280
_MOST = 4
_MARGIN = 16
_STATUS_LINE = 28
_MOST_SHARE = 0.4
"""Maximum share of the window's height; older notifications wait behind a button."""

_SHOWN_MS = 20_000


class NoticeArea(QtWidgets.QWidget):
    """Cards over the editor's lower right corner, each of which can be closed."""

    def __init__(self, window: QtWidgets.QWidget, messages: Notifications) -> None:
        super().__init__(window)
        self._window = window
        self._cards: list[_Card] = []
        self._box = column_of(on=self, margins=0, spacing=8)
        self._is_open = False
        self.more = push_button("", self._open, name=tr("More notices"))
        self.more.hide()
        self._box.addWidget(self.more, 0, Qt.AlignmentFlag.AlignRight)
        window.installEventFilter(self)
        messages.noticed.connect(self.show_notice)
        messages.withdrawn.connect(self.withdraw)
        self.hide()

    @property
    def notices(self) -> list[Notification]:
        """Return the shown notifications, the oldest first."""
        return [card.notice for card in self._cards]

    def show_notice(self, notice: Notification) -> None:
        """Add a card; it replaces one with the same key or text."""
        for card in list(self._cards):
            same = notice.key and card.notice.key == notice.key
            if same or card.notice == notice:
                self._remove(card)
        if not self._cards and (center := self._center()) is not None:
            center.installEventFilter(self)  # an installed filter is not installed twice
        while len(self._cards) >= _MOST:
            self._remove(self._cards[0])
        card = _Card(notice, self)
        card.close_button.clicked.connect(lambda: self._remove(card))
        card.finished.timeout.connect(lambda: self._remove(card))
        for button in card.offers:
            button.clicked.connect(lambda: self._remove(card))
        self._cards.append(card)
        self._box.addWidget(card)
        self._place()

    def clear(self) -> None:
        """Remove all cards."""
        for card in list(self._cards):
            self._remove(card)

    def withdraw(self, key: str) -> None:
        """Remove the notification with a key."""
        for card in list(self._cards):
            if key and card.notice.key == key:
                self._remove(card)

    def _remove(self, card: _Card) -> None:
        if card not in self._cards:
            return
        card.finished.stop()
        self._cards.remove(card)
        self._box.removeWidget(card)
        card.hide()
        card.deleteLater()
        self._place()

    def _place(self) -> None:
        if not self._cards:
            self._is_open = False
            self.hide()
            return
        room = self._room()
        width = min(_WIDTH, room.width() - 2 * _MARGIN)
        heights = self._share_room(width)
        self._box.activate()
        height = sum(heights) + self._box.spacing() * (len(heights) - 1)
        if room.height() < height + 2 * _MARGIN:
            room = self._inside()
        left, top = room.right() - width - _MARGIN, room.bottom() - height - _MARGIN
        self.setGeometry(left, top, width, height)
        self.show()
        self.raise_()

    def _room(self) -> QRect:
        """Return the area of the cards: over the editor, so that panes stay readable."""
        center, inside = self._center(), self._inside()
        if center is None or center.isHidden() or center.width() < _LEAST:
            return inside
        return QRect(center.mapTo(self._window, QPoint()), center.size()) & inside

    def _inside(self) -> QRect:
        return self._window.rect().adjusted(0, 0, 0, -_STATUS_LINE)

    def _center(self) -> QtWidgets.QWidget | None:
        return (
            self._window.centralWidget()
            if isinstance(self._window, QtWidgets.QMainWindow)
            else None
        )

    def _share_room(self, width: int) -> list[int]:
        """Show the newest notifications that fit; return the heights of the shown ones."""
        most = self._window.height() * _MOST_SHARE
        heights: list[int] = []
        waiting = 0
        for card in reversed(self._cards):
            height = card.heightForWidth(width)
            height = height if card.hasHeightForWidth() else card.sizeHint().height()
            is_shown = (
                not heights or self._is_open or (not waiting and sum(heights) + height <= most)
            )
            card.setVisible(is_shown)
            if is_shown:
                heights.append(height)
            else:
                waiting += 1
        self.more.setVisible(bool(waiting))
        if waiting:
            self.more.setText(tr("{count} more").format(count=waiting))
            heights.append(self.more.sizeHint().height())
        return heights

    def _open(self) -> None:
        self._is_open = True
        self._place()

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Stay in the corner."""
        if event.type() in (QEvent.Type.Resize, QEvent.Type.Move):
            self._place()
        return super().eventFilter(watched, event)


class _Card(QtWidgets.QFrame):
    def __init__(self, notice: Notification, parent: QtWidgets.QWidget) -> None:
        super().__init__(parent)
        self.notice = notice
        self.setObjectName("notice")
        self.setProperty("weight", notice.weight)
        self.setAccessibleName(f"{notice.weight}: {notice.what}")
        self.setSizePolicy(
            QtWidgets.QSizePolicy.Policy.Preferred, QtWidgets.QSizePolicy.Policy.Minimum
        )
        what = QtWidgets.QLabel(notice.what, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
        what.setProperty("title", True)
        self.close_button = QtWidgets.QToolButton()
        self.close_button.setIcon(icon("x"))
        self.close_button.setAccessibleName(tr("Close this notice"))
        self.finished = QTimer(self, singleShot=True)
        seconds = _SECONDS.get(notice.weight, 0)
        if seconds and not notice.offers:
            self.finished.start(seconds * 1000)
        top = QtWidgets.QHBoxLayout()
        top.setSpacing(12)
        top.addWidget(Drawing(*_MARKS[notice.weight]), 0, Qt.AlignmentFlag.AlignTop)
        top.addWidget(what, 1)
        top.addWidget(self.close_button, 0, Qt.AlignmentFlag.AlignTop)
        box = column_of(top, on=self, margins=(12, 8, 8, 8), spacing=4)
        for text in (notice.hint, notice.where):
            if text:
                label = QtWidgets.QLabel(text, textFormat=Qt.TextFormat.PlainText, wordWrap=True)
                label.setProperty("tone", "muted")
                label.setContentsMargins(28, 0, 0, 0)
                box.addWidget(label)
        self.offers = self._add_offers(box)

    def _add_offers(self, box: QtWidgets.QVBoxLayout) -> list[QtWidgets.QPushButton]:
        buttons: list[QtWidgets.QPushButton] = []
        from studio.ui.parts.kit import FlowLayout

        row, flow = QtWidgets.QHBoxLayout(), FlowLayout()
        row.setContentsMargins(28, 4, 0, 0)
        row.addLayout(flow, 1)
        for offer in self.notice.offers:
            button = push_button(offer.title, offer.act)
            flow.addWidget(button)
            buttons.append(button)
        if buttons:
            box.addLayout(row)
        return buttons


class DesktopNotice(QObject):
    """Sends a notification through the desktop's tray icon, which exists only meanwhile."""

    def __init__(self, window: QtWidgets.QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QtWidgets.QSystemTrayIcon | None = None
        self._over = single_shot(self, self._hide)

    def tell(self, head: str, text: str) -> bool:
        """Show a notification if the window is inactive; return whether the desktop accepted it."""
        if self._window.isActiveWindow() or not QtWidgets.QSystemTrayIcon.isSystemTrayAvailable():
            return False
        if self._tray is None:
            self._tray = QtWidgets.QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.messageClicked.connect(self._show_window)
        self._tray.show()
        self._tray.showMessage(
            head, text, QtWidgets.QSystemTrayIcon.MessageIcon.Information, _SHOWN_MS
        )
        self._over.start(_SHOWN_MS)
        return True

    def _show_window(self) -> None:
        self._window.raise_()
        self._window.activateWindow()
        self._hide()

    def _hide(self) -> None:
        if self._tray is not None:
            self._tray.hide()
