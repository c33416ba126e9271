"""What a dialog asks of the background loop: one thing at a time."""

from __future__ import annotations

from collections.abc import Callable, Coroutine
from concurrent.futures import CancelledError, Future
from functools import partial
from typing import Any, TypeVar

from PySide6.QtCore import QObject, Signal

from studio.core.models.base import ModelError
from studio.core.text.reason import named_reason
from studio.viewmodels.app.background import Background

Result = TypeVar("Result")


class DialogTask(QObject):
    """Runs it, and says what went wrong; once it is closed nobody is told any more."""

    running_changed = Signal(bool)
    failed = Signal(str)  # a sentence

    def __init__(
        self,
        background: Background,
        errors: tuple[type[Exception], ...],
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            background: the loop.
            errors: what is told to the user; any other error is a defect.
            parent: its owner.
        """
        super().__init__(parent)
        self._background = background
        self._errors = errors
        self._work: Future[Any] | None = None

    @property
    def is_running(self) -> bool:
        """Whether something is asked."""
        return self._work is not None

    def start(self, work: Coroutine[Any, Any, Result], done: Callable[[Result], None]) -> None:
        """Run `work`, and hand on what comes of it; nothing while something else is asked."""
        if self._work is not None:
            work.close()
            return
        self._work = self._background.start(work, partial(self._end, done))
        self.running_changed.emit(True)

    def cancel(self) -> None:
        """End what is under way."""
        if self._work is not None:
            self._work.cancel()

    def close(self) -> None:
        """End what is under way; its end is not told."""
        work, self._work = self._work, None
        if work is not None:
            work.cancel()

    def _end(self, done: Callable[[Result], None], ended: Future[Result]) -> None:
        if ended is not self._work:
            return  # the dialog was closed
        self._work = None
        self.running_changed.emit(False)
        try:
            found = ended.result()
        except CancelledError:
            return
        except self._errors as error:
            self.failed.emit(failure_words(error))
        else:
            done(found)


def failure_words(error: Exception) -> str:
    """What went wrong, and what a model's error says to do."""
    hint = error.hint if isinstance(error, ModelError) else ""
    return f"{named_reason(error)} {hint}".strip()
