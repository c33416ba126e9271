"""Files: the prompts of some folders and the files that prompts refer to."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal

from studio.application.words import tr
from studio.ui.parts.kit import ElidedLabel, column_of, push_button, row_of, search_line
from studio.ui.style.theme import icon

if TYPE_CHECKING:
    from studio.ui.files.tree import FileMark, FilesTree

_SUFFIXES = frozenset({".prompty", ".md", ".txt", ".json", ".yaml", ".yml", ".py"})

_MOST = 2000


class FolderSection(QtWidgets.QWidget):
    """A folder in the pane; if there are several, each can be removed."""

    request_leave = Signal(Path)  # the folder to remove from the pane

    def __init__(self) -> None:
        super().__init__()
        from studio.ui.files.tree import FilesTree  # not before the first paint

        self.folder = Path()
        """The shown folder."""
        self.tree = FilesTree()
        self.tree.request_leave.connect(self.request_leave)
        self._name = ElidedLabel()
        self._name.setProperty("title", True)
        row = row_of((self._name, 1), margins=(12, 0, 8, 4), spacing=0)
        new = self.tree.ask_new
        self._add(row, "file-plus", tr("New prompt in this folder"), lambda: new(self.folder))
        self._add(
            row, "folder", tr("New folder in this folder"), lambda: new(self.folder, is_folder=True)
        )
        self.leave = self._add(
            row,
            "x",
            tr("Remove this folder from Files"),
            lambda: self.request_leave.emit(self.folder),
        )
        column_of(row, (self.tree, 1), on=self, margins=0, spacing=0)

    def show_folder(self, folder: Path, *, is_one_of_many: bool) -> None:
        """Show a folder; `is_one_of_many` adds a button to remove it."""
        self.leave.setVisible(is_one_of_many)
        self.tree.is_one_of_many = is_one_of_many
        if folder == self.folder:
            return
        self.folder = folder
        name = folder.name or str(folder)
        self.tree.set_root(folder)
        self.tree.setAccessibleName(tr("Files of {name}").format(name=name))
        self._name.show_text(name)
        self._name.setToolTip(str(folder))

    def _add(
        self, row: QtWidgets.QHBoxLayout, drawing: str, words: str, act: Callable[[], object]
    ) -> QtWidgets.QToolButton:
        button = QtWidgets.QToolButton(self, autoRaise=True)
        button.setIcon(icon(drawing))
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(partial(_ignoring_state, act))
        row.addWidget(button)
        return button


def _ignoring_state(act: Callable[[], object], _checked: bool = False) -> None:
    act()


class FilesPane(QtWidgets.QStackedWidget):
    """The workspace folders below a filter, each with its tree."""

    request_look = Signal(Path)
    request_open = Signal(Path)
    request_folder = Signal()
    request_this = Signal(Path)  # the folder of the open file
    request_leave = Signal(Path)  # a folder to remove from the pane
    tree_made = Signal(QtWidgets.QWidget)  # FilesTree, emitted for each new tree
    roots_changed = Signal(tuple)  # of Path: the shown folders changed

    def __init__(self) -> None:
        super().__init__()
        self.roots: tuple[Path, ...] = ()
        """The shown folders, from top to bottom."""
        self._sections: list[FolderSection] = []
        self._beside = Path()
        """Folder of the open file."""
        self.addWidget(self._nothing())

    @property
    def tree(self) -> FilesTree:
        """The tree of the first folder."""
        return self._section(0).tree

    def set_roots(self, folders: Sequence[Path]) -> None:
        """Show folders, or the empty state; missing folders are skipped."""
        self.roots = tuple(dict.fromkeys(folder for folder in folders if folder.is_dir()))
        is_one_of_many = len(self.roots) > 1
        for place, folder in enumerate(self.roots):
            self._section(place).show_folder(folder, is_one_of_many=is_one_of_many)
        for place, section in enumerate(self._sections):
            section.setVisible(place < len(self.roots))
        self.setCurrentIndex(1 if self.roots else 0)
        if self.roots:
            self.roots_changed.emit(self.roots)

    def root_of(self, path: Path) -> Path | None:
        """Return the shown folder that contains a file; the innermost if there are several."""
        from studio.core.search_files import innermost  # not before the first paint

        return innermost(path, self.roots)

    def offer_folder_of(self, path: Path) -> None:
        """Suggest the folder of an opened file, for when no folder is shown."""
        self._beside = path.parent
        self._this.setText(tr("Open {name}").format(name=path.parent.name or str(path.parent)))
        self._this.setToolTip(str(path.parent))
        self._this.show()

    def show_marks(self, marks: Mapping[Path, FileMark]) -> None:
        """Show the marks of files."""
        for section in self._shown():
            section.tree.show_marks(marks)

    def reveal(self, path: Path) -> None:
        """Select a file in its folder's tree, unless the tree has the focus."""
        root = self.root_of(path)
        for section in self._shown():
            if section.folder == root and not section.tree.hasFocus():
                section.tree.reveal(path)

    def take_keyboard(self) -> None:
        """Focus the first folder's files, or the button to open a folder if there is none."""
        if not self.roots:
            self._open.setFocus(Qt.FocusReason.ShortcutFocusReason)
            return
        current = self.tree.currentIndex()
        first = self.tree.indexAt(self.tree.viewport().rect().topLeft())
        # Before the focus: Qt otherwise makes the first row current without selecting it.
        self.tree.setCurrentIndex(current if current.isValid() else first)
        self.tree.setFocus(Qt.FocusReason.ShortcutFocusReason)

    def expect(self, path: Path) -> None:
        """Select a file that was created or renamed here as soon as the tree shows it."""
        root = self.root_of(path)
        for section in self._shown():
            if section.folder == root:
                section.tree.expect(path)

    def prompts(self) -> Iterator[Path]:
        """Yield the files of the folders that can be opened, for the palette; at most 2,000."""
        if not self.roots:
            return
        from studio.core.search_files import files_below  # not before the first paint

        yield from files_below(self.roots, _SUFFIXES, _MOST)

    def _shown(self) -> list[FolderSection]:
        return self._sections[: len(self.roots)]

    def _section(self, place: int) -> FolderSection:
        while len(self._sections) <= place:
            section = FolderSection()
            tree = section.tree
            tree.request_open.connect(self.request_open)
            tree.request_look.connect(self.request_look)
            section.request_leave.connect(self.request_leave)
            self.filter.textChanged.connect(tree.set_filter)
            tree.set_filter(self.filter.text())
            self._sections.append(section)
            self._column.addWidget(section)
            self.tree_made.emit(tree)
        return self._sections[place]

    @cached_property
    def filter(self) -> QtWidgets.QLineEdit:
        """Field that filters the files by name."""
        return search_line(tr("Filter by name"), tr("Filter files by name"))

    @cached_property
    def _column(self) -> QtWidgets.QSplitter:
        """The folders below the filter, created with the first one."""
        column = QtWidgets.QSplitter(Qt.Orientation.Vertical, childrenCollapsible=False)
        head = QtWidgets.QWidget()
        column_of(self.filter, on=head, margins=(12, 0, 8, 8))
        page = QtWidgets.QWidget()
        column_of(head, (column, 1), on=page, margins=0, spacing=0)
        self.addWidget(page)
        return column

    def _nothing(self) -> QtWidgets.QWidget:
        page = QtWidgets.QWidget()
        text = QtWidgets.QLabel(
            tr("Open a folder to see its prompts and the files that they refer to.")
        )
        text.setWordWrap(True)
        text.setProperty("tone", "muted")
        self._open = push_button(tr("Open folder…"), self.request_folder)
        self._this = push_button("", lambda: self.request_this.emit(self._beside))
        self._this.hide()
        box = column_of(text, on=page, margins=12, spacing=12)
        box.addWidget(self._this, 0, Qt.AlignmentFlag.AlignLeft)
        box.addWidget(self._open, 0, Qt.AlignmentFlag.AlignLeft)
        box.addStretch(1)
        return page
