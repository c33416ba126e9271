"""`prompt-studio experiment` and `baseline`: rows × variants × repeats, without a window."""

import argparse

from studio.cli.completion import add_commands

_COMMANDS = {
    "run": ("run all cells, grade them, and check the gates", "experiment.run:add_run"),
    "plan": ("show what a run would send and cost", "experiment.plan:add_plan"),
    "batches": ("list the pending batches", "experiment.results:add_batches"),
    "show": ("show the newest result, or another one", "experiment.results:add_show"),
    "compare": ("compare a result with a baseline", "experiment.results:add_compare"),
    "list": ("list the results of an experiment", "experiment.results:add_list"),
    "export": ("write a result for other programs", "experiment.results:add_export"),
    "accept": ("write a cell's answer as the expected one", "experiment.results:add_accept"),
    "generate": ("generate rows for a dataset with a model", "experiment.generate:add_generate"),
    "improve": ("search for a better text of a section", "experiment.improve:add_improve"),
    "propose": ("add proposed texts of a section as variants", "experiment.improve:add_propose"),
    "check-answers": ("", "experiment.commands:add_check_answers"),
}
_BASELINE = {
    "set": (
        "make a result the baseline; it never changes automatically",
        "experiment.results:add_bless",
    )
}


def add_experiment(parser: argparse.ArgumentParser) -> None:
    """Add the subcommands of `experiment`."""
    add_commands(parser, _COMMANDS)


def add_baseline(parser: argparse.ArgumentParser) -> None:
    """Add `baseline set`."""
    add_commands(parser, _BASELINE)


def add_check_answers(parser: argparse.ArgumentParser) -> None:
    """Add no arguments: the command reads standard input."""
    parser.set_defaults(action=_check_answers)


def _check_answers(_: argparse.Namespace) -> int:
    from studio.core.experiments.assertions.checker import main

    return main()
