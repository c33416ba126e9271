"""The state of a run: immutable values that `studio.core.agent.loop.machine.advance` makes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal, NamedTuple, TypeAlias

from studio.core.agent.values.pause_point import PausePoint
from studio.core.agent.values.persistent_list import PersistentList
from studio.core.agent.values.reading import Reading, ReadingWarning, Repair
from studio.core.agent.values.run_setup import Limits, ReadingStyle, RunModel, RunSetup
from studio.core.models.base import ProtocolName
from studio.core.prompty.messages import Message
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, Usage

__all__ = [
    "Call",
    "CallStatus",
    "Checkpoint",
    "ErrorKind",
    "LimitName",
    "Limits",
    "Pause",
    "PauseReason",
    "ReadingStyle",
    "ResultOrigin",
    "RunModel",
    "RunSetup",
    "RunState",
    "Status",
    "Step",
    "StepError",
    "Touch",
    "TouchKind",
]  # fmt: skip

Status: TypeAlias = Literal[
    "running", "done", "incomplete", "refused", "stopped", "failed", "limit", "interrupted"
]
"""`running` until an end; `incomplete` ended with an answer that is cut, filtered, empty or not
what the declared outputs ask, and that nobody accepted; `limit` is the headless end of a run that
used up an allowance; `interrupted` is a run whose process died."""

CallStatus: TypeAlias = Literal[
    "asked", "approved", "running", "done", "rejected", "answered", "skipped", "unknown"
]
"""`answered`: the user gave the result. `skipped`: removed by the user. `unknown`: the call
was interrupted and nobody knows whether it ran; only the user can say."""

ResultOrigin: TypeAlias = Literal["live", "recorded", "mock", "person", "studio"]
"""Where a reply or a result came from; `studio` for results that the studio had to synthesise."""

ErrorKind: TypeAlias = Literal[
    "format", "model", "unknown_tool", "schema", "tool", "timeout", "limit", "refusal",
    "repeated_action", "guardrail", "output", "outcome_unknown", "render", "journal",
]  # fmt: skip
"""What a `ERROR` is about; also the names of the exception filters (with `warning`,
`truncated`)."""

LimitName: TypeAlias = Literal["iterations", "tokens", "cost", "seconds", "reply"]
"""Allowances of a run."""

PauseReason: TypeAlias = Literal[
    "entry", "step", "breakpoint", "exception", "pause", "approval", "limit", "outcome"
]
"""Why a run stands still, in debugger words."""


@dataclass(frozen=True)
class Call:
    """One tool call of a step: a row of the run pane."""

    id: str
    """Identifier that the result answers to."""

    tool: str
    """The tool, as the model (or the user) named it."""

    arguments: JsonObject | None
    """The arguments as they will be sent; None where they cannot be read."""

    text: str = ""
    """The arguments' text as it stands in the reply."""

    status: CallStatus = "asked"
    """How far it is."""

    problems: tuple[str, ...] = ()
    """What is wrong with it, one plain sentence each; such a call is not run, the model is told."""

    error: ErrorKind | None = None
    """What kind of wrong."""

    repairs: tuple[Repair, ...] = ()
    """Repairs of unreadable arguments."""

    needs_approval: bool = False
    """Whether the run's rules ask the user before this call."""

    why: str = ""
    """Why they ask, where the tool's approval does not say it: the tool is new, or has changed."""

    again: bool = False
    """Whether it has effects and was made before; it is not made again without a question."""

    observation: str | None = None
    """What the model will be told; None until there is a result."""

    is_error: bool = False
    """Whether the observation tells of a failure."""

    outcome: ToolOutcome | None = None
    """How the call really ended, where it ran."""

    origin: ResultOrigin = "live"
    """Where the result came from."""

    bound: tuple[str, ...] = ()
    """Parameters that bindings put in."""

    edited: tuple[str, ...] = ()
    """What the user changed: "tool", "arguments", "observation"."""

    began: float = 0.0
    """When it began to run, in seconds since 1970; 0 where it did not, or nobody wrote it down."""


