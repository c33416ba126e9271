"""Marks of a prompt, computed in the background: changed lines and misspelled words."""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.text.source import SourceText
from studio.viewmodels.app.jobs import LatestJob, single_shot
from studio.viewmodels.app.notifications import Notifications

if TYPE_CHECKING:
    from studio.application.document.revisions import LineChange
    from studio.core.prompty.document import PromptDocument
    from studio.core.spelling import Misspelled

_READ_MS = 120
"""Delay in milliseconds: a file is painted before Git is started."""


class ChangesController(QObject):
    """Finds lines that differ from the text of the shown run, or else from the last commit."""

    marked = Signal(SourceText, Mapping)  # compared SourceText, LineChange by line from 0

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._base: str | None = None
        self._run: str | None = None
        """Text of the run whose answer is shown."""
        self._document: PromptDocument | None = None
        self._reading = LatestJob(self, self._on_read)
        self._comparing = LatestJob(self, self._on_compared)
        self._soon = single_shot(self, self._read, _READ_MS)

    def read(self, path: Path) -> None:
        """Read the last commit's text of a file that was opened, saved or renamed."""
        self._path = path
        self._soon.start()

    def _read(self) -> None:
        path = self._path
        if path is not None:
            self._reading.submit(lambda: _committed(path))

    def compare(self, document: PromptDocument) -> None:
        """Compare the text of a newer document."""
        self._document = document
        self._compare()

    def show_run(self, text: str | None) -> None:
        """Compare with the text of the run whose answer is shown; None if none is shown."""
        if text != self._run:
            self._run = text
            self._compare()

    def rest(self) -> None:
        """Stop all work when the prompt is closed."""
        self._soon.stop()
        self._reading.drop()
        self._comparing.drop()

    def _on_read(self, base: str | None) -> None:
        self._base = base
        self._compare()

    def _compare(self) -> None:
        document, base, is_run = self._document, self._base, self._run is not None
        before = self._run if self._run is not None else base
        if document is None:
            return
        if before is None:
            self.marked.emit(document.source, {})
        else:
            self._comparing.submit(partial(_changes, before, document, is_run=is_run))

    def _on_compared(self, changes: Mapping[int, LineChange]) -> None:
        if self._document is not None:
            self.marked.emit(self._document.source, dict(changes))


def _committed(path: Path) -> str | None:
    from studio.application.document.revisions import text_at  # not before the first paint

    return text_at(path)


def _changes(before: str, now: PromptDocument, *, is_run: bool) -> Mapping[int, LineChange]:
    from studio.application.document.revisions import line_changes

    if is_run:  # a run stores dots in place of secrets, one per character
        from studio.core.prompty.checks.secrets import source_without_secrets

        return line_changes(before, source_without_secrets(now))
    return line_changes(before, now.source.text)


class SpellingController(QObject):
    """Finds the misspelled words of the newest text."""

    marked = Signal(SourceText, tuple)  # checked SourceText, tuple[Misspelled, ...]

    def __init__(self, messages: Notifications, parent: QObject) -> None:
        super().__init__(parent)
        self._messages = messages
        self._language = ""
        self._own: frozenset[str] = frozenset()
        self._document: PromptDocument | None = None
        self._checking = LatestJob(self, self._on_checked, self._on_failed)

    def set_language(self, language: str, own: tuple[str, ...]) -> None:
        """Set the language and the user's own words; an empty language turns the check off."""
        if (language, frozenset(own)) == (self._language, self._own):
            return
        self._language, self._own = language, frozenset(own)
        self.check(self._document)

    def check(self, document: PromptDocument | None) -> None:
        """Check a document in the background; only the newest result counts."""
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
        """Return suggestions for a word; its check has already loaded the dictionary."""
        from studio.core.spelling import dictionary, suggestions

        return suggestions(word, dictionary(self._language)) if self._language else ()

    def rest(self) -> None:
        """Stop checking when the prompt is closed."""
        self._checking.drop()

    def _on_checked(self, marked: tuple[SourceText, tuple[Misspelled, ...]]) -> None:
        self.marked.emit(*marked)

    def _on_failed(self, error: Exception) -> None:
        self._messages.say(
            "warning",
            tr("Spelling cannot be checked: {error}.").format(error=error),
            tr("Choose another language: Edit, Check spelling…"),
            key="spelling",
        )


def _look_through(
    document: PromptDocument, language: str, own: frozenset[str]
) -> tuple[SourceText, tuple[Misspelled, ...]]:
    # The rules are loaded on first use, not with the window.
    from studio.core.spelling import dictionary, misspelled

    return document.source, misspelled(document, dictionary(language), own)
