"""Watches files that other programs may write: tools, input sets, cases."""

from collections.abc import Iterable
from pathlib import Path

from PySide6.QtCore import QFileSystemWatcher, QObject, Signal

from studio.viewmodels.app.jobs import single_shot

_SETTLE_MS = 150
"""Milliseconds to wait: an editor replaces a file in several steps."""

_MOST_NEIGHBOURS = 200


class SavedFiles(QObject):
    """Watches files and their folders; changes of other files in the folders are ignored."""

    saved = Signal()

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._files: tuple[Path, ...] = ()
        self._stamps: frozenset[tuple[Path, int, int]] = frozenset()
        self._watcher = QFileSystemWatcher(self)
        self._watcher.fileChanged.connect(self._stir)
        self._watcher.directoryChanged.connect(self._stir)
        self._timer = single_shot(self, self._look, _SETTLE_MS)

    def watch(self, files: Iterable[Path]) -> None:
        """Watch these files instead of the previous ones."""
        fresh = tuple(dict.fromkeys(files))
        if fresh != self._files:
            self._files = fresh
            self._stamps = _stamps(fresh)
            self._timer.stop()
        self._watch_again()

    def _stir(self, _: str) -> None:
        if self._files:
            self._timer.start()

    def _look(self) -> None:
        self._watch_again()
        stamps = _stamps(self._files)
        if stamps != self._stamps:
            self._stamps = stamps
            self.saved.emit()

    def _watch_again(self) -> None:
        """Watch the files again: a watch ends when its file is replaced."""
        wanted = {str(path) for path in self._files if path.exists()}
        wanted |= {str(path.parent) for path in self._files if path.parent.is_dir()}
        watched = {*self._watcher.files(), *self._watcher.directories()}
        if watched - wanted:
            self._watcher.removePaths([*(watched - wanted)])
        if wanted - watched:
            self._watcher.addPaths([*(wanted - watched)])


def _stamps(files: Iterable[Path]) -> frozenset[tuple[Path, int, int]]:
    found: set[tuple[Path, int, int]] = set()
    for path in files:
        # A Python file may import modules from its folder.
        neighbors = sorted(path.parent.glob("*.py"))[:_MOST_NEIGHBOURS]
        for each in (path, *(neighbors if path.suffix == ".py" else ())):
            try:
                facts = each.stat()
            except OSError:
                continue
            found.add((each, facts.st_mtime_ns, facts.st_size))
    return frozenset(found)
