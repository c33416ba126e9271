"""Connects the file tree with the open texts: renaming, copies, trash, marks."""

import os
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from PySide6.QtCore import QDir, QFile, QObject, QStandardPaths, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices, QGuiApplication

from studio.application.document.files import FileError
from studio.application.document.folder_files import (
    delete,
    duplicate,
    named_in,
    new_file,
    new_folder,
    rename,
    renamed,
    rewrite,
)
from studio.application.document.revisions import FileState, file_states
from studio.application.words import tr
from studio.core.paths import resource_text
from studio.core.text.source import Severity
from studio.ui.editor.page.page import EditorPage
from studio.ui.files.tree import FileMark, FilesTree
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.jobs import LatestJob, single_shot
from studio.viewmodels.app.notifications import NotificationAction

_LATER_MS = 400
_WORST = (Severity.ERROR, Severity.WARNING, Severity.HINT)


class FilesCoordinator(QObject):
    """Executes the tree's requests on files, and updates open texts."""

    renamed = Signal(Path, Path)  # previous path of a file or folder, new path

    def __init__(self, window: WindowParts) -> None:
        super().__init__(window.widget)
        self._window = window
        self._states: Mapping[Path, FileState] = {}
        self._reading = LatestJob(self, self._on_states)
        self._later = single_shot(self, self._read_states, _LATER_MS)
        """Git is queried once for several changes."""
        tabs = window.tabs
        window.files.roots_changed.connect(self._look_again)
        tabs.title_changed.connect(self._look_again)
        QGuiApplication.instance().applicationStateChanged.connect(self._on_activated)  # type: ignore[union-attr]
        tabs.current_changed.connect(self._on_page)
        tabs.parsed.connect(self.mark)
        tabs.title_changed.connect(self.mark)

    def rest(self) -> None:
        """Stop reading when the window is closed."""
        self._later.stop()
        self._reading.drop()

    def _look_again(self) -> None:
        if self._window.files.roots:
            self._later.start()

    def _on_activated(self, state: Qt.ApplicationState) -> None:
        """Check for commits that another program made meanwhile."""
        if state == Qt.ApplicationState.ApplicationActive:
            self._look_again()

    def _read_states(self) -> None:
        roots = self._window.files.roots
        if roots:
            self._reading.submit(lambda: _states_below(roots))

    def _on_states(self, states: Mapping[Path, FileState]) -> None:
        for path, page in self._pages().items():
            if states.get(path) != self._states.get(path):
                page.changes.read(path)  # committed or reverted by another program
        self._states = states
        self.mark()

    def take(self, tree: FilesTree) -> None:
        """Connect another tree."""
        for changed in (tree.files.rowsInserted, tree.files.rowsRemoved):
            changed.connect(self._look_again)
        tree.request_new_file.connect(self._new_file)
        tree.request_new_folder.connect(self._new_folder)
        tree.request_rename.connect(self.rename)
        tree.request_duplicate.connect(self._duplicate)
        tree.request_bin.connect(self.move_to_bin)
        tree.request_show.connect(self._show)

    def _new_file(self, folder: Path, name: str) -> None:
        text = resource_text("templates", "chat.prompty")
        path = self._try(new_file, folder, name, text)
        if path is not None:
            self._window.files.expect(path)
            page = self._window.tabs.open(path)
            if page is not None:
                page.begin_at_messages()

    def _new_folder(self, folder: Path, name: str) -> None:
        made = self._try(new_folder, folder, name)
        if made is not None:
            self._window.files.expect(made)

    def _duplicate(self, path: Path) -> None:
        copy = self._try(duplicate, path)
        if copy is not None:
            self._window.files.expect(copy)
        if copy is not None and copy.is_file():
            self._window.tabs.open(copy)

    def rename(self, path: Path, name: str) -> None:
        """Rename a file or folder, and update references and open texts."""
        try:
            new = renamed(path, name)
        except FileError as error:
            self._window.messages.error(str(error), error.hint, str(path))
            return
        roots = self._window.files.roots or (path.parent,)
        pages = self._pages()
        texts = {each: page.editor.text() for each, page in pages.items()}
        names = named_in(path, new, roots, texts)
        try:
            rename(path, new)
        except FileError as error:
            self._window.messages.error(str(error), error.hint, str(path))
            return
        self.renamed.emit(path, new)
        self._window.files.expect(new)
        for page in dict.fromkeys(pages.values()):
            own = page.controller.path
            if own is not None and path in (own, *own.parents):
                page.controller.follow_rename(new / own.relative_to(path) if own != path else new)
        changed = []
        for each in names:
            page_of = pages.get(each.path.resolve())
            try:
                if page_of is not None:
                    page_of.editor.apply_edits(each.edits)
                else:
                    rewrite(each)
            except FileError as error:
                self._window.messages.error(str(error), error.hint, str(each.path))
                continue
            changed.append(each.path.name)
        if changed:
            words = tr("The new name was written to {names}.").format(names=", ".join(changed[:5]))
            self._window.messages.info(words)

    def move_to_bin(self, path: Path) -> None:
        """Move a file or folder to the system's trash."""
        if not os.path.lexists(path):
            words = tr("{name} no longer exists.").format(name=path.name)
            self._window.messages.error(words, where=str(path))
        elif moved_to_bin(path):
            self._close_pages(path)
            words = tr("{name} is in the recycle bin.").format(name=path.name)
            self._window.messages.info(words)
        else:
            self._window.messages.say(
                "error",
                tr("{name} could not be moved to the bin.").format(name=path.name),
                tr("The file was not moved. This drive may have no recycle bin."),
                str(path),
                (NotificationAction(tr("Delete for good"), lambda: self._delete_for_good(path)),),
            )

    def _delete_for_good(self, path: Path) -> None:
        """Delete a file permanently if the system has no trash for it, after a question."""
        if self._try(delete, path) is not None:
            self._close_pages(path)

    def _close_pages(self, path: Path) -> None:
        """Close the pages of a deleted file or folder, except those with unsaved text."""
        for page in dict.fromkeys(self._pages().values()):
            own = page.controller.path
            is_gone = own is not None and path in (own, *own.parents)
            if is_gone and not page.controller.is_dirty:
                self._window.tabs.close_page(page)

    def _show(self, path: Path) -> None:
        QDesktopServices.openUrl(QUrl.fromLocalFile(str(path.parent)))

    def mark(self) -> None:
        """Show the states of the open texts in the tree."""
        files = self._window.files
        if not files.roots:
            return
        marks = {path: FileMark(state=state) for path, state in self._states.items()}
        for page in self._window.tabs.pages():
            path, found = page.controller.path, {each.severity for each in page.editor.problems}
            worst = next((each for each in _WORST if each in found), None)
            if path is not None and (worst is not None or page.controller.is_dirty):
                marks[path] = FileMark(worst, page.controller.is_dirty, self._states.get(path))
        files.show_marks(marks)

    def _on_page(self, page: EditorPage | None) -> None:
        if page is not None and page.controller.path is not None:
            self._window.files.reveal(page.controller.path)

    def _try(self, act: Callable[..., Path], *given: object) -> Path | None:
        try:
            return act(*given)
        except FileError as error:
            self._window.messages.error(str(error), error.hint)
            return None

    def _pages(self) -> dict[Path, EditorPage]:
        found: dict[Path, EditorPage] = {}
        for page in self._window.tabs.pages():
            if page.controller.path is not None:
                found.setdefault(page.controller.path.resolve(), page)
        return found


def _states_below(roots: Sequence[Path]) -> Mapping[Path, FileState]:
    found: dict[Path, FileState] = {}
    for root in roots:
        found.update(file_states(root))
    return found


def moved_to_bin(path: Path) -> bool:
    """Move a file, folder or link to the system's trash; return False if there is none."""
    # Qt creates the trash but not its parent folder, which a new user lacks.
    QDir().mkpath(
        QStandardPaths.writableLocation(QStandardPaths.StandardLocation.GenericDataLocation)
    )
    return QFile(str(path)).moveToTrash() and not os.path.lexists(path)
