"""Below the list of runs: what the chosen one said, how many there are, and how long they stay."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import QHBoxLayout, QPushButton, QWidget

from studio.core.runs.summary import RunSummary
from studio.ui.history.retention_dialog import RetentionDialog
from studio.ui.run.elided_label import ElidedLabel
from studio.ui.style.colours import paint_text
from studio.ui.style.theme import Theme


class HistoryFoot(QWidget):
    """One line; its button asks how long runs are kept."""

    request_retention = Signal(int, int)  # how many runs stay, after how many days they go

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs = 0
        self._size = 0
        self._keep = (0, 0)
        self._answer = ElidedLabel()
        self.keeping = QPushButton()
        self.keeping.setFlat(True)
        self.keeping.setToolTip(self.tr("Choose how long runs are kept"))
        self.keeping.clicked.connect(self._on_keeping)
        foot = QHBoxLayout(self)
        foot.setContentsMargins(12, 2, 8, 2)
        foot.setSpacing(16)
        foot.addWidget(self._answer, 1)
        foot.addWidget(self.keeping)

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        paint_text(self._answer, theme.muted)

    def show_run(self, run: RunSummary | None) -> None:
        """Say what a run answered, and the person's note on it."""
        answer = "" if run is None else " ".join(run.answer.split())
        note = "" if run is None else " ".join(run.note.split())
        said = [
            self.tr("Note: {note}").format(note=note) if note else "",
            self.tr("Answer: {answer}").format(answer=answer) if answer else "",
        ]
        self._answer.show_text("   ".join(part for part in said if part))

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
            self.tr("1 run") if count == 1 else self.tr("{count:,} runs").format(count=count),
            self.tr("{size:.1f} MB").format(size=self._size / 1_000_000),
        ]
        if keep:
            parts.append(self.tr("the newest {keep:,} are kept").format(keep=keep))
        if days:
            parts.append(self.tr("{days} days are kept").format(days=days))
        if not keep and not days:
            parts.append(self.tr("all are kept"))
        self.keeping.setText(" · ".join(parts))

    def _on_keeping(self) -> None:
        self.ask_retention()
