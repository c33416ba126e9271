"""`run`: drive a run of the command line to its end."""

import argparse
import asyncio
import shlex
import sys
from collections.abc import Mapping
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from studio.application.connections.model import Answerers, tool_session
from studio.application.run.past.again import PastRun, exactly, from_here, with_results_of
from studio.application.run.past.compare import RunSide, compare
from studio.application.run.start.session import Refusal, begin_run, refusal_of, tool_scores_of
from studio.application.run.text_commands import CommandError, target_of
from studio.application.trust import references_of
from studio.cli import arguments, terminal
from studio.cli.ask_input import terminal_asker
from studio.cli.prepared import report_sources
from studio.cli.printer import LiveAnswer, event_printer, print_end, print_notice
from studio.cli.run.model import add_choice, model_of_fork, model_of_prompt, open_named
from studio.cli.run.step import PLACES, OpenModel, add_stepping, breakpoints_of, step_through
from studio.cli.runs import past_to_fork, past_to_replay, results_of
from studio.core.agent.loop.setup import choice_words, limits_of
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import Command, Continue, StopRun
from studio.core.agent.values.events import Event, LimitRaised
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import LimitName, RunState
from studio.core.agent.values.step import PausePoint
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.connections import user_connections
from studio.core.models.secrets import secret_store
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import prepare, settled_document
from studio.core.runs.codec import JournalError
from studio.core.runs.rows import RunWriter
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.values import Json, JsonDict, named_reason, text_or_json
from studio.core.tools.registry import ToolRegistry
from studio.core.tools.trust.store import TrustStore, change_text
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.request import history_problems


@dataclass(frozen=True)
class RunOrder:
    """Options of a run."""

    document: PromptDocument
    """The parsed prompt."""

    values: JsonDict
    """Values of the inputs."""

    breaks: tuple[Breakpoint, ...]
    """Breakpoints."""

    past: PastRun | None
    """The run to replay or continue; None for a new one."""

    trust: TrustStore
    """The trusted folders."""

    results: PastRun | None = None
    """The run whose tool results are reused; None for none."""


async def drive(options: argparse.Namespace, order: RunOrder, store: RunStore | None) -> RunState:
    """Drive a run to its end and store it in the history, if there is one."""
    secrets = secret_store()
    references = references_of(order.document.source.path, order.trust, masker=secrets.masker)
    document = settled_document(order.document, order.values, references)
    run_options = _run_options(options, order.breaks, document)
    past = order.past
    if past is not None and past.checkpoint is None:
        plan = exactly(past, references, run_options)
        # The current prompt is compared with the recorded requests: a difference is reported.
        return await _go(options, replace(plan, document=document, inputs=order.values), None)
    connections = user_connections()
    answerers = Answerers(connections, secrets)
    async with AsyncExitStack() as opened:
        own = model = model_of_prompt(options, document, order.trust, answerers)
        opened.push_async_callback(own.close)
        first: tuple[Command, ...] = ()
        if past is not None:
            model, first = model_of_fork(options, past, own, answerers, order.trust)
            if model is not own:
                opened.push_async_callback(model.close)

        def open_other(words: str) -> ChatModel:
            other = open_named(document, order.trust, answerers, options.record, words)
            opened.push_async_callback(other.close)
            return other

        tools = tool_session(order.trust, connections, secrets, terminal_asker(), options.allow)
        opened.push_async_callback(tools.close)
        prepared = prepare(document, order.values, references=references)
        if choose_protocol(document).protocol == "native":
            arguments.report(document, history_problems(prepared.messages.messages))
        registry = await tools.load(document, prepared.messages.tools)
        if options.trust:
            registry = tools.current.allow_own_tools()
        report_sources(document, registry.sources)
        _report_changes(registry, asks=run_options.approve == "ask")
        _check_tools(order.breaks, [tool.name for tool in registry.specs])
        toolbox = tools.current.toolbox(prepared.inputs)
        plan = RunPlan(
            document, order.values, model, toolbox, options=run_options, references=references
        )
        results = order.results
        if past is not None and past.setup.source != document.source.text:
            results = past
        if results is None or (before := results.to_take_up.state) is None:
            return await _go(options, plan, past, store, first, open_other)
        plan = with_results_of(plan, results)
        state = await _go(options, plan, past, store, first, open_other)
        found = compare(RunSide("Previous run", before), RunSide("This run", state))
        terminal.tell(f"prompt-studio: compared with the previous run: {found.summary}")
        return state


