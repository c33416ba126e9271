"""The history of runs for the window, read and changed outside the GUI thread."""

import time
from collections.abc import Callable, Sequence
from contextlib import closing
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Any, TypeAlias

from PySide6.QtCore import QObject, Qt, QThreadPool, Signal
from PySide6.QtGui import QFont

from studio.application.connections.model_list import RunMeans
from studio.application.history.rows import (
    HEADS,
    GroupBy,
    HistoryFilter,
    HistoryRow,
    column_head,
    grouped,
    holds_of,
    row_of,
    when,
)
from studio.application.run.past.compare import (
    RunComparison,
    RunOverview,
    RunSide,
    compare,
    overview,
)
from studio.application.run.past.record import RunRecord, kept_calls
from studio.application.words import tr
from studio.core.agent.values.events import ModelReplied
from studio.core.runs.codec import JournalError
from studio.core.runs.rows import RunSummary
from studio.core.runs.store import RunFilter, RunStore, StoreError
from studio.core.text.amounts import by_count
from studio.viewmodels.app.jobs import LatestJob, repeating_timer, single_shot
from studio.viewmodels.app.row_table import ALIGNMENT, DISPLAY, TIP, RowTable

_DAY = 86_400
_TYPING_MS = 150
"""Pause in typing after which the filter is applied, in milliseconds."""

_WATCH_MS = 700
"""Interval at which the file is checked for changes, in milliseconds."""


