"""The header of an experiment: its newest result, its chart, and the progress of a run.

It also contains the header of cases: their file and columns.
"""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from math import ceil
from pathlib import Path

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal

from studio.application.experiments.cases import ROW_KINDS, CaseColumn, CasesTable, case_files
from studio.application.experiments.charts import ChartKind, chart_of
from studio.application.experiments.cluster.dispatch import WorkersAddress, WorkersError
from studio.application.experiments.report import ExperimentReport
from studio.application.experiments.run.spending import ExperimentProgress, progress_line
from studio.application.words import marked, tr
from studio.core.text.amounts import money
from studio.core.text.naming import unique_names
from studio.ui.experiments.chart import ExperimentChart
from studio.ui.parts.fields import ComboBox
from studio.ui.parts.kit import (
    ClosingDialog,
    ElidedLabel,
    column_of,
    push_button,
    row_of,
    toned_label,
)
from studio.ui.style.theme import icon, paint_text
from studio.viewmodels.experiments.controller import ExperimentController

_CHARTS: tuple[tuple[ChartKind, str], ...] = (
    ("pass", marked("Pass rate")),
    ("latency", marked("Time")),
    ("cost", marked("Cost and quality")),
    ("trend", marked("Over results")),
    ("slices", marked("By tag")),
)


_KIND_NAMES = {
    "typical": marked("Typical"),
    "empty": marked("Empty"),
    "long": marked("Long"),
    "language": marked("Other languages"),
    "injection": marked("Injection"),
    "ambiguous": marked("Ambiguous"),
}


def row_kinds() -> Iterator[tuple[tuple[str, ...], str]]:
    """Yield the kinds of generated rows, each with its name; the first is all kinds."""
    yield (*ROW_KINDS,), tr("Of every kind")
    for kind in ROW_KINDS:
        yield (kind,), tr(_KIND_NAMES.get(kind, kind))


class ExperimentHead(QtWidgets.QWidget):
    """Text at the left, and the chart at the right if there is room."""

    def __init__(self, controller: ExperimentController) -> None:
        super().__init__()
        self._controller = controller
        self._is_folded = False
        self.heading = QtWidgets.QLabel()
        self.more = QtWidgets.QLabel()
        self.status_label = QtWidgets.QLabel()
        self.workers = QtWidgets.QLabel()
        self.progress = QtWidgets.QProgressBar()
        self.pace = QtWidgets.QLabel()
        self.chart = ExperimentChart()
        self.chart_choice = ComboBox()
        self.chart_box = QtWidgets.QWidget()
        self._lay_out()
        self.chart_choice.activated.connect(lambda _at: self._show_chart())
        for label in (self.more, self.status_label, self.workers, self.pace):
            paint_text(label, "muted")

    def fold(self) -> None:
        """Hide everything except errors."""
        self._is_folded = True
        for part in (self.heading, self.more, self.chart_box):
            part.hide()

    def show_report(self, report: ExperimentReport | None) -> None:
        """Show the summary of a result; None hides it."""
        if self._is_folded:
            self.more.setText(report.headline if report is not None else "")
            return
        if report is None:
            self.heading.setText(
                tr("Not run yet. Run sends every row of every variant and grades the answers.")
            )
            self.more.setText("")
            return
        self.heading.setText(report.headline)
        rest = [each for each in report.sentences if each != report.headline]
        failed = [each for each in report.gates if not each.held]
        if failed or (report.gates and report.is_whole):
            words = (
                tr("All gates pass.")
                if not failed
                else tr("Failed gates: {names}.").format(
                    names=", ".join(f"{each.name} ({each.variant})" for each in failed)
                )
            )
            rest.append(words)
        self.more.setText(" ".join(rest))
        self.more.setVisible(bool(rest))
        self._show_chart()

    def allow_chart(self, has_room: bool) -> None:
        """Show the chart of the result, if there is one and there is room."""
        has_report = self._controller.report is not None and not self._is_folded
        self.chart_box.setVisible(has_report and has_room)

    def say(self, text: str) -> None:
        """Show how something ended."""
        self._show_status(text, "muted")

    def complain(self, text: str) -> None:
        """Show an error; an empty text removes it."""
        self._show_status(text, "error" if text else "muted")

    def show_progress(self, found: ExperimentProgress) -> None:
        """Show the progress of a run."""
        self.progress.setMaximum(found.total)  # 0 while rows are read: the end is unknown
        self.progress.setValue(found.over if found.worked_out is None else found.worked_out)
        self.pace.setText(progress_line(found))

    def show_running(self, running: bool) -> None:
        """Show or hide the progress."""
        running = running and not self._is_folded
        self.progress.setVisible(running)
        self.pace.setVisible(running)
        if not running:
            self.pace.clear()

    def show_workers(self, text: str) -> None:
        """Show the workers that run the cells; an empty text hides the line."""
        self.workers.setText(tr("Running on workers: {text}").format(text=text) if text else "")
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
        self.progress.setTextVisible(False)  # the bar is too low for text
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


