"""The inspector's Tool tab as a value: arguments, check, observation, error stream of each call."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TypeAlias

from studio.application.run.debugging.console import LiveOutput, OutputLine
from studio.application.run.text import (
    Block,
    Blocks,
    Piece,
    Style,
    body,
    json_block,
    json_text,
    title,
)
from studio.application.words import marked, tr
from studio.core.agent.loop.steps import request_of
from studio.core.agent.past.replay import RecordedModel
from studio.core.agent.protocols.loops import loop_of, rules_of
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, CallStatus, PausePoint, Reading, RunSetup, Step
from studio.core.models.base import ChatModel, ModelError, answering_model
from studio.core.models.remote.model import RemoteModel
from studio.core.prompty.document import Message, ToolSpec
from studio.core.text.amounts import duration
from studio.core.text.values import Json, JsonObject, parse_json
from studio.core.wire.reply import RefusedOption, Reply
from studio.core.wire.wire_call import CallLookup, WireCall, no_call

# The stored request and response of a step; for the waiting step, the request to be sent.

_READ_WHILE_STREAMING = 8_000
"""Maximum characters of a streaming reply that is read again for its colors. A longer one is
redrawn once without them: 20,000 characters at once took 45 ms (bench_stream).
"""

StepRequest: TypeAlias = WireCall | JsonObject | Block | None
"""The request of a step: as it was sent, as it will be sent, or a sentence in its place; None if
there is nothing to send yet.
"""


@dataclass(frozen=True, slots=True)
class InspectionSources:
    """The sources of data that a `RunState` does not hold."""

    call_of: CallLookup = no_call
    """Function that returns the request and response of a model call."""

    model: ChatModel | None = None
    """Model that is called next; None for a past run."""

    def call(self, step: Step) -> WireCall | None:
        """Return the request and response of the step's model call; None if they are not stored."""
        return self.call_of(step.called) if step.called else None

    def request(self, state: RunState, step: Step) -> StepRequest:
        """Return the request of a step."""
        waits = step is state.step and state.place == PausePoint.BEFORE_REQUEST
        sent = None if waits and self.model is not None else self.call(step)
        if sent is not None:
            return sent
        if step is state.step and step.reply is None and self.model is not None:
            return self._next(state) if step.messages else None
        return Block("note", (Piece(not_kept(state, step), "muted"),)) if step.called else None

    def refused(self, state: RunState, step: Step) -> tuple[RefusedOption, ...]:
        """Return the options that the server rejected, or is known to reject."""
        reply, model = step.reply or step.partial, answering_model(self.model)
        if reply is not None or step is not state.step or not step.messages:
            return reply.refused_options if reply is not None else ()
        return model.sent_body(request_of(state))[1] if isinstance(model, RemoteModel) else ()

    def _next(self, state: RunState) -> JsonObject | Block:
        """Return the body that the model would receive now."""
        assert self.model is not None
        if isinstance(self.model, RecordedModel):
            return Block("note", (Piece(tr(_OF_A_REPLAY), "muted"),))
        try:
            return self.model.request_body(request_of(state))
        except ModelError as error:
            return Block("error", (Piece(f"{error.message} {error.hint}".strip()),))


_OF_A_REPLAY = marked("A replay sends nothing: the reply comes from the recorded run.")


def not_kept(state: RunState, step: Step) -> str:
    """Return the sentence in place of a request or reply that is not stored."""
    if state.setup.recorded_seconds is not None:
        return tr(_OF_A_REPLAY)
    if not step.called:
        return tr("Iteration {number} sent nothing.").format(number=step.number)
    return tr("Not stored: an older version wrote the run, or its model ran in this program.")


def body_of(request: StepRequest) -> Json:
    """Return a request's body as JSON; None if there is none."""
    if not isinstance(request, WireCall):
        return None if isinstance(request, Block) else request
    try:
        value: Json = parse_json(request.body)
    except ValueError:
        return request.body
    return value


def body_text(request: StepRequest) -> str:
    """Return a request's body as indented text for reading and comparing."""
    if isinstance(request, Block):
        return request.text
    body = body_of(request)
    return body if isinstance(body, str) else "" if body is None else json_text(body)


