"""The call of a tool that the user tries: one at a time, with what it says while it runs.

The user's saved calls, and those of a file of rows, are made one after the other.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.application.words import tr
from studio.core.prompty.document import ToolId
from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import repeating_timer

_OUTPUT_MS = 150
"""Between two looks at what a running call says."""

MakeCall: TypeAlias = Callable[[ToolId, JsonObject], Coroutine[Any, Any, ToolOutcome]]
"""Calls a tool with arguments, in the loop."""


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """One call that the user tried, and how it ended."""

    tool: ToolId
    """The tool."""

    arguments: JsonObject
    """The arguments given."""

    outcome: ToolOutcome | None = None
    """The end; `None` while it runs."""

    when: float = 0.0
    """When it began, in seconds since the epoch."""


class ToolTrials(QObject):
    """Makes the call, listens to it, and stops it."""

    changed = Signal(ToolTrial)  # begun, or ended
    output_changed = Signal(str)  # what the running call has printed and reported so far

    def __init__(
        self,
        background: Background,
        call: MakeCall,
        read_live_output: Callable[[], Coroutine[object, object, str]],
        parent: QObject | None = None,
    ) -> None:
        """Make it.

        Args:
            background: the loop that calls run in.
            call: calls a tool with arguments.
            read_live_output: tells what the running call has said.
            parent: its owner.
        """
        super().__init__(parent)
        self._background = background
        self._make_call = call
        self._read = read_live_output
        self._trial: ToolTrial | None = None
        self._call: Future[ToolOutcome] | None = None
        self._listening = repeating_timer(self, self._read_live_output, _OUTPUT_MS)

    @property
    def is_running(self) -> bool:
        """Whether a tried call still runs."""
        return self._call is not None

    def start(self, tool: ToolId, arguments: JsonObject) -> None:
        """Call a tool because the user asked for it; one call at a time."""
        if self._call is not None:
            return
        self._trial = ToolTrial(tool, dict(arguments), when=time.time())
        self.changed.emit(self._trial)
        self._listening.start()
        self._call = self._background.start(self._make_call(tool, arguments), self._end)

    def cancel(self) -> None:
        """Stop the tried call; its process is ended."""
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """Stop the call, and listen no more."""
        self._listening.stop()
        self.cancel()

    def _read_live_output(self) -> None:
        """Show the output of the running call so far."""
        if self._background.is_running:
            self._background.ask(self._read(), self._show_live_output)

    def _show_live_output(self, text: str) -> None:
        if self._call is not None:
            self.output_changed.emit(text)

    def _end(self, future: Future[ToolOutcome]) -> None:
        self._listening.stop()
        trial, self._trial, self._call = self._trial, None, None
        if trial is None:
            return
        try:
            outcome = future.result()
        except CancelledError:
            outcome = ToolOutcome(tr("Stopped by you."), "cancelled")
        self.changed.emit(replace(trial, outcome=outcome))


class ToolCalls(QObject):
    """Makes the calls of one list, in order; one list at a time."""

    call_began = Signal(int)  # number of the call in the list
    call_ended = Signal(int, ToolOutcome)  # number of the call in the list
    calls_ended = Signal()  # all are made, or the user stopped them

    def __init__(
        self, background: Background, call: MakeCall, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._call = call
        self._work: Future[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a list of calls is being made."""
        return self._work is not None

    def make(self, calls: Sequence[tuple[ToolId, JsonObject]]) -> None:
        """Call tools because the user asked for it.

        Args:
            calls: tool and arguments of each.
        """
        if self._work is None and self._background.is_running:
            self._work = self._background.start(self._make(tuple(calls)), self._ended)

    def cancel(self) -> None:
        """Stop the call that runs, for real, and make none of those after it."""
        if self._work is not None:
            self._work.cancel()

    async def _make(self, calls: Sequence[tuple[ToolId, JsonObject]]) -> None:
        for number, (tool, arguments) in enumerate(calls):
            self._background.post(partial(self.call_began.emit, number))
            outcome = await self._call(tool, arguments)
            self._background.post(partial(self.call_ended.emit, number, outcome))

    def _ended(self, future: Future[None]) -> None:
        self._work = None
        self.calls_ended.emit()
        if not future.cancelled():
            future.result()
