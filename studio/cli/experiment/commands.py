"""`prompt-studio experiment` and `baseline`: rows × variants × repeats, without a window."""

from __future__ import annotations

import argparse
from pathlib import Path

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
    each = commands.add_parser("run", help="run all cells, mark them, and check the gates")
    add_choices(each)
    add_run(each)
    each.set_defaults(action=run)
    each = commands.add_parser("plan", help="show what a run would send and cost")
    add_choices(each)
    each.set_defaults(action=plan)
    each = commands.add_parser("batches", help="list the batches that are under way")
    add_result(each)
    each.add_argument("--cancel", action="store_true", help="cancel them at their providers")
    each.set_defaults(action=list_batches)
    each = commands.add_parser("show", help="show the newest result, or another one")
    add_result(each)
    each.add_argument("--cell", metavar="ROW:VARIANT[:REPEAT]", help="show one cell in full")
    each.set_defaults(action=show)
    each = commands.add_parser("compare", help="compare a result with a baseline")
    add_result(each)
    each.add_argument(
        "with_", metavar="BASELINE", help="variant, number or label of a result, or accepted"
    )
    each.set_defaults(action=compare)
    each = commands.add_parser("list", help="list the results of an experiment")
    each.add_argument("file", type=Path, metavar="FILE")
    each.set_defaults(action=list_results)
    each = commands.add_parser("export", help="write a result for other programs")
    add_result(each)
    add_form(each, required=True)
    each.set_defaults(action=export)
    each = commands.add_parser("accept", help="write a cell's answer as the expected one")
    add_result(each)
    each.add_argument("cell", metavar="ROW:VARIANT[:REPEAT]")
    each.set_defaults(action=accept)
    add_generate(commands.add_parser("generate", help="let a model invent rows for a dataset"))
    add_improve(commands.add_parser("improve", help="search for a better text of a section"))
    add_propose(commands.add_parser("propose", help="add proposed texts of a section as variants"))
    commands.add_parser("check-answers").set_defaults(action=_check_answers)


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Add `baseline set`."""
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    each = commands.add_parser("set", help="make a result the baseline; it never changes by itself")
    add_result(each)
    each.add_argument("--label", default="", metavar="NAME", help="name for the baseline")
    each.set_defaults(action=bless)


def _check_answers(_: argparse.Namespace) -> int:
    from studio.core.experiments.assertions.checker import main

    return main()
