"""A recording in a window: its program, and each conversation as a session that it drives."""

import asyncio
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass

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
from studio.servers.record.answers import set_options
from studio.servers.record.child import run_child
from studio.servers.record.faults import faults_of
from studio.servers.record.program_run import ProgramRun
from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of
from studio.servers.record.replay import change_since

__all__ = ("ProgramSession", "WantedRecording", "WindowRecording", "faults_of")

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
"""Commands for a program's run; what is asked next, and of whom, the program decides."""

_MOST_OUTPUT = 4_000
"""Bytes of the program's last output that are kept."""


@dataclass(frozen=True, slots=True)
class WantedRecording:
    """Program that the user wants to record, and how."""

    program: tuple[str, ...]
    """Command line; empty for a program that is started elsewhere."""

    folder: str = ""
    """Folder to start it in; empty for the studio's."""

    to: str = ""
    """Server to ask; empty for the program's own."""

    port: int = 0
    """Port to listen on; 0 for any."""

    steps: bool = False
    """Whether each conversation is held before its first request."""

    faults: str = ""
    """Faults on purpose, one for each request from the first on."""


class ProgramSession(RunSession):
    """One conversation, as the session of a window's run."""

    is_program = True

    def __init__(
        self, conversation: ProgramRun, task: asyncio.Task[None], stop: Callable[[], object]
    ) -> None:
        """Take a conversation that has begun.

        Args:
            conversation: the conversation.
            task: the task that follows it.
            stop: ends the program and the recording.
        """
        super().__init__(conversation.plan)
        self._conversation, self._task, self._stop = conversation, task, stop
        self._run, self._is_open = conversation.run, True
        conversation.on_stream = self._stream

    def follow(self, event: Event) -> None:
        """Show a fact of the conversation."""
        self._show(event)

    async def drive(self, *first: Command) -> None:
        """Follow the conversation until the recording ends."""
        fault = tr("The recording has ended; the run stays as it is.") if first else ""
        try:
            await asyncio.wait([self._task])
        except asyncio.CancelledError:
            self._task.cancel()
            raise
        finally:
            self._is_open = False
            self._arrivals.append(Ended(fault))

    async def send(self, *commands: Command) -> str:
        """Send commands; return the reason why the program's run takes one not, else ""."""
        if any(isinstance(each, StopRun) for each in commands):
            self._stop()
            return ""
        if not all(isinstance(each, _POSSIBLE) for each in commands):
            return tr("The program decides what it asks and calls next: edit what it gets instead.")
        for each in commands:
            if isinstance(each, SetOptions) and (
                fault := set_options(self._conversation.exchange, each.text)
            ):
                return fault
        commands = tuple(each for each in commands if not isinstance(each, SetOptions))
        is_late = self._conversation.exchange.is_answered
        if is_late and any(isinstance(each, _REPLY_EDITS) for each in commands):
            return tr(
                "The program has this reply already: set a breakpoint, or step from its request."
            )
        return await super().send(*commands)


class WindowRecording:
    """Serves one recording in the loop's thread."""

    def __init__(
        self,
        wanted: WantedRecording,
        options: RunOptions,
        store: RunStore | None,
        began: Callable[[ProgramSession], None],
        listens: Callable[[str], None],
    ) -> None:
        """Make it ready; nothing listens before `serve`.

        Args:
            wanted: what to record.
            options: places of pauses.
            store: history that keeps the runs.
            began: takes each conversation, in the loop's thread.
            listens: takes the addresses for a program that is started elsewhere, a line each.
        """
        self._wanted, self._store = wanted, store
        self._masker = Masker(os.environ)
        self.recording = Recording(
            wanted.program, self._masker, options, store, self._follow, wanted.folder
        )
        """The conversations."""
        self.recording.faults.extend(faults_of(wanted.faults))
        self._began, self._listens = began, listens
        self._sessions: dict[ProgramRun, ProgramSession] = {}
        self._serving: asyncio.Task[str] | None = None
        self._said = b""

    def stop(self) -> None:
        """End the program and the recording."""
        if self._serving is not None:
            self._serving.cancel()

    async def end(self) -> None:
        """End the program and the recording, in the loop."""
        self.stop()

    async def serve(self) -> str:
        """Record until the program ends, or is stopped; return how it ended, for the user.

        Raises:
            AddressError: an address leads to no server.
            ModelError: the system's proxy or certificates cannot be used.
            OSError: the port or the program cannot be used.
        """
        self._serving = asyncio.create_task(self._serve())
        try:
            return await self._serving
        except asyncio.CancelledError:
            return tr("Stopped.")

    async def _serve(self) -> str:
        proxy = RecorderProxy(upstreams_of(os.environ, self._wanted.to), self.recording)
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
                await self.recording.close()
        last = self._masker.mask(self._said.decode("utf-8", "replace")).strip().splitlines()
        return "\n".join((tr("Exit code {code}.").format(code=code), *last[-3:], *self._change()))

    def _change(self) -> Iterator[str]:
        """Yield where the recording first differs from the one before it of the same program."""
        with suppress(LookupError, JournalError):  # what was not kept is not compared
            change = change_since(self._store, self.recording.tag) if self._store else None
            if change is not None and change.words:
                words = tr("Call {number} differs from the recording before: {difference}")
                yield words.format(number=change.number, difference=change.words)
            elif change is not None:
                yield tr("The requests are those of the recording before.")

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
