"""Rows of the history as values, and the search for runs and model calls."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, TypeAlias

from studio.application.run.inspector.tool import not_kept
from studio.application.words import marked, tr
from studio.core.agent.past.replay import Past
from studio.core.agent.values.breakpoints import NAMES as RUN_NAMES
from studio.core.agent.values.breakpoints import environment_of, moments_of
from studio.core.agent.values.state import RunState, Status, steps_of
from studio.core.models.base import PROTOCOLS
from studio.core.prompty.templates.jinja import conditions
from studio.core.runs.codec import JournalError
from studio.core.runs.rows import CALLED, RECORDING, TRACE, WAITING, Fits, RunSummary
from studio.core.runs.store import RunFilter, RunStore
from studio.core.text.amounts import by_count, duration, money, one_line
from studio.core.text.values import Json, JsonObject
from studio.core.wire.wire_call import WireCall

HEADS: tuple[str, ...] = (
    marked("Prompt"),
    marked("End"),
    marked("Started"),
    marked("Question"),
    marked("Answer"),
    marked("Duration"),
    marked("Model"),
    marked("Tokens"),
    marked("Cost"),
    marked("Model calls"),
    marked("Tool calls"),
    marked("Branches"),
    marked("Protocol"),
    marked("Tags"),
    marked("Note"),
)
"""Titles of the columns, in their default order."""


STATUS_NAMES: dict[Status, str] = {
    "running": marked("running"),
    "done": marked("done"),
    "incomplete": marked("incomplete"),
    "refused": marked("refused"),
    "stopped": marked("stopped"),
    "failed": marked("failed"),
    "limit": marked("limit reached"),
    "interrupted": marked("interrupted"),
}
"""Names of a run's end states."""


SortKey: TypeAlias = str | float
"""Sort key: a number, or a text in lower case."""

RowTone: TypeAlias = Literal["good", "warning", "bad", "plain"]


@dataclass(frozen=True, slots=True)
class HistoryRow:
    """A run as a row of the list."""

    run: RunSummary
    """The run."""

    cells: tuple[str, ...]
    """Texts, one per column."""

    tone: RowTone
    """Tone of the end state, for a color beside the text."""

    keys: tuple[SortKey, ...] = ()
    """Sort keys, one per column."""

    group: str | None = None
    """Heading's common value of a group, whose first run is `run`; None for a normal row."""


def column_head(column: int) -> str:
    """Return the title of a column."""
    return tr(HEADS[column])


def status_name(status: Status) -> str:
    """Return the translated name of a run's end state."""
    return tr(STATUS_NAMES[status])


_WAITS: dict[str, str] = {
    "approval": marked("needs you: approval"),
    "limit": marked("needs you: limit"),
    "outcome": marked("needs you: outcome"),
    "exception": marked("needs you: problem"),
}


def end_of(run: RunSummary) -> str:
    """Return how a run ended; for a waiting run, what it needs."""
    if not run.waits:
        return status_name(run.status)
    return tr(_WAITS[run.waits]) if run.waits in _WAITS else waiting_name()


def waiting_name() -> str:
    """Return the label of runs that wait for the user."""
    return tr("needs you")


def row_of(run: RunSummary, now: datetime) -> HistoryRow:
    """Return the row of a run; a time of the current day has no date."""
    spent = max(0.0, run.updated - run.started)
    protocols: dict[str, str] = {name: facts.name for name, facts in PROTOCOLS.items()}
    cells = (
        ("★ " if run.pinned else "") + (run.prompt or "(unnamed)"),
        end_of(run),
        when(run.started, now),
        one_line(run.question, 120),
        one_line(run.answer, 120),
        duration(spent) if spent else "–",
        run.model,
        f"{run.tokens:,}" if run.tokens else "–",
        money(run.cost) or "–",
        f"{run.calls_model:,}",
        f"{run.calls_tool:,}",
        f"{run.branches + 1:,}" if run.branches else "–",
        protocols.get(run.protocol, run.protocol),
        ", ".join(run.tags),
        one_line(run.note, 120),
    )
    keys: tuple[SortKey, ...] = (
        run.prompt.casefold(),
        (run.waits and WAITING) or run.status,
        run.started,
        run.question.casefold(),
        run.answer.casefold(),
        spent,
        run.model.casefold(),
        run.tokens,
        run.cost or 0.0,
        run.calls_model,
        run.calls_tool,
        run.branches,
        run.protocol,
        " ".join(run.tags).casefold(),
        run.note.casefold(),
    )
    tones: dict[Status, RowTone] = {
        "done": "good",
        "failed": "bad",
        "refused": "warning",
        "incomplete": "warning",
    }
    tone = "warning" if run.waits else tones.get(run.status, "plain")
    return HistoryRow(run, cells, tone, keys)


def when(moment: float, now: datetime) -> str:
    """Return a moment as text for the user."""
    if not moment:
        return ""
    at = datetime.fromtimestamp(moment, now.tzinfo)
    if at.date() == now.date():
        return f"today {at:%H:%M:%S}"
    if at.year == now.year:
        return f"{at.day} {at:%b %H:%M}"
    return f"{at.day} {at:%b %Y}"


