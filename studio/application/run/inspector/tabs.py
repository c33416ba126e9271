"""The inspector as a value: the contents of one tab for one step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from studio.application.run.cards.timeline import StepCard, Tab, step_at
from studio.application.run.debugging.console import LiveOutput, WatchRow, watch_rows
from studio.application.run.inspector.reply import legend_of, reply_blocks, streaming_blocks
from studio.application.run.inspector.tool import (
    InspectionSources,
    StepRequest,
    body_of,
    tool_blocks,
    truth_blocks,
)
from studio.application.run.messages import messages_view
from studio.application.run.text import Block, Blocks, Piece, Style, json_block
from studio.application.run.text import body as text_body
from studio.application.run.words import plural, rate_of
from studio.application.words import marked, tr
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Final, Reading, Step
from studio.core.prompty.document import Message
from studio.core.text.amounts import duration, money
from studio.core.text.values import Json
from studio.core.wire.reply import RefusedOption, Reply, Usage
from studio.core.wire.wire_call import WireCall

_BODY_MESSAGES = 400
"""Maximum messages of a request body that is shown whole."""

_BODY_END = 40
"""Messages that are shown at each end of a longer one."""


def opening(messages: Sequence[Message]) -> Sequence[Message]:
    """Return the messages before the model's first one."""
    for index, message in enumerate(messages[:_BODY_END]):
        if message.role in ("assistant", "tool"):
            return messages[: max(1, index)]
    return messages[:_BODY_END]


_USAGE_ROWS = 500
"""Maximum steps in the Usage tab; listing all of a longer run would have to read it first."""


@dataclass(frozen=True, slots=True)
class Inspection:
    """The item that the user looks at."""

    step: int = 0
    """Number of the step; 0 for the current one."""

    tab: Tab = "messages"
    """Selected tab."""

    call: int | None = None
    """Row of one call, in the Tool tab; None for all."""

    only_changes: bool = False
    """For the Messages tab: whether to fold messages that are the same as in the previous step."""

    watches: tuple[str, ...] = ()
    """For the Watch tab: the expressions."""

    moment: StepCard | None = None
    """For the Watch tab: the card at whose moment they are evaluated; None for the run's own."""

    @classmethod
    def of_card(cls, card: StepCard, tab: Tab, *, only_changes: bool) -> Inspection:
        """Return the item that a card opens."""
        return cls(card.step, tab, card.call if tab == "tool" else None, only_changes)


@dataclass(frozen=True, slots=True)
class UsageRow:
    """Usage of one step."""

    label: str
    """`Iteration 2`, or `Total`."""

    cells: tuple[str, ...]
    """Tokens in, out, read from and written to the cache, of reasoning; cost; time to the first
    token, model time, tokens per second, tool time.
    """

    step: int = 0
    """Number of its step; 0 for a sum."""


_USAGE_HEADS: tuple[str, ...] = (
    marked("Iteration"),
    marked("Input"),
    marked("Output"),
    marked("From cache"),
    marked("Cache write"),
    marked("Reasoning"),
    marked("Cost"),
    marked("First word"),
    marked("Model"),
    marked("Speed"),
    marked("Tools"),
)


def usage_heads() -> tuple[str, ...]:
    """Return the column heads of the Usage tab."""
    return tuple(map(tr, _USAGE_HEADS))


@dataclass(frozen=True, slots=True)
class InspectorView:
    """The contents of the inspector."""

    inspection: Inspection = Inspection()
    """Item to show."""

    blocks: Blocks = ()
    """The text of the tab."""

    summary: str = ""
    """One muted line above the text."""

    legend: tuple[tuple[str, Style], ...] = ()
    """Names of the colors in a reply."""

    first_change: int = -1
    """Block to scroll to; -1 for the top."""

    usage: tuple[UsageRow, ...] = ()
    """Rows of the Usage tab, the total last."""

    is_streaming: bool = False
    """Whether the shown reply is still streaming."""

    watches: tuple[WatchRow, ...] = ()
    """Rows of the Watch tab: values at the current place."""


def inspector_view(
    state: RunState | None,
    wanted: Inspection,
    sources: InspectionSources,
    streaming: Reply | None = None,
    reading: Reading | None = None,
    output: LiveOutput | None = None,
) -> InspectorView:
    """Build the inspector's view of a run.

    Args:
        state: the run.
        wanted: step and tab.
        sources: sources of requests and answers.
        streaming: the reply that is still streaming, if the current step is shown.
        reading: how the streaming reply is read so far.
        output: output of the calls while they ran.
    """
    if state is None:
        return InspectorView(wanted, watches=watch_rows(None, wanted.watches))
    step = step_at(state, wanted.step)
    is_current = step is state.step
    view = InspectorView(wanted)
    match wanted.tab:
        case "messages":
            return _messages(view, state, step)
        case "request":
            return _request(view, sources.request(state, step), sources.refused(state, step))
        case "reply":
            if is_current and streaming is not None and step.reply is None:
                blocks = streaming_blocks(streaming, reading)
                return replace(view, blocks=blocks, is_streaming=True)
            shown = step
            if is_current and step.reading is None and reading is not None:
                shown = replace(step, reading=reading)
            error = state.error if is_current else None
            blocks = (*_identity(sources.call(step)), *reply_blocks(shown, error))
            if is_current and state.answer is not None:
                blocks += _answer_blocks(state)
            return replace(view, blocks=blocks, legend=legend_of(shown))
        case "tool":
            blocks = tool_blocks(step, state.setup, wanted.call, output)
            # The tools are sent with every request.
            first, request = opening(step.messages), sources.request(state, step)
            truth = truth_blocks(step, state.setup, first, request)
            return replace(view, blocks=blocks + truth)
        case "usage":
            return replace(view, usage=usage_rows(state))
        case "watch":
            return replace(view, watches=watch_rows(state, wanted.watches))


