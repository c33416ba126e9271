"""A recording in the window: its program, and each conversation as a session."""

import asyncio
import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import NamedTuple

from studio.application.run.start.session import Ended, RunSession
from studio.application.words import tr
from studio.core.agent.values.commands import (
    Approve,
    Command,
    Continue,
    EditReply,
    PauseRun,
    RunTo,
    SetOptions,
    StepOn,
    StopRun,
)
from studio.core.agent.values.events import (
    AnswerEdited,
    CallEdited,
    Event,
    MessagesEdited,
    ObservationEdited,
)
from studio.core.agent.values.options import RunOptions
from studio.core.masking.masker import Masker
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunStore
from studio.core.text.amounts import shortened
from studio.servers.record.answers import set_options
from studio.servers.record.child import run_child
from studio.servers.record.exchange import Exchange
from studio.servers.record.faults import faults_of
from studio.servers.record.program_run import ProgramRun
from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of
from studio.servers.record.replay import Decision, Replay, change_since, recorded_calls

__all__ = (
    "AskedRequest",
    "Decision",
    "ProgramSession",
    "WantedRecording",
    "WindowRecording",
    "faults_of",
)

_REPLY_EDITS = (EditReply, CallEdited, AnswerEdited)
_POSSIBLE = (
    *_REPLY_EDITS,
    *(
        Approve,
        Continue,
        PauseRun,
        RunTo,
        SetOptions,
        StepOn,
        StopRun,
        MessagesEdited,
        ObservationEdited,
    ),
)
"""Commands for the run of a program; the program itself decides what is requested next."""

_MOST_SAID = 300
"""Maximum length of the message that is shown with a question, in characters."""

_MOST_OUTPUT = 4_000
"""Maximum size of the program's last output that is kept, in bytes."""


@dataclass(frozen=True, slots=True)
class WantedRecording:
    """A program that the user wants to record, and its options."""

    program: tuple[str, ...]
    """Command line; empty if the program is started elsewhere."""

    folder: str = ""
    """Working directory of the program; empty for that of the studio."""

    to: str = ""
    """Server to send requests to; empty for the program's own."""

    port: int = 0
    """Port of the proxy; 0 for any free one."""

    steps: bool = False
    """Whether each conversation pauses before its first request."""

    replays: str = ""
    """Run of the recording that answers in place of the models; empty for none."""

    faults: str = ""
    """Faults to inject, one for each request from the first."""


def refusal_for(conversation: ProgramRun, commands: Sequence[Command]) -> str:
    """Return the reason why a program's run does not take commands; empty if it takes them."""
    if not all(isinstance(each, _POSSIBLE) for each in commands):
        return tr("The program decides what to request and call next: edit what it gets instead.")
    if conversation.exchange.is_answered and any(isinstance(e, _REPLY_EDITS) for e in commands):
        return tr("The program has this reply already: set a breakpoint, or step from its request.")
    return ""


class AskedRequest(NamedTuple):
    """A request that is not the recorded one, for the user to answer."""

    words: str
    """The first difference."""

    said: str
    """Last message of the request."""

    decide: Callable[[Decision], object]
    """Called with the user's decision, in any thread."""


class ProgramSession(RunSession):
    """A conversation as a run session of the window."""

    is_program = True

    def __init__(
        self, conversation: ProgramRun, task: asyncio.Task[None], stop: Callable[[], object]
    ) -> None:
        """Create a session for a started conversation.

        Args:
            conversation: the conversation.
            task: the task that drives it.
            stop: called to end the program and the recording.
        """
        super().__init__(conversation.plan)
        self._conversation, self._task, self._stop = conversation, task, stop
        self._run, self._is_open = conversation.run, True
        conversation.on_stream = self._stream

    def follow(self, event: Event) -> None:
        """Show an event of the conversation."""
        self._show(event)

    async def drive(self, *first: Command) -> None:
        """Follow the conversation until the recording ends."""
        fault = tr("The recording has ended; the run is not changed.") if first else ""
        try:
            await asyncio.wait([self._task])
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        finally:
            self._is_open = False
            self._arrivals.append(Ended(fault))

    async def send(self, *commands: Command) -> str:
        """Send commands; return the reason if the run rejects one, else ""."""
        if any(isinstance(each, StopRun) for each in commands):
            self._stop()
            return ""
        if refusal := refusal_for(self._conversation, commands):
            return refusal
        for each in commands:
            if isinstance(each, SetOptions) and (
                fault := set_options(self._conversation.exchange, each.text)
            ):
                return fault
        commands = tuple(each for each in commands if not isinstance(each, SetOptions))
        return await super().send(*commands)


