"""Changes of the cases of a prompt: values, new rows, rows that go, each written at once."""

from collections.abc import Callable, Collection, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.application.experiments.generate import changed_rows
from studio.application.experiments.make import CasesTable, new_case_file, pasted_rows
from studio.application.experiments.plan import ExperimentPlan
from studio.application.inputs.fields import ABSENT, input_fields
from studio.application.inputs.sets import fit_values
from studio.application.words import tr
from studio.core.experiments.row_edits import with_rows, with_value, without_rows
from studio.core.text.values import Json, JsonObject
from studio.viewmodels.experiments.grid_model import ExperimentGridModel
from studio.viewmodels.experiments.result_answers import ResultAnswers

CasesNow: TypeAlias = Callable[[], tuple[CasesTable | None, ExperimentPlan | None]]
"""Gives the table and its plan, as they are now."""


class CasesEditor(QObject):
    """Writes changes of rows into the file of cases; *Undo* takes each back."""

    file_made = Signal(Path)  # the first row was added

    def __init__(
        self, answers: ResultAnswers, model: ExperimentGridModel, now: CasesNow, parent: QObject
    ) -> None:
        """Take what shows the rows, and what writes them."""
        super().__init__(parent)
        self._answers = answers
        self._model = model
        self._now = now
        model.request_value.connect(self.set_value)

    def set_value(self, number: int, column: str, text: str) -> None:
        """Write a value of a row, as the kind that its input declares."""
        cases, grid = self._now()[0], self._model.grid
        if cases is None or grid is None:
            return
        row, path = grid.rows[number - 1], cases.rows
        line = row.row.facts.get("line")
        (typed,) = self._typed([{column: text}])
        if path is None or not isinstance(line, int):
            self.add_rows([{**row.values, **typed}])
            return
        value, held = typed[column], row.values
        words = tr("Row {row} is saved in {name}.")

        def change(before: str) -> str:
            return with_value(before, path, line, column, value, held)

        self._answers.write(lambda: changed_rows(path, change), words, number)

    def add_rows(self, rows: Sequence[JsonObject]) -> None:
        """Add rows; a file is made where there is none."""
        cases, plan = self._now()
        if cases is None or plan is None or not rows:
            return
        path = cases.rows or new_case_file(plan.variants[0].document, cases.prompt)
        first = dict.fromkeys((*self._model.inputs, "expected"), "")
        made = rows if path.exists() else [{**first, **rows[0]}, *rows[1:]]
        one, many = tr("1 row is added to {name}."), tr("Rows are added to {name}.")
        self.file_made.emit(path)

        def change(before: str) -> str:
            return with_rows(before, path, made)

        self._answers.write(lambda: changed_rows(path, change), one if len(rows) == 1 else many)

    def add_empty(self) -> None:
        """Add a row of the defaults and samples of the prompt, with a first text to type over.

        A table's row without any value would be no row to who reads the file.
        """
        plan = self._now()[1]
        fields = input_fields(plan.variants[0].document) if plan is not None else ()
        row = {each.name: each.fallback for each in fields if each.fallback is not ABSENT}
        if fields and not row:
            row = {fields[0].name: tr("new case")}
        self.add_rows([row])

    def paste(self, text: str) -> None:
        """Add the rows of a sheet, of CSV or of JSON, with texts as their inputs' kinds."""
        rows = pasted_rows(text, self._model.columns)
        if not rows:
            self._answers.failed.emit(tr("The clipboard holds no rows."))
            return
        self.add_rows(self._typed(rows))

    def remove_rows(self, numbers: Collection[int]) -> None:
        """Take rows out of the file."""
        cases, grid = self._now()[0], self._model.grid
        if cases is None or cases.rows is None or grid is None:
            return
        path = cases.rows
        lines = [grid.rows[number - 1].row.facts.get("line") for number in numbers]
        gone = {line for line in lines if isinstance(line, int)}

        def change(before: str) -> str:
            return without_rows(before, path, gone)

        words = tr("Rows are taken out of {name}.")
        self._answers.write(lambda: changed_rows(path, change), words)

    def _typed(self, rows: Sequence[Mapping[str, Json]]) -> list[dict[str, Json]]:
        """Return the rows whose texts are what the inputs of the prompt declare."""
        plan = self._now()[1]
        specs = input_fields(plan.variants[0].document) if plan is not None else ()
        return [fit_values(row, specs) for row in rows]
