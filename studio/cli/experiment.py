"""`prompt-studio experiment` and `baseline`: rows × variants × repeats, without a window."""

from __future__ import annotations

import argparse
import asyncio
import json
import re
import signal
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path

from studio.application.experiments.accept import AcceptError, accept_answer
from studio.application.experiments.cluster.dispatch import WorkersError
from studio.application.experiments.exports.forms import FORMS, summary_of
from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import ExperimentReport, ledger_path, report_of
from studio.application.experiments.run import ExperimentEstimate, ExperimentRunner
from studio.cli.arguments import add_trust, trust_of
from studio.cli.cluster import add_workers, asker_of
from studio.cli.exit_codes import (
    FINE,
    INTERRUPTED,
    PAUSED,
    PROBLEMS,
    UNFINISHED,
    USAGE,
    UsageError,
)
from studio.cli.experiment_rows import add_generate
from studio.core.experiments.results.cells import CellKey
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.results.result import ResultHead
from studio.core.models.base import ModelError
from studio.core.models.connection_file import read_connections
from studio.core.models.secrets import secret_store
from studio.core.paths import user_paths
from studio.core.tools.source import ToolSourceError

_REDRAW_SECONDS = 0.25
_RANGE = re.compile(r"(\d+)(?:-(\d+)?)?")


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the commands on experiments."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    run = commands.add_parser("run", help="ask every cell, mark it, and check the gates")
    _add_file(run)
    _add_run(run)
    run.set_defaults(action=_run)
    plan = commands.add_parser("plan", help="what a run would send and cost; sends nothing")
    _add_file(plan)
    plan.set_defaults(action=_plan)
    show = commands.add_parser("show", help="the newest result, or one of them")
    _add_result(show)
    show.add_argument("--cell", metavar="ROW:VARIANT[:REPEAT]", help="one cell whole")
    show.set_defaults(action=_show)
    compare = commands.add_parser("compare", help="a result beside another")
    _add_result(compare)
    compare.add_argument("with_", metavar="BASELINE", help="a variant, a number, a label, accepted")
    compare.set_defaults(action=_compare)
    listing = commands.add_parser("list", help="the results of an experiment")
    listing.add_argument("file", type=Path, metavar="FILE")
    listing.set_defaults(action=_list)
    export = commands.add_parser("export", help="a result for other programs")
    _add_result(export)
    _add_form(export, required=True)
    export.set_defaults(action=_export)
    accept = commands.add_parser("accept", help="write a cell's answer as the expected one")
    _add_result(accept)
    accept.add_argument("cell", metavar="ROW:VARIANT[:REPEAT]")
    accept.set_defaults(action=_accept)
    add_generate(commands.add_parser("generate", help="rows that a model invents, for a dataset"))
    commands.add_parser("check-answers").set_defaults(action=_check_answers)


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Add `baseline set`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    bless = commands.add_parser("set", help="make a result the baseline; it never moves by itself")
    _add_result(bless)
    bless.add_argument("--label", default="", metavar="NAME", help="a name for it")
    bless.set_defaults(action=_bless)


