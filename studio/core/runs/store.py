"""All runs in one SQLite file: each event is a row, written before anything shows it.

Write-ahead logging lets a killed process lose nothing that was committed; each event is one
transaction. Long texts are kept once (`blobs`).
"""

from __future__ import annotations

import contextlib
import json
import sqlite3
import threading
import uuid
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from studio.core.agent.events import Event, Stopped
from studio.core.runs.blobs import MINIMUM, BlobStore
from studio.core.runs.codec import decode_event, encode_event
from studio.core.runs.lock import LockFile, is_held
from studio.core.runs.summary import RunSummary, summarise
from studio.core.text.values import Json

VERSION = 1

_SCHEMA = """
CREATE TABLE IF NOT EXISTS runs (
  number INTEGER PRIMARY KEY, id TEXT UNIQUE NOT NULL, owner TEXT NOT NULL DEFAULT '',
  started REAL, updated REAL, prompt TEXT, path TEXT, protocol TEXT, model TEXT, question TEXT,
  status TEXT, calls_model INTEGER, calls_tool INTEGER, tokens INTEGER, cost REAL, answer TEXT,
  events INTEGER, branches INTEGER, tags TEXT DEFAULT '', note TEXT DEFAULT '',
  pinned INTEGER DEFAULT 0
);
CREATE TABLE IF NOT EXISTS events (
  run INTEGER NOT NULL, seq INTEGER NOT NULL, at REAL NOT NULL, data TEXT NOT NULL,
  PRIMARY KEY (run, seq)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blobs (
  hash BLOB PRIMARY KEY, base BLOB, shared INTEGER NOT NULL, tail BLOB NOT NULL
);
"""
_SHOWN = (
    "id", "started", "updated", "prompt", "path", "protocol", "model", "question", "status",
    "calls_model", "calls_tool", "tokens", "cost", "answer", "events", "branches", "tags", "note",
    "pinned",
)  # fmt: skip
_KEPT = tuple(name for name in _SHOWN if name not in ("id", "tags", "note", "pinned"))


class StoreError(Exception):
    """A history that cannot be used; the text says what to do."""


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list shows; empty fields filter nothing."""

    text: str = ""
    """Words that all stand in prompt, question, answer, model, tags or note."""

    status: str = ""
    """A status."""

    path: str = ""
    """The prompt file."""

    tag: str = ""
    """A tag."""

    limit: int = 500
    """How many at most, newest first."""


class _Database:
    """The open file; one thread at a time has a transaction, and each is whole or not there."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self.connection = connection
        self.blobs = BlobStore(connection)
        self._lock = threading.RLock()

    @contextmanager
    def transaction(self) -> Iterator[None]:
        """A transaction, or a part of the one that this thread has open.

        Raises:
            StoreError: the file cannot be written.
        """
        with self._lock:
            if self.connection.in_transaction:
                yield
                return
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                try:
                    yield
                except BaseException:
                    if self.connection.in_transaction:  # a full disk has rolled back by itself
                        self.connection.execute("ROLLBACK")
                    self.blobs.forget()
                    raise
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise StoreError(f"the history cannot be written: {error}") from error


