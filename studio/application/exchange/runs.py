"""Runs to files and back: written by the pool, read into the history."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

from studio import __version__
from studio.core.agent.values.events import Event
from studio.core.export.write import write_atomically
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import FORMS, RunForm, export_run, import_run
from studio.core.runs.store import RunStore, StoreError
from studio.core.runs.traces import trace_name


def form_of(name: str) -> RunForm:
    """The form of a name; the report where there is none."""
    return next((form for form in FORMS if form.name == name), FORMS[0])


def file_name(prompt: str, at: float, run: str, form: RunForm) -> str:
    """A name to offer for the file of a run."""
    return trace_name(prompt, at, run).removesuffix(".tracy") + form.suffix


def write_shown(
    events: Sequence[Event],
    form: RunForm,
    target: Path,
    upto: int | None,
    hide: Callable[[str], str],
) -> Path:
    """Write the events of a run that is shown; its secrets are masked by `hide`."""
    write_atomically(target, export_run(events, form, __version__, upto=upto, hide=hide))
    return target


def write_kept(
    path: Path, run: str, form: RunForm, target: Path, hide: Callable[[str], str]
) -> Path:
    """Write a run of the history.

    Raises:
        StoreError: it is no longer there, or the history cannot be read.
    """
    with closing(RunStore(path)) as store:
        events = tuple(store.events(run))
    if not events:
        raise StoreError("The run is no longer there")
    return write_shown(events, form, target, None, hide)


def read_files(path: Path, files: Sequence[Path], hide: Callable[[str], str]) -> tuple[str, ...]:
    """Take journals into the history; returns the ids of their runs.

    Raises:
        JournalError: a file is not a journal; those before it are taken.
    """
    taken: list[str] = []
    with closing(RunStore(path)) as store:
        for file in files:
            try:
                taken.append(import_run(hide(file.read_text(encoding="utf-8")), store))
            except JournalError as error:
                raise JournalError(f"{file.name} was not taken: {error}") from error
        store.mark_interrupted()
    return tuple(taken)
