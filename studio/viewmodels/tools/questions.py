"""Calls that the person answers: the mock "ask me", in a run or a trial."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass

from PySide6.QtCore import QObject, Signal

from studio.core.text.values import JsonObject
from studio.core.tools.source import ToolOutcome
from studio.viewmodels.app.background import Background


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for the person's answer."""

    id: int
    """Its number."""

    tool: str
    """The tool that was called."""

    arguments: JsonObject
    """With what."""


class ToolQuestions(QObject):
    """Carries such calls from the loop to the window, and the answers back."""

    request_answer = Signal(object)  # Question
    settled = Signal(int)  # id of a question that was answered, or that nobody needs any more

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ToolOutcome]] = {}

    async def ask(self, tool: str, arguments: JsonObject) -> ToolOutcome:
        """Wait for the person's answer; runs in the loop, and can be cancelled."""
        question = Question(next(self._numbers), tool, dict(arguments))
        waiting = asyncio.get_running_loop().create_future()
        self._waiting[question.id] = waiting
        self._background.post(lambda: self.request_answer.emit(question))
        try:
            outcome: ToolOutcome = await waiting
            return outcome
        finally:
            self._waiting.pop(question.id, None)
            self._background.post(lambda: self.settled.emit(question.id))

    def answer(self, number: int, text: str, is_error: bool) -> None:
        """Give the answer to a question; too late is no harm."""
        waiting = self._waiting.get(number)
        if waiting is None:
            return
        outcome = ToolOutcome(text, "error" if is_error else "ok", value=text)

        def settle() -> None:
            if not waiting.done():
                waiting.set_result(outcome)

        waiting.get_loop().call_soon_threadsafe(settle)
