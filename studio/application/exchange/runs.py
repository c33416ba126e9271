"""Export runs to files, and import files into the history."""

import re
import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import replace
from functools import partial
from pathlib import Path

from studio import __version__
from studio.application.words import tr
from studio.core.agent.values.events import Event, Started
from studio.core.masking.redact import without_keys
from studio.core.runs.codec import JournalError
from studio.core.runs.exchange import RunForm, export_run, import_run, whole_journal
from studio.core.runs.rows import RECORDING, TRACE
from studio.core.runs.spans import TraceSpan, read_spans, tree_of
from studio.core.runs.store import RunStore, StoreError
from studio.core.runs.trace_runs import runs_of
from studio.core.runs.traces import trace_name
from studio.core.text.files import MOST_RECORD_BYTES, read_text, write_atomically
from studio.core.wire.wire_call import no_call

_JOURNAL = re.compile(r'^(?={"t":"Started",)', re.MULTILINE)
"""Matches the start of each journal in a file of several."""


def file_name(prompt: str, at: float, run: str, form: RunForm) -> str:
    """Return a suggested name for the file of a run."""
    return trace_name(prompt, at, run).removesuffix(".tracy") + form.suffix


@contextmanager
def history_at(path: Path) -> Iterator[RunStore | None]:
    """Open the history; None if it cannot be opened, since a loaded run is exported anyway."""
    try:
        store = RunStore(path)
    except (StoreError, OSError):
        yield None
        return
    with closing(store):
        yield store


def kept_words(store: RunStore | None, run: str) -> str:
    """Describe the content of a whole journal besides events; "" for nothing."""
    bodies, replies = store.kept_calls(run) if store is not None else (0, 0)
    if not bodies:
        return ""
    words = "Request bodies: {bodies:,}. Raw replies: {replies:,}."
    return tr(words).format(bodies=bodies, replies=replies)


def write_run(
    path: Path,
    run: str,
    form: RunForm,
    target: Path,
    hide: Callable[[str], str],
    events: Sequence[Event] = (),
    upto: int | None = None,
) -> Path:
    """Write a run with its stored wire calls.

    Args:
        path: the history's file.
        run: id of the run.
        form: the format.
        target: the file to write.
        hide: masks secrets.
        events: its events, if they are loaded; otherwise read from the history.
        upto: last event of the branch; None for the newest.

    Raises:
        StoreError: the run no longer exists.
    """
    with history_at(path) as store:
        journal = events or tuple(store.events(run) if store is not None else ())
        if not journal:
            raise StoreError("The run no longer exists")
        call_of = partial(store.call, run) if store is not None else no_call
        text = export_run(journal, form, __version__, upto=upto, hide=hide, call_of=call_of)
    write_atomically(target, text)
    return target


def take_text(text: str, store: RunStore) -> tuple[str, ...]:
    """Import all journals, or the trace of another program, into the history, or nothing.

    The runs of one recording share a new tag.

    Returns:
        Ids of the runs.

    Raises:
        JournalError: the text is neither, or one of its journals cannot be read.
    """
    if text.lstrip().startswith('{"t":'):
        journals = [whole_journal(each) for each in _JOURNAL.split(text.lstrip()) if each]
        tags: dict[str, str] = {}
        runs: list[str] = []
        with store.transaction():
            for events, calls in journals:
                runs.append(run := import_run(events, calls, store))
                first = events[0]
                if isinstance(first, Started) and first.setup.program:
                    tag = tags.setdefault(first.setup.recording, f"{RECORDING}{run[:8]}")
                    store.describe(run, tags=(tag,))
        return tuple(runs)
    try:
        spans = read_spans(without_keys(text))
    except JournalError as error:
        raise JournalError(
            f"the file is neither a journal of a run nor a trace: {error}"
        ) from error
    with store.transaction():
        return tuple(take_spans(spans, store))


def take_spans(spans: Sequence[TraceSpan], store: RunStore) -> Iterator[str]:
    """Import the conversations of traces into the history, and yield their runs' ids."""
    for run in runs_of(spans):
        name = run.id if store.summary(run.id) is None else uuid.uuid4().hex[:12]
        first = run.events[0]
        if isinstance(first, Started) and name != run.id:
            run.events[0] = replace(first, setup=replace(first.setup, run=name))
        store.add(run.events, name)
        tree = tree_of([span for span in spans if span.trace == run.trace])
        store.describe(name, tags=(f"{TRACE}{run.trace[:8]}",), note=tree)
        yield name


def read_files(path: Path, files: Sequence[Path], hide: Callable[[str], str]) -> tuple[str, ...]:
    """Import journals and traces into the history; return the ids of their runs.

    Raises:
        JournalError: a file is neither; the files before it are imported.
    """
    taken: list[str] = []
    with closing(RunStore(path)) as store:
        for file in files:
            try:
                taken += take_text(hide(read_text(file, MOST_RECORD_BYTES)), store)
            except JournalError as error:
                raise JournalError(f"{file.name} was not imported: {error}") from error
        store.mark_interrupted()
    return tuple(taken)
