"""A run of the history, and a model call of it, by what the user calls them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from studio.application.run.inspector.tool import not_kept
from studio.core.agent.loop.steps import steps_of
from studio.core.agent.values.state import RunState
from studio.core.prompty.templates.jinja.conditions import ConditionError, compile_condition
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
        raise LookupError(not_kept())
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


# The filter of the history: plain words, or an expression over what a run is.

NAMES = tuple(
    """
    prompt question answer model protocol status tokens cost seconds calls tools branches tags
    note pinned waits
""".split()
)
"""Names that an expression can use of a run."""

_SIGNS = ("<", ">", "==", "!=", " in ", " contains ", " startswith ", " matches ")


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


def holds_of(expression: str) -> Fits:
    """Return a test of runs by an expression; a run without a value for it fails."""
    value = compile_condition(expression, NAMES)

    def holds(run: RunSummary) -> bool:
        try:
            return bool(value(_values(run)))
        except ConditionError:
            return False

    return holds


def _values(run: RunSummary) -> Mapping[str, Json]:
    return {
        "prompt": run.prompt,
        "question": run.question,
        "answer": run.answer,
        "model": run.model,
        "protocol": run.protocol,
        "status": run.status,
        "tokens": run.tokens,
        "cost": run.cost or 0.0,
        "seconds": max(0.0, run.updated - run.started),
        "calls": run.calls_model,
        "tools": run.calls_tool,
        "branches": run.branches,
        "tags": list(run.tags),
        "note": run.note,
        "pinned": run.pinned,
        "waits": run.waits,
    }
