"""How long runs are kept: the newest so many, so many days, or all."""

from __future__ import annotations

from PySide6.QtCore import Signal
from PySide6.QtWidgets import (
    QCheckBox,
    QDialog,
    QGridLayout,
    QLabel,
    QSpinBox,
    QWidget,
)

from studio.ui.parts.save_form import lay_out_to_save

_MOST_RUNS = 100_000
_MOST_DAYS = 10_000


class RetentionDialog(QDialog):
    """Not modal by itself; `open` it."""

    chosen = Signal(int, int)  # how many of the newest stay, after how many days runs go; 0: all

    def __init__(self, keep: int, days: int, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.by_count = QCheckBox(self.tr("Keep only the newest"))
        self.count = QSpinBox()
        self.by_age = QCheckBox(self.tr("Delete runs older than"))
        self.days = QSpinBox()
        self.setWindowTitle(self.tr("Keep runs"))
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
                (self.by_count, self.count, keep, 500, _MOST_RUNS, self.tr(" runs")),
                (self.by_age, self.days, days, 90, _MOST_DAYS, self.tr(" days")),
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
        said = QLabel(
            self.tr(
                "It is done now and at every start. Pinned runs and runs that are under way "
                "always stay. What is deleted cannot be brought back."
            )
        )
        said.setWordWrap(True)
        said.setProperty("muted", "true")
        lay_out_to_save(self, grid, said)
        self.resize(420, 200)
