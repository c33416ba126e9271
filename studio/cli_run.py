"""`prompt-studio run`: a prompt or agent to its end, without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from collections.abc import Callable
from typing import Any, get_args

from studio.cli import (
    FINE,
    PROBLEMS,
    UsageError,
    add_inputs,
    given_inputs,
    load,
    references,
    report,
)
from studio.core.agent.events import Event, ModelFailed, ReplyRead, ToolEnded
from studio.core.agent.options import RunOptions
from studio.core.agent.reading import Action
from studio.core.agent.runner import start_run
from studio.core.agent.state import Limits, RunState
from studio.core.models.base import ChatModel, ModelError, ProtocolName
from studio.core.models.choice import choose_connection
from studio.core.models.connection_file import read_connections
from studio.core.models.factory import open_model
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.prepare import prepare
from studio.core.runs.codec import encode_event
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.problem import Severity
from studio.core.text.values import Json
from studio.core.tools.session import ToolSession
from studio.core.tools.toolbox import Toolbox
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
        "--trust", action="store_true", help="trust the prompt's folder: its tools may run"
    )
    parser.add_argument(
        "--yes", action="store_true", help="allow tool calls that would ask for approval"
    )
    parser.set_defaults(action=_run)


def _run(options: argparse.Namespace) -> int:
    document = load(options.file)
    values = given_inputs(options, document)
    if report(document, (p for p in document.problems if p.severity is Severity.ERROR)):
        return PROBLEMS
    trust = TrustStore()
    folder = options.file.resolve().parent
    if options.trust:
        trust.trust(folder)
    missing = [p for p in prepare(document, values).problems if p.code == "missing-input"]
    if report(document, missing):
        return PROBLEMS
    try:
        state = asyncio.run(_drive(options, document, values, trust))
    except ModelError as error:
        print(f"prompt-studio: {error.message} {error.hint}".rstrip(), file=sys.stderr)
        return PROBLEMS
    return _end(options, state)


async def _drive(
    options: argparse.Namespace,
    document: PromptDocument,
    values: dict[str, Json],
    trust: TrustStore,
) -> RunState:
    tools = ToolSession(trust)
    model = _model(options, document)
    store = _store()
    try:
        prepared = prepare(document, values)
        registry = await tools.load(prepared.document, prepared.messages.tools)
        for status in registry.sources:
            if status.state != "ready" or status.message:
                print(f"prompt-studio: {status.label}: {status.message}", file=sys.stderr)
        toolbox = tools.toolbox(prepared.inputs)
        return await _go(options, document, values, model, toolbox, store)
    finally:
        await tools.close()
        await model.close()
        if store is not None:
            store.close()


async def _go(
    options: argparse.Namespace,
    document: PromptDocument,
    values: dict[str, Json],
    model: ChatModel,
    toolbox: Toolbox,
    store: RunStore | None,
) -> RunState:
    limits = None
    if options.max_iterations is not None:
        limits = Limits(iterations=options.max_iterations)
    run_options = RunOptions(
        protocol=options.protocol,
        limits=limits,
        headless=True,
        approve="always" if options.yes else "ask",
    )
    journal: list[Callable[[Event], None]] = []
    run = start_run(
        document,
        values,
        model,
        toolbox,
        run_options,
        journal=lambda event: journal[0](event) if journal else None,
        shown=_event_printer(options),
        stream=None if options.json else _show_notice,
        references=references(document, masked=False),
    )
    if store is not None:
        journal.append(store.journal(run.state.setup.run))
    return await run.go()


def _model(options: argparse.Namespace, document: PromptDocument) -> ChatModel:
    """The model that answers, with the reason said.

    Raises:
        UsageError: the connection does not exist, or the file chose an address of its own.
    """
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
    return open_model(choice)


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
