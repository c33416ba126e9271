"""Stepping in the terminal: each pause prints the state and reads commands.

Messages for the user go to standard error, since `--json` writes events to standard output.
"""

import argparse
import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TextIO, TypeAlias

from studio.application.run.breakpoints import describe
from studio.application.run.text_commands import CommandError, breakpoint_of, command_of
from studio.application.run.words import place_in_group
from studio.cli.terminal import UsageError, tell
from studio.core.agent.loop.setup import run_model_of
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run
from studio.core.agent.values import commands
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Command
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.models.base import ChatModel, ModelError
from studio.core.text.amounts import counted
from studio.core.wire.reply import Reply

PLACES = ", ".join(place.word for place in PausePoint)
"""Pause points of a run, in the words of the command line."""

_SHORTER = 400

OpenModel: TypeAlias = Callable[[str], ChatModel]
"""Opens the model of `CONNECTION [ID]`."""


def add_stepping(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for pause points."""
    parser.add_argument(
        "--step", action="store_true", help="pause at every pause point and read commands"
    )
    parser.add_argument(
        "--break",
        action="append",
        default=[],
        dest="breaks",
        metavar="PLACE|TOOL[:CONDITION]",
        help=f"pause there ({PLACES}, or before a tool) and read commands",
    )


def breakpoints_of(options: argparse.Namespace) -> tuple[Breakpoint, ...]:
    """Return the breakpoints that `--break` names.

    Raises:
        UsageError: a name is not a pause point.
    """
    try:
        return tuple(breakpoint_of(text, at) for at, text in enumerate(options.breaks, 1))
    except CommandError as error:
        raise UsageError(f"--break: {error}") from None


async def step_through(
    run: Run,
    first: tuple[Command, ...],
    changed: asyncio.Event,
    open_other: OpenModel | None = None,
) -> RunState:
    """Drive a run to its end and ask the user at every pause. The end of input stops it.

    Args:
        run: the run.
        first: commands to send first.
        changed: set after every event of the run.
        open_other: opens another model; None for a replay, which calls no model.
    """
    going = asyncio.create_task(run.go(*first))
    try:
        while not going.done():
            if run.state.pause is None or run.is_working or run.state.place is None:
                await _either(going, changed)
                continue
            tell(pause_words(run))
            if not await ask(run, going, open_other):
                return await going
    finally:
        if not going.done():
            going.cancel()
            await asyncio.wait({going})
    return await going


async def ask(
    run: Run,
    going: asyncio.Task[Any],
    open_other: OpenModel | None,
    set_options: Callable[[str], str] | None = None,
) -> bool:
    """Read commands until one continues the run; return False at the end of input.

    Args:
        run: the run.
        going: task that drives it.
        open_other: opens another model; None if none can be chosen.
        set_options: sets options of a program's request (`set JSON`); returns an error, or "".
    """
    while not going.done():
        tell("(step) ", end="")
        line = await line_of(sys.stdin)
        if not line:
            tell("end of input: stopped")
            run.send(commands.StopRun())
            return False
        before = len(run.events)
        word, _, rest = line.strip().partition(" ")
        if (
            word == "set"
            and set_options is not None
            and run.state.place == PausePoint.BEFORE_REQUEST
        ):
            tell(set_options(rest) or "the request is sent with these options")
            continue
        try:
            command = _other_model(line, run.state, open_other) or command_of(
                line.strip(), run.state, run.tree
            )
            if isinstance(command, str):
                tell(command)
                continue
            if isinstance(command, commands.Continue):
                # After this, `--step` is over: only breakpoints and problems stop the run.
                run.gate.options = replace(run.gate.options, pause_at=frozenset())
            run.send(command)
        except (CommandError, NotAllowedError, UsageError, ModelError) as error:
            tell(f"{error} (`h` lists the commands)")
            continue
        if len(run.events) > before or isinstance(command, commands.StopRun):
            await asyncio.sleep(0)
            return True
    return True


def _other_model(line: str, state: RunState, open_other: OpenModel | None) -> Command | None:
    """Parse `model CONNECTION [ID]` into a command; return None for any other line."""
    word, _, rest = line.strip().partition(" ")
    if word != "model":
        return None
    if open_other is None:
        raise CommandError("a replay uses no model")
    model = open_other(rest)
    return commands.ChooseModel(run_model_of(model), state.answered_by, model)


def pause_words(run: Run) -> str:
    """Describe the pause of a run, with its breakpoints in words."""
    names = {each.id: describe(each) for each in run.gate.options.breakpoints}
    return standing(run.state, names)


async def _either(going: asyncio.Task[RunState], changed: asyncio.Event) -> None:
    changed.clear()
    waiter = asyncio.ensure_future(changed.wait())
    await asyncio.wait({going, waiter}, return_when=asyncio.FIRST_COMPLETED)
    waiter.cancel()
    await asyncio.sleep(0)


async def line_of(stream: TextIO) -> str:
    """Read a line in a thread that an interrupted program need not wait for."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[str] = loop.create_future()

    def give(line: str) -> None:
        if not future.done():
            future.set_result(line)

    def read() -> None:
        line = stream.readline()
        if not loop.is_closed():
            loop.call_soon_threadsafe(give, line)

    threading.Thread(target=read, daemon=True, name="terminal").start()
    return await future


# Output -----------------------------------------------------------------------------------------

_TITLES: Mapping[PausePoint, str] = {
    PausePoint.BEFORE_REQUEST: "the request is ready",
    PausePoint.REPLY: "the reply has arrived",
    PausePoint.TOOL_CALL: "a call is ready",
    PausePoint.OBSERVATION: "a result has arrived",
    PausePoint.STEP_END: "the step has ended",
    PausePoint.ANSWER: "the answer is ready",
    PausePoint.ERROR: "something is wrong",
}


def standing(state: RunState, breakpoints: Mapping[str, str] | None = None) -> str:
    """Describe in a few lines where and why a run is paused.

    Args:
        state: the run.
        breakpoints: description of each breakpoint by id.
    """
    pause, place = state.pause, state.place
    if pause is None or place is None:
        return ""
    lines = [f"-- step {state.iteration}, {place.word}: {_TITLES[place]} ({pause.reason})"]
    if pause.breakpoints:
        names = breakpoints or {}
        lines[0] += f" {', '.join(names.get(each, each) for each in pause.breakpoints)}"
    wrong = state.error.message if place == PausePoint.ERROR and state.error is not None else ""
    lines += [f"   {text}" for text in dict.fromkeys((pause.text, wrong)) if text]
    lines += [f"   {_short(line)}" for line in _about(state, place)]
    return "\n".join(lines)


def _about(state: RunState, place: PausePoint) -> list[str]:
    step = state.step
    call = step.calls[state.call] if state.call is not None and step.calls else None
    match place:
        case PausePoint.BEFORE_REQUEST:
            last = step.messages[-1] if step.messages else None
            sent = counted(len(step.messages), "message")
            return [sent if last is None else f"{sent}, the last ({last.role}): {last.text}"]
        case PausePoint.REPLY:
            reply = step.reply or Reply()
            return [reply.text] * bool(reply.text) + [
                f"calls {asked.name} {asked.arguments}" for asked in reply.tool_calls
            ]
        case PausePoint.TOOL_CALL | PausePoint.OBSERVATION if call is not None:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            shown = f"{call.tool} {arguments}"
            if place == PausePoint.OBSERVATION:
                return [f"{shown} → {call.observation}"]
            number, count = place_in_group(state)
            if count == 1:
                return [shown]
            ends = "" if number == count else "`n` approves it, "
            return [shown, f"call {number} of {count}: {ends}`y all` runs all {count}"]
        case PausePoint.ANSWER:
            return [state.answer or "(no text)"]
        case PausePoint.ERROR if state.error is not None:
            repairs = ", ".join(item.name for item in state.error.repairs)
            hint = [state.error.hint] if state.error.hint else []
            return [*hint, *([f"repairs: {repairs}"] if repairs else [])]
        case _:
            return []


def _short(text: str) -> str:
    line = " ⏎ ".join(text.strip().splitlines())
    return line if len(line) <= _SHORTER else f"{line[:_SHORTER]} … ({len(line)} characters)"
