"""Tool calls that the user makes, and questions of tools to the user.

Saved calls and calls from a file of rows are made one after another.
"""

import asyncio
import itertools
import time
from collections.abc import Callable, Coroutine, Sequence
from concurrent.futures import CancelledError, Future
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias, TypeVar

from PySide6.QtCore import QObject, Signal, SignalInstance

from studio.application.words import tr
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint
from studio.core.prompty.document import ToolId
from studio.core.text.values import JsonObject
from studio.core.tools.document_tools import ToolSession
from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.source import ToolOutcome
from studio.viewmodels.app.background import Background
from studio.viewmodels.app.jobs import repeating_timer

_OUTPUT_MS = 150
"""Interval at which the output of a running call is read, in milliseconds."""

MakeCall: TypeAlias = Callable[[ToolId, JsonObject], Coroutine[Any, Any, ToolOutcome]]
"""Calls a tool with arguments, in the loop."""


@dataclass(frozen=True, slots=True)
class ToolTrial:
    """A tool call by the user and its outcome."""

    tool: ToolId
    """The tool."""

    arguments: JsonObject
    """Arguments of the call."""

    outcome: ToolOutcome | None = None
    """Outcome; None while the call runs."""

    when: float = 0.0
    """Start time in seconds since the epoch."""


class ToolTrials(QObject):
    """Makes one call, shows its output, and can stop it."""

    changed = Signal(ToolTrial)  # started or ended
    output_changed = Signal(str)  # output and progress of the running call so far

    def __init__(
        self,
        background: Background,
        call: MakeCall,
        read_live_output: Callable[[], Coroutine[object, object, str]],
        parent: QObject | None = None,
    ) -> None:
        """Create it.

        Args:
            background: loop in which calls run.
            call: calls a tool with arguments.
            read_live_output: returns the output of the running call.
            parent: owner.
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
        """Whether a call is running."""
        return self._call is not None

    def start(self, tool: ToolId, arguments: JsonObject) -> None:
        """Call a tool at the user's request; one call at a time."""
        if self._call is not None:
            return
        self._trial = ToolTrial(tool, dict(arguments), when=time.time())
        self.changed.emit(self._trial)
        self._listening.start()
        self._call = self._background.start(self._make_call(tool, arguments), self._end)

    def cancel(self) -> None:
        """Stop the call and end its process."""
        if self._call is not None:
            self._call.cancel()

    def close(self) -> None:
        """Stop the call and ignore its outcome."""
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
    """Makes the calls of a list in order; one list at a time."""

    call_began = Signal(int)  # number of the call in the list
    call_ended = Signal(int, ToolOutcome)  # number of the call in the list
    calls_ended = Signal()  # all calls are made, or the user stopped them

    def __init__(
        self, background: Background, call: MakeCall, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._call = call
        self._work: Future[None] | None = None

    @property
    def is_running(self) -> bool:
        """Whether a list of calls is running."""
        return self._work is not None

    def make(self, calls: Sequence[tuple[ToolId, JsonObject]]) -> None:
        """Call tools at the user's request.

        Args:
            calls: tool and arguments of each call.
        """
        if self._work is None and self._background.is_running:
            self._work = self._background.start(self._make(tuple(calls)), self._ended)

    def cancel(self) -> None:
        """Stop the running call and make no further ones."""
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


# Questions to the user: calls of the mock "ask me", and requests for input by servers.


@dataclass(frozen=True, slots=True)
class Question:
    """A tool call that waits for the user's answer."""

    id: int
    """Number of the question."""

    tool: str
    """Name of the called tool."""

    arguments: JsonObject
    """Arguments of the call."""


@dataclass(frozen=True, slots=True)
class InputQuestion:
    """A request for input by an MCP server."""

    id: int
    """Number of the question."""

    wanted: InputWanted
    """Requested input and the server's name."""


_Answer = TypeVar("_Answer", ToolOutcome, InputGiven)


class ToolQuestions(QObject):
    """Passes questions from the loop to the window, and the answers back."""

    request_answer = Signal(Question)
    request_input = Signal(InputQuestion)
    settled = Signal(int)  # id of a question that was answered or canceled

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background
        self._numbers = itertools.count(1)
        self._waiting: dict[int, asyncio.Future[ToolOutcome]] = {}
        self._wanted: dict[int, asyncio.Future[InputGiven]] = {}

    async def ask(self, tool: str, arguments: JsonObject) -> ToolOutcome:
        """Wait in the loop for the user's answer; this can be cancelled."""
        question = Question(next(self._numbers), tool, dict(arguments))
        return await self._wait(self._waiting, question.id, self.request_answer, question)

    async def ask_for_input(self, wanted: InputWanted) -> InputGiven:
        """Wait in the loop for the input that a server requested; this can be cancelled."""
        question = InputQuestion(next(self._numbers), wanted)
        return await self._wait(self._wanted, question.id, self.request_input, question)

    def answer(self, number: int, text: str, is_error: bool) -> None:
        """Answer a question; an answer that is too late is ignored."""
        outcome = ToolOutcome(text, "error" if is_error else "ok", value=text)
        _settle(self._waiting.get(number), outcome)

    def give_input(self, number: int, given: InputGiven) -> None:
        """Give the input that a server requested; an answer that is too late is ignored."""
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
    """Shows the waiting HTTP request of a run's tool call; empty if none waits."""

    changed = Signal(str)  # request of the waiting call, with its key masked

    def __init__(
        self, background: Background, session: ToolSession, parent: QObject | None = None
    ) -> None:
        super().__init__(parent)
        self._background = background
        self._session = session
        self._call: Call | None = None
        self._shown = ""

    def follow(self, state: RunState | None) -> None:
        """Use the current state of a run."""
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
    """Return the call that a run waits for."""
    if (
        state is None
        or state.pause is None
        or state.pause.place != PausePoint.TOOL_CALL
        or state.call is None
    ):
        return None
    call = state.step.calls[state.call] if state.call < len(state.step.calls) else None
    return call if call is not None and call.status == "asked" else None
