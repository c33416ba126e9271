"""One turn of a run on a time axis: the reply and each call, with waits and failures."""

from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.application.run.cards.card import CardKind
from studio.application.run.diagram import lane_of
from studio.application.run.words import arguments_line, plural, rate_of, tokens
from studio.application.words import tr
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, Step
from studio.core.text.amounts import duration

BarTone: TypeAlias = Literal["wait", "model", "tool", "failed", "held"]
"""`wait`: before the first token of a reply, and between attempts; `held`: waits for the user."""


@dataclass(frozen=True, slots=True)
class WaterfallBar:
    """A span of time."""

    begin: float
    """Seconds from the beginning of the turn to its start."""

    end: float | None
    """Seconds from the beginning of the turn to its end; None while it continues."""

    tone: BarTone
    """Kind of work that takes the time."""


@dataclass(frozen=True, slots=True)
class WaterfallRow:
    """The reply, or one call."""

    kind: CardKind
    """Kind of the card that the row leads to."""

    call: int | None
    """Row in the step, for a call."""

    title: str
    """Name of the model or the tool."""

    detail: str = ""
    """Description of the work, on one line."""

    bars: tuple[WaterfallBar, ...] = ()
    """Bars of the row, in order."""

    tail: str = ""
    """Text after the last bar."""

    total: str = ""
    """Duration of the work; empty while it continues."""


@dataclass(frozen=True, slots=True)
class Waterfall:
    """The time axis of a turn."""

    step: int = 0
    """Number of the step; 0 if nothing can be shown."""

    began: float = 0.0
    """Time when it began, in seconds since 1970."""

    rows: tuple[WaterfallRow, ...] = field(default=())
    """The reply first, then the calls."""

    words: str = ""
    """Summary on one line: `4 calls at once: 1 done, 2 running, 1 failed`."""

    @property
    def is_moving(self) -> bool:
        """Whether work continues, so that the picture grows with time."""
        return any(bar.end is None for row in self.rows for bar in row.bars)

    def span(self, now: float) -> float:
        """Return the length of the axis in seconds.

        Args:
            now: the time, in seconds since 1970, up to which running work is drawn.
        """
        ends = [bar.end for row in self.rows for bar in row.bars if bar.end is not None]
        if self.is_moving:
            ends.append(now - self.began)
        return max(ends, default=0.0)


def waterfall_of(state: RunState, step: Step) -> Waterfall:
    """Return a turn on its time axis; empty if the times were not recorded.

    Args:
        state: the run.
        step: the turn.
    """
    if not step.tries or not step.tries[0][0]:
        return Waterfall()
    began = step.tries[0][0]
    is_now = step is state.step and not state.is_over
    rows = [_reply_row(step, began, is_now=is_now)]
    rows += [
        _call_row(row, call, step, began, is_now=is_now) for row, call in enumerate(step.calls)
    ]
    return Waterfall(step.number, began, tuple(rows), _words(step))


def _words(step: Step) -> str:
    count = len(step.calls)
    if count < 2:
        return ""
    lanes = [lane_of(row, call) for row, call in enumerate(step.calls)]
    counted = (
        (tr("{count} done"), "done"),
        (tr("{count} running"), "running"),
        (tr("{count} waiting"), "waits"),
        (tr("{count} failed"), "failed"),
    )
    lines = [
        words.format(count=found)
        for words, phase in counted
        if (found := sum(lane.phase == phase for lane in lanes))
    ]
    return " · ".join([plural(count, "call"), *lines])


def _reply_row(step: Step, began: float, *, is_now: bool) -> WaterfallRow:
    bars: list[WaterfallBar] = []
    for number, (start, end) in enumerate(step.tries, 1):
        is_last = number == len(step.tries)
        close = None if not end and is_now and is_last else max(end, start) - began
        begin = start - began
        if bars and bars[-1].end is not None and begin > bars[-1].end:
            bars.append(WaterfallBar(bars[-1].end, begin, "wait"))
        first = step.first_seconds if is_last and step.reply is not None else None
        if first is not None and close is not None:
            bars.append(WaterfallBar(begin, min(begin + first, close), "wait"))
            begin = min(begin + first, close)
        came = step.reply is not None or close is None
        tone: BarTone = "model" if is_last and came else "failed"
        bars.append(WaterfallBar(begin, close, tone))
    usage = step.reply.usage if step.reply is not None else None
    detail = ""
    if step.first_seconds is not None:
        detail = tr("first word after {time}").format(time=duration(step.first_seconds))
    facts = [tokens(usage.output_tokens)] if usage is not None and usage.output_tokens else []
    facts += [rate] if (rate := rate_of(step)) else []
    total = duration(step.seconds_model) if step.reply is not None else ""
    tail = " · ".join(facts)
    return WaterfallRow("reply", None, tr("Model"), detail, tuple(bars), tail, total)


def _call_row(row: int, call: Call, step: Step, began: float, *, is_now: bool) -> WaterfallRow:
    lane = lane_of(row, call)
    detail = arguments_line(call.arguments, call.text)
    kind: CardKind = "action" if call.observation is None else "observation"
    bars: tuple[WaterfallBar, ...] = ()
    total, tail = "", lane.words if lane.phase != "done" else ""
    if call.began:
        spent = call.outcome.duration if call.outcome is not None else 0.0
        begin = call.began - began
        runs = call.status == "running" and is_now
        tone: BarTone = "failed" if lane.phase == "failed" else "tool"
        bars = (WaterfallBar(begin, None if runs else begin + spent, tone),)
        total = "" if runs else duration(spent)
    elif lane.phase == "waits" and is_now and step.tries[-1][1]:
        bars = (WaterfallBar(step.tries[-1][1] - began, None, "held"),)
        tail = tr("is waiting for your approval")
    return WaterfallRow(kind, row, call.tool, detail, bars, tail, total)
