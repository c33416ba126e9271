"""One folder of Files: its name, what makes something new in it, and its tree."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QToolButton, QVBoxLayout, QWidget

from studio.ui.files.tree import FilesTree
from studio.ui.parts.elided_label import ElidedLabel
from studio.ui.style.icons import icon


class FolderSection(QWidget):
    """Shows a folder; one of several can be taken out of the pane."""

    request_leave = Signal(Path)  # the folder, which is not to be shown any more

    def __init__(self) -> None:
        super().__init__()
        self.folder = Path()
        """What is shown."""
        self.tree = FilesTree()
        self.tree.request_leave.connect(self.request_leave)
        self._name = ElidedLabel()
        self._name.setProperty("title", True)
        row = QHBoxLayout()
        row.setContentsMargins(12, 0, 8, 4)
        row.setSpacing(0)
        row.addWidget(self._name, 1)
        new = self.tree.ask_new
        self._add(row, "file-plus", self.tr("New prompt in this folder"), lambda: new(self.folder))
        self._add(
            row, "folder", self.tr("New folder in this folder"),
            lambda: new(self.folder, is_folder=True),
        )  # fmt: skip
        self.leave = self._add(
            row, "x", self.tr("Take this folder out of the pane"),
            lambda: self.request_leave.emit(self.folder),
        )  # fmt: skip
        box = QVBoxLayout(self)
        box.setContentsMargins(0, 0, 0, 0)
        box.setSpacing(0)
        box.addLayout(row)
        box.addWidget(self.tree, 1)

    def show_folder(self, folder: Path, *, is_one_of_many: bool) -> None:
        """Show a folder, and whether it can leave."""
        self.leave.setVisible(is_one_of_many)
        self.tree.is_one_of_many = is_one_of_many
        if folder == self.folder:
            return
        self.folder = folder
        name = folder.name or str(folder)
        self.tree.set_root(folder)
        self.tree.setAccessibleName(self.tr("Files of {name}").format(name=name))
        self._name.show_text(name)
        self._name.setToolTip(str(folder))

    def _add(
        self, row: QHBoxLayout, drawing: str, words: str, act: Callable[[], object]
    ) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(drawing))
        button.setAutoRaise(True)
        button.setToolTip(words)
        button.setAccessibleName(words)
        button.clicked.connect(partial(_ignoring_state, act))
        row.addWidget(button)
        return button


def _ignoring_state(act: Callable[[], object], _checked: bool = False) -> None:
    act()
