"""Errors of an SQLite file by cause, with advice that loses nothing."""

from __future__ import annotations

import sqlite3
from contextlib import suppress
from pathlib import Path

_MAY_NOT_WRITE = "it may not be written; allow yourself to write to it and to its folder"
_CAUSES = {
    sqlite3.SQLITE_BUSY: "another program is writing to it; try again when that is done",
    sqlite3.SQLITE_LOCKED: "another program is writing to it; try again when that is done",
    sqlite3.SQLITE_FULL: "the disk is full. Make room on it and go on: nothing finished is lost",
    sqlite3.SQLITE_IOERR: "the disk fails or is full. Make room on it and go on: nothing finished "
    "is lost",
    sqlite3.SQLITE_READONLY: _MAY_NOT_WRITE,
    sqlite3.SQLITE_PERM: _MAY_NOT_WRITE,
    sqlite3.SQLITE_CANTOPEN: "it cannot be opened; look at its folder's rights and the free space",
    sqlite3.SQLITE_CORRUPT: "it is damaged; close the studio, then `prompt-studio runs repair` "
    "copies what is readable of a history into a new file. Another file: keep a copy, move it away",
    sqlite3.SQLITE_NOTADB: "it is no database; move it away to start anew",
}


def explain_fault(error: sqlite3.Error | OSError, path: Path) -> str:
    """Return the cause of a fault in a few words, with what to do."""
    if path.is_dir():
        return "a folder has its name; move the folder away"
    code = getattr(error, "sqlite_errorcode", None)
    cause = _CAUSES.get(code & 0xFF) if isinstance(code, int) else None
    return f"{cause} ({error})" if cause is not None else str(error)


def copy_readable(damaged: sqlite3.Connection, whole: sqlite3.Connection) -> None:
    """Copy the rows that can still be read into the same tables of a new database.

    A damaged page costs what lies on it: rows are read one number at a time, those of a run from
    both ends.
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
    """Return the highest number of a table's rows or runs that can be read."""
    with suppress(sqlite3.Error):
        return int(damaged.execute(f"SELECT max(rowid) FROM {table}").fetchone()[0] or 0)
    with suppress(sqlite3.Error):
        return int(damaged.execute(f"SELECT max(run) FROM {table}").fetchone()[0] or 0)
    return 0
