"""Texts for a run's state: the sentence in the pane's bar, short labels, and its limits."""

from dataclasses import dataclass
from typing import Literal

from studio.application.words import marked, tr
from studio.core.agent.protocols.findings import remark
from studio.core.agent.values.breakpoints import HERE
from studio.core.agent.values.state import LimitName, PauseReason, RunState
from studio.core.agent.values.step import Call, PausePoint, Step, StepError
from studio.core.runs.run_index import arguments_text
from studio.core.text.amounts import by_count, duration, money, one_line
from studio.core.text.values import JsonObject

_AT_PLACE = {
    PausePoint.BEFORE_REQUEST: marked("before the request is sent"),
    PausePoint.REPLY: marked("with the reply, before it is acted on"),
    PausePoint.TOOL_CALL: marked("before the tool runs"),
    PausePoint.OBSERVATION: marked("with the tool's result"),
    PausePoint.STEP_END: marked("at the end of the iteration"),
    PausePoint.ANSWER: marked("with the answer, before the run ends"),
}

_WHY: dict[PauseReason, str] = {
    "entry": marked("Ready"),
    "step": marked("Paused"),
    "breakpoint": marked("Breakpoint"),
    "exception": marked("Paused at a problem"),
    "pause": marked("Paused"),
    "approval": marked("Waiting for your approval"),
    "limit": marked("Limit reached"),
    "outcome": marked("Waiting for you"),
}

_ENDS = {
    "done": marked("Done"),
    "incomplete": marked("Ended without a complete answer"),
    "refused": marked("The model refused"),
    "stopped": marked("Stopped"),
    "failed": marked("The run failed"),
    "limit": marked("Ended at a limit"),
    "interrupted": marked("Interrupted"),
}


_WORTH_TELLING = 1.0
"""Minimum time of pauses, in seconds, that is shown beside the run's own time."""


def sentence_of(state: RunState | None) -> str:
    """Describe the state of the run and its reason, as one sentence without a period."""
    if state is None:
        return tr("No run yet")
    if state.is_over:
        return _end(state)
    if state.pause is not None:
        return _pause(state)
    return _under_way(state)


def _end(state: RunState) -> str:
    words = tr(_ENDS[state.status])
    if state.status == "done":
        turns = plural(state.iteration, "iteration")
        if state.waited >= _WORTH_TELLING:
            return tr("{words} in {turns}: worked {seconds}, waited for you {waited}").format(
                words=words, turns=turns, seconds=work_time(state), waited=duration(state.waited)
            )
        return tr("{words} in {turns}, {seconds}").format(
            words=words, turns=turns, seconds=work_time(state)
        )
    if state.error is not None:
        return f"{words}: {bare(state.error.message)}"
    return words


def _pause(state: RunState) -> str:
    pause = state.pause
    if pause is None:
        return ""
    why = tr(_WHY["step" if HERE in pause.breakpoints else pause.reason])
    if pause.place == PausePoint.ERROR:
        # The action bar shows the details; the sentence only names the error, if its card does not.
        error = state.error
        return why if error is None or is_only_title(error) else f"{why}: {error_title(error)}"
    where = tr(_AT_PLACE[pause.place])
    call = call_at(state)
    if call is not None and pause.place in (PausePoint.TOOL_CALL, PausePoint.OBSERVATION):
        where += f": {call.tool}"
        if len(state.step.calls) > 1 and state.call is not None:
            row, count = state.call + 1, len(state.step.calls)
            where += tr(" ({row} of {count})").format(row=row, count=count)
    return f"{why} {where}"


def _under_way(state: RunState) -> str:
    step = state.step
    running = [call.tool for call in step.calls if call.status == "running"]
    if running:
        return tr("The tool runs: {names}").format(names=", ".join(running))
    if state.answer is not None:
        return tr("Checking the answer")
    if step.reply is not None:
        return tr("Reading the reply")
    if step.messages:
        again = tr(" (try {number})").format(number=step.attempt) if step.attempt > 1 else ""
        return tr("The model answers{again}").format(again=again)
    return tr("Rendering the prompt")


def call_at(state: RunState) -> Call | None:
    """Return the call that a pause at `TOOL_CALL` or `OBSERVATION` is about."""
    if state.call is None or state.call >= len(state.step.calls):
        return None
    return state.step.calls[state.call]


def place_in_group(state: RunState) -> tuple[int, int]:
    """Return the position of the current call among those that will run together, and their number.

    (1, 1) for a call that runs alone.
    """
    together = [
        row for row, call in enumerate(state.step.calls) if call.status in ("asked", "approved")
    ]
    if not state.runs_at_once or state.call not in together:
        return 1, 1
    return together.index(state.call) + 1, len(together)


