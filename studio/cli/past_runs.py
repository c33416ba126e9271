"""Runs of the history on the command line: repeated as they were, or gone on with from a step."""

from __future__ import annotations

from dataclasses import dataclass, replace

from studio.cli.main import UsageError
from studio.cli.runs import found_run
from studio.core.agent.past.replay import RecordedModel, RecordedSpecs, RecordedTools
from studio.core.agent.past.retelling import Retelling
from studio.core.agent.past.tree import Past, branch_path
from studio.core.agent.values.events import Started, Stopped
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunSetup
from studio.core.models.base import ChatModel
from studio.core.runs.store import RunStore
from studio.core.text.values import Json


@dataclass(frozen=True)
class PastRun:
    """The run of the history that this one repeats or goes on with."""

    read: Past | None = None
    """The run; None for a new one."""

    checkpoint: int | None = None
    """Where a fork begins; None for a replay."""

    @property
    def setup(self) -> RunSetup | None:
        """What it was started with."""
        first = self.read.events[0] if self.read is not None else None
        return first.setup if isinstance(first, Started) else None

    @property
    def inputs(self) -> dict[str, Json]:
        """Its values."""
        return dict(self.setup.inputs) if self.setup is not None else {}


def past_to_replay(store: RunStore, name: str) -> PastRun:
    """The run that `--replay RUN` names.

    Raises:
        UsageError: there is none.
    """
    return PastRun(store.open(found_run(store, name).id))


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
    return PastRun(read, place.id)


@dataclass(frozen=True)
class Replay:
    """All that a run needs to be gone through again: no model is asked, no tool is called."""

    told: Retelling
    """What the person did in it."""

    model: ChatModel
    """Answers as it was answered; another request than the recorded one is an error."""

    toolbox: RecordedTools
    """Gives the results that were given."""

    options: RunOptions
    """How it went."""


def replay_of(read: Past, setup: RunSetup, options: RunOptions) -> Replay:
    """The run once more, with every edit that the person made in it.

    Args:
        read: the run; its newest branch is told.
        setup: what it was started with.
        options: what the command line says.
    """
    events = read.events
    last = len(events) - isinstance(events[-1], Stopped)
    told = Retelling(branch_path(events, last))
    # Nothing happens outside, so that no call has to be asked about.
    specs = tuple(replace(spec, has_effects=False) for spec in setup.tools)
    return Replay(
        told,
        RecordedModel(told.recording.calls, strict=True),
        RecordedTools(RecordedSpecs(specs), told.recording, live=False),
        replace(
            options,
            protocol=options.protocol or setup.protocol,
            limits=options.limits or setup.limits,
            stop=setup.stop,
            parallel=setup.parallel,
            plain_is_final=setup.plain_is_final,
            repairs=setup.repairs,
            context_budget=setup.context_budget,
        ),
    )
