"""The history: all runs in one SQLite file, each event written before it is shown.

Each event is one transaction, and with write-ahead logging a killed process loses no committed one.
Long texts are stored once (`database.BlobStore`).
"""

import contextlib
import json
import sqlite3
import sys
import time
import uuid
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import wraps
from pathlib import Path
from typing import IO, Concatenate, ParamSpec, TypeVar

from studio.core.agent.past.replay import Past, walk
from studio.core.agent.values.events import Event, Stopped
from studio.core.runs.codec import JournalError, decode_event, decode_value
from studio.core.runs.database import Database, StoredEvents, StoreError, names_in, restore
from studio.core.runs.opened import OpenedRun
from studio.core.runs.rows import (
    Fits,
    RunFilter,
    RunSummary,
    RunWriter,
    line_of,
    lines_of,
    read_call,
    read_rows,
    storable_text,
)
from studio.core.runs.run_index import FOLD_FAULTS, RunIndexer
from studio.core.text.files import private_folder
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import WireCall

_STARTING_SECONDS = 60.0
"""Age from which a lock file without a lock is stale, in seconds: a new process creates it before
locking it.
"""


class LockFile:
    """A file locked as long as this process lives (or until `release`)."""

    def __init__(self, path: Path) -> None:
        private_folder(path.parent)
        self._path = path
        self._file: IO[bytes] = path.open("ab")
        if not _lock(self._file):
            self._file.close()
            raise OSError(f"{path} is locked by another process")

    def release(self) -> None:
        """Unlock and remove the file."""
        self._file.close()
        self._path.unlink(missing_ok=True)


def is_held(path: Path) -> bool:
    """Return whether a running process holds the lock; a killed process holds none."""
    if not path.exists():
        return False
    with path.open("ab") as file:
        return not _lock(file)


if sys.platform == "win32":
    import msvcrt

    def _lock(file: IO[bytes]) -> bool:
        file.seek(0)
        try:
            msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:
    import fcntl

    def _lock(file: IO[bytes]) -> bool:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            return False
        return True


__all__ = ["RunFilter", "RunStore", "RunWriter", "StoreError"]

_Asked = ParamSpec("_Asked")
_Got = TypeVar("_Got")
_DAMAGES = (sqlite3.Error, zlib.error, json.JSONDecodeError)
"""Errors of reading a damaged page, also of one that SQLite itself does not check."""


def _reads(
    read: Callable[Concatenate["RunStore", _Asked], _Got],
) -> Callable[Concatenate["RunStore", _Asked], _Got]:
    """Make a method raise a `StoreError` with the cause if the file cannot be read."""

    @wraps(read)
    def said(store: "RunStore", /, *given: _Asked.args, **named: _Asked.kwargs) -> _Got:
        try:
            return read(store, *given, **named)
        except _DAMAGES as error:
            raise store._database.refusal("read", error) from error  # noqa: SLF001 - a part of it

    return said


