"""Checks the spelling of one prompt in the background."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.core.text.source import SourceText
from studio.viewmodels.app.jobs import LatestJob
from studio.viewmodels.app.notifications import Notification, Notifications

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.spelling import Misspelled


class SpellingController(QObject):
    """Knows the misspelled words of the newest text."""

    marked = Signal(SourceText, tuple)  # SourceText that was checked, tuple[Misspelled, ...]

    def __init__(self, messages: Notifications, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._language = ""
        self._own: frozenset[str] = frozenset()
        self._document: PromptDocument | None = None
        self._checking: LatestJob[tuple[SourceText, tuple[Misspelled, ...]]] = LatestJob(self)
        self._checking.finished.connect(self._on_checked)
        self._checking.failed.connect(self._on_failed)

    def set_language(self, language: str, own: tuple[str, ...]) -> None:
        """Check in a language from now on, with the user's own words; none where empty."""
        if (language, frozenset(own)) == (self._language, self._own):
            return
        self._language, self._own = language, frozenset(own)
        self.check(self._document)

    def check(self, document: PromptDocument | None) -> None:
        """Look through a document, in the background; the newest one wins."""
        self._document = document
        if document is None:
            return
        language, own = self._language, self._own
        if not language:
            self._checking.drop()
            self.marked.emit(document.source, ())
            return
        self._checking.submit(lambda: _look_through(document, language, own))

    def suggestions(self, word: str) -> tuple[str, ...]:
        """What may be meant by a word; the dictionary is loaded, as the word was marked by it."""
        from studio.core.spelling import dictionary, suggestions

        return suggestions(word, dictionary(self._language)) if self._language else ()

    def rest(self) -> None:
        """The prompt closes: look through nothing more."""
        self._checking.drop()

    def _on_checked(self, marked: tuple[SourceText, tuple[Misspelled, ...]]) -> None:
        self.marked.emit(*marked)

    def _on_failed(self, error: Exception) -> None:
        self._messages.say(
            Notification(
                "warning",
                self.tr("Spelling cannot be checked: {error}.").format(error=error),
                self.tr("Choose another language: Edit, Check spelling…"),
                key="spelling",
            )
        )


def _look_through(
    document: PromptDocument, language: str, own: frozenset[str]
) -> tuple[SourceText, tuple[Misspelled, ...]]:
    # The rules load with their first use, not with the window.
    from studio.core.spelling import dictionary, misspelled

    return document.source, misspelled(document, dictionary(language), own)
