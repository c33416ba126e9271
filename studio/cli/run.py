"""`prompt-studio run`: a prompt or agent to its end, without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import shlex
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any, get_args

from studio.application.connections.model import Answerers, asked_by, choice_of
from studio.application.connections.tools import tool_session
from studio.application.run.past.again import PastRun, exactly
from studio.application.run.start.begin import begin_run, tool_scores_of, tools_of
from studio.application.run.start.plan import RunPlan
from studio.application.run.start.readiness import Refusal, refusal_of
from studio.application.run.text_commands import CommandError, breakpoint_of, target_of
from studio.application.trust import references_of
from studio.cli.arguments import add_inputs, add_trust, allow_named, given_inputs, load, trust_of
from studio.cli.ask_input import terminal_asker
from studio.cli.exit_codes import FINE, PROBLEMS, UsageError
from studio.cli.findings import report
from studio.cli.other_model import model_of_fork, open_named
from studio.cli.prepared import report_sources
from studio.cli.printer import LiveAnswer, event_printer, print_end, print_notice
from studio.cli.runs import past_to_fork, past_to_replay
from studio.cli.step import OpenModel, step_through
from studio.core.agent.loop.setup import limits_of
from studio.core.agent.loop.tool_choice import choice_words
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Command, Continue, ForkFrom, RaiseLimit, StopRun
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.state import LimitName, RunState
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.connection_file import read_connections
from studio.core.models.replay import RecordingModel, ReplayModel
from studio.core.models.secrets import secret_store
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.runs.codec import JournalError
from studio.core.runs.rows import RunWriter
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.values import Json
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.trust.definitions import change_text
from studio.core.tools.trust.store import TrustStore
from studio.core.wire.reply import Reply, ReplyDelta

_PLACES = ", ".join(place.word for place in PausePoint)


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_inputs(parser)
    parser.add_argument("--json", action="store_true", help="write one event a line")
    parser.add_argument(
        "--times", action="store_true", help="with --json: also times and the run's id"
    )
    parser.add_argument("--connection", default="", metavar="NAME", help="where the model is")
    parser.add_argument("-m", "--model", default="", help="over the prompt's and connection's own")
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
        help=f"stand still there ({_PLACES}, or before a tool), and take commands",
    )
    parser.add_argument(
        "--to",
        default="",
        metavar="STEP[:PLACE]",
        help="run to a step (2) or a place in one (2:tool_call), and take commands there",
    )
    parser.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="add what the model answers to this file"
    )
    parser.add_argument(
        "--repair",
        choices=("ask", "always", "never"),
        default="ask",
        help="what happens to a reply that a small change would make readable: offered where the "
        "run stands still (the usual), repaired without asking, or told to the model as it is",
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
        "--fork-model",
        choices=("run", "prompt"),
        help="with --fork, where the prompt asks for another model by now than the run had: go on "
        "with the run's or the prompt's; --connection and --model say the latter",
    )
    add_trust(parser, "its tools may run, and what it refers to is read and sent")
    parser.add_argument(
        "--yes", action="store_true", help="allow tool calls that would ask for approval"
    )
    parser.set_defaults(action=_run, live=LiveAnswer())


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
        values = (dict(past.setup.inputs) if past else {}) | given_inputs(options, document)
        breaks = _breakpoints(options)
        refusal = refusal_of(document, values)
        if refusal is not None:
            return _refused(document, refusal)
        trust = trust_of(options, options.file)
        allow_named(options, document, trust)
        order = _Order(document, values, breaks, past, trust)
        state = asyncio.run(_drive(options, order, store))
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
class _Order:
    """What is to be run, and how."""

    document: PromptDocument
    values: dict[str, Json]
    breaks: tuple[Breakpoint, ...]
    past: PastRun | None
    trust: TrustStore


def _refused(document: PromptDocument, refusal: Refusal) -> int:
    """Say what keeps the prompt from being run, and how its samples are taken."""
    report(document, refusal.problems)
    if refusal.samples:
        given = (f"-i {name}={_shell(value)}" for name, value in refusal.samples.items())
        print(f"prompt-studio: to run with the samples: {' '.join(given)}", file=sys.stderr)
    return PROBLEMS


def _shell(value: Json) -> str:
    return shlex.quote(value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))


def _past(options: argparse.Namespace, store: RunStore | None) -> PastRun | None:
    """The run that `--replay` or `--fork` names; None where there is no such wish.

    Raises:
        UsageError: there is none, or it has no such step.
    """
    named = options.fork or options.replay
    if not named or (options.replay and Path(options.replay).is_file()):
        return None
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
    given: Mapping[Any, Any] = _given_limits(options)
    limits = replace(limits_of(document), **given) if given else None
    is_stepped = options.step or bool(breaks) or bool(options.to)
    is_exact = options.replay is not None and not Path(options.replay).is_file()
    return RunOptions(
        protocol=options.protocol,
        limits=limits,
        headless=not is_stepped,
        approve="always" if options.yes or is_exact else "ask",
        breakpoints=breaks,
        repair=options.repair,
        pause_at=frozenset(PausePoint) if options.step else frozenset(),
    )


async def _drive(options: argparse.Namespace, order: _Order, store: RunStore | None) -> RunState:
    secrets = secret_store()
    path = order.document.source.path
    references = references_of(path, order.trust, masker=secrets.masker)
    document = settled_document(order.document, order.values, references)
    run_options = _run_options(options, order.breaks, document)
    past = order.past
    if past is not None and past.checkpoint is None:
        plan = exactly(past, references, run_options)
        # The file of now is put to the replies of then: another request than the kept one is told.
        return await _go(options, replace(plan, document=document, inputs=order.values), None)
    connections = read_connections(user_paths().config / "connections.toml")
    tools = tool_session(order.trust, connections, secrets, terminal_asker())
    answerers = Answerers(connections, secrets)
    model = _model(options, document, order.trust, answerers)
    first: tuple[Command, ...] = ()
    if past is not None:
        model, first = model_of_fork(options, past, model, answerers, order.trust)
    open_other = partial(open_named, document, order.trust, answerers)
    try:
        prepared = prepare(document, order.values, references=references)
        registry = await tools.load(document, prepared.messages.tools)
        if options.trust:
            registry = tools.allow_tools()
        report_sources(registry.sources)
        _report_changes(registry, asks=run_options.approve == "ask")
        _check_tools(order.breaks, [tool.name for tool in registry.specs])
        toolbox = tools.toolbox(prepared.inputs)
        plan = RunPlan(
            document, order.values, model, toolbox, options=run_options, references=references
        )
        return await _go(options, plan, past, store, first, open_other)
    finally:
        await tools.close()
        await model.close()


def _report_changes(registry: ToolRegistry, *, asks: bool) -> None:
    """Say which tools are others than the user allowed."""
    for entry in registry.entries:
        if asks and entry.enabled and entry.change is not None and entry.mock is None:
            text = f"{entry.name}: {change_text(entry.change)}"
            print(f"prompt-studio: {text}\n(--trust allows it as it is)", file=sys.stderr)


def _check_tools(breakpoints: tuple[Breakpoint, ...], tools: list[str]) -> None:
    """Say which breakpoints can never be met."""
    for item in breakpoints:
        if item.tool and item.tool not in tools:
            known = f"{', '.join(tools) or 'none'}; the places are {_PLACES}"
            message = f"--break: there is no tool {item.tool!r}; the tools are {known}"
            print(f"prompt-studio: {message}", file=sys.stderr)


async def _go(
    options: argparse.Namespace,
    plan: RunPlan,
    past: PastRun | None,
    store: RunStore | None = None,
    chosen: tuple[Command, ...] = (),
    open_other: OpenModel | None = None,
) -> RunState:
    """Run a plan to its end.

    Args:
        options: how it is shown.
        plan: what is run.
        past: a run that goes on from one of its places; None for any other.
        store: where it is kept; None keeps it nowhere.
        chosen: the user's word on the model of a run that is gone on with.
        open_other: gives another model by the words of a command.
    """
    changed = asyncio.Event()
    show = event_printer(as_json=options.json, times=options.times)
    journal: list[RunWriter] = []
    live: LiveAnswer = options.live
    is_live = sys.stdout.isatty() and plan.options.headless and not options.json

    def shown(event: Event) -> None:
        live.follow(event)
        show(event)
        changed.set()

    def streamed(delta: ReplyDelta, reply: Reply) -> None:
        if is_live and run.state.protocol == "native":
            live.show(delta, reply)
        else:
            print_notice(delta, reply)

    first = _first_commands(options, plan, past.checkpoint if past is not None else None, chosen)
    plan = plan if past is None else replace(plan, past=past.to_take_up)
    toolbox = await tools_of(plan)
    scores = await tool_scores_of(plan, toolbox)
    run = begin_run(
        plan,
        toolbox,
        scores=scores,
        journal=lambda event: journal[0](event) if journal else None,
        shown=shown,
        stream=None if options.json else streamed,
        kept=lambda reply: journal[0].keep_reply(reply) if journal else None,
    )
    if past is None and (told := choice_words(run.state.setup.tools, toolbox.specs, scores)):
        print(f"prompt-studio: {told}", file=sys.stderr)
    if store is not None:
        journal.append(store.journal(run.state.setup.run))
    if plan.options.headless:
        return await _within(options.timeout, run, first)
    run.gate.target = target_of(options.to) if options.to else None
    return await step_through(run, first, changed, open_other)


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


def _first_commands(
    options: argparse.Namespace,
    plan: RunPlan,
    checkpoint: int | None,
    chosen: tuple[Command, ...],
) -> tuple[Command, ...]:
    """What a run that goes on from a checkpoint is told first; nothing for a new one."""
    if checkpoint is None:
        return ()
    first: list[Command] = [ForkFrom(checkpoint), *chosen]
    first += (RaiseLimit(name, to) for name, to in _given_limits(options).items())
    if plan.options.headless:
        first.append(Continue())
    return tuple(first)


def _model(
    options: argparse.Namespace, document: PromptDocument, trust: TrustStore, answerers: Answerers
) -> ChatModel:
    """The model that answers, with the reason said.

    Raises:
        UsageError: the connection does not exist.
        ModelError: it lacks something, or the file chose an address of its own.
    """
    if options.replay is not None:
        return ReplayModel(Path(options.replay))
    connections = answerers.connections
    for problem in connections.problems:
        print(f"prompt-studio: {problem}", file=sys.stderr)
    if options.connection and connections.named(options.connection) is None:
        known = ", ".join(repr(each.name) for each in connections.connections)
        raise UsageError(f"no connection {options.connection!r}; there are {known}")
    asked = asked_by(document, trust)
    choice = choice_of(asked, connections, options.connection)
    if options.model:
        choice = replace(choice, declaration=replace(choice.declaration, id=options.model))
    if choice.warning:
        print(f"prompt-studio: {choice.warning}", file=sys.stderr)
    how = "Add a connection for it in the studio, or choose one with --connection."
    model = answerers.open(choice, document.source.path, trusted=asked.trusted, how=how)
    if options.record is None:
        return model
    return RecordingModel(model, options.record, answerers.secrets.masker)


def _store() -> RunStore | None:
    """The history; a run goes on without one that cannot be opened, and says so."""
    try:
        return RunStore(user_paths().data / "runs.sqlite")
    except (StoreError, OSError) as error:
        print(f"prompt-studio: the run is not kept in History: {error}", file=sys.stderr)
        return None


def _end(options: argparse.Namespace, state: RunState) -> int:
    """Write how the run ended; returns the exit code."""
    print_end(state, as_json=options.json, shown=options.live.shown)
    return FINE if state.status == "done" else PROBLEMS
