"""Perform the effects of the loop: render, call the model, check and call tools."""

import asyncio
import time
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field, replace
from typing import Literal, TypeAlias

from studio.core.agent.loop.calls import check_calls, denied_reply, denied_request
from studio.core.agent.loop.context import trim
from studio.core.agent.loop.setup import compose_document, tools_output
from studio.core.agent.loop.steps import flaw_of, request_of
from studio.core.agent.past.replay import RecordedModel
from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.loops import loop_of, reading_style, rules_of
from studio.core.agent.run.plan import ReplyKeeper, RunPlan
from studio.core.agent.run.secrets import RunSecrets, missing_value
from studio.core.agent.values import events
from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action, CallModel, ReadReply, StepError
from studio.core.masking.masker import MissingValueError
from studio.core.models.base import (
    PROTOCOLS,
    ChatModel,
    ModelError,
    ModelRequest,
    nothing_asked,
    prepare_model,
)
from studio.core.prompty.document import (
    Message,
    MessageOrigin,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.prepare import prepare
from studio.core.text.amounts import duration
from studio.core.text.source import Severity
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.tools.source import ToolOutcome, bounded, timed
from studio.core.wire.reply import (
    Finished,
    RefusedOption,
    Reply,
    ReplyDelta,
    ReplyNotice,
    UsageDelta,
    accumulate,
)
from studio.core.wire.schema import answer_schema
from studio.core.wire.wire_call import WireRecorder


def check_answer(schema: JsonObject | None, answer: str) -> tuple[Json, tuple[str, ...]]:
    """Parse and check the answer; (None, ()) if no outputs are declared.

    The answer may be in a code fence. An answer that is not JSON is returned as text.
    """
    if schema is None:
        return None, ()
    brace = answer.find("{")
    before = answer[: max(brace, 0)].strip()
    if brace < 0 or before not in ("", "```", "```json"):
        return None, ("The answer is not a JSON object, which the declared outputs require.",)
    decoded = decode_at(answer, brace)
    if not isinstance(decoded, Decoded):
        return None, (f"The answer is not valid JSON: {decoded.message}.",)
    if answer[decoded.end :].strip("` \t\r\n"):
        return None, ("Other text follows the JSON of the answer.",)
    if not isinstance(decoded.value, dict):
        return None, ("The answer is not a JSON object, which the declared outputs require.",)
    from studio.core.tools.toolbox import check_arguments

    return decoded.value, check_arguments(answer_schema(schema), decoded.value)


Emit: TypeAlias = Callable[[events.Event], None]
"""Function that writes an event and applies it."""

NewRecorder: TypeAlias = Callable[[], WireRecorder | None]
"""Function that returns the recorder of a model call; None if nothing is recorded."""

_OWNED = frozenset({"tools", "tool_names", "history", "agent_scratchpad", "tools_output"})
_LONGEST_WAIT = 60.0
_WORDLESS = (ReplyNotice, RefusedOption, UsageDelta, Finished)
"""Deltas that are not part of the reply's content."""


@dataclass
class Performer:
    """The connection of one run to its model and tools."""

    plan: RunPlan
    """The run's plan."""

    model: ChatModel
    """Model that answers now; can differ from the plan's."""

    options: RunOptions
    """Current options of the run."""

    emit: Emit
    """Function that receives the events."""

    recorder: NewRecorder = lambda: None
    """Function that returns the recorder of the model call that just began."""

    secrets: RunSecrets = field(default_factory=RunSecrets)
    """Masker of replies and results, which restores secrets in requests and calls."""

    partial: Reply | None = None
    """Part of the current reply received so far; kept if the reply breaks off or is stopped."""

    asked_at: float | None = None
    """Time of the request, by `time.perf_counter`; None before it."""

    first_seconds: float | None = None
    """Seconds from the request to the first piece of the reply; None before it."""

    rendered: frozenset[int] = frozenset()
    """Source offsets of the role markers whose messages were rendered."""

    ran: AbstractSet[tuple[str, str]] = frozenset()
    """Calls made on any branch; the user is asked before one with effects is repeated."""

    _calls: dict[int, asyncio.Future[ToolOutcome]] = field(default_factory=dict)
    """The running calls by row."""

    _stopped: set[int] = field(default_factory=set)
    """Rows of the calls that the user stopped."""

    # Prompt ---------------------------------------------------------------------------------------

    def render(self, state: RunState) -> None:
        """Render the prompt for a step."""
        document, looped = self.plan.document, state.setup.reading.looped
        if state.composing:
            document = compose_document(document)
            looped = reading_style(document).looped
        loop = loop_of(state.setup.protocol)
        given = loop.variables(state, looped)
        if state.composing:
            given["tools_output"] = tools_output(state.steps)
        # Loops that render again use their own variables; otherwise the user's values count.
        owns = _OWNED if loop.rerenders or state.composing else frozenset()
        supplied = {name: each for name, each in given.items() if self._supplies(name, owns)}
        owned = {name: value for name, value in supplied.items() if name in owns}
        values: JsonDict = supplied | dict(self.plan.inputs) | owned
        prepared = prepare(document, values, references=self.secrets.rendering(state.released))
        errors = [item.message for item in prepared.problems if item.severity is Severity.ERROR]
        if errors:
            self.emit(events.RenderFailed(" ".join(errors[:3])))
            return
        made = prepared.messages.messages
        markers = (message.origin.marker for message in made)
        self.rendered = frozenset(each.start for each in markers if each is not None)
        messages = tuple(plain(message) for message in made)
        self.emit(events.Rendered(messages, tuple(item.message for item in prepared.problems)))

    def _supplies(self, name: str, owns: AbstractSet[str]) -> bool:
        """Return whether the loop sets a variable: always its own, others if they are no inputs."""
        declared = self.plan.document.input(name)
        return name in owns or declared is None or not (declared.required or declared.has_default)

    def trim(self, state: RunState, budget: int) -> None:
        """Trim the conversation to its budget."""
        messages, dropped = trim(state.conversation, budget)
        self.emit(events.ContextTrimmed(messages, dropped))

    # Model ----------------------------------------------------------------------------------------

    async def call_model(self, state: RunState, effect: CallModel) -> None:
        """Call the model; retry a temporary failure with the same request."""
        if effect.after > 0:
            self._watch(ReplyNotice(f"The model failed; next retry in {duration(effect.after)}."))
            await asyncio.sleep(effect.after)
        reason = denied_request(state, self.options)
        if reason is not None:
            self.emit(events.Failed(StepError("guardrail", "request", reason)))
            return
        request = self.secrets.request(request_of(state), state.released)
        self.partial = self.asked_at = self.first_seconds = None
        unready: Exception | None = None
        try:
            await prepare_model(self.model, lambda text: self._watch(ReplyNotice(text)))
        except Exception as error:  # noqa: BLE001 - shown as the failure of the call
            unready = error
        self.emit(events.ModelCalled(effect.attempt))
        request = replace(request, wire=self.recorder())
        self.asked_at = time.perf_counter()
        try:
            if unready is not None:
                raise unready
            reply, was_cut, seconds = await self._stream(request)
        except Exception as error:  # noqa: BLE001 - the border to foreign code: named and shown
            self.emit(self._failed(_named(error), effect.attempt))
            return
        self.partial = None
        by = self._stopped_by(request, reply, was_cut=was_cut)
        if isinstance(self.model, RecordedModel):
            self.emit(events.ModelReplied(reply, seconds, "recorded", by))
        else:
            self.emit(events.ModelReplied(reply, seconds, "live", by, self.first_seconds))

    @property
    def seconds(self) -> float:
        """Seconds since the current request was sent."""
        return 0.0 if self.asked_at is None else _since(self.asked_at)

    async def _stream(self, request: ModelRequest) -> tuple[Reply, bool, float]:
        """Return the reply, whether it was cut, and its seconds."""
        if not request.messages:
            raise nothing_asked()  # applies also to models that would invent a reply
        reply, mask = Reply(), self.secrets.stream()
        keep = self.plan.kept

        def keep_so_far(came: Reply) -> None:
            if keep is not None:
                keep(came)
            if request.wire is not None and not mask.is_holding:
                request.wire.keep_so_far(holds_secret=bool(mask.found))

        keeper = ReplyKeeper(keep_so_far if keep is not None else None)
        deltas = self.model.stream(request)
        try:
            async for came in deltas:
                for delta in mask.feed(came):
                    reply = accumulate(reply, delta)
                    self.partial = reply
                    keeper.note(reply)
                    if self.first_seconds is None and not isinstance(delta, _WORDLESS):
                        self.first_seconds = self.seconds
                    self._watch(delta, reply)
                if self._invents(request, reply):
                    return replace(reply, finish_reason="stop"), True, self.seconds
        finally:
            keeper.close()
            for delta in mask.close():
                reply = self.partial = accumulate(reply, delta)
            close = getattr(deltas, "aclose", None)
            if close is not None:
                await close()
            if request.wire is not None:
                request.wire.end(holds_secret=bool(mask.found))
        return reply, False, self.seconds

    def _invents(self, request: ModelRequest, reply: Reply) -> bool:
        """Return whether the model began to write an observation, which only a tool can produce."""
        label = PROTOCOLS[request.protocol].result_label
        if not label or label not in reply.text:
            return False
        if len(reply.text[reply.text.rindex(label) :]) > len(label) + 40:
            return False  # searched already
        reading = loop_of(request.protocol).read(reply, ReadRules())
        return isinstance(reading, Action) and any(
            warning.code == "invented_observation" for warning in reading.warnings
        )

    def _stopped_by(
        self, request: ModelRequest, reply: Reply, *, was_cut: bool
    ) -> Literal["", "server", "studio"]:
        if was_cut:
            return "studio"
        sent = request.stop and self.model.capabilities.stop
        if sent and reply.finish_reason == "stop":
            reading = loop_of(request.protocol).read(reply, ReadRules())
            return "server" if isinstance(reading, Action) else ""
        return ""

    def _failed(self, error: ModelError, attempt: int) -> events.ModelFailed:
        retry = None
        may_pass = error.retryable and not error.is_exhausted
        attempts = self.options.attempts if error.retries is None else error.retries + 1
        if may_pass and attempt < attempts:
            retry = min(self.options.backoff * 2 ** (attempt - 1), _LONGEST_WAIT)
        return events.ModelFailed(
            error.kind,
            error.message,
            error.hint,
            error.retryable,
            self.partial,
            self.seconds,
            retry,
            self.first_seconds,
        )

    def _watch(self, delta: ReplyDelta, reply: Reply | None = None) -> None:
        if self.plan.stream is not None:
            self.plan.stream(delta, reply if reply is not None else Reply())

    def read(self, state: RunState, effect: ReadReply) -> None:
        """Read a reply by the run's protocol."""
        reason = denied_reply(state, self.options)
        if reason is not None:
            self.emit(events.Failed(StepError("guardrail", "reply", reason)))
            return
        self.emit(events.ReplyRead(loop_of(state.protocol).read(effect.reply, rules_of(state))))

    # Tools ----------------------------------------------------------------------------------------

    def check_calls(self, state: RunState) -> None:
        """Check the step's calls against tools, schemas and rules."""
        self.emit(check_calls(state, self.plan.toolbox, self.options, self.ran))

    async def run_tools(self, state: RunState, calls: tuple[int, ...]) -> None:
        """Run calls, several at once; a failed one does not stop the others."""
        if not calls:
            return
        if len(calls) == 1:
            await self._run_tool(state, calls[0])
            return
        async with asyncio.TaskGroup() as group:
            for index in calls:
                group.create_task(self._run_tool(state, index))

    async def _run_tool(self, state: RunState, index: int) -> None:
        call = state.step.calls[index]
        started = 0.0

        def asked() -> None:
            nonlocal started
            if not started:
                self.emit(events.ToolCalled(index))
                started = time.perf_counter()

        try:
            self.secrets.look_up(state.released)
            asking = self.plan.toolbox.call(
                call.tool, call.arguments or {}, call.id, state.released
            )
            work = self._calls[index] = asyncio.ensure_future(timed(asking, asked))
            outcome = await work
        except asyncio.CancelledError:
            if index not in self._stopped:
                raise
            outcome = ToolOutcome("The user stopped this call.", "cancelled")
        except Exception as error:  # noqa: BLE001 - the border to foreign code: an observation
            outcome = ToolOutcome(f"Error: {type(error).__name__}: {error}", "error")
        asked()  # for a call that ended before its tool was called
        outcome = replace(outcome, duration=_since(started), pictures=bounded(outcome.pictures))
        self.emit(events.ToolEnded(index, outcome, self.plan.toolbox.origin(call.tool)))

    def stop_call(self, index: int) -> None:
        """Cancel a running call; parallel calls continue."""
        work = self._calls.get(index)
        if work is not None and not work.done():
            self._stopped.add(index)
            work.cancel()

    def check_answer(self, state: RunState, answer: str) -> None:
        """Report the problems of the answer: how it ended, and mismatches with the outputs."""
        value, problems = check_answer(state.setup.response_schema, answer)
        flaw = flaw_of(state)
        if flaw is not None:
            problems = (flaw.message, *problems)
        self.emit(events.AnswerChecked(value, problems))


def _named(error: Exception) -> ModelError:
    """Return an exception of a model call as a `ModelError`."""
    match error:
        case ModelError():
            return error
        case MissingValueError(reference=reference):
            return missing_value(reference)
        case _:
            return ModelError("crashed", f"{type(error).__name__}: {error}")


def _since(started: float) -> float:
    """Return the seconds since `started`, rounded to a microsecond."""
    return round(time.perf_counter() - started, 6)


def plain(message: Message) -> Message:
    """Return a message for the journal: the text, without its segments."""
    parts = tuple(
        replace(part, segments=(), span=None)
        if isinstance(part, TextPart | ToolResultPart)
        else replace(part, span=None, raw=None)
        if isinstance(part, ToolCallPart)
        else replace(part, span=None)
        for part in message.parts
    )
    return replace(message, parts=parts, origin=MessageOrigin(message.origin.source))
