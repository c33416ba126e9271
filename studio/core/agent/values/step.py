"""The setup of a run, and one step of it: request, reply, calls, problems and pause points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from typing import TYPE_CHECKING, Literal, TypeAlias

from studio.core.models.base import ProtocolName
from studio.core.prompty.document import Message, ToolSpec
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply, ToolCall

# The points of a step at which a run can pause (docs/design/agent-loop.md).


class PausePoint(StrEnum):
    """A pause point, in the order of one step. Its value is stored in journals and settings."""

    BEFORE_REQUEST = "P1"
    """The request is ready to be sent."""

    REPLY = "P2"
    """The reply has arrived and is not yet read."""

    TOOL_CALL = "P3"
    """A tool call is ready to run; reached once for each call."""

    OBSERVATION = "P4"
    """A call has a result that the model has not received; reached once for each call."""

    STEP_END = "P5"
    """The step is complete."""

    ANSWER = "P6"
    """The final answer is ready."""

    ERROR = "PX"
    """Something went wrong."""

    @property
    def word(self) -> str:
        """The user's name for it: `before_request`."""
        return self.name.lower()

    @classmethod
    def of(cls, text: str) -> PausePoint | None:
        """Return the pause point for a word (`tool_call`) or an old code (`P3`); else None."""
        wanted = text.strip().lower().replace("-", "_")
        return next((each for each in cls if wanted in (each.word, each.value.lower())), None)


@dataclass(frozen=True, slots=True)
class RenderPrompt:
    """Render the prompt for a step. Answered by `Rendered` or `RenderFailed`."""

    iteration: int
    """The step's number."""


@dataclass(frozen=True, slots=True)
class TrimContext:
    """Trim the conversation to its budget. Answered by `ContextTrimmed`."""

    budget: int
    """Budget in characters."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """Send the step's messages (`request_of`), the same at every attempt.

    Answered by `ModelCalled`, then `ModelReplied` or `ModelFailed`.
    """

    attempt: int
    """Number of the attempt, from 1."""

    after: float = 0.0
    """Seconds to wait before it (back-off)."""


@dataclass(frozen=True, slots=True)
class ReadReply:
    """Read a reply by the run's protocol. Answered by `ReplyRead`."""

    reply: Reply
    """The reply."""


@dataclass(frozen=True, slots=True)
class CheckCalls:
    """Check the step's calls against tools, schemas and rules. Answered by `CallsChecked`."""


@dataclass(frozen=True, slots=True)
class DecideCall:
    """Decide whether a call runs; ask if the rules say so. Answered by `CallDecided`."""

    call: int
    """Row of the call in the step."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run calls, several at once. Each causes `ToolCalled`, then `ToolEnded` or `OutcomeLost`."""

    calls: tuple[int, ...]
    """Rows of the calls in the step, in call order."""


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Ask the user whether an interrupted call ran. Answered by `OutcomeTold`."""

    call: int
    """Row of the call in the step."""


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Compare the answer with the declared outputs. Answered by `AnswerChecked`."""

    answer: str
    """The answer."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Continue from a pause point that no other effect follows. Answered by `Passed`."""

    place: PausePoint
    """The pause point."""


Effect: TypeAlias = (
    RenderPrompt
    | TrimContext
    | CallModel
    | ReadReply
    | CheckCalls
    | DecideCall
    | RunTools
    | AskOutcome
    | CheckAnswer
    | Pass
)
"""All effects, a closed union: consumers use `match` and `assert_never`."""


# The setup of a run, which never changes.


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits at which a run pauses; None means no limit."""

    iterations: int | None = 10
    """Number of model calls."""

    tokens: int | None = None
    """Input and output tokens of all model calls."""

    cost: float | None = None
    """Cost in US dollars."""

    seconds: float | None = None
    """Seconds of model and tool calls, without waiting for the user."""

    reply: int | None = None
    """Tokens of one reply, if the user raised them for this run; None for the prompt's setting."""


@dataclass(frozen=True, slots=True)
class ReadingStyle:
    """The format of replies that a prompt asks for."""

    free_text: bool = False
    """Whether the prompt asks for `Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run ("Answer", "AI")."""

    looped: frozenset[str] = frozenset()
    """Variables that the template loops over."""


