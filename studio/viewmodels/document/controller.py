"""One open document: its file, whether it is saved, and whether the disk has another text."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, QTimer, Signal

from studio.application.document.files import (
    EncodingError,
    FileError,
    FileText,
    digest_of,
    is_read_only,
    read_file,
    write_file,
)
from studio.viewmodels.app.jobs import LatestJob
from studio.viewmodels.app.notifications import Notification, NotificationAction, Notifications
from studio.viewmodels.document.reading import FIRST_WAIT_MS, DocumentReading
from studio.viewmodels.document.swap import SwapFolder, make_swap

UNTITLED = "Untitled-"
"""Beginning of the title of a document that has no name and no file."""

_SWAP_MS = 600  # typed text is on disk within a second
_WATCH_MS = 150  # editors write in steps; look once they are done


class DocumentController(QObject):
    """Moves one document between its editor and the disk; `reading` parses it.

    The text lives in the editor; `read_text` is asked for it when it is needed.
    """

    dirty_changed = Signal(bool)
    path_changed = Signal(Path)
    path_moved = Signal(str, str)  # the path before, empty where it was never saved, and now
    changed_on_disk = Signal(FileText)  # FileText as it is now on disk
    gone_from_disk = Signal()
    disk_settled = Signal()  # it was decided which text counts: the one here, or the one on disk
    saved = Signal(Path)
    saved_over = Signal(Path, str)  # the file, and the text that it held before

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
        self._file = FileText("")
        self._path: Path | None = None
        self._title = self.tr("Untitled")
        self._dirty = False
        self.reading = DocumentReading(messages, lambda: (read_text(), self._path), self)
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
        timer = QTimer(self)
        timer.setSingleShot(True)
        timer.setInterval(milliseconds)
        timer.timeout.connect(slot)
        return timer

    # -- what it is -----------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        """The file, where there is one."""
        return self._path

    @property
    def title(self) -> str:
        """The name on the tab."""
        return self._path.name if self._path else self._title

    @property
    def is_read_only(self) -> bool:
        """Whether the file may not be written."""
        return self._path is not None and is_read_only(self._path)

    @property
    def is_dirty(self) -> bool:
        """Whether the text differs from the file."""
        return self._dirty

    @property
    def file(self) -> FileText:
        """The file as last read or written."""
        return self._file

    # -- begin ----------------------------------------------------------------------------------

    def begin(self, text: str, title: str) -> None:
        """Start with a text that has no file."""
        self._file, self._title = FileText(text), title
        self.reading.start(FIRST_WAIT_MS)

    def open(self, path: Path) -> FileText:
        """Read a file.

        Raises:
            FileError: it cannot be read.
        """
        file = read_file(path)
        self._take(path, file)
        for notice in file.notices:
            self._messages.say(Notification("warning", notice, where=path.name))
        return file

    def recover(self, path: Path | None, title: str, base: str) -> None:
        """Take over text that a crash left: it is unsaved, whatever the file holds."""
        self._title = title
        if path is not None:
            file = FileText("")
            if path.exists():
                try:
                    file = read_file(path)
                except FileError as error:
                    self._messages.error(str(error), error.hint)
            self._take(path, replace(file, digest=base or file.digest))
            self._watch_timer.start()  # the file may have changed since the text was kept
        self._set_dirty(True)
        self._swap_timer.start(0)

    def _take(self, path: Path, file: FileText) -> None:
        self._file = file
        self._set_path(path)
        self.reading.start(FIRST_WAIT_MS)

    # -- typing ---------------------------------------------------------------------------------

    def text_changed(self) -> None:
        """The editor's text changed: parse it, and keep it safe within a second."""
        self.reading.note_change()
        if not self._swap_timer.isActive():
            self._swap_timer.start()

    def set_modified(self, modified: bool) -> None:
        """The editor says whether its text is the one that was loaded or saved."""
        self._set_dirty(modified)
        if not modified:
            self._swap_timer.stop()
            self._swapping.drop()
            self._swaps.forget(self.id)

    # -- saving ---------------------------------------------------------------------------------

    def save(self, path: Path | None = None) -> bool:
        """Write the text to its file or to another; says so itself when it cannot."""
        target = path or self._path
        if target is None:
            return False
        before = self._file.text if target == self._path else ""
        try:
            self._file = write_file(target, replace(self._file, text=self._read_text()))
        except EncodingError as error:
            self._offer_utf8(str(error), target)
            return False
        except FileError as error:
            self._messages.error(str(error), error.hint, str(target))
            return False
        self._messages.withdraw(f"encoding:{self.id}")
        if target != self._path:
            self._move_to(target)
            self.reading.start(0)
        self._watch()
        self.set_modified(False)
        self._messages.withdraw(f"disk:{self.id}")
        if before and before != self._file.text:
            self.saved_over.emit(target, before)
        self.saved.emit(target)
        return True

    def follow_rename(self, path: Path) -> None:
        """The file has another name now; its text stays as it is."""
        self._move_to(path)
        self.reading.start(0)

    def _offer_utf8(self, what: str, target: Path) -> None:
        def convert() -> None:
            self.use_utf8()
            self.save(target)

        self._messages.say(
            Notification(
                "error",
                what,
                self.tr("Nothing was written. UTF-8 can hold every character."),
                target.name,
                offers=(NotificationAction(self.tr("Save as UTF-8"), convert),),
                key=f"encoding:{self.id}",
            )
        )

    def use_utf8(self) -> None:
        """Save as UTF-8 from now on."""
        self._file = replace(self._file, encoding="utf-8", bom=b"")

    def accept_disk(self, file: FileText) -> None:
        """The editor took the text that is on disk now."""
        self._file = file
        self.set_modified(False)
        self.disk_settled.emit()

    def keep_own(self, file: FileText) -> None:
        """The user keeps the editor's text; the same change is not reported again."""
        self._file = replace(self._file, digest=file.digest)
        self._set_dirty(True)
        self.disk_settled.emit()

    def keep_for_next_start(self, caret: int) -> bool:
        """Keep unsaved text over the end of the studio; False where it cannot be written."""
        self._swapping.drop()
        text, base = self._read_text(), self._file.digest
        try:
            self._swaps.keep(make_swap(self.id, self._path, self.title, text, base, caret))
        except OSError:
            return False
        return True

    def close(self) -> None:
        """Let go of the file; unsaved text was saved, kept, or thrown away on purpose."""
        for timer in (self._swap_timer, self._watch_timer):
            timer.stop()
        self.reading.close()
        self._swapping.drop()
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        self._swaps.forget(self.id)

    # -- inside ---------------------------------------------------------------------------------

    def _set_dirty(self, dirty: bool) -> None:
        if dirty != self._dirty:
            self._dirty = dirty
            self.dirty_changed.emit(dirty)

    def _move_to(self, path: Path) -> None:
        self.path_moved.emit(str(self._path or ""), str(path))
        self._set_path(path)

    def _set_path(self, path: Path) -> None:
        self._path = path
        self._watch()
        self.path_changed.emit(path)

    def _watch(self) -> None:
        watched = [*self._watcher.files(), *self._watcher.directories()]
        if watched:
            self._watcher.removePaths(watched)
        if self._path is not None and self._path.exists():
            # The folder too: editors replace files, and a watch dies with the file it was on.
            self._watcher.addPaths([str(self._path), str(self._path.parent)])

    def _look_at_disk(self) -> None:
        if self._path is None:
            return
        if not self._path.exists():
            if self._file.digest:
                self._file = replace(self._file, digest="")
                self._set_dirty(True)
                self.gone_from_disk.emit()
            return
        if str(self._path) not in self._watcher.files():
            self._watcher.addPath(str(self._path))
        if digest_of(self._path) == self._file.digest:
            return
        try:
            self.changed_on_disk.emit(read_file(self._path))
        except FileError:
            self._watch_timer.start()  # it is being written; look again

    def _write_swap(self) -> None:
        if not self._dirty:
            return
        swap = make_swap(self.id, self._path, self.title, self._read_text(), self._file.digest)
        swaps = self._swaps
        self._swapping.submit(lambda: swaps.write(swap))

    def _on_swap_failed(self, error: Exception) -> None:
        self._messages.say(
            Notification(
                "warning",
                self.tr("Unsaved text cannot be kept safe against a crash."),
                self.tr("Save often; the studio's data folder cannot be written."),
                key="swap",
            )
        )
