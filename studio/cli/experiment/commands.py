"""`prompt-studio experiment` and `baseline`: rows × variants × repeats, without a window."""

from __future__ import annotations

import argparse
from pathlib import Path

from studio.cli.experiment.detached import add_attach, add_stop
from studio.cli.experiment.generate import add_generate
from studio.cli.experiment.improve import add_improve, add_propose
from studio.cli.experiment.plan import add_choices, plan
from studio.cli.experiment.report import add_form
from studio.cli.experiment.results import (
    accept,
    add_result,
    bless,
    compare,
    export,
    list_batches,
    list_results,
    show,
)
from studio.cli.experiment.run import add_run, run


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the commands on experiments."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    each = commands.add_parser("run", help="ask every cell, mark it, and check the gates")
    add_choices(each)
    add_run(each)
    each.set_defaults(action=run)
    each = commands.add_parser("plan", help="what a run would send and cost; sends nothing")
    add_choices(each)
    each.set_defaults(action=plan)
    each = commands.add_parser("batches", help="what a result has under way in batches")
    add_result(each)
    each.add_argument("--cancel", action="store_true", help="let their providers begin no more")
    each.set_defaults(action=list_batches)
    each = commands.add_parser("show", help="the newest result, or one of them")
    add_result(each)
    each.add_argument("--cell", metavar="ROW:VARIANT[:REPEAT]", help="one cell whole")
    each.set_defaults(action=show)
    each = commands.add_parser("compare", help="a result beside another")
    add_result(each)
    each.add_argument("with_", metavar="BASELINE", help="a variant, a number, a label, accepted")
    each.set_defaults(action=compare)
    each = commands.add_parser("list", help="the results of an experiment")
    each.add_argument("file", type=Path, metavar="FILE")
    each.set_defaults(action=list_results)
    each = commands.add_parser("export", help="a result for other programs")
    add_result(each)
    add_form(each, required=True)
    each.set_defaults(action=export)
    each = commands.add_parser("accept", help="write a cell's answer as the expected one")
    add_result(each)
    each.add_argument("cell", metavar="ROW:VARIANT[:REPEAT]")
    each.set_defaults(action=accept)
    add_attach(commands.add_parser("attach", help="watch a run that goes on by itself"))
    add_stop(commands.add_parser("stop", help="end a run that goes on by itself"))
    add_generate(commands.add_parser("generate", help="rows that a model invents, for a dataset"))
    add_improve(commands.add_parser("improve", help="search a better text for a section"))
    add_propose(commands.add_parser("propose", help="texts for a section, as variants"))
    commands.add_parser("check-answers").set_defaults(action=_check_answers)


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Add `baseline set`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    each = commands.add_parser("set", help="make a result the baseline; it never moves by itself")
    add_result(each)
    each.add_argument("--label", default="", metavar="NAME", help="a name for it")
    each.set_defaults(action=bless)


def _check_answers(_: argparse.Namespace) -> int:
    from studio.core.experiments.assertions.checker import main

    return main()
