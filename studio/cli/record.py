"""`record`: record, hold and edit the model calls of any program."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import signal
import sys
from collections.abc import Coroutine
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from studio.application.exchange.runs import take_text
from studio.application.history.rows import find_run
from studio.cli.run.step import add_stepping, ask, breakpoints_of, line_of, pause_words
from studio.cli.terminal import (
    FINE,
    INTERRUPTED,
    PROBLEMS,
    Interruption,
    UsageError,
    tell,
    whole,
)
from studio.core.agent.values.events import Event, ModelFailed
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.masking.masker import Masker
from studio.core.models.base import ModelError
from studio.core.paths import user_paths
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.amounts import counted, shortened
from studio.core.text.files import MOST_RECORD_BYTES, read_text
from studio.core.text.values import reason_of

if TYPE_CHECKING:
    from studio.servers.record.exchange import Exchange
    from studio.servers.record.program_run import ProgramRun
    from studio.servers.record.proxy import Recording
    from studio.servers.record.replay import Decision, Replay

_ENDINGS = (signal.SIGTERM, signal.SIGHUP) if sys.platform != "win32" else (signal.SIGTERM,)

_MOST_SAID = 2_000
"""Maximum number of characters of a message that is shown when its answer is requested."""

_MOST_TOLD = 20
"""Maximum number of conversations that are listed at the end."""


def add_record(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `record`."""
    parser.add_argument(
        "program",
        nargs="*",
        metavar="PROGRAM",
        help="program to start, after --; without one, the proxy's addresses are printed",
    )
    parser.add_argument(
        "--port", type=whole(0, 65_535), default=0, help="port on this machine (default: any free)"
    )
    parser.add_argument(
        "--to", default="", metavar="URL", help="server to ask, instead of the program's own"
    )
    parser.add_argument(
        "--fault",
        action="append",
        default=[],
        metavar="FAULT",
        help="faults to inject, one for each request from the first: 429, 500 or another error "
        "status, cut, delay=SECONDS, or ok for none; separated by commas, or repeated",
    )
    add_stepping(parser)
    parser.set_defaults(action=_record)


