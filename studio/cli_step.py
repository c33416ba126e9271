"""Stepping in the terminal: at each pause a run says where it stands and takes a command.

Everything for the person goes to standard error, so that `--json` keeps standard output for events.
"""

from __future__ import annotations

import asyncio
import json
import sys
import threading
from collections.abc import Callable, Mapping
from typing import TextIO

from studio.core.agent import commands
from studio.core.agent.breakpoints import Breakpoint, problem_of
from studio.core.agent.commands import Command
from studio.core.agent.gate import Target
from studio.core.agent.requests import NotAllowedError
from studio.core.agent.runner import Run
from studio.core.agent.state import PLACES, Place, RunState
from studio.core.agent.tree import RunTree
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply

HELP = """\
  s, Enter      into: on to the next place      c             continue to a breakpoint, error or end
  n             over: a model call or tool      o             out: on to the end of this step
  q             stop the run                    m, r          show the messages, the reply
  reply TEXT    answer in the model's place     final [TEXT]  this is the answer
  args JSON     call with these arguments       obs TEXT      tell the model this instead
  y             allow the call                  no [WHY]      refuse it
  skip          do not run it                   as TEXT       do not run it; this is its result
  repair [NAME] read the reply repaired         limit [N]     allow N steps (5 more without N)
  say TEXT      a message before the next step  back STEP     go back; going on is a new branch
  to [STEP] [PLACE]   run to there: `to P3`, `to 3`, `to 3 P1`
  ran, not-run, result TEXT   what became of an interrupted call"""

_SHORTER = 400


class CommandError(ValueError):
    """A line that is no command; the text says how to write it."""


def breakpoint_of(text: str, number: int, tools: tuple[str, ...] | None = None) -> Breakpoint:
    """The breakpoint of `PLACE|TOOL[:CONDITION]`.

    Args:
        text: as it was written.
        number: which one it is, for its id.
        tools: the tools there are; None where they are not known yet.

    Raises:
        CommandError: it can never be met.
    """
    where, _, condition = text.partition(":")
    name = where.strip()
    place = next((item for item in PLACES if item.lower() == name.lower()), None)
    if not name:
        raise CommandError(f"{text!r} names no place and no tool; write P3 or search:args.n > 3")
    made = Breakpoint(
        f"break-{number}",
        places=frozenset({place}) if place is not None else frozenset(),
        tool="" if place is not None else name,
        condition=condition.strip(),
    )
    problem = problem_of(made, tools if tools is not None else (made.tool,))
    if problem:
        known = f"; places are {', '.join(PLACES)}" if place is None else ""
        raise CommandError(f"--break {text!r}: {problem}{known}")
    return made


def target_of(text: str) -> Target:
    """Where `STEP[:PLACE]`, or `PLACE` alone, is.

    Raises:
        CommandError: it is no place of a run.
    """
    words = text.replace(":", " ").split()
    places: list[Place] = [item for item in PLACES for word in words if word.upper() == item]
    steps = [int(word) for word in words if word.isdecimal()]
    if not words or len(places) > 1 or len(steps) > 1 or len(words) != len(places) + len(steps):
        raise CommandError(f"{text!r} is no place of a run; write 3, P3, or 3:P3")
    return Target(places[0] if places else None, steps[0] if steps else None)


async def step_through(run: Run, first: tuple[Command, ...], changed: asyncio.Event) -> RunState:
    """Drive a run to its end; at every pause the person is asked. The end of input stops it.

    Args:
        run: the run.
        first: commands to begin with.
        changed: set after every fact of the run.
    """
    going = asyncio.create_task(run.go(*first))
    try:
        while not going.done():
            if run.state.pause is None or run.is_working or run.state.place is None:
                await _either(going, changed)
                continue
            print(standing(run.state), file=sys.stderr)
            if not await _ask(run, going):
                return await going
    finally:
        if not going.done():
            going.cancel()
            await asyncio.wait({going})
    return await going


async def _ask(run: Run, going: asyncio.Task[RunState]) -> bool:
    """Take commands until one moves the run; whether there is a person still."""
    while not going.done():
        print("(step) ", end="", file=sys.stderr, flush=True)
        line = await _line(sys.stdin)
        if not line:
            print("end of input: stopped", file=sys.stderr)
            run.send(commands.StopRun())
            return False
        before = len(run.events)
        try:
            command = command_of(line.strip(), run.state, run.tree)
            if isinstance(command, str):
                print(command, file=sys.stderr)
                continue
            run.send(command)
        except (CommandError, NotAllowedError) as error:
            print(f"{error} (`h` lists the commands)", file=sys.stderr)
            continue
        if len(run.events) > before or isinstance(command, commands.StopRun):
            await asyncio.sleep(0)
            return True
    return True


async def _either(going: asyncio.Task[RunState], changed: asyncio.Event) -> None:
    changed.clear()
    waiter = asyncio.ensure_future(changed.wait())
    await asyncio.wait({going, waiter}, return_when=asyncio.FIRST_COMPLETED)
    waiter.cancel()
    await asyncio.sleep(0)


async def _line(stream: TextIO) -> str:
    """A line of input; read in a thread that an interrupted program need not wait for."""
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


# What is shown ------------------------------------------------------------------------------------

_TITLES: Mapping[Place, str] = {
    "P1": "the request is ready",
    "P2": "the reply is here",
    "P3": "a call is ready",
    "P4": "a result is here",
    "P5": "the step is done",
    "P6": "the answer is ready",
    "PX": "something is wrong",
}


