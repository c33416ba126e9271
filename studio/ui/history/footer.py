"""Footer of the list of runs: the selected run's answer, the number of runs, and the retention."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QLabel,
    QPushButton,
    QWidget,
)

from studio.application.words import tr
from studio.core.runs.rows import RunSummary
from studio.core.text.amounts import size
from studio.ui.parts.fields import SpinBox
from studio.ui.parts.labels import ElidedLabel
from studio.ui.parts.layouts import lay_out_to_save, row_of
from studio.ui.style.colors import paint_text

_MOST_RUNS = 100_000
_MOST_DAYS = 10_000


class RetentionDialog(QDialog):
    """Not modal by itself; `open` it."""

    chosen = Signal(int, int)  # how many of the newest stay, after how many days runs go; 0: all

    def __init__(self, keep: int, days: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.by_count = QCheckBox(tr("Keep only the newest"))
        self.count = SpinBox()
        self.by_age = QCheckBox(tr("Delete runs older than"))
        self.days = SpinBox()
        self.setWindowTitle(tr("Keep runs"))
        self._lay_out(keep, days)

    def accept(self) -> None:
        """Hand the choice on."""
        keep = self.count.value() if self.by_count.isChecked() else 0
        days = self.days.value() if self.by_age.isChecked() else 0
        self.chosen.emit(keep, days)
        super().accept()

    def _lay_out(self, keep: int, days: int) -> None:
        grid = QGridLayout()
        grid.setSpacing(8)
        for row, (box, field, value, usual, most, unit) in enumerate(
            (
                (self.by_count, self.count, keep, 500, _MOST_RUNS, tr(" runs")),
                (self.by_age, self.days, days, 90, _MOST_DAYS, tr(" days")),
            )
        ):
            field.setRange(1, most)
            field.setSuffix(unit)
            field.setValue(value or usual)
            field.setAccessibleName(box.text())
            field.setEnabled(bool(value))
            box.setChecked(bool(value))
            box.toggled.connect(field.setEnabled)
            grid.addWidget(box, row, 0)
            grid.addWidget(field, row, 1)
        grid.setColumnStretch(0, 1)
        label = QLabel(
            tr(
                "Runs are deleted now and at every start. Pinned runs and running ones always "
                "stay. Deleted runs cannot be restored."
            ),
            wordWrap=True,
        )
        label.setProperty("muted", "true")
        lay_out_to_save(self, grid, label)
        self.resize(420, 200)


class HistoryFooter(QWidget):
    """One line; its button asks how long runs are kept."""

    request_retention = Signal(int, int)  # how many runs stay, after how many days they go

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs = 0
        self._size = 0
        self._keep = (0, 0)
        self._answer = ElidedLabel()
        self.keeping = QPushButton(flat=True)
        self.keeping.setToolTip(tr("Choose how long runs are kept"))
        self.keeping.clicked.connect(self._on_keeping)
        row_of((self._answer, 1), self.keeping, on=self, margins=(12, 2, 8, 2), spacing=16)
        paint_text(self._answer, "muted")

    def show_run(self, run: RunSummary | None) -> None:
        """Say what a run answered, and the user's note on it."""
        answer = "" if run is None else " ".join(run.answer.split())
        note = "" if run is None else " ".join(run.note.split())
        lines = [
            tr("Note: {note}").format(note=note) if note else "",
            tr("Answer: {answer}").format(answer=answer) if answer else "",
        ]
        self._answer.show_text("   ".join(part for part in lines if part))

    def show_count(self, runs: int) -> None:
        """Say how many runs are listed."""
        self._runs = runs
        self._say()

    def show_size(self, size: int) -> None:
        """Say how much room the history takes."""
        self._size = size
        self._say()

    def show_retention(self, keep: int, days: int) -> None:
        """Say how long runs are kept.

        Args:
            keep: how many of the newest stay; 0 for all.
            days: after how many days they go; 0 for never.
        """
        self._keep = (keep, days)
        self._say()

    def ask_retention(self) -> RetentionDialog:
        """Ask how long runs are kept."""
        dialog = RetentionDialog(*self._keep, self)
        dialog.chosen.connect(self.request_retention)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _say(self) -> None:
        count, (keep, days) = self._runs, self._keep
        parts = [
            tr("1 run") if count == 1 else tr("{count:,} runs").format(count=count),
            size(self._size),
        ]
        if keep:
            parts.append(tr("the newest {keep:,} are kept").format(keep=keep))
        if days:
            words = tr("1 day is kept") if days == 1 else tr("{days} days are kept")
            parts.append(words.format(days=days))
        if not keep and not days:
            parts.append(tr("all are kept"))
        self.keeping.setText(" · ".join(parts))

    def _on_keeping(self) -> None:
        self.ask_retention()
