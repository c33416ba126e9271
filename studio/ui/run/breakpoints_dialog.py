"""The list of breakpoints: conditions, hit counts, log points, and the exception filters."""

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from PySide6.QtWidgets import QCheckBox, QDialog, QFrame, QGridLayout, QGroupBox, QWidget

from studio.application.run.breakpoints import (
    BreakpointSet,
    exception_names,
    place_name,
    place_names,
)
from studio.application.words import tr
from studio.core.agent.values.breakpoints import Breakpoint, problem_of
from studio.core.agent.values.options import ExceptionFilter
from studio.core.agent.values.step import PausePoint
from studio.ui.parts.fields import ComboBox, FieldForm
from studio.ui.parts.kit import column_of, push_button, row_of, toned_label
from studio.ui.run.state.panel import BREAKPOINT_ID, BreakpointList
from studio.viewmodels.run.breakpoint_book import FileBreakpoints


class BreakpointsDialog(QDialog):
    """List of breakpoints, which can stay open beside a run."""

    def __init__(self, file_breakpoints: FileBreakpoints, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._file_breakpoints = file_breakpoints
        self._tools: tuple[str, ...] = ()
        self._loading = False
        self.list = BreakpointList(
            tr(
                "No breakpoints yet. Press Add, F9 on a tool or a message of the prompt, or "
                "Ctrl+click a node of the diagram."
            )
        )
        self.add = push_button(tr("Add"), self._on_add)
        self.remove = push_button(tr("Remove"), self._on_remove)
        self.place = ComboBox()
        self.tool = ComboBox()
        self.form = FieldForm("breakpoint", own={"place": self.place, "tool": self.tool})
        self._problem = toned_label("error", wraps=True)
        self._fields = QWidget()
        self.filters: dict[ExceptionFilter, QCheckBox] = {}
        file = file_breakpoints.file
        words = tr("Breakpoints of {file}").format(file=Path(file).name) if file else ""
        self.setWindowTitle(words or tr("Breakpoints"))
        self._lay_out()
        self._connect()
        self._show_set(file_breakpoints.value)

    def set_tools(self, tools: Sequence[str]) -> None:
        """Set the tools for which breakpoints can be set."""
        self._tools = tuple(tools)
        self._on_row(self.list.currentRow())

    def _current(self) -> Breakpoint | None:
        item = self.list.currentItem()
        if item is None:
            return None
        wanted = item.data(BREAKPOINT_ID)
        return next(
            (one for one in self._file_breakpoints.value.breakpoints if one.id == wanted), None
        )

    def _show_set(self, value: BreakpointSet) -> None:
        self._loading = True
        self.list.show_breakpoints(value)
        for name, box in self.filters.items():
            box.setChecked(name in value.exceptions)
        self._loading = False
        if self.list.currentRow() < 0 and self.list.count():
            self.list.setCurrentRow(self.list.count() - 1)
        self._on_row(self.list.currentRow())

    def _on_row(self, row: int) -> None:
        if self._loading:
            return
        one = self._current()
        self._fields.setEnabled(one is not None)
        self.remove.setEnabled(one is not None)
        shown = one or Breakpoint("")
        self._loading = True
        place = next(iter(sorted(shown.places)), None)
        self.place.setCurrentText(place_name(place) if place is not None else tr("Anywhere"))
        self.tool.clear()
        names = dict.fromkeys((*self._tools, *((shown.tool,) if shown.tool else ())))
        self.tool.addItems([tr("Any tool"), *names])
        self.tool.setCurrentText(shown.tool or tr("Any tool"))
        self.form.show_record(shown)
        self._problem.setText(problem_of(shown, self._tools or names) if one is not None else "")
        self._loading = False

    def _on_edited(self) -> None:
        one = self._current()
        if self._loading or one is None:
            return
        names: dict[str, PausePoint] = {name: place for place, name in place_names().items()}
        place = names.get(self.place.currentText())
        tool = self.tool.currentText()
        self._file_breakpoints.change(
            replace(
                self.form.written_to(one),
                places=frozenset() if place is None else frozenset({place}),
                tool="" if tool == tr("Any tool") else tool,
            )
        )

    def _on_add(self) -> None:
        self._file_breakpoints.add(Breakpoint("", frozenset({PausePoint.TOOL_CALL})))
        self.list.setCurrentRow(self.list.count() - 1)
        self.place.setFocus()

    def _on_remove(self) -> None:
        one = self._current()
        if one is not None:
            self._file_breakpoints.remove(one.id)

    def _on_filters(self) -> None:
        if not self._loading:
            self._file_breakpoints.set_exceptions(
                name for name, box in self.filters.items() if box.isChecked()
            )

    def _connect(self) -> None:
        self._file_breakpoints.changed.connect(self._show_set)
        self.list.currentRowChanged.connect(self._on_row)
        self.list.breakpoint_switched.connect(self._file_breakpoints.switch)
        self.place.currentTextChanged.connect(self._on_edited)
        self.tool.currentTextChanged.connect(self._on_edited)
        self.form.changed.connect(self._on_edited)
        for box in self.filters.values():
            box.toggled.connect(self._on_filters)

    def _lay_out(self) -> None:
        self.add.setAutoDefault(False)  # Return belongs to the focused field
        self.remove.setAutoDefault(False)
        self.list.setFrameShape(QFrame.Shape.StyledPanel)
        self.list.setMinimumHeight(96)
        self.place.addItems([tr("Anywhere"), *place_names().values()])
        form = self.form.laid_out(self._fields)
        form.setContentsMargins(0, 0, 0, 0)
        form.setSpacing(8)
        form.addRow("", self._problem)
        buttons = row_of(self.add, self.remove, 1)
        group = QGroupBox(tr("Runs of this prompt always pause at"))
        grid = QGridLayout(group)
        grid.setSpacing(8)
        for index, (name, words) in enumerate(exception_names().items()):
            self.filters[name] = QCheckBox(words)
            grid.addWidget(self.filters[name], index // 2, index % 2)
        column_of((self.list, 1), buttons, self._fields, group, on=self, margins=16, spacing=8)
        self.resize(560, 560)
