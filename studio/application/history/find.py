"""A run of the history, and a model call of it, by what the user calls them."""

from __future__ import annotations

from studio.application.run.inspector.sources import not_kept
from studio.core.agent.loop.steps import steps_of
from studio.core.agent.values.state import RunState
from studio.core.runs.store import RunFilter, RunStore
from studio.core.runs.summary import RunSummary
from studio.core.wire.wire_call import WireCall


def find_run(store: RunStore, name: str) -> RunSummary:
    """The run of an id, or of the beginning of one.

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
