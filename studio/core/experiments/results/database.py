"""The SQLite file of results: its tables, transactions, and reads during writes."""

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Iterator
from contextlib import closing, contextmanager
from typing import Any

from studio.core.paths import resource_text
from studio.core.runs.database import BUSY_MS, SqliteFile
from studio.core.text.values import JsonObject


class LedgerError(Exception):
    """Raised when a ledger cannot be used; the text says what to do."""


class LedgerDatabase(SqliteFile):
    """The open file. May be used from several threads."""

    NAME = "the ledger of experiments"
    FAULT = LedgerError
    VERSION = 1
    PAGE = 8192

    def _make(self, version: int) -> None:
        self.connection.executescript(resource_text("sql", "ledger.sql"))

    def close(self) -> None:
        """Close the file."""
        with self._lock:
            self.connection.close()

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
        with self._lock:
            try:
                yield self.connection
            except sqlite3.Error as error:
                raise self.refusal("read", error) from error

    def scan(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """Read many rows with a separate connection, so that a run can write meanwhile.

        Raises:
            LedgerError: the file cannot be read.
        """
        try:
            with closing(sqlite3.connect(self.path, isolation_level=None)) as reader:
                reader.execute(f"PRAGMA busy_timeout = {BUSY_MS}")
                return reader.execute(sql, values).fetchall()
        except sqlite3.Error as error:
            raise self.refusal("read", error) from error


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
