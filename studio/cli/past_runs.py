"""Runs of the history on the command line: repeated as they were, or gone on with from a step."""

from __future__ import annotations

from studio.application.run.past.again import PastRun, past_run
from studio.cli.exit_codes import UsageError
from studio.cli.runs import found_run
from studio.core.runs.store import RunStore


def past_to_replay(store: RunStore, name: str) -> PastRun:
    """The run that `--replay RUN` names.

    Raises:
        UsageError: there is none.
    """
    return _known(past_run(store.open(found_run(store, name).id)), name)


def past_to_fork(store: RunStore, where: str) -> PastRun:
    """The run and the place that `--fork RUN@STEP` names.

    Raises:
        UsageError: there is none.
    """
    name, at, step = where.rpartition("@")
    if not at or not name or not step.isdecimal():
        raise UsageError(f"--fork {where!r} is no RUN@STEP; write --fork 3f2a@2")
    read = store.open(found_run(store, name).id)
    place = read.tree.find(int(step))
    if place is None:
        last = max((item.iteration for item in read.tree.checkpoints), default=0)
        raise UsageError(f"the run has no step {step}; it has {last}")
    return _known(past_run(read, place.id), name)


def _known(past: PastRun | None, name: str) -> PastRun:
    if past is None:
        raise UsageError(f"nothing is kept of the run {name!r}")
    return past
