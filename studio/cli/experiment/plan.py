"""`experiment plan`, and the shared choices, services and ledger of experiment commands."""

import argparse
import asyncio
import re
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

from studio.application.experiments.asking import Asker
from studio.application.experiments.plan import (
    ExperimentChoices,
    ExperimentPlan,
    ExperimentServices,
    plan_experiment,
)
from studio.application.experiments.prompts import ExperimentError
from studio.application.experiments.report import ledger_path
from studio.application.experiments.run.estimate import ExperimentEstimate
from studio.application.experiments.run.runner import ExperimentRunner
from studio.application.experiments.run.spending import ExperimentProgress, progress_line
from studio.cli.arguments import add_trust, needs, trust_of
from studio.cli.terminal import FINE, PROBLEMS, USAGE, UsageError, printable, tell, whole
from studio.core.experiments.results.database import LedgerError
from studio.core.experiments.results.ledger import ExperimentLedger
from studio.core.experiments.values import MOST_REPEATS
from studio.core.models.base import ModelError
from studio.core.models.connections import user_connections
from studio.core.models.secrets import secret_store
from studio.core.text.amounts import counted, money
from studio.core.tools.source import ToolSourceError

# Progress of a run, on standard error.

_REDRAW_SECONDS = 0.25
_LOOK_SECONDS = 1.0
_MANY = 5_000
"""Number of cells from which planning progress is printed without a terminal."""