class HistoryController(QObject):
    """Lists, opens, pins, describes and deletes runs.

    Every job opens the file itself: the writing run has its own connection, and SQLite's
    write-ahead log allows both at the same time.
    """

    listed = Signal(tuple)  # RunSummary, …
    opened = Signal(RunRecord)
    followed = Signal(RunRecord)  # the run that was opened last, after another program extended it
    compared = Signal(RunComparison)
    overviewed = Signal(RunOverview)
    failed = Signal(str)  # sentence for the user
    interrupted_found = Signal(tuple)  # RunSummary, …: runs whose process has ended
    problem_found = Signal(str)  # why the filter is invalid; empty if it is valid
    size_changed = Signal(int)  # bytes on disk
    runs_found = Signal(str, tuple)  # file of a prompt, ids of its runs, oldest first
    means_found = Signal(str, RunMeans)  # file of a prompt, means of its last runs

    def __init__(self, path: Path, parent: QObject | None = None) -> None:
        """Create it; `refresh` reads the history.

        Args:
            path: file of the history, which need not exist.
            parent: owner.
        """
        super().__init__(parent)
        self._path = path
        self._filter = RunFilter()
        self._expression = ""
        self._interrupted: list[RunSummary] = []
        """Runs whose process has ended; reported when the list is complete."""
        self._changes: list[Callable[[RunStore], None]] = []
        self._jobs: list[LatestJob[Any]] = []
        self._listing = self._job(self._on_listed)
        self.opening = self._job(self._on_opened)
        self._comparing = self._job(self.compared.emit)
        self._overviewing = self._job(self.overviewed.emit)
        self._finding = self._job(lambda found: self.runs_found.emit(*found))
        self._meaning = self._job(lambda found: self.means_found.emit(*found))
        self._timer = single_shot(self, self.refresh, _TYPING_MS)
        self._watch = repeating_timer(self, self._look, _WATCH_MS)
        self._seen: Stamp = ()
        self._is_settling = False
        self._open_run = ""
        self._open_events = 0
        self._following = self._job(self.followed.emit)

    def _job(self, take: Callable[[Any], object]) -> LatestJob[Any]:
        job = LatestJob(self, take, self._on_failed)
        self._jobs.append(job)
        return job

    def refresh(self) -> None:
        """Read the list of runs again."""
        self._timer.stop()
        changes, self._changes = tuple(self._changes), []
        self._listing.submit(partial(_list, self._path, self._filter, changes, self._expression))

    def watch(self) -> None:
        """Start watching for changes by other windows and programs."""
        self._seen = _stamp(self._path)
        self._watch.start()

    def _look(self) -> None:
        now = _stamp(self._path)
        if now != self._seen:
            self._seen, self._is_settling = now, True
            self.refresh()
        elif self._is_settling:  # changes while the list was read
            self._is_settling = False
            self.refresh()

    def set_filter(self, text: str = "", status: str = "", tag: str = "") -> None:
        """Show only matching runs."""
        read = HistoryFilter.read(text)
        self.problem_found.emit(read.problem)
        if not read.problem:
            self._filter = RunFilter(text=read.words, status=status, tag=tag)
            self._expression = read.expression
            self._timer.start()

    def open(self, run: str) -> None:
        """Load a run to show it."""
        self._open_run, self._open_events = run, 0
        self.opening.submit(partial(_open, self._path, run))

    def find_runs(self, prompt: str) -> None:
        """Look up the runs of a prompt file."""
        self._finding.submit(partial(_runs_of, self._path, prompt))

    def find_means(self, prompt: str) -> None:
        """Compute the means of a prompt file's last runs; empty if it was never saved."""
        self._meaning.submit(partial(_means, self._path, prompt))

    def compare(self, left: str, right: str) -> None:
        """Compare two runs side by side."""
        self._comparing.submit(partial(_compare, self._path, left, right))

    def compare_all(self, runs: Sequence[str]) -> None:
        """Compare several runs in one table."""
        self._overviewing.submit(partial(_overview, self._path, tuple(runs)))

    def delete(self, runs: Sequence[str]) -> None:
        """Delete runs permanently."""
        self._change(partial(_delete, tuple(runs)))

    def set_pinned(self, run: str, pinned: bool) -> None:
        """Pin a run, so that it stays on top and is never pruned, or unpin it."""
        self._change(partial(_describe, run, pinned=pinned))

    def describe(self, run: str, tags: Sequence[str], note: str) -> None:
        """Set the tags and the note of a run."""
        self._change(partial(_describe, run, tags=tuple(tags), note=note))

    def name_branch(self, run: str, branch: int, name: str) -> None:
        """Set the user's name of a branch; an empty name removes it."""
        self._change(partial(_name_branch, run, branch, name))

    def prune(self, keep: int, days: int) -> None:
        """Delete unpinned runs: those beyond a number of newest runs, or older than some days.

        Args:
            keep: number of newest runs to keep; 0 for all.
            days: age in days after which runs are deleted; 0 for never.
        """
        if keep or days:
            self._change(partial(_prune, keep, days))

    def mark_interrupted(self) -> None:
        """Mark runs whose process has died as ended, at the start."""
        self._change(partial(_mark, self._interrupted))

    def close(self) -> None:
        """Finish running jobs and pending changes."""
        self._timer.stop()
        self._watch.stop()
        for job in self._jobs:
            job.drop()
        QThreadPool.globalInstance().waitForDone(2000)
        if self._changes:
            changes, self._changes = tuple(self._changes), []
            _list(self._path, RunFilter(limit=0), changes)

    def _change(self, change: Callable[[RunStore], None]) -> None:
        """Queue changes, so that a newer list never drops a pending one."""
        self._changes.append(change)
        if not self._listing.is_busy:
            self.refresh()

    def _follow(self, runs: Sequence[RunSummary]) -> None:
        """Reload the open run if it has new events."""
        line = next((each for each in runs if each.id == self._open_run), None)
        if line is not None and self._open_events not in (0, line.events):
            self._open_events = line.events
            self._following.submit(partial(_open, self._path, self._open_run))

    def _on_opened(self, record: RunRecord) -> None:
        self._open_events = len(record.events)
        self.opened.emit(record)

    def _on_listed(self, result: tuple[tuple[RunSummary, ...], int, str]) -> None:
        runs, size, wrong = result
        self._follow(runs)
        if self._changes:
            self.refresh()
        self.size_changed.emit(size)
        self.listed.emit(runs)
        if self._interrupted:
            found = tuple(self._interrupted)
            self._interrupted.clear()
            self.interrupted_found.emit(found)
        if wrong:
            self.failed.emit(wrong)

    def _on_failed(self, error: object) -> None:
        if isinstance(error, StoreError):
            self.failed.emit(f"{str(error)[:1].upper()}{str(error)[1:]}.")
        elif isinstance(error, JournalError):
            self.failed.emit(tr("The history cannot be used: {error}.").format(error=error))
        else:
            self.failed.emit(
                tr("The history could not be read ({name}).").format(name=type(error).__name__)
            )


