"""A run taken up again, or run again with what it recorded: plans made from a journal."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from studio.application.run.offer import Offer, Offers
from studio.application.run.offers import offers_of
from studio.application.run.plan import RunPlan
from studio.application.words import translate
from studio.core.agent.loop.toolbox import NoTools, RunToolbox
from studio.core.agent.past.replay import RecordedModel, RecordedSpecs, RecordedTools, recording_of
from studio.core.agent.past.retelling import Retelling
from studio.core.agent.past.tree import Past, branch_path, walk
from studio.core.agent.run.secrets import revealed_inputs
from studio.core.agent.values.events import Event, Stopped
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunSetup, RunState
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.prompty.references import ReferenceContext
from studio.core.text.values import Json

_tr = partial(translate, "RunOffers")


@dataclass(frozen=True)
class PastRun:
    """A run that is shown, as something to go on from."""

    events: Sequence[Event]
    """Its whole journal."""

    state: RunState
    """The run at the place that is shown."""

    checkpoint: int | None
    """Id of that place; None where the run reached none."""

    last: int
    """Sequence number of the last event of the branch that is shown."""

    whole: Past | None = None
    """The run as it was opened; None of a live one, whose journal is walked where it is needed."""

    @property
    def to_take_up(self) -> Past:
        """What a run goes on from."""
        return self.whole if self.whole is not None else walk(self.events)

    @property
    def setup(self) -> RunSetup:
        """What it was started with."""
        return self.state.setup

    @property
    def document(self) -> PromptDocument:
        """The prompt as it was at the start of the run."""
        path = Path(self.setup.path) if self.setup.path else None
        return parse(self.setup.source, path)


def with_results_of(plan: RunPlan, past: PastRun) -> RunPlan:
    """The plan, with tools that answer as the past run's did wherever they were called so."""
    recording = recording_of(branch_path(past.events, past.last))

    async def open_toolbox() -> RunToolbox:
        toolbox = plan.toolbox
        if toolbox is None and plan.open_toolbox is not None:
            toolbox = await plan.open_toolbox()
        return RecordedTools(toolbox or NoTools(), recording)

    return replace(plan, toolbox=None, open_toolbox=open_toolbox)


def exactly(past: PastRun, references: ReferenceContext | None = None) -> RunPlan:
    """The run once more: no model is asked, no tool is called, and all edits are made again.

    Args:
        past: the run.
        references: where the prompt's `${…}` references find their values.
    """
    path = branch_path(past.events, past.last)
    if path and isinstance(path[-1], Stopped):
        path.pop()  # that it was stopped is no part of the way
    setup = past.setup
    told = Retelling(path)
    # Nothing happens outside, so that no call has to be asked about.
    specs = tuple(replace(spec, has_effects=False) for spec in setup.tools)
    return RunPlan(
        past.document,
        setup.inputs,
        RecordedModel(told.recording.calls, strict=True),
        RecordedTools(RecordedSpecs(specs), told.recording, live=False),
        options=RunOptions(
            protocol=setup.protocol,
            limits=setup.limits,
            stop=setup.stop,
            approve="always",
            repairs=setup.repairs,
            plain_is_final=setup.plain_is_final,
            parallel=setup.parallel,
            context_budget=setup.context_budget,
        ),
        references=references,
        retelling=told,
    )


def values_of(
    past: PastRun, now: Mapping[str, Json], references: ReferenceContext | None = None
) -> dict[str, Json]:
    """The values to run a past run again with: its own, and those of inputs that came since.

    Args:
        past: the run.
        now: the values as they are now.
        references: where the secrets among its own are looked up.

    Raises:
        ModelError: one of them has no value here.
    """
    given = revealed_inputs(past.setup.inputs, past.state.released, references)
    return {**now, **given}


def is_other_prompt(past: PastRun, path: Path | None) -> bool:
    """Whether a run is of another prompt than the file at `path`, one that can still be opened."""
    was = Path(past.setup.path) if past.setup.path else None
    return was is not None and was != path and was.is_file()


def _resume() -> Offer:
    return Offer(
        _tr("Go on from here"),
        _tr(
            "Run on from this place with the model and the tools, as a new branch. "
            "What was is kept."
        ),
        is_primary=True,
        ask="resume",
    )


def _rerun() -> Offer:
    return Offer(
        _tr("Run again with these results"),
        _tr(
            "Run the prompt as it stands in the editor, with the inputs of this run. A tool call "
            "that it made already gets the same result without running; then both are compared."
        ),
        ask="rerun",
    )


def _replay() -> Offer:
    return Offer(
        _tr("Replay exactly"),
        _tr(
            "Go through this run again, with its replies, its tools' results and your own edits. "
            "No model is asked and no tool runs; breakpoints stop it."
        ),
        ask="replay",
    )


def offers_for(state: RunState, *, is_record: bool) -> Offers:
    """What can be done with a run: that of its place, or what can be made of one that is over."""
    if not is_record:
        made = offers_of(state)
        again = (_rerun(), _replay()) if _is_whole(state, made) else ()
        return replace(made, offers=(*made.offers, *again))
    told = offers_of(state, can_reply=False) if state.is_over else Offers()
    title = told.title or _tr("A run of the past.")
    return replace(told, title=title, offers=(_resume(), _rerun(), _replay()))


def _is_whole(state: RunState, made: Offers) -> bool:
    """Whether it is over and anything came of it."""
    return state.is_over and bool(made.title) and bool(state.steps or state.step.reply)
