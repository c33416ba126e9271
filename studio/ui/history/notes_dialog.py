"""The tags and the note of a run, and the tags of several."""

from __future__ import annotations

from collections.abc import Sequence

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QDialog, QFormLayout, QLabel, QLineEdit, QPlainTextEdit, QWidget

from studio.core.runs.summary import RunSummary
from studio.ui.parts.save_form import lay_out_to_save


class NotesDialog(QDialog):
    """Of one run, or the tags that several have in common. Not modal by itself; `open` it."""

    described = Signal(str, tuple, str)  # id of a run, tags, note

    def __init__(self, runs: Sequence[RunSummary], parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs = tuple(runs)
        self._common = common_tags(runs)
        self.tags = QLineEdit(", ".join(self._common))
        self.note = QPlainTextEdit(runs[0].note)
        words = self.tr("Tags and note: {prompt}").format(prompt=runs[0].prompt or "run")
        if len(runs) > 1:
            words = self.tr("Tags of {count} runs").format(count=len(runs))
        self.setWindowTitle(words)
        self._lay_out()

    def accept(self) -> None:
        """Hand the words on, each tag once; what only some of several runs have stays theirs."""
        parts = (part.strip() for part in self.tags.text().split(","))
        wanted = tuple(dict.fromkeys(part for part in parts if part))
        for run in self._runs:
            own = (tag for tag in run.tags if tag not in self._common)
            tags = wanted if len(self._runs) == 1 else tuple(dict.fromkeys((*own, *wanted)))
            note = self.note.toPlainText().strip() if len(self._runs) == 1 else run.note
            if (tags, note) != (run.tags, run.note):
                self.described.emit(run.id, tags, note)
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
        if len(self._runs) == 1:
            form.addRow(self.tr("Note"), self.note)
        else:
            hint = QLabel(self.tr("Those that all of them have. Other tags of a run stay."))
            hint.setWordWrap(True)
            form.addRow("", hint)
            self.note.hide()
        lay_out_to_save(self, form)
        self.resize(480, 260)


def common_tags(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """The tags that all of some runs have."""
    return tuple(tag for tag in runs[0].tags if all(tag in run.tags for run in runs))
