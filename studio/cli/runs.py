"""`prompt-studio runs`: the history on the command line."""

import argparse
import json
import os
import sqlite3
import sys
import time
from collections.abc import Callable
from contextlib import closing, suppress
from dataclasses import asdict, replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import get_args

from studio import __version__
from studio.application.exchange.runs import kept_words, take_text
from studio.application.history.open_calls import known_values, open_calls, row_of_call
from studio.application.history.rows import (
    call_of_step,
    end_of,
    filtered_runs,
    find_run,
    kept_state,
    raw_reply,
)
from studio.application.run.past.again import PastRun, past_run
from studio.cli.export import put_import
from studio.cli.terminal import FINE, PROBLEMS, UsageError, amount, printable, tell, whole
from studio.core.agent.values.events import Event, Started
from studio.core.agent.values.state import RunState, Status, steps_of
from studio.core.agent.values.step import Step
from studio.core.imports.imported import ImportFailure
from studio.core.masking.masker import Masker
from studio.core.paths import user_paths
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.templates.jinja.conditions import ConditionError
from studio.core.runs.codec import JournalError
from studio.core.runs.database import repair
from studio.core.runs.exchange import FORMS, export_run, form_of
from studio.core.runs.rows import RECORDING, WAITING, RunSummary
from studio.core.runs.store import RunFilter, RunStore, StoreError
from studio.core.text.amounts import counted, one_line, whole_number
from studio.core.text.files import MOST_RECORD_BYTES, read_text, write_atomically
from studio.core.text.values import JsonDict, named_reason, reason_of

_DAY = 86_400
_MOST_DAYS = 1_000_000
_WIDTH = 60


