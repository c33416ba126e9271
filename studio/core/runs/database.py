"""The history's file: its tables and its transactions."""

import hashlib
import json
import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import Any, ClassVar, NamedTuple, TypeAlias

from studio.core.agent.values.events import Event
from studio.core.agent.values.state import LazySequence
from studio.core.paths import resource_text
from studio.core.runs.codec import JournalError, decode_event
from studio.core.text.diff import common_start
from studio.core.text.files import private_file
from studio.core.text.values import Json, JsonObject

# The causes of SQLite errors, with advice that loses no data.

_IN_USE = "another program uses it; try again when that has ended"
_MAY_NOT_WRITE = "it cannot be written; give yourself write permission for it and its folder"
_CAUSES = {
    sqlite3.SQLITE_BUSY: _IN_USE,
    sqlite3.SQLITE_LOCKED: _IN_USE,
    sqlite3.SQLITE_FULL: "the disk is full. Free some space and continue: nothing finished is lost",
    sqlite3.SQLITE_IOERR: "the disk is failing or full. Free some space and continue: nothing "
    "finished is lost",
    sqlite3.SQLITE_READONLY: _MAY_NOT_WRITE,
    sqlite3.SQLITE_PERM: _MAY_NOT_WRITE,
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; check its folder's permissions and free space",
    sqlite3.SQLITE_CORRUPT: "it is damaged; close the studio, then `prompt-studio runs repair` "
    "copies what is readable of a history into a new file. Another file: keep a copy, move it away",
    sqlite3.SQLITE_NOTADB: "it is not a database; move it away to start a new one",
}


def explain_fault(error: Exception, path: Path) -> str:
    """Return the cause of an error in a few words, with advice."""
    if path.is_dir():
        return "a folder has this name; move the folder away"
    is_refused = isinstance(error, OSError | sqlite3.Error)  # else its content is no sense
    code = getattr(error, "sqlite_errorcode", None if is_refused else sqlite3.SQLITE_CORRUPT)
    cause = _CAUSES.get(code & 0xFF) if isinstance(code, int) else None
    return f"{cause} ({error})" if cause is not None else str(error)


def copy_readable(damaged: sqlite3.Connection, whole: sqlite3.Connection) -> None:
    """Copy the readable rows into the same tables of a new database.

    Only rows on damaged pages are lost: rows are read one by one, those of a run from both ends.
    """
    tables = [row[0] for row in whole.execute("SELECT name FROM sqlite_master WHERE type='table'")]
    last = max(_last(damaged, table) for table in tables)
    for table in tables:
        columns = [row[1] for row in whole.execute(f"PRAGMA table_info({table})")]
        key = "run" if "run" in columns else "rowid"
        names, marks = ", ".join(columns), ", ".join("?" * len(columns))
        query = f"SELECT {names} FROM {table} WHERE {key} = ?"
        orders = (" ORDER BY seq", " ORDER BY seq DESC") if "seq" in columns else ("",)
        for number in range(1, last + 1):
            for order in orders:
                with suppress(sqlite3.Error):
                    for row in damaged.execute(query + order, (number,)):
                        whole.execute(f"INSERT OR IGNORE INTO {table} VALUES ({marks})", row)


def _last(damaged: sqlite3.Connection, table: str) -> int:
    """Return the highest readable number of a table's rows or runs."""
    with suppress(sqlite3.Error):
        return int(damaged.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0)
    with suppress(sqlite3.Error):
        return int(damaged.execute(f"SELECT max(run) FROM {table}").fetchone()[0] or 0)
    return 0


# Texts stored once by content; a text that begins like a recent one only stores its tail.

MINIMUM = 400
"""Minimum length of stored texts in characters; shorter ones stay in their row."""

_RECENT = 6
_CACHED = 64
_WORTH = 200
_AT_ONCE = 500
_SCANNED = 3
"""Reading the whole table costs a quarter of looking up each of its rows."""

_SMALL = 16_384
"""Maximum size of texts read in advance, in bytes: other runs may contain images."""


_Row: TypeAlias = tuple[bytes | None, int, bytes]
"""The text with the same beginning, the number of common characters, and the rest."""


