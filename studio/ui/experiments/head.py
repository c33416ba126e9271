"""The head of an experiment: what its newest result says, its chart, and how a run goes on."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QLabel, QProgressBar, QWidget

from studio.application.experiments.charts import ChartKind, chart_of
from studio.application.experiments.report import ExperimentReport
from studio.application.experiments.run.spending import ExperimentProgress, progress_line
from studio.application.words import marked, tr
from studio.ui.experiments.chart import ExperimentChart
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.layouts import column_of, row_of
from studio.ui.style.colors import paint_text
from studio.viewmodels.experiments.controller import ExperimentController

_CHARTS: tuple[tuple[ChartKind, str], ...] = (
    ("pass", marked("Pass rate")),
    ("latency", marked("Time")),
    ("cost", marked("Cost and quality")),
    ("trend", marked("Over results")),
    ("slices", marked("By tag")),
)


class ExperimentHead(QWidget):
    """Lines of words at the left, the chart at the right where there is room for it."""

    def __init__(self, controller: ExperimentController, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._controller = controller
        self.heading = QLabel()
        self.more = QLabel()
        self.status_label = QLabel()
        self.workers = QLabel()
        self.progress = QProgressBar()
        self.pace = QLabel()
        self.chart = ExperimentChart()
        self.chart_choice = ComboBox()
        self.chart_box = QWidget()
        self._lay_out()
        self.chart_choice.activated.connect(lambda _at: self._show_chart())
        for label in (self.more, self.status_label, self.workers, self.pace):
            paint_text(label, "muted")

    def show_report(self, report: ExperimentReport | None) -> None:
        """Say what a result says; None where there is none."""
        if report is None:
            self.heading.setText(
                tr("Not run yet. Run asks every row of every variant and marks the answers.")
            )
            self.more.setText("")
            return
        self.heading.setText(report.headline)
        rest = [each for each in report.sentences if each != report.headline]
        failed = [each for each in report.gates if not each.held]
        if failed or (report.gates and report.is_whole):
            words = (
                tr("All gates hold.")
                if not failed
                else tr("Gates that fail: {names}.").format(
                    names=", ".join(f"{each.name} ({each.variant})" for each in failed)
                )
            )
            rest.append(words)
        self.more.setText(" ".join(rest))
        self.more.setVisible(bool(rest))
        self._show_chart()

    def allow_chart(self, has_room: bool) -> None:
        """Show the chart of the result, if there is one, where there is room."""
        self.chart_box.setVisible(self._controller.report is not None and has_room)

    def say(self, text: str) -> None:
        """Say how something ended."""
        self._show_status(text, "muted")

    def complain(self, text: str) -> None:
        """Say what went wrong; without words, nothing does any more."""
        self._show_status(text, "error" if text else "muted")

    def show_progress(self, found: ExperimentProgress) -> None:
        """Show how far a run is."""
        self.progress.setMaximum(found.total)  # 0, while rows are read: it has no end yet
        self.progress.setValue(found.over if found.worked_out is None else found.worked_out)
        self.pace.setText(progress_line(found))

    def show_running(self, running: bool) -> None:
        """Whether there is a progress to show."""
        self.progress.setVisible(running)
        self.pace.setVisible(running)
        if not running:
            self.pace.clear()

    def show_workers(self, text: str) -> None:
        """Say where cells are asked; nothing where the studio asks them itself."""
        self.workers.setText(tr("Asked on workers: {text}").format(text=text) if text else "")
        self.workers.setVisible(bool(text))

    def _show_status(self, text: str, tone: str) -> None:
        self.status_label.setText(text)
        self.status_label.setVisible(bool(text))
        paint_text(self.status_label, tone)

    def _show_chart(self) -> None:
        report, kind = self._controller.report, self.chart_choice.currentData()
        if report is not None:
            earlier = self._controller.earlier() if kind == "trend" else ()
            self.chart.show_figure(chart_of(kind, report, earlier))

    def _lay_out(self) -> None:
        self.heading.setProperty("title", True)
        for label in (self.heading, self.more, self.status_label, self.workers, self.pace):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
            label.setTextInteractionFlags(Qt.TextInteractionFlag.TextSelectableByMouse)
        self.workers.hide()
        self.progress.setTextVisible(False)  # the bar is too low for words
        self.status_label.hide()
        self.chart_choice.setAccessibleName(tr("Chart"))
        for kind, text in _CHARTS:
            self.chart_choice.addItem(tr(text), kind)
        words = column_of(
            self.heading,
            self.more,
            self.status_label,
            self.workers,
            self.progress,
            self.pace,
            1,
            spacing=4,
        )
        charts = column_of(on=self.chart_box, margins=0, spacing=4)
        charts.addWidget(self.chart_choice, 0, Qt.AlignmentFlag.AlignRight)
        charts.addWidget(self.chart)
        top = row_of((words, 3), on=self, margins=0)
        top.addWidget(self.chart_box, 2, Qt.AlignmentFlag.AlignTop)