TouchKind: TypeAlias = Literal[
    "edited", "repaired", "approved", "rejected", "answered", "skipped", "told", "sent", "cut",
    "switched", "kept",
]  # fmt: skip
"""What a person did at a place: `told` is the outcome of a lost call, `sent` a message put in;
another model was taken (`switched`) or was asked about and not taken (`kept`)."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Something that a person did in a step."""

    kind: TouchKind
    """What."""

    place: PausePoint
    """Where."""

    call: int | None = None
    """Row, for what was done to a call."""

    at: float = 0.0
    """When, in seconds since 1970 UTC; 0 where nobody wrote it down."""

    text: str = ""
    """What it was about: of a model `B instead of A`."""


@dataclass(frozen=True, slots=True)
class StepError:
    """Why a run stands at `ERROR`, or how it failed."""

    kind: ErrorKind
    """What sort of failure."""

    code: str
    """Finer word: a format error's code, a model error's kind, a limit's name."""

    message: str
    """One plain sentence."""

    hint: str = ""
    """What to do about it."""

    repairs: tuple[Repair, ...] = ()
    """Repairs offered, for a format error."""

    answer: str = ""
    """What "treat as the answer" would take; empty where it makes no sense."""

    observation: str = ""
    """What the model is told if the run goes on; can be edited. Empty where going on means
    doing the same again (a model call, a rendering) or raising a limit."""

    retryable: bool = False
    """Whether doing the same again may help."""


@dataclass(frozen=True)
class Step:
    """One iteration: a request, its reply, its calls. A card of the run pane."""

    number: int
    """From 1."""

    attempt: int = 1
    """Which try of the model call, from 1; a retry sends the same snapshot."""

    messages: Sequence[Message] = ()
    """What was (or will be) sent; in `native` a beginning of the run's conversation, which shares
    its memory."""

    sent: int = 0
    """How many messages were sent."""

    calls_before: int = 0
    """How many calls the steps before it made."""

    reply: Reply | None = None
    """The reply, whole."""

    reply_origin: ResultOrigin = "live"
    """Where the reply came from."""

    partial: Reply | None = None
    """What had come of a reply that broke or was stopped."""

    reading: Reading | None = None
    """What the reply was read as."""

    warnings: tuple[ReadingWarning, ...] = ()
    """The reading's remarks and the machine's own (`repeated_action`)."""

    calls: tuple[Call, ...] = ()
    """One row per call, in call order."""

    observation: str = ""
    """What the model is told apart from tool results: after a format error, or a remark."""

    answer: str | None = None
    """The answer as the user gave or changed it; None where the reading's own stands."""

    appended: tuple[Message, ...] = ()
    """Messages that this step added to the conversation."""

    repairs: tuple[str, ...] = ()
    """Repairs that were made of its reply, in order."""

    marks: frozenset[str] = frozenset()
    """"edited", "replayed", "mocked", "repaired", "warned", "retried", "forked", "cut"."""

    edited_at: frozenset[PausePoint] = frozenset()
    """Where in the step the user changed something; empty in what journals up to 0.1.0 kept."""

    forked_at: PausePoint | None = None
    """Where in the step the run was gone back to last; None where it was not."""

    forked_call: int | None = None
    """The row, where that place was one of a call."""

    said: tuple[str, ...] = ()
    """Messages that the user put into its request, at the end of `messages` then."""

    seconds_model: float = 0.0
    """Time of the model call."""

    seconds_tools: float = 0.0
    """Time of the tool calls, added up."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None where nobody measured."""

    tokens_per_second: float | None = None
    """Output tokens a second while the reply came; None where that is not known."""

    at_once: bool = True
    """Whether its calls may run at the same time in a run that allows it."""

    stopped_by: Literal["", "server", "studio", "user"] = ""
    """Whether the reply ended at a stop sequence sent, or was cut by us or by the user."""

    tries: tuple[tuple[float, float], ...] = ()
    """When each try of the model call began and ended, in seconds since 1970; the end of the one
    that is under way is 0."""

    touches: tuple[Touch, ...] = ()
    """What a person did in it, in order."""

    model: RunModel | None = None
    """The model that was asked; None: the one that the run began with, nobody chose."""


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
    """Time spent in model and tool calls so far."""

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