def standing(state: RunState) -> str:
    """Where a run stands, why, and what it is about, in a few lines."""
    pause, place = state.pause, state.place
    if pause is None or place is None:
        return ""
    lines = [f"-- step {state.iteration}, {place}: {_TITLES[place]} ({pause.reason})"]
    if pause.breakpoints:
        lines[0] += f" {', '.join(pause.breakpoints)}"
    if pause.text:
        lines.append(f"   {pause.text}")
    lines += [f"   {_short(line)}" for line in _about(state, place)]
    return "\n".join(lines)


def _about(state: RunState, place: Place) -> list[str]:
    step = state.step
    call = step.calls[state.call] if state.call is not None and step.calls else None
    match place:
        case "P1":
            last = step.messages[-1] if step.messages else None
            sent = f"{len(step.messages)} messages"
            return [sent if last is None else f"{sent}, the last ({last.role}): {last.text}"]
        case "P2":
            reply = step.reply or Reply()
            return [reply.text] * bool(reply.text) + [
                f"calls {asked.name} {asked.arguments}" for asked in reply.tool_calls
            ]
        case "P3" | "P4" if call is not None:
            arguments = json.dumps(call.arguments, ensure_ascii=False)
            shown = f"{call.tool} {arguments}"
            return [shown if place == "P3" else f"{shown} → {call.observation}"]
        case "P6":
            return [state.answer or "(no text)"]
        case "PX" if state.error is not None:
            repairs = ", ".join(item.name for item in state.error.repairs)
            hint = [state.error.hint] if state.error.hint else []
            return [*hint, *([f"repairs: {repairs}"] if repairs else [])]
        case _:
            return []


def _short(text: str) -> str:
    line = " ⏎ ".join(text.strip().splitlines())
    return line if len(line) <= _SHORTER else f"{line[:_SHORTER]} … ({len(line)} characters)"


def _messages(state: RunState) -> str:
    return "\n".join(f"── {item.role}\n{item.text}" for item in state.step.messages)


# What is said -------------------------------------------------------------------------------------


def command_of(line: str, state: RunState, tree: RunTree) -> Command | str:
    """The command of a line, or a text to show.

    Raises:
        CommandError: it is none.
    """
    word, _, rest = line.partition(" ")
    rest = rest.strip()
    plain = _PLAIN.get(word)
    if plain is not None:
        if rest:
            raise CommandError(f"{word!r} takes nothing after it")
        return plain()
    match word:
        case "h" | "help" | "?":
            return HELP
        case "m":
            return _messages(state)
        case "r":
            return state.step.reply.text if state.step.reply is not None else "(no reply yet)"
        case "limit":
            allowed = rest or str((state.limits.iterations or state.iteration) + 5)
            return commands.RaiseLimit("iterations", _number(allowed, "limit 20"))
        case "to":
            target = target_of(rest)
            return commands.RunTo(target.place, target.iteration)
        case "back":
            return _back(rest, tree)
        case "repair":
            return _repair(rest, state)
        case "args":
            return _arguments(rest, state)
        case _:
            return _said(word, rest, state)


def _said(word: str, rest: str, state: RunState) -> Command:
    """The commands that take a text."""
    row = state.call or 0
    texts: Mapping[str, Callable[[], Command]] = {
        "reply": lambda: commands.EditReply(Reply(rest, finish_reason="stop")),
        "final": lambda: (
            commands.EditAnswer(rest)
            if state.place == "P6" and rest
            else commands.TreatAsFinal(rest or None)
        ),
        "obs": lambda: (
            commands.EditErrorObservation(rest)
            if state.place == "PX"
            else commands.EditObservation(row, rest)
        ),
        "y": lambda: commands.Approve(row),
        "no": lambda: commands.Reject(row, rest),
        "skip": lambda: commands.SkipCall(row),
        "as": lambda: commands.AnswerCall(row, rest),
        "say": lambda: commands.SendBack(rest) if state.place == "P6" else commands.Steer(rest),
        "ran": lambda: commands.TellOutcome(row, "ran"),
        "not-run": lambda: commands.TellOutcome(row, "did-not-run"),
        "result": lambda: commands.TellOutcome(row, "result", rest),
    }
    make = texts.get(word)
    if make is None:
        raise CommandError(f"{word!r} is no command")
    return make()


_PLAIN: Mapping[str, Callable[[], Command]] = {
    "": lambda: commands.StepOn("into"),
    "s": lambda: commands.StepOn("into"),
    "n": lambda: commands.StepOn("over"),
    "o": lambda: commands.StepOn("out"),
    "c": commands.Continue,
    "q": commands.StopRun,
}


def _number(text: str, example: str) -> int:
    if not text.isdecimal():
        raise CommandError(f"{text!r} is no number; write `{example}`")
    return int(text)


def _back(rest: str, tree: RunTree) -> Command:
    step = _number(rest, "back 2")
    found = tree.find(step)
    if found is None:
        raise CommandError(f"the run has no step {step}")
    return commands.ForkFrom(found.id)


def _repair(name: str, state: RunState) -> Command:
    offered = [item.name for item in state.error.repairs] if state.error is not None else []
    offered += [item.name for call in state.step.calls for item in call.repairs]
    if not offered:
        raise CommandError("no repair is offered here")
    return commands.TakeRepair(name or offered[0], call=state.call or 0)


def _arguments(rest: str, state: RunState) -> Command:
    if not state.step.calls:
        raise CommandError("there is no call here")
    row = state.call or 0
    try:
        value: JsonObject = json.loads(rest)
    except ValueError as error:
        raise CommandError(f"the arguments are no JSON: {error}") from None
    if not isinstance(value, dict):
        raise CommandError("the arguments are one JSON object")
    return commands.EditCall(row, state.step.calls[row].tool, value)