def _list(
    path: Path,
    wanted: RunFilter,
    changes: Sequence[Callable[[RunStore], None]],
    expression: str = "",
) -> tuple[tuple[RunSummary, ...], int, str]:
    if not path.exists():
        return (), 0, ""
    wrong = ""
    with closing(RunStore(path)) as store:
        for change in changes:
            try:
                change(store)
            except _PartlyDeletedError as error:
                wrong = f"{error}."
            except StoreError as error:
                wrong = tr("The history could not be changed: {error}.").format(error=error)
        runs = store.runs(wanted, holds_of(expression, store) if expression else None)
        return runs, store.size(), wrong


def _runs_of(path: Path, prompt: str) -> tuple[str, tuple[str, ...]]:
    """Return the prompt and the ids of its runs."""
    runs, _, _ = _list(path, RunFilter(path=prompt), ())
    return prompt, tuple(run.id for run in sorted(runs, key=lambda run: run.started))


_MOST_RUNS, _MOST_EVENTS = 5, 400
"""Number of runs in a mean, and maximum number of events of a run that is read for it."""


def _means(path: Path, prompt: str) -> tuple[str, RunMeans]:
    """Return the prompt and the means of its last successful runs."""
    if not (prompt and path.exists()):
        return prompt, RunMeans()
    with closing(RunStore(path)) as store:
        wanted = RunFilter(path=prompt, status="done", limit=_MOST_RUNS)
        runs = [run for run in store.runs(wanted) if run.events < _MOST_EVENTS]
        replies = [
            event.reply.usage
            for run in runs
            for event in store.events(run.id)
            if isinstance(event, ModelReplied) and event.reply.usage is not None
        ]
    if not replies:
        return prompt, RunMeans()
    count = len(runs)
    sent = sum(usage.input_tokens for usage in replies) / count
    received = sum(usage.output_tokens for usage in replies) / count
    return prompt, RunMeans(count, sent, received, len(replies) / count)


def _open(path: Path, run: str) -> RunRecord:
    with closing(RunStore(path)) as store:
        summary = store.summary(run)
        if summary is None:
            raise StoreError("the run no longer exists")
        past = store.open(run)
        names = store.branch_names(run)
    now = datetime.now().astimezone()
    title = tr("From history, {when}").format(when=when(summary.started, now))
    record = RunRecord(title, past.events, names=names, seen=past)
    # Created here, so that the GUI thread finds it ready.
    _ = record.state, record.tree, record.timeline
    return record


Stamp: TypeAlias = tuple[tuple[int, int], ...]
"""Modification time and size of each file of the history."""


def _stamp(path: Path) -> Stamp:
    """Return the stamp of the history's files; cheap enough for a timer."""
    found: list[tuple[int, int]] = []
    for name in (path, path.with_name(f"{path.name}-wal")):
        try:
            state = name.stat()
        except OSError:
            found.append((0, 0))
        else:
            found.append((state.st_mtime_ns, state.st_size))
    return tuple(found)


def _compare(path: Path, left: str, right: str) -> RunComparison:
    return compare(*_sides(path, (left, right)))


def _overview(path: Path, runs: Sequence[str]) -> RunOverview:
    return overview(_sides(path, runs))


def _sides(path: Path, runs: Sequence[str]) -> list[RunSide]:
    sides: list[RunSide] = []
    for run in runs:
        record = _open(path, run)
        if record.state is None:
            raise StoreError("the run no longer exists")
        began, setup = record.events[0].at, record.state.setup
        moment = when(began, datetime.now().astimezone())
        title = " · ".join(part for part in (setup.prompt, setup.model, moment) if part)
        sides.append(RunSide(title, record.state, kept_calls(path, run)))
    return sides


def _delete(runs: Sequence[str], store: RunStore) -> None:
    store.mark_interrupted()
    held = {run: store.summary(run) for run in runs}
    going = {run for run, line in held.items() if line is not None and line.status == "running"}
    for run in runs:
        if run not in going:
            store.delete(run)
    store.tidy()
    if going:
        raise _PartlyDeletedError(_still_going(len(going), len(runs) - len(going)))


class _PartlyDeletedError(StoreError):
    """Error for running runs that were not deleted; the text lists all results."""


