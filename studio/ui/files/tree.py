"""The tree of a folder's files: open, rename, and marks."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from PySide6 import QtCore, QtWidgets
from PySide6.QtGui import QColor, QGuiApplication, QPainter, QPalette

from studio.application.document.revisions import FileState
from studio.application.words import tr
from studio.core.search_files import SUFFIXES, files_of
from studio.core.text.source import Severity
from studio.core.wire.media import SUFFIXES_OF
from studio.ui.base.menus import add_actions, add_own, own_menu
from studio.ui.parts.fields import NameField
from studio.ui.parts.kit import OwnKeys
from studio.ui.style.theme import icon, theme_in_use
from studio.viewmodels.app.jobs import LatestJob

_SUFFIXES = SUFFIXES.union((".env", ".html"), *SUFFIXES_OF.values())

PATTERNS = tuple(f"*{suffix}" for suffix in sorted(_SUFFIXES))
"""Patterns of prompts and of all files for inputs and media."""
_ICONS = {
    ".prompty": "message-square",
    ".py": "wrench",
    ".json": "braces",
    ".jsonl": "database",
    ".csv": "database",
    ".tsv": "database",
    ".ndjson": "database",
    ".yaml": "braces",
    ".yml": "braces",
    ".tracy": "list-tree",
    ".env": "key",
    **dict.fromkeys(SUFFIXES_OF["image"], "image"),
}


_OF_FILES = ("edit.find_in_files", "file.quick", "file.folder", "file.add_folder")
"""Actions of the window in the context menu."""

_MOST_SEARCHED, _MOST_FOUND = 50_000, 200
"""Maximum numbers of files that a filter searches, and of matches whose folders it expands."""

_BESIDE_NAME = 56
"""Pixels for a row's icon and gaps, and for Git's letter at its end."""


@dataclass(frozen=True, slots=True)
class FileMark:
    """Marks of an open file in the tree."""

    severity: Severity | None = None
    """Worst severity of its problems."""

    is_unsaved: bool = False
    """Whether its text differs from the file."""

    state: FileState | None = None
    """State of the file compared with the last commit."""


class _Drawings(QtWidgets.QStyledItemDelegate):
    """Paints the studio's icons and the marks of files.

    It is no icon provider of the model, which Qt would call in another thread.
    """

    def __init__(self, tree: FilesTree) -> None:
        super().__init__(tree)
        self._tree = tree

    def initStyleOption(
        self,
        option: QtWidgets.QStyleOptionViewItem,
        index: QtCore.QModelIndex | QtCore.QPersistentModelIndex,
    ) -> None:
        """Set the icon of a file or folder, in the theme's colors."""
        super().initStyleOption(option, index)
        model = index.model()
        if not isinstance(model, QtWidgets.QFileSystemModel):
            return
        suffix = Path(model.fileName(index)).suffix.lower()
        option.features |= QtWidgets.QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.icon = icon("folder" if model.isDir(index) else _ICONS.get(suffix, "file-text"))
        option.decorationSize = QtCore.QSize(16, 16)
        mark = self._tree.marks.get(Path(model.filePath(index)))
        if mark is None:
            return
        if mark.is_unsaved:
            option.text = f"{option.text} ●"
        if mark.state is not None:
            room = option.rect.width() - _BESIDE_NAME
            middle = QtCore.Qt.TextElideMode.ElideMiddle
            option.text = option.fontMetrics.elidedText(option.text, middle, room)
        color = self._tree.color_of(mark.severity)
        if color:
            option.palette.setColor(QPalette.ColorRole.Text, QColor(color))

    def paint(
        self,
        painter: QPainter,
        option: QtWidgets.QStyleOptionViewItem,
        index: QtCore.QModelIndex | QtCore.QPersistentModelIndex,
    ) -> None:
        """Paint the row with Git's letter at its right end."""
        super().paint(painter, option, index)
        mark = self._tree.mark_at(index)
        if mark is None or mark.state is None:
            return
        theme = theme_in_use()
        painter.save()
        painter.setFont(option.font)
        painter.setPen(QColor(theme.warning if mark.state == "M" else theme.success))
        box = option.rect.adjusted(0, 0, -8, 0)
        at = QtCore.Qt.AlignmentFlag.AlignRight | QtCore.Qt.AlignmentFlag.AlignVCenter
        painter.drawText(box, at, mark.state)
        painter.restore()