_RECORDED = " (recording)"
"""Suffix of a recorded model's name in journals up to 0.1."""


@dataclass(frozen=True, slots=True)
class RunModel:
    """The model that answers a run, as values that remain valid after the program ends."""

    name: str = ""
    """Name for the user."""

    id: str = ""
    """Id on the server; empty if it is on no server, and in older journals."""

    provider: str = ""
    """Provider as named by OpenTelemetry; empty if it is on no server, and in older journals."""

    server: str = ""
    """Server, without path and credentials; empty if it is on none, and in older journals."""

    price: str = ""
    """Source of the token price; "unknown", or empty for a free model."""

    def is_same(self, other: RunModel) -> bool:
        """Return whether both are the same model; older journals contain only its name."""
        if self.name.removesuffix(_RECORDED) != other.name.removesuffix(_RECORDED):
            return False
        return not self.id or not other.id or (self.id, self.server) == (other.id, other.server)


@dataclass(frozen=True)
class RunSetup:
    """The setup of a run, which never changes."""

    run: str
    """The run's id."""

    prompt: str = ""
    """Name of the prompt for the user."""

    path: str = ""
    """Path of the prompt file; empty if there is none."""

    program: str = ""
    """Command line of the program whose calls were recorded; empty for the run of a prompt. Each of
    its requests contains the whole conversation, so every step begins with the program's messages.
    """

    recording: str = ""
    """Tag of the recording that it is exported with; empty in the history."""

    source: str = ""
    """The prompt's text at the start (the store keeps each text once)."""

    protocol: ProtocolName = "native"
    """Protocol between the loop and the model."""

    protocol_reason: str = ""
    """Reason why this protocol was chosen."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Values by input name."""

    question: str = ""
    """The user's question as plain text."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that the model may use."""

    model: str = ""
    """Name of the model for the user."""

    model_id: str = ""
    """Id on the server; empty if it is on no server, and in older journals."""

    provider: str = ""
    """Provider as named by OpenTelemetry; empty if it is on no server, and in older journals."""

    server: str = ""
    """Server, without path and credentials; empty if it is on none, and in older journals."""

    price: str = ""
    """Source of the token price; "unknown", or empty for a free model."""

    options: JsonObject = field(default_factory=dict)
    """Sampling options under the document's names."""

    stop: tuple[str, ...] = ()
    """Stop sequences."""

    response_schema: JsonObject | None = None
    """Schema of the declared outputs."""

    limits: Limits = field(default_factory=Limits)
    """Limits at the start."""

    recorded_seconds: float | None = None
    """Seconds of work of the run that this one replays exactly; None for other runs."""

    parallel: bool = False
    """Whether the calls of one reply run in parallel."""

    headless: bool = False
    """Whether the run has no user to ask: a limit then ends it, and the model is informed of
    errors.
    """

    final_words: tuple[str, ...] = ()
    """Further action names that end a JSON-action run."""

    compose: str = ""
    """Template of the step that writes the answer if the protocol's last reply has none."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    repair: Literal["ask", "always", "never"] = "ask"
    """Whether any other repair is offered, made without asking, or not offered."""

    reading: ReadingStyle = field(default_factory=ReadingStyle)
    """Format of the replies that the prompt asks for."""

    context_budget: int | None = None
    """Characters above which the conversation is trimmed (native only)."""

    @property
    def answered_by(self) -> RunModel:
        """The model at the start of the run."""
        return RunModel(self.model, self.model_id, self.provider, self.server, self.price)


# The reading of a reply: action, final answer, refusal, or an error with repairs.

ReadAs: TypeAlias = Literal["thought", "label", "tool", "args", "answer", "reasoning", "ignored"]
"""Meaning of a part of the raw reply; `ignored` is shown struck through."""

FormatErrorCode: TypeAlias = Literal[
    "empty",
    "thought_only",
    "no_labels",
    "no_json_action",
    "no_args",
    "bad_args",
    "truncated",
    "args_not_object",
    "not_finite",
    "duplicate_key",
    "lone_surrogate",
    "no_tool_name",
    "too_deep",
    "filtered",
    "bad_action",
]
"""Reason why a reply or a native call could not be read; stable, for breakpoints and exports."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A part of the raw reply and its meaning."""

    label: ReadAs
    """Meaning of the part."""

    span: Span
    """Span in code points of the unchanged `Reply.text`."""

    call: int | None = None
    """Index of the call in the reading that it belongs to."""


