"""The tree of a folder's files; made with the first folder, not with the window."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QDir, QModelIndex, QPersistentModelIndex, QSize, Signal
from PySide6.QtWidgets import (
    QFileSystemModel,
    QStyledItemDelegate,
    QStyleOptionViewItem,
    QTreeView,
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

    open_requested = Signal(object)  # Path

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
            self.open_requested.emit(path)
