"""The view of every text that a model, a prompt or a stranger wrote: it loads nothing."""

from __future__ import annotations

from PySide6.QtCore import QUrl
from PySide6.QtGui import QImage
from PySide6.QtWidgets import QFrame, QTextBrowser, QWidget

_NOTHING = 1


class ClosedText(QTextBrowser):
    """Shows HTML or Markdown without opening a file, an address or a link."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return an empty picture for everything: with a text or None, Qt opens the file itself."""
        nothing = QImage(_NOTHING, _NOTHING, QImage.Format.Format_ARGB32)
        nothing.fill(0)
        return nothing
