"""What stands in the place of the grid before an experiment's first run."""

from __future__ import annotations

from PySide6.QtCore import QSize, Signal
from PySide6.QtWidgets import QPushButton, QVBoxLayout, QWidget

from studio.application.experiments.plan import ExperimentPlan
from studio.application.experiments.planned_variants import PlannedVariant
from studio.ui.parts.empty_state import EmptyState
from studio.ui.style.icons import icon

_MOST_NAMED = 6


class NotRunPage(QWidget):
    """Says what a run would ask, and offers it; or what to do first."""

    request_run = Signal()
    request_file = Signal()  # open the experiment's text

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.empty = EmptyState("list-ordered", self.tr("Reading the file …"), "")
        self.run_button = QPushButton()
        self.file_button = QPushButton(self.tr("Edit file"))
        self.run_button.setProperty("primary", True)
        self.run_button.setIconSize(QSize(14, 14))
        self.run_button.hide()
        self.file_button.hide()
        self.run_button.clicked.connect(self.request_run)
        self.file_button.clicked.connect(self.request_file)
        self.empty.offer(self.run_button, self.file_button)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.addWidget(self.empty)

    def show_plan(self, plan: ExperimentPlan | None) -> None:
        """Say what a plan has; None where there is none, and the head says why."""
        self.run_button.setVisible(plan is not None)
        self.file_button.setVisible(plan is None)
        if plan is None:
            self.empty.say(
                self.tr("This cannot be run yet"),
                self.tr("Fix in the file what is said above; it is read again when it is saved."),
            )
            return
        self.run_button.setIcon(icon("play", "on_accent"))
        rows, variants, repeats = len(plan.rows), len(plan.variants), plan.repeats
        words = self.tr("Run 1 cell") if plan.cells == 1 else self.tr("Run {count:,} cells")
        self.run_button.setText(words.format(count=plan.cells))
        factors = [
            (self.tr("1 row") if rows == 1 else self.tr("{count:,} rows")).format(count=rows),
            (self.tr("1 variant") if variants == 1 else self.tr("{count:,} variants")).format(
                count=variants
            ),
        ]
        if repeats > 1:
            factors.append(self.tr("{count:,} repeats").format(count=repeats))
        lines = [_column(each) for each in plan.variants[:_MOST_NAMED]]
        if len(plan.variants) > _MOST_NAMED:
            lines.append("…")
        lines += ["", self.tr("Answers and marks appear here, a row for each case.")]
        self.empty.say(" × ".join(factors), "\n".join(lines))


def _column(variant: PlannedVariant) -> str:
    """The name of a variant, with the model that answers."""
    if variant.choice is None:
        return variant.name
    model = variant.choice.declaration.id or variant.choice.connection.name
    return variant.name if model in variant.name else f"{variant.name}: {model}"
