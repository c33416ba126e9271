"""`prompt-studio run`: a prompt or agent to its end, without a window."""

from __future__ import annotations

import argparse
import asyncio
import shlex
from pathlib import Path
from typing import get_args

from studio.application.run.past.again import PastRun
from studio.application.run.start.readiness import Refusal, refusal_of
from studio.application.run.text_commands import CommandError, target_of
from studio.application.trust import references_of
from studio.cli.arguments import (
    add_allow,
    add_inputs,
    add_trust,
    allow_named,
    given_inputs,
    load,
    trust_of,
    unread_inputs,
)
from studio.cli.findings import report
from studio.cli.printer import LiveAnswer, print_end
from studio.cli.run.drive import RunOrder, drive
from studio.cli.run.model import add_choice
from studio.cli.run.step import add_stepping, breakpoints_of
from studio.cli.runs import past_to_fork, past_to_replay
from studio.cli.terminal import (
    FINE,
    INTERRUPTED,
    PROBLEMS,
    USAGE,
    UsageError,
    agreed,
    amount,
    tell,
    whole,
)
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.values.state import RunState
from studio.core.models.base import ModelError, ProtocolName
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.runs.codec import JournalError
from studio.core.runs.store import RunStore, StoreError
from studio.core.text.values import Json, named_reason, text_or_json

_LEFT_AS_LETTERS = ("fstring-suggested", "single-braces")
"""Problems of text that the author means as a value and the model gets as letters."""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_inputs(parser)
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
    parser.add_argument("--max-iterations", type=whole(1), metavar="N", help="limit of model calls")
    parser.add_argument(
        "--timeout", type=amount(above=True), metavar="SECONDS", help="end the run after this time"
    )
    parser.add_argument(
        "--max-tokens", type=whole(1), metavar="N", help="limit of input and output tokens"
    )
    parser.add_argument(
        "--max-cost", type=amount(above=True), metavar="USD", help="limit in US dollars"
    )
    add_stepping(parser)
    parser.add_argument(
        "--to",
        default="",
        metavar="STEP[:PLACE]",
        help="run to a step (2) or a place of a step (2:tool_call), and take commands",
    )
    parser.add_argument(
        "--record", type=Path, metavar="CASSETTE", help="add the model's answers to this file"
    )
    parser.add_argument(
        "--repair",
        choices=("ask", "always", "never"),
        default="ask",
        help="what to do with a reply that a small repair makes readable: ask at the pause "
        "(default), always repair, or never: the model gets the error",
    )
    past = parser.add_mutually_exclusive_group()
    past.add_argument(
        "--replay",
        metavar="RUN|CASSETTE",
        help="answer as in a run of the history (no model, no tool), or as in a recording",
    )
    past.add_argument(
        "--fork", metavar="RUN@STEP", help="continue from a step of a run, as a new branch"
    )
    parser.add_argument(
        "--fork-model",
        choices=("run", "prompt"),
        help="with --fork, if the prompt now asks for another model than the run had: use the "
        "run's or the prompt's; --connection and --model mean the latter",
    )
    add_trust(parser, "its tools may run, and what it refers to is read and sent")
    parser.add_argument(
        "--yes",
        action="store_true",
        help="allow tool calls that ask for approval, and values that nothing reads",
    )
    add_allow(parser)
    parser.set_defaults(action=_run, live=LiveAnswer())


def _run(options: argparse.Namespace) -> int:
    document = load(options.file)
    store = _store()
    try:
        past = _past(options, store)
        values = (dict(past.setup.inputs) if past else {}) | given_inputs(options, document)
        breaks = breakpoints_of(options)
        _check_target(options)
        trust = trust_of(options, options.file)
        references = references_of(document.source.path, trust)
        refusal = refusal_of(document, values, references)
        if refusal is not None:
            return _refused(document, refusal)
        report(document, (each for each in document.problems if each.code in _LEFT_AS_LETTERS))
        given = (each.partition("=")[0] for each in (*options.input, *options.param))
        unread = ", ".join(map(repr, unread_inputs(document, given)))
        if unread and not agreed(f"Nothing reads {unread}. Run without it?", yes=options.yes):
            return USAGE
        allow_named(options, document, trust)
        order = RunOrder(document, values, breaks, past, trust)
        state = asyncio.run(drive(options, order, store))
    except (ModelError, NotAllowedError, JournalError, StoreError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        tell(f"prompt-studio: {error} {hint}".rstrip())
        return PROBLEMS
    except KeyboardInterrupt:
        tell("prompt-studio: stopped")
        return INTERRUPTED
    finally:
        if store is not None:
            store.close()
    return _end(options, state)


def _refused(document: PromptDocument, refusal: Refusal) -> int:
    """Say what keeps the prompt from being run, and how its samples are taken."""
    report(document, refusal.problems)
    if refusal.samples:
        given = (f"-i {name}={_shell(value)}" for name, value in refusal.samples.items())
        tell(f"prompt-studio: to run with the samples: {' '.join(given)}")
    return PROBLEMS


def _shell(value: Json) -> str:
    return shlex.quote(text_or_json(value))


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


def _check_target(options: argparse.Namespace) -> None:
    try:
        if options.to:
            target_of(options.to)
    except CommandError as error:
        raise UsageError(str(error)) from None


def _store() -> RunStore | None:
    """The history; a run goes on without one that cannot be opened, and says so."""
    try:
        return RunStore(user_paths().data / "runs.sqlite")
    except (StoreError, OSError) as error:
        tell(f"prompt-studio: the run is not kept in History: {named_reason(error)}")
        return None


def _end(options: argparse.Namespace, state: RunState) -> int:
    """Write how the run ended; returns the exit code."""
    print_end(state, as_json=options.json, shown=options.live.shown)
    return FINE if state.status == "done" else PROBLEMS