class StoredTexts:
    """Texts assembled from their stored parts."""

    def __init__(self, row_of: Callable[[bytes], _Row | None]) -> None:
        """Take the function that returns the row of a text."""
        self._row_of = row_of
        self._cache: OrderedDict[bytes, str] = OrderedDict()

    def get(self, name: str) -> str:
        """Return the text with that name.

        A text may end a chain of ten thousand texts that each grew a little; its pieces are
        collected and joined once.

        Raises:
            KeyError: there is no such text.
        """
        first = bytes.fromhex(name)
        key: bytes | None = first
        pieces: list[str] = []
        wanted: int | None = None
        while key is not None and wanted != 0:
            held = self._cache.get(key)
            if held is not None:
                pieces.append(held if wanted is None else held[:wanted])
                break
            row = self._row_of(key)
            if row is None:
                raise KeyError(name)
            base, shared, data = row
            if wanted is None or wanted > shared:
                tail = data.decode("utf-8", "surrogatepass")
                pieces.append(tail if wanted is None else tail[: wanted - shared])
                wanted = shared
            key = base
        text = "".join(reversed(pieces))
        self._cache[first] = text
        self._cache.move_to_end(first)
        while len(self._cache) > _CACHED:
            self._cache.popitem(last=False)
        return text


class BlobStore:
    """The table of texts in an open database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._recent: OrderedDict[bytes, str] = OrderedDict()
        self._texts = StoredTexts(self._row)

    def put(self, text: str) -> str:
        """Store a text; return its name."""
        data = text.encode("utf-8", "surrogatepass")
        key = hashlib.sha256(data).digest()[:16]
        known = (
            key in self._recent
            or self._connection.execute("SELECT 1 FROM blobs WHERE hash = ?", (key,)).fetchone()
        )
        if not known:
            base, shared = self._best_base(text)
            tail = text[shared:].encode("utf-8", "surrogatepass")
            self._connection.execute(
                "INSERT OR IGNORE INTO blobs (hash, base, shared, tail) VALUES (?, ?, ?, ?)",
                (key, base, shared, tail),
            )
        self._recent[key] = text
        self._recent.move_to_end(key)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return key.hex()

    def forget(self) -> None:
        """Clear the caches: texts may be gone after a rollback or a cleanup."""
        self._recent.clear()
        self._texts = StoredTexts(self._row)

    def get(self, name: str) -> str:
        """Return the text with that name.

        Raises:
            KeyError: there is no such text.
        """
        return self._texts.get(name)

    def held_by(self, names: Iterable[str]) -> StoredTexts:
        """Return texts by name with all their prefixes, read from the database at once."""
        rows: dict[bytes, _Row] = {}
        wanted = {bytes.fromhex(name) for name in names}
        kept = self._all() if self._most() <= _SCANNED * len(wanted) else None
        while wanted:
            found = {key: kept[key] for key in wanted if key in kept} if kept is not None else {}
            found |= self._rows(sorted(wanted - found.keys()))  # in the order of the table's index
            rows |= found
            wanted = {base for base, _, _ in found.values() if base is not None} - rows.keys()
        return StoredTexts(rows.get)

    def _most(self) -> int:
        """Return an upper bound of the number of texts (the last row id); counting is slow."""
        row = self._connection.execute("SELECT max(rowid) FROM blobs").fetchone()
        return int(row[0] or 0)

    def _all(self) -> dict[bytes, _Row]:
        """Return every text except large ones, in the order of the file."""
        rows = self._connection.execute(
            "SELECT hash, base, shared, tail FROM blobs WHERE length(tail) <= ?", (_SMALL,)
        )
        return {row[0]: row[1:] for row in rows}

    def _rows(self, keys: list[bytes]) -> dict[bytes, _Row]:
        made: dict[bytes, _Row] = {}
        for first in range(0, len(keys), _AT_ONCE):
            some = keys[first : first + _AT_ONCE]
            marks = ", ".join("?" * len(some))
            query = f"SELECT hash, base, shared, tail FROM blobs WHERE hash IN ({marks})"
            for row in self._connection.execute(query, some):
                made[row[0]] = row[1:]
        return made

    def _row(self, key: bytes) -> _Row | None:
        row: _Row | None = self._connection.execute(
            "SELECT base, shared, tail FROM blobs WHERE hash = ?", (key,)
        ).fetchone()
        return row

    def _best_base(self, text: str) -> tuple[bytes | None, int]:
        best: bytes | None = None
        most = 0
        for key, other in reversed(self._recent.items()):
            shared = common_start(text, other)
            if shared > most:
                best, most = key, shared
        return (best, most) if most >= max(_WORTH, len(text) // 4) else (None, 0)


def shorten(value: Json, blobs: BlobStore) -> Json:
    """Return a value with long texts replaced by `{"$": name}`; an original key `$` is escaped."""
    if isinstance(value, str):
        return {"$": blobs.put(value)} if len(value) >= MINIMUM else value
    if isinstance(value, Mapping):
        made = {key: shorten(item, blobs) for key, item in value.items()}
        return {"$$": made} if "$" in made or "$$" in made else made
    if isinstance(value, list | tuple):
        return [shorten(item, blobs) for item in value]
    return value


def restore(value: Json, text_of: Callable[[str], str]) -> Any:  # noqa: ANN401 - what JSON gives
    """Return a value with its long texts restored; `text_of` returns one by its name."""
    if isinstance(value, dict):
        if "$" in value:
            return text_of(str(value["$"]))
        if "$$" in value:
            inner = value["$$"]
            assert isinstance(inner, dict)
            return {key: restore(item, text_of) for key, item in inner.items()}
        return {key: restore(item, text_of) for key, item in value.items()}
    if isinstance(value, list):
        return [restore(item, text_of) for item in value]
    return value


def names_in(value: Json) -> Iterator[str]:
    """Yield the names of the long texts in a value."""
    if isinstance(value, dict):
        if "$" in value:
            yield str(value["$"])
            return
        for item in value.values():
            yield from names_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from names_in(item)


EventRow: TypeAlias = tuple[float, str, str | None]
"""One event as stored: time in seconds since 1970 UTC; JSON; index entry
(`studio.core.runs.run_index`), None if the run was not followed."""


class StepRecord(NamedTuple):
    """The stored row of a step; see `run_index.StepRow`."""

    seq: int
    """Number of the event that ended the step."""

    shape: str
    """Shape of the step."""

    messages: int
    """Length of the conversation after the step."""

    kept: int
    """Number of its first messages that existed after the previous step."""

    calls: int
    """Number of calls so far."""

    state: str | None
    """JSON of the state after the step; None if it was not stored."""

    step_summary: str | None
    """JSON of the content of its cards; None in rows of an older studio."""


class StoredEvents(LazySequence[Event]):
    """A stored journal; each event is decoded when it is read."""

    def __init__(self, rows: Sequence[EventRow], text_of: Callable[[str], str]) -> None:
        """Take the rows, in order from event 1, and the function that returns long texts."""
        self._rows = rows
        self._text_of = text_of

    def __len__(self) -> int:
        return len(self._rows)

    def _make(self, index: int) -> Event:
        at, data, _ = self._rows[index]
        try:
            value = json.loads(data)
            if '"$' in data:
                value = restore(value, self._text_of)
        except (ValueError, KeyError) as error:
            raise JournalError(f"event {index + 1} cannot be read: {error!r}") from error
        return decode_event(value | {"seq": index + 1, "at": at})

    def snapshot(self, text: str) -> JsonObject:
        """Return a state that is stored beside the events (`run_index.snapshot_of`)."""
        value: JsonObject = json.loads(text)
        return restore(value, self._text_of) if '"$' in text else value


BUSY_MS = 5000
"""Time that another writer is waited for, in milliseconds."""


class SqliteFile:
    """An open SQLite file; one thread at a time has a transaction, which is complete or undone.

    Several processes may share the file.
    """

    NAME: ClassVar[str]
    """Name of the file in messages, before its path."""
    FAULT: ClassVar[type[Exception]]
    """Class of the errors that say why the file cannot be used, and what to do."""
    VERSION: ClassVar[int]
    """Newest version of its tables that is known."""
    PAGE: ClassVar[int] = 4096
    """Size of a page of a new file, in bytes."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            FAULT: it cannot be opened, is another file, or one of a newer studio.
        """
        self.path = path
        """The file."""
        self._lock = threading.RLock()
        connection = None
        try:
            private_file(path)
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            self.connection = connection
            self._open()
        except (OSError, sqlite3.Error, self.FAULT) as error:
            if connection is not None:
                connection.close()
            if isinstance(error, self.FAULT):
                raise
            raise self.refusal("used", error) from error

    def refusal(self, act: str, error: Exception) -> Exception:
        """Return the error that says why the file cannot be `act` (used, read, written)."""
        return self.FAULT(
            f"{self.NAME} {self.path} cannot be {act}: {explain_fault(error, self.path)}"
        )

    def _open(self) -> None:
        run = self.connection.execute
        run(f"PRAGMA page_size = {self.PAGE}")
        run(f"PRAGMA busy_timeout = {BUSY_MS}")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > self.VERSION:
            raise self.FAULT(f"{self.path} was written by a newer studio; update this one")
        self._make(version)
        if version != self.VERSION:  # a full disk can still be read
            run(f"PRAGMA user_version = {self.VERSION}")

    def _make(self, version: int) -> None:
        """Create the tables that a file of this version lacks."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Discard what was cached during a transaction that was rolled back."""

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in a transaction, or as part of the one that this thread has open.

        Raises:
            FAULT: the file cannot be written; the whole block is undone.
        """
        with self._lock:
            if self.connection.in_transaction:
                yield self.connection
                return
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self.connection
                except BaseException:
                    if self.connection.in_transaction:  # a full disk has rolled back by itself
                        self.connection.execute("ROLLBACK")
                    self._forget()
                    raise
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                raise self.refusal("written", error) from error


class StoreError(Exception):
    """Raised when a history cannot be used; the text says what to do."""


class Database(SqliteFile):
    """The history's file."""

    NAME = "the history"
    FAULT = StoreError
    VERSION = 4

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        self.blobs = BlobStore(self.connection)

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Read in one transaction, unaffected by other writers."""
        with self._lock:
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("COMMIT")

    def _forget(self) -> None:
        self.blobs.forget()

    def _make(self, version: int) -> None:
        run = self.connection.execute
        self.connection.executescript(resource_text("sql", "runs.sql"))
        if version in (1, 2):  # runs without marks are read from their first event
            run("BEGIN IMMEDIATE")
            for table, name in (("events", "mark"), ("steps", "sketch")):
                if name not in {row[1] for row in run(f"PRAGMA table_info({table})")}:
                    run(f"ALTER TABLE {table} ADD COLUMN {name} TEXT")
            run("COMMIT")


_ENDS = ("", "-wal", "-shm")
"""Ends of the names of SQLite's files."""


