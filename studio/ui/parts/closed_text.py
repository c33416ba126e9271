"""The view of every text that a model, a prompt or a stranger wrote: it loads nothing."""

from __future__ import annotations

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QCursor, QDesktopServices, QImage
from PySide6.QtWidgets import QFrame, QMenu, QTextBrowser, QWidget

from studio.application.words import tr
from studio.core.text.invisible import reveal

_NOTHING = 1


class ClosedText(QTextBrowser):
    """Shows HTML or Markdown without opening a file, an address or a link."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setFrameShape(QFrame.Shape.NoFrame)
        self.setOpenLinks(False)
        self.anchorClicked.connect(self._offer)

    def loadResource(self, kind: int, name: QUrl | str) -> object:
        """Return an empty picture for everything: with a text or None, Qt opens the file itself."""
        nothing = QImage(_NOTHING, _NOTHING, QImage.Format.Format_ARGB32)
        nothing.fill(0)
        return nothing

    def _offer(self, link: QUrl) -> None:
        """Show the address of a web page, which opens only from here; other links do nothing."""
        if link.scheme() not in ("http", "https"):
            return
        address = reveal(link.toString(QUrl.ComponentFormattingOption.FullyEncoded), lines=False)
        menu = QMenu(self)
        menu.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        menu.addAction(address.replace("&", "&&")).setEnabled(False)
        words = tr("Open this page in the browser")
        menu.addAction(words).triggered.connect(lambda: QDesktopServices.openUrl(link))
        menu.popup(QCursor.pos())