class CasesBar(QtWidgets.QWidget):
    """Toolbar with the file of the cases, their columns and actions."""

    request_table = Signal(CasesTable)  # another file, or other columns
    request_experiment = Signal()  # save the table as an experiment
    request_copy = Signal()  # copy the text of the prompt to a file, as a column
    request_column = Signal(int)  # run the cells of one column
    request_limit = Signal(int)  # limit of cost in US cents: then the cells run

    def __init__(self, table: CasesTable) -> None:
        super().__init__()
        self._table = table
        self.files = ComboBox()
        self.count_label = ElidedLabel()
        self.save_box = QtWidgets.QCheckBox(tr("Run on save"))
        self.column_button = QtWidgets.QPushButton(tr("Column"))
        self.keep_button = push_button(tr("Save as experiment"), self.request_experiment)
        self.models: Sequence[str] = ()
        """Names of connections that a column can use."""
        self._menu = QtWidgets.QMenu(self)
        self.rows_menu = QtWidgets.QMenu(tr("Generate rows"), self)
        """Menu with the kinds of generated rows."""
        self._lay_out()
        self.show_table(table, 0)

    def show_table(self, table: CasesTable, rows: int | None) -> None:
        """Show the file of the cases and its number of rows; None until it is read."""
        self._table = table
        self.files.clear()
        found = case_files(table.prompt)
        for path in dict.fromkeys([*found, *([table.rows] if table.rows is not None else [])]):
            self.files.addItem(path.name, path)
        self.files.addItem(tr("Samples of the prompt"), None)
        self.files.setCurrentIndex(max(0, self.files.findData(table.rows)))
        words = tr("1 row") if rows == 1 else tr("{count:,} rows")
        reads = rows is None and table.rows is not None
        self.count_label.show_text(tr("Reading…") if reads else words.format(count=rows or 0))

    def say(self, text: str) -> None:
        """Show the progress of a run or a message in place of the number of rows."""
        if text:
            self.count_label.show_text(text)

    def ask_cost(self, cost: float) -> None:
        """Ask for the limit of cost for this and later runs."""
        words = tr("These cases cost about {cost}. How many US cents may a run cost at most?")
        dialog = QtWidgets.QInputDialog(self)
        dialog.setLabelText(words.format(cost=money(cost)))
        dialog.setWindowTitle(tr("Cost of the cases"))
        dialog.setInputMode(QtWidgets.QInputDialog.InputMode.IntInput)
        dialog.setIntMaximum(1_000_000)
        dialog.setIntValue(ceil(100 * cost))
        dialog.setOkButtonText(tr("Run"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.intValueSelected.connect(self.request_limit)
        dialog.open()

    def _lay_out(self) -> None:
        title = QtWidgets.QLabel(tr("Cases"))
        title.setProperty("title", True)
        self.files.setAccessibleName(tr("File of cases"))
        self.files.setSizeAdjustPolicy(ComboBox.SizeAdjustPolicy.AdjustToContents)
        self.files.activated.connect(self._on_file)
        self.column_button.setIcon(icon("plus"))
        self.column_button.setMenu(self._menu)
        self._menu.aboutToShow.connect(self._fill)
        self.keep_button.setToolTip(
            tr("Save the columns and checks as an experiment with the same verdicts")
        )
        paint_text(self.count_label, "muted")
        row_of(
            title,
            self.files,
            (self.count_label, 1),
            self.save_box,
            self.column_button,
            self.keep_button,
            on=self,
            margins=0,
        )

    def _change(self, table: CasesTable) -> None:
        self._table = table
        self.request_table.emit(table)

    def _on_file(self, at: int) -> None:
        self._change(replace(self._table, rows=self.files.itemData(at)))

    def _fill(self) -> None:
        """Fill the menu of possible columns."""
        menu, prompt = self._menu, self._table.prompt
        menu.clear()
        models = menu.addMenu(tr("Another model"))
        for name in self.models:
            models.addAction(name, partial(self._add, CaseColumn(name, provider=name)))
        files = menu.addMenu(tr("Another file"))
        for path in sorted(prompt.parent.glob("*.prompty")):
            if path != prompt:
                files.addAction(path.name, partial(self.add_file, path))
        menu.addAction(tr("Git revision…"), self._ask_revision)
        menu.addAction(tr("A copy to edit"), self.request_copy.emit)
        menu.addSeparator()
        asked = menu.addMenu(tr("Run one column"))
        for at, column in enumerate(self._table.columns):
            asked.addAction(column.name, partial(self.request_column.emit, at))
        menu.addMenu(self.rows_menu)
        for column in self._table.columns[1:]:
            words = tr("Remove {name}").format(name=column.name)
            menu.addAction(words, partial(self._remove, column))
        at_once = menu.addMenu(tr("Requests at once"))
        for count in (1, 2, 4, 8, 16):
            action = at_once.addAction(str(count), partial(self._limit, count))
            action.setCheckable(True)
            action.setChecked(count == self._table.at_once)
        judges = menu.addMenu(tr("Judge"))
        for name in self.models:
            action = judges.addAction(name, partial(self._take_judge, name))
            action.setCheckable(True)
            action.setChecked(name == self._table.judge)

    def _add(self, column: CaseColumn) -> None:
        names = [*(each.name for each in self._table.columns), column.name]
        column = replace(column, name=unique_names(names, " ({})")[-1])
        self._change(replace(self._table, columns=(*self._table.columns, column)))

    def _remove(self, column: CaseColumn) -> None:
        kept = tuple(each for each in self._table.columns if each is not column)
        self._change(replace(self._table, columns=kept))

    def _limit(self, count: int) -> None:
        self._change(replace(self._table, at_once=count))

    def _take_judge(self, name: str) -> None:
        self._change(replace(self._table, judge="" if name == self._table.judge else name))

    def _ask_revision(self) -> None:
        dialog = QtWidgets.QInputDialog(self)
        dialog.setLabelText(tr("Revision of the prompt (HEAD, a branch, a hash):"))
        dialog.setWindowTitle(tr("Git revision"))
        dialog.setTextValue("HEAD")
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.textValueSelected.connect(self.add_revision)
        dialog.open()

    def add_file(self, path: Path) -> None:
        """Add a column with another prompt of the folder."""
        self._add(CaseColumn(path.name, path.name))

    def add_revision(self, revision: str) -> None:
        """Add a column with the prompt from a Git revision."""
        name, file = f"git: {revision}", f"{self._table.prompt.name}@{revision}"
        self._add(CaseColumn(name, file))


# Choice of where cells run: this process or workers.

_LOCAL = ("local:2", "local:4")


class WorkersDialog(ClosingDialog):
    """Dialog for the address of workers; an invalid one is refused with the reason."""

    def __init__(
        self, controller: ExperimentController, parent: QtWidgets.QWidget | None = None
    ) -> None:
        """Create the dialog."""
        super().__init__(parent, tr("Workers"), (620, 300))
        self.controller = controller
        self.address = ComboBox()
        self.certificates = QtWidgets.QLineEdit()
        self.status_label = toned_label("error")
        self.buttons = QtWidgets.QDialogButtonBox(
            QtWidgets.QDialogButtonBox.StandardButton.Ok
            | QtWidgets.QDialogButtonBox.StandardButton.Cancel
        )
        self._lay_out()
        self.buttons.accepted.connect(self._take)
        self.buttons.rejected.connect(self.reject)

    def _lay_out(self) -> None:
        now = self.controller.workers
        self.address.setEditable(True)
        self.address.addItems([tr("This process"), *_LOCAL])
        self.address.setAccessibleName(tr("Address of the workers"))
        self.certificates.setAccessibleName(tr("Folder of the certificates"))
        self.certificates.setPlaceholderText(tr("ca.pem, cert.pem, key.pem"))
        if now is not None:
            self.address.setEditText(now.address)
            self.certificates.setText(str(now.certificates or ""))
        about = QtWidgets.QLabel(
            tr(
                "local:4 starts four processes on this machine; tls://host:8786 is your own "
                "scheduler (prompt-studio cluster certificates creates its certificates). Secrets "
                "are never sent to workers. While the experiment runs, it shows a link to the "
                "scheduler's page."
            )
        )
        about.setProperty("tone", "muted")
        for label in (about, self.status_label):
            label.setWordWrap(True)
            label.setTextFormat(Qt.TextFormat.PlainText)
        paint_text(self.status_label, "error")
        browse = push_button(tr("Choose…"), self._browse)
        line = row_of((self.certificates, 1), browse)
        form = QtWidgets.QFormLayout()
        form.addRow(tr("Ask on"), self.address)
        form.addRow(tr("Certificates"), line)
        column_of(about, form, self.status_label, 1, self.buttons, on=self, spacing=12)

    def _browse(self) -> None:
        dialog = QtWidgets.QFileDialog(self, tr("Folder of the certificates"))
        dialog.setFileMode(QtWidgets.QFileDialog.FileMode.Directory)
        dialog.fileSelected.connect(self.certificates.setText)
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.open()

    def _take(self) -> None:
        written = self.address.currentText().strip()
        address: WorkersAddress | None = None
        if written and written != self.address.itemText(0):
            folder = self.certificates.text().strip()
            address = WorkersAddress(written, Path(folder).expanduser() if folder else None)
        try:
            self.controller.use_workers(address)
        except WorkersError as error:
            self.status_label.setText(str(error))
            return
        self.accept()
