"""Breakpoints and watches follow the file that is open, and are kept for it."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.run.debugging.breakpoints import BreakpointSet
from studio.application.run.debugging.memory import DebugStore, FileDebugging
from studio.viewmodels.run.breakpoint_book import FileBreakpoints


class Debugging(QObject):
    """Joins the book of breakpoints, the watches and their memory."""

    watches_changed = Signal(tuple)  # expressions of the file that is open
    failed = Signal(str)  # sentence for the person; each sort of failure once

    def __init__(
        self, memory: DebugStore, file_breakpoints: FileBreakpoints, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._memory = memory
        self._file_breakpoints = file_breakpoints
        self._watches: tuple[str, ...] = ()
        self._unsaved = FileDebugging()
        self._opening = False
        self._told = ""
        file_breakpoints.changed.connect(self._on_breakpoints)

    @property
    def watches(self) -> tuple[str, ...]:
        """The expressions of the file that is open."""
        return self._watches

    def open_file(self, path: Path | None) -> None:
        """Go to the breakpoints and watches of a file; None for a prompt that was never saved."""
        name = str(path) if path is not None else ""
        if name == self._file_breakpoints.file:
            return
        held = self._memory.of(name) if name else self._unsaved
        self._opening = True
        self._file_breakpoints.open_file(name, held.breakpoints)
        self._opening = False
        self._take_watches(held.watches)

    def set_watches(self, expressions: tuple[str, ...]) -> None:
        """The person changed the watches."""
        if expressions != self._watches:
            self._take_watches(expressions)
            self._keep(self._file_breakpoints.value)

    def _take_watches(self, expressions: tuple[str, ...]) -> None:
        self._watches = expressions
        self.watches_changed.emit(expressions)

    def _on_breakpoints(self, value: BreakpointSet) -> None:
        if not self._opening:
            self._keep(value)

    def _keep(self, value: BreakpointSet) -> None:
        held = FileDebugging(value, self._watches)
        if not self._file_breakpoints.file:
            self._unsaved = held
            return
        wrong = self._memory.keep(self._file_breakpoints.file, held)
        if wrong and wrong != self._told:
            self._told = wrong
            self.failed.emit(
                self.tr("Breakpoints hold only until the studio is closed: {reason}.").format(
                    reason=wrong
                )
            )
