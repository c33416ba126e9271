"""The setup of a run, and one step of it: request, reply, calls, problems and places to pause."""

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
    """One of them, in the order of one step. Its value is what journals and settings hold."""

    BEFORE_REQUEST = "P1"
    """The request is ready to be sent."""

    REPLY = "P2"
    """The reply is here and not yet read."""

    TOOL_CALL = "P3"
    """A tool call is ready; reached once for each call."""

    OBSERVATION = "P4"
    """A call has a result that the model has not seen; reached once for each call."""

    STEP_END = "P5"
    """The step is done."""

    ANSWER = "P6"
    """The final answer is ready."""

    ERROR = "PX"
    """Something went wrong."""

    @property
    def word(self) -> str:
        """The name that users write: `before_request`."""
        return self.name.lower()

    @classmethod
    def of(cls, text: str) -> PausePoint | None:
        """Return the point named by a word (`tool_call`) or an old code (`P3`); None for others."""
        wanted = text.strip().lower().replace("-", "_")
        return next((each for each in cls if wanted in (each.word, each.value.lower())), None)


@dataclass(frozen=True, slots=True)
class RenderPrompt:
    """Render the prompt for a step. Answered by `Rendered` or `RenderFailed`."""

    iteration: int
    """The step's number."""


@dataclass(frozen=True, slots=True)
class TrimContext:
    """Make the conversation fit its budget. Answered by `ContextTrimmed`."""

    budget: int
    """Characters."""


