"""The state of a run: immutable values that `studio.core.agent.loop.machine.advance` makes."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.run_setup import Limits, RunModel, RunSetup
from studio.core.agent.values.step import Step, StepError
from studio.core.models.base import ProtocolName
from studio.core.prompty.messages import Message
from studio.core.text.values import Json
from studio.core.wire.reply import Usage

Status: TypeAlias = Literal[
    "running", "done", "incomplete", "refused", "stopped", "failed", "limit", "interrupted"
]
"""`running` until an end; `incomplete` ended with an answer that is cut, filtered, empty or not
what the declared outputs ask, and that nobody accepted; `limit` is the headless end of a run that
used up an allowance; `interrupted` is a run whose process died."""

LimitName: TypeAlias = Literal["iterations", "tokens", "cost", "seconds", "reply"]
"""Allowances of a run."""

PauseReason: TypeAlias = Literal[
    "entry", "step", "breakpoint", "exception", "pause", "approval", "limit", "outcome"
]
"""Why a run stands still, in debugger words."""


@dataclass(frozen=True, slots=True)
class Pause:
    """A run that stands still and waits for the user."""

    place: PausePoint
    """Where."""

    reason: PauseReason
    """Why."""

    breakpoints: tuple[str, ...] = ()
    """Ids of the breakpoints that were hit."""

    text: str = ""
    """A sentence for the user."""

    at: float = 0.0
    """Since when, in seconds since 1970 UTC."""


@dataclass(frozen=True)
class RunState:
    """Everything a run is at one moment."""

    setup: RunSetup
    """What it was started with."""

    status: Status = "running"
    """Whether it goes on, and how it ended."""

    place: PausePoint | None = None
    """The place reached; None between places (an effect is under way)."""

    call: int | None = None
    """At `TOOL_CALL` and `OBSERVATION`: which row of the step."""

    pause: Pause | None = None
    """Set while it waits for the user."""

    iteration: int = 0
    """Number of the current step, from 1; 0 before the first."""

    step: Step = field(default_factory=lambda: Step(0))
    """The current step."""

    steps: PersistentList[Step] = field(default_factory=PersistentList)
    """Steps that are done, in order."""

    conversation: PersistentList[Message] = field(default_factory=PersistentList)
    """`native`: all messages so far. Text protocols: the messages last rendered."""

    settled: PersistentList[Message] = field(default_factory=PersistentList)
    """The conversation as it was when the last step was done."""

    characters: int = 0
    """Size of the conversation, counted where there is a context budget."""

    limits: Limits = field(default_factory=Limits)
    """Allowances now."""

    usage: Usage = field(default_factory=Usage)
    """Tokens and money so far, over leaf model calls."""

    seconds: float = 0.0
    """Seconds of work so far: model calls, and the time in which at least one tool ran."""

    seconds_tools: float = 0.0
    """The part of it that went to tool calls."""

    waited: float = 0.0
    """Seconds in which the run stood still and waited for the user, on the way that is shown."""

    format_errors: int = 0
    """Format errors in a row."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer from now on."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking from now on."""

    past_calls: PersistentList[tuple[str, str]] = field(default_factory=PersistentList)
    """(tool, arguments as JSON text) of the calls of the steps that are done."""

    observations: PersistentList[str] = field(default_factory=PersistentList)
    """What those calls answered."""

    composing: bool = False
    """Whether the step now writes the answer (`RunSetup.compose`); its reply is read as it is."""

    steering: tuple[str, ...] = ()
    """Messages of the user that wait for the next step."""

    injected: tuple[Message, ...] = ()
    """Text protocols: messages put in by the user (and answers they answer to), which follow
    the rendered ones from then on."""

    answer: str | None = None
    """The final answer, once there is one."""

    answer_value: Json = None
    """The answer as a value, where outputs are declared and it fits them."""

    answer_problems: tuple[str, ...] = ()
    """What is wrong with the answer: it is cut, filtered, empty, or does not fit the declared
    outputs."""

    repaired: int = 0
    """Repairs that were made of replies so far."""

    answer_so_far: str = ""
    """What came of an answer that was cut and that the model now goes on with."""

    error: StepError | None = None
    """What a `ERROR` or a failed run is about."""

    released: frozenset[str] = frozenset()
    """References (`${env:NAME}`) whose values the prompt or the user put in; these values are sent,
    of any other secret only the reference."""

    switched_to: RunModel | None = None
    """The model that the user chose last; None: nobody was asked, it is the one it began with."""

    declined: RunModel | None = None
    """The model that the user was asked about last and did not take."""

    @property
    def answered_by(self) -> RunModel:
        """The model that the next request goes to."""
        return self.switched_to or self.setup.answered_by

    @property
    def is_over(self) -> bool:
        """Whether nothing more will happen by itself."""
        return self.status != "running"

    @property
    def runs_at_once(self) -> bool:
        """Whether the calls of the current step run at the same time."""
        return self.setup.parallel and self.step.at_once

    @property
    def protocol(self) -> ProtocolName:
        """How the current step speaks with the model."""
        return "native" if self.composing else self.setup.protocol


class Checkpoint(NamedTuple):
    """A place that a run reached: a node of its tree. Going back is choosing another node.

    A long run has fifty thousand of them when it is opened: no class is made faster.
    """

    id: int
    """Sequence number of the event that reached it."""

    parent: int | None
    """The checkpoint before it; None for the first."""

    place: PausePoint
    """Where."""

    iteration: int
    """Step number."""

    call: int | None
    """Row, at `TOOL_CALL` and `OBSERVATION`."""

    branch: int
    """Branch number: 0 for the first way through, then one more for each fork."""