def add_runs(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `runs`."""
    kinds = parser.add_subparsers(metavar="ACTION", required=True)
    listing = kinds.add_parser("list", help="list past runs, newest first")
    listing.add_argument(
        "words",
        nargs="*",
        metavar="WORD",
        help="only runs with all these words, or an expression: 'tool == \"search\"'",
    )
    listing.add_argument(
        "--status",
        default="",
        choices=(*get_args(Status), WAITING),
        help="only runs with this status; waiting: those that need you",
    )
    listing.add_argument("--tag", default="", help="only runs with this tag")
    listing.add_argument(
        "--limit",
        type=whole(),
        default=50,
        metavar="N",
        help="limit of the list (default: %(default)s)",
    )
    listing.add_argument("--json", action="store_true", help="write JSON")
    _acts(listing, _list)
    show = kinds.add_parser("show", help="show one run, step by step")
    show.add_argument("run", metavar="RUN", help="id of the run, or its first characters")
    what = show.add_mutually_exclusive_group()
    what.add_argument("--json", action="store_true", help="write one event a line")
    what.add_argument(
        "--request", type=whole(), metavar="N", help="write the request of iteration N as sent"
    )
    what.add_argument(
        "--reply", type=whole(), metavar="N", help="write the raw reply of iteration N"
    )
    _add_branch(show)
    _acts(show, _show)
    opening = kinds.add_parser("open", help="create a prompt file from a recorded model call")
    opening.add_argument("run", metavar="RUN", help="id of the run, or its first characters")
    opening.add_argument(
        "--request",
        type=whole(1),
        default=1,
        metavar="N",
        help="iteration of the call (default: 1)",
    )
    opening.add_argument(
        "--alike",
        action="store_true",
        help="combine similar calls of all runs of the recording: differences become inputs with "
        "their values as cases, in an experiment",
    )
    opening.add_argument(
        "--case",
        type=Path,
        metavar="FILE",
        help="add the call as a case of this prompt, which was created from similar calls",
    )
    _add_branch(opening)
    opening.add_argument("-o", "--out", type=Path, metavar="OUT", help="prompt file to write")
    opening.add_argument("--force", action="store_true", help="overwrite an existing file")
    _acts(opening, _open)
    export = kinds.add_parser("export", help="export a run to a file, or several runs to one file")
    export.add_argument(
        "run", nargs="+", metavar="RUN", help="id of the run, or its first characters"
    )
    export.add_argument("--format", default="html", choices=[form.name for form in FORMS])
    export.add_argument("-o", "--out", type=Path, metavar="OUT", help="file to write")
    export.add_argument(
        "--recording", action="store_true", help="export all runs of the recordings as journals"
    )
    _acts(export, _export)
    taking = kinds.add_parser(
        "import", help="add journals, or traces of other programs, to the history"
    )
    taking.add_argument("files", nargs="+", type=Path, metavar="FILE")
    _acts(taking, _import)
    prune = kinds.add_parser("prune", help="delete old runs that are not pinned")
    prune.add_argument("--keep", type=whole(), metavar="N", help="number of newest runs to keep")
    prune.add_argument(
        "--older-than",
        type=amount(most=_MOST_DAYS),
        metavar="DAYS",
        help="delete older runs",
    )
    _acts(prune, _prune)
    mending = kinds.add_parser(
        "repair",
        help="copy the readable part of a damaged history into a new file, and keep the old one",
    )
    mending.set_defaults(action=_repair)


def _add_branch(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--branch",
        type=lambda text: whole(1)(text) - 1,
        metavar="N",
        help="branch of the run, from 1 as in the window (default: the newest)",
    )


def _acts(
    parser: argparse.ArgumentParser, act: Callable[[argparse.Namespace, RunStore], int]
) -> None:
    def action(options: argparse.Namespace) -> int:
        try:
            with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
                with suppress(StoreError):  # a read-only one is shown as it is
                    store.mark_interrupted()
                return act(options, store)
        except (StoreError, JournalError, OSError) as error:
            if isinstance(error, OSError) and error.filename is None:
                raise  # standard output is closed; this is not an error of a file
            tell(f"prompt-studio: {named_reason(error)}")
            return PROBLEMS

    parser.set_defaults(action=action)


def _list(options: argparse.Namespace, store: RunStore) -> int:
    wanted = RunFilter("", options.status, tag=options.tag, limit=options.limit)
    try:
        runs = filtered_runs(store, " ".join(options.words), wanted)
    except ConditionError as error:
        raise UsageError(str(error)) from None
    if options.json:
        print(json.dumps([asdict(run) for run in runs], ensure_ascii=True, indent=2))
        return FINE
    for run in runs:
        print(_line(run))
    return FINE


def _line(run: RunSummary) -> str:
    when = f"{datetime.fromtimestamp(run.started).astimezone():%Y-%m-%d %H:%M:%S}"
    shown = one_line(run.question, _WIDTH)
    calls = f"{counted(run.calls_model, 'model call')}, {counted(run.calls_tool, 'tool call')}"
    stands = end_of(run) if run.waits else run.status
    return printable("  ".join([run.id, when, stands, calls, run.prompt, shown]).rstrip())


def found_run(store: RunStore, name: str) -> RunSummary:
    """Return the run with an id, or with an id that starts so.

    Raises:
        UsageError: there is no such run, or more than one.
    """
    try:
        return find_run(store, name)
    except LookupError as error:
        raise UsageError(str(error)) from None


def _events(store: RunStore, run: RunSummary) -> list[Event]:
    """Return the journal of a run; a recorded one says which recording it is of."""
    events = list(store.events(run.id))
    if events and isinstance(first := events[0], Started) and first.setup.program:
        events[0] = replace(first, setup=replace(first.setup, recording=run.shared_tag(RECORDING)))
    return events


def _show_call(store: RunStore, run: str, state: RunState, request: int | None, reply: int) -> int:
    """Write the body of a request, or a raw reply; a request also prints its path and headers."""
    call = call_of_step(store, run, state, reply if request is None else request)
    text, lacks = (call.body, "") if request is not None else raw_reply(call)
    if request is not None:
        tell(f"POST {call.path}")
        tell("".join(f"{name}: {value}\n" for name, value in call.headers))
        for mark in call.marks:
            tell(mark)
    if sys.stdout.isatty():
        print(printable(text))
    else:
        sys.stdout.buffer.write(text.encode("utf-8", "surrogateescape"))
        sys.stdout.flush()
    if lacks:
        tell(f"prompt-studio: {lacks}")
    return FINE


def _show(options: argparse.Namespace, store: RunStore) -> int:
    run = found_run(store, options.run)
    try:
        past = store.open(run.id)
        state = kept_state(past, options.branch)
        if options.request is not None or options.reply is not None:
            return _show_call(store, run.id, state, options.request, options.reply)
    except LookupError as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS
    if options.json:
        events = _events(store, run)
        sys.stdout.write(export_run(events, FORMS[1], __version__, hide=Masker(os.environ).mask))
        return FINE
    print(_line(run))
    if run.tags:
        print(printable("Tags: " + ", ".join(run.tags)))
    if run.note:
        print(printable(f"Note: {run.note}"))
    if len(past.tree.ends) > 1:
        shown = past.tree.branch if options.branch is None else options.branch
        print(f"Branch: {shown + 1} of {len(past.tree.ends)}")
    for step in steps_of(state):
        _show_step(step)
    if state.answer is not None:
        print(printable(f"\nAnswer: {state.answer}"))
    if state.error is not None and state.status != "done":
        print(printable(f"\nError: {state.error.message} {state.error.hint}".rstrip()))
    return FINE


def _show_step(step: Step) -> None:
    print(f"\n── Iteration {step.number}" + "".join(f" · {m}" for m in sorted(step.marks)))
    if step.model is not None:
        print(printable(f"Model: {step.model.name}"))
    for warning in step.warnings:
        print(printable(f"Warning: {warning.message}"))
    if step.reading is not None and step.reading.thought:
        print(printable(f"Thought: {step.reading.thought}"))
    for call in step.calls:
        print(printable(f"Action: {call.tool} {call.text}"))
        if call.observation is not None:
            print(printable(f"Observation: {call.observation}"))
    if step.observation:
        print(printable(f"Sent to the model: {step.observation}"))


def _export(options: argparse.Namespace, store: RunStore) -> int:
    form = form_of("journal" if options.recording else options.format)
    if len(options.run) > 1 and not form.joins:
        joining = ", ".join(each.name for each in FORMS if each.joins)
        raise UsageError(f"several runs go into one file as {joining} only")
    hide = Masker(os.environ).mask
    runs = [found_run(store, run) for run in options.run]
    if options.recording:
        tags = sorted({run.shared_tag(RECORDING) for run in runs})
        of_tag = (run for tag in tags for run in store.runs(RunFilter(tag=tag, limit=-1)))
        if untagged := [run.id for run in runs if not run.shared_tag(RECORDING)]:
            raise UsageError(f"{', '.join(untagged)}: not a run of a recording")
        runs = sorted(of_tag, key=lambda run: run.started)
    text = "".join(
        export_run(
            _events(store, run), form, __version__, hide=hide, call_of=partial(store.call, run.id)
        )
        for run in runs
    )
    for run in runs:
        if form.whole and (held := kept_words(store, run.id)):
            tell(f"prompt-studio: {held}")
    if not text:
        why = "it has no model calls, or its content does not fit the format"
        tell(f"prompt-studio: nothing of this run goes into this format: {why}")
        return PROBLEMS
    if options.out is None:
        sys.stdout.write(text)
        return FINE
    try:
        write_atomically(options.out, text)
    except OSError as error:
        raise UsageError(f"{options.out}: {error.strerror or error}") from None
    return FINE


def _import(options: argparse.Namespace, store: RunStore) -> int:
    code = FINE
    for path in options.files:
        try:
            text = Masker(os.environ).mask(read_text(path, MOST_RECORD_BYTES))
            print("\n".join(take_text(text, store)))
        except OSError as error:
            raise UsageError(f"{path}: {error.strerror or error}") from None
        except (JournalError, UnicodeDecodeError) as error:
            tell(f"prompt-studio: {path}: {reason_of(error)}")
            code = PROBLEMS
    return code


def _open(options: argparse.Namespace, store: RunStore) -> int:
    run = found_run(store, options.run)
    if options.case is not None:
        return _keep_case(store, run.id, options.request, options.case)
    try:
        opened = open_calls(
            store, run.id, options.request, alike=options.alike, branch=options.branch
        )
    except (LookupError, ImportFailure) as error:
        tell(f"prompt-studio: {error}")
        return PROBLEMS
    for note in opened.made.notes:
        tell(f"prompt-studio: {note}")
    for name in opened.left_out:
        tell(f"prompt-studio: {name}: its messages or tools have another structure; it is skipped")
    for name, differences in opened.differences.items():
        words = "the file sends the same body" if not differences else "the file sends another body"
        tell(printable(f"{name}: {words}"))
        for each in differences:
            tell(printable(f"  {each}"))
    put_import(options.out, opened.made, force=options.force)
    return PROBLEMS if any(opened.differences.values()) else FINE


def _prune(options: argparse.Namespace, store: RunStore) -> int:
    if options.keep is None and options.older_than is None:
        raise UsageError("use --keep N, --older-than DAYS, or both")
    before = None if options.older_than is None else time.time() - options.older_than * _DAY
    gone = store.prune(keep=options.keep, older_than=before)
    print(f"{counted(gone, 'run')} deleted")
    return FINE


def past_to_replay(store: RunStore, name: str) -> PastRun:
    """Return the run that `--replay RUN` names.

    Raises:
        UsageError: there is no such run.
    """
    return _known(past_run(store.open(found_run(store, name).id)), name)


def past_to_fork(store: RunStore, where: str) -> PastRun:
    """Return the run and the step that `--fork RUN@STEP` names.

    Raises:
        UsageError: there is no such run or step.
    """
    name, at, step = where.rpartition("@")
    if not at or not name or (wanted := whole_number(step)) is None:
        raise UsageError(f"--fork {where!r} is not RUN@STEP; write --fork 3f2a@2")
    read = store.open(found_run(store, name).id)
    place = read.tree.find(wanted)
    if place is None:
        last = max((item.iteration for item in read.tree.checkpoints), default=0)
        raise UsageError(f"the run has no step {step}; it has {last}")
    return _known(past_run(read, place.id), name)


def results_of(
    store: RunStore | None, named: str, document: PromptDocument
) -> tuple[PastRun | None, JsonDict]:
    """Return the run that `--results RUN[@STEP]` names, and its values for the prompt's inputs.

    Raises:
        UsageError: there is no such run.
    """
    if not named:
        return None, {}
    if store is None:
        raise UsageError("--results: there is no history with runs")
    name, at, step = named.partition("@")
    past = past_to_replay(store, name)
    number = whole_number(step) if at else 1
    if number is None or (at and not past.setup.program):
        raise UsageError(
            f"--results {named}: @ is followed by a call of a recorded program, from 1"
        )
    try:
        is_call = bool(past.setup.program)
        row = row_of_call(store, past.setup.run, number) if is_call else past.setup.inputs
    except (LookupError, ImportFailure) as error:
        raise UsageError(str(error)) from None
    return past, known_values(row, document)


def _keep_case(store: RunStore, run: str, number: int, prompt: Path) -> int:
    """Add a recorded call to the cases of a prompt."""
    from studio.application.experiments.cases import AcceptError, kept_case

    try:
        document = parse(read_text(prompt, encoding="utf-8-sig"), prompt.resolve())
        row = row_of_call(store, run, number)
        own = {"expected": row["expected"], **known_values(row, document)}
        change = kept_case(document, prompt.resolve(), own)
        change.write()
    except (LookupError, ImportFailure, AcceptError) as error:
        raise UsageError(str(error)) from None
    except OSError as error:
        raise UsageError(f"{prompt}: {error.strerror or error}") from None
    print(f"{change.path}: 1 case added")
    return FINE


def _known(past: PastRun | None, name: str) -> PastRun:
    if past is None:
        raise UsageError(f"no events are stored for the run {name!r}")
    return past


def _repair(_options: argparse.Namespace) -> int:
    path = user_paths().data / "runs.sqlite"
    if not path.is_file():
        tell(f"prompt-studio: {path}: there is no history")
        return PROBLEMS
    try:
        kept = repair(path)
        with closing(RunStore(path)) as store:
            print(f"{counted(len(store.runs(RunFilter())), 'run')}; the damaged file is {kept}")
    except (StoreError, OSError, sqlite3.Error) as error:
        tell(f"prompt-studio: {named_reason(error)}")
        return PROBLEMS
    return FINE
