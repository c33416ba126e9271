"""The lines of one prompt that changed since the last commit, worked out in the background."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio.core.text.source import SourceText
from studio.viewmodels.app.jobs import LatestJob

if TYPE_CHECKING:
    from studio.application.document.revisions import LineChange
    from studio.core.prompty.document import PromptDocument

_READ_MS = 120
"""A file is painted before Git is asked for it."""


class ChangesController(QObject):
    """Knows the text of the last commit, and compares each newer one with it."""

    marked = Signal(SourceText, Mapping)  # SourceText compared, LineChange by line from 0

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self._path: Path | None = None
        self._base: str | None = None
        self._source: SourceText | None = None
        self._reading: LatestJob[str | None] = LatestJob(self)
        self._comparing: LatestJob[Mapping[int, LineChange]] = LatestJob(self)
        self._reading.finished.connect(self._on_read)
        self._comparing.finished.connect(self._on_compared)
        self._soon = QTimer(self)
        self._soon.setSingleShot(True)
        self._soon.setInterval(_READ_MS)
        self._soon.timeout.connect(self._read)

    def read(self, path: Path) -> None:
        """Look what the last commit holds of a file: it was opened, saved or renamed."""
        self._path = path
        self._soon.start()

    def _read(self) -> None:
        path = self._path
        if path is not None:
            self._reading.submit(lambda: _committed(path))

    def compare(self, document: PromptDocument) -> None:
        """Compare a newer text."""
        source, base = document.source, self._base
        self._source = source
        if base is not None:
            self._comparing.submit(lambda: _changes(base, source.text))

    def rest(self) -> None:
        """The prompt closes: nothing comes later."""
        self._soon.stop()
        self._reading.drop()
        self._comparing.drop()

    def _on_read(self, base: str | None) -> None:
        self._base = base
        source = self._source
        if source is None:
            return
        if base is None:
            self.marked.emit(source, {})
        else:
            self._comparing.submit(lambda: _changes(base, source.text))

    def _on_compared(self, changes: Mapping[int, LineChange]) -> None:
        if self._source is not None:
            self.marked.emit(self._source, dict(changes))


def _committed(path: Path) -> str | None:
    from studio.application.document.revisions import text_at  # not before the first paint

    return text_at(path)


def _changes(before: str, now: str) -> Mapping[int, LineChange]:
    from studio.application.document.revisions import line_changes

    return line_changes(before, now)