def repair(path: Path) -> Path:
    """Replace a damaged history by a new file with its readable part.

    Returns:
        Path of the damaged file, which is kept beside the new one.

    Raises:
        OSError: a file cannot be moved or written.
        StoreError: it is undamaged or in use, or the new file cannot be created.
        sqlite3.Error: the disk is full.
    """
    made, kept = path.with_suffix(".repaired"), path.with_suffix(f".damaged-{time.time_ns()}")
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as damaged:
        if _is_whole(damaged, path):
            raise StoreError(f"the history {path} is whole; nothing was changed")
        made.unlink(missing_ok=True)
        try:
            new = Database(made)
            with closing(new.connection), new.transaction():
                copy_readable(damaged, new.connection)
        except BaseException:
            for end in _ENDS:
                made.with_name(made.name + end).unlink(missing_ok=True)
            raise
    for end in _ENDS:
        with suppress(FileNotFoundError):
            path.with_name(path.name + end).rename(kept.with_name(kept.name + end))
    made.rename(path)
    return kept


def _is_whole(connection: sqlite3.Connection, path: Path) -> bool:
    """Return whether a history is undamaged, or of a newer studio; other programs are kept out.

    Raises:
        StoreError: it is in use, or cannot be opened.
    """
    try:
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")
        connection.execute("BEGIN EXCLUSIVE")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        (found,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.DatabaseError as error:
        if error.sqlite_errorcode & 0xFF in (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB):
            return False
        cause = explain_fault(error, path)
        raise StoreError(f"the history {path} cannot be repaired: {cause}") from error
    return bool(version > Database.VERSION or found == "ok")
