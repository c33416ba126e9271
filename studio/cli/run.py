"""`prompt-studio run`: a prompt or agent to its end, without a window."""

from __future__ import annotations

import argparse
import asyncio
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from studio.application.connections.tools import tool_connection
from studio.cli.commands import CommandError, breakpoint_of, target_of
from studio.cli.exit_codes import FINE, PROBLEMS
from studio.cli.main import (
    UsageError,
    add_inputs,
    add_trust,
    allow_named,
    given_inputs,
    load,
    references,
    report,
    trust_of,
)
from studio.cli.past_runs import PastRun, past_to_fork, past_to_replay, replay_of
from studio.cli.printer import event_printer, print_end, print_notice
from studio.cli.step import step_through
from studio.core.agent.loop.setup import limits_of, make_setup
from studio.core.agent.loop.toolbox import RunToolbox
from studio.core.agent.past.retelling import Retelling
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run, RunWorld
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Command, Continue, ForkFrom, RaiseLimit, StopRun
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import PLACES, LimitName, RunState
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.choice import choose_connection
from studio.core.models.connection_file import read_connections
from studio.core.models.factory import open_model
from studio.core.models.replay import RecordingModel, ReplayModel
from studio.core.models.secrets import SecretStore, secret_store
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parameters import missing_parameters
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.problem import Severity
from studio.core.text.values import Json
from studio.core.tools.definitions import change_text
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.session import ToolSession
from studio.core.tools.trust import TrustStore


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_inputs(parser)
    parser.add_argument("--json", action="store_true", help="write one event a line")
    parser.add_argument(
        "--times", action="store_true", help="with --json: also times and the run's id"
    )
    parser.add_argument("--connection", default="", metavar="NAME", help="where the model is")
    parser.add_argument("--protocol", choices=get_args(ProtocolName), help="over the prompt's own")
    parser.add_argument("--max-iterations", type=_steps, metavar="N", help="model calls at most")
    parser.add_argument(
        "--timeout", type=_amount, metavar="SECONDS", help="end the run after this time"
    )
    parser.add_argument(
        "--max-tokens", type=_steps, metavar="N", help="input and output tokens at most"
    )
    parser.add_argument("--max-cost", type=_amount, metavar="USD", help="US dollars at most")
    parser.add_argument(
        "--step", action="store_true", help="stand still at every place and take commands"
    )
    parser.add_argument(
        "--break",
        action="append",
        default=[],
        dest="breaks",
        metavar="PLACE|TOOL[:CONDITION]",
        help="stand still there (P1 … P6, PX, or before a tool), and take commands",
    )
    parser.add_argument(
        "--to",
        default="",
        metavar="STEP[:PLACE]",
        help="run to a step (2) or a place in one (2:P3), and take commands there",
    )
    parser.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="add what the model answers to this file"
    )
    past = parser.add_mutually_exclusive_group()
    past.add_argument(
        "--replay",
        metavar="RUN|CASSETTE",
        help="answer as in a run of the history (no model, no tool), or as in a recorded file",
    )
    past.add_argument(
        "--fork", metavar="RUN@STEP", help="go back to a step of a run and go on as a new branch"
    )
    add_trust(parser, "its tools may run, and what it refers to is read and sent")
    parser.add_argument(
        "--yes", action="store_true", help="allow tool calls that would ask for approval"
    )
    parser.set_defaults(action=_run)


def _steps(text: str) -> int:
    if not (text.isascii() and text.isdecimal() and int(text)):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of steps; write 1, 2, 3 …")
    return int(text)