class RunStore:
    """The history of runs. One process may hold several; several processes may share the file.

    May be used from several threads: the window reads while the loop's thread writes.
    """

    def __init__(self, path: Path) -> None:
        """Open the history, or make it.

        Raises:
            StoreError: the file is no history, or of a newer studio.
        """
        path.parent.mkdir(parents=True, exist_ok=True)
        self._path = path
        self._connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
        try:
            self._prepare()
        except sqlite3.DatabaseError as error:
            self._connection.close()
            message = f"{path} cannot be read as a history ({error}); move it away to start anew"
            raise StoreError(message) from error
        self._database = _Database(self._connection)
        self._session = uuid.uuid4().hex[:12]
        self._lock = LockFile(self._lock_path(self._session))
        self.blobs = self._database.blobs

    def _prepare(self) -> None:
        run = self._connection.execute
        run("PRAGMA busy_timeout = 5000")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > VERSION:
            self._connection.close()
            raise StoreError(f"{self._path} was written by a newer studio")
        self._connection.executescript(_SCHEMA)
        run(f"PRAGMA user_version = {VERSION}")

    def _lock_path(self, session: str) -> Path:
        return self._path.with_name(f"{self._path.stem}-{session}.lock")

    def close(self) -> None:
        """Let go of the file."""
        self._connection.close()
        self._lock.release()

    # Writing --------------------------------------------------------------------------------------

    def journal(self, run: str) -> RunWriter:
        """What writes the events of a run, new or taken up again."""
        with self._database.transaction():
            self._connection.execute("INSERT OR IGNORE INTO runs (id) VALUES (?)", (run,))
            self._connection.execute("UPDATE runs SET owner = ? WHERE id = ?", (self._session, run))
        (number,) = self._connection.execute(
            "SELECT number FROM runs WHERE id = ?", (run,)
        ).fetchone()
        held = self.summary(run)
        line = held if held is not None and held.events else RunSummary(run)
        return RunWriter(self._database, number, line)

    def add(self, events: Sequence[Event], run: str) -> None:
        """Keep a whole journal (an import) in one transaction.

        Raises:
            StoreError: a run of that id exists.
        """
        if self.summary(run) is not None:
            raise StoreError(f"there is a run {run!r} already")
        with self._database.transaction():
            writer = self.journal(run)
            for event in events:
                writer.write(event)
            self._connection.execute("UPDATE runs SET owner = '' WHERE id = ?", (run,))

    def describe(
        self,
        run: str,
        *,
        tags: Iterable[str] | None = None,
        note: str | None = None,
        pinned: bool | None = None,
    ) -> None:
        """Set the person's own words about a run."""
        changes: list[tuple[str, str | int]] = []
        if tags is not None:
            text = "\n".join(dict.fromkeys(tag.strip() for tag in tags if tag.strip()))
            changes.append(("tags", text))
        if note is not None:
            changes.append(("note", note))
        if pinned is not None:
            changes.append(("pinned", int(pinned)))
        with self._database.transaction():
            for name, value in changes:
                self._connection.execute(
                    f"UPDATE runs SET {name} = ? WHERE id = ?",
                    (value, run),
                )

    def delete(self, run: str) -> None:
        """Remove a run; its texts go with `tidy`."""
        with self._database.transaction():
            self._connection.execute(
                "DELETE FROM events WHERE run IN (SELECT number FROM runs WHERE id = ?)", (run,)
            )
            self._connection.execute("DELETE FROM runs WHERE id = ?", (run,))

    def mark_interrupted(self) -> tuple[str, ...]:
        """End the runs whose process has died, so that they can be opened and forked.

        Returns:
            Their ids.
        """
        rows = self._connection.execute(
            "SELECT id, owner FROM runs WHERE status = 'running' OR status IS NULL"
        ).fetchall()
        ended: list[str] = []
        for run, owner in rows:
            if owner == self._session or (owner and is_held(self._lock_path(owner))):
                continue
            events = list(self.events(run))
            if not events:
                self.delete(run)
                continue
            last = events[-1]
            with self._database.transaction():
                self.journal(run).write(Stopped(interrupted=True, seq=last.seq + 1, at=last.at))
                self._connection.execute("UPDATE runs SET owner = '' WHERE id = ?", (run,))
            ended.append(run)
            if owner:
                self._lock_path(owner).unlink(missing_ok=True)
        return tuple(ended)

    # Reading --------------------------------------------------------------------------------------

    def events(self, run: str, *, upto: int | None = None) -> Iterator[Event]:
        """The events of a run in order, up to a sequence number.

        Raises:
            JournalError: a row is no event.
        """
        rows = self._connection.execute(
            "SELECT seq, at, data FROM events JOIN runs ON run = number WHERE id = ? AND seq <= ? "
            "ORDER BY seq",
            (run, upto if upto is not None else 2**62),
        )
        for seq, at, data in rows:
            value = json.loads(data)
            if '"$' in data:
                value = restore(value, self.blobs)
            yield decode_event(value | {"seq": seq, "at": at})

    def summary(self, run: str) -> RunSummary | None:
        """The line of one run."""
        row = self._connection.execute(
            f"SELECT {', '.join(_SHOWN)} FROM runs WHERE id = ?",
            (run,),
        ).fetchone()
        return _line(row) if row is not None else None

    def runs(self, wanted: RunFilter | None = None) -> tuple[RunSummary, ...]:
        """The lines of the history, pinned and newest first."""
        wanted = wanted if wanted is not None else RunFilter()
        where, values = ["events > 0"], list[Any]()
        for word in wanted.text.split():
            columns = ("prompt", "question", "answer", "model", "tags", "note", "id")
            where.append("(" + " OR ".join(f"{name} LIKE ? ESCAPE '\\'" for name in columns) + ")")
            values += [f"%{_literal(word)}%"] * len(columns)
        for name, value in (("status", wanted.status), ("path", wanted.path)):
            if value:
                where.append(f"{name} = ?")
                values.append(value)
        if wanted.tag:
            where.append("char(10) || tags || char(10) LIKE ? ESCAPE '\\'")
            values.append(f"%\n{_literal(wanted.tag)}\n%")
        rows = self._connection.execute(
            f"SELECT {', '.join(_SHOWN)} FROM runs WHERE {' AND '.join(where)} "
            "ORDER BY pinned DESC, started DESC, number DESC LIMIT ?",
            (*values, wanted.limit),
        )
        return tuple(_line(row) for row in rows)

    def size(self) -> int:
        """Bytes of the history on disk."""
        names = (self._path, self._path.with_name(self._path.name + "-wal"))
        return sum(name.stat().st_size for name in names if name.exists())

    def prune(self, *, keep: int | None = None, older_than: float | None = None) -> int:
        """Delete runs that are neither pinned nor running, and the texts that no run uses.

        Args:
            keep: how many of the newest stay.
            older_than: seconds since 1970; runs last touched before go.

        Returns:
            How many runs were deleted.
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

    def tidy(self) -> None:
        """Remove texts that no event uses any more, and give the room back to the disk."""
        with self._database.transaction():  # a text written meanwhile must not count as unused
            used: set[str] = set()
            for (data,) in self._connection.execute("SELECT data FROM events"):
                used |= set(_names(json.loads(data)))
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
        with contextlib.suppress(sqlite3.OperationalError):  # another process is writing: next time
            self._connection.execute("VACUUM")
            self._connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


class RunWriter:
    """Writes the events of one run; each is on disk when `write` returns."""

    def __init__(self, database: _Database, number: int, line: RunSummary) -> None:
        self._database = database
        self._connection = database.connection
        self._blobs = database.blobs
        self._number = number
        self._line = line

    def __call__(self, event: Event) -> None:
        """The same as `write`, for `start_run(journal=…)`."""
        self.write(event)

    def write(self, event: Event) -> None:
        """Write one event, its texts and the run's line, in one transaction.

        Raises:
            StoreError: the file cannot be written; nothing of the event is there.
        """
        data = encode_event(event)
        for name in ("seq", "at"):  # they have columns of their own
            data.pop(name, None)
        line = summarise(self._line, event)
        with self._database.transaction():
            text = json.dumps(shorten(data, self._blobs), separators=(",", ":"))
            self._connection.execute(
                "INSERT INTO events (run, seq, at, data) VALUES (?, ?, ?, ?)",
                (self._number, event.seq, event.at, text),
            )
            self._update(line)
        self._line = line

    def _update(self, line: RunSummary) -> None:
        names = ", ".join(f"{name} = ?" for name in _KEPT)
        self._connection.execute(
            f"UPDATE runs SET {names} WHERE number = ?",
            (*(getattr(line, name) for name in _KEPT), self._number),
        )


def _line(row: Sequence[Any]) -> RunSummary:
    values: dict[str, Any] = dict(zip(_SHOWN, row, strict=True))
    values["tags"] = tuple((values["tags"] or "").split("\n")) if values["tags"] else ()
    values["pinned"] = bool(values["pinned"])
    defaults = RunSummary("")
    return replace(defaults, **{name: item for name, item in values.items() if item is not None})


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")


def shorten(value: Json, blobs: BlobStore) -> Json:
    """The value with its long texts replaced by `{"$": name}`; a key `$` of a user's is escaped."""
    if isinstance(value, str):
        return {"$": blobs.put(value)} if len(value) >= MINIMUM else value
    if isinstance(value, Mapping):
        made = {key: shorten(item, blobs) for key, item in value.items()}
        return {"$$": made} if "$" in made or "$$" in made else made
    if isinstance(value, list | tuple):
        return [shorten(item, blobs) for item in value]
    return value


def restore(value: Json, blobs: BlobStore) -> Any:  # noqa: ANN401 - what JSON gives
    """The value with its long texts put back."""
    if isinstance(value, dict):
        if "$" in value:
            return blobs.get(str(value["$"]))
        if "$$" in value:
            inner = value["$$"]
            assert isinstance(inner, dict)
            return {key: restore(item, blobs) for key, item in inner.items()}
        return {key: restore(item, blobs) for key, item in value.items()}
    if isinstance(value, list):
        return [restore(item, blobs) for item in value]
    return value


def _names(value: Json) -> Iterator[str]:
    if isinstance(value, dict):
        if "$" in value:
            yield str(value["$"])
            return
        for item in value.values():
            yield from _names(item)
    elif isinstance(value, list):
        for item in value:
            yield from _names(item)
