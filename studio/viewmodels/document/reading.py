"""What the text of an open document parses to, without ever slowing the keys."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, QTimer, Signal

from studio.viewmodels.app.jobs import LatestJob
from studio.viewmodels.app.notifications import Notifications

if TYPE_CHECKING:
    from studio.application.document.project_settings import ProjectFindings
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.problem import Problem

FIRST_WAIT_MS = 120
"""A file is painted before it is read: the reader would fight the window for the interpreter."""

_WAIT_MS = 25  # keys that come in one burst are parsed once
_COST_SHARE = 3
"""A text that takes long to read waits so many times as long for a pause in the typing."""

_BURST_SECONDS = 0.2
_BURST_COST_SHARE = 8
"""Between the keys of a burst, at most so many seconds apart, the wait is longer."""

_LONGEST_WAIT_MS = 400
_STALE_SECONDS = 1.5
_STALE_COST_SHARE = 8
"""Who never pauses is still told about the text after this long; later where reading is slow."""


class DocumentReading(QObject):
    """Parses the newest text in the pool, once the keys rest."""

    # `object`: the values that a prompt is read to are not imported before the first paint.
    parsed = Signal(object)  # PromptDocument of the newest text

    def __init__(
        self,
        messages: Notifications,
        text_now: Callable[[], tuple[str, Path | None]],
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            messages: where it is said that a text cannot be parsed.
            text_now: gives the text as it is, and its file.
            parent: its owner.
        """
        super().__init__(parent)
        self._messages = messages
        self._text_now = text_now
        self._held = False
        self._document: PromptDocument | None = None
        self._project: ProjectFindings | None = None
        self._seconds = 0.0
        self._unread_since = 0.0
        self._changed_at = 0.0
        self._is_burst = False
        self._parsing: LatestJob[tuple[PromptDocument, ProjectFindings, float]] = LatestJob(self)
        self._parsing.finished.connect(self._on_parsed)
        self._parsing.failed.connect(self._on_failed)
        self._timer = QTimer(self)
        self._timer.setSingleShot(True)
        self._timer.timeout.connect(self._parse)

    @property
    def document(self) -> PromptDocument | None:
        """The newest parsed document."""
        return self._document

    def findings(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Those problems that the file's project wants to be told, with what it asks for beside.

        Args:
            problems: of the newest document, and what later stages found.
        """
        if self._project is None or self._document is None:
            return tuple(problems)
        return self._project.reported(self._document, problems)

    def start(self, milliseconds: int) -> None:
        """Parse the text after a wait."""
        self._timer.start(milliseconds)

    def note_change(self) -> None:
        """The text changed: it is parsed when the keys rest, or after a while all the same."""
        now = monotonic()
        self._is_burst = now - self._changed_at < _BURST_SECONDS
        self._changed_at = now
        if not self._unread_since:
            self._unread_since = now
        stale = max(_STALE_SECONDS, self._seconds * _STALE_COST_SHARE)
        if now - self._unread_since < stale or not self._timer.isActive():
            self._timer.start(self._wait())

    def hold(self) -> None:
        """Leave the text unread until `release`: the window is about to be painted."""
        self._held = True

    def release(self) -> None:
        """Read what was left."""
        if self._held:
            self._held = False
            self._timer.start(0)

    def close(self) -> None:
        """Parse nothing any more."""
        self._timer.stop()
        self._parsing.drop()

    def _wait(self) -> int:
        """How long the keys must rest, so that reading a long text does not slow them."""
        share = _BURST_COST_SHARE if self._is_burst else _COST_SHARE
        return max(_WAIT_MS, min(round(self._seconds * 1000 * share), _LONGEST_WAIT_MS))

    def _parse(self) -> None:
        if self._held:
            return
        text, path = self._text_now()
        self._unread_since = 0.0
        self._parsing.submit(lambda: _parse(text, path))

    def _on_parsed(self, parsed: tuple[PromptDocument, ProjectFindings, float]) -> None:
        document, self._project, self._seconds = parsed
        self._document = document
        self.parsed.emit(document)

    def _on_failed(self, error: Exception) -> None:
        self._messages.error(
            self.tr("The text could not be checked."),
            self.tr("Your text is safe. Please report this with the file: {name}.").format(
                name=type(error).__name__
            ),
        )


def _parse(text: str, path: Path | None) -> tuple[PromptDocument, ProjectFindings, float]:
    """The document, what its project says of it, and the seconds of the processor it took."""
    from studio.application.document.project_settings import project_findings
    from studio.application.document.reading import read_document

    began = thread_time()
    document = read_document(text, path)
    return document, project_findings(document), thread_time() - began
