"""What of an agent file is loaded when: its parts in their order, each with its tokens."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from PySide6.QtCore import QT_TRANSLATE_NOOP, QCoreApplication
from PySide6.QtWidgets import QTextBrowser, QWidget

from studio.application.document.loading import LoadedPart

_WORDS = (
    QT_TRANSLATE_NOOP("LoadedView", "always"),
    QT_TRANSLATE_NOOP("LoadedView", "when the skill is used"),
    QT_TRANSLATE_NOOP("LoadedView", "in the list of commands"),
    QT_TRANSLATE_NOOP("LoadedView", "when it is called"),
    QT_TRANSLATE_NOOP("LoadedView", "in the list of agents"),
    QT_TRANSLATE_NOOP("LoadedView", "with each request to this agent"),
    QT_TRANSLATE_NOOP("LoadedView", "always, for files in its folder"),
    QT_TRANSLATE_NOOP("LoadedView", "when it is run"),
    QT_TRANSLATE_NOOP("LoadedView", "when it is read"),
    QT_TRANSLATE_NOOP("LoadedView", "name and description"),
    QT_TRANSLATE_NOOP("LoadedView", "body"),
)
"""The words of `loaded_parts`, marked for translation."""


class LoadedView(QTextBrowser):
    """A page to read; a file beside is named with its tokens, the other parts are shown whole."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.setAccessibleName(self.tr("What is loaded when"))
        self.setFrameShape(QTextBrowser.Shape.NoFrame)
        self.setOpenLinks(False)
        self.document().setDocumentMargin(12)

    def show_parts(self, parts: Sequence[LoadedPart]) -> None:
        """Show parts; where it is scrolled to stays."""
        at = self.verticalScrollBar().value()
        self.setHtml("".join(self._section(part) for part in parts))
        self.verticalScrollBar().setValue(at)

    def _section(self, part: LoadedPart) -> str:
        words = self.tr("{when}: {what}, about {tokens} tokens")
        if part.tokens == 1:
            words = self.tr("{when}: {what}, about 1 token")
        head = words.format(when=_word(part.when), what=_word(part.what), tokens=f"{part.tokens:,}")
        text = f'<p style="white-space: pre-wrap">{escape(part.text)}</p>' if part.text else ""
        return f"<h4>{escape(head[:1].upper() + head[1:])}</h4>{text}"


def _word(text: str) -> str:
    return QCoreApplication.translate("LoadedView", text) if text in _WORDS else text
