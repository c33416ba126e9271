"""The user's breakpoints and exception filters, stored between runs."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

from PySide6.QtCore import QObject, Signal

from studio.application.run.breakpoints import BreakpointSet
from studio.application.run.debugging.console import DebugStore, FileDebugging
from studio.application.words import tr
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.options import ExceptionFilter
from studio.core.agent.values.step import PausePoint
from studio.core.prompty.document import PromptDocument


class FileBreakpoints(QObject):
    """Holds the breakpoints of one file; `changed` updates a running run."""

    changed = Signal(BreakpointSet)

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.value = BreakpointSet()
        """The breakpoints and exception filters."""
        self.file: str | None = None
        """File of the set: empty for a prompt that was never saved, None for any file."""
        self._made = 0

    def open_file(self, file: str, value: BreakpointSet) -> None:
        """Switch to the set of another file."""
        self.file = file
        named = tuple(replace(item, id=self._next()) for item in value.breakpoints)
        self._take(replace(value, breakpoints=named))

    def belongs_to(self, document: PromptDocument) -> bool:
        """Return whether the set belongs to this prompt."""
        path = document.source.path
        return self.file is None or self.file == (str(path) if path is not None else "")

    def toggle_message(self, message: str) -> None:
        """Set or remove the plain breakpoint of a message; `user 2` is the second user message."""
        self._toggle(Breakpoint("", frozenset({PausePoint.BEFORE_REQUEST}), message=message))

    def toggle_place(self, place: PausePoint) -> None:
        """Set or remove the plain breakpoint of a pause point."""
        self._toggle(Breakpoint("", frozenset({place})))

    def toggle_tool(self, tool: str) -> None:
        """Set or remove the plain breakpoint of a tool."""
        self._toggle(Breakpoint("", tool=tool))

    def _toggle(self, plain: Breakpoint) -> None:
        same = [
            item for item in self.value.breakpoints if replace(item, id="", enabled=True) == plain
        ]
        if same:
            self.remove(same[0].id)
        else:
            self.add(plain)

    def _next(self) -> str:
        self._made += 1
        return f"b{self._made}"

    def add(self, item: Breakpoint) -> str:
        """Add a breakpoint and return its new id."""
        named = replace(item, id=self._next())
        self._take(replace(self.value, breakpoints=(*self.value.breakpoints, named)))
        return named.id

    def change(self, item: Breakpoint) -> None:
        """Replace the breakpoint with the same id."""
        items = tuple(item if old.id == item.id else old for old in self.value.breakpoints)
        self._take(replace(self.value, breakpoints=items))

    def switch(self, identifier: str, on: bool) -> None:
        """Enable or disable a breakpoint."""
        for item in self.value.breakpoints:
            if item.id == identifier and item.enabled != on:
                self.change(replace(item, enabled=on))

    def remove(self, identifier: str) -> None:
        """Remove a breakpoint."""
        items = tuple(item for item in self.value.breakpoints if item.id != identifier)
        self._take(replace(self.value, breakpoints=items))

    def set_exceptions(self, exceptions: Iterable[ExceptionFilter]) -> None:
        """Set the exceptions at which a run pauses."""
        self._take(replace(self.value, exceptions=frozenset(exceptions)))

    def _take(self, value: BreakpointSet) -> None:
        if value != self.value:
            self.value = value
            self.changed.emit(value)


class Debugging(QObject):
    """Holds the breakpoints and watches of the open file and stores them."""

    watches_changed = Signal(tuple)  # expressions of the open file
    failed = Signal(str)  # sentence for the user; each type of failure once

    def __init__(
        self, memory: DebugStore, file_breakpoints: FileBreakpoints, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._memory = memory
        self._file_breakpoints = file_breakpoints
        self.watches: tuple[str, ...] = ()
        """Watch expressions of the open file."""
        self._unsaved = FileDebugging()
        self._opening = False
        self._reported = ""
        file_breakpoints.changed.connect(self._on_breakpoints)

    def open_file(self, path: Path | None) -> None:
        """Load the breakpoints and watches of a file; None for a prompt that was never saved."""
        name = str(path) if path is not None else ""
        if name == self._file_breakpoints.file:
            return
        held = self._memory.of(name) if name else self._unsaved
        self._opening = True
        self._file_breakpoints.open_file(name, held.breakpoints)
        self._opening = False
        self._take_watches(held.watches)

    def set_watches(self, expressions: tuple[str, ...]) -> None:
        """Set the watches."""
        if expressions != self.watches:
            self._take_watches(expressions)
            self._keep(self._file_breakpoints.value)

    def _take_watches(self, expressions: tuple[str, ...]) -> None:
        self.watches = expressions
        self.watches_changed.emit(expressions)

    def _on_breakpoints(self, value: BreakpointSet) -> None:
        if not self._opening:
            self._keep(value)

    def _keep(self, value: BreakpointSet) -> None:
        held = FileDebugging(value, self.watches)
        if not self._file_breakpoints.file:
            self._unsaved = held
            return
        wrong = self._memory.keep(self._file_breakpoints.file, held)
        if wrong and wrong != self._reported:
            self._reported = wrong
            self.failed.emit(
                tr("Breakpoints are only kept until the studio exits: {reason}.").format(
                    reason=wrong
                )
            )
