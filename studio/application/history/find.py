"""A run of the history by what the user calls it."""

from __future__ import annotations

from studio.core.runs.store import RunFilter, RunStore
from studio.core.runs.summary import RunSummary


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
