"""Files: the prompts of a folder and what prompts refer to."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from pathlib import Path

from PySide6.QtCore import QDir, QModelIndex, QPersistentModelIndex, QSize, Qt, Signal
from PySide6.QtWidgets import (
    QFileSystemModel,
    QLabel,
    QPushButton,
    QStackedWidget,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
    QVBoxLayout,
    QWidget,
)

from studio.ui.style.icons import icon

PATTERNS = (
    "*.prompty", "*.md", "*.txt", "*.py", "*.json", "*.yaml", "*.yml", "*.toml", "*.env", "*.png",
    "*.jpg", "*.jpeg", "*.webp", "*.gif", "*.csv", "*.tracy",
)  # fmt: skip
_ICONS = {
    ".prompty": "message-square", ".py": "wrench", ".json": "braces", ".yaml": "braces",
    ".yml": "braces", ".png": "image", ".jpg": "image", ".jpeg": "image", ".webp": "image",
    ".gif": "image", ".tracy": "list-tree", ".env": "key",
}  # fmt: skip


class _Drawings(QStyledItemDelegate):
    """Draws the studio's own icons beside files.

    Not an icon provider of the model: Qt asks that one in a thread of its own.
    """

    def initStyleOption(
        self, option: QStyleOptionViewItem, index: QModelIndex | QPersistentModelIndex
    ) -> None:
        """The drawing of a file or folder, in the theme's colours."""
        super().initStyleOption(option, index)
        model = index.model()
        if not isinstance(model, QFileSystemModel):
            return
        suffix = Path(model.fileName(index)).suffix.lower()
        option.features |= QStyleOptionViewItem.ViewItemFeature.HasDecoration
        option.icon = icon("folder" if model.isDir(index) else _ICONS.get(suffix, "file-text"))
        option.decorationSize = QSize(16, 16)


class FilesTree(QTreeView):
    """Shows the files that prompts are made of, and those they refer to."""

    request_open = Signal(Path)

    def __init__(self) -> None:
        super().__init__()
        self.setHeaderHidden(True)
        self.setAccessibleName(self.tr("Files of the folder"))
        self.setIndentation(14)
        self.setUniformRowHeights(True)
        self.setItemDelegate(_Drawings(self))
        self.files = QFileSystemModel(self)
        self.files.setOption(QFileSystemModel.Option.DontUseCustomDirectoryIcons)
        self.files.setFilter(QDir.Filter.AllDirs | QDir.Filter.Files | QDir.Filter.NoDotAndDotDot)
        self.files.setNameFilters(list(PATTERNS))
        self.files.setNameFilterDisables(False)
        self.setModel(self.files)
        for column in (1, 2, 3):
            self.setColumnHidden(column, True)
        self.activated.connect(self._open)
        self.clicked.connect(self._open)

    def set_root(self, folder: Path) -> None:
        """Show a folder."""
        self.setRootIndex(self.files.setRootPath(str(folder)))

    def _open(self, index: QModelIndex) -> None:
        path = Path(self.files.filePath(index))
        if path.is_file():
            self.request_open.emit(path)


_SUFFIXES = frozenset({".prompty", ".md", ".txt", ".json", ".yaml", ".yml", ".py"})
_MOST = 2000


class FilesPane(QStackedWidget):
    """A tree of the workspace folder."""

    request_open = Signal(Path)
    request_folder = Signal()

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
        tree = FilesTree()
        tree.request_open.connect(self.request_open)
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
        button.clicked.connect(self.request_folder)
        box = QVBoxLayout(page)
        box.setContentsMargins(12, 12, 12, 12)
        box.setSpacing(12)
        box.addWidget(text)
        box.addWidget(button, 0, Qt.AlignmentFlag.AlignLeft)
        box.addStretch(1)
        return page
