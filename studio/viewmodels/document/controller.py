"""One open document: its file, its unsaved changes, and changes of the file on disk.

It also parses the text in the background, without delaying key presses.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from dataclasses import replace
from pathlib import Path
from threading import BoundedSemaphore, Lock
from time import monotonic, thread_time
from typing import TYPE_CHECKING

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from studio.application.document import files
from studio.application.words import tr
from studio.core.paths import TRIALS, program
from studio.viewmodels.app.jobs import LatestJob, in_thread, single_shot
from studio.viewmodels.app.notifications import NotificationAction, Notifications
from studio.viewmodels.document.swap import Swap, SwapFolder, make_swap

if TYPE_CHECKING:
    from studio.application.document.project_settings import ProjectFindings
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import Problem


FIRST_WAIT_MS = 120
"""Delay in milliseconds: a file is painted before it is parsed, since both need the interpreter."""

_WAIT_MS = 25  # keys of one burst are parsed once
_COST_SHARE = 3
"""Multiple of a parse's time that typing must pause before the next parse."""

_BURST_SECONDS = 0.2
_BURST_COST_SHARE = 8
"""Larger multiple within a burst of keys, whose intervals are at most `_BURST_SECONDS`."""

_LONGEST_WAIT_MS = 400
_STALE_SECONDS = 1.5
_STALE_COST_SHARE = 8
"""Multiple of a parse's time, at least 1.5 s, after which a parse interrupts typing."""


TRIED_SECONDS = 1.0
"""A text that took longer to read is tried apart after each edit."""

_MOST_TRIALS = 8
_SLOW_MS = 500
"""Milliseconds after which a trial is shown."""


class TextTrials:
    """Tries texts in a child process, which is started with the first text.

    A text that crashes or blocks that process would do the same to the window.
    """

    def __init__(self) -> None:
        self._lock = Lock()
        self._free = BoundedSemaphore(_MOST_TRIALS)
        self._ask: Callable[[list[tuple[str, Path | None]]], list[Problem | None]] | None = None
        self._end: Callable[[], object] = lambda: None

    def failure_of(self, text: str, path: Path | None) -> Problem | None:
        """Try a text, wait for the result, and return its failure. Safe to call from any thread."""
        with self._lock:
            if self._ask is None:
                from studio.core.prompty.evaluation import beside

                self._ask, self._end = beside([*program(), TRIALS])
        with self._free:
            return self._ask([(text, path)])[0]

    def close(self) -> None:
        """End the process and its trials."""
        with self._lock:
            self._end()