@dataclass(frozen=True, slots=True)
class ReadingWarning:
    """A warning about something that was accepted because its meaning is unambiguous."""

    code: str
    """Stable code: `text_after_args`, `second_action_ignored`, `invented_observation`, …"""

    message: str
    """One plain sentence for the user."""

    span: Span | None = None
    """Span in the raw reply."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A change that makes the reply readable; applied on request, or always where enabled."""

    name: str
    """Stable code: `trailing_comma`, `single_quotes`, `comments`, `python_words`, …; several joined
    by `+`.
    """

    title: str
    """Effect of the repair, for a button: "Remove the trailing comma"."""

    before: str
    """The original JSON text."""

    after: str
    """The JSON text after the repair."""

    span: Span | None = None
    """Span of `before` in `Reply.text`; None for the arguments of a native call."""

    call: int = 0
    """Index of the native call."""

    tool: str = ""
    """Tool that the native call is to name; empty if the arguments are repaired."""

    calls: tuple[ToolCall, ...] = ()
    """Native calls that replace the text of `before`."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """A tool call that a reply requests."""

    id: str
    """Identifier from the provider, or generated."""

    tool: str
    """Name of the tool, without quotes and the like if the protocol allows them."""

    arguments: JsonObject | None
    """The arguments; None if they could not be read (see `error`)."""

    text: str
    """Arguments as written in the reply."""

    error: FormatErrorCode | None = None
    """Native calls only: why this call's arguments cannot be read; others may be readable."""

    message: str = ""
    """Description of the error, one plain sentence."""

    repairs: tuple[Repair, ...] = ()
    """Repairs that would make them readable."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The common fields of readings."""

    thought: str = ""
    """The model's thought; empty if it wrote none."""

    reasoning: str = ""
    """Text of `<think>` blocks, and reasoning received apart from the text."""

    spans: tuple[ReadSpan, ...] = ()
    """The parts of the reply with their meanings, in order."""

    warnings: tuple[ReadingWarning, ...] = ()
    """Warnings about accepted parts."""

    kept: str = ""
    """The part of the reply that is sent back as history (nothing after the action)."""


@dataclass(frozen=True, slots=True)
class Action(_Read):
    """A reading in which the model calls tools."""

    calls: tuple[RequestedCall, ...] = ()
    """The calls, at least one; only the native protocol and the queue option give several."""


@dataclass(frozen=True, slots=True)
class Final(_Read):
    """A reading in which the model answers."""

    answer: str = ""
    """The unchanged answer."""

    composed_elsewhere: bool = False
    """Whether the reply contains no answer (JSON action with a null input): another prompt writes
    it, or the observations are the answer.
    """


@dataclass(frozen=True, slots=True)
class Refused(_Read):
    """A reading in which the model declines; never shown as an answer."""

    text: str = ""
    """The text of the refusal."""


@dataclass(frozen=True, slots=True)
class FormatError(_Read):
    """A reading of a reply that is no valid action or answer."""

    code: FormatErrorCode = "empty"
    """Kind of error."""

    message: str = ""
    """Description of the error, one plain sentence; also sent to the model."""

    repairs: tuple[Repair, ...] = ()
    """Repairs that would make it readable, the best first."""

    tool: str = ""
    """The tool that was named; empty if there is none."""

    answer: str = ""
    """Text that "treat as the answer" would use; empty if there is none."""


Reading: TypeAlias = Action | Final | Refused | FormatError
"""All readings, a closed union: consumers use `match` and `assert_never`."""


TimeSpan: TypeAlias = tuple[float, float]
"""Start and end, in seconds since 1970."""

CallStatus: TypeAlias = Literal[
    "asked", "approved", "running", "done", "rejected", "answered", "skipped", "unknown"
]
"""Status of a call. `answered`: the user gave the result. `skipped`: removed by the user.
`unknown`: interrupted, so it may have run; only the user can decide.
"""

