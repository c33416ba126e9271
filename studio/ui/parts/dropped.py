"""Files of this machine that are dropped or pasted from the desktop."""

from __future__ import annotations

from collections.abc import Callable, Collection
from pathlib import Path

from PySide6.QtCore import QEvent, QMimeData, QObject
from PySide6.QtGui import QDropEvent
from PySide6.QtWidgets import QWidget

from studio.core.text.files import read_bounded

_LARGEST = 1_000_000
"""Bytes of a text that a field takes over."""


class FileDrop(QObject):
    """Lets a file be dropped on a widget."""

    def __init__(
        self, widget: QWidget, take: Callable[[Path], object], endings: Collection[str] = ()
    ) -> None:
        """Begin to take files.

        Args:
            widget: on which they may be dropped.
            take: is given the file.
            endings: of the files that it takes, in small letters; empty for any.
        """
        super().__init__(widget)
        self._take = take
        self._endings = endings
        widget.setAcceptDrops(True)
        widget.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Take the file; what is none is for the widgets around."""
        if not isinstance(event, QDropEvent):
            return False
        is_drop = event.type() == QEvent.Type.Drop
        path = dropped_file(event.mimeData())
        if path is None or not (is_drop or event.type() == QEvent.Type.DragEnter):
            return False
        if self._endings and path.suffix.lower() not in self._endings:
            return False
        event.acceptProposedAction()
        if is_drop:
            self._take(path)
        return True


def dropped_files(data: QMimeData) -> list[Path]:
    """Return every dropped local file and folder; none if anything else is among them."""
    paths = [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]
    return paths if len(paths) == len(data.urls()) else []


def dropped_file(data: QMimeData) -> Path | None:
    """Return the first file of this machine among what is dropped."""
    paths = (Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile())
    return next((path for path in paths if path.is_file()), None)


def text_of(path: Path) -> str | None:
    """Return the text of a file; None where it is none, too long or cannot be read."""
    try:
        text = read_bounded(path, _LARGEST).decode("utf-8-sig")
    except (OSError, UnicodeDecodeError):
        return None
    return None if "\0" in text else text.replace("\r\n", "\n")