def _report_changes(registry: ToolRegistry, *, asks: bool) -> None:
    """Print which tools differ from those that the user approved."""
    for entry in registry.entries:
        if asks and entry.enabled and entry.change is not None and entry.mock is None:
            text = f"{entry.name}: {change_text(entry.change)}"
            terminal.tell(
                f"prompt-studio: {text}\n(--allow {shlex.quote(entry.name)} allows it in this run)"
            )


def _check_tools(breakpoints: tuple[Breakpoint, ...], tools: list[str]) -> None:
    """Print which breakpoints can never be hit."""
    for item in breakpoints:
        if item.tool and item.tool not in tools:
            known = f"{', '.join(tools) or 'none'}; the places are {PLACES}"
            message = f"--break: there is no tool {item.tool!r}; the tools are {known}"
            terminal.tell(f"prompt-studio: {message}")


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
        options: options of the output.
        plan: plan of the run.
        past: the run to continue from a checkpoint; None for a new one.
        store: history that stores it; None stores nothing.
        chosen: commands that set the chosen model of a continued run.
        open_other: opens another model that a command names.
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

    first = _first_commands(options, plan, past, chosen)
    plan = plan if past is None else replace(plan, past=past.to_take_up)
    plan = replace(
        await plan.with_tools(),
        journal=lambda event: journal[0](event) if journal else None,
        shown=shown,
        stream=None if options.json else streamed,
        kept=lambda reply: journal[0].keep_reply(reply) if journal else None,
        keep_call=lambda seq, call: journal[0].keep_call(seq, call) if journal else None,
    )
    scores = await tool_scores_of(plan)
    run = begin_run(plan, scores=scores)
    if past is None and (words := choice_words(run.state.setup.tools, plan.toolbox.specs, scores)):
        terminal.tell(f"prompt-studio: {words}")
    if store is not None:
        try:
            journal.append(store.journal(run.state.setup.run))
        except StoreError as error:
            terminal.tell(f"prompt-studio: the run is not saved in the history: {error}")
    if plan.options.headless:
        return await _within(options.timeout, run, first)
    run.gate.target = target_of(options.to) if options.to else None
    return await step_through(run, first, changed, open_other)


async def _within(seconds: float | None, run: Run, first: tuple[Command, ...]) -> RunState:
    """Run to the end or until the time limit, which cancels and records work in progress."""
    if seconds is None:
        return await run.go(*first)

    def stop() -> None:
        terminal.tell(f"prompt-studio: stopped after {seconds:g} s (--timeout)")
        run.send(StopRun())

    timer = asyncio.get_running_loop().call_later(seconds, stop)
    try:
        return await run.go(*first)
    finally:
        timer.cancel()


def _first_commands(
    options: argparse.Namespace, plan: RunPlan, past: PastRun | None, chosen: tuple[Command, ...]
) -> tuple[Command, ...]:
    """Return the first commands of a run that continues from a checkpoint; empty for a new one.

    Raises:
        ModelError: the current prompt cannot replace the prompt of the run.
    """
    if past is None:
        return ()
    fork, *edits = from_here(past, plan)
    first: list[Command] = [fork, *chosen, *edits]
    first += (LimitRaised(name, to) for name, to in _given_limits(options).items())
    if plan.options.headless:
        first.append(Continue())
    return tuple(first)


def _given_limits(options: argparse.Namespace) -> dict[LimitName, float]:
    """Return the limits of the run from the command line."""
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


# `prompt-studio run`: run a prompt or agent without a window.

