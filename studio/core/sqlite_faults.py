"""Errors of an SQLite file by cause, with advice that loses nothing."""

from __future__ import annotations

import sqlite3
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
    sqlite3.SQLITE_CORRUPT: "it is damaged; keep a copy, then move it away to start anew",
    sqlite3.SQLITE_NOTADB: "it is no database; move it away to start anew",
}


def explain_fault(error: sqlite3.Error | OSError, path: Path) -> str:
    """Return the cause of a fault in a few words, with what to do."""
    if path.is_dir():
        return "a folder has its name; move the folder away"
    code = getattr(error, "sqlite_errorcode", None)
    cause = _CAUSES.get(code & 0xFF) if isinstance(code, int) else None
    return f"{cause} ({error})" if cause is not None else str(error)
