"""Dialog for better sections: a search with a budget, or proposed texts; the user accepts one."""

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal

from studio.application.comparison import compare_texts
from studio.application.experiments.improve.accept import (
    ImproveChoices,
    Improvement,
    ImproveProgress,
    candidate_words,
    improvement_sentences,
    lineage_figure,
    progress_words,
)
from studio.application.experiments.improve.candidates import ProposedText
from studio.application.experiments.improve.score import MOST_TEXTS
from studio.application.words import tr
from studio.ui.experiments.chart import ExperimentChart
from studio.ui.parts.fields import ComboBox, FieldForm
from studio.ui.parts.kit import ClosingDialog, StatusLabel, column_of, push_button, row_of
from studio.ui.parts.text_views import ComparisonView
from studio.viewmodels.experiments.dialog_tasks import ImproveController

_TEXTS = 3


class ImproveDialog(ClosingDialog):
    """Dialog that sends only on *Search* or *Propose*, and writes only on request."""

    request_acceptance = Signal(Improvement)  # insert its text into the prompt, as one undo step
    request_result = Signal(int)  # show the result with the unseen rows

    def __init__(
        self, controller: ImproveController, parent: QtWidgets.QWidget | None = None
    ) -> None:
        """Create the dialog, which takes ownership of the controller."""
        super().__init__(parent, tr("Improve a section"), (980, 760))
        self.controller = controller
        controller.setParent(self)
        self._found: Improvement | None = None
        self._texts: list[str] = []
        self._before = ""
        self.variant = ComboBox()
        self.section = ComboBox()
        self.model = ComboBox()
        self.budget = FieldForm("budget")
        self.form = FieldForm(
            "improve",
            own={
                "variant": self.variant,
                "section": self.section,
                "model": self.model,
                "budget": QtWidgets.QWidget(),
            },
        )
        self.search_button = push_button(tr("Search", "verb"), self._search)
        self.propose_button = push_button(tr("Propose three texts"), self._propose)
        self.stop_button = QtWidgets.QPushButton(tr("Stop"))
        self.progress = QtWidgets.QProgressBar()
        self.status_label = StatusLabel("text")
        self.list = QtWidgets.QListWidget()
        self.diff = ComparisonView()
        self.chart = ExperimentChart()
        self.buttons = QtWidgets.QDialogButtonBox(QtWidgets.QDialogButtonBox.StandardButton.Close)
        self.accept_button = self.buttons.addButton(
            tr("Insert into the prompt"), QtWidgets.QDialogButtonBox.ButtonRole.ActionRole
        )
        self.variants_button = self.buttons.addButton(
            tr("Add as variants"), QtWidgets.QDialogButtonBox.ButtonRole.ActionRole
        )
        self._lay_out()
        self._connect()
        self._show_sections()
        self._show_running(False)

    # -- inside ---------------------------------------------------------------------------------

    def _lay_out(self) -> None:
        self.variant.addItems(self.controller.variants)
        self.model.setEditable(True)
        self.model.addItem(tr("The prompt's own"), "")
        for name in self.controller.connections:
            self.model.addItem(name, name)
        self.diff.setPlaceholderText(
            tr("Proposed texts are listed at the left; changes of the selected one are shown here.")
        )
        form = self.form.laid_out()
        bounds = row_of(on=self.form.placed["budget"], margins=0)
        for key, bound in self.budget.widgets.items():
            bounds.addWidget(QtWidgets.QLabel(self.budget.fields[key].label))
            bounds.addWidget(bound)
        bounds.addStretch(1)
        doing = row_of(
            self.search_button, self.propose_button, self.stop_button, (self.progress, 1)
        )
        self.search_button.setProperty("primary", True)
        self.list.setAccessibleName(tr("Proposed texts"))
        self.list.setWordWrap(True)
        column_of(
            form,
            doing,
            self.status_label,
            (self._found_part(), 1),
            self.buttons,
            on=self,
            spacing=12,
        )
        self.status_label.say(
            tr(
                "The search never uses a third of the rows, which decide at the end. A text is "
                "only sent if it keeps the section's expressions and adds no role, tool or "
                "reference. The rows, their answers and the prompt are sent to the proposing "
                "model."
            )
        )

    def _found_part(self) -> QtWidgets.QWidget:
        """Create the part with the texts and their lineage, beside the difference of one text."""
        left = QtWidgets.QWidget()
        column_of((self.list, 1), self.chart, on=left, margins=0)
        self.chart.hide()
        split = QtWidgets.QSplitter(Qt.Orientation.Horizontal, childrenCollapsible=False)
        split.addWidget(left)
        split.addWidget(self.diff)
        split.setStretchFactor(0, 2)
        split.setStretchFactor(1, 3)
        return split

    def _connect(self) -> None:
        controller = self.controller
        self.variant.currentIndexChanged.connect(lambda _at: self._show_sections())
        self.stop_button.clicked.connect(controller.stop)
        self.list.currentRowChanged.connect(self._show_text)
        self.accept_button.clicked.connect(self._accept)
        self.variants_button.clicked.connect(self._add_variants)
        self.buttons.rejected.connect(self.reject)
        self.finished.connect(lambda _code: controller.close())
        controller.running_changed.connect(self._show_running)
        controller.progress_changed.connect(self._show_progress)
        controller.ended.connect(self._show_found)
        controller.proposed.connect(self._show_proposed)
        controller.failed.connect(self.status_label.complain)
        controller.written.connect(self._on_written)

    @property
    def provider(self) -> str:
        """Return the proposer's provider in the notation of experiments."""
        written = self.model.currentText().strip()
        return "" if written == self.model.itemText(0) else written

    def _show_sections(self) -> None:
        self.section.clear()
        self.section.addItems(self.controller.sections(self.variant.currentText()))

    def _search(self) -> None:
        self._clear()
        choices = ImproveChoices(
            self.section.currentText(),
            self.budget.number("cost") or None,
            None,
            int(self.budget.number("calls")) or None,
            int(self.budget.number("proposals")),
            wish=self.form.text("wish"),
        )
        self.controller.search(self.variant.currentText(), self.provider, choices)

    def _propose(self) -> None:
        self._clear()
        self.controller.propose(
            self.variant.currentText(),
            self.provider,
            self.section.currentText(),
            min(_TEXTS, MOST_TEXTS),
            self.form.text("wish"),
        )

    def _clear(self) -> None:
        self._found, self._texts = None, []
        self.list.clear()
        self.chart.hide()
        self.diff.show_rows(())
        self._before = self.controller.text_of(
            self.variant.currentText(), self.section.currentText()
        )
        self._show_offers()

    def _show_running(self, running: bool) -> None:
        can_begin = not running and self.section.count() > 0
        for part in (self.search_button, self.propose_button):
            part.setEnabled(can_begin)
        self.stop_button.setVisible(running)
        self.progress.setVisible(running)
        self.progress.setRange(0, 0)
        self.progress.setTextVisible(False)  # the bar is too low for text
        if running:
            self.status_label.say(tr("Asking…"))
        self._show_offers()

    def _show_progress(self, found: ImproveProgress) -> None:
        self.progress.setRange(0, found.most)
        self.progress.setValue(found.most if found.is_deciding else found.proposals)
        if self.controller.is_running:
            self.status_label.say(progress_words(found))

    def _show_found(self, found: Improvement) -> None:
        self._found = found
        self._before = found.before
        self._texts = [each.text for each in found.candidates]
        self.list.addItems([candidate_words(each) for each in found.candidates])
        best = next((at for at, each in enumerate(found.candidates) if each.text == found.after), 0)
        self.list.setCurrentRow(best)
        figure = lineage_figure(found)
        self.chart.show_figure(figure)
        self.chart.setVisible(len(figure.points) > 1)
        if found.found:
            self._show_difference(found.before, found.after)
        self.status_label.say("\n".join(improvement_sentences(found)))
        self._show_offers()
        if found.result is not None:
            self.request_result.emit(found.result)

    def _show_proposed(self, texts: tuple[ProposedText, ...]) -> None:
        self._texts = [each.text for each in texts if not each.refusal]
        refused = [each.refusal for each in texts if each.refusal]
        self.list.addItems(
            [tr("Text {number}").format(number=at + 1) for at in range(len(self._texts))]
        )
        self.list.setCurrentRow(0)
        count = len(self._texts)
        words = (
            tr("1 text may be used.")
            if count == 1
            else tr("{count} texts may be used.").format(count=count)
        )
        if refused:
            words += " " + tr("Refused: {reasons}").format(reasons=" ".join(refused))
        self.status_label.say(words)
        self._show_offers()

    def _show_text(self, at: int) -> None:
        if 0 <= at < len(self._texts):
            self._show_difference(self._before, self._texts[at])

    def _show_difference(self, before: str, after: str) -> None:
        rows = compare_texts(before, after)
        self.diff.show_rows(rows, tr("The section before and after:"))

    def _show_offers(self) -> None:
        running = self.controller.is_running
        found = self._found
        self.accept_button.setEnabled(not running and found is not None and found.found)
        self.accept_button.setVisible(not self._texts or found is not None)
        self.variants_button.setEnabled(not running and bool(self._new_texts))

    @property
    def _new_texts(self) -> list[str]:
        """Texts that can become variants: the proposed ones, or the best of a search."""
        if self._found is not None:
            return [self._found.after] if self._found.found else []
        return self._texts

    def _add_variants(self) -> None:
        self.controller.add_variants(
            self.variant.currentText(), self.section.currentText(), self._new_texts
        )

    def _on_written(self, count: int) -> None:
        self.status_label.say(
            (
                tr("1 variant was added to {name}; run the experiment to compare.")
                if count == 1
                else tr("{count} variants were added to {name}; run the experiment to compare.")
            ).format(count=count, name=self.controller.path.name)
        )
        self.variants_button.setEnabled(False)

    def _accept(self) -> None:
        if self._found is not None:
            self.request_acceptance.emit(self._found)
            self.accept()
