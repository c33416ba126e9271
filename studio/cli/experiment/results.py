"""Stored results: show, compare, list and export them, and set the baseline."""

import argparse
import asyncio
import json
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path

from studio.application.experiments.exports.forms import FORMS, summary_of
from studio.application.experiments.report import ExperimentReport, report_of
from studio.application.experiments.run.spending import ended_words
from studio.cli.experiment.plan import open_ledger
from studio.cli.terminal import FINE, PROBLEMS, UNFINISHED, UsageError, printable, tell
from studio.core.experiments.results.cells import CellKey, ResultHead, VariantTotal
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.connections import user_connections
from studio.core.models.secrets import secret_store
from studio.core.text.amounts import counted, money, whole_number
from studio.core.text.values import named_reason

# Reports on the terminal and in other formats.

_NOTIFY_SECONDS = 10


def add_form(parser: argparse.ArgumentParser, *, required: bool) -> None:
    """Add the arguments for the format and the file of a report."""
    parser.add_argument("--format", choices=tuple(FORMS), required=required)
    parser.add_argument(
        "-o",
        "--output",
        type=Path,
        metavar="FILE",
        help="file to write, instead of standard output",
    )


def print_report(report: ExperimentReport) -> None:
    """Print a report as text."""
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
            f"  p95 {each.slowest}  {money(total.cost)}"
        )
    for gate in report.gates:
        held = "held" if gate.held else "FAILED"
        print(f"gate {gate.name} of {printable(gate.variant)}: {held}, {gate.words}")


def write_report(
    options: argparse.Namespace, ledger: ExperimentLedger, report: ExperimentReport
) -> None:
    """Write the report in the requested format, to the file or standard output."""
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


def exit_code(ledger: ExperimentLedger, report: ExperimentReport) -> int:
    """Return the exit code of a run by its result; print the gates that failed."""
    if report.errors:
        cells = counted(report.errors, "cell has", "cells have")
        tell(f"prompt-studio: {cells} no answer; --only errors asks again")
        for reason, count in ledger.reasons(report.head.id):
            tell(f"  {counted(count, 'cell', 'cells')}: {printable(reason)}")
        return UNFINISHED
    for gate in report.gates:
        if not gate.held:
            tell(f"gate {gate.name} of {gate.variant}: {gate.words}")
    return FINE if report.gates_hold else PROBLEMS


def notify(report: ExperimentReport) -> None:
    """Show the end of a run as a desktop notification, or print that this is impossible."""
    head, text = ended_words(report)
    command: list[str] = []
    if sys.platform == "darwin":
        script = "on run {head, text}\ndisplay notification text with title head\nend run"
        command = ["osascript", "-e", script, head, text]
    elif os.name == "posix":
        command = ["notify-send", "--app-name=Prompt Studio", "--", head, text]
    if not command or shutil.which(command[0]) is None:
        tell("prompt-studio: no program for desktop notifications (notify-send)")
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


def add_result(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for the file and the number of the result."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--result", default="", metavar="N", help="number of the result (default: the newest)"
    )


