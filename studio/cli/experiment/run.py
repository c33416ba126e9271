"""`experiment run`: run every cell, print the progress, and return an exit code by the result."""

import argparse
import asyncio
import gc
import signal
from pathlib import Path

from studio.application.experiments.asking import Asker
from studio.application.experiments.cluster.dispatch import WorkersAddress, WorkersError
from studio.application.experiments.plan import ExperimentPlan, ExperimentServices
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import report_of
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.cli.arguments import add_allow
from studio.cli.experiment.plan import RunProgress, add_choices, open_ledger, planned, services_of
from studio.cli.experiment.results import add_form, exit_code, notify, write_report
from studio.cli.terminal import (
    INTERRUPTED,
    PAUSED,
    UNFINISHED,
    USAGE,
    Interruption,
    UsageError,
    amount,
    tell,
    whole,
)
from studio.core.experiments.results.cells import ResultHead
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.models.base import ModelError
from studio.core.text.amounts import counted, money
from studio.core.tools.source import ToolSourceError

_BATCHES_GO_ON = (
    "requests sent in batches are still answered and charged: experiment run --batch --resume "
    "reads them, experiment batches --cancel cancels them"
)
"""Advice after an interruption while the provider still works on batches."""


def add_run(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `run`."""
    add_choices(parser)
    parser.set_defaults(action=run)
    parser.add_argument("--resume", action="store_true", help="continue the newest result")
    parser.add_argument(
        "--only",
        choices=("errors", "failed"),
        help="run only these cells of the newest result again",
    )
    parser.add_argument("--max-cost", type=amount(), metavar="USD", help="pause at this cost")
    parser.add_argument(
        "--max-tokens", type=whole(), metavar="N", help="pause after this number of tokens"
    )
    parser.add_argument(
        "--timeout", type=amount(above=True), metavar="SECONDS", help="pause after this time"
    )
    parser.add_argument("--concurrency", type=whole(1), metavar="N", help="limit of cells at once")
    parser.add_argument(
        "--fail-under", type=amount(most=1), metavar="SHARE", help="gate: lowest pass_rate"
    )
    parser.add_argument("--max-lost", type=whole(), metavar="N", help="gate: maximum lost_rows")
    parser.add_argument("--yes", action="store_true", help="allow tool calls that need approval")
    add_allow(parser)
    _add_workers(parser)
    parser.add_argument(
        "--notify", action="store_true", help="show a desktop notification at the end"
    )
    add_form(parser, required=False)


def _add_workers(parser: argparse.ArgumentParser) -> None:
    """Add the arguments for workers."""
    parser.add_argument(
        "--workers",
        default="",
        metavar="ADDRESS",
        help="use workers: local:4, tls://host:8786 (needs the extra dask)",
    )
    parser.add_argument(
        "--certificates",
        type=Path,
        metavar="FOLDER",
        help="folder with ca.pem, cert.pem and key.pem, for tls://",
    )
    parser.add_argument(
        "--insecure", action="store_true", help="allow an unencrypted scheduler on another machine"
    )


def run(options: argparse.Namespace) -> int:
    """Run an experiment and return the exit code."""
    try:
        with open_ledger(options.file) as ledger:
            services = services_of(options)
            progress = RunProgress()
            plan = planned(options, services, progress.read)
            return asyncio.run(_drive(options, plan, services, ledger, progress))
    except (ExperimentError, LedgerError) as error:
        for line in str(error).splitlines():
            tell(line if isinstance(error, ExperimentError) else f"prompt-studio: {line}")
        return USAGE if isinstance(error, ExperimentError) else UNFINISHED
    except (ModelError, ToolSourceError, WorkersError) as error:
        hint = error.hint if isinstance(error, ModelError) else ""
        tell(f"prompt-studio: {error} {hint}".rstrip())
        return UNFINISHED


async def _drive(
    options: argparse.Namespace,
    plan: ExperimentPlan,
    services: ExperimentServices,
    ledger: ExperimentLedger,
    progress: RunProgress,
) -> int:
    for warning in plan.warnings:
        tell(warning)
    runner = ExperimentRunner(
        plan,
        services,
        ledger,
        on_cell=lambda _key, _outcome: progress.show(runner.progress),
        asker=_asker(options, plan, services, ledger),
    )
    interruption = Interruption(runner.stop, signal.SIGINT, signal.SIGTERM)
    try:
        newest = _newest(options, ledger)
        goes_on = newest is not None and options.resume and not options.only
        whole = await progress.prepared(runner, newest.id if newest and goes_on else None)
        gc.freeze()  # loaded objects stay: exclude them from each collection
        result = _result_to_run(options, runner, ledger)
        _tell_estimate(runner.left(result), whole.cells)
        state = await runner.run(result)
    finally:
        await runner.close()
    progress.end(runner.progress)
    if runner.refused_calls:
        tell(
            f"prompt-studio: {counted(runner.refused_calls, 'tool call was', 'tool calls were')} "
            "refused without approval. Set `mocks:` for the tools, or allow them with "
            "--yes"
        )
    report = report_of(ledger, result)
    write_report(options, ledger, report)
    if options.notify:
        notify(report)
    if interruption.number and state == "cancelled":
        tell(f"prompt-studio: stopped; {_how_to_go_on(options)}")
        return INTERRUPTED
    if state == "paused":
        tell(f"prompt-studio: paused: {runner.paused_by} --resume continues")
        return PAUSED
    return exit_code(ledger, report)


def _asker(
    options: argparse.Namespace,
    plan: ExperimentPlan,
    services: ExperimentServices,
    ledger: ExperimentLedger,
) -> Asker | None:
    """Return the asker of cells; None sends each request separately from this process.

    Raises:
        ExperimentError: a connection does not support batches.
        UsageError: both batches and workers are requested, or a pending batch would be sent again.
        WorkersError: the address of the workers cannot be used.
    """
    newest = _newest(options, ledger)
    waiting = ledger.batches.under_way(newest.id) if newest is not None else []
    if options.batch:
        from studio.application.experiments.batches.asker import BatchAsker

        if options.workers:
            raise UsageError("--batch and --workers cannot be combined")
        if waiting and newest is not None and not (options.resume or options.only):
            batches = counted(len(waiting), "batch", "batches")
            tell(f"prompt-studio: result #{newest.id} has {batches} pending; --resume continues")
        return BatchAsker(plan, services, ledger, tell)
    if waiting and newest is not None and (options.resume or options.only):
        raise UsageError(
            f"result #{newest.id} has {counted(len(waiting), 'batch', 'batches')} pending, whose "
            "cells would be sent again; --batch continues them"
        )
    if not options.workers:
        return None
    from studio.application.experiments.cluster.asker import ClusterAsker

    address = WorkersAddress(options.workers, options.certificates, options.insecure)
    return ClusterAsker(plan, services, address, tell)


def _newest(options: argparse.Namespace, ledger: ExperimentLedger) -> ResultHead | None:
    return next(iter(ledger.results(str(options.file.resolve()))), None)


def _result_to_run(
    options: argparse.Namespace, runner: ExperimentRunner, ledger: ExperimentLedger
) -> int:
    """Return a new result, or the newest one if it can be continued and still fits the file."""
    newest = _newest(options, ledger)
    if newest is None or not (options.resume or options.only):
        return runner.begin()
    if ledger.is_run(newest.id):
        raise LedgerError(
            f"#{newest.id} is being run by another process; stop it, or wait until it ends"
        )
    if not runner.cells.resumable(newest.id):
        if ledger.batches.under_way(newest.id):
            raise LedgerError(
                f"the experiment has changed, and #{newest.id} has pending batches, which would be "
                "sent and charged again; restore the file to read them, cancel them with "
                "experiment batches --cancel, or run without --resume"
            )
        tell("prompt-studio: the experiment has changed; answers to equal requests are reused")
        return runner.begin()
    if options.only:
        ledger.reopen(newest.id, errors=True, failed=options.only == "failed")
    return newest.id


def _tell_estimate(estimate: ExperimentEstimate, cells: int) -> None:
    cost = {None: "", 0.0: ", free"}.get(estimate.cost, f", about {money(estimate.cost)}")
    over = cells - estimate.cells
    left = f"{over} of {counted(cells, 'cell')} are done, {estimate.cells} are left"
    tell(
        f"{left if over else counted(cells, 'cell')}: {estimate.equal} answered before, "
        f"{estimate.to_send} will be sent, about {counted(estimate.tokens, 'token')}{cost}"
    )
    for fault in estimate.faults[:10]:
        tell(fault)


def _how_to_go_on(options: argparse.Namespace) -> str:
    return _BATCHES_GO_ON if options.batch else "--resume continues"