def _add_file(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--variant", action="append", default=[], metavar="NAME")
    parser.add_argument("--rows", default="", metavar="1-50", help="only these rows")
    parser.add_argument("--tag", action="append", default=[], metavar="TAG", help="only such rows")
    parser.add_argument("--repeat", type=int, metavar="N", help="repeats, over the file's")
    parser.add_argument("--baseline", default="", metavar="NAME", help="what is compared with")
    parser.add_argument("--no-cache", action="store_true", help="ask again what was asked before")
    add_trust(parser, "its tools and Python assertions may run, what it refers to is read")


def _add_run(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--resume", action="store_true", help="go on with the newest result")
    parser.add_argument(
        "--only", choices=("errors", "failed"), help="ask such cells of the newest result again"
    )
    parser.add_argument("--max-cost", type=float, metavar="USD", help="pause there")
    parser.add_argument("--max-tokens", type=int, metavar="N", help="pause there")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="pause then")
    parser.add_argument("--concurrency", type=int, metavar="N", help="cells at once at most")
    parser.add_argument("--fail-under", type=float, metavar="SHARE", help="a gate: pass_rate")
    parser.add_argument("--max-lost", type=int, metavar="N", help="a gate: lost_rows")
    parser.add_argument(
        "--yes", action="store_true", help="allow tool calls that would ask for approval"
    )
    add_workers(parser)
    _add_form(parser, required=False)


def _add_form(parser: argparse.ArgumentParser, *, required: bool) -> None:
    parser.add_argument("--format", choices=tuple(FORMS), required=required)
    parser.add_argument("-o", "--output", type=Path, metavar="FILE", help="instead of the output")


def _add_result(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument("--result", default="", metavar="N", help="its number; the newest else")


# Running ------------------------------------------------------------------------------------------


def _run(options: argparse.Namespace) -> int:
    try:
        with _ledger(options.file) as ledger:
            services = _services(options)
            plan = _planned(options, services)
            return asyncio.run(_drive(options, plan, services, ledger))
    except (ExperimentError, LedgerError) as error:
        for line in str(error).splitlines():
            print(line if isinstance(error, ExperimentError) else f"prompt-studio: {line}",
                  file=sys.stderr)  # fmt: skip
        return USAGE if isinstance(error, ExperimentError) else UNFINISHED
    except (ModelError, ToolSourceError, WorkersError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        print(f"prompt-studio: {error} {hint}".rstrip(), file=sys.stderr)
        return UNFINISHED


async def _drive(
    options: argparse.Namespace, plan: ExperimentPlan, services: ExperimentServices,
    ledger: ExperimentLedger,
) -> int:  # fmt: skip
    for warning in plan.warnings:
        print(warning, file=sys.stderr)
    progress = _Progress()
    runner = ExperimentRunner(
        plan, services, ledger,
        on_cell=lambda _key, _outcome: progress.show(runner),
        asker=asker_of(options, plan, services),
    )  # fmt: skip
    interrupted = False

    def interrupt() -> None:
        nonlocal interrupted
        interrupted = True
        runner.stop()

    loop = asyncio.get_running_loop()
    with suppress(NotImplementedError):  # Windows
        loop.add_signal_handler(signal.SIGINT, interrupt)
    try:
        estimate = await runner.prepare()
        _tell_estimate(estimate)
        result = _result_to_run(options, runner, ledger)
        state = await runner.run(result)
    finally:
        await runner.close()
    progress.end(runner)
    if runner.refused_calls:
        print(
            f"prompt-studio: {runner.refused_calls} tool calls were refused: they ask for approval."
            " Answer the tools by `mocks:`, or allow them with --yes", file=sys.stderr,
        )  # fmt: skip
    report = report_of(ledger, result)
    _write(options, ledger, report)
    if interrupted and state == "cancelled":
        print("prompt-studio: stopped; --resume goes on", file=sys.stderr)
        return INTERRUPTED
    if state == "paused":
        print(f"prompt-studio: paused: {runner.paused_by} --resume goes on", file=sys.stderr)
        return PAUSED
    return _exit_code(report)


def _exit_code(report: ExperimentReport) -> int:
    if report.errors:
        print(f"prompt-studio: {report.errors} cells have no answer; --only errors asks again",
              file=sys.stderr)  # fmt: skip
        return UNFINISHED
    for gate in report.gates:
        if not gate.held:
            bound = "at least" if gate.is_least else "at most"
            print(f"gate {gate.name} of {gate.variant}: {gate.measured:g}, {bound} {gate.wanted:g} "
                  "is asked", file=sys.stderr)  # fmt: skip
    return FINE if report.gates_hold else PROBLEMS


def _result_to_run(
    options: argparse.Namespace, runner: ExperimentRunner, ledger: ExperimentLedger
) -> int:
    """A new result, or the newest one where it is to go on and still fits the file."""
    newest = next(iter(ledger.results(str(options.file.resolve()))), None)
    if newest is None or not (options.resume or options.only):
        return runner.begin()
    if not runner.resumable(newest.id):
        print("prompt-studio: the experiment has changed; answers to equal requests are taken over",
              file=sys.stderr)  # fmt: skip
        return runner.begin()
    if options.only:
        ledger.reopen(newest.id, errors=True, failed=options.only == "failed")
    return newest.id


def _tell_estimate(estimate: ExperimentEstimate) -> None:
    cost = "" if estimate.cost is None else f", about ${estimate.cost:.2f}"
    print(
        f"{estimate.cells} cells: {estimate.equal} equal, {estimate.to_send} will be sent, about "
        f"{estimate.tokens:,} tokens{cost}", file=sys.stderr,
    )  # fmt: skip
    for fault in estimate.faults[:10]:
        print(fault, file=sys.stderr)


class _Progress:
    """One line redrawn on a terminal; else a line at each tenth."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._tenth = 0

    def show(self, runner: ExperimentRunner) -> None:
        """Tell how far it is, not too often."""
        found = runner.progress
        now = time.monotonic()
        if self._is_terminal:
            if now - self._drawn >= _REDRAW_SECONDS:
                self._drawn = now
                print(f"\r\x1b[K{self._line(runner)}", end="", file=sys.stderr, flush=True)
            return
        tenth = 10 * found.over // max(1, found.total)
        if tenth > self._tenth:
            self._tenth = tenth
            print(self._line(runner), file=sys.stderr, flush=True)

    def end(self, runner: ExperimentRunner) -> None:
        """Leave the line as it is at the end."""
        if self._is_terminal:
            print(f"\r\x1b[K{self._line(runner)}", file=sys.stderr, flush=True)

    @staticmethod
    def _line(runner: ExperimentRunner) -> str:
        found = runner.progress
        left = found.seconds_left
        rest = f", {left:.0f} s left" if left else ""
        errors = f", {found.errors} without an answer" if found.errors else ""
        cost = f", ${found.cost:.4f}" if found.cost else ""
        return f"{found.over} of {found.total} cells{errors}{cost}{rest}"


def _plan(options: argparse.Namespace) -> int:
    try:
        with _ledger(options.file) as ledger:
            services = _services(options)
            plan = _planned(options, services)
            for warning in plan.warnings:
                print(warning, file=sys.stderr)
            estimate = asyncio.run(_estimated(plan, services, ledger))
    except (ExperimentError, LedgerError, ModelError, ToolSourceError) as error:
        print(error, file=sys.stderr)
        return USAGE
    print(f"{len(plan.rows)} rows × {len(plan.variants)} variants × {plan.repeats} repeats")
    for each in plan.variants:
        model = "echo"
        if each.choice is not None:
            model = f"{each.choice.declaration.id or each.choice.connection.name}"
            model += f" ({each.choice.connection.name}: {each.choice.reason})"
        print(f"  {each.name}: {model}")
    cost = "price not known" if estimate.cost is None else f"about ${estimate.cost:.4f}"
    print(f"{estimate.equal} equal, {estimate.to_send} will be sent, about {estimate.tokens:,} "
          f"tokens, {cost}")  # fmt: skip
    for fault in estimate.faults:
        print(fault, file=sys.stderr)
    return PROBLEMS if estimate.faults else FINE


async def _estimated(
    plan: ExperimentPlan, services: ExperimentServices, ledger: ExperimentLedger
) -> ExperimentEstimate:
    runner = ExperimentRunner(plan, services, ledger)
    try:
        return await runner.prepare()
    finally:
        await runner.close()


def _planned(options: argparse.Namespace, services: ExperimentServices) -> ExperimentPlan:
    first, last = _range(options.rows)
    choices = ExperimentChoices(
        tuple(options.variant), first, last, tuple(options.tag), options.repeat, options.baseline
    )
    plan = plan_experiment(options.file, services, choices)
    file = plan.file
    given = vars(options)
    budget, gates, how = file.budget, file.gates, file.options
    if given.get("max_cost") is not None:
        budget = replace(budget, cost=given["max_cost"])
    if given.get("max_tokens") is not None:
        budget = replace(budget, tokens=given["max_tokens"])
    if given.get("timeout") is not None:
        budget = replace(budget, minutes=given["timeout"] / 60)
    if given.get("fail_under") is not None:
        gates = replace(gates, pass_rate=given["fail_under"])
    if given.get("max_lost") is not None:
        gates = replace(gates, lost_rows=given["max_lost"])
    if given.get("concurrency") is not None:
        how = replace(how, concurrency=max(1, given["concurrency"]))
    if options.no_cache:
        how = replace(how, cache=False)
    return replace(plan, file=replace(file, budget=budget, gates=gates, options=how))


def _range(text: str) -> tuple[int, int | None]:
    if not text:
        return 1, None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} are no rows; write 7, 1-50 or 100-")
    first = int(found[1])
    if "-" not in text:
        return first, first
    return first, int(found[2]) if found[2] else None


def _services(options: argparse.Namespace) -> ExperimentServices:
    connections = read_connections(user_paths().config / "connections.toml")
    for problem in connections.problems:
        print(f"prompt-studio: {problem}", file=sys.stderr)
    return ExperimentServices(
        trust_of(options, options.file),
        connections,
        secret_store(),
        allow_tools=options.trust,
        approve=bool(vars(options).get("yes")),
    )


@contextmanager
def _ledger(file: Path) -> Iterator[ExperimentLedger]:
    if not file.is_file():
        raise UsageError(f"{file}: no such file")
    ledger = ExperimentLedger(ledger_path(file))
    try:
        yield ledger
    finally:
        ledger.close()


# Results ------------------------------------------------------------------------------------------


def _with_result(
    options: argparse.Namespace, act: Callable[[ExperimentLedger, ResultHead], int]
) -> int:
    """Do something with the result that the arguments name.

    Raises:
        UsageError: there is none.
    """
    try:
        with _ledger(options.file) as ledger:
            heads = ledger.results(str(options.file.resolve()))
            wanted = options.result.removeprefix("#")
            for head in heads:
                if not wanted or wanted in (str(head.id), head.label):
                    return act(ledger, head)
    except LedgerError as error:
        print(f"prompt-studio: {error}", file=sys.stderr)
        return UNFINISHED
    raise UsageError(f"{options.file}: there is no result yet" if not wanted else
                     f"{options.file}: there is no result {wanted!r}")  # fmt: skip


def _show(options: argparse.Namespace) -> int:
    def show(ledger: ExperimentLedger, head: ResultHead) -> int:
        if options.cell:
            return _show_cell(ledger, head, options.cell)
        _print_report(report_of(ledger, head.id))
        return FINE

    return _with_result(options, show)


def _compare(options: argparse.Namespace) -> int:
    def show(ledger: ExperimentLedger, head: ResultHead) -> int:
        wanted = options.with_
        baseline = f"#{wanted}" if wanted.isdecimal() else wanted
        report = report_of(ledger, head.id, baseline)
        if not report.baseline:
            names = ", ".join(repr(each.name) for each in report.variants)
            raise UsageError(f"there is no baseline {wanted!r}; the variants are {names}")
        _print_report(report)
        for each in report.variants:
            if each.comparison is not None:
                _print_rows(ledger, head, each.name, "won", each.comparison.won)
                _print_rows(ledger, head, each.name, "lost", each.comparison.lost)
        return FINE

    return _with_result(options, show)


def _print_rows(
    ledger: ExperimentLedger, head: ResultHead, variant: str, what: str, keys: tuple[str, ...]
) -> None:
    from studio.application.experiments.exports.cells import row_title

    rows = {row.key: row for row in ledger.rows(head.id)}
    for key in keys:
        print(f"{what}\t{variant}\t{rows[key].number}\t{row_title(rows[key])}")


def _list(options: argparse.Namespace) -> int:
    with _ledger(options.file) as ledger:
        for head in ledger.results(str(options.file.resolve())):
            totals = ledger.variant_totals(head.id)
            when = time.strftime("%Y-%m-%d %H:%M", time.localtime(head.started))
            passed, done = sum(each.passed for each in totals), sum(each.done for each in totals)
            mark = " accepted" if head.is_accepted else ""
            name = f" {head.label}" if head.label else ""
            print(f"#{head.id}\t{when}\t{head.state}\t{passed} of {done} cells pass{mark}{name}")
    return FINE


def _export(options: argparse.Namespace) -> int:
    def export(ledger: ExperimentLedger, head: ResultHead) -> int:
        _write(options, ledger, report_of(ledger, head.id))
        return FINE

    return _with_result(options, export)


def _accept(options: argparse.Namespace) -> int:
    def accept(ledger: ExperimentLedger, head: ResultHead) -> int:
        key = _cell_key(ledger, head, options.cell)
        outcome = ledger.outcome(head.id, key)
        if outcome is None:
            raise UsageError(f"the cell {options.cell} has no answer")
        row = ledger.rows(head.id, key.row, key.row)[0]
        try:
            change = accept_answer(options.file.resolve(), row, outcome.output)
            change.write()
        except (AcceptError, OSError) as error:
            print(f"prompt-studio: {error}", file=sys.stderr)
            return PROBLEMS
        print(f"{change.path.name}: the expected answer of row {key.row} is written")
        return FINE

    return _with_result(options, accept)


def _bless(options: argparse.Namespace) -> int:
    def bless(ledger: ExperimentLedger, head: ResultHead) -> int:
        if head.state != "done":
            print(f"prompt-studio: result #{head.id} is {head.state}; only a whole one is a "
                  "baseline", file=sys.stderr)  # fmt: skip
            return PROBLEMS
        ledger.accept(head.id, options.label)
        print(f"#{head.id} is the baseline of {options.file.name}")
        return FINE

    return _with_result(options, bless)


def _cell_key(ledger: ExperimentLedger, head: ResultHead, text: str) -> CellKey:
    row, _, rest = text.partition(":")
    names = ledger.variants(head.id)
    variant, _, repeat = rest.rpartition(":") if rest not in names else (rest, "", "")
    if rest and not variant:
        variant, repeat = rest, ""
    if not row.isdecimal() or (variant and variant not in names):
        raise UsageError(f"{text!r} is no cell; write ROW:VARIANT, one of {', '.join(names)}")
    at = names.index(variant) if variant else 0
    return CellKey(int(repeat or 1), int(row), at)


def _show_cell(ledger: ExperimentLedger, head: ResultHead, text: str) -> int:
    key = _cell_key(ledger, head, text)
    outcome = ledger.outcome(head.id, key)
    if outcome is None:
        raise UsageError(f"the cell {text} has no answer")
    print(outcome.error or outcome.output)
    for each in outcome.results:
        print(f"{each.state}\t{each.label}\t{each.reason}")
    return FINE


def _print_report(report: ExperimentReport) -> None:
    print(f"{report.head.name} #{report.head.id}, {report.head.state}")
    for sentence in report.sentences:
        print(sentence)
    width = max([len(each.name) for each in report.variants] or [0])
    for each in report.variants:
        low, high = each.interval
        total = each.total
        flaky = sum(row.is_flaky for row in each.rows)
        print(
            f"{each.name:{width}}  {each.rows_passed:4} of {len(each.verdicts)} rows "
            f"({low:.0%} to {high:.0%})  {total.passed} of {total.done} cells"
            f"{f', {flaky} rows flaky' if flaky else ''}"
            f"{f', {total.errors} without an answer' if total.errors else ''}"
            f"{f', {total.undecided} undecided' if total.undecided else ''}"
            f"  p95 {each.p95_ms:.0f} ms  ${total.cost:.4f}"
        )
    for gate in report.gates:
        bound = "at least" if gate.is_least else "at most"
        held = "held" if gate.held else "FAILED"
        print(f"gate {gate.name} of {gate.variant}: {held}, {gate.measured:g} ({bound} "
              f"{gate.wanted:g})")  # fmt: skip


def _write(options: argparse.Namespace, ledger: ExperimentLedger, report: ExperimentReport) -> None:
    """The report as it was asked for, to the file or the output."""
    if not options.format:
        _print_report(report)
        if options.output is not None:
            text = json.dumps(summary_of(report), ensure_ascii=False, indent=2)
            options.output.write_text(f"{text}\n", encoding="utf-8")
        return
    text = FORMS[options.format](ledger, report)
    if options.output is None:
        print(text, end="")
        return
    try:
        options.output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise UsageError(f"{options.output}: {error.strerror or error}") from None


def _check_answers(_: argparse.Namespace) -> int:
    from studio.core.experiments.assertions.checker import main

    return main()