def _still_going(going: int, deleted: int) -> str:
    """Describe the runs that were not deleted because they are running."""
    one = tr("1 run is still running and was not deleted; stop it first")
    kept = by_count(
        going, one, tr("{count} runs are still running and were not deleted; stop them first")
    )
    if not deleted:
        return kept
    gone = by_count(deleted, tr("1 run was deleted"), tr("{count} runs were deleted"))
    return f"{gone}; {kept}"


def _describe(
    run: str,
    store: RunStore,
    *,
    tags: Sequence[str] | None = None,
    note: str | None = None,
    pinned: bool | None = None,
) -> None:
    store.describe(run, tags=tags, note=note, pinned=pinned)


def _name_branch(run: str, branch: int, name: str, store: RunStore) -> None:
    store.name_branch(run, branch, name)


def _prune(keep: int, days: int, store: RunStore) -> None:
    before = time.time() - days * _DAY if days else None
    store.prune(keep=keep or None, older_than=before)


def _mark(found: list[RunSummary], store: RunStore) -> None:
    lines = (store.summary(run) for run in store.take_interrupted())
    found += [line for line in lines if line is not None]


# The list of runs as a table.

SUMMARY_ROLE = int(Qt.ItemDataRole.UserRole)
"""Role for the `RunSummary`."""

GROUP_ROLE = int(Qt.ItemDataRole.UserRole) + 2
"""Role for the common value of a group, in its header."""

TONE_ROLE = int(Qt.ItemDataRole.UserRole) + 1
"""Role for the tone of a run's status."""


_NUMBERS = frozenset(
    HEADS.index(each)
    for each in ("Model calls", "Tool calls", "Tokens", "Cost", "Duration", "Branches")
)


class HistoryModel(RowTable[HistoryRow]):
    """The list of runs for a table view."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(len(HEADS), parent)
        self._column, self._downward = -1, False
        self._listed: tuple[HistoryRow, ...] = ()
        self._by: GroupBy = ""
        self._closed: set[str] = set()

    def show_runs(self, runs: Sequence[RunSummary]) -> None:
        """Show a list of runs."""
        now = datetime.now().astimezone()
        self._listed = tuple(row_of(run, now) for run in runs)
        self._show_sorted()

    def sort(self, column: int, order: Qt.SortOrder = Qt.SortOrder.AscendingOrder) -> None:
        """Sort by a column; below 0, show pinned runs first and then the newest."""
        self._column, self._downward = column, order == Qt.SortOrder.DescendingOrder
        self._show_sorted()

    def group(self, by: GroupBy) -> None:
        """Group runs by a property."""
        if by != self._by:
            self._by, self._closed = by, set()
            self._show_sorted()

    def fold(self, group: str) -> None:
        """Collapse or expand a group."""
        self._closed ^= {group}
        self._show_sorted()

    def _show_sorted(self) -> None:
        rows = self._listed
        if 0 <= self._column < len(HEADS):
            column = self._column
            rows = tuple(sorted(rows, key=lambda row: row.keys[column], reverse=self._downward))
        rows = grouped(rows, self._by, self._closed, datetime.now().astimezone())
        self.show_rows(rows, lambda row: (row.run.id, row.group))

    def head(self, column: int, role: int) -> object:
        """Return a column's title and alignment."""
        if role == DISPLAY:
            return column_head(column)
        return _alignment(column) if role == ALIGNMENT else None

    def cell(self, row: HistoryRow, column: int, role: int) -> object:
        """Return a cell's text, or the run for `SUMMARY_ROLE`."""
        if role == DISPLAY:
            return row.cells[column]
        if role == GROUP_ROLE:
            return row.group
        if row.group is not None and role != ALIGNMENT:
            return _bold() if role == int(Qt.ItemDataRole.FontRole) else None
        if role == SUMMARY_ROLE:
            return row.run
        if role == TONE_ROLE:
            return row.tone
        if role == ALIGNMENT:
            return _alignment(column)
        return row.run.note or row.run.question or row.run.path or None if role == TIP else None


def _bold() -> QFont:
    font = QFont()
    font.setWeight(QFont.Weight.DemiBold)
    return font


def _alignment(column: int) -> int:
    side = Qt.AlignmentFlag.AlignRight if column in _NUMBERS else Qt.AlignmentFlag.AlignLeft
    return int(side | Qt.AlignmentFlag.AlignVCenter)