def _replayed(replay: Replay, count: int) -> Iterator[str]:
    """Yield how the requests of a program were answered from a recording."""
    answered = tr("{done} of {count} calls were answered from the recording.")
    yield answered.format(done=count - replay.left, count=count)
    if replay.difference:
        yield tr("First difference: {difference}").format(difference=replay.difference)
    for other in dict.fromkeys(replay.others):
        yield tr("Not in the recording: {request}").format(request=other)


class WindowRecording:
    """Serves a recording in the thread of the event loop."""

    def __init__(
        self,
        wanted: WantedRecording,
        options: RunOptions,
        store: RunStore | None,
        began: Callable[[ProgramSession], None],
        listens: Callable[[str], None],
        asks: Callable[[AskedRequest], None],
    ) -> None:
        """Create the recording; `serve` starts it.

        Args:
            wanted: what to record.
            options: pause points.
            store: history that stores the runs.
            began: called with each new conversation, in the loop's thread.
            listens: called with the variables for a program that is started elsewhere, one per
                line.
            asks: called with a request that a replayed recording does not answer.
        """
        self._wanted, self._store = wanted, store
        self._masker = Masker(os.environ)
        self.recording = Recording(
            wanted.program, self._masker, options, store, self._follow, wanted.folder
        )
        """The conversations."""
        self.recording.faults.extend(faults_of(wanted.faults))
        self._began, self._listens, self._asks = began, listens, asks
        self._one_question = asyncio.Lock()
        self._sessions: dict[ProgramRun, ProgramSession] = {}
        self._serving: asyncio.Task[str] | None = None
        self._said = b""

    def stop(self) -> None:
        """End the program and the recording."""
        if self._serving is not None:
            self._serving.cancel()

    async def end(self) -> None:
        """End the program and the recording, in the thread of the loop."""
        self.stop()

    async def serve(self) -> str:
        """Record until the program ends or is stopped; return a message on how it ended.

        Raises:
            AddressError: an address is not that of a server.
            ModelError: the system's proxy or certificates cannot be used.
            OSError: the port or the program cannot be used.
        """
        self._serving = asyncio.create_task(self._serve())
        try:
            return await self._serving
        except asyncio.CancelledError:
            return tr("Stopped.")

    async def _serve(self) -> str:
        replay, count = None, 0
        if self._wanted.replays and self._store is not None:
            calls = await asyncio.to_thread(recorded_calls, self._store, self._wanted.replays)
            count = len(calls)
            replay = Replay(calls, self._masker, on_difference="answer", ask_user=self._ask)
        upstreams = upstreams_of(os.environ, self._wanted.to)
        proxy = RecorderProxy(upstreams, replay or self.recording)
        async with proxy.serving(self._wanted.port):
            try:
                if not self._wanted.program:
                    self._listens("\n".join(proxy.settings()))
                    await asyncio.Event().wait()
                code = await run_child(
                    self._wanted.program,
                    proxy.environment(os.environ),
                    folder=self._wanted.folder or None,
                    said=self._hear,
                )
            finally:
                if replay is not None:
                    replay.close()
                await self.recording.close()
        last = self._masker.mask(self._said.decode("utf-8", "replace")).strip().splitlines()
        change = _replayed(replay, count) if replay else await asyncio.to_thread(self._change)
        return "\n".join((tr("Exit code {code}.").format(code=code), *last[-3:], *change))

    def _change(self) -> tuple[str, ...]:
        """Return a message on the first difference from the previous recording of the program."""
        change = None
        with suppress(LookupError, JournalError):  # answers that are not stored are skipped
            change = change_since(self._store, self.recording.tag) if self._store else None
        if change is None:
            return ()
        if not change.words:
            return (tr("The requests are equal to those of the previous recording."),)
        words = tr("Call {number} differs from the previous recording: {difference}")
        return (words.format(number=change.number, difference=change.words),)

    async def _ask(self, exchange: Exchange, words: str) -> Decision:
        """Ask the user how to answer a request, one request at a time."""
        loop = asyncio.get_running_loop()
        async with self._one_question:
            decided: asyncio.Future[Decision] = loop.create_future()

            def decide(decision: Decision) -> None:
                if not decided.done():
                    decided.set_result(decision)

            said = shortened(exchange.said, _MOST_SAID)
            self._asks(
                AskedRequest(words, said, lambda each: loop.call_soon_threadsafe(decide, each))
            )
            return await decided

    def _hear(self, piece: bytes) -> None:
        self._said = (self._said + piece)[-_MOST_OUTPUT:]

    def _follow(self, conversation: ProgramRun, event: Event) -> None:
        session = self._sessions.get(conversation)
        if session is None:
            task = dict(self.recording.going)[conversation]
            session = self._sessions[conversation] = ProgramSession(conversation, task, self.stop)
            task.add_done_callback(lambda _: self._sessions.pop(conversation))
            self._began(session)
        session.follow(event)