def tools_in(body: Json) -> frozenset[str]:
    """Return the names of the tools that a request's body declares, in the shape of any API."""
    items = body.get("tools") if isinstance(body, Mapping) else None
    names: set[str] = set()
    for item in items if isinstance(items, list) else ():
        held = item if isinstance(item, Mapping) else {}
        listed = held.get("functionDeclarations")
        for each in listed if isinstance(listed, list) else [held.get("function", held)]:
            names.add(str(each.get("name", "")) if isinstance(each, Mapping) else "")
    return frozenset(names)


def reading_for_display(state: RunState, reply: Reply | None) -> Reading | None:
    """Read a partial reply for its colors only; the run reads it again when it is complete.

    The result does not depend on how the text was split into chunks, so reading it again is safe.
    """
    if reply is None or len(reply.text) > _READ_WHILE_STREAMING:
        return None
    return loop_of(state.setup.protocol).read(reply, rules_of(state))


_STATUS: dict[CallStatus, str] = {
    "asked": marked("requested, not run yet"),
    "approved": marked("approved, about to run"),
    "running": marked("running…"),
    "done": marked("ran"),
    "rejected": marked("rejected, not run"),
    "answered": marked("answered by you, not run"),
    "skipped": marked("skipped, not run"),
    "unknown": marked("interrupted: it is unknown whether it ran"),
}

_OUTCOMES = {
    "ok": marked("ran"),
    "error": marked("failed"),
    "timeout": marked("timed out"),
    "cancelled": marked("cancelled"),
    "crashed": marked("crashed"),
    "unknown-tool": marked("no such tool"),
    "bad-arguments": marked("bad arguments"),
}

_LONGEST = 200_000
"""Maximum characters of a shown observation or error stream."""


def tool_blocks(
    step: Step, setup: RunSetup, only: int | None = None, output: LiveOutput | None = None
) -> Blocks:
    """Show the calls of a step.

    Args:
        step: the step.
        setup: the run's setup, for the tools' declarations.
        only: row of the one call to show; None shows all.
        output: output of the calls while they ran.
    """
    blocks: list[Block] = []
    for row, call in enumerate(step.calls):
        if only is None or row == only:
            lines = output.of(step.number, row) if output is not None else ()
            blocks += _call_blocks(call, row, len(step.calls), setup, lines)
    return tuple(blocks)


def _call_blocks(
    call: Call, row: int, count: int, setup: RunSetup, said: Sequence[OutputLine]
) -> list[Block]:
    spec = next((spec for spec in setup.tools if spec.name == call.tool), None)
    notes = [] if count == 1 else [tr("call {row} of {count}").format(row=row + 1, count=count)]
    notes += [_status(call), *_time(call)]
    if spec is not None:
        notes.append(tr("from {source}").format(source=_source(spec.source)))
    blocks = [
        Block(
            "role",
            (Piece(call.tool, "strong"), Piece("   " + " · ".join(notes), "muted")),
            role="tool",
        )
    ]
    edited = tr("edited by you") if {"tool", "arguments"} & set(call.edited) else ""
    blocks.append(title(tr("Arguments"), edited))
    blocks.append(
        json_block(call.arguments)
        if call.arguments is not None
        else body(call.text or tr("(none)"))
    )
    blocks += _check(call, spec)
    if call.observation is not None:
        remark = tr("edited by you") if "observation" in call.edited else ""
        blocks.append(
            title(tr("Error for the model") if call.is_error else tr("Observation"), remark)
        )
        blocks.append(observation_block(call.observation))
    blocks += _cut_blocks(call)
    # The stored stream of a finished call is complete; the live output may lack its end.
    kept = call.outcome.stderr if call.outcome is not None else ""
    if said and not kept:
        live = tr("live") if call.outcome is None else ""
        blocks.append(title(tr("Output"), live))
        blocks.append(body("\n".join(f"{each.seconds:6.1f}  {each.text}" for each in said)))
    elif call.outcome is not None and call.outcome.stderr:
        blocks.append(title(tr("Error stream"), tr("what the tool's process wrote on stderr")))
        blocks.append(_bounded(call.outcome.stderr, "muted", at_end=True))
    return blocks