class FilesTree(QtWidgets.QTreeView):
    """Tree of the prompts in a folder and the files that they refer to."""

    request_look = QtCore.Signal(Path)  # a file to preview
    request_open = QtCore.Signal(Path)  # a file to open
    request_rename = QtCore.Signal(Path, str)  # a file or folder, and its new name
    request_duplicate = QtCore.Signal(Path)
    request_bin = QtCore.Signal(Path)  # a file or folder to move to the trash
    request_new_file = QtCore.Signal(Path, str)  # folder, name
    request_new_folder = QtCore.Signal(Path, str)
    request_leave = QtCore.Signal(Path)  # the folder of the tree, to remove from the pane
    request_show = QtCore.Signal(Path)  # a file to show in the system's file manager

    def __init__(self) -> None:
        super().__init__()
        self.marks: Mapping[Path, FileMark] = {}
        """Marks of files, by path."""
        self.is_one_of_many = False
        """Whether other folders are shown as well, so that this one can be removed."""
        self.setHeaderHidden(True)
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setItemDelegate(_Drawings(self))
        self.setEditTriggers(QtWidgets.QTreeView.EditTrigger.NoEditTriggers)
        self.setContextMenuPolicy(QtCore.Qt.ContextMenuPolicy.CustomContextMenu)
        self.files = QtWidgets.QFileSystemModel(self, nameFilterDisables=False)
        self.files.setOption(QtWidgets.QFileSystemModel.Option.DontUseCustomDirectoryIcons)
        self.files.setFilter(
            QtCore.QDir.Filter.AllDirs
            | QtCore.QDir.Filter.Files
            | QtCore.QDir.Filter.NoDotAndDotDot
        )
        self.files.setNameFilters(list(PATTERNS))
        self.setModel(self.files)
        self._expected: Path | None = None
        """File that was created or renamed here and has no row yet."""
        self.files.rowsInserted.connect(self._on_rows)
        self._finding = LatestJob(self, self._unfold)
        self._unfolded: list[QtCore.QPersistentModelIndex] = []
        """Folders that the filter expanded."""
        for column in (1, 2, 3):
            self.setColumnHidden(column, True)
        self.setDragEnabled(True)
        self.clicked.connect(self._look)
        self.doubleClicked.connect(self._open)
        self.customContextMenuRequested.connect(self._on_menu)
        OwnKeys(
            self,
            {
                "Return": lambda: self._open(self.currentIndex()),
                "Enter": lambda: self._open(self.currentIndex()),
                "F2": self.ask_name,
                "Del": lambda: self._at_current(self.request_bin),
                "Space": lambda: self._look(self.currentIndex()),
            },
        )

    def mark_at(self, index: QtCore.QModelIndex | QtCore.QPersistentModelIndex) -> FileMark | None:
        """Return the mark of a row's file."""
        return self.marks.get(Path(self.files.filePath(index)))

    def set_root(self, folder: Path) -> None:
        """Show a folder."""
        self.setRootIndex(self.files.setRootPath(str(folder)))

    def set_filter(self, text: str) -> None:
        """Show only files whose names contain a text."""
        wanted = "".join(f"[{char}]" if char in "*?[" else char for char in text.strip())
        shown = [pattern.replace("*", f"*{wanted}*", 1) for pattern in PATTERNS]
        self.files.setNameFilters(shown if wanted else list(PATTERNS))
        for folder in self._unfolded:
            self.collapse(folder)
        self._unfolded.clear()
        if wanted:
            self._finding.submit(partial(_named, Path(self.files.rootPath()), text.strip()))
        else:
            self._finding.drop()

    def _unfold(self, paths: Sequence[Path]) -> None:
        """Expand the folders of some files: Qt's model reads only expanded folders."""
        for path in paths:
            index = self.files.index(str(path.parent))
            while index.isValid() and index != self.rootIndex():
                if not self.isExpanded(index):
                    self._unfolded.append(QtCore.QPersistentModelIndex(index))
                    self.expand(index)
                index = index.parent()

    def show_marks(self, marks: Mapping[Path, FileMark]) -> None:
        """Show the marks of files."""
        if marks != self.marks:
            self.marks = dict(marks)
            self.viewport().update()

    def color_of(self, severity: Severity | None) -> str:
        """Return the color of a name with problems; empty for the default color."""
        theme = theme_in_use()
        if severity in (None, Severity.HINT):
            return ""
        return theme.error if severity is Severity.ERROR else theme.warning

    def reveal(self, path: Path) -> None:
        """Scroll to a file and select it."""
        index = self.files.index(str(path))
        if index.isValid() and index != self.currentIndex():
            self.setCurrentIndex(index)
            self.scrollTo(index)

    def expect(self, path: Path) -> None:
        """Select a file that was created or renamed here as soon as it has a row."""
        self._expected = path

    def _on_rows(self, parent: QtCore.QModelIndex, first: int, last: int) -> None:
        path = self._expected
        if path is None or Path(self.files.filePath(parent)) != path.parent:
            return
        names = (
            self.files.fileName(self.files.index(row, 0, parent)) for row in range(first, last + 1)
        )
        if path.name in names:
            self._expected = None
            self.reveal(path)

    def path_at(self, index: QtCore.QModelIndex) -> Path | None:
        """Return the path of a row."""
        return Path(self.files.filePath(index)) if index.isValid() else None

    # -- requests -------------------------------------------------------------------------------

    def ask_name(self) -> None:
        """Edit the name of the selected row in place."""
        path = self.path_at(self.currentIndex())
        if path is not None:
            self._ask(self.currentIndex(), path.name, lambda name: self._rename(path, name))

    def ask_new(self, folder: Path, *, is_folder: bool = False) -> None:
        """Ask for the name of a new file or folder."""
        signal = self.request_new_folder if is_folder else self.request_new_file
        index = self.files.index(str(folder))
        self.expand(index)
        first = "folder" if is_folder else "prompt.prompty"
        self._ask(index, first, lambda name: signal.emit(folder, name))

    def _ask(self, index: QtCore.QModelIndex, name: str, take: Callable[[str], object]) -> None:
        field = NameField(self.viewport(), name, take)
        field.setAccessibleName(tr("Name"))
        field.setSelection(0, len(name.partition(".")[0]))
        place = self.visualRect(index) if index != self.rootIndex() else QtCore.QRect(4, 4, 0, 24)
        room = self.viewport().width() - place.left() - 4
        field.setGeometry(place.left() + 20, place.top(), max(80, room - 20), 26)
        field.show()
        field.setFocus(QtCore.Qt.FocusReason.PopupFocusReason)

    def _rename(self, path: Path, name: str) -> None:
        if name != path.name:
            self.request_rename.emit(path, name)

    def menu_for(self, index: QtCore.QModelIndex) -> QtWidgets.QMenu:
        """Build the context menu."""
        menu = own_menu(self)
        path = self.path_at(index)
        root = Path(self.files.rootPath())
        folder = root if path is None else path if path.is_dir() else path.parent
        add_own(menu, tr("New prompt…"), partial(self.ask_new, folder), drawing="file-plus")
        add_own(
            menu, tr("New folder…"), partial(self.ask_new, folder, is_folder=True), drawing="folder"
        )
        if path is not None:
            menu.addSeparator()
            if path.is_file():
                add_own(menu, tr("Open"), partial(self.request_open.emit, path), keys="Return")
            add_own(menu, tr("Rename…"), self.ask_name, drawing="pencil", keys="F2")
            duplicate = partial(self.request_duplicate.emit, path)
            add_own(menu, tr("Duplicate"), duplicate, drawing="copy")
            into_bin = partial(self.request_bin.emit, path)
            add_own(menu, tr("Move to the recycle bin"), into_bin, drawing="trash-2", keys="Del")
            menu.addSeparator()
            copy = partial(QGuiApplication.clipboard().setText, str(path))
            add_own(menu, tr("Copy its path"), copy)
            show = partial(self.request_show.emit, path)
            add_own(menu, tr("Show in the file manager"), show, drawing="external-link")
        menu.addSeparator()
        add_actions(menu, self.window(), _OF_FILES)
        if self.is_one_of_many:
            leave = partial(self.request_leave.emit, root)
            words = tr("Remove {name} from Files").format(name=root.name)
            add_own(menu, words, leave, drawing="x")
        return menu

    # -- slots ----------------------------------------------------------------------------------

    def _on_menu(self, at: QtCore.QPoint) -> None:
        index = self.indexAt(at)
        if index.isValid():
            self.setCurrentIndex(index)
        self.menu_for(index).popup(self.viewport().mapToGlobal(at))

    def _at_current(self, signal: QtCore.SignalInstance) -> None:
        path = self.path_at(self.currentIndex())
        if path is not None:
            signal.emit(path)

    def _look(self, index: QtCore.QModelIndex) -> None:
        path = self.path_at(index)
        if path is not None and path.is_file():
            self.request_look.emit(path)

    def _open(self, index: QtCore.QModelIndex) -> None:
        path = self.path_at(index)
        if path is not None and path.is_file():
            self.request_open.emit(path)
        elif path is not None:
            self.setExpanded(index, not self.isExpanded(index))


def _named(root: Path, text: str) -> list[Path]:
    """Return the files below a folder whose names contain a text."""
    below = files_of(root, _SUFFIXES, _MOST_SEARCHED)
    return list(islice((each for each in below if text.lower() in each.stem.lower()), _MOST_FOUND))
