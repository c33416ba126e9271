"""Saved calls of tools at work: read and written beside the prompt, made again, rows of a file."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject
from PySide6.QtWidgets import QFileDialog

from studio.application.tools.call_rows import calls_of_rows
from studio.application.tools.saved_calls import (
    CallChange,
    CallsWritten,
    SavedCall,
    SavedCallsError,
    answers_of,
    called_tool,
    calls_file,
    calls_of,
    change_calls,
    read_calls,
    saved,
    write_calls,
)
from studio.application.words import tr
from studio.core.prompty.tool_spec import ToolId
from studio.core.tools.registry import ToolEntry
from studio.core.tools.source import ToolOutcome
from studio.ui.tools.calls_dialog import CallsDialog
from studio.ui.tools.pane import ToolsPane
from studio.ui.window.parts import WindowParts
from studio.viewmodels.tools.controller import ToolsController
from studio.viewmodels.tools.saved_files import SavedFiles
from studio.viewmodels.tools.trial import ToolTrial

_Result = TypeVar("_Result")


class SavedCallsCoordinator(QObject):
    """Joins the tools pane to the file of saved calls, and to the calls that are made at once."""

    def __init__(self, pane: ToolsPane, tools: ToolsController, window: WindowParts) -> None:
        super().__init__(window.widget)
        self._pane, self._tools, self._window = pane, tools, window
        self._dialog: CallsDialog | None = None
        self._held: Path | None = None
        """The list that is open, and the file whose calls it shows."""
        self._file_watch = SavedFiles(self)
        self._file_watch.saved.connect(self._read_again)
        pane.detail.try_panel.request_saved.connect(self._show)
        pane.detail.try_panel.request_save.connect(self._save)
        pane.detail.try_panel.request_calls.connect(self._open)
        pane.request_recordings.connect(self._offer_answers)

    @property
    def _file(self) -> Path | None:
        document = self._window.tabs.document
        path = document.source.path if document is not None else None
        return calls_file(path) if path is not None else None

    def _tried(self, act: Callable[[], _Result], where: Path | None) -> _Result | None:
        """Return what `act` returns; None where a file cannot be used, which the user is told."""
        try:
            return act()
        except SavedCallsError as error:
            self._window.messages.error(str(error), where=str(where))
            return None

    def _read(self, path: Path | None) -> tuple[SavedCall, ...] | None:
        """The calls of a file; None where it cannot be read."""
        return self._tried(lambda: read_calls(path), path) if path is not None else ()

    def _change(self, path: Path | None, changes: Sequence[CallChange]) -> CallsWritten | None:
        """Change calls of a file; None where that cannot be done."""
        if path is not None:
            return self._tried(lambda: change_calls(path, changes), path)
        self._window.messages.info(
            tr("Save the prompt first: its calls are kept in a file beside it.")
        )
        return None

    def _read_again(self) -> None:
        """Another program may have changed the file whose calls are listed."""
        found = self._read(self._held)
        if self._dialog is not None and self._held is not None and found is not None:
            self._dialog.show_file(found)

    def _calls_of(self, tool: ToolId) -> tuple[SavedCall, ...]:
        return calls_of(self._read(self._file) or (), self._tools.registry, tool)

    def _show(self, tool: ToolId) -> None:
        self._pane.detail.try_panel.show_saved(tool, self._calls_of(tool))

    def _offer_answers(self, tool: ToolEntry) -> None:
        """A tool's saved calls can stand in for it."""
        self._pane.offer_saved_answers(tool.id, answers_of(self._calls_of(tool.id)))

    def _save(self, trial: ToolTrial) -> None:
        path = self._file
        if trial.outcome is None:
            return
        fresh = saved(SavedCall("", trial.tool, trial.arguments), trial.outcome)
        written = self._change(path, ((None, fresh),))
        if written is None or path is None:
            return
        if self._dialog is not None and path == self._held:
            self._dialog.show_file(written.calls)
        name = written.calls[-1].name
        self._window.messages.info(
            tr("Saved as {name!r} in {file}.").format(name=name, file=path.name)
        )

    def _make(self, dialog: CallsDialog, path: Path | None, calls: tuple[SavedCall, ...]) -> None:
        """Make calls, with the tools of the prompt that they were saved beside."""
        if path != self._file:
            self._window.messages.info(tr("Turn to the prompt of these calls first."))
            dialog.show_all_ended()
            return
        registry = self._tools.registry
        self._tools.calls.make([(called_tool(each, registry), each.arguments) for each in calls])

    def _let_go(self, dialog: CallsDialog) -> None:
        if self._dialog is dialog:
            self._dialog = self._held = None
            self._file_watch.watch(())

    def _open(self, tool: ToolId) -> None:
        """Show the saved calls, to be made again, and rows of a file."""
        path = self._file
        found, entry = self._read(path), self._tools.registry.entry(tool)
        if found is None or entry is None:
            return
        if self._dialog is not None:  # all lists hear the same signals: one at a time
            self._dialog.close()
        dialog = CallsDialog(
            entry, found, self._changes, partial(self._change, path), self._pane.window()
        )
        self._dialog, self._held = dialog, path
        dialog.request_make.connect(lambda calls: self._make(dialog, path, calls))
        dialog.request_cancel.connect(self._tools.calls.cancel)
        dialog.finished.connect(self._tools.calls.cancel)
        dialog.finished.connect(lambda: self._let_go(dialog))
        self._file_watch.watch((path,) if path is not None else ())
        dialog.request_rows.connect(lambda tool: self._take_rows(dialog, tool))
        dialog.request_export.connect(lambda ended: self._export(dialog, ended))
        self._tools.calls.call_began.connect(dialog.show_began)
        self._tools.calls.call_ended.connect(dialog.show_ended)
        self._tools.calls.calls_ended.connect(dialog.show_all_ended)
        dialog.show()

    def _changes(self, call: SavedCall) -> bool:
        """Whether a call may change something outside."""
        registry = self._tools.registry
        entry = registry.entry(called_tool(call, registry))
        return entry is not None and entry.spec.has_effects and entry.mock is None

    def _take_rows(self, dialog: CallsDialog, tool: ToolEntry) -> None:
        start = str(self._file.parent) if self._file is not None else ""
        name, _ = QFileDialog.getOpenFileName(
            dialog, tr("Rows"), start, tr("Rows (*.csv *.jsonl *.json *.yaml *.yml)")
        )
        if name:
            path, schema = Path(name), tool.spec.parameters
            self._tried(lambda: dialog.add_rows(calls_of_rows(path, tool.id, schema)), path)

    def _export(
        self, dialog: CallsDialog, ended: tuple[tuple[SavedCall, ToolOutcome], ...]
    ) -> None:
        start = str(self._file.parent / "answers.jsonl") if self._file is not None else ""
        name, _ = QFileDialog.getSaveFileName(
            dialog, tr("Write the answers"), start, tr("JSON lines (*.jsonl)")
        )
        if name:
            kept = (saved(call, outcome) for call, outcome in ended)
            self._tried(lambda: write_calls(Path(name), kept), Path(name))
