"""Many calls of tools one after the other: the user's saved ones, or those of a file of rows."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import Future
from functools import partial
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, Signal

from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.viewmodels.app.background import Background

MakeCall: TypeAlias = Callable[[str, JsonObject], Coroutine[Any, Any, ToolOutcome]]
"""Calls a tool with arguments, in the loop."""


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

    def make(self, calls: Sequence[tuple[str, JsonObject]]) -> None:
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

    async def _make(self, calls: Sequence[tuple[str, JsonObject]]) -> None:
        for number, (tool, arguments) in enumerate(calls):
            self._background.post(partial(self.call_began.emit, number))
            outcome = await self._call(tool, arguments)
            self._background.post(partial(self.call_ended.emit, number, outcome))

    def _ended(self, future: Future[None]) -> None:
        self._work = None
        self.calls_ended.emit()
        if not future.cancelled():
            future.result()
