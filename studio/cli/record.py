"""`record`: the calls of any program to its models, kept as runs, held and edited."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
from collections.abc import Mapping
from contextlib import closing
from typing import TYPE_CHECKING

from studio.application.history.find import find_run
from studio.application.run.text_commands import CommandError, breakpoint_of
from studio.cli.run.drive import PLACES
from studio.cli.run.step import ask, pause_words
from studio.cli.terminal import FINE, INTERRUPTED, PROBLEMS, UsageError, tell, whole
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.masking.masker import Masker
from studio.core.models.base import ModelError
from studio.core.paths import user_paths
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.amounts import counted

if TYPE_CHECKING:
    from studio.servers.record.proxy import Recording
    from studio.servers.record.replay import Replay


def add_record(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `record`."""
    parser.add_argument(
        "program",
        nargs="*",
        metavar="PROGRAM",
        help="program to start, after --; without one the addresses are printed and served",
    )
    parser.add_argument(
        "--port", type=whole(0, 65_535), default=0, help="port on this machine (default: any free)"
    )
    parser.add_argument(
        "--to", default="", metavar="URL", help="server to ask, instead of the program's own"
    )
    parser.add_argument(
        "--step", action="store_true", help="hold every request and answer, and take commands"
    )
    parser.add_argument(
        "--break",
        action="append",
        default=[],
        dest="breaks",
        metavar="PLACE|TOOL[:CONDITION]",
        help=f"hold there ({PLACES}, or before a tool) and take commands",
    )
    parser.set_defaults(action=_record)


def add_replay(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `replay`."""
    parser.add_argument("run", metavar="RUN", help="id of a recorded run, or its beginning")
    parser.add_argument("program", nargs="+", metavar="PROGRAM", help="program to start, after --")
    parser.add_argument(
        "--ignore",
        action="append",
        default=[],
        metavar="KEY",
        help="key of a request's body that is not compared; metadata, prompt_cache_key, "
        "safety_identifier and user never are",
    )
    parser.set_defaults(action=_replay)


def _replay(options: argparse.Namespace) -> int:
    from studio.servers.record.replay import IGNORED, Replay, recorded_calls

    _check_program(options.program)
    try:
        with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
            calls = recorded_calls(store, find_run(store, options.run).id)
    except (LookupError, StoreError, JournalError) as error:
        raise UsageError(str(error)) from None
    replay = Replay(calls, Masker(os.environ), (*IGNORED, *options.ignore))
    try:
        code = asyncio.run(_serve_replay(options.program, replay))
    except KeyboardInterrupt:
        return INTERRUPTED
    if replay.difference:
        tell(f"prompt-studio: another request than the recorded one: {replay.difference}")
        return PROBLEMS
    tell(f"prompt-studio: {len(calls) - replay.left} of {counted(len(calls), 'call')} replayed")
    return code or (PROBLEMS if replay.left else FINE)


async def _serve_replay(program: list[str], replay: Replay) -> int:
    from studio.servers.record.proxy import RecorderProxy, upstreams_of

    proxy = RecorderProxy(upstreams_of(os.environ), replay)
    async with proxy.serving():
        return await _run(program, proxy.environment(os.environ), is_stepped=False)


def _check_program(program: list[str]) -> None:
    if program and shutil.which(program[0]) is None:
        raise UsageError(f"{program[0]}: no such program")


def _record(options: argparse.Namespace) -> int:
    _check_program(options.program)
    try:
        breaks = [breakpoint_of(text, at) for at, text in enumerate(options.breaks, 1)]
        run_options = RunOptions(
            headless=not (options.step or breaks),
            approve="always",
            breakpoints=tuple(breaks),
            pause_at=frozenset(PausePoint) if options.step else frozenset(),
        )
        with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
            return asyncio.run(_serve(options, run_options, store))
    except CommandError as error:
        raise UsageError(f"--break: {error}") from None
    except (ModelError, StoreError) as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS
    except KeyboardInterrupt:
        tell("prompt-studio: stopped")
        return INTERRUPTED


async def _serve(options: argparse.Namespace, run_options: RunOptions, store: RunStore) -> int:
    """Serve until the program ends, or Ctrl+C; return the program's exit code."""
    from studio.servers.record.proxy import BASE_ADDRESSES, RecorderProxy, Recording, upstreams_of

    changed = asyncio.Event()
    recording = Recording(
        options.program,
        Masker(os.environ),
        run_options,
        store,
        lambda _conversation, _event: changed.set(),
    )
    proxy = RecorderProxy(upstreams_of(os.environ, options.to), recording)
    is_stepped = not run_options.headless
    async with proxy.serving(options.port):
        stepping = asyncio.create_task(_step(recording, changed)) if is_stepped else None
        try:
            if options.program:
                return await _run(options.program, proxy.environment(os.environ), is_stepped)
            for row in BASE_ADDRESSES:
                if row.default:
                    print(f"{row.variables[0]}={proxy.address(row.name)}", flush=True)
            tell("prompt-studio: recording until Ctrl+C")
            await asyncio.Event().wait()
        finally:
            if stepping is not None:
                stepping.cancel()
            await recording.close()
            for conversation in recording.conversations:
                _tell_end(conversation.run.state)
    return FINE


def _tell_end(state: RunState) -> None:
    words = f"{counted(state.iteration, 'call')} of {state.setup.model}, {state.status}"
    tell(f"prompt-studio: {state.setup.run}  {state.setup.prompt}: {words}")


async def _run(program: list[str], environment: Mapping[str, str], is_stepped: bool) -> int:
    """Run the program to its end; the terminal is the debugger's while it is stepped."""
    child = await asyncio.create_subprocess_exec(
        *program,
        env=environment,
        stdin=asyncio.subprocess.DEVNULL if is_stepped else None,
    )
    try:
        return await child.wait()
    finally:
        if child.returncode is None:
            child.terminate()
            await child.wait()


async def _step(recording: Recording, changed: asyncio.Event) -> None:
    """Ask the user at each pause of any conversation, one after the other."""
    while True:
        changed.clear()
        for conversation, going in recording.going:
            run = conversation.run
            while (
                run.state.pause is not None and run.state.place is not None and not run.is_working
            ):
                tell(f"{run.state.setup.prompt}\n{pause_words(run)}")
                if not await ask(run, going, None):
                    break
                await asyncio.sleep(0)
        await changed.wait()
