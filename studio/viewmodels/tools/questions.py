"""Questions to the user: calls of the mock "ask me", questions of servers, a request to be sent."""

from __future__ import annotations

import asyncio
import itertools
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from PySide6.QtCore import QObject, Signal, SignalInstance

from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint
from studio.core.prompty.document import ToolId
from studio.core.text.values import JsonObject
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.source import ToolOutcome
from studio.viewmodels.app.background import Background


@dataclass(frozen=True, slots=True)
class Question:
    """A call that waits for the user's answer."""

    id: int
    """Its number."""

    tool: str
    """The tool that was called."""

    arguments: JsonObject
    """With what."""


@dataclass(frozen=True, slots=True)
class InputQuestion:
    """An MCP server wants to know something of the user."""

    id: int
    """Its number."""

    wanted: InputWanted
    """Wanted input, and the server that asks."""


_Answer = TypeVar("_Answer", ToolOutcome, InputGiven)


class ToolQuestions(QObject):
    """Carries questions from the loop to the window, and the answers back."""

    request_answer = Signal(Question)
    request_input = Signal(InputQuestion)
    settled = Signal(int)  # id of a question that was answered, or that nobody needs any more

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ToolOutcome]] = {}
        self._wanted: dict[int, asyncio.Future[InputGiven]] = {}

    async def ask(self, tool: str, arguments: JsonObject) -> ToolOutcome:
        """Wait for the user's answer; runs in the loop, and can be cancelled."""
        question = Question(next(self._numbers), tool, dict(arguments))
        return await self._wait(self._waiting, question.id, self.request_answer, question)

    async def ask_for_input(self, wanted: InputWanted) -> InputGiven:
        """Wait for what a server wants to know; runs in the loop, and can be cancelled."""
        question = InputQuestion(next(self._numbers), wanted)
        return await self._wait(self._wanted, question.id, self.request_input, question)

    def answer(self, number: int, text: str, is_error: bool) -> None:
        """Give the answer to a question; too late is no harm."""
        outcome = ToolOutcome(text, "error" if is_error else "ok", value=text)
        _settle(self._waiting.get(number), outcome)

    def give_input(self, number: int, given: InputGiven) -> None:
        """Give what a server wanted to know; too late is no harm."""
        _settle(self._wanted.get(number), given)

    async def _wait(
        self,
        waiting: dict[int, asyncio.Future[_Answer]],
        number: int,
        signal: SignalInstance,
        question: object,
    ) -> _Answer:
        answer: asyncio.Future[_Answer] = asyncio.get_running_loop().create_future()
        waiting[number] = answer
        self._background.post(lambda: signal.emit(question))
        try:
            return await answer
        finally:
            waiting.pop(number, None)
            self._background.post(lambda: self.settled.emit(number))


def _settle(waiting: asyncio.Future[_Answer] | None, given: _Answer) -> None:
    if waiting is None:
        return

    def settle() -> None:
        if not waiting.done():
            waiting.set_result(given)

    waiting.get_loop().call_soon_threadsafe(settle)


class CallRequest(QObject):
    """Follows a run; what it says is empty wherever no request waits."""

    changed = Signal(str)  # the request of the call that waits, key masked

    def __init__(
        self, background: Background, session: ToolSession, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._session = session
        self._call: Call | None = None
        self._shown = ""

    def follow(self, state: RunState | None) -> None:
        """Follow the state of a run."""
        call = _waiting(state)
        if call == self._call:
            return
        self._call = call
        self._show("")
        if state is None or call is None or call.arguments is None:
            return
        path = Path(state.setup.path) if state.setup.path else None

        def show(text: str) -> None:
            if self._call is call:
                self._show(text)

        setup = state.setup
        tool = next((spec.id for spec in setup.tools if spec.name == call.tool), ToolId())
        request = self._session.request_text(tool, call.arguments, setup.inputs, path)
        self._background.ask(request, show, show)

    def _show(self, text: str) -> None:
        if text != self._shown:
            self._shown = text
            self.changed.emit(text)


def _waiting(state: RunState | None) -> Call | None:
    """Return the call at which a run waits."""
    if (
        state is None
        or state.pause is None
        or state.pause.place != PausePoint.TOOL_CALL
        or state.call is None
    ):
        return None
    call = state.step.calls[state.call] if state.call < len(state.step.calls) else None
    return call if call is not None and call.status == "asked" else None