@dataclass(frozen=True, slots=True)
class CallModel:
    """Send the step's messages (`request_of`), the same at every try.

    Answered by `ModelCalled`, then `ModelReplied` or `ModelFailed`.
    """

    attempt: int
    """Which try, from 1."""

    after: float = 0.0
    """Seconds to wait first (back-off)."""


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
    """Decide whether a call runs, asking where the rules say so. Answered by `CallDecided`."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class RunTools:
    """Run calls, several at once. Each gives `ToolCalled`, then `ToolEnded` or `OutcomeLost`."""

    calls: tuple[int, ...]
    """Rows of the step, in call order."""


@dataclass(frozen=True, slots=True)
class AskOutcome:
    """Only the user knows whether a call ran. Answered by `OutcomeTold`."""

    call: int
    """Row of the step."""


@dataclass(frozen=True, slots=True)
class CheckAnswer:
    """Compare the answer with the declared outputs. Answered by `AnswerChecked`."""

    answer: str
    """The answer."""


@dataclass(frozen=True, slots=True)
class Pass:
    """Go on from a place that no other effect follows. Answered by `Passed`."""

    place: PausePoint
    """Which."""


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
"""Closed: consumers `match` and `assert_never`."""


# The setup of a run; the same for its whole life.


@dataclass(frozen=True, slots=True)
class Limits:
    """The limits at which a run pauses; None means no limit."""

    iterations: int | None = 10
    """Model calls."""

    tokens: int | None = None
    """Input and output tokens over all model calls."""

    cost: float | None = None
    """US dollars."""

    seconds: float | None = None
    """Time spent in model and tool calls (waiting for the user does not count)."""

    reply: int | None = None
    """Tokens of one reply, where the user allowed this run more; None: as the prompt says."""


@dataclass(frozen=True, slots=True)
class ReadingStyle:
    """The format of replies that a prompt asks for."""

    free_text: bool = False
    """`Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run ("Answer", "AI")."""

    looped: frozenset[str] = frozenset()
    """Variables that the template loops over."""


_RECORDED = " (recording)"
"""Ends the name of a model whose calls were written down in journals of up to 0.1."""


@dataclass(frozen=True, slots=True)
class RunModel:
    """Which model answers a run, in words that stay when the program is gone."""

    name: str = ""
    """Its name for people."""

    id: str = ""
    """The id that the server knows it by; empty where it is on no server, and in older journals."""

    provider: str = ""
    """Its provider, as OpenTelemetry names it; empty as above."""

    server: str = ""
    """Its server, without path and credentials; empty as above."""

    price: str = ""
    """Source of the price of its tokens; "unknown", or empty for a free model."""

    def is_same(self, other: RunModel) -> bool:
        """Return whether both are one model; older journals know no more than its name."""
        if self.name.removesuffix(_RECORDED) != other.name.removesuffix(_RECORDED):
            return False
        return not self.id or not other.id or (self.id, self.server) == (other.id, other.server)


@dataclass(frozen=True)
class RunSetup:
    """The setup of a run; the same for its whole life."""

    run: str
    """The run's id."""

    prompt: str = ""
    """Name of the prompt, for people."""

    path: str = ""
    """The prompt file, where there is one."""

    program: str = ""
    """Command line of the program whose calls were recorded; empty for the run of a prompt. Each of
    its requests brings the whole conversation, so every step begins with the program's messages."""

    source: str = ""
    """The prompt's text as it was at the start (the store keeps each text once)."""

    protocol: ProtocolName = "native"
    """Protocol between the loop and the model."""

    protocol_reason: str = ""
    """Reason why this one."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """Values by input name."""

    question: str = ""
    """The user's question in plain words."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that the model may use."""

    model: str = ""
    """The model's name for people."""

    model_id: str = ""
    """The id that the server knows it by; empty where it is on no server, and in older journals."""

    provider: str = ""
    """Its provider, as OpenTelemetry names it; empty as above."""

    server: str = ""
    """Its server, without path and credentials; empty as above."""

    price: str = ""
    """Source of the price of its tokens; "unknown", or empty for a free model."""

    options: JsonObject = field(default_factory=dict)
    """Sampling options in the document's names."""

    stop: tuple[str, ...] = ()
    """Stop sequences."""

    response_schema: JsonObject | None = None
    """Schema of the declared outputs."""

    limits: Limits = field(default_factory=Limits)
    """Allowances at the start."""

    recorded_seconds: float | None = None
    """Seconds of work of the run that this one replays exactly; None of any other run."""

    parallel: bool = False
    """Whether the calls of one reply run at the same time."""

    headless: bool = False
    """Whether the run has no user to ask: a limit then ends it, the model is informed of errors."""

    final_words: tuple[str, ...] = ()
    """Further words that end a JSON-action run."""

    compose: str = ""
    """Template of the step that writes the answer where the format carries none."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    repairs: frozenset[str] = frozenset()
    """Repairs that are made without asking."""

    repair: Literal["ask", "always", "never"] = "ask"
    """Whether any other repair is offered, made without asking, or neither."""

    reading: ReadingStyle = field(default_factory=ReadingStyle)
    """Format of replies that the prompt asks for."""

    context_budget: int | None = None
    """Characters that the conversation may have before it is trimmed (native only)."""

    @property
    def answered_by(self) -> RunModel:
        """The model that it was started with."""
        return RunModel(self.model, self.model_id, self.provider, self.server, self.price)


# What a reply was read as: action, final answer, refusal, or an error with ways to fix it.

ReadAs: TypeAlias = Literal["thought", "label", "tool", "args", "answer", "reasoning", "ignored"]
"""Meaning of a piece of the raw reply; `ignored` is shown struck through."""

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
"""Reason why a reply (or native call) could not be read; stable, for breakpoints and exports."""


@dataclass(frozen=True, slots=True)
class ReadSpan:
    """A piece of the raw reply and what it was read as."""

    label: ReadAs
    """Meaning of the piece."""

    span: Span
    """Place in code points of `Reply.text` exactly as it came."""

    call: int | None = None
    """Which call of the reading it belongs to, from 0."""


@dataclass(frozen=True, slots=True)
class ReadingWarning:
    """Something that was accepted because its meaning cannot differ, and is shown."""

    code: str
    """Stable word: `text_after_args`, `second_action_ignored`, `invented_observation`, …"""

    message: str
    """One plain sentence for the user."""

    span: Span | None = None
    """Place in the raw reply."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A change that makes the reply readable; applied on request, or always where enabled."""

    name: str
    """Stable word: `trailing_comma`, `single_quotes`, `comments`, `python_words`, …; several
    joined by `+`."""

    title: str
    """Effect of the repair, for a button: "Remove the trailing comma"."""

    before: str
    """The JSON text as it came."""

    after: str
    """The JSON text after the repair."""

    span: Span | None = None
    """Place of `before` in `Reply.text`; None for the arguments of a native call."""

    call: int = 0
    """For a native call: which one, from 0."""

    tool: str = ""
    """For a native call: the tool that it is to name, in place of other arguments."""

    calls: tuple[ToolCall, ...] = ()
    """Native calls that replace the piece of text in `before`."""


@dataclass(frozen=True, slots=True)
class RequestedCall:
    """One tool call that the reply asks for."""

    id: str
    """The provider's identifier, or one made by us."""

    tool: str
    """The tool's name, cleaned of quotes and the like where the protocol allows it."""

    arguments: JsonObject | None
    """The arguments; None where they could not be read (`error` then says why)."""

    text: str
    """Arguments as written in the reply."""

    error: FormatErrorCode | None = None
    """Native calls only: why this call's arguments cannot be read, while its siblings can."""

    message: str = ""
    """The same, as one plain sentence."""

    repairs: tuple[Repair, ...] = ()
    """Repairs that would make them readable."""


@dataclass(frozen=True, slots=True)
class _Read:
    """The common fields of readings."""

    thought: str = ""
    """The model's thought, where it wrote one."""

    reasoning: str = ""
    """Text of `<think>` blocks, and reasoning that came apart from the text."""

    spans: tuple[ReadSpan, ...] = ()
    """Parts of the reply with their meanings, in order of place."""

    warnings: tuple[ReadingWarning, ...] = ()
    """Remarks on accepted parts."""

    kept: str = ""
    """The part of the reply that goes back to the model as history (nothing after the action)."""


@dataclass(frozen=True, slots=True)
class Action(_Read):
    """The model wants tools called."""

    calls: tuple[RequestedCall, ...] = ()
    """At least one; only the native protocol and the queue option give several."""


@dataclass(frozen=True, slots=True)
class Final(_Read):
    """The model has answered."""

    answer: str = ""
    """The answer, verbatim."""

    composed_elsewhere: bool = False
    """Whether the format carries no answer (JSON action with a null input): another prompt
    composes it, or the observations are the answer."""


@dataclass(frozen=True, slots=True)
class Refused(_Read):
    """The model declines; never shown as an answer."""

    text: str = ""
    """Its words."""


@dataclass(frozen=True, slots=True)
class FormatError(_Read):
    """The reply follows no format that can be acted on."""

    code: FormatErrorCode = "empty"
    """Reason."""

    message: str = ""
    """Description of the error, one plain sentence; the model gets the same."""

    repairs: tuple[Repair, ...] = ()
    """Changes that would make it readable, the best first."""

    tool: str = ""
    """The tool that was named, where one was."""

    answer: str = ""
    """Text that "treat as the answer" would take; empty if that makes no sense."""


Reading: TypeAlias = Action | Final | Refused | FormatError
"""Closed: consumers `match` and `assert_never`."""


TimeSpan: TypeAlias = tuple[float, float]
"""A beginning and an end, in seconds since 1970."""

CallStatus: TypeAlias = Literal[
    "asked", "approved", "running", "done", "rejected", "answered", "skipped", "unknown"
]
"""Status of a call. `answered`: the user gave the result. `skipped`: removed by the user.
`unknown`: the call was interrupted and may have run; only the user can decide."""

ResultOrigin: TypeAlias = Literal["live", "recorded", "mock", "person", "studio"]
"""Origin of a reply or a result; `studio` for results that the studio synthesised."""

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
    """One tool call of a step: a row of the run pane."""

    id: str
    """Identifier that the result answers to."""

    tool: str
    """The tool, as the model (or the user) named it."""

    arguments: JsonObject | None
    """The arguments as they will be sent; None where they cannot be read."""

    text: str = ""
    """Text of the arguments as written in the reply."""

    status: CallStatus = "asked"
    """Status of the call."""

    problems: tuple[str, ...] = ()
    """Problems of the call, one plain sentence each; it is not run, and the model gets them."""

    error: ErrorKind | None = None
    """Kind of the problem."""

    repairs: tuple[Repair, ...] = ()
    """Repairs of unreadable arguments."""

    needs_approval: bool = False
    """Whether the run's rules ask the user before this call."""

    why: str = ""
    """Reason why they ask, if the tool's approval does not say it: the tool is new or changed."""

    again: bool = False
    """Whether it has effects and was made before; it is not made again without a question."""

    observation: str | None = None
    """Text that the model will get; None until there is a result."""

    is_error: bool = False
    """Whether the observation is a failure."""

    outcome: ToolOutcome | None = None
    """Outcome of the call, if it ran."""

    origin: ResultOrigin = "live"
    """Origin of the result."""

    bound: tuple[str, ...] = ()
    """Parameters that bindings put in."""

    edited: tuple[str, ...] = ()
    """Parts that the user changed: "tool", "arguments", "observation"."""

    began: float = 0.0
    """Start of the call, in seconds since 1970; 0 if it did not start or was not recorded."""

    @property
    def span(self) -> TimeSpan:
        """When it was asked for and when its result was there."""
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
"""Action of the user at a place: `told` is the outcome of a lost call, `sent` an added message;
another model was chosen (`switched`) or offered and declined (`kept`)."""


@dataclass(frozen=True, slots=True)
class Touch:
    """Something that the user did in a step."""

    kind: TouchKind
    """Kind of the action."""

    place: PausePoint
    """Place."""

    call: int | None = None
    """Row, for what was done to a call."""

    at: float = 0.0
    """Time, in seconds since 1970 UTC; 0 if it was not recorded."""

    text: str = ""
    """Subject: of a model `B instead of A`."""

    @property
    def line(self) -> str:
        """Return it for other programs: `edited tool_call 0 2026-11-23T14:02:11Z`."""
        at = f"{datetime.fromtimestamp(self.at, UTC):%Y-%m-%dT%H:%M:%SZ}" if self.at else ""
        call = "" if self.call is None else str(self.call)
        about = f"({self.text})" if self.text else ""
        return " ".join(filter(None, (self.kind, self.place.value, call, at, about)))


@dataclass(frozen=True, slots=True)
class StepError:
    """The reason for the place `ERROR`, or for a failed run."""

    kind: ErrorKind
    """Kind of the failure."""

    code: str
    """Finer word: a format error's code, a model error's kind, a limit's name."""

    message: str
    """One plain sentence."""

    hint: str = ""
    """Advice to the user."""

    repairs: tuple[Repair, ...] = ()
    """Repairs offered, for a format error."""

    answer: str = ""
    """Text that "treat as the answer" would take; empty if that makes no sense."""

    observation: str = ""
    """Text that the model gets if the run continues; can be edited. Empty if continuing repeats
    the effect (a model call, a rendering) or raises a limit."""

    retryable: bool = False
    """Whether doing the same again may help."""


@dataclass(frozen=True)
class Step:
    """One iteration: a request, its reply, its calls. A card of the run pane."""

    number: int
    """From 1."""

    called: int = 0
    """Sequence number of the `ModelCalled` of its newest try; 0 where no model was called. What
    was sent and received is kept under it."""

    attempt: int = 1
    """Number of the model call's attempt, from 1; a retry sends the same snapshot."""

    messages: Sequence[Message] = ()
    """Messages of the request; in `native` a beginning of the run's conversation, which shares
    its memory."""

    sent: int = 0
    """Number of messages that were sent."""

    reply: Reply | None = None
    """The complete reply."""

    reply_origin: ResultOrigin = "live"
    """Origin of the reply."""

    partial: Reply | None = None
    """Partial reply that broke off or was stopped."""

    reading: Reading | None = None
    """Reading of the reply."""

    warnings: tuple[ReadingWarning, ...] = ()
    """The reading's remarks and the machine's own (`repeated_action`)."""

    calls: tuple[Call, ...] = ()
    """One row per call, in call order."""

    observation: str = ""
    """Text that the model gets apart from tool results: after a format error, or a remark."""

    answer: str | None = None
    """Answer given or changed by the user; None if the reading's own counts."""

    appended: tuple[Message, ...] = ()
    """Messages that this step added to the conversation."""

    repairs: tuple[str, ...] = ()
    """Repairs that were made of its reply, in order."""

    marks: frozenset[str] = frozenset()
    """"edited", "replayed", "mocked", "repaired", "warned", "retried", "forked", "cut"."""

    edited_at: frozenset[PausePoint] = frozenset()
    """Places of the step that the user changed; empty in journals up to 0.1.0."""

    forked_at: PausePoint | None = None
    """Place of the step to which the run last went back; None if it did not."""

    forked_call: int | None = None
    """The row, where that place was one of a call."""

    said: tuple[str, ...] = ()
    """Messages that the user put into its request, at the end of `messages` then."""

    seconds_model: float = 0.0
    """Seconds of the model call, all tries together, the waits between them left out."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None if not measured."""

    at_once: bool = True
    """Whether its calls may run at the same time in a run that allows it."""

    stopped_by: Literal["", "server", "studio", "user"] = ""
    """Whether the reply ended at a stop sequence sent, or was cut by us or by the user."""

    tries: tuple[tuple[float, float], ...] = ()
    """When each try of the model call began and ended, in seconds since 1970; the end of the one
    that is under way is 0."""

    touches: tuple[Touch, ...] = ()
    """Actions of the user in the step, in order."""

    model: RunModel | None = None
    """Model of the request; None for the one with which the run began."""

    @property
    def model_span(self) -> TimeSpan | None:
        """When the first try of the model call began and the last ended; None before."""
        if not self.tries:
            return None
        began, ended = self.tries[0][0], self.tries[-1][1]
        return began, max(began, ended) if len(self.tries) > 1 else began + self.seconds_model

    @property
    def seconds_tools(self) -> float:
        """Seconds in which a tool ran; calls that ran at the same time are not added up."""
        total = until = 0.0
        for began, ended in sorted(call.span for call in self.calls if call.outcome):
            # Journals without a beginning say nothing of what ran beside what.
            total += max(0.0, ended - (max(began, until) if began else 0.0))
            until = max(until, ended) if began else until
        return total

    @property
    def tokens_per_second(self) -> float | None:
        """Output tokens a second, from the request to the end of its reply; None if not counted."""
        usage = self.reply.usage if self.reply is not None else None
        if usage is None or not self.seconds_model or self.reply_origin != "live":
            return None
        return usage.output_tokens / self.seconds_model or None


# `dataclasses.replace`, faster for the large frozen values that the machine copies at every
# event.

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