_FLAWS = {
    "cut_answer": marked("The answer was cut off"),
    "filtered_answer": marked("The provider's filter cut off the answer"),
    "empty_answer": marked("The answer is empty"),
}


def is_only_title(error: StepError) -> bool:
    """Return whether a problem's message only repeats its heading."""
    if error.kind == "limit":
        return True  # the action bar names the call
    return error.code in _FLAWS and error.message == remark(error.code).message


def error_title(error: StepError) -> str:
    """Return the heading for a kind of problem."""
    flaw = _FLAWS.get(error.code)
    if error.kind == "output" and flaw is not None:
        return tr(flaw)
    return {
        "format": tr("The reply is invalid"),
        "model": tr("The model did not respond"),
        "unknown_tool": tr("There is no such tool"),
        "schema": tr("The arguments do not match the tool"),
        "tool": tr("The tool failed"),
        "timeout": tr("It took too long"),
        "limit": tr("A limit was reached"),
        "refusal": tr("The model refused"),
        "repeated_action": tr("The same call again"),
        "guardrail": tr("Blocked by a rule"),
        "output": tr("The answer does not match the declared outputs"),
        "outcome_unknown": tr("It is unknown whether the tool ran"),
        "render": tr("The prompt cannot be rendered"),
        "journal": tr("The run could not be saved"),
    }[error.kind]


def arguments_line(arguments: JsonObject | None, raw: str = "") -> str:
    """Return the arguments on one line, as in a call: `city="Rome", days=3`."""
    return one_line(raw if arguments is None else arguments_text(arguments))


def bare(text: str) -> str:
    """Return a sentence without its period, to be inserted into another one."""
    return text.strip().removesuffix(".")


_COUNTED: dict[str, tuple[str, str]] = {
    "call": (marked("1 call"), marked("{count:,} calls")),
    "iteration": (marked("1 iteration"), marked("{count:,} iterations")),
    "line": (marked("1 line"), marked("{count:,} lines")),
    "message": (marked("1 message"), marked("{count:,} messages")),
}


def plural(count: int, word: Literal["call", "iteration", "line", "message"]) -> str:
    """Return a count as text: `1 line`, `2 lines`."""
    one, many = _COUNTED[word]
    return by_count(count, tr(one), tr(many))


def work_time(state: RunState) -> str:
    """Return how long a run worked; for an exact replay, also how long the recorded run did."""
    recorded = state.setup.recorded_seconds
    own = duration(state.seconds)
    if recorded is None:
        return own
    return tr("{own} (recorded: {recorded})").format(own=own, recorded=duration(recorded))


def tokens(count: int) -> str:
    """Return a number of tokens as text."""
    return f"{count:,} tok"


def rate_of(step: Step) -> str:
    """Return the tokens per second of a reply; empty if unknown."""
    rate = step.tokens_per_second
    return tr("{rate:,.0f} tok/s").format(rate=rate) if rate else ""


@dataclass(frozen=True, slots=True)
class LimitLine:
    """One limit of a run."""

    name: LimitName
    """Name of the limit."""

    allowed: float | None
    """Maximum value; None for no limit."""

    words: str
    """Current value and maximum, as text."""

    more: float
    """Maximum after the user allows more."""

    more_words: str
    """Label for raising the limit."""

    question: str
    """Question to the user about raising it."""


def limit_lines(state: RunState) -> tuple[LimitLine, ...]:
    """Return the limits of a run's sums; the limit of a single reply is not one of them."""
    limits = state.limits
    cost = state.usage.cost or 0.0
    return (
        _line("iterations", tr("Iterations"), state.iteration, limits.iterations, 5),
        _line("tokens", tr("Tokens"), state.usage.total_tokens, limits.tokens, 100_000),
        _line("cost", tr("Cost"), cost, limits.cost, 1.0),
        _line("seconds", tr("Working time"), state.seconds, limits.seconds, 600.0),
    )


def _line(
    name: LimitName, title: str, used: float, allowed: float | None, step: float
) -> LimitLine:
    most = _amount(name, allowed) if allowed is not None else tr("no limit")
    more = (allowed if allowed is not None else used) + step
    unit = {"cost": tr("dollars"), "seconds": tr("seconds")}.get(name, title)
    return LimitLine(
        name,
        allowed,
        tr("{title}: {used} of {most}").format(title=title, used=_amount(name, used), most=most),
        more,
        tr("Allow up to {amount}").format(amount=_amount(name, more)),
        tr("The run pauses at this many ({unit}):").format(unit=unit),
    )


def _amount(name: LimitName, value: float) -> str:
    match name:
        case "cost":
            return money(value)
        case "seconds":
            return duration(value)
        case "iterations" | "tokens" | "reply":
            return f"{value:,.0f}"