# Runs of the history in groups by prompt, model or day, each with a heading and totals.

GroupBy: TypeAlias = Literal["", "prompt", "model", "day", "recording"]
"""Property by which runs are grouped; empty for no groups."""

GROUP_NAMES: dict[GroupBy, str] = {
    "": marked("No groups"),
    "prompt": marked("By prompt"),
    "model": marked("By model"),
    "day": marked("By day"),
    "recording": marked("By recording"),
}


@dataclass(frozen=True, slots=True)
class GroupHead:
    """The heading above the runs of a group."""

    key: str
    """Common value of the group."""

    count: int
    """Number of runs."""

    is_open: bool = True
    """Whether its runs are listed."""


def group_name(by: GroupBy) -> str:
    """Return the name of a grouping for the user."""
    return tr(GROUP_NAMES[by])


def grouped(
    rows: Sequence[HistoryRow], by: GroupBy, closed: Collection[str], now: datetime
) -> tuple[HistoryRow, ...]:
    """Return the rows with a heading for each group, groups in the order of their first rows.

    Args:
        rows: the runs, sorted.
        by: the property by which to group.
        closed: keys of the collapsed groups.
        now: the current time, whose time zone decides the days.
    """
    if not by:
        return tuple(rows)
    groups: dict[str, list[HistoryRow]] = {}
    for row in rows:
        groups.setdefault(_key(row, by, now), []).append(row)
    made: list[HistoryRow] = []
    for key, held in groups.items():
        head = GroupHead(key, len(held), key not in closed)
        made.append(_head_row(head, held))
        if head.is_open:
            made += _nested(held) if by == "recording" else held
    return tuple(made)


def _nested(rows: Sequence[HistoryRow]) -> Iterator[HistoryRow]:
    """Yield rows with each run that answers a call below the run with the call, indented."""
    there = {row.run.id for row in rows}
    below: dict[str, list[HistoryRow]] = {}
    for row in rows:
        caller = row.run.shared_tag(CALLED).removeprefix(CALLED).partition("@")[0]
        below.setdefault(caller if caller in there else "", []).append(row)

    def under(caller: str, indent: str) -> Iterator[HistoryRow]:
        for row in below.pop(caller, ()):
            yield replace(row, cells=(f"{indent}{row.cells[0]}", *row.cells[1:]))
            yield from under(row.run.id, f"{indent}↳ ")

    yield from under("", "")
    while below:  # tags that a user wrote can name each other
        yield from under(next(iter(below)), "")


def _key(row: HistoryRow, by: GroupBy, now: datetime) -> str:
    match by:
        case "model":
            return row.run.model or tr("(no model)")
        case "day":
            if not row.run.started:
                return tr("(no day)")
            day = datetime.fromtimestamp(row.run.started, now.tzinfo).date()
            return tr("today") if day == now.date() else f"{day:%d %b %Y}".lstrip("0")
        case "recording":
            return row.run.shared_tag(RECORDING, TRACE) or tr("(no recording)")
        case _:
            return row.run.prompt or tr("(unnamed)")


def _head_row(head: GroupHead, rows: Sequence[HistoryRow]) -> HistoryRow:
    """Return the heading of a group: its name, numbers of runs and of successful ones, totals."""
    runs = [row.run for row in rows]
    done = sum(run.status == "done" for run in runs)
    words = by_count(head.count, tr("1 run"), tr("{count:,} runs"))
    costs = [run.cost for run in runs if run.cost is not None]
    sums = {
        "Prompt": f"{'▾' if head.is_open else '▸'} {head.key}",
        "Question": words,
        "End": tr("{count:,} done").format(count=done),
        "Tokens": f"{sum(run.tokens for run in runs):,}",
        "Cost": money(sum(costs)) if costs else "–",
        "Duration": duration(sum(max(0.0, run.updated - run.started) for run in runs)),
        "Model calls": f"{sum(run.calls_model for run in runs):,}",
        "Tool calls": f"{sum(run.calls_tool for run in runs):,}",
    }
    cells = tuple(sums.get(name, "") for name in HEADS)
    return HistoryRow(runs[0], cells, "plain", group=head.key)


def find_run(store: RunStore, name: str) -> RunSummary:
    """Return the run with an id, or with the start of one.

    Raises:
        LookupError: there is no run, or more than one.
    """
    exact = store.summary(name)
    if exact is not None:
        return exact
    found = [run for run in store.runs(RunFilter(limit=-1)) if run.id.startswith(name)]
    if len(found) != 1:
        few = "no run of the history starts" if not found else f"{len(found)} runs start"
        raise LookupError(f"{few} with {name!r}; see `runs list`")
    return found[0]


