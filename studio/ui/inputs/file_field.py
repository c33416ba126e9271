"""A file beside the prompt, or an address."""

from __future__ import annotations

import os
from pathlib import Path

from PySide6.QtCore import QSize
from PySide6.QtWidgets import QFileDialog, QLineEdit, QWidget

from studio.application.inputs.fields import ABSENT, FieldSpec, FieldValue
from studio.application.words import marked, tr
from studio.ui.inputs.fields import FieldEditor
from studio.ui.parts.dropped import FileDrop
from studio.ui.parts.icon_button import icon_button
from studio.ui.parts.layouts import row_of

_FILTERS = {
    "image": marked("Pictures (*.png *.jpg *.jpeg *.gif *.webp *.bmp *.svg);;All files (*)"),
    "audio": marked("Sound (*.mp3 *.wav *.ogg *.m4a *.flac);;All files (*)"),
}


class FileField(FieldEditor):
    """A path beside the prompt, or an address."""

    def __init__(self, spec: FieldSpec, parent: QWidget | None = None) -> None:
        super().__init__(spec, parent)
        self._folder: Path | None = None
        self.line = QLineEdit()
        self.line.setAccessibleName(spec.name)
        self.line.setPlaceholderText(self._placeholder(tr("Path beside the prompt, or URL")))
        self.line.textEdited.connect(self.changed)
        self.line.setAcceptDrops(False)  # a drop on the line is this widget's
        FileDrop(self, self.choose)
        browse = icon_button("folder-open", tr("Choose a file"))
        browse.setAccessibleName(tr("Choose a file for {name}").format(name=spec.name))
        browse.setIconSize(QSize(16, 16))
        browse.clicked.connect(self._browse)
        row_of((self.line, 1), browse, on=self, margins=0, spacing=4)

    def value(self) -> FieldValue:
        """The path as written."""
        return self.line.text() or ABSENT

    def set_value(self, value: FieldValue) -> None:
        """Show a path."""
        self.line.setText("" if value is ABSENT or value is None else str(value))

    def set_folder(self, folder: Path | None) -> None:
        """Paths inside this folder are written relative to it."""
        self._folder = folder

    def choose(self, path: Path) -> None:
        """Take a file, as the dialog and a drop do."""
        text = path.as_posix()
        if self._folder is not None and path.resolve().is_relative_to(self._folder.resolve()):
            text = Path(os.path.relpath(path.resolve(), self._folder.resolve())).as_posix()
        self.line.setText(text)
        self.changed.emit()

    def _browse(self) -> None:
        folder = str(self._folder or Path.home())
        known = _FILTERS.get(self.spec.kind, "")
        filters = tr(known) if known else tr("All files (*)")
        path, _ = QFileDialog.getOpenFileName(
            self, tr("Choose {name}").format(name=self.spec.name), folder, filters
        )
        if path:
            self.choose(Path(path))
