"""Files that macOS hands to the studio: by a double click in Finder, or a drop on its icon."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QCoreApplication, QEvent, QObject, Signal
from PySide6.QtGui import QFileOpenEvent


class FileOpenEvents(QObject):
    """Listens to the application; on macOS alone, for each event passes through it."""

    request_open = Signal(Path)  # a file that the system wants shown

    def __init__(self, application: QCoreApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the system's ask to open a file; all else goes its way."""
        if event.type() != QEvent.Type.FileOpen or not isinstance(event, QFileOpenEvent):
            return super().eventFilter(watched, event)
        name = event.file() or event.url().toLocalFile()
        if name:
            self.request_open.emit(Path(name))
        return bool(name)