class RunStore:
    """The history of runs. One process may hold several; several processes may share the file.

    May be used from several threads: the window reads while the loop's thread writes.
    """

    def __init__(self, path: Path) -> None:
        """Open the history, or create it.

        Raises:
            StoreError: the file is no history, or is from a newer studio.
        """
        self._path = path
        self._database = Database(path)
        self._connection = self._database.connection
        self._session = uuid.uuid4().hex[:12]
        self._lock = LockFile(self._lock_path(self._session))
        self.blobs = self._database.blobs
        self.transaction = self._database.transaction
        """Runs a block as one transaction: all that it writes is kept, or nothing."""

    def _lock_path(self, session: str) -> Path:
        return self._path.with_name(f"{self._path.stem}-{session}.lock")

    def close(self) -> None:
        """Close the file."""
        self._connection.close()
        self._lock.release()

    # Writing --------------------------------------------------------------------------------------

    @_reads
    def journal(self, run: str) -> RunWriter:
        """Return the writer of a run's events, for a new or a continued run."""
        with self._database.transaction():
            self._connection.execute("INSERT OR IGNORE INTO runs (id) VALUES (?)", (run,))
            self._connection.execute("UPDATE runs SET owner = ? WHERE id = ?", (self._session, run))
        (number,) = self._connection.execute(
            "SELECT number FROM runs WHERE id = ?", (run,)
        ).fetchone()
        held = self.summary(run)
        if held is None or not held.events:
            return RunWriter(self._database, number, self._session, RunSummary(run), RunIndexer())
        try:
            follower = RunIndexer(self.open(run))
        except JournalError:
            follower = RunIndexer()  # the run is inconsistent: written without index entries
        return RunWriter(self._database, number, self._session, held, follower)

    def add(
        self, events: Sequence[Event], run: str, calls: Mapping[int, WireCall] | None = None
    ) -> None:
        """Store a whole journal (an import) in one transaction.

        Args:
            events: its events.
            run: its id.
            calls: its wire calls, by the numbers of their events.

        Raises:
            StoreError: a run with that id exists.
        """
        if self.summary(run) is not None:
            raise StoreError(f"a run {run!r} already exists")
        with self._database.transaction():
            writer = self.journal(run)
            for event in events:
                writer.write(event)
            for seq, call in (calls or {}).items():
                writer.keep_call(seq, call)
            self._connection.execute("UPDATE runs SET owner = '' WHERE id = ?", (run,))

    def describe(
        self,
        run: str,
        *,
        tags: Iterable[str] | None = None,
        note: str | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Set the user's tags and note of a run, and whether it is pinned."""
        changes: list[tuple[str, str | int]] = []
        if tags is not None:
            text = "\n".join(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
            changes.append(("tags", storable_text(text)))
        if note is not None:
            changes.append(("note", storable_text(note)))
        if pinned is not None:
            changes.append(("pinned", int(pinned)))
        with self._database.transaction():
            for name, value in changes:
                self._connection.execute(f"UPDATE runs SET {name} = ? WHERE id = ?", (value, run))

    def name_branch(self, run: str, branch: int, name: str) -> None:
        """Set the name of a run's branch; an empty name removes it."""
        with self._database.transaction():
            number = "(SELECT number FROM runs WHERE id = ?)"
            if name:
                self._connection.execute(
                    "INSERT OR REPLACE INTO branches SELECT number, ?, ? FROM runs WHERE id = ?",
                    (branch, storable_text(name), run),
                )
            else:
                self._connection.execute(
                    f"DELETE FROM branches WHERE branch = ? AND run = {number}", (branch, run)
                )

    @_reads
    def branch_names(self, run: str) -> dict[int, str]:
        """Return the user's names of a run's branches, by number."""
        rows = self._connection.execute(
            "SELECT branch, name FROM branches JOIN runs ON run = number WHERE id = ?", (run,)
        )
        return dict(rows.fetchall())

    def delete(self, run: str) -> None:
        """Delete a run; `tidy` deletes its texts."""
        with self._database.transaction():
            for table in ("events", "branches", "steps", "replies", "calls"):
                self._connection.execute(
                    f"DELETE FROM {table} WHERE run IN (SELECT number FROM runs WHERE id = ?)",
                    (run,),
                )
            self._connection.execute("DELETE FROM runs WHERE id = ?", (run,))

    @_reads
    def owns(self, run: str) -> bool:
        """Return whether this process writes a run, as the last one that continued it."""
        row = self._connection.execute("SELECT owner FROM runs WHERE id = ?", (run,)).fetchone()
        return row is not None and row[0] == self._session

    @_reads
    def is_driven_elsewhere(self, run: str) -> bool:
        """Return whether another running process works on a run."""
        row = self._connection.execute(
            "SELECT owner FROM runs WHERE id = ? AND (status = 'running' OR status IS NULL)", (run,)
        ).fetchone()
        owner = row[0] if row is not None else ""
        return bool(owner) and owner != self._session and is_held(self._lock_path(owner))

    @_reads
    def mark_interrupted(self) -> tuple[str, ...]:
        """Mark the runs of ended processes as interrupted, so that they can be opened and forked.

        Returns:
            The ids of the runs.
        """
        rows = self._connection.execute(
            "SELECT id, owner FROM runs WHERE status = 'running' OR status IS NULL"
        ).fetchall()
        ended: list[str] = []
        for run, owner in rows:
            if owner == self._session or (owner and is_held(self._lock_path(owner))):
                continue
            last = self._connection.execute(
                "SELECT seq, at FROM events JOIN runs ON run = number WHERE id = ? "
                "ORDER BY seq DESC LIMIT 1",
                (run,),
            ).fetchone()
            if last is None:
                self.delete(run)
                continue
            with self._database.transaction():
                event = Stopped(self._partial(run), interrupted=True, seq=last[0] + 1, at=last[1])
                self.journal(run).write(event)
                self._connection.execute("UPDATE runs SET owner = ? WHERE id = ?", (owner, run))
            ended.append(run)
        self._remove_locks_of_the_dead()
        return tuple(ended)

    @_reads
    def take_interrupted(self) -> tuple[str, ...]:
        """Return the interrupted runs that were not returned before, whichever process marked them.

        An interrupted run keeps its ended owner until it is returned here.
        """
        self.mark_interrupted()
        rows = self._connection.execute(
            "UPDATE runs SET owner = '' WHERE status = 'interrupted' AND owner != '' RETURNING id"
        ).fetchall()
        return tuple(run for (run,) in rows)

    def _remove_locks_of_the_dead(self) -> None:
        """Remove the lock files of killed processes, but not those of starting ones."""
        for lock in self._path.parent.glob(f"{self._path.stem}-*.lock"):
            with contextlib.suppress(OSError):
                is_old = time.time() - lock.stat().st_mtime > _STARTING_SECONDS
                if is_old and lock != self._lock_path(self._session) and not is_held(lock):
                    lock.unlink()

    def _partial(self, run: str) -> Reply | None:
        """Return the partial reply of a process that ended."""
        row = self._connection.execute(
            "SELECT data FROM replies JOIN runs ON run = number WHERE id = ?", (run,)
        ).fetchone()
        return decode_value(Reply, json.loads(row[0])) if row is not None else None

    # Reading --------------------------------------------------------------------------------------

    def events(self, run: str, *, upto: int | None = None) -> Iterator[Event]:
        """Yield the events of a run in order, up to a sequence number.

        Raises:
            JournalError: a row is not an event.
            StoreError: the file is damaged.
        """
        try:
            rows = self._connection.execute(
                "SELECT seq, at, data FROM events JOIN runs ON run = number "
                "WHERE id = ? AND seq <= ? ORDER BY seq",
                (run, upto if upto is not None else 2**62),
            )
            for seq, at, data in rows:
                value = json.loads(data)
                if '"$' in data:
                    value = restore(value, self.blobs.get)
                yield decode_event(value | {"seq": seq, "at": at})
        except _DAMAGES as error:
            raise self._database.refusal("read", error) from error
        except KeyError as error:
            raise JournalError(f"event {seq} cannot be read: a text of it is lost") from error

    @_reads
    def call(self, run: str, seq: int) -> WireCall | None:
        """Return the wire call of a `ModelCalled`; None if it is not stored."""
        return read_call(self._database, run, seq)

    @_reads
    def kept_calls(self, run: str) -> tuple[int, int]:
        """Return the numbers of stored requests and raw responses of a run."""
        row = self._connection.execute(
            "SELECT count(*), count(raw) FROM calls JOIN runs ON run = number WHERE id = ?", (run,)
        ).fetchone()
        return row[0], row[1]

    @_reads
    def open(self, run: str) -> Past:
        """Return a run; a long one is decoded only where it is read.

        Raises:
            JournalError: its events are inconsistent.
        """
        with self._database.reading():
            rows, steps, texts = read_rows(self._database, run)
        events = StoredEvents(rows, texts.get)
        if None in (mark for _, _, mark in rows):
            try:
                return walk(events)
            except FOLD_FAULTS as error:
                raise JournalError(f"the run cannot be followed: {error}") from error
        return OpenedRun(rows, steps, events)

    @_reads
    def summary(self, run: str) -> RunSummary | None:
        """Return the summary of a run."""
        return line_of(self._connection, run)

    @_reads
    def runs(
        self, wanted: RunFilter | None = None, fits: Fits | None = None
    ) -> tuple[RunSummary, ...]:
        """Return the summaries of runs, pinned and newest first.

        Args:
            wanted: the filter; None for the newest runs up to the default limit.
            fits: further condition on a run.
        """
        return lines_of(self._connection, wanted if wanted is not None else RunFilter(), fits)

    def size(self) -> int:
        """Return the size of the history on disk, in bytes."""
        names = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(name.stat().st_size for name in names if name.exists())

    @_reads
    def prune(self, *, keep: int | None = None, older_than: float | None = None) -> int:
        """Delete runs that are neither pinned nor running, and unused texts.

        Args:
            keep: number of newest runs to keep.
            older_than: seconds since 1970; runs last changed before are deleted.

        Returns:
            The number of deleted runs.
        """
        rows = self._connection.execute(
            "SELECT id, updated FROM runs WHERE NOT pinned AND status != 'running' "
            "ORDER BY started DESC, number DESC"
        ).fetchall()
        gone = {run for run, updated in rows if older_than is not None and updated < older_than}
        if keep is not None:
            gone |= {run for run, _ in rows[keep:]}
        for run in gone:
            self.delete(run)
        self.tidy()
        return len(gone)

    @_reads
    def tidy(self) -> None:
        """Delete unused texts and return the space to the disk."""
        with self._database.transaction():  # a text written meanwhile must not count as unused
            used: set[str] = set()
            for (data,) in self._connection.execute(
                "SELECT data FROM events UNION ALL SELECT state FROM steps WHERE state IS NOT NULL"
            ):
                used |= set(names_in(json.loads(data)))
            bases = dict(self._connection.execute("SELECT hash, base FROM blobs").fetchall())
            kept: set[bytes] = set()
            for name in used:
                key: bytes | None = bytes.fromhex(name)
                while key is not None and key not in kept:
                    kept.add(key)
                    key = bases.get(key)
            gone = [(key,) for key in bases if key not in kept]
            self._connection.executemany("DELETE FROM blobs WHERE hash = ?", gone)
            self.blobs.forget()
        with contextlib.suppress(sqlite3.OperationalError):  # another process writes: next time
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
