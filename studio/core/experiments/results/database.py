"""The SQLite file of results: its tables, transactions, and reading beside a writer."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from studio.core.sqlite_faults import explain_fault
from studio.core.text.atomic_file import private_file

VERSION = 1
_BUSY_MS = 5000

_SCHEMA = """
CREATE TABLE IF NOT EXISTS experiment (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL, file TEXT NOT NULL, started REAL NOT NULL,
  finished REAL, state TEXT NOT NULL, repeats INTEGER NOT NULL, spec TEXT NOT NULL,
  accepted INTEGER NOT NULL DEFAULT 0, label TEXT NOT NULL DEFAULT ''
);
CREATE TABLE IF NOT EXISTS variant (
  experiment INTEGER NOT NULL, ord INTEGER NOT NULL, name TEXT NOT NULL,
  facts TEXT NOT NULL DEFAULT '{}', PRIMARY KEY (experiment, ord)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS row (
  experiment INTEGER NOT NULL, ord INTEGER NOT NULL, key TEXT NOT NULL, facts BLOB NOT NULL,
  PRIMARY KEY (experiment, ord)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS cell (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, identity BLOB NOT NULL, state INTEGER NOT NULL DEFAULT 0,
  owner TEXT, passed INTEGER, score REAL, cost REAL, in_tokens INTEGER, out_tokens INTEGER,
  ms REAL, steps INTEGER, cached INTEGER NOT NULL DEFAULT 0, error TEXT, output INTEGER,
  facts TEXT, PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS cell_open ON cell (experiment, repeat, row, variant) WHERE state < 2;
CREATE INDEX IF NOT EXISTS cell_done ON cell (identity) WHERE state = 2;
CREATE TABLE IF NOT EXISTS mark (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, results BLOB NOT NULL,
  PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journal (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, dictionary INTEGER, data BLOB NOT NULL,
  PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS total (
  experiment INTEGER NOT NULL, variant INTEGER NOT NULL, cells INTEGER NOT NULL,
  done INTEGER NOT NULL DEFAULT 0, passed INTEGER NOT NULL DEFAULT 0,
  errors INTEGER NOT NULL DEFAULT 0, undecided INTEGER NOT NULL DEFAULT 0,
  cached INTEGER NOT NULL DEFAULT 0, cost REAL NOT NULL DEFAULT 0,
  tokens INTEGER NOT NULL DEFAULT 0, unpriced INTEGER NOT NULL DEFAULT 0,
  PRIMARY KEY (experiment, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS rating (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, points INTEGER, passed INTEGER, note TEXT NOT NULL DEFAULT '',
  rated REAL NOT NULL, PRIMARY KEY (experiment, repeat, row, variant)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS batch (
  id INTEGER PRIMARY KEY, experiment INTEGER NOT NULL, connection TEXT NOT NULL,
  model TEXT NOT NULL, mark TEXT NOT NULL, noted REAL NOT NULL, file TEXT NOT NULL DEFAULT '',
  remote TEXT NOT NULL DEFAULT '', state TEXT NOT NULL DEFAULT 'open', requests INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS batch_request (
  experiment INTEGER NOT NULL, repeat INTEGER NOT NULL, row INTEGER NOT NULL,
  variant INTEGER NOT NULL, name TEXT NOT NULL, hash BLOB NOT NULL, batch INTEGER NOT NULL,
  response BLOB, PRIMARY KEY (experiment, repeat, row, variant, name)
) WITHOUT ROWID;
CREATE INDEX IF NOT EXISTS batch_member ON batch_request (batch);
CREATE TABLE IF NOT EXISTS preference (
  experiment INTEGER NOT NULL, row INTEGER NOT NULL, one INTEGER NOT NULL, other INTEGER NOT NULL,
  winner INTEGER, chosen REAL NOT NULL, PRIMARY KEY (experiment, row, one, other)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS blob (id INTEGER PRIMARY KEY, hash BLOB UNIQUE NOT NULL, data BLOB);
"""


class LedgerError(Exception):
    """A ledger that cannot be used; the text says what to do."""


class LedgerDatabase:
    """The open file. May be used from several threads; several processes may share it."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            LedgerError: it is no ledger, of a newer studio, or cannot be made.
        """
        self.path = path
        """The file."""
        try:
            private_file(path)
            self.connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            """To be used inside of `transaction` alone."""
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
        self.connection.executescript(_SCHEMA)
        run(f"PRAGMA user_version = {VERSION}")

    def close(self) -> None:
        """Let go of the file."""
        with self._mutex:
            self.connection.close()

    @contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All or nothing.

        Raises:
            LedgerError: it cannot be written; nothing of it is.
        """
        with self._mutex:
            try:
                self.connection.execute("BEGIN IMMEDIATE")
                try:
                    yield self.connection
                except BaseException:
                    if self.connection.in_transaction:  # a full disk has rolled back by itself
                        self.connection.execute("ROLLBACK")
                    raise
                self.connection.execute("COMMIT")
            except sqlite3.Error as error:
                cause = explain_fault(error, self.path)
                raise LedgerError(
                    f"the results cannot be written to {self.path}: {cause}"
                ) from error

    def read(self, sql: str, *values: object) -> list[tuple[Any, ...]]:
        """A few rows, by the connection that writes."""
        with self.reading() as run:
            return run.execute(sql, values).fetchall()

    @contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """The connection that writes, for reading alone.

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
        """Many rows, by a connection of its own: a run goes on writing meanwhile.

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
