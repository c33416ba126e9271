"""A word to the desktop, where the user wants it and is looking elsewhere."""

from __future__ import annotations

from PySide6.QtCore import QObject, QTimer
from PySide6.QtWidgets import QSystemTrayIcon, QWidget

_SHOWN_MS = 20_000


class DesktopNotice(QObject):
    """Tells by the desktop's tray, which is there only while there is something to tell."""

    def __init__(self, window: QWidget) -> None:
        super().__init__(window)
        self._window = window
        self._tray: QSystemTrayIcon | None = None
        self._over = QTimer(self)
        self._over.setSingleShot(True)
        self._over.timeout.connect(self._hide)

    def tell(self, head: str, text: str) -> bool:
        """Tell it; whether the desktop took it, and the window was not in front."""
        if self._window.isActiveWindow() or not QSystemTrayIcon.isSystemTrayAvailable():
            return False
        if self._tray is None:
            self._tray = QSystemTrayIcon(self._window.windowIcon(), self)
            self._tray.messageClicked.connect(self._show_window)
        self._tray.show()
        self._tray.showMessage(head, text, QSystemTrayIcon.MessageIcon.Information, _SHOWN_MS)
        self._over.start(_SHOWN_MS)
        return True

    def _show_window(self) -> None:
        self._window.raise_()
        self._window.activateWindow()
        self._hide()

    def _hide(self) -> None:
        if self._tray is not None:
            self._tray.hide()
