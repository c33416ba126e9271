"""The history: find, open, pin and delete past runs."""

from collections.abc import Sequence
from functools import partial

from PySide6 import QtWidgets
from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QHideEvent, QResizeEvent, QShowEvent

from studio.application.history.rows import (
    GROUP_NAMES,
    NAMES,
    STATUS_NAMES,
    group_name,
    status_name,
    waiting_name,
)
from studio.application.words import marked, tr
from studio.core.runs.rows import WAITING, RunSummary
from studio.core.text.amounts import by_count, size
from studio.ui.history.table import NARROW, RunTable
from studio.ui.parts import kit
from studio.ui.parts.fields import ComboBox, FieldForm, SpinBox, ask_text
from studio.ui.run.file_choice import fill_form_menu
from studio.ui.style.theme import paint_text
from studio.viewmodels.app.jobs import repeating_timer
from studio.viewmodels.history.controller import HistoryModel

# Footer of the list of runs: answer of the selected run, number of runs, and retention.

_MOST_RUNS = 100_000
_MOST_DAYS = 10_000


class RetentionDialog(QtWidgets.QDialog):
    """Dialog for the retention of runs; `open` shows it."""

    chosen = Signal(int, int)  # number of newest runs to keep, age in days of deletion; 0: keep all

    def __init__(self, keep: int, days: int, parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self.by_count = QtWidgets.QCheckBox(tr("Keep only the newest"))
        self.count = SpinBox()
        self.by_age = QtWidgets.QCheckBox(tr("Delete runs older than"))
        self.days = SpinBox()
        self.setWindowTitle(tr("Keep runs"))
        self._lay_out(keep, days)

    def accept(self) -> None:
        """Emit the choice."""
        keep = self.count.value() if self.by_count.isChecked() else 0
        days = self.days.value() if self.by_age.isChecked() else 0
        self.chosen.emit(keep, days)
        super().accept()

    def _lay_out(self, keep: int, days: int) -> None:
        grid = QtWidgets.QGridLayout()
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
        label = QtWidgets.QLabel(
            tr(
                "Runs are deleted now and at every start. Pinned runs and running ones always "
                "stay. Deleted runs cannot be restored."
            ),
            wordWrap=True,
        )
        label.setProperty("muted", "true")
        kit.lay_out_to_save(self, grid, label)
        self.resize(420, 200)


class HistoryFooter(QtWidgets.QWidget):
    """One line with a button for the retention of runs."""

    request_retention = Signal(int, int)  # number of runs to keep, age in days of deletion

    def __init__(self) -> None:
        super().__init__()
        self._runs = 0
        self._size = 0
        self._keep = (0, 0)
        self._answer = kit.ElidedLabel()
        self.keeping = QtWidgets.QPushButton(flat=True)
        self.keeping.setToolTip(tr("Set how long runs are kept"))
        self.keeping.clicked.connect(self.ask_retention)
        kit.row_of((self._answer, 1), self.keeping, on=self, margins=(12, 2, 8, 2), spacing=16)
        paint_text(self._answer, "muted")

    def show_run(self, run: RunSummary | None) -> None:
        """Show the answer of a run and the user's note."""
        answer = "" if run is None else " ".join(run.answer.split())
        note = "" if run is None else " ".join(run.note.split())
        lines = [
            tr("Note: {note}").format(note=note) if note else "",
            tr("Answer: {answer}").format(answer=answer) if answer else "",
        ]
        self._answer.show_text("   ".join(part for part in lines if part))

    def show_count(self, runs: int) -> None:
        """Show the number of listed runs."""
        self._runs = runs
        self._say()

    def show_size(self, size: int) -> None:
        """Show the size of the history."""
        self._size = size
        self._say()

    def show_retention(self, keep: int, days: int) -> None:
        """Show how long runs are kept.

        Args:
            keep: number of newest runs to keep; 0 for all.
            days: age in days after which runs are deleted; 0 for never.
        """
        self._keep = (keep, days)
        self._say()

    def ask_retention(self) -> RetentionDialog:
        """Open the dialog for the retention of runs."""
        dialog = RetentionDialog(*self._keep, self)
        dialog.chosen.connect(self.request_retention)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()
        return dialog

    def _say(self) -> None:
        count, (keep, days) = self._runs, self._keep
        parts = [by_count(count, tr("1 run"), tr("{count:,} runs")), size(self._size)]
        if keep:
            parts.append(tr("the newest {keep:,} are kept").format(keep=keep))
        if days:
            parts.append(by_count(days, tr("1 day is kept"), tr("{days} days are kept"), days=days))
        if not keep and not days:
            parts.append(tr("all are kept"))
        self.keeping.setText(" · ".join(parts))


_NO_RUNS = marked("No runs yet. Press Run (F5): every run is saved here.")
_NONE_FOUND = marked("No run matches the filter.")
_ANY_END = marked("Any end")
_MOST_COMPARED = 12
"""Maximum number of runs in a comparison table."""

_LIVE_MS = 2_000
"""Interval in milliseconds for reloading a visible list, which other processes change."""


class NotesDialog(QtWidgets.QDialog):
    """Dialog for the tags and note of a run, or the common tags of several; `open` shows it."""

    described = Signal(str, tuple, str)  # id of a run, tags, note

    def __init__(self, runs: Sequence[RunSummary], parent: QtWidgets.QWidget | None = None) -> None:
        super().__init__(parent)
        self._runs = tuple(runs)
        self._common = common_tags(runs)
        self.form = FieldForm("notes")
        self.form.set_values({"tags": ", ".join(self._common), "note": runs[0].note})
        words = tr("Tags and note: {prompt}").format(prompt=runs[0].prompt or "run")
        if len(runs) > 1:
            words = tr("Tags of {count} runs").format(count=len(runs))
        self.setWindowTitle(words)
        self._lay_out()

    def accept(self) -> None:
        """Emit the tags and the note; tags that only some of several runs have stay unchanged."""
        parts = (part.strip() for part in self.form.text("tags").split(","))
        wanted = tuple(dict.fromkeys(part for part in parts if part))
        for run in self._runs:
            own = (tag for tag in run.tags if tag not in self._common)
            tags = wanted if len(self._runs) == 1 else tuple(dict.fromkeys((*own, *wanted)))
            note = self.form.text("note").strip() if len(self._runs) == 1 else run.note
            if (tags, note) != (run.tags, run.note):
                self.described.emit(run.id, tags, note)
        super().accept()

    def _lay_out(self) -> None:
        form = self.form.laid_out()
        form.setSpacing(8)
        if len(self._runs) > 1:
            form.setRowVisible(self.form.widgets["note"], False)
            hint = QtWidgets.QLabel(
                tr("Tags that all these runs share. Other tags stay unchanged.")
            )
            hint.setWordWrap(True)
            form.addRow("", hint)
        kit.lay_out_to_save(self, form)
        self.resize(480, 260)


def common_tags(runs: Sequence[RunSummary]) -> tuple[str, ...]:
    """Return the tags that all runs have."""
    return tuple(tag for tag in runs[0].tags if all(tag in run.tags for run in runs))


class HistoryPane(QtWidgets.QWidget):
    """Filter, list of runs, and answer of the selected run."""

    request_refresh = Signal()
    request_filter = Signal(str, str)  # words, status
    request_open = Signal(str)  # id of the run
    request_compare = Signal(str, str)  # ids of two runs
    request_compare_all = Signal(tuple)  # ids of more than two runs
    request_delete = Signal(tuple)  # ids
    request_pin = Signal(str, bool)  # id, whether it is pinned
    request_describe = Signal(str, tuple, str)  # id, tags, note
    request_export = Signal(RunSummary, str)  # RunSummary, name of the form
    request_import = Signal()  # import journals
    request_retention = Signal(int, int)  # number of runs to keep, age in days of deletion

    def __init__(self) -> None:
        super().__init__()
        self._filtered = False
        self._opening = False
        self._listed: tuple[RunSummary, ...] = ()
        self.model = HistoryModel(self)
        self.table = RunTable(self.model)
        self.filter = QtWidgets.QLineEdit()
        self.ends = ComboBox()
        self.groups = ComboBox()
        self.open_button = QtWidgets.QPushButton(tr("Open"))
        self.compare_button = kit.push_button(tr("Compare"), self._compare)
        self.notes_button = kit.push_button(tr("Notes…"), self.edit_notes)
        self.export_button = QtWidgets.QPushButton(tr("Export"))
        self.import_button = kit.push_button(tr("Import…"), self.request_import)
        self.delete_button = kit.push_button(tr("Delete…"), self._delete)
        self._problem = kit.toned_label("error", wraps=True)
        self._problem.setContentsMargins(8, 0, 8, 0)
        self._problem.hide()
        self._empty = kit.toned_label("muted", tr(_NO_RUNS))
        self._pages = QtWidgets.QStackedWidget()
        self.footer = HistoryFooter()
        self._live = repeating_timer(self, self._on_live, _LIVE_MS)
        self._lay_out()
        self._connect()
        self.setAccessibleName(tr("History of runs"))

    def showEvent(self, event: QShowEvent) -> None:
        """Refresh: runs may have changed while the list was hidden."""
        super().showEvent(event)
        if not event.spontaneous():
            self.request_refresh.emit()
        self._live.start()

    def hideEvent(self, event: QHideEvent) -> None:
        """Stop refreshing while hidden."""
        super().hideEvent(event)
        self._live.stop()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Hide buttons that do not fit in one row; the context menu has them."""
        super().resizeEvent(event)
        for button in (self.notes_button, self.export_button, self.delete_button):
            button.setVisible(self.width() >= NARROW)

    def _on_live(self) -> None:
        """Reload the list if it has running runs, which another process may have ended."""
        if any(row.run.status == "running" for row in self.model.rows):
            self.request_refresh.emit()

    def show_problem(self, problem: str) -> None:
        """Show why the filter is invalid; an empty text hides the message."""
        self._problem.setText(problem)
        self._problem.setVisible(bool(problem))

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show runs and keep the selection."""
        self._listed = tuple(runs)
        self.table.show_runs(runs)
        words = _NONE_FOUND if self._filtered else _NO_RUNS
        self._empty.setText(tr(words))
        self._pages.setCurrentIndex(1 if runs else 0)
        self.footer.show_count(len(runs))
        self._on_chosen()

    def show_opening(self, opening: bool) -> None:
        """Show that a run is being loaded, which takes a while for a long one."""
        self._opening = opening
        self.open_button.setText(tr("Opening…") if opening else tr("Open"))
        self._on_chosen()

    def confirm_delete(self, runs: Sequence[RunSummary]) -> bool:
        """Ask before runs are permanently deleted."""
        one, many = tr("the run of “{prompt}”"), tr("{count} runs")
        what = by_count(len(runs), one, many, prompt=runs[0].prompt)
        button = QtWidgets.QMessageBox.StandardButton
        box = QtWidgets.QMessageBox(self, informativeText=tr("This cannot be undone."))
        box.setIcon(QtWidgets.QMessageBox.Icon.NoIcon)
        box.setWindowTitle(tr("Delete from history"))
        box.setText(tr("Delete {what}?").format(what=what))
        box.setStandardButtons(button.Yes | button.Cancel)
        box.button(button.Yes).setText(tr("Delete"))
        box.setDefaultButton(button.Cancel)
        return box.exec() == button.Yes

    def _on_group(self) -> None:
        self.model.group(self.groups.currentData())

    def _compare(self) -> None:
        chosen = self.table.chosen_runs()
        if len(chosen) == 2:
            # The older run is at the left.
            one, two = sorted(chosen, key=lambda run: run.started)
            self.request_compare.emit(one.id, two.id)
        elif len(chosen) > 2:
            older_first = sorted(chosen, key=lambda run: run.started)
            self.request_compare_all.emit(tuple(run.id for run in older_first))

    def _delete(self) -> None:
        chosen = self.table.chosen_runs()
        if chosen and self.confirm_delete(chosen):
            self.request_delete.emit(tuple(run.id for run in chosen))

    def _on_chosen(self) -> None:
        chosen = self.table.chosen_runs()
        self.open_button.setEnabled(len(chosen) == 1 and not self._opening)
        self.compare_button.setEnabled(2 <= len(chosen) <= _MOST_COMPARED)
        self.export_button.setEnabled(len(chosen) == 1)
        self.notes_button.setEnabled(bool(chosen))
        self.delete_button.setEnabled(bool(chosen))
        self.footer.show_run(chosen[0] if chosen else None)

    def _on_filter(self) -> None:
        names: dict[str, str] = {status_name(status): status for status in STATUS_NAMES}
        names[waiting_name()] = WAITING
        status = names.get(self.ends.currentText(), "")
        self._filtered = bool(self.filter.text().strip() or status)
        self.request_filter.emit(self.filter.text(), status)

    def edit_notes(self) -> None:
        """Open the dialog for the tags and note of the selected run, or the tags of several."""
        chosen = self.table.chosen_runs()
        if not chosen:
            return
        dialog = NotesDialog(chosen, self)
        dialog.described.connect(self.request_describe)
        dialog.finished.connect(dialog.deleteLater)
        dialog.open()

    def ask_tag(self, tag: str) -> QtWidgets.QInputDialog:
        """Ask for a new name of a tag, which all listed runs with the tag get."""
        label = tr("Another name for the tag “{tag}”:").format(tag=tag)
        return ask_text(self, tr("Rename a tag"), label, tag, partial(self._rename_tag, tag))

    def _rename_tag(self, tag: str, name: str) -> None:
        new = name.strip().replace(",", " ")
        for run in self._listed if new and new != tag else ():
            if tag in run.tags:
                tags = dict.fromkeys(new if each == tag else each for each in run.tags)
                self.request_describe.emit(run.id, tuple(tags), run.note)

    def _export(self, form: str) -> None:
        chosen = self.table.chosen_runs()
        if len(chosen) == 1:
            self.request_export.emit(chosen[0], form)

    def _connect(self) -> None:
        self.filter.textChanged.connect(self._on_filter)
        self.ends.currentTextChanged.connect(self._on_filter)
        self.open_button.clicked.connect(self.table.open_chosen)
        self.footer.request_retention.connect(self.request_retention)
        self.table.request_open.connect(self.request_open)
        self.table.request_pin.connect(self.request_pin)
        self.table.request_notes.connect(self.edit_notes)
        self.table.request_export.connect(self._export)
        self.table.request_tag.connect(self.ask_tag)
        self.table.request_delete.connect(self._delete)
        self.groups.currentIndexChanged.connect(self._on_group)
        self.table.selectionModel().selectionChanged.connect(self._on_chosen)

    def _lay_out(self) -> None:
        self.filter.setPlaceholderText(tr("Filter runs"))
        self.filter.setAccessibleName(tr("Filter runs"))
        self.filter.setToolTip(
            tr("Filter by prompt, question, answer, model, tag or note")
            + "\n"
            + tr('Words, or an expression such as: tokens > 1000 and status == "done"\n')
            + ", ".join(NAMES)
        )
        self.filter.setClearButtonEnabled(True)
        self.ends.addItems([tr(_ANY_END), waiting_name(), *map(status_name, STATUS_NAMES)])
        for by in GROUP_NAMES:
            self.groups.addItem(group_name(by), by)
        self.groups.setAccessibleName(tr("Groups of runs"))
        self.groups.setToolTip(tr("Group runs by prompt, model, day or recording"))
        self.ends.setAccessibleName(tr("Status of the run"))
        self.open_button.setEnabled(False)
        self.compare_button.setEnabled(False)
        self.compare_button.setToolTip(tr("Choose two or more runs to compare them"))
        self.delete_button.setEnabled(False)
        self.notes_button.setEnabled(False)
        self.notes_button.setToolTip(tr("Tags and a note of your own"))
        self.export_button.setEnabled(False)
        menu = QtWidgets.QMenu(self.export_button)
        fill_form_menu(menu, self._export)
        self.export_button.setMenu(menu)
        self.import_button.setToolTip(tr("Import runs from exported journals"))
        self._empty.setAlignment(Qt.AlignmentFlag.AlignCenter)
        self._empty.setWordWrap(True)
        head = kit.row_of((self.filter, 1), margins=(8, 8, 8, 4), spacing=8)
        buttons = kit.FlowLayout(spacing=4)  # a side bar is narrow: buttons wrap
        below = kit.column_of(buttons, margins=(8, 4, 8, 8))
        for button in (
            self.ends,
            self.groups,
            self.open_button,
            self.compare_button,
            self.notes_button,
            self.export_button,
            self.import_button,
            self.delete_button,
        ):
            buttons.addWidget(button)
        self._pages.addWidget(self._empty)
        self._pages.addWidget(self.table)
        kit.column_of(
            head, self._problem, below, (self._pages, 1), self.footer, on=self, margins=0, spacing=0
        )
