"""The lines of the history, and which of them a filter shows."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, TypeAlias

from studio.core.runs.summary import RunSummary

_SHOWN = (
    "id",
    "started",
    "updated",
    "prompt",
    "path",
    "protocol",
    "model",
    "question",
    "status",
    "calls_model",
    "calls_tool",
    "tokens",
    "cost",
    "answer",
    "events",
    "branches",
    "tags",
    "note",
    "pinned",
)
WAITING = "waiting"
"""A filter's word for runs under way that wait for the user."""

_LEAST_OF_ID = 4
"""Characters from which a word may begin an id; nearly every id has a given digit somewhere."""

_KEPT = tuple(name for name in _SHOWN if name not in ("id", "tags", "note", "pinned"))


@dataclass(frozen=True, slots=True)
class RunFilter:
    """Which runs a list shows; empty fields filter nothing."""

    text: str = ""
    """Words that all stand in prompt, question, answer, model, tags or note."""

    status: str = ""
    """A status; `waiting` for runs under way that wait for the user."""

    path: str = ""
    """The prompt file."""

    tag: str = ""
    """A tag."""

    limit: int = 500
    """How many at most, newest first; negative for all."""


Fits: TypeAlias = Callable[[RunSummary], bool]
"""Whether a run is listed."""


def line_of(connection: sqlite3.Connection, run: str) -> RunSummary | None:
    """The line of one run."""
    row = connection.execute(
        f"SELECT {', '.join(_SHOWN)} FROM runs WHERE id = ?",
        (run,),
    ).fetchone()
    return _waiting(connection, _line(row)) if row is not None else None


def write_line(connection: sqlite3.Connection, number: int, line: RunSummary) -> bool:
    """Keep what the studio says of a run; what the user said of it stays.

    Returns:
        Whether the run is there: one that was deleted meanwhile is not, though another may have
        its number by now.
    """
    names = ", ".join(f"{name} = ?" for name in _KEPT)
    values = (_storable(getattr(line, name)) for name in _KEPT)
    return bool(
        connection.execute(
            f"UPDATE runs SET {names} WHERE number = ? AND id = ?", (*values, number, line.id)
        ).rowcount
    )


def _storable(value: object) -> object:
    """A value as SQLite takes it; the events keep the escape of what is replaced."""
    return storable_text(value) if isinstance(value, str) else value


def storable_text(text: str) -> str:
    """The text with each half of a character (a lone surrogate) replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def lines_of(
    connection: sqlite3.Connection, wanted: RunFilter, fits: Fits | None = None
) -> tuple[RunSummary, ...]:
    """The lines that fit, pinned and newest first; the limit counts only these.

    Args:
        connection: to the history.
        wanted: which runs.
        fits: what else has to hold of a run; None for nothing.
    """
    where, values = ["events > 0"], list[Any]()
    for word in wanted.text.split():
        columns = ("prompt", "question", "answer", "model", "tags", "note")
        parts = [f"{name} LIKE ? ESCAPE '\\'" for name in columns]
        values += [f"%{_literal(word)}%"] * len(columns)
        if len(word) >= _LEAST_OF_ID:
            parts.append("id LIKE ? ESCAPE '\\'")
            values.append(f"{_literal(word)}%")
        where.append("(" + " OR ".join(parts) + ")")
    status = "running" if wanted.status == WAITING else wanted.status
    for name, value in (("status", status), ("path", wanted.path)):
        if value:
            where.append(f"{name} = ?")
            values.append(value)
    if wanted.tag:
        where.append("char(10) || tags || char(10) LIKE ? ESCAPE '\\'")
        values.append(f"%\n{_literal(wanted.tag)}\n%")
    is_all_asked = fits is None and wanted.status != WAITING
    rows = connection.execute(
        f"SELECT {', '.join(_SHOWN)} FROM runs WHERE {' AND '.join(where)} "
        "ORDER BY pinned DESC, started DESC, number DESC LIMIT ?",
        (*values, wanted.limit if is_all_asked else -1),
    )
    with closing(rows):
        found = (
            line
            for row in rows
            if (line := _waiting(connection, _line(row))).waits or wanted.status != WAITING
            if fits is None or fits(line)
        )
        return tuple(found if wanted.limit < 0 else islice(found, wanted.limit))


def _waiting(connection: sqlite3.Connection, line: RunSummary) -> RunSummary:
    """The line of a run that is under way, with what it waits for: its last pause tells."""
    if line.status != "running":
        return line
    last = connection.execute(
        "SELECT data FROM events WHERE run = (SELECT number FROM runs WHERE id = ?) AND "
        """(data LIKE '{"t":"Paused"%' OR data LIKE '{"t":"Resumed"%') """
        "ORDER BY seq DESC LIMIT 1",
        (line.id,),
    ).fetchone()
    pause = json.loads(last[0]) if last is not None else {}
    return replace(line, waits=pause["reason"]) if pause.get("t") == "Paused" else line


def _line(row: Sequence[Any]) -> RunSummary:
    values: dict[str, Any] = dict(zip(_SHOWN, row, strict=True))
    values["tags"] = tuple((values["tags"] or "").split("\n")) if values["tags"] else ()
    values["pinned"] = bool(values["pinned"])
    defaults = RunSummary("")
    return replace(defaults, **{name: item for name, item in values.items() if item is not None})


def _literal(word: str) -> str:
    return word.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
