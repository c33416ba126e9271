"""A past run: continued, repeated, or run again with its recorded results."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from studio.core.agent.loop.calls import RunToolbox
from studio.core.agent.loop.steps import messages_of, new_state
from studio.core.agent.past import replay
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.run.performer import Performer
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.secrets import revealed_inputs, run_secrets
from studio.core.agent.values.commands import Command, ForkFrom
from studio.core.agent.values.events import Event, MessagesEdited, Rendered, Stopped
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint, RunSetup
from studio.core.models.base import ModelError
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.inputs import GivenInputs
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import JsonObject


@dataclass(frozen=True)
class PastRun:
    """A shown run as a start for a new one."""

    events: Sequence[Event]
    """The events of its whole journal."""

    state: RunState
    """The run at the shown place."""

    checkpoint: int | None
    """Id of the checkpoint at that place; None if the run reached none."""

    last: int
    """Sequence number of the last event of the shown branch."""

    whole: replay.Past | None = None
    """The run as it was opened; None for a live one, whose journal is read when needed."""

    @property
    def to_take_up(self) -> replay.Past:
        """The state from which a run continues."""
        return self.whole if self.whole is not None else replay.walk(self.events)

    @property
    def setup(self) -> RunSetup:
        """The setup with which it was started."""
        return self.state.setup

    @property
    def document(self) -> PromptDocument:
        """The prompt at the start of the run."""
        path = Path(self.setup.path) if self.setup.path else None
        return parse(self.setup.source, path)


def past_run(whole: replay.Past, checkpoint: int | None = None) -> PastRun | None:
    """Return a past run at one of its places, read from the history; None without events.

    Args:
        whole: the run.
        checkpoint: id of the place; None for the end of its newest branch.
    """
    state = whole.state if checkpoint is None else whole.state_at(checkpoint)
    if state is None:
        return None
    return PastRun(whole.events, state, checkpoint, len(whole.events), whole)


def at_request(past: PastRun, number: int) -> PastRun | None:
    """Return the run before the request of an iteration of its branch; None if there is none."""
    whole = past.to_take_up
    at = whole.tree.get(past.checkpoint or 0)
    while at is not None and (at.place, at.iteration) != (PausePoint.BEFORE_REQUEST, number):
        at = whole.tree.get(at.parent or 0)
    return past_run(whole, at.id) if at is not None else None


def with_results_of(plan: RunPlan, past: PastRun) -> RunPlan:
    """Return the plan with tools that return the past run's results for identical calls."""
    recording = replay.Reenactment(replay.branch_path(past.events, past.last)).recording

    async def open_toolbox() -> RunToolbox:
        return replay.RecordedTools((await plan.with_tools()).toolbox, recording)

    return replace(plan, open_toolbox=open_toolbox)


def from_here(past: PastRun, plan: RunPlan) -> tuple[ForkFrom, *tuple[Command, ...]]:
    """Return the commands that continue from a place with the current prompt.

    A loop that renders the prompt for each request renders this one; otherwise the first messages
    of the run are replaced. The later steps of the run are kept.

    Args:
        past: the run at one of its places.
        plan: the plan to continue with.

    Raises:
        ModelError: the prompt cannot be rendered, or the run began with other messages.
    """
    state, setup, place = past.state, past.setup, past.checkpoint or 0
    is_same = setup.source == plan.document.source.text and setup.inputs == plan.inputs
    if is_same or state.place != PausePoint.BEFORE_REQUEST:
        return (ForkFrom(place),)
    tree = past.to_take_up.tree
    before = tree.get(place)
    while before is not None and before.place != PausePoint.STEP_END:
        before = tree.get(before.parent or 0)
    if before is not None and loop_of(setup.protocol).rerenders:
        return (ForkFrom(before.id),)
    made: list[Event] = []
    secrets = run_secrets(plan.references, plan.document, None)
    Performer(plan, plan.model, plan.options, made.append, secrets=secrets).render(new_state(setup))
    began, now = messages_of(state, 1), state.step.messages
    if not isinstance(made[0], Rendered):
        raise ModelError("render", "The current prompt cannot be rendered.", str(made[0]))
    if tuple(now[: len(began)]) != tuple(began):
        words = "The request does not start with the prompt's messages: it was edited or shortened."
        raise ModelError("edited", words, "Run the prompt again with these results instead.")
    return ForkFrom(place), MessagesEdited((*made[0].messages, *now[len(began) :]))


def exactly(
    past: PastRun, references: ReferenceContext | None = None, options: RunOptions | None = None
) -> RunPlan:
    """Return the plan of the same run without calls of models and tools, with all edits.

    Args:
        past: the run.
        references: context that resolves the prompt's `${…}` references.
        options: breakpoints and options that differ from those of the run.
    """
    path = replay.branch_path(past.events, past.last)
    if path and isinstance(path[-1], Stopped):
        path.pop()  # the stop of the run is not part of the path
    setup, wanted = past.setup, options or RunOptions()
    reenactment = replay.Reenactment(path)
    # Nothing outside is called, so no call needs approval.
    specs = tuple(replace(spec, has_effects=False) for spec in setup.tools)
    return RunPlan(
        past.document,
        setup.inputs,
        replay.RecordedModel(reenactment.recording.calls),
        replay.RecordedTools(replay.RecordedSpecs(specs), reenactment.recording, live=False),
        options=replace(
            wanted,
            protocol=wanted.protocol or setup.protocol,
            limits=wanted.limits or setup.limits,
            stop=setup.stop,
            approve="always",
            repairs=setup.repairs,
            plain_is_final=setup.plain_is_final,
            parallel=setup.parallel,
            context_budget=setup.context_budget,
        ),
        references=references,
        reenactment=reenactment,
    )


def values_of(
    past: PastRun, now: JsonObject, references: ReferenceContext | None = None
) -> GivenInputs:
    """Return the values for repeating a past run: its own, and those of newer inputs.

    Args:
        past: the run.
        now: the current values.
        references: context that resolves the secrets among its own values.

    Raises:
        ModelError: one of them has no value here.
    """
    given = revealed_inputs(past.setup.inputs, past.state.released, references)
    return GivenInputs({**now, **given})


def is_other_prompt(past: PastRun, path: Path | None) -> bool:
    """Return whether a run's prompt is not the file at `path` and can still be opened."""
    was = Path(past.setup.path) if past.setup.path else None
    return was is not None and was != path and was.is_file()
