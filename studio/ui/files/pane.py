"""Files: the prompts of a folder and what prompts refer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QLabel, QPushButton, QStackedWidget, QVBoxLayout, QWidget

if TYPE_CHECKING:
    from studio.ui.files.tree import FilesTree

_SUFFIXES = frozenset({".prompty", ".md", ".txt", ".json", ".yaml", ".yml", ".py"})
_MOST = 2000


class FilesPane(QStackedWidget):
    """A tree of the workspace folder."""

    open_requested = Signal(object)  # Path
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._root: Path | None = None
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
        self.setCurrentIndex(1)

    @cached_property
    def tree(self) -> FilesTree:
        """The folder's files, made with the first folder."""
        from studio.ui.files.tree import FilesTree

        tree = FilesTree()
        tree.open_requested.connect(self.open_requested)
        self.addWidget(tree)
        return tree

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
        text.setProperty("muted", True)
        button = QPushButton(self.tr("Open folder…"))
        button.clicked.connect(self.folder_requested)
        box = QVBoxLayout(page)
        box.setContentsMargins(12, 12, 12, 12)
        box.setSpacing(12)
        box.addWidget(text)
        box.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        box.addStretch(1)
        return page
