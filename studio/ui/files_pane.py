"""Files: the prompts of a folder and what prompts refer to."""

from __future__ import annotations

from collections.abc import Iterator
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

from studio.ui.icons import icon

PATTERNS = (
    "*.prompty", "*.md", "*.txt", "*.py", "*.json", "*.yaml", "*.yml", "*.toml", "*.env", "*.png",
    "*.jpg", "*.jpeg", "*.webp", "*.gif", "*.csv", "*.tracy",
)  # fmt: skip
_ICONS = {
    ".prompty": "message-square", ".py": "wrench", ".json": "braces", ".yaml": "braces",
    ".yml": "braces", ".png": "image", ".jpg": "image", ".jpeg": "image", ".webp": "image",
    ".gif": "image", ".tracy": "list-tree", ".env": "key",
}  # fmt: skip
_SKIPPED = {"node_modules", "__pycache__", ".git", ".venv", "venv", "dist", "build"}
_MOST = 2000


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


class FilesPane(QStackedWidget):
    """A tree of the workspace folder."""

    open_requested = Signal(object)  # Path
    folder_requested = Signal()

    def __init__(self) -> None:
        super().__init__()
        self._root: Path | None = None
        self._model: QFileSystemModel | None = None
        self._tree = QTreeView()
        self._tree.setHeaderHidden(True)
        self._tree.setAccessibleName(self.tr("Files of the folder"))
        self._tree.setIndentation(14)
        self._tree.setUniformRowHeights(True)
        self._tree.setItemDelegate(_Drawings(self._tree))
        self.addWidget(self._nothing())
        self.addWidget(self._tree)
        self._tree.activated.connect(self._open)
        self._tree.clicked.connect(self._open)

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
        if self._model is None:
            self._model = QFileSystemModel(self)
            self._model.setOption(QFileSystemModel.Option.DontUseCustomDirectoryIcons)
            self._model.setFilter(
                QDir.Filter.AllDirs | QDir.Filter.Files | QDir.Filter.NoDotAndDotDot
            )
            self._model.setNameFilters(list(PATTERNS))
            self._model.setNameFilterDisables(False)
            self._tree.setModel(self._model)
            for column in (1, 2, 3):
                self._tree.setColumnHidden(column, True)
        self._tree.setRootIndex(self._model.setRootPath(str(self._root)))
        self.setCurrentIndex(1)

    def prompts(self) -> Iterator[Path]:
        """The files of the folder that can be opened, for the palette; at most 2,000."""
        if self._root is None:
            return
        count = 0
        folders = [self._root]
        while folders:
            folder = folders.pop()
            try:
                inside = sorted(folder.iterdir())
            except OSError:
                continue
            for path in inside:
                if path.is_dir():
                    if path.name not in _SKIPPED and not path.name.startswith("."):
                        folders.append(path)
                elif path.suffix in (".prompty", ".md", ".txt", ".json", ".yaml", ".yml", ".py"):
                    count += 1
                    yield path
                    if count >= _MOST:
                        return

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

    def _open(self, index: QModelIndex) -> None:
        if self._model is None:
            return
        path = Path(self._model.filePath(index))
        if path.is_file():
            self.open_requested.emit(path)
