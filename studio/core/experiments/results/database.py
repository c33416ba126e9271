"""The SQLite file of results: its tables, transactions, and reading beside a writer."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

from studio.core.resource_files import resource_text
from studio.core.sqlite_faults import explain_fault
from studio.core.text.atomic_file import private_file

VERSION = 1
_BUSY_MS = 5000


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
        self.connection.executescript(resource_text("sql", "ledger.sql"))
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