class DocumentReading(QObject):
    """Parses the newest text in the pool when typing pauses."""

    # `object`: the type of a parsed prompt is not imported before the first paint.
    parsed = Signal(object)  # PromptDocument of the newest text

    def __init__(
        self,
        messages: Notifications,
        text_now: Callable[[], tuple[str, Path | None]],
        parent: QObject | None = None,
    ) -> None:
        """Create it without a text.

        Args:
            messages: notifications, which report a text that cannot be parsed.
            text_now: returns the current text and its file.
            parent: its owner.
        """
        super().__init__(parent)
        self._messages = messages
        self._text_now = text_now
        self._held = False
        self.trials: TextTrials | None = None
        """Tries each text from outside the editor before it is parsed."""
        self._is_untried = True
        self.document: PromptDocument | None = None
        """The newest parsed document."""
        self._project: ProjectFindings | None = None
        self._seconds = 0.0
        self._unread_since = 0.0
        self._changed_at = 0.0
        self._is_burst = False
        self._parsing = LatestJob(self, self._on_parsed, self._on_failed)
        self._trying = LatestJob(self, self._on_tried, self._on_failed, start=in_thread)
        self._timer = single_shot(self, self._parse)
        self._slow = single_shot(self, self._show_slow, _SLOW_MS)

    def findings(self, problems: Iterable[Problem]) -> tuple[Problem, ...]:
        """Return the problems after the project's settings, with the project's own problems.

        Args:
            problems: problems of the newest document and of later stages.
        """
        if self._project is None or self.document is None:
            return tuple(problems)
        return self._project.reported(self.document, problems)

    def start(self, milliseconds: int) -> None:
        """Parse the text after a delay in milliseconds; a text to be tried is tried at once."""
        self._timer.start(0 if self.tries_first else milliseconds)

    @property
    def tries_first(self) -> bool:
        """Whether a changed text is tried apart before the window may read it."""
        return self.trials is not None and self._is_untried

    def distrust(self) -> None:
        """Try the text before it is parsed, since it comes from the disk or is pasted."""
        self._is_untried = True

    def note_change(self) -> None:
        """Schedule a parse of the changed text when typing pauses, or after a maximum delay."""
        now = monotonic()
        self._is_burst = now - self._changed_at < _BURST_SECONDS
        self._changed_at = now
        if not self._unread_since:
            self._unread_since = now
        stale = max(_STALE_SECONDS, self._seconds * _STALE_COST_SHARE)
        if now - self._unread_since < stale or not self._timer.isActive():
            self._timer.start(self._wait())

    def hold(self) -> None:
        """Delay parsing until `release`: the window is about to be painted."""
        self._held = True

    def release(self) -> None:
        """Start the delayed parse."""
        if self._held:
            self._held = False
            self._timer.start(0)

    def read_now(self) -> PromptDocument | None:
        """Return the document of the current text; parse it now if a parse is scheduled.

        Return None for a changed text that must be tried first.
        """
        text, path = self._text_now()
        if self.document is not None and self.document.source.text != text:
            if self.tries_first:
                return None
            self._timer.stop()
            self._parsing.drop()
            self._unread_since = 0.0
            self._on_parsed(_parse(text, path))
        return self.document

    def close(self) -> None:
        """Stop parsing."""
        self._timer.stop()
        self._slow.stop()
        self._trying.drop()
        self._parsing.drop()

    def _wait(self) -> int:
        """Return the pause in typing before a parse, so that long texts do not slow typing."""
        share = _BURST_COST_SHARE if self._is_burst else _COST_SHARE
        return max(_WAIT_MS, min(round(self._seconds * 1000 * share), _LONGEST_WAIT_MS))

    def _parse(self) -> None:
        if self._held:
            return
        text, path = self._text_now()
        self._unread_since = 0.0
        if self.trials is not None and self._is_untried:
            failure_of = self.trials.failure_of
            self._trying.submit(lambda: (text, failure_of(text, path)))
            self._slow.start()
        else:
            self._parsing.submit(lambda: _parse(text, path))

    def _on_tried(self, tried: tuple[str, Problem | None]) -> None:
        text, failure = tried
        if text != self._text_now()[0]:
            return  # the change is tried for itself
        self._slow.stop()
        if failure is None:
            self._is_untried = False
            self._parse()
        else:
            self._leave_unread(failure)

    def _show_slow(self) -> None:
        from studio.core.text.source import Problem, Severity, Span

        words = tr("This text takes long: it is first tried in a separate process.")
        self._leave_unread(Problem("being-tried", Severity.ERROR, words, Span(0, 0)))

    def _leave_unread(self, reason: Problem) -> None:
        from studio.application.document.checked_file import unread

        self._project = None
        self.document = unread(*self._text_now(), reason)
        self.parsed.emit(self.document)

    def _on_parsed(self, parsed: tuple[PromptDocument, ProjectFindings, float]) -> None:
        document, self._project, self._seconds = parsed
        self._is_untried |= self._seconds > TRIED_SECONDS
        self.document = document
        self.parsed.emit(document)

    def _on_failed(self, error: Exception) -> None:
        self._messages.error(
            tr("The text could not be checked."),
            tr("Your text is safe. Please report this with the file: {name}.").format(
                name=type(error).__name__
            ),
        )


def _parse(text: str, path: Path | None) -> tuple[PromptDocument, ProjectFindings, float]:
    """Parse the text; also return the problems of its project and the CPU time in seconds."""
    from studio.application.document.checked_file import read_document
    from studio.application.document.project_settings import project_findings

    began = thread_time()
    document = read_document(text, path)
    return document, project_findings(document), thread_time() - began


UNTITLED = "Untitled-"
"""Beginning of the title of a document without a file."""

_SWAP_MS = 600  # typed text is on disk within a second
_WATCH_MS = 150  # editors write in several steps