def kept_state(past: Past, branch: int | None = None, upto: int | None = None) -> RunState:
    """Return the state at the end of a run's branch; by default the newest.

    Args:
        past: the run.
        branch: number of the branch, from 0.
        upto: last event of the branch, instead of its number.

    Raises:
        LookupError: there is no such branch, or nothing of the run is stored.
    """
    if branch is not None:
        end = past.tree.ends.get(branch)
        if end is None:
            raise LookupError(f"no such branch: the run has {len(past.tree.ends)}")
        upto = past.tree.branch_end(end.id, len(past.events))
    state = past.state if upto is None else past.state_at(upto)
    if state is None:
        raise LookupError("no events of the run are stored")
    return state


def call_of_step(store: RunStore, run: str, state: RunState, number: int) -> WireCall:
    """Return the wire call of a run's iteration.

    Raises:
        LookupError: there is no such iteration, or its call is not stored.
    """
    steps = steps_of(state)
    if not 1 <= number <= len(steps):
        raise LookupError(f"the run has no iteration {number}; it has {len(steps)}")
    call = store.call(run, steps[number - 1].called)
    if call is None:
        raise LookupError(not_kept(state, steps[number - 1]))
    return call


def raw_reply(call: WireCall) -> tuple[str, str]:
    """Return the raw response of a call, and a sentence on missing parts.

    Raises:
        LookupError: the response is not stored.
    """
    if not call.has_answer:
        raise LookupError(
            "No reply is stored: none was complete, or its cell of an experiment passed."
        )
    if call.cut and not call.raw:
        raise LookupError(f"Its {call.cut:,} bytes contain a secret, so they are not stored.")
    return call.raw, f"{call.cut:,} further bytes are not stored." if call.cut else ""


# The filter of the history: plain words, or an expression over a run.

_OF_LINE: Mapping[str, Callable[[RunSummary], Json]] = {
    "prompt": lambda run: run.prompt,
    "question": lambda run: run.question,
    "answer": lambda run: run.answer,
    "model": lambda run: run.model,
    "protocol": lambda run: run.protocol,
    "status": lambda run: run.status,
    "tokens": lambda run: run.tokens,
    "cost": lambda run: run.cost or 0.0,
    "seconds": lambda run: max(0.0, run.updated - run.started),
    "calls": lambda run: run.calls_model,
    "tools": lambda run: run.calls_tool,
    "branches": lambda run: run.branches,
    "tags": lambda run: list(run.tags),
    "note": lambda run: run.note,
    "pinned": lambda run: run.pinned,
    "waits": lambda run: run.waits,
}

NAMES = tuple(dict.fromkeys((*_OF_LINE, *RUN_NAMES)))
"""Names in a filter: those of a run's summary, then those of expressions at its steps."""

_SIGNS = ("<", ">", "==", "!=", " in ", " contains ", " startswith ", " endswith ", " matches ")


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """The filter of the history."""

    words: str = ""
    """Words that a run must contain; empty for an expression."""

    expression: str = ""
    """Expression over `NAMES`; empty for words."""

    problem: str = ""
    """Reason why the expression is invalid, so that the list stays unchanged; else empty."""

    @classmethod
    def read(cls, text: str) -> HistoryFilter:
        """Parse a filter: a text with a comparison is an expression, any other is words."""
        if not any(sign in text for sign in _SIGNS):
            return cls(words=text)
        try:
            conditions.compile_condition(text, NAMES)
        except conditions.ConditionError as error:
            return cls(expression=text, problem=str(error))
        return cls(expression=text)


def holds_of(expression: str, store: RunStore | None = None) -> Fits:
    """Return a test of runs by an expression; a run without a value for it fails.

    An expression on the content of a run (`tool == "search"`) is true if it is true for one of its
    steps or their calls; the run is then opened.

    Args:
        expression: the filter.
        store: the history of the runs; None to use only their summaries.
    """
    condition = conditions.compile_condition(expression, NAMES)
    of_line = condition.names & _OF_LINE.keys()
    asked = condition.names - of_line - {"null"}

    def holds(run: RunSummary) -> bool:
        line = {name: _OF_LINE[name](run) for name in of_line}
        if store is None or not asked:
            return _holds(condition, line)
        try:
            state = store.open(run.id).state
            for values in map(environment_of, moments_of(state) if state is not None else ()):
                if _holds(condition, line | {name: values[name] for name in asked}):
                    return True
            return False
        except JournalError:
            return False

    return holds


def _holds(condition: conditions.Condition, values: JsonObject) -> bool:
    try:
        return condition.holds(values)
    except conditions.ConditionError:
        return False


def filtered_runs(
    store: RunStore, text: str, wanted: RunFilter, fits: Fits | None = None
) -> tuple[RunSummary, ...]:
    """Return the runs that match a filter's text: words, or an expression.

    Raises:
        ConditionError: the expression is invalid.
    """
    read = HistoryFilter.read(text)
    if read.problem:
        raise conditions.ConditionError(read.problem)
    if not read.expression:
        return store.runs(replace(wanted, text=read.words), fits)
    holds = holds_of(read.expression, store)
    return store.runs(wanted, lambda run: (fits is None or fits(run)) and holds(run))
