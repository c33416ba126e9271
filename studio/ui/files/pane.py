"""Files: the prompts of a folder and what prompts refer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property, partial
from pathlib import Path

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import (
    QHBoxLayout,
    QLabel,
    QLineEdit,
    QPushButton,
    QStackedWidget,
    QToolButton,
    QVBoxLayout,
    QWidget,
)

from studio.ui.files.tree import FilesTree
from studio.ui.parts.elided_label import ElidedLabel
from studio.ui.style.icons import icon

_SUFFIXES = frozenset({".prompty", ".md", ".txt", ".json", ".yaml", ".yml", ".py"})
_MOST = 2000


class FilesPane(QStackedWidget):
    """The workspace folder: its name, a filter, and a tree."""

    request_look = Signal(Path)
    request_open = Signal(Path)
    request_folder = Signal()
    tree_made = Signal(FilesTree)  # with the first folder
    root_changed = Signal(Path)  # another folder is shown

    def __init__(self) -> None:
        super().__init__()
        self._root: Path | None = None
        self._name = ElidedLabel()
        self.filter = QLineEdit()
        """Shows only files whose names hold what is typed."""
        self.addWidget(self._nothing())

    @property
    def root(self) -> Path | None:
        """The folder shown."""
        return self._root

    def set_root(self, folder: Path | None) -> None:
        """Show a folder, or that there is none."""
        self._root = folder if folder is not None and folder.is_dir() else None
        if self._root is None:
            self.setCurrentIndex(0)
            return
        self.tree.set_root(self._root)
        self._name.show_text(self._root.name or str(self._root))
        self._name.setToolTip(str(self._root))
        self.setCurrentIndex(1)
        self.root_changed.emit(self._root)

    @cached_property
    def tree(self) -> FilesTree:
        """The folder's files, made with the first folder."""
        tree = FilesTree()
        tree.request_open.connect(self.request_open)
        tree.request_look.connect(self.request_look)
        page = QWidget()
        box = QVBoxLayout(page)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addWidget(self._head(tree))
        box.addWidget(tree, 1)
        self.addWidget(page)
        self.tree_made.emit(tree)
        return tree

    def _head(self, tree: FilesTree) -> QWidget:
        """The folder's name, what makes something new in it, and the filter."""
        self._name.setProperty("title", True)
        self.filter.setPlaceholderText(self.tr("Filter by name"))
        self.filter.setAccessibleName(self.tr("Filter files by name"))
        self.filter.setClearButtonEnabled(True)
        self.filter.textChanged.connect(tree.set_filter)
        head = QWidget()
        row = QHBoxLayout()
        row.setSpacing(0)
        row.addWidget(self._name, 1)
        for drawing, words, is_folder in (
            ("file-plus", self.tr("New prompt in this folder"), False),
            ("folder", self.tr("New folder in this folder"), True),
        ):
            button = QToolButton()
            button.setIcon(icon(drawing))
            button.setAutoRaise(True)
            button.setToolTip(words)
            button.setAccessibleName(words)
            button.clicked.connect(partial(self._ask_new, is_folder=is_folder))
            row.addWidget(button)
        box = QVBoxLayout(head)
        box.setContentsMargins(12, 0, 8, 8)
        box.setSpacing(4)
        box.addLayout(row)
        box.addWidget(self.filter)
        return head

    def _ask_new(self, _checked: bool = False, *, is_folder: bool) -> None:
        if self._root is not None:
            self.tree.ask_new(self._root, is_folder=is_folder)

    def prompts(self) -> Iterator[Path]:
        """The files of the folder that can be opened, for the palette; at most 2,000."""
        if self._root is None:
            return
        from studio.core.search_files import files_of  # not before the first paint

        yield from files_of(self._root, _SUFFIXES, _MOST)

    def _nothing(self) -> QWidget:
        page = QWidget()
        text = QLabel(self.tr("Open a folder to see its prompts and the files they refer to."))
        text.setWordWrap(True)
        text.setProperty("tone", "muted")
        button = QPushButton(self.tr("Open folder…"))
        button.clicked.connect(self.request_folder)
        box = QVBoxLayout(page)
        box.setContentsMargins(12, 12, 12, 12)
        box.setSpacing(12)
        box.addWidget(text)
        box.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        box.addStretch(1)
        return page