class DocumentController(QObject):
    """Loads and saves a document; `reading` parses it.

    The editor holds the text; `read_text` returns it.
    """

    dirty_changed = Signal(bool)
    path_changed = Signal(Path)
    path_moved = Signal(str, str)  # previous path, empty if it was never saved; new path
    changed_on_disk = Signal(files.FileText)  # FileText that is on disk now
    gone_from_disk = Signal()
    disk_settled = Signal()  # the user chose between the text here and the text on disk
    saved = Signal(Path)
    saved_over = Signal(Path, str)  # the file, and the text that it contained before

    def __init__(
        self,
        messages: Notifications,
        swaps: SwapFolder,
        read_text: Callable[[], str],
        parent: QObject | None = None,
    ) -> None:
        super().__init__(parent)
        self.id = os.urandom(16).hex()
        self._messages = messages
        self._swaps = swaps
        self._read_text = read_text
        self.file = files.FileText("")
        """The file as last read or written."""
        self.path: Path | None = None
        """The file, if there is one."""
        self._title = tr("Untitled")
        self.is_dirty = False
        """Whether the text differs from the file."""
        self.reading = DocumentReading(messages, lambda: (read_text(), self.path), self)
        """Parses the text."""
        self._swapping: LatestJob[None] = LatestJob(self)
        self._watcher = QFileSystemWatcher(self)
        self._swap_timer = self._timer(_SWAP_MS, self._write_swap)
        self._watch_timer = self._timer(_WATCH_MS, self._look_at_disk)
        self._wire()

    def _wire(self) -> None:
        self._swapping.failed.connect(self._on_swap_failed)
        self._watcher.fileChanged.connect(self._watch_timer.start)
        self._watcher.directoryChanged.connect(self._watch_timer.start)

    def _timer(self, milliseconds: int, slot: Callable[[], None]) -> QTimer:
        return single_shot(self, slot, milliseconds)

    # -- state ----------------------------------------------------------------------------------

    @property
    def title(self) -> str:
        """Title of the tab."""
        return self.path.name if self.path else self._title

    @property
    def is_read_only(self) -> bool:
        """Whether the file cannot be written."""
        return self.path is not None and files.is_read_only(self.path)

    # -- opening --------------------------------------------------------------------------------

    def begin(self, text: str, title: str) -> None:
        """Start with a text without a file."""
        self.file, self._title = files.FileText(text), title
        self.reading.start(FIRST_WAIT_MS)

    def open(self, path: Path) -> files.FileText:
        """Read a file.

        Raises:
            FileError: the file cannot be read.
        """
        file = files.read_file(path)
        self._take(path, file)
        for notice in file.notices:
            self._messages.say("warning", notice, where=path.name)
        return file

    def recover(self, path: Path | None, title: str, base: str) -> None:
        """Restore the text of a crashed session as unsaved, whatever the file contains."""
        self._title = title
        if path is not None:
            file = files.FileText("")
            if path.exists():
                try:
                    file = files.read_file(path)
                except files.FileError as error:
                    self._messages.error(str(error), error.hint)
            self._take(path, replace(file, digest=base or file.digest))
            self._watch_timer.start()  # the file may have changed since the text was stored
        self._set_dirty(True)
        self._swap_timer.start(0)

    def _take(self, path: Path, file: files.FileText) -> None:
        self.file = file
        self._set_path(path)
        self.reading.start(FIRST_WAIT_MS)

    # -- typing ---------------------------------------------------------------------------------

    def text_changed(self) -> None:
        """Parse the editor's changed text, and save it to the swap file within a second."""
        self.reading.note_change()
        if not self._swap_timer.isActive():
            self._swap_timer.start()

    def set_modified(self, modified: bool) -> None:
        """Set whether the editor's text differs from the loaded or saved one."""
        self._set_dirty(modified)
        if not modified:
            self._swap_timer.stop()
            self._swapping.drop()
            self._swaps.forget(self.id)

    # -- saving ---------------------------------------------------------------------------------

    def save(self, path: Path | None = None) -> bool:
        """Write the text to its file or to another one; report a failure and return False."""
        target = path or self.path
        if target is None:
            return False
        before = self.file.text if target == self.path else ""
        try:
            self.file = files.write_file(target, replace(self.file, text=self._read_text()))
        except files.EncodingError as error:
            self._offer_utf8(str(error), target)
            return False
        except files.FileError as error:
            self._messages.error(str(error), error.hint, str(target))
            return False
        self._messages.withdraw(f"encoding:{self.id}")
        if target != self.path:
            self._move_to(target)
            self.reading.start(0)
        self._watch()
        self.set_modified(False)
        self._messages.withdraw(f"disk:{self.id}")
        if before and before != self.file.text:
            self.saved_over.emit(target, before)
        self.saved.emit(target)
        return True

    def save_known(self) -> bool:
        """Save the text, unless another program changed the file since it was read."""
        is_known = self.path is not None and files.digest_of(self.path) == self.file.digest
        return is_known and (not self.is_dirty or self.save())

    def follow_rename(self, path: Path) -> None:
        """Change the path after the file was renamed; the text stays unchanged."""
        self._move_to(path)
        self.reading.start(0)

    def _offer_utf8(self, what: str, target: Path) -> None:
        def convert() -> None:
            self.file = replace(self.file, encoding="utf-8", bom=b"")
            self.save(target)

        self._messages.say(
            "error",
            what,
            tr("Nothing was written. UTF-8 can represent every character."),
            target.name,
            offers=(NotificationAction(tr("Save as UTF-8"), convert),),
            key=f"encoding:{self.id}",
        )

    def accept_disk(self, file: files.FileText) -> None:
        """Use the text that is now on disk, which the editor has loaded."""
        self.file = file
        self.reading.distrust()
        self.set_modified(False)
        self.disk_settled.emit()

    def keep_own(self, file: files.FileText) -> None:
        """Keep the editor's text and do not report the same change again."""
        self.file = replace(self.file, digest=file.digest)
        self._set_dirty(True)
        self.disk_settled.emit()

    def keep_for_next_start(self, caret: int) -> bool:
        """Store unsaved text for the next start; return False if it cannot be written."""
        self._swapping.drop()
        text, base = self._read_text(), self.file.digest
        try:
            self._swaps.keep(make_swap(self.id, self.path, self.title, text, base, caret))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Close the file; unsaved text was saved, stored or discarded on purpose."""
        for timer in (self._swap_timer, self._watch_timer):
            timer.stop()
        self.reading.close()
        self._swapping.drop()
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._swaps.forget(self.id)

    # -- internals ------------------------------------------------------------------------------

    def _set_dirty(self, dirty: bool) -> None:
        if dirty != self.is_dirty:
            self.is_dirty = dirty
            self.dirty_changed.emit(dirty)

    def _move_to(self, path: Path) -> None:
        self.path_moved.emit(str(self.path or ""), str(path))
        self._set_path(path)

    def _set_path(self, path: Path) -> None:
        self.path = path
        self._watch()
        self.path_changed.emit(path)

    def _watch(self) -> None:
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        if self.path is not None and self.path.exists():
            # The folder as well: editors replace files, and a watch ends with its file.
            self._watcher.addPaths([str(self.path), str(self.path.parent)])

    def _look_at_disk(self) -> None:
        if self.path is None:
            return
        if not self.path.exists():
            if self.file.digest:
                self.file = replace(self.file, digest="")
                self._set_dirty(True)
                self.gone_from_disk.emit()
            return
        if str(self.path) not in self._watcher.files():
            self._watcher.addPath(str(self.path))
        if files.digest_of(self.path) == self.file.digest:
            return
        try:
            self.changed_on_disk.emit(files.read_file(self.path))
        except files.FileError:
            self._watch_timer.start()  # it is still being written; check again

    def _write_swap(self) -> None:
        if not self.is_dirty:
            return
        self._swapping.submit(self._swaps.writer(self._swap()))

    def keep_now(self) -> None:
        """Write the unsaved text for the next start, without delay.

        Raises:
            OSError: the text cannot be written.
        """
        if self.is_dirty:
            self._swaps.write(self._swap())

    def _swap(self) -> Swap:
        return make_swap(self.id, self.path, self.title, self._read_text(), self.file.digest)

    def _on_swap_failed(self, error: Exception) -> None:
        self._messages.say(
            "warning",
            tr("Unsaved text cannot be protected from a crash."),
            tr("Save often; the studio's data folder cannot be written."),
            key="swap",
        )