_LEFT_AS_LETTERS = ("fstring-suggested", "single-braces")
"""Codes of problems where the author probably meant a variable but the model gets the text."""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    arguments.add_inputs(parser)
    parser.add_argument("--json", action="store_true", help="write one event a line")
    parser.add_argument(
        "--times", action="store_true", help="with --json: include times and the run's id"
    )
    add_choice(parser)
    parser.add_argument(
        "--protocol",
        choices=get_args(ProtocolName),
        help="protocol to use, instead of the prompt's",
    )
    parser.add_argument(
        "--max-iterations", type=terminal.whole(1), metavar="N", help="limit of model calls"
    )
    parser.add_argument(
        "--timeout",
        type=terminal.amount(above=True),
        metavar="SECONDS",
        help="end the run after this time",
    )
    parser.add_argument(
        "--max-tokens", type=terminal.whole(1), metavar="N", help="limit of input and output tokens"
    )
    parser.add_argument(
        "--max-cost", type=terminal.amount(above=True), metavar="USD", help="limit in US dollars"
    )
    add_stepping(parser)
    parser.add_argument(
        "--to",
        default="",
        metavar="STEP[:PLACE]",
        help="run to a step (2) or a pause point of a step (2:tool_call), and read commands",
    )
    parser.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="append the model's replies to this file"
    )
    parser.add_argument(
        "--repair",
        choices=("ask", "always", "never"),
        default="ask",
        help="what to do with a reply that a small repair makes valid: pause and ask (default), "
        "always repair, or never (the model gets the error)",
    )
    past = parser.add_mutually_exclusive_group()
    past.add_argument(
        "--replay",
        metavar="RUN|CASSETTE",
        help="replay a run of the history without models and tools, or a file of --record",
    )
    past.add_argument(
        "--fork",
        metavar="RUN@STEP",
        help="continue from a step of a run, as a new branch, with the current prompt",
    )
    past.add_argument(
        "--results",
        metavar="RUN[@STEP]",
        help="run with the inputs of a run, and with its tool results for equal calls; @STEP: a "
        "call of a recorded program",
    )
    parser.add_argument(
        "--fork-model",
        choices=("run", "prompt"),
        help="with --fork, if the prompt now requests another model than the run used: use the "
        "run's or the prompt's; --connection and --model imply the latter",
    )
    arguments.add_trust(
        parser, "its tools may run, and files and variables it names are read and sent"
    )
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow tool calls that need approval, and unused values",
    )
    arguments.add_allow(parser)
    parser.set_defaults(action=_run, live=LiveAnswer())


def _run(options: argparse.Namespace) -> int:
    document = arguments.load(options.file)
    store = _store()
    try:
        past = _past(options, store)
        results, row = results_of(store, options.results or "", document)
        values = {
            **row,
            **(past.setup.inputs if past else {}),
            **arguments.given_inputs(options, document),
        }
        breaks = breakpoints_of(options)
        _check_target(options)
        trust = arguments.trust_of(options, options.file)
        refusal = refusal_of(document, values, references_of(document.source.path, trust))
        if refusal is not None:
            return _refused(document, refusal)
        arguments.report(
            document, (each for each in document.problems if each.code in _LEFT_AS_LETTERS)
        )
        given = (each.partition("=")[0] for each in (*options.input, *options.param))
        unread = ", ".join(map(repr, arguments.unread_inputs(document, given)))
        if unread and not terminal.agreed(
            f"The prompt does not use {unread}. Run anyway?", yes=options.yes
        ):
            return terminal.USAGE
        arguments.allow_named(options, document, trust)
        order = RunOrder(document, values, breaks, past, trust, results)
        state = asyncio.run(drive(options, order, store))
    except (ModelError, NotAllowedError, JournalError, StoreError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        terminal.tell(f"prompt-studio: {error} {hint}".rstrip())
        return terminal.PROBLEMS
    except KeyboardInterrupt:
        terminal.tell("prompt-studio: stopped")
        return terminal.INTERRUPTED
    finally:
        if store is not None:
            store.close()
    return _end(options, state)


def _refused(document: PromptDocument, refusal: Refusal) -> int:
    """Print why the prompt cannot be run and how to use its samples."""
    arguments.report(document, refusal.problems)
    if refusal.samples:
        given = (f"-i {name}={_shell(value)}" for name, value in refusal.samples.items())
        terminal.tell(f"prompt-studio: to run with the samples: {' '.join(given)}")
    return terminal.PROBLEMS


def _shell(value: Json) -> str:
    return shlex.quote(text_or_json(value))


def _past(options: argparse.Namespace, store: RunStore | None) -> PastRun | None:
    """Return the run that `--replay` or `--fork` names; None without these options.

    Raises:
        UsageError: there is no such run or step.
    """
    named = options.fork or options.replay
    if not named or (options.replay and Path(options.replay).is_file()):
        return None
    if store is None:
        raise terminal.UsageError("there is no history with runs")
    return past_to_fork(store, named) if options.fork else past_to_replay(store, named)


def _check_target(options: argparse.Namespace) -> None:
    try:
        if options.to:
            target_of(options.to)
    except CommandError as error:
        raise terminal.UsageError(str(error)) from None


def _store() -> RunStore | None:
    """Return the history; if it cannot be opened, print a message and return None."""
    try:
        return RunStore(user_paths().data / "runs.sqlite")
    except (StoreError, OSError) as error:
        terminal.tell(f"prompt-studio: the run is not saved in the history: {named_reason(error)}")
        return None


def _end(options: argparse.Namespace, state: RunState) -> int:
    """Print how the run ended and return the exit code."""
    print_end(state, as_json=options.json, shown=options.live.shown)
    return terminal.FINE if state.status == "done" else terminal.PROBLEMS
