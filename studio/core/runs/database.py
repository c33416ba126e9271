"""The history's file: its tables, and transactions that are whole or not there."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from studio.core.resource_files import resource_text
from studio.core.runs.blobs import BlobStore
from studio.core.sqlite_faults import explain_fault
from studio.core.text.atomic_file import private_file

VERSION = 4


class StoreError(Exception):
    """A history that cannot be used; the text says what to do."""


class Database:
    """The open file; one thread at a time has a transaction, and each is whole or not there."""

    def __init__(self, path: Path) -> None:
        """Open the file, or make it.

        Raises:
            StoreError: it cannot be opened, is no history, or one of a newer studio.
        """
        self.path = path
        connection = None
        try:
            private_file(path)
            connection = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
            _prepare(connection, path)
        except (OSError, sqlite3.Error) as error:
            if connection is not None:
                connection.close()
            raise StoreError(
                f"the history {path} cannot be used: {explain_fault(error, path)}"
            ) from error
        self.connection = connection
        self.blobs = BlobStore(connection)
        self._lock = threading.RLock()

    @contextmanager
    def reading(self) -> Iterator[None]:
        """What is read inside belongs together, whatever others write meanwhile."""
        with self._lock:
            if self.connection.in_transaction:
                yield
                return
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self.connection.execute("COMMIT")

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
                cause = explain_fault(error, self.path)
                raise StoreError(f"the history cannot be written: {cause}") from error


def _prepare(connection: sqlite3.Connection, path: Path) -> None:
    run = connection.execute
    run("PRAGMA busy_timeout = 5000")
    run("PRAGMA journal_mode = WAL")
    run("PRAGMA synchronous = NORMAL")
    (version,) = run("PRAGMA user_version").fetchone()
    if version > VERSION:
        connection.close()
        raise StoreError(f"{path} was written by a newer studio")
    connection.executescript(resource_text("sql", "runs.sql"))
    if version in (1, 2):  # runs without marks are read from their first event
        run("BEGIN IMMEDIATE")
        for table, name in (("events", "mark"), ("steps", "sketch")):
            if name not in {row[1] for row in run(f"PRAGMA table_info({table})")}:
                run(f"ALTER TABLE {table} ADD COLUMN {name} TEXT")
        run("COMMIT")
    run(f"PRAGMA user_version = {VERSION}")