ResultOrigin: TypeAlias = Literal["live", "recorded", "mock", "person", "studio"]
"""Origin of a reply or a result; `studio` for results that the studio generated."""

ErrorKind: TypeAlias = Literal[
    "format",
    "model",
    "unknown_tool",
    "schema",
    "tool",
    "timeout",
    "limit",
    "refusal",
    "repeated_action",
    "guardrail",
    "output",
    "outcome_unknown",
    "render",
    "journal",
]
"""Kind of an `ERROR`; also the names of the exception filters (with `warning`, `truncated`)."""


@dataclass(frozen=True)
class Call:
    """A tool call of a step: a row of the run pane."""

    id: str
    """Identifier, which the result repeats."""

    tool: str
    """Name of the tool as written by the model (or the user)."""

    arguments: JsonObject | None
    """Arguments to send; None if they cannot be read."""

    text: str = ""
    """Text of the arguments as written in the reply."""

    status: CallStatus = "asked"
    """Status of the call."""

    problems: tuple[str, ...] = ()
    """Problems of the call, one plain sentence each; the call is not run, and the model gets them.
    """

    error: ErrorKind | None = None
    """Kind of problem."""

    repairs: tuple[Repair, ...] = ()
    """Repairs of unreadable arguments."""

    needs_approval: bool = False
    """Whether the run's rules ask the user before this call."""

    why: str = ""
    """Reason for the approval if the tool's setting does not explain it: the tool is new or
    changed.
    """

    again: bool = False
    """Whether it has effects and was made before; it is repeated only if the user approves."""

    observation: str | None = None
    """Text for the model; None before there is a result."""

    is_error: bool = False
    """Whether the observation is a failure."""

    outcome: ToolOutcome | None = None
    """Outcome of the call, if it ran."""

    origin: ResultOrigin = "live"
    """Origin of the result."""

    bound: tuple[str, ...] = ()
    """Parameters set by bindings."""

    edited: tuple[str, ...] = ()
    """Parts that the user changed: "tool", "arguments", "observation"."""

    began: float = 0.0
    """Start of the call, in seconds since 1970; 0 if it did not start or was not recorded."""

    @property
    def span(self) -> TimeSpan:
        """Time of the call's start and of its result."""
        return self.began, self.began + (self.outcome.duration if self.outcome else 0.0)


TouchKind: TypeAlias = Literal[
    "edited",
    "repaired",
    "approved",
    "rejected",
    "answered",
    "skipped",
    "told",
    "sent",
    "cut",
    "switched",
    "kept",
]
"""The user's action: `told` sets the outcome of a lost call, `sent` adds a message; another model
was chosen (`switched`) or offered and declined (`kept`).
"""


@dataclass(frozen=True, slots=True)
class Touch:
    """An action of the user in a step."""

    kind: TouchKind
    """Kind of action."""

    place: PausePoint
    """Pause point."""

    call: int | None = None
    """Row of the call, for actions on a call."""

    at: float = 0.0
    """Time, in seconds since 1970 UTC; 0 if it was not recorded."""

    text: str = ""
    """Subject: for a model `B instead of A`."""

    @property
    def line(self) -> str:
        """Return the action for other programs: `edited tool_call 0 2026-11-23T14:02:11Z`."""
        at = f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}" if self.at else ""
        call = "" if self.call is None else str(self.call)
        about = f"({self.text})" if self.text else ""
        return " ".join(filter(None, (self.kind, self.place.value, call, at, about)))


@dataclass(frozen=True, slots=True)
class StepError:
    """The error at the pause point `ERROR`, or of a failed run."""

    kind: ErrorKind
    """Kind of failure."""

    code: str
    """Detail: a format error's code, a model error's kind, a limit's name."""

    message: str
    """Message, one plain sentence."""

    hint: str = ""
    """Advice to the user."""

    repairs: tuple[Repair, ...] = ()
    """Repairs of a format error."""

    answer: str = ""
    """Text that "treat as the answer" would use; empty if there is none."""

    observation: str = ""
    """Text for the model if the run continues; editable. Empty if continuing repeats the effect (a
    model call, a rendering) or raises a limit.
    """

    retryable: bool = False
    """Whether trying again may help."""