def _amount(text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is no positive number")
    return value


def _run(options: argparse.Namespace) -> int:
    document = load(options.file)
    store = _store()
    try:
        past = _past(options, store)
        values = past.inputs | given_inputs(options, document)
        breaks = _breakpoints(options)
        if report(document, (p for p in document.problems if p.severity is Severity.ERROR)):
            return PROBLEMS
        trust = trust_of(options, options.file)
        allow_named(options, document, trust)
        missing = [p for p in prepare(document, values).problems if p.code == "missing-input"]
        missing += missing_parameters(document, values)
        if report(document, missing):
            return PROBLEMS
        secrets = secret_store()
        context = references(document, trust, masker=secrets.masker)
        document = settled_document(document, values, context)
        made = _run_options(options, breaks, document)
        plan = _Plan(document, values, made, past, trust, secrets)
        state = asyncio.run(_drive(options, plan, store))
    except (ModelError, NotAllowedError, JournalError, StoreError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        print(f"prompt-studio: {error} {hint}".rstrip(), file=sys.stderr)
        return PROBLEMS
    except KeyboardInterrupt:
        print("prompt-studio: stopped", file=sys.stderr)
        return PROBLEMS
    finally:
        if store is not None:
            store.close()
    return _end(options, state)


@dataclass(frozen=True)
class _Plan:
    """What is to be run, and how."""

    document: PromptDocument
    values: dict[str, Json]
    options: RunOptions
    past: PastRun
    trust: TrustStore
    secrets: SecretStore


def _past(options: argparse.Namespace, store: RunStore | None) -> PastRun:
    """The run that `--replay` or `--fork` names.

    Raises:
        UsageError: there is none, or it has no such step.
    """
    named = options.fork or options.replay
    if not named or (options.replay and Path(options.replay).is_file()):
        return PastRun()
    if store is None:
        raise UsageError("there is no history to take a run from")
    return past_to_fork(store, named) if options.fork else past_to_replay(store, named)


def _breakpoints(options: argparse.Namespace) -> tuple[Breakpoint, ...]:
    try:
        if options.to:
            target_of(options.to)
        return tuple(breakpoint_of(text, at) for at, text in enumerate(options.breaks, 1))
    except CommandError as error:
        raise UsageError(str(error)) from None


def _given_limits(options: argparse.Namespace) -> dict[LimitName, float]:
    """The bounds of the run that the command line sets."""
    given: dict[LimitName, float | None] = {
        "iterations": options.max_iterations,
        "tokens": options.max_tokens,
        "cost": options.max_cost,
        "seconds": options.timeout,
    }
    return {name: value for name, value in given.items() if value is not None}


def _run_options(
    options: argparse.Namespace, breaks: tuple[Breakpoint, ...], document: PromptDocument
) -> RunOptions:
    given: dict[str, Any] = dict(_given_limits(options))
    limits = replace(limits_of(document), **given) if given else None
    is_stepped = options.step or bool(breaks) or bool(options.to)
    is_exact = options.replay is not None and not Path(options.replay).is_file()
    return RunOptions(
        protocol=options.protocol,
        limits=limits,
        headless=not is_stepped,
        approve="always" if options.yes or is_exact else "ask",
        breakpoints=breaks,
        pause_at=frozenset(PLACES) if options.step else frozenset(),
    )


async def _drive(options: argparse.Namespace, plan: _Plan, store: RunStore | None) -> RunState:
    read, setup = plan.past.read, plan.past.setup
    if read is not None and setup is not None and plan.past.checkpoint is None:
        replay = replay_of(read, setup, plan.options)
        plan = replace(plan, options=replay.options, past=PastRun())
        return await _go(options, plan, replay.model, replay.toolbox, None, replay.told)
    tools = ToolSession(plan.trust, masker=plan.secrets.masker)
    connections = read_connections(user_paths().config / "connections.toml")
    tools.find_connection = partial(tool_connection, connections, plan.secrets)
    model = _model(options, plan)
    try:
        context = references(plan.document, plan.trust, masker=plan.secrets.masker)
        prepared = prepare(plan.document, plan.values, references=context)
        registry = await tools.load(prepared.document, prepared.messages.tools)
        if options.trust:
            registry = tools.allow_tools()
        _say_tools(registry, asks=plan.options.approve == "ask")
        _check_tools(plan.options.breakpoints, [tool.name for tool in registry.specs])
        return await _go(options, plan, model, tools.toolbox(prepared.inputs), store)
    finally:
        await tools.close()
        await model.close()


def _say_tools(registry: ToolRegistry, *, asks: bool) -> None:
    """Say which sources and tools want something of the user."""
    for status in registry.sources:
        if status.state != "ready" or status.message:
            way = " (--trust allows it)" if status.state == "waiting" else ""
            print(f"prompt-studio: {status.label}: {status.message}{way}", file=sys.stderr)
    for entry in registry.entries:
        if asks and entry.enabled and entry.change is not None and entry.mock is None:
            text = f"{entry.name}: {change_text(entry.change)}"
            print(f"prompt-studio: {text}\n(--trust allows it as it is)", file=sys.stderr)


def _check_tools(breakpoints: tuple[Breakpoint, ...], tools: list[str]) -> None:
    """Say which breakpoints can never be met."""
    for item in breakpoints:
        if item.tool and item.tool not in tools:
            known = f"{', '.join(tools) or 'none'}; the places are {', '.join(PLACES)}"
            message = f"--break: there is no tool {item.tool!r}; the tools are {known}"
            print(f"prompt-studio: {message}", file=sys.stderr)


async def _go(
    options: argparse.Namespace,
    plan: _Plan,
    model: ChatModel,
    toolbox: RunToolbox,
    store: RunStore | None,
    told: Retelling | None = None,
) -> RunState:
    changed = asyncio.Event()
    show = event_printer(as_json=options.json, times=options.times)
    journal: list[Callable[[Event], None]] = []

    def shown(event: Event) -> None:
        show(event)
        changed.set()

    world = RunWorld(
        plan.document,
        plan.values,
        model,
        toolbox,
        journal=lambda event: journal[0](event) if journal else None,
        shown=shown,
        stream=None if options.json else print_notice,
        references=references(plan.document, plan.trust, masker=plan.secrets.masker),
        retelling=told,
    )
    run, first = _taken_up(options, world, plan)
    if store is not None:
        journal.append(store.journal(run.state.setup.run))
    if plan.options.headless:
        return await _within(options.timeout, run, first)
    run.gate.target = target_of(options.to) if options.to else None
    return await step_through(run, first, changed)


async def _within(seconds: float | None, run: Run, first: tuple[Command, ...]) -> RunState:
    """Run to the end, or until the time is over: then what is under way is cut off, and kept."""
    if seconds is None:
        return await run.go(*first)

    def stop() -> None:
        print(f"prompt-studio: stopped after {seconds:g} s (--timeout)", file=sys.stderr)
        run.send(StopRun())

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        return await run.go(*first)
    finally:
        timer.cancel()


def _taken_up(
    options: argparse.Namespace, world: RunWorld, plan: _Plan
) -> tuple[Run, tuple[Command, ...]]:
    """A new run, or one of the history that goes back to a step, with its first commands."""
    read, setup, at = plan.past.read, plan.past.setup, plan.past.checkpoint
    if read is None or setup is None or at is None:
        made = make_setup(
            plan.document, plan.values, world.toolbox.specs, world.model, plan.options
        )
        return Run(world, plan.options, made), ()
    first: list[Command] = [ForkFrom(at)]
    first += (RaiseLimit(name, to) for name, to in _given_limits(options).items())
    if plan.options.headless:
        first.append(Continue())
    return Run(world, plan.options, setup, read), tuple(first)


def _model(options: argparse.Namespace, plan: _Plan) -> ChatModel:
    """The model that answers, with the reason said.

    Raises:
        UsageError: the connection does not exist, or the file chose an address of its own.
    """
    if options.replay is not None:
        return ReplayModel(Path(options.replay))
    connections = read_connections(user_paths().config / "connections.toml")
    for problem in connections.problems:
        print(f"prompt-studio: {problem}", file=sys.stderr)
    if options.connection and connections.named(options.connection) is None:
        known = ", ".join(repr(each.name) for each in connections.connections)
        raise UsageError(f"no connection {options.connection!r}; there are {known}")
    document = plan.document
    path = document.source.path
    choice = choose_connection(
        document.model,
        connections,
        chosen=options.connection,
        trusted=path is None or plan.trust.is_trusted(path.parent),
    )
    if choice.untrusted:
        raise UsageError(
            f"the file sends to {choice.untrusted}, which you have not allowed; add a connection "
            "for it in the studio, or choose one with --connection"
        )
    if choice.warning:
        print(f"prompt-studio: {choice.warning}", file=sys.stderr)
    model = open_model(choice, secrets=plan.secrets)
    if options.record is None:
        return model
    return RecordingModel(model, options.record, plan.secrets.masker)


def _store() -> RunStore | None:
    """The history; a run goes on without one that cannot be opened, and says so."""
    try:
        return RunStore(user_paths().data / "runs.sqlite")
    except (StoreError, OSError) as error:
        print(f"prompt-studio: the run is not kept in History: {error}", file=sys.stderr)
        return None


def _end(options: argparse.Namespace, state: RunState) -> int:
    """Write how the run ended; returns the exit code."""
    print_end(state, as_json=options.json)
    return FINE if state.status == "done" else PROBLEMS
