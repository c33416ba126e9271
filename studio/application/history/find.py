"""A run of the history, and a model call of it, by what the user calls them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from studio.application.run.inspector.tool import not_kept
from studio.core.agent.past.tree import Past
from studio.core.agent.values.expressions import NAMES as RUN_NAMES
from studio.core.agent.values.expressions import environment_of, moments_of
from studio.core.agent.values.state import RunState, steps_of
from studio.core.prompty.templates.jinja.conditions import (
    Condition,
    ConditionError,
    compile_condition,
)
from studio.core.runs.codec import JournalError
from studio.core.runs.rows import Fits, RunSummary
from studio.core.runs.store import RunFilter, RunStore
from studio.core.text.values import Json
from studio.core.wire.wire_call import WireCall


def find_run(store: RunStore, name: str) -> RunSummary:
    """Find the run of an id, or of the beginning of one.

    Raises:
        LookupError: there is none, or more than one.
    """
    exact = store.summary(name)
    if exact is not None:
        return exact
    found = [run for run in store.runs(RunFilter(limit=-1)) if run.id.startswith(name)]
    if len(found) != 1:
        few = "no run of the history begins" if not found else f"{len(found)} runs begin"
        raise LookupError(f"{few} with {name!r}; see `runs list`")
    return found[0]


def kept_state(past: Past, branch: int | None = None, upto: int | None = None) -> RunState:
    """Return the end of a branch of a run; of the newest where none is named.

    Args:
        past: the run.
        branch: number of the branch, from 0.
        upto: last event of the branch, in place of its number.

    Raises:
        LookupError: there is no such branch, or nothing of the run is kept.
    """
    if branch is not None:
        end = past.tree.ends.get(branch)
        if end is None:
            raise LookupError(f"no such branch: the run has {len(past.tree.ends)}")
        upto = past.tree.branch_end(end.id, len(past.events))
    state = past.state if upto is None else past.state_at(upto)
    if state is None:
        raise LookupError("nothing of the run is kept")
    return state


def call_of_step(store: RunStore, run: str, state: RunState, number: int) -> WireCall:
    """Return what an iteration of a run sent and received.

    Raises:
        LookupError: there is no such iteration, or nothing of its call is kept.
    """
    steps = steps_of(state)
    if not 1 <= number <= len(steps):
        raise LookupError(f"the run has no iteration {number}; it has {len(steps)}")
    call = store.call(run, steps[number - 1].called)
    if call is None:
        raise LookupError(not_kept(state, steps[number - 1]))
    return call


def raw_reply(call: WireCall) -> tuple[str, str]:
    """Return the answer of a call as it came, and a sentence on what of it is missing.

    Raises:
        LookupError: nothing of it is kept.
    """
    if not call.has_answer:
        raise LookupError("No reply is kept: none came whole, or its cell of an experiment passed.")
    if call.cut and not call.raw:
        raise LookupError(f"Its {call.cut:,} bytes repeat a secret, so they are not kept.")
    return call.raw, f"{call.cut:,} further bytes are not kept." if call.cut else ""


# The filter of the history: plain words, or an expression over what a run is and did.

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
"""Names in a filter: those of a run's line, then those of expressions at any of its steps."""

_SIGNS = ("<", ">", "==", "!=", " in ", " contains ", " startswith ", " endswith ", " matches ")


@dataclass(frozen=True, slots=True)
class HistoryFilter:
    """The filter of the history."""

    words: str = ""
    """Words that a run must all contain; empty for an expression."""

    expression: str = ""
    """An expression over `NAMES`; empty for words."""

    problem: str = ""
    """Reason why the expression cannot be read; the list is then left as it is."""

    @classmethod
    def read(cls, text: str) -> HistoryFilter:
        """Parse a filter: a text with a comparison is an expression, any other is words."""
        if not any(sign in text for sign in _SIGNS):
            return cls(words=text)
        try:
            compile_condition(text, NAMES)
        except ConditionError as error:
            return cls(expression=text, problem=str(error))
        return cls(expression=text)


def holds_of(expression: str, store: RunStore | None = None) -> Fits:
    """Return a test of runs by an expression; a run without a value for it fails.

    An expression on what a run did (`tool == "search"`) holds where it holds for one of its steps,
    or for one of their calls; the run is then opened.

    Args:
        expression: the filter.
        store: history that the runs are in; None knows only their lines.
    """
    condition = compile_condition(expression, NAMES)
    of_line = condition.names & _OF_LINE.keys()
    asked = condition.names - of_line - {"null"}

    def holds(run: RunSummary) -> bool:
        line = {name: _OF_LINE[name](run) for name in of_line}
        if store is None or not asked:
            return _holds(condition, line)
        try:
            state = store.open(run.id).state
            moments = moments_of(state) if state is not None else ()
            for values in map(environment_of, moments):
                if _holds(condition, line | {name: values[name] for name in asked}):
                    return True
            return False
        except JournalError:
            return False

    return holds


def _holds(condition: Condition, values: Mapping[str, Json]) -> bool:
    try:
        return condition.holds(values)
    except ConditionError:
        return False


def filtered_runs(
    store: RunStore, text: str, wanted: RunFilter, fits: Fits | None = None
) -> tuple[RunSummary, ...]:
    """Return the runs that a filter's text chooses: words, or an expression.

    Raises:
        ConditionError: it is an expression that cannot be read.
    """
    read = HistoryFilter.read(text)
    if read.problem:
        raise ConditionError(read.problem)
    if not read.expression:
        return store.runs(replace(wanted, text=read.words), fits)
    holds = holds_of(read.expression, store)
    return store.runs(wanted, lambda run: (fits is None or fits(run)) and holds(run))
