"""A report on the terminal, or in a form for other programs."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
from contextlib import suppress
from pathlib import Path

from studio.application.experiments.experiment_report import ExperimentReport
from studio.application.experiments.exports.forms import FORMS, summary_of
from studio.application.experiments.run.words import ended_words
from studio.cli.exit_codes import FINE, PROBLEMS, UNFINISHED, UsageError
from studio.cli.terminal import printable, tell
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.text.amounts import counted, duration, money

_NOTIFY_SECONDS = 10


def add_form(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the form and the file of a report."""
    parser.add_argument("--format", choices=tuple(FORMS), required=required)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write, instead of standard output",
    )


def print_report(report: ExperimentReport) -> None:
    """Write a report to the output, for people."""
    print(printable(f"{report.head.name} #{report.head.id}, {report.head.state}"))
    for sentence in report.sentences:
        print(printable(sentence))
    names = [printable(each.name) for each in report.variants]
    width = max(map(len, names), default=0)
    for name, each in zip(names, report.variants, strict=True):
        low, high = each.interval
        total = each.total
        left_out = ", ".join(each.left_out)
        flaky = sum(row.is_flaky for row in each.rows)
        print(
            f"{name:{width}}  {each.rows_passed:4} of {counted(len(each.verdicts), 'row')} "
            f"({low:.0%} to {high:.0%})  {total.passed} of {counted(total.done, 'cell')}"
            f"{f', {flaky} flaky' if flaky else ''}"
            f"{f', {total.errors} without an answer' if total.errors else ''}"
            f"{f', {total.undecided} undecided' if total.undecided else ''}"
            f"{f', without {left_out}' if left_out else ''}"
            f"  p95 {duration(each.p95_ms / 1000)}  {money(total.cost)}"
        )
    for gate in report.gates:
        bound = "at least" if gate.is_least else "at most"
        held = "held" if gate.held else "FAILED"
        print(
            f"gate {gate.name} of {printable(gate.variant)}: {held}, {gate.measured:g} ({bound} "
            f"{gate.wanted:g})"
        )


def write_report(
    options: argparse.Namespace, ledger: ExperimentLedger, report: ExperimentReport
) -> None:
    """The report as it was asked for, to the file or the output."""
    if not options.format:
        print_report(report)
        if options.output is not None:
            text = json.dumps(summary_of(report), ensure_ascii=False, indent=2)
            options.output.write_text(f"{text}\n", encoding="utf-8")
        return
    text = FORMS[options.format](ledger, report)
    if options.output is None:
        is_log = options.format in ("github", "markdown")
        print(printable(text) if is_log else text, end="")
        return
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{options.output}: {error.strerror or error}") from None


def exit_code(report: ExperimentReport) -> int:
    """What a run leaves with, by what came of it; failed gates are named."""
    if report.errors:
        cells = counted(report.errors, "cell has", "cells have")
        tell(f"prompt-studio: {cells} no answer; --only errors asks again")
        return UNFINISHED
    for gate in report.gates:
        if not gate.held:
            bound = "at least" if gate.is_least else "at most"
            tell(
                f"gate {gate.name} of {gate.variant}: {gate.measured:g}, {bound} {gate.wanted:g} "
                "is asked"
            )
    return FINE if report.gates_hold else PROBLEMS


def notify(report: ExperimentReport) -> None:
    """Show the end of a run on the desktop, or print that no program here can."""
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
