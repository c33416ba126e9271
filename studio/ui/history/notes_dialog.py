"""The person's own words about a run: its tags and its note."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QDialog,
    QFormLayout,
    QLineEdit,
    QPlainTextEdit,
    QWidget,
)

from studio.core.runs.summary import RunSummary
from studio.ui.parts.save_form import lay_out_to_save


class NotesDialog(QDialog):
    """Not modal by itself; `open` it."""

    described = Signal(str, tuple, str)  # id of the run, tags, note

    def __init__(self, run: RunSummary, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._run = run
        self.tags = QLineEdit(", ".join(run.tags))
        self.note = QPlainTextEdit(run.note)
        self.setWindowTitle(self.tr("Tags and note: {prompt}").format(prompt=run.prompt or "run"))
        self._lay_out()

    def accept(self) -> None:
        """Hand the words on, each tag once."""
        parts = (part.strip() for part in self.tags.text().split(","))
        tags = tuple(dict.fromkeys(part for part in parts if part))
        self.described.emit(self._run.id, tags, self.note.toPlainText().strip())
        super().accept()

    def _lay_out(self) -> None:
        self.tags.setPlaceholderText(self.tr("regression, good example"))
        self.tags.setAccessibleName(self.tr("Tags, separated by commas"))
        self.note.setPlaceholderText(self.tr("What is worth knowing about this run"))
        self.note.setAccessibleName(self.tr("Note"))
        self.note.setTabChangesFocus(True)
        form = QFormLayout()
        form.setSpacing(8)
        form.addRow(self.tr("Tags"), self.tags)
        form.addRow(self.tr("Note"), self.note)
        lay_out_to_save(self, form)
        self.resize(480, 260)