@dataclass(frozen=True)
class Step:
    """An iteration: a request, its reply, its calls. A card of the run pane."""

    number: int
    """Number of the step, from 1."""

    called: int = 0
    """Sequence number of the `ModelCalled` event of its last attempt, under which the wire call is
    stored; 0 if no model was called.
    """

    attempt: int = 1
    """Number of the model call's attempt, from 1; a retry sends the same request."""

    messages: Sequence[Message] = ()
    """Messages of the request; for `native` the start of the run's conversation, which shares its
    memory.
    """

    sent: int = 0
    """Number of messages that were sent."""

    reply: Reply | None = None
    """The complete reply."""

    reply_origin: ResultOrigin = "live"
    """Origin of the reply."""

    partial: Reply | None = None
    """Part of a reply that broke off or was stopped."""

    reading: Reading | None = None
    """Reading of the reply."""

    warnings: tuple[ReadingWarning, ...] = ()
    """Warnings of the reading and of the loop (`repeated_action`)."""

    calls: tuple[Call, ...] = ()
    """One row per call, in call order."""

    observation: str = ""
    """Text for the model besides tool results: after a format error, or a remark."""

    answer: str | None = None
    """Answer that the user wrote or changed; None for the reading's answer."""

    appended: tuple[Message, ...] = ()
    """Messages that this step added to the conversation."""

    repairs: tuple[str, ...] = ()
    """Names of the repairs of its reply, in order."""

    marks: frozenset[str] = frozenset()
    """"edited", "replayed", "mocked", "repaired", "warned", "retried", "forked", "cut"."""

    edited_at: frozenset[PausePoint] = frozenset()
    """Pause points at which the user changed the step; empty in journals up to 0.1.0."""

    forked_at: PausePoint | None = None
    """Pause point of the step to which the run last went back; None if it did not."""

    forked_call: int | None = None
    """Row of the call, if that pause point belongs to a call."""

    said: tuple[str, ...] = ()
    """Messages that the user added to its request, at the end of `messages`."""

    seconds_model: float = 0.0
    """Seconds of the model call: all attempts together, without the waits between them."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None if not measured."""

    at_once: bool = True
    """Whether its calls may run in parallel if the run allows it."""

    stopped_by: Literal["", "server", "studio", "user"] = ""
    """Whether the reply ended at a sent stop sequence, or was cut by the studio or by the user."""

    tries: tuple[tuple[float, float], ...] = ()
    """Start and end of each attempt of the model call, in seconds since 1970; the end of a running
    one is 0.
    """

    touches: tuple[Touch, ...] = ()
    """Actions of the user in the step, in order."""

    model: RunModel | None = None
    """Model of the request; None for the run's first one."""

    @property
    def model_span(self) -> TimeSpan | None:
        """Start of the first and end of the last attempt of the model call; None before."""
        if not self.tries:
            return None
        began, ended = self.tries[0][0], self.tries[-1][1]
        return began, max(began, ended) if len(self.tries) > 1 else began + self.seconds_model

    @property
    def seconds_tools(self) -> float:
        """Seconds in which a tool ran; parallel calls are not added up."""
        total = until = 0.0
        for began, ended in sorted(call.span for call in self.calls if call.outcome):
            # Journals without start times do not show which calls ran in parallel.
            total += max(0.0, ended - (max(began, until) if began else 0.0))
            until = max(until, ended) if began else until
        return total

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens per second, over the whole call; None if not counted."""
        usage = self.reply.usage if self.reply is not None else None
        if usage is None or not self.seconds_model or self.reply_origin != "live":
            return None
        return usage.output_tokens / self.seconds_model or None


# `dataclasses.replace`, but faster for the large frozen values that the loop copies at every event.

if TYPE_CHECKING:
    from dataclasses import replace as replace  # noqa: PLC0414 - named again: exported
else:
    import dataclasses

    def replace(value, /, **changes):  # noqa: ANN001, ANN003, ANN201 - typed above
        """Return a copy of a frozen dataclass with some fields changed."""
        held = getattr(value, "__dict__", None)
        if held is None:
            return dataclasses.replace(value, **changes)
        made = object.__new__(type(value))
        made.__dict__.update(held)
        made.__dict__.update(changes)
        return made
