"""A file on this machine: typed, chosen, or dropped."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QFileDialog, QLineEdit, QToolButton, QWidget

from studio.application.words import tr
from studio.ui.parts.dropped import FileDrop
from studio.ui.parts.labels import named
from studio.ui.parts.layouts import row_of
from studio.ui.style.icons import icon


class PathField(QWidget):
    """A path with a button to choose it; takes files that are dropped on it."""

    changed = Signal()

    def __init__(self, name: str, filters: str, placeholder: str, *, is_new: bool = False) -> None:
        """Take how it is called.

        Args:
            name: for people.
            filters: of the file dialog.
            placeholder: what stands in the empty field.
            is_new: whether the file may be one that is written only later.
        """
        super().__init__()
        self._name = name
        self._filters = filters
        self._is_new = is_new
        self.line = named(QLineEdit(placeholderText=placeholder, clearButtonEnabled=True), name)
        self.line.setAcceptDrops(False)  # a drop on the line is this widget's
        self.line.editingFinished.connect(self.changed)
        self.browse = QToolButton()
        self.browse.setIcon(icon("folder-open"))
        self.browse.setIconSize(QSize(16, 16))
        self.browse.setToolTip(tr("Choose a file"))
        self.browse.setAccessibleName(tr("Choose a file: {name}").format(name=name))
        self.browse.clicked.connect(self._ask)
        row_of((self.line, 1), self.browse, on=self, margins=0, spacing=4)
        FileDrop(self, self.take)
        self.setFocusProxy(self.line)

    def value(self) -> str:
        """The path as written."""
        return self.line.text().strip()

    def set_value(self, path: str) -> None:
        """Show a path."""
        self.line.setText(path)

    def take(self, path: Path) -> None:
        """Take a file, as the dialog and a drop do."""
        self.line.setText(str(path))
        self.changed.emit()

    def _ask(self) -> None:
        start = self.value() or str(Path.home())
        ask = QFileDialog.getSaveFileName if self._is_new else QFileDialog.getOpenFileName
        options = QFileDialog.Option.DontConfirmOverwrite
        path, _ = ask(self, self._name, start, self._filters, options=options)
        if path:
            self.take(Path(path))