class RunProgress:
    """Progress in one line that is redrawn on a terminal; otherwise one line for each tenth."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._drawn = 0.0
        self._tenth = 0
        self._rows = 0

    def show(self, found: ExperimentProgress) -> None:
        """Print the progress, at a limited rate."""
        now = time.monotonic()
        if self._is_terminal:
            if now - self._drawn >= _REDRAW_SECONDS:
                self._drawn = now
                print(f"\r\x1b[K{progress_line(found)}", end="", file=sys.stderr, flush=True)
            return
        if found.worked_out is not None and found.total < _MANY:
            return
        over = found.over if found.worked_out is None else found.worked_out
        tenth = 10 * over // max(1, found.total)
        if tenth > self._tenth:
            self._tenth = tenth
            tell(progress_line(found))

    def read(self, rows: int) -> None:
        """Print the number of rows read; on a terminal only."""
        self._rows += rows
        if self._is_terminal:
            self.show(ExperimentProgress(0, 0, 0, 0, 0.0, 0, 0.0, worked_out=self._rows))

    async def prepared(
        self, runner: ExperimentRunner, going_on: int | None = None
    ) -> ExperimentEstimate:
        """Let a runner build its requests and print the progress."""
        drawing = asyncio.create_task(self._watch(runner))
        try:
            return await runner.prepare(going_on)
        finally:
            drawing.cancel()
            self._tenth = 0
            if self._is_terminal and self._drawn:
                print("\r\x1b[K", end="", file=sys.stderr, flush=True)

    async def _watch(self, runner: ExperimentRunner) -> None:
        while True:
            await asyncio.sleep(_LOOK_SECONDS)
            self.show(runner.progress)

    def end(self, found: ExperimentProgress) -> None:
        """End the progress line with the final state."""
        if self._is_terminal:
            print(f"\r\x1b[K{progress_line(found)}", file=sys.stderr, flush=True)


_RANGE = re.compile(r"([0-9]{1,15})(?:-([0-9]{1,15})?)?")


def add_plan(parser: argparse.ArgumentParser) -> None:
    """Add the arguments of `plan`."""
    add_choices(parser)
    parser.set_defaults(action=plan)


def add_choices(parser: argparse.ArgumentParser) -> None:
    """Add the experiment file and the options that select parts of it."""
    parser.add_argument("file", type=Path, metavar="FILE")
    parser.add_argument(
        "--variant", action="append", default=[], metavar="NAME", help="only this variant"
    )
    parser.add_argument("--rows", default="", metavar="1-50", help="only these rows")
    parser.add_argument(
        "--tag", action="append", default=[], metavar="TAG", help="only rows with this tag"
    )
    parser.add_argument(
        "--repeat",
        type=whole(1, MOST_REPEATS),
        metavar="N",
        help="number of repeats, instead of the file's",
    )
    parser.add_argument("--baseline", default="", metavar="NAME", help="baseline of the comparison")
    parser.add_argument("--no-cache", action="store_true", help="do not use earlier answers")
    parser.add_argument(
        "--batch", action="store_true", help="use batches: answers within a day, at half the price"
    )
    add_trust(
        parser, "its tools and Python assertions may run, files and variables it names are read"
    )


def plan(options: argparse.Namespace) -> int:
    """Print what a run would send and cost; nothing is sent."""
    try:
        with open_ledger(options.file) as ledger:
            services = services_of(options)
            progress = RunProgress()
            plan = planned(options, services, progress.read)
            for warning in plan.warnings:
                tell(warning)
            asker = _batch_asker(plan, services, ledger) if options.batch else None
            estimate = asyncio.run(_estimated(plan, services, ledger, asker, progress))
    except (ExperimentError, LedgerError, ModelError, ToolSourceError) as error:
        tell(error)
        return USAGE
    factors = (len(plan.rows), "row"), (len(plan.variants), "variant"), (plan.repeats, "repeat")
    print(" × ".join(counted(count, thing) for count, thing in factors))
    for each in plan.variants:
        model = "echo"
        if each.choice is not None:
            model = f"{each.choice.declaration.id or each.choice.connection.name}"
            model += f" ({each.choice.connection.name}: {each.choice.reason})"
        print(printable(f"  {each.name}: {model}"))
    words = {None: "price not known", 0.0: "free"}
    cost = words.get(estimate.cost, f"about {money(estimate.cost)}")
    how = " in batches, at half the price" if options.batch else ""
    print(
        f"{estimate.equal} answered before, {estimate.to_send} will be sent{how}, about "
        f"{counted(estimate.tokens, 'token')}, {cost}"
    )
    for fault in estimate.faults:
        tell(fault)
    return PROBLEMS if estimate.faults else FINE


def _batch_asker(
    plan: ExperimentPlan, services: ExperimentServices, ledger: ExperimentLedger
) -> Asker:
    from studio.application.experiments.batches.asker import BatchAsker

    return BatchAsker(plan, services, ledger)


async def _estimated(
    plan: ExperimentPlan,
    services: ExperimentServices,
    ledger: ExperimentLedger,
    asker: Asker | None,
    progress: RunProgress,
) -> ExperimentEstimate:
    runner = ExperimentRunner(plan, services, ledger, asker=asker)
    try:
        return await progress.prepared(runner)
    finally:
        await runner.close()


def planned(
    options: argparse.Namespace,
    services: ExperimentServices,
    on_rows: Callable[[int], None] | None = None,
) -> ExperimentPlan:
    """Plan the experiment that the arguments select.

    Args:
        options: options of the command line.
        services: services that run it.
        on_rows: called now and then with the number of rows read since the last call.

    Raises:
        ExperimentError: the experiment cannot be run.
        UsageError: the selection of rows is invalid.
    """
    first, last = _range(options.rows)
    choices = ExperimentChoices(
        tuple(options.variant), first, last, tuple(options.tag), options.repeat, options.baseline
    )
    plan = plan_experiment(options.file, services, choices, on_rows=on_rows)
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
        how = replace(how, concurrency=given["concurrency"])
    if options.no_cache:
        how = replace(how, cache=False)
    chosen = replace(plan, file=replace(file, budget=budget, gates=gates, options=how))
    if not options.batch:
        return chosen
    from studio.application.experiments.batches.asker import batch_plan

    return batch_plan(chosen)


def _range(text: str) -> tuple[int, int | None]:
    if not text:
        return 1, None
    found = _RANGE.fullmatch(text)
    if found is None:
        raise UsageError(f"{text!r} are not rows; write 7, 1-50 or 100-")
    first = int(found[1])
    if "-" not in text:
        return first, first
    return first, int(found[2]) if found[2] else None


def services_of(options: argparse.Namespace) -> ExperimentServices:
    """Return the services for experiments, configured for this machine."""
    connections = user_connections()
    for problem in connections.problems:
        tell(f"prompt-studio: {problem}")
    return ExperimentServices(
        trust_of(options, options.file),
        connections,
        secret_store(),
        allow_tools=options.trust,
        allowed=tuple(vars(options).get("allow") or ()),
        approve=bool(vars(options).get("yes")),
    )


@contextmanager
def open_ledger(file: Path) -> Iterator[ExperimentLedger]:
    """Open the results of an experiment file.

    Raises:
        UsageError: there is no such file.
        LedgerError: the results cannot be read.
    """
    needs(file)
    ledger = ExperimentLedger(ledger_path(file))
    try:
        yield ledger
    finally:
        ledger.close()