def _cut_blocks(call: Call) -> list[Block]:
    """Return a note on the shortened answer and its limit, and the whole answer."""
    outcome = call.outcome
    if outcome is None or not outcome.truncated:
        return []
    if not outcome.whole:
        return [Block("warning", (Piece(tr("The output was cut at the limit for tools.")),))]
    words = tr(
        "The model received a part of {count} characters; metadata.agent.tool_output sets its "
        "length and side (head, tail, both)."
    ).format(count=f"{len(outcome.whole):,}")
    return [
        Block("warning", (Piece(words),)),
        title(tr("Whole answer"), tr("stored with the run")),
        observation_block(outcome.whole),
    ]


def observation_block(text: str) -> Block:
    """Return an observation: as colored JSON if it is JSON, else as plain text."""
    if len(text) < _LONGEST and text.lstrip()[:1] in ("{", "["):
        try:
            return json_block(parse_json(text))
        except ValueError:
            pass
    if not text:
        return body(tr("(empty)"), "muted")
    return _bounded(text)


def _bounded(text: str, style: Style = "plain", *, at_end: bool = False) -> Block:
    """Return a text shortened for display; copying takes all of it."""
    left = len(text) - _LONGEST
    if left <= 0:
        return body(text, style)
    words = tr("… {count:,} characters left out here; Copy takes all …").format(count=left)
    lines = (words, text[left:]) if at_end else (text[:_LONGEST], words)
    return replace(body("\n".join(lines), style), whole=lambda: text)


def _check(call: Call, spec: ToolSpec | None) -> list[Block]:
    if call.problems:
        return [Block("error", (Piece(problem),)) for problem in call.problems]
    if spec is None:
        if call.status == "asked":
            return []
        return [Block("note", (Piece(tr("The run's tools do not declare it."), "muted"),))]
    if call.arguments is None:
        return []
    return [Block("note", (Piece(tr("✓ The arguments match the tool's schema."), "muted"),))]


def _source(name: str) -> str:
    """Return a tool's source; `document` is a prompt that declares the tool without its code."""
    return tr("the prompt's declaration") if name == "document" else name


def _status(call: Call) -> str:
    if call.outcome is not None and call.status == "done":
        return tr(_OUTCOMES[call.outcome.status])
    if call.needs_approval and call.status == "asked":
        return tr("is waiting for your approval")
    return tr(_STATUS[call.status])


def _time(call: Call) -> list[str]:
    if call.outcome is None:
        return []
    origin = {"recorded": tr("recorded"), "mock": tr("mocked")}.get(call.origin)
    return [origin] if origin else [duration(call.outcome.duration)]


def truth_blocks(
    step: Step, setup: RunSetup, messages: Sequence[Message], request: StepRequest
) -> Blocks:
    """Return the tool truth table of a step: declared, sent, called, answered.

    Args:
        step: the step.
        setup: the run's setup, for the tools' declarations.
        messages: the messages that the step sent.
        request: the request, whose body shows whether a tool was really sent.
    """
    names = [spec.name for spec in setup.tools]
    names += [call.tool for call in step.calls if call.tool not in names]
    if not names:
        return ()
    width = max(len(name) for name in names)
    columns = (tr("declared"), tr("sent"), tr("called"), tr("answered"))
    lines = [" " * width + "   " + "   ".join(columns)]
    declared = {spec.name for spec in setup.tools}
    sent = _sent(names, setup, messages, request)
    for name in names:
        calls = [call for call in step.calls if call.tool == name]
        answered = [call for call in calls if call.observation is not None]
        cells = (
            "✓" if name in declared else "–",
            "?" if sent is None else "✓" if name in sent else "–",
            str(len(calls)) if calls else "–",
            str(len(answered)) if answered else "–",
        )
        row = "   ".join(
            cell.center(len(column)) for cell, column in zip(cells, columns, strict=True)
        )
        lines.append(f"{name.ljust(width)}   {row}")
    return (title(tr("Tools in this step")), body("\n".join(lines)))


def _sent(
    names: Sequence[str], setup: RunSetup, messages: Sequence[Message], request: StepRequest
) -> frozenset[str] | None:
    """Return the tools of the request: beside its messages, or written into them.

    None if unknown because its body is not stored.
    """
    if setup.protocol == "native":
        body = body_of(request)
        return tools_in(body) if body is not None else None
    text = "\n".join(message.text for message in messages if message.origin.source != "run")
    return frozenset(name for name in names if re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text))
