"""The SQLite file of results: its tables, transactions, and reads during writes."""

import hashlib
import json
import sqlite3
import threading
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from studio.core.paths import resource_text
from studio.core.runs.database import explain_fault
from studio.core.text.files import private_file
from studio.core.text.values import JsonObject

VERSION = 1
_BUSY_MS = 5000


class LedgerError(Exception):
    """Raised when a ledger cannot be used; the text says what to do."""


class LedgerDatabase:
    """The open file. May be used from several threads; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or create it.

        Raises:
            LedgerError: it is no ledger, is from a newer studio, or cannot be created.
        """
        self.path = path
        """Path of the file."""
        try:
            private_file(path)
            self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            """Connection to use only inside `transaction`."""
        except (OSError, sqlite3.Error) as error:
            raise LedgerError(f"{path} cannot be opened: {explain_fault(error, path)}") from error
        self._mutex = threading.RLock()
        try:
            self._prepare()
        except sqlite3.Error as error:
            self.connection.close()
            raise LedgerError(
                f"the ledger of experiments {path} cannot be used: {explain_fault(error, path)}"
            ) from error
        except LedgerError:
            self.connection.close()
            raise

    def _prepare(self) -> None:
        run = self.connection.execute
        run("PRAGMA page_size = 8192")
        run(f"PRAGMA busy_timeout = {_BUSY_MS}")
        run("PRAGMA journal_mode = WAL")
        run("PRAGMA synchronous = NORMAL")
        (version,) = run("PRAGMA user_version").fetchone()
        if version > VERSION:
            raise LedgerError(f"{self.path} was written by a newer studio")
        self.connection.executescript(resource_text("sql", "ledger.sql"))
        run(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        """Close the file."""
        with self._mutex:
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """Run the block in one transaction.

        Raises:
            LedgerError: the file cannot be written; nothing is changed.
        """
        with self._mutex:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self.connection
                except BaseException:
                    if self.connection.in_transaction:  # not after "disk full": it has rolled back
                        self.connection.execute("ROLLBACK")
                    raise
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                cause = explain_fault(error, self.path)
                raise LedgerError(
                    f"the results cannot be written to {self.path}: {cause}"
                ) from error

    def read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read a few rows with the writing connection."""
        with self.reading() as run:
            return run.execute(sql, values).fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """Give the writing connection for reading only.

        Raises:
            LedgerError: the file cannot be read, or was closed.
        """
        with self._mutex:
            try:
                yield self.connection
            except sqlite3.Error as error:
                raise LedgerError(
                    f"the results cannot be read: {explain_fault(error, self.path)}"
                ) from error

    def scan(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read many rows with a separate connection, so that a run can write meanwhile.

        Raises:
            LedgerError: the file cannot be read.
        """
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None)) as reader:
                reader.execute(f"PRAGMA busy_timeout = {_BUSY_MS}")
                return reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise LedgerError(
                f"the results cannot be read: {explain_fault(error, self.path)}"
            ) from error


# Storage of answers and runs: compressed, equal answers once, runs relative to a similar one.

_SAMPLE = 32_768

Place = tuple[int, int, int, int]
"""Experiment, repeat, row and variant."""


def as_text(value: JsonObject) -> str:
    """Return a mapping as JSON for storage."""
    return json.dumps(value, ensure_ascii=False, default=str)


def packed(text: str) -> bytes:
    """Return a text compressed for storage."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked(data: bytes) -> str:
    """Return a stored text."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def keep_answer(run: sqlite3.Connection, text: str) -> int:
    """Store an answer, equal ones only once; return its number."""
    data = text.encode("utf-8", "surrogatepass")
    name = hashlib.sha256(data).digest()[:16]
    held = run.execute("SELECT id FROM blob WHERE hash = ?", (name,)).fetchone()
    if held is not None:
        return int(held[0])
    made = run.execute("INSERT INTO blob (hash, data) VALUES (?, ?)", (name, zlib.compress(data)))
    return int(made.lastrowid or 0)


def keep_journal(run: sqlite3.Connection, where: Place, journal: bytes) -> None:
    """Store a run. Runs of a variant are similar: the first is the dictionary for the others."""
    experiment, _, _, variant = where
    (facts,) = run.execute(
        "SELECT facts FROM variant WHERE experiment = ? AND ord = ?", (experiment, variant)
    ).fetchone()
    known = json.loads(facts)
    number = known.get("dictionary")
    if number is None:
        sample = journal[-_SAMPLE:]
        name = hashlib.sha256(f"{experiment}/{variant}".encode()).digest()
        number = run.execute(
            "INSERT INTO blob (hash, data) VALUES (?, ?)", (name, zlib.compress(sample))
        ).lastrowid
        run.execute(
            "UPDATE variant SET facts = ? WHERE experiment = ? AND ord = ?",
            (as_text({**known, "dictionary": number}), experiment, variant),
        )
    else:
        sample = _dictionary(run, number)
    packer = zlib.compressobj(9, zdict=sample)
    data = packer.compress(journal) + packer.flush()
    run.execute("INSERT OR REPLACE INTO journal VALUES (?,?,?,?,?,?)", (*where, number, data))


def kept_journal(run: sqlite3.Connection, where: Place) -> bytes | None:
    """Return a stored run; None if it was not stored."""
    found = run.execute(
        "SELECT dictionary, data FROM journal WHERE experiment = ? AND repeat = ? AND row = ?"
        " AND variant = ?",
        where,
    ).fetchone()
    if found is None:
        return None
    number, data = found
    return zlib.decompressobj(zdict=_dictionary(run, number)).decompress(data)


def _dictionary(run: sqlite3.Connection, number: int) -> bytes:
    (data,) = run.execute("SELECT data FROM blob WHERE id = ?", (number,)).fetchone()
    return zlib.decompress(data)
