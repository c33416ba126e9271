"""`experiment run --detach`, `attach` and `stop`: runs that survive their terminal."""

from __future__ import annotations

import argparse
import asyncio
import os
import shutil
import subprocess
import sys
import time
from contextlib import suppress

from studio.application.experiments.experiment_report import ExperimentReport
from studio.application.experiments.report import report_of
from studio.application.experiments.run.detached import (
    STOPPING,
    DetachedRunError,
    WatchedRun,
    start_detached,
)
from studio.application.experiments.run.words import ended_words
from studio.cli.exit_codes import FINE, INTERRUPTED, PROBLEMS, UNFINISHED
from studio.cli.experiment.interruption import Interruption
from studio.cli.experiment.progress import RunProgress
from studio.cli.experiment.report import add_form, exit_code, write_report
from studio.cli.experiment.results import add_result, with_result
from studio.cli.numbers import whole
from studio.cli.terminal import tell
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.result import ResultHead

BATCHES_GO_ON = (
    "what was sent in batches is still answered and paid for: experiment run --batch --resume "
    "reads it, experiment batches --cancel cancels it"
)
"""Said where a run ends before its batches."""

_STOP_SECONDS = 30.0
_NOTIFY_SECONDS = 10


def add_attach(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `attach`."""
    add_result(parser)
    add_notify(parser)
    add_form(parser, required=False)
    parser.set_defaults(action=_attach)


def add_stop(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `stop`."""
    add_result(parser)
    parser.set_defaults(action=_stop)


def add_detach(parser: argparse.ArgumentParser) -> None:
    """Add what lets a run go on by itself."""
    parser.add_argument(
        "--detach",
        action="store_true",
        help="continue without this terminal; attach watches the run",
    )
    parser.add_argument(
        "--number", type=whole(1), help=argparse.SUPPRESS
    )  # of a run that was detached
    add_notify(parser)


def add_notify(parser: argparse.ArgumentParser) -> None:
    """Add what tells the desktop."""
    parser.add_argument(
        "--notify", action="store_true", help="show a desktop notification at the end"
    )


def detach(options: argparse.Namespace, ledger: ExperimentLedger, result: int) -> int:
    """Leave a result to a process of its own; gives the exit code."""
    arguments = [each for each in options.command_line if each != "--detach"]
    try:
        started = start_detached([*arguments, "--number", str(result)], ledger, result)
    except DetachedRunError as error:
        tell(error)
        return UNFINISHED
    print(
        f"#{result} runs by itself (process {started.process}, {started.log}); prompt-studio "
        f"experiment attach {options.file} watches it, stop ends it"
    )
    return FINE


def _attach(options: argparse.Namespace) -> int:
    return with_result(options, lambda *found: asyncio.run(_watch(options, *found)))


async def _watch(options: argparse.Namespace, ledger: ExperimentLedger, head: ResultHead) -> int:
    watched = WatchedRun(ledger, head.id)
    progress = RunProgress()
    work = asyncio.ensure_future(watched.watch(progress.show))
    Interruption(work.cancel)
    try:
        state = await work
    except asyncio.CancelledError:
        tell(f"\nprompt-studio: #{head.id} goes on; experiment stop {options.file} ends it")
        return INTERRUPTED
    if watched.progress is not None:
        progress.end(watched.progress)
    if state == "running":
        tell(f"prompt-studio: nobody runs #{head.id} any more; {_how_to_go_on(ledger, head)}")
        return UNFINISHED
    report = report_of(ledger, head.id)
    write_report(options, ledger, report)
    if options.notify:
        notify(report)
    return exit_code(report)


def _stop(options: argparse.Namespace) -> int:
    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        if not ledger.is_run(head.id):
            tell(f"prompt-studio: nobody runs #{head.id}")
            return PROBLEMS
        WatchedRun(ledger, head.id).ask_to_stop()
        until = time.monotonic() + _STOP_SECONDS
        while ledger.is_run(head.id) and time.monotonic() < until:
            time.sleep(0.1)
        if ledger.state(head.id) == STOPPING:
            tell(f"prompt-studio: #{head.id} does not end; what is under way takes long")
            return UNFINISHED
        print(f"#{head.id} is {ledger.state(head.id)}")
        if ledger.state(head.id) != "done":
            tell(f"prompt-studio: {_how_to_go_on(ledger, head)}")
        return FINE

    return with_result(options, act)


def _how_to_go_on(ledger: ExperimentLedger, head: ResultHead) -> str:
    waiting = ledger.batches.under_way(head.id)
    return BATCHES_GO_ON if waiting else "experiment run --resume goes on"


def notify(report: ExperimentReport) -> None:
    """Tell the desktop, where it has a program for it; a desktop that does not listen is none."""
    head, text = ended_words(report)
    command: list[str] = []
    if sys.platform == "darwin":
        script = "on run {head, text}\ndisplay notification text with title head\nend run"
        command = ["osascript", "-e", script, head, text]
    elif os.name == "posix":
        command = ["notify-send", "--app-name=Prompt Studio", "--", head, text]
    if not command or shutil.which(command[0]) is None:
        tell("prompt-studio: nothing here tells the desktop (notify-send)")
        return
    with suppress(OSError, subprocess.TimeoutExpired):
        subprocess.run(
            command,
            check=False,
            timeout=_NOTIFY_SECONDS,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