def add_replay(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `replay`."""
    parser.add_argument(
        "run",
        metavar="RUN|FILE",
        help="id of a recorded run, or its beginning; or an exported recording",
    )
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="program to start, after --")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KEY",
        help="key of a request body to ignore; metadata, prompt_cache_key, safety_identifier and "
        "user are always ignored",
    )
    parser.add_argument(
        "--on-difference",
        choices=("refuse", "take", "ask", "answer"),
        default="refuse",
        help="answer to a request that differs: status 409, the recorded answer of the next call "
        "to its path, the model's (the request is sent), or a line that you type (then the "
        "program has no input); the exit code is always 1",
    )
    parser.set_defaults(action=_replay)


def add_trace(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `trace`."""
    kinds = parser.add_subparsers(metavar="ACTION", required=True)
    listen = kinds.add_parser("listen", help="receive traces over HTTP until Ctrl+C")
    listen.add_argument(
        "--port", type=whole(0, 65_535), default=4318, help="port (default: %(default)s; 0: any)"
    )
    listen.set_defaults(action=_listen)


def _listen(options: argparse.Namespace) -> int:
    try:
        with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
            return _to_end(_take_traces(options.port, store))
    except StoreError as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS


async def _take_traces(port: int, store: RunStore) -> int:
    from studio.servers.record.otlp_listener import OtlpListener
    from studio.servers.record.proxy import LOOPBACK, serving

    listener = OtlpListener(store, Masker(os.environ), lambda run: print(run, flush=True))
    async with serving(listener, port) as listener.port:
        tell(f"prompt-studio: receiving traces at http://{LOOPBACK}:{listener.port}/v1/traces")
        await listener.follow()
    return FINE


def _replay(options: argparse.Namespace) -> int:
    from studio.servers.record.replay import IGNORED, Replay, recorded_calls

    _check_program(options.program)
    file = Path(options.run)
    try:
        with TemporaryDirectory() as folder:
            history = Path(folder) if file.is_file() else user_paths().data
            with closing(RunStore(history / "runs.sqlite")) as store:
                named = options.run
                if file.is_file():
                    named = take_text(read_text(file, MOST_RECORD_BYTES), store)[0]
                calls = recorded_calls(store, find_run(store, named).id)
    except (LookupError, StoreError, JournalError, UnicodeDecodeError) as error:
        raise UsageError(reason_of(error)) from None
    except OSError as error:
        raise UsageError(f"{file}: {error.strerror or error}") from None
    ignored, how = (*IGNORED, *options.ignore), options.on_difference
    replay = Replay(calls, Masker(os.environ), ignored, how, _Typing().ask)
    code = _to_end(_serve_replay(options.program, replay, has_input=how != "answer"))
    for other in dict.fromkeys(replay.others):
        tell(f"prompt-studio: not in the recording, answered with 404: {other}")
    if replay.difference:
        tell(f"prompt-studio: a request that differs from the recorded one: {replay.difference}")
        return PROBLEMS
    tell(f"prompt-studio: {len(calls) - replay.left} of {counted(len(calls), 'call')} replayed")
    return code or (PROBLEMS if replay.left else FINE)


class _Typing:
    """Asks the user for the answers to requests that differ, one after another."""

    def __init__(self) -> None:
        self._lock = asyncio.Lock()

    async def ask(self, exchange: Exchange, words: str) -> Decision:
        """Return the line that the user types as the answer; empty at the end of input."""
        from studio.servers.record.replay import Decision

        async with self._lock:
            tell(f"{exchange.model}: a request that differs from the recorded one: {words}")
            tell(f"its last message: {shortened(exchange.said, _MOST_SAID)}\n(answer) ", end="")
            return Decision("answer", (await line_of(sys.stdin)).rstrip("\n"))


async def _serve_replay(program: list[str], replay: Replay, *, has_input: bool) -> int:
    from studio.servers.record.child import run_child
    from studio.servers.record.proxy import RecorderProxy, upstreams_of

    proxy = RecorderProxy(upstreams_of(os.environ), replay)
    async with proxy.serving():
        return await run_child(program, proxy.environment(os.environ), has_input=has_input)


def _check_program(program: list[str]) -> None:
    if program and shutil.which(program[0]) is None:
        why = "is not executable" if Path(program[0]).exists() else "is not a program on the PATH"
        raise UsageError(f"{program[0]!r} {why}")


def _record(options: argparse.Namespace) -> int:
    _check_program(options.program)
    run_options = RunOptions(
        headless=not (options.step or options.breaks),
        approve="always",
        breakpoints=breakpoints_of(options),
        pause_at=frozenset(PausePoint) if options.step else frozenset(),
    )
    try:
        with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
            return _to_end(_serve(options, run_options, store))
    except StoreError as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS


def _to_end(serving: Coroutine[Any, Any, int]) -> int:
    """Serve until the end and return the exit code; SIGTERM and SIGHUP act like Ctrl+C.

    Raises:
        UsageError: an address or port cannot be used.
    """
    from studio.servers.record.exchange import AddressError
    from studio.servers.record.proxy import PortError

    async def served() -> int:
        task = asyncio.current_task()
        assert task is not None
        interruption = Interruption(task.cancel, *_ENDINGS)
        try:
            return await serving
        except asyncio.CancelledError:
            tell("prompt-studio: stopped")
            return 128 + interruption.number if interruption.number else INTERRUPTED

    try:
        return asyncio.run(served())
    except (AddressError, PortError) as error:
        raise UsageError(str(error)) from None
    except ModelError as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS


async def _serve(options: argparse.Namespace, run_options: RunOptions, store: RunStore) -> int:
    """Serve until the program ends or Ctrl+C is pressed; return the program's exit code."""
    from studio.servers.record.child import run_child
    from studio.servers.record.faults import faults_of
    from studio.servers.record.proxy import RecorderProxy, Recording, upstreams_of

    changed = asyncio.Event()
    is_stepped = not run_options.headless

    def followed(conversation: ProgramRun, event: Event) -> None:
        if is_stepped and isinstance(event, ModelFailed):
            tell(f"{conversation.run.state.setup.prompt}: {event.message}")
        changed.set()

    try:
        faults = faults_of(",".join(options.fault))
    except ValueError as error:
        raise UsageError(f"--fault: {error}") from None
    upstreams = upstreams_of(os.environ, options.to)
    masker = Masker(os.environ)
    recording = Recording(options.program, masker, run_options, store, followed)
    recording.faults.extend(faults)
    proxy = RecorderProxy(upstreams, recording)
    async with proxy.serving(options.port):
        stepping = asyncio.create_task(_step(recording, changed)) if is_stepped else None
        try:
            if options.program:
                environment = proxy.environment(os.environ)
                code = await run_child(options.program, environment, has_input=not is_stepped)
                is_left = stepping is not None and stepping.done()
                return code or (PROBLEMS if is_left else FINE)
            print("\n".join(proxy.settings()), flush=True)
            tell("prompt-studio: recording until Ctrl+C")
            await (stepping or asyncio.Event().wait())
            return PROBLEMS
        finally:
            if stepping is not None:
                stepping.cancel()
            await recording.close()
            told = recording.conversations[-_MOST_TOLD:]
            if recording.begun > len(told):
                rest = counted(recording.begun - len(told), "conversation")
                tell(f"prompt-studio: {rest} earlier, in the history under {recording.tag!r}")
            for conversation in told:
                if conversation.run.events:  # a new conversation may have none
                    _tell_end(conversation.run.state, conversation.caller)
            _tell_change(store, recording.tag)


def _tell_change(store: RunStore, tag: str) -> None:
    from studio.servers.record.replay import change_since

    with suppress(LookupError, JournalError):  # answers that are not stored are skipped
        if change := change_since(store, tag):
            before, number, words = change
            tell(
                f"prompt-studio: first difference from the previous recording ({before}): "
                f"call {number}: {words}"
                if words
                else f"prompt-studio: the requests equal those of the previous recording ({before})"
            )


def _tell_end(state: RunState, caller: str) -> None:
    words = f"{counted(state.iteration, 'call')} of {state.setup.model}, {state.status}"
    words += f", called by {caller}" if caller else ""
    tell(f"prompt-studio: {state.setup.run}  {state.setup.prompt}: {words}")


async def _step(recording: Recording, changed: asyncio.Event) -> None:
    """Ask the user at each pause of any conversation, one after another.

    The end of input ends the recording: held and further requests are refused.
    """
    from studio.servers.record.answers import set_options

    while True:
        changed.clear()
        for conversation, going in recording.going:
            run = conversation.run
            while (
                run.state.pause is not None and run.state.place is not None and not run.is_working
            ):
                tell(f"{run.state.setup.prompt}\n{pause_words(run)}")
                if not await ask(run, going, None, partial(set_options, conversation.exchange)):
                    await recording.close()
                    return
                await asyncio.sleep(0)
        await changed.wait()