def add_batches(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `batches`."""
    add_result(parser)
    parser.add_argument("--cancel", action="store_true", help="cancel them at the providers")
    parser.set_defaults(action=list_batches)


def add_show(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `show`."""
    add_result(parser)
    parser.add_argument("--cell", metavar="ROW:VARIANT[:REPEAT]", help="show one cell in full")
    parser.set_defaults(action=show)


def add_compare(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `compare`."""
    add_result(parser)
    parser.add_argument(
        "with_", metavar="BASELINE", help="variant, number or label of a result, or accepted"
    )
    parser.set_defaults(action=compare)


def add_list(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `list`."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.set_defaults(action=list_results)


def add_export(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `export`."""
    add_result(parser)
    add_form(parser, required=True)
    parser.set_defaults(action=export)


def add_accept(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `accept`."""
    add_result(parser)
    parser.add_argument("cell", metavar="ROW:VARIANT[:REPEAT]")
    parser.set_defaults(action=accept)


def add_bless(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `baseline set`."""
    add_result(parser)
    parser.add_argument("--label", default="", metavar="NAME", help="name for the baseline")
    parser.set_defaults(action=bless)


def with_result(
    options: argparse.Namespace, act: Callable[[ExperimentLedger, ResultHead], int]
) -> int:
    """Call a function with the result that the arguments name.

    Raises:
        UsageError: there is no such result.
    """
    try:
        with open_ledger(options.file) as ledger:
            heads = ledger.results(str(options.file.resolve()))
            wanted = options.result.removeprefix("#")
            for head in heads:
                if not wanted or wanted in (str(head.id), head.label):
                    return act(ledger, head)
    except LedgerError as error:
        tell(f"prompt-studio: {error}")
        return UNFINISHED
    raise UsageError(
        f"{options.file}: there is no result yet"
        if not wanted
        else f"{options.file}: there is no result {wanted!r}"
    )


def show(options: argparse.Namespace) -> int:
    """Show a result, or one cell of it."""

    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        if options.cell:
            return _show_cell(ledger, head, options.cell)
        print_report(report_of(ledger, head.id))
        return FINE

    return with_result(options, act)


def compare(options: argparse.Namespace) -> int:
    """Compare a result with a variant or another result."""

    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        wanted = options.with_
        baseline = f"#{wanted}" if wanted.isdecimal() else wanted
        report = report_of(ledger, head.id, baseline)
        if not report.baseline:
            names = ", ".join(repr(each.name) for each in report.variants)
            raise UsageError(f"there is no baseline {wanted!r}; the variants are {names}")
        print_report(report)
        for each in report.variants:
            if each.comparison is not None:
                _print_rows(ledger, head, each.name, "won", each.comparison.won)
                _print_rows(ledger, head, each.name, "lost", each.comparison.lost)
        return FINE

    return with_result(options, act)


def _print_rows(
    ledger: ExperimentLedger, head: ResultHead, variant: str, what: str, keys: tuple[str, ...]
) -> None:
    from studio.application.experiments.exports.cells import row_title

    rows = {row.key: row for row in ledger.rows(head.id)}
    for key in keys:
        print(printable(f"{what}\t{variant}\t{rows[key].number}\t{row_title(rows[key])}"))


def list_results(options: argparse.Namespace) -> int:
    """List the results of a file."""
    try:
        with open_ledger(options.file) as ledger:
            for head in ledger.results(str(options.file.resolve())):
                print(printable(_line_of(head, ledger.scans.variant_totals(head.id))))
    except LedgerError as error:
        tell(f"prompt-studio: {error}")
        return UNFINISHED
    return FINE


def _line_of(head: ResultHead, totals: Sequence[VariantTotal]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(head.started))
    passed, done = sum(each.passed for each in totals), sum(each.done for each in totals)
    mark = " accepted" if head.is_accepted else ""
    name = f" {head.label}" if head.label else ""
    cells = f"{passed} of {counted(done, 'cell')} pass"
    return f"#{head.id}\t{when}\t{head.state}\t{cells}{mark}{name}"


def export(options: argparse.Namespace) -> int:
    """Export a result in a format for other programs."""

    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        write_report(options, ledger, report_of(ledger, head.id))
        return FINE

    return with_result(options, act)


def accept(options: argparse.Namespace) -> int:
    """Write a cell's answer to its row as the expected answer."""

    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        key = _cell_key(ledger, head, options.cell)
        outcome = ledger.outcome(head.id, key)
        if outcome is None:
            raise UsageError(f"the cell {options.cell} has no answer")
        row = ledger.rows(head.id, key.row, key.row)[0]
        from studio.application.experiments.cases import AcceptError, accept_answer

        try:
            change = accept_answer(options.file.resolve(), row, outcome.output)
            change.write()
        except (AcceptError, OSError) as error:
            tell(f"prompt-studio: {named_reason(error)}")
            return PROBLEMS
        print(f"{change.path.name}: the expected answer of row {key.row} was written")
        return FINE

    return with_result(options, act)


def bless(options: argparse.Namespace) -> int:
    """Set a result as the baseline of its file."""

    def act(ledger: ExperimentLedger, head: ResultHead) -> int:
        if head.state != "done":
            tell(f"prompt-studio: result #{head.id} is {head.state}; a baseline must be complete")
            return PROBLEMS
        ledger.accept(head.id, options.label)
        print(f"#{head.id} is the baseline of {options.file.name}")
        return FINE

    return with_result(options, act)


def _cell_key(ledger: ExperimentLedger, head: ResultHead, text: str) -> CellKey:
    row, _, rest = text.partition(":")
    names = ledger.variants(head.id)
    variant, _, repeat = rest.rpartition(":") if rest not in names else (rest, "", "")
    if rest and not variant:
        variant, repeat = rest, ""
    at_row, at_repeat = whole_number(row), whole_number(repeat or "1")
    if at_row is None or at_repeat is None or (variant and variant not in names):
        raise UsageError(f"{text!r} is not a cell; write ROW:VARIANT, one of {', '.join(names)}")
    at = names.index(variant) if variant else 0
    return CellKey(at_repeat, at_row, at)


def _show_cell(ledger: ExperimentLedger, head: ResultHead, text: str) -> int:
    key = _cell_key(ledger, head, text)
    outcome = ledger.outcome(head.id, key)
    if outcome is None:
        raise UsageError(f"the cell {text} has no answer")
    print(printable(outcome.error or outcome.output))
    for each in outcome.results:
        print(printable(f"{each.state}\t{each.label}\t{each.reason}"))
    return FINE


def list_batches(options: argparse.Namespace) -> int:
    """List the unfinished batches of a result; cancel them if requested."""

    def show(ledger: ExperimentLedger, head: ResultHead) -> int:
        from studio.application.experiments.batches.carrier import batches_under_way

        connections = user_connections()
        found = asyncio.run(
            batches_under_way(ledger, head.id, connections, secret_store(), cancel=options.cancel)
        )
        for each in found:
            kept, how = each.kept, each.fault or each.status
            answered = f"{each.answered} of {kept.requests} answered"
            words = (kept.connection, kept.model, kept.remote or "-", how, answered)
            print(printable("\t".join(words)))
        if not found:
            tell(f"#{head.id} has no pending batches")
        elif options.cancel:
            tell(
                "prompt-studio: earlier answers are charged: run --batch --resume reads them, and "
                "sends the rest again"
            )
        return PROBLEMS if any(each.fault for each in found) else FINE

    return with_result(options, show)
