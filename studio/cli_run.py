"""`prompt-studio run`: a prompt or agent to its end, without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from studio.cli import UsageError, add_inputs, given_inputs, load, references, report
from studio.cli_runs import found_run
from studio.cli_step import CommandError, breakpoint_of, step_through
from studio.cli_words import FINE, PROBLEMS
from studio.core.agent.breakpoints import Breakpoint
from studio.core.agent.commands import Command, Continue, ForkFrom, RaiseLimit
from studio.core.agent.events import Event, ModelFailed, ReplyRead, Started, Stopped, ToolEnded
from studio.core.agent.options import RunOptions
from studio.core.agent.reading import Action
from studio.core.agent.replay import (
    RecordedModel,
    RecordedSpecs,
    RecordedTools,
    recording_of,
)
from studio.core.agent.requests import NotAllowedError
from studio.core.agent.runner import Run, RunWorld
from studio.core.agent.setup import make_setup
from studio.core.agent.state import PLACES, Limits, RunSetup, RunState
from studio.core.agent.toolbox import RunToolbox
from studio.core.agent.tree import branch_path, walk
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.choice import choose_connection
from studio.core.models.connection_file import read_connections
from studio.core.models.factory import open_model
from studio.core.models.replay import RecordingModel, ReplayModel
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import prepare
from studio.core.runs.codec import JournalError, encode_event
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.problem import Severity
from studio.core.text.values import Json
from studio.core.tools.session import ToolSession
from studio.core.tools.trust import TrustStore
from studio.core.wire.reply import Notice, Reply, ReplyDelta


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_inputs(parser)
    parser.add_argument("--json", action="store_true", help="write one event a line")
    parser.add_argument(
        "--times", action="store_true", help="with --json: also times and the run's id"
    )
    parser.add_argument("--connection", default="", metavar="NAME", help="where the model is")
    parser.add_argument("--protocol", choices=get_args(ProtocolName), help="over the prompt's own")
    parser.add_argument("--max-iterations", type=int, metavar="N", help="model calls at most")
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
    parser.add_argument(
        "--trust", action="store_true", help="trust the prompt's folder: its tools may run"
    )
    parser.add_argument(
        "--yes", action="store_true", help="allow tool calls that would ask for approval"
    )
    parser.set_defaults(action=_run)


def _run(options: argparse.Namespace) -> int:
    document = load(options.file)
    store = _store()
    try:
        past = _past(options, store)
        values = past.inputs | given_inputs(options, document)
        breaks = _breakpoints(options)
        if report(document, (p for p in document.problems if p.severity is Severity.ERROR)):
            return PROBLEMS
        trust = TrustStore()
        if options.trust:
            trust.trust(options.file.resolve().parent)
        missing = [p for p in prepare(document, values).problems if p.code == "missing-input"]
        if report(document, missing):
            return PROBLEMS
        plan = _Plan(document, values, _run_options(options, breaks), past, trust)
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
class _Past:
    """The run of the history that this one repeats or goes on with."""

    events: tuple[Event, ...] = ()
    """Its journal; empty for a new run."""

    checkpoint: int | None = None
    """Where a fork begins; None for a replay."""

    @property
    def setup(self) -> RunSetup | None:
        """What it was started with."""
        first = self.events[0] if self.events else None
        return first.setup if isinstance(first, Started) else None

    @property
    def inputs(self) -> dict[str, Json]:
        """Its values."""
        return dict(self.setup.inputs) if self.setup is not None else {}


@dataclass(frozen=True)
class _Plan:
    """What is to be run, and how."""

    document: PromptDocument
    values: dict[str, Json]
    options: RunOptions
    past: _Past
    trust: TrustStore


def _past(options: argparse.Namespace, store: RunStore | None) -> _Past:
    """The run that `--replay` or `--fork` names.

    Raises:
        UsageError: there is none, or it has no such step.
    """
    named = options.fork or options.replay
    if not named or (options.replay and Path(options.replay).is_file()):
        return _Past()
    if store is None:
        raise UsageError("there is no history to take a run from")
    if not options.fork:
        return _Past(tuple(store.events(found_run(store, options.replay).id)))
    name, at, step = options.fork.rpartition("@")
    if not at or not name or not step.isdecimal():
        raise UsageError(f"--fork {options.fork!r} is no RUN@STEP; write --fork 3f2a@2")
    events = tuple(store.events(found_run(store, name).id))
    tree = walk(events).tree
    place = tree.find(int(step))
    if place is None:
        last = max((item.iteration for item in tree.checkpoints), default=0)
        raise UsageError(f"the run has no step {step}; it has {last}")
    return _Past(events, place.id)


def _breakpoints(options: argparse.Namespace) -> tuple[Breakpoint, ...]:
    try:
        return tuple(breakpoint_of(text, at) for at, text in enumerate(options.breaks, 1))
    except CommandError as error:
        raise UsageError(str(error)) from None


def _run_options(options: argparse.Namespace, breaks: tuple[Breakpoint, ...]) -> RunOptions:
    limits = None
    if options.max_iterations is not None:
        limits = Limits(iterations=options.max_iterations)
    is_stepped = options.step or bool(breaks)
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
    if plan.past.setup is not None and plan.past.checkpoint is None:
        return await _replay(options, plan, plan.past.setup)
    tools = ToolSession(plan.trust)
    model = _model(options, plan.document)
    try:
        prepared = prepare(plan.document, plan.values)
        registry = await tools.load(prepared.document, prepared.messages.tools)
        for status in registry.sources:
            if status.state != "ready" or status.message:
                print(f"prompt-studio: {status.label}: {status.message}", file=sys.stderr)
        _check_tools(plan.options.breakpoints, [tool.name for tool in registry.specs])
        return await _go(options, plan, model, tools.toolbox(prepared.inputs), store)
    finally:
        await tools.close()
        await model.close()


def _check_tools(breakpoints: tuple[Breakpoint, ...], tools: list[str]) -> None:
    """Say which breakpoints can never be met."""
    for item in breakpoints:
        if item.tool and item.tool not in tools:
            print(f"prompt-studio: --break: there is no tool {item.tool!r}", file=sys.stderr)


async def _replay(options: argparse.Namespace, plan: _Plan, setup: RunSetup) -> RunState:
    """The run again with what it recorded: no model is asked, no tool is called."""
    events = plan.past.events
    last = len(events) - isinstance(events[-1], Stopped)
    recording = recording_of(branch_path(events, last), as_told=True)
    model = RecordedModel(recording.calls, strict=True)
    toolbox = RecordedTools(RecordedSpecs(setup.tools), recording, live=False)
    limits = plan.options.limits or setup.limits
    chosen = replace(
        plan.options,
        protocol=plan.options.protocol or setup.protocol,
        limits=limits,
        parallel=setup.parallel,
        plain_is_final=setup.plain_is_final,
        repairs=setup.repairs,
        context_budget=setup.context_budget,
    )
    return await _go(options, replace(plan, options=chosen, past=_Past()), model, toolbox, None)


async def _go(
    options: argparse.Namespace,
    plan: _Plan,
    model: ChatModel,
    toolbox: RunToolbox,
    store: RunStore | None,
) -> RunState:
    changed = asyncio.Event()
    show = _event_printer(options)
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
        stream=None if options.json else _show_notice,
        references=references(plan.document, masked=False),
    )
    run, first = _taken_up(world, plan)
    if store is not None:
        journal.append(store.journal(run.state.setup.run))
    if plan.options.headless:
        return await run.go(*first)
    return await step_through(run, first, changed)


def _taken_up(world: RunWorld, plan: _Plan) -> tuple[Run, tuple[Command, ...]]:
    """A new run, or one of the history that goes back to a step, with its first commands."""
    setup, at = plan.past.setup, plan.past.checkpoint
    if setup is None or at is None:
        made = make_setup(
            plan.document, plan.values, world.toolbox.specs, world.model, plan.options
        )
        return Run(world, plan.options, made), ()
    first: list[Command] = [ForkFrom(at)]
    limits = plan.options.limits
    if limits is not None:
        first.append(RaiseLimit("iterations", limits.iterations))
    if plan.options.headless:
        first.append(Continue())
    return Run(world, plan.options, setup, plan.past.events), tuple(first)


def _model(options: argparse.Namespace, document: PromptDocument) -> ChatModel:
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
    choice = choose_connection(document.model, connections, chosen=options.connection)
    if choice.untrusted:
        raise UsageError(
            f"the file sends to {choice.untrusted}, which you have not allowed; add a connection "
            "for it in the studio, or choose one with --connection"
        )
    if choice.warning:
        print(f"prompt-studio: {choice.warning}", file=sys.stderr)
    model = open_model(choice)
    return RecordingModel(model, options.record) if options.record is not None else model


def _store() -> RunStore | None:
    """The history; a run goes on without one that cannot be opened, and says so."""
    try:
        return RunStore(user_paths().data / "runs.sqlite")
    except (StoreError, OSError) as error:
        print(f"prompt-studio: the run is not kept in History: {error}", file=sys.stderr)
        return None


def _event_printer(options: argparse.Namespace) -> Callable[[Event], None]:
    if not options.json:
        return _print_step

    def print_line(event: Event) -> None:
        data: Any = encode_event(event)
        if not options.times:
            data = _without_clock(data)
        print(json.dumps(data, ensure_ascii=False), flush=True)

    return print_line


def _without_clock(data: dict[str, Any]) -> dict[str, Any]:
    """An event without what differs from run to run by the clock (and the run's id) alone."""
    kept = {key: value for key, value in data.items() if key not in ("at", "seconds")}
    for part, clock in (("setup", "run"), ("outcome", "duration")):
        if isinstance(kept.get(part), dict):
            kept[part] = {key: value for key, value in kept[part].items() if key != clock}
    return kept


def _print_step(event: Event) -> None:
    """What a person wants to see of a run that goes by."""
    if isinstance(event, ReplyRead):
        if event.reading.thought:
            print(f"Thought: {event.reading.thought}")
        if isinstance(event.reading, Action):
            for call in event.reading.calls:
                print(f"Action: {call.tool} {call.text}")
    elif isinstance(event, ToolEnded):
        print(f"Observation: {event.outcome.text}")
    elif isinstance(event, ModelFailed):
        print(f"prompt-studio: {event.message} {event.hint}".rstrip(), file=sys.stderr)


def _show_notice(delta: ReplyDelta, _reply: Reply) -> None:
    if isinstance(delta, Notice):
        print(f"({delta.text})", file=sys.stderr)


def _end(options: argparse.Namespace, state: RunState) -> int:
    """Write how the run ended; returns the exit code."""
    done = state.status == "done"
    error = state.error.message if state.error is not None and not done else ""
    if options.json:
        result = {"t": "Result", "status": state.status, "answer": state.answer, "error": error}
        print(json.dumps(result, ensure_ascii=False))
    elif done:
        print(state.answer or "")
    if error:
        print(f"prompt-studio: {error}", file=sys.stderr)
    return FINE if done else PROBLEMS