def _messages(view: InspectorView, state: RunState, step: Step) -> InspectorView:
    before = state.steps[step.number - 2] if 1 < step.number <= len(state.steps) + 1 else None
    sent = step.messages
    earlier = before.messages if before is not None else ()
    shown = messages_view(sent, earlier, only_changes=view.inspection.only_changes)
    edited = tr(" · edited by you") if "edited" in step.marks and step.reply is None else ""
    return replace(
        view, blocks=shown.blocks, summary=shown.summary + edited, first_change=shown.first_change
    )


def _request(
    view: InspectorView, request: StepRequest, refused: Sequence[RefusedOption]
) -> InspectorView:
    if request is None or isinstance(request, Block):
        return replace(view, blocks=(request,) if request is not None else ())
    value, path, marks = body_of(request), "", ""
    if isinstance(request, WireCall):
        whole, path = request.body, f"POST {request.path} · "
        marks = "\n".join(request.marks)
    else:
        whole = json.dumps(value, ensure_ascii=False)
    shown = text_body(value) if isinstance(value, str) else json_block(_without_middle(value))
    words = tr("{size:,} characters of JSON").format(size=len(whole))
    blocks: Blocks = (replace(shown, whole=lambda: whole),)
    # The rest is not part of the body.
    if marks:
        blocks = (Block("note", (Piece(marks, "muted"),), whole=lambda: None), *blocks)
    asked = [Block("warning", (Piece(each.sentence),), whole=lambda: None) for each in refused]
    blocks = (*asked, *blocks)
    return replace(view, blocks=blocks, summary=path + words)


def _without_middle(body: Json) -> Json:
    """Return a body for display: of a long conversation both ends, and a line for the rest.

    Nobody reads a body of 20,000 messages, and showing it would block the window for ten seconds.
    Copying takes the whole body.
    """
    if not isinstance(body, Mapping):
        return body
    shown = dict(body)
    for name in ("messages", "input", "contents"):
        items = body.get(name)
        if isinstance(items, list) and len(items) > _BODY_MESSAGES:
            left = plural(len(items) - 2 * _BODY_END, "message")
            words = tr("… {plural} left out here; Copy takes all …").format(plural=left)
            shown[name] = [*items[:_BODY_END], words, *items[-_BODY_END:]]
    return shown


def _identity(call: WireCall | None) -> Blocks:
    """Return the model and the ids that the server named in its answer."""
    if call is None:
        return ()
    named = (
        call.model,
        call.id,
        tr("request {id}").format(id=call.request_id) if call.request_id else "",
    )
    words = " · ".join(filter(None, named))
    return (Block("note", (Piece(words, "muted"),)),) if words else ()


def _answer_blocks(state: RunState) -> Blocks:
    """Return the parts of an answer that the reply does not show: an edit, flaws, its value."""
    said, answer = state.step.reply, state.answer or ""
    is_said = said is not None and answer in said.text
    blocks = [] if is_said else [text_body(answer)]
    blocks += [Block("warning", (Piece(problem),)) for problem in state.answer_problems]
    reading = state.step.reading
    if isinstance(reading, Final) and reading.composed_elsewhere and not answer:
        text = tr("The format has no text: the observations are the answer.")
        blocks.append(Block("note", (Piece(text, "muted"),)))
    if state.answer_value is not None and not isinstance(state.answer_value, str):
        blocks.append(json_block(state.answer_value))
    return tuple(blocks)


def usage_rows(state: RunState) -> tuple[UsageRow, ...]:
    """Return the usage of each step, for a long run of its newest ones, and the sums."""
    first = max(0, len(state.steps) - _USAGE_ROWS)
    steps = list(state.steps[first:])
    if state.step.number > len(state.steps):
        steps.append(state.step)
    rows = [_usage_row(step) for step in steps if step.number]
    if first:
        rows.insert(0, UsageRow(tr("Iterations 1 to {first:,}").format(first=first), ("…",) * 10))
    total = state.usage
    model = state.seconds - state.seconds_tools
    cells = (
        *_counted(total),
        money(total.cost) or "–",
        "–",
        duration(model),
        "–",
        duration(state.seconds_tools),
    )
    return (*rows, UsageRow(tr("Total"), cells))


def _counted(usage: Usage) -> tuple[str, ...]:
    figures = (
        usage.input_tokens,
        usage.output_tokens,
        usage.cached_tokens,
        usage.cache_write_tokens,
        usage.reasoning_tokens,
    )
    return tuple(f"{each:,}" for each in figures)


def _usage_row(step: Step) -> UsageRow:
    label = tr("Iteration {number}").format(number=step.number)
    usage = step.reply.usage if step.reply is not None else None
    first = "–" if step.first_seconds is None else duration(step.first_seconds)
    rate = rate_of(step) or "–"
    times = (first, duration(step.seconds_model), rate, duration(step.seconds_tools))
    if usage is None:
        return UsageRow(label, (*("–",) * 6, *times), step.number)
    figures = (*_counted(usage), money(usage.cost) or "–")
    return UsageRow(label, (*figures, *times), step.number)
