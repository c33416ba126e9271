"""The rows of one run: its line in the history, its events, and its wire calls."""

import contextlib
import json
import re
import sqlite3
import zlib
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass, replace
from itertools import islice
from typing import Any, Literal, NamedTuple, TypeAlias

from studio.core.agent.loop.steps import status_after
from studio.core.agent.values.events import (
    AnswerChecked,
    AnswerEdited,
    AnswerReturned,
    Event,
    Failed,
    Forked,
    ModelCalled,
    ModelChosen,
    ModelReplied,
    ReplyRead,
    Started,
    Stopped,
    ToolCalled,
    TreatedAsFinal,
)
from studio.core.agent.values.state import PauseReason, Status
from studio.core.agent.values.step import Final, Refused
from studio.core.runs.codec import decode_value, encode_event, encode_value
from studio.core.runs.database import (
    Database,
    EventRow,
    StepRecord,
    StoredTexts,
    StoreError,
    shorten,
)
from studio.core.runs.run_index import RunIndexer, StepRow
from studio.core.text.diff import common_start
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import KeptCall, WireCall

# The history's line for a run, stored beside its events for the list.


RECORDING, TRACE = "recording ", "trace "
"""Prefixes of the tags shared by the runs of one recording or of one trace."""

CALLED = "called by "
"""Beginning of the tag of a run whose answer is a tool's result in another one: `RUN@STEP`."""


@dataclass(frozen=True, slots=True)
class RunSummary:
    """The summary of a run: its line in the history."""

    id: str
    """The run's id."""

    started: float = 0.0
    """Start time, in seconds since 1970 UTC."""

    updated: float = 0.0
    """Time of its last event, in seconds since 1970 UTC."""

    prompt: str = ""
    """Name of the prompt."""

    path: str = ""
    """Path of the prompt file."""

    protocol: str = "native"
    """The protocol."""

    model: str = ""
    """Name of the model, for the user."""

    question: str = ""
    """Question of the run."""

    status: Status = "running"
    """Current or final status."""

    calls_model: int = 0
    """Number of model calls on all branches."""

    calls_tool: int = 0
    """Number of tool calls on all branches."""

    tokens: int = 0
    """Tokens of all live model calls."""

    cost: float | None = None
    """Cost in US dollars; None if not known."""

    answer: str = ""
    """Start of the answer."""

    events: int = 0
    """Length of the journal."""

    branches: int = 0
    """Number of forks."""

    tags: tuple[str, ...] = ()
    """The user's tags."""

    note: str = ""
    """The user's note."""

    pinned: bool = False
    """Whether it is protected from cleanup."""

    waits: PauseReason | Literal[""] = ""
    """Reason of the current pause; empty if the run does not wait for the user."""

    def shared_tag(self, *beginnings: str) -> str:
        """Return the tag with one of the prefixes (`RECORDING`, `TRACE`); empty without one."""
        return next((tag for tag in self.tags if tag.startswith(beginnings)), "")


_LONGEST_SUMMARY = 300


def summarize(before: RunSummary, event: Event) -> RunSummary:  # noqa: C901, PLR0912 - arms
    """Return the summary after one more event; some events only change its time."""
    line = replace(before, updated=event.at, events=event.seq)
    match event:
        case Started(setup=setup):
            return replace(
                line,
                started=event.at,
                prompt=setup.prompt,
                path=setup.path,
                model=setup.model,
                protocol=setup.protocol,
                question=setup.question[:_LONGEST_SUMMARY],
            )
        case ModelChosen(model=model) if model.name not in line.model.split(", "):
            return replace(line, model=f"{line.model}, {model.name}")
        case ModelCalled():
            return replace(line, calls_model=line.calls_model + 1)
        case ToolCalled():
            return replace(line, calls_tool=line.calls_tool + 1)
        case ModelReplied(reply=reply, origin="live") if reply.usage is not None:
            cost = line.cost
            if reply.usage.cost is not None:
                cost = (cost or 0.0) + reply.usage.cost
            return replace(line, tokens=line.tokens + reply.usage.total_tokens, cost=cost)
        case ReplyRead(reading=Final(answer=answer)):
            return replace(line, answer=answer[:_LONGEST_SUMMARY])
        case ReplyRead(reading=Refused(text=text)):
            return replace(line, status="refused", answer=text[:_LONGEST_SUMMARY])
        case AnswerEdited(text=text) | TreatedAsFinal(text=text):
            return replace(line, answer=text[:_LONGEST_SUMMARY])
        case AnswerChecked(problems=problems, accepted=accepted) if accepted or not problems:
            return replace(line, status="done")
        case Failed(error=error):
            return replace(line, status=status_after(error))
        case Stopped(interrupted=False) if line.branches and line.answer:
            return replace(line, status="done")  # a branch was left; another branch has the answer
        case Stopped(interrupted=interrupted):
            return replace(line, status="interrupted" if interrupted else "stopped")
        case Forked():
            return replace(line, status="running", branches=line.branches + 1)
        case AnswerReturned():
            return replace(line, status="running")
        case _:
            return line


_SHOWN = tuple(
    """
    id started updated prompt path protocol model question status calls_model calls_tool tokens
    cost answer events branches tags note pinned
""".split()
)
WAITING = "waiting"
"""Filter word for running runs that wait for the user."""

_LEAST_OF_ID = 4
"""Minimum length of a word that is compared with ids, since almost every id contains any single
digit.
"""

_KEPT = tuple(name for name in _SHOWN if name not in ("id", "tags", "note", "pinned"))


@dataclass(frozen=True, slots=True)
class RunFilter:
    """A filter of runs; empty fields match every run."""

    text: str = ""
    """Words that must all occur in prompt, question, answer, model, tags or note."""

    status: str = ""
    """A status; `waiting` for unfinished runs that wait for the user."""

    path: str = ""
    """Path of the prompt file."""

    tag: str = ""
    """A tag."""

    limit: int = 500
    """Maximum number of runs, newest first; negative for all."""


Fits: TypeAlias = Callable[[RunSummary], bool]
"""Function that returns whether a run is listed."""


def line_of(connection: sqlite3.Connection, run: str) -> RunSummary | None:
    """Return the summary of a run."""
    row = connection.execute(
        f"SELECT {', '.join(_SHOWN)} FROM runs WHERE id = ?", (run,)
    ).fetchone()
    return _waiting(connection, _line(row)) if row is not None else None


def write_line(connection: sqlite3.Connection, number: int, line: RunSummary) -> bool:
    """Write the summary of a run; the user's tags and note stay.

    Returns:
        Whether the run exists: it may have been deleted meanwhile, and its number reused.
    """
    names = ", ".join(f"{name} = ?" for name in _KEPT)
    values = (_storable(getattr(line, name)) for name in _KEPT)
    return bool(
        connection.execute(
            f"UPDATE runs SET {names} WHERE number = ? AND id = ?", (*values, number, line.id)
        ).rowcount
    )


def _storable(value: object) -> object:
    """Return a value that SQLite accepts; the events keep the escaped original."""
    return storable_text(value) if isinstance(value, str) else value


def storable_text(text: str) -> str:
    """Return the text with each lone surrogate replaced."""
    return text.encode("utf-8", "replace").decode("utf-8")


def lines_of(
    connection: sqlite3.Connection, wanted: RunFilter, fits: Fits | None = None
) -> tuple[RunSummary, ...]:
    """Return the matching summaries, pinned and newest first; the limit counts only these.

    Args:
        connection: connection to the history.
        wanted: the filter.
        fits: further condition on a run; None for none.
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
    """Return the summary of a running run, with its last pause."""
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


# The wire calls of a run, stored beside its events.

_CHAIN = 32
"""Maximum number of consecutive bodies stored as differences."""

_WINDOW = 32 * 1024
"""Bytes to which compressed data can refer back."""

_LEVEL = 3


class _Body(NamedTuple):
    seq: int
    data: bytes
    chain: int


class CallWriter:
    """A writer of the wire calls of one run."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._number = number
        self._last: _Body | None = None

    def write(self, seq: int, call: WireCall | KeptCall) -> None:
        """Store a wire call, or a reference to another run's; replaces an earlier one of `seq`.

        Raises:
            StoreError: the file cannot be written.
        """
        if isinstance(call, KeptCall):
            found = read_call(self._database, call.run, call.seq)
            if found is None:
                return
            call = found
        data = call.body.encode("utf-8", "surrogatepass")
        raw = _packed(call.raw.encode("utf-8", "surrogatepass")) if call.has_answer else None
        head = json.dumps(encode_value(replace(call, body="", raw="")), separators=(",", ":"))
        run, last = self._database.connection.execute, self._last
        with self._database.transaction():
            if last is not None and (last.seq, last.data) == (seq, data):
                run(
                    "UPDATE calls SET head = ?, raw = ? WHERE run = ? AND seq = ?",
                    (head, raw, self._number, seq),
                )
                return
            if last is not None and (last.seq == seq or last.chain >= _CHAIN):
                last = None
            before = last.data if last is not None else b""
            shared = common_start(data, before)
            run(
                "INSERT OR REPLACE INTO calls (run, seq, base, shared, body, head, raw) "
                "VALUES (?, ?, ?, ?, ?, ?, ?)",
                (
                    self._number,
                    seq,
                    last.seq if last is not None else None,
                    shared,
                    _packed(data[shared:], before),
                    head,
                    raw,
                ),
            )
        self._last = _Body(seq, data, last.chain + 1 if last is not None else 1)


def read_call(database: Database, run: str, seq: int) -> WireCall | None:
    """Return the stored wire call; None if there is none."""
    ask = database.connection.execute
    links: list[tuple[int, bytes]] = []
    head, raw, wanted = "", None, seq
    with database.reading():
        while wanted is not None:
            row = ask(
                "SELECT base, shared, body, head, raw FROM calls JOIN runs ON run = number "
                "WHERE id = ? AND seq = ?",
                (run, wanted),
            ).fetchone()
            if row is None:
                return None
            wanted = row[0]
            links.append((row[1], row[2]))
            if not head:
                head, raw = row[3], row[4]
    body = b""
    for shared, packed in reversed(links):
        body = body[:shared] + _unpacked(packed, body)
    return replace(
        decode_value(WireCall, json.loads(head)),
        body=body.decode("utf-8", "surrogatepass"),
        raw=_unpacked(raw).decode("utf-8", "surrogatepass") if raw is not None else "",
    )


def _packed(data: bytes, before: bytes = b"") -> bytes:
    pack = zlib.compressobj(_LEVEL, zdict=before[-_WINDOW:])
    return pack.compress(data) + pack.flush()


def _unpacked(packed: bytes, before: bytes = b"") -> bytes:
    return zlib.decompressobj(zdict=before[-_WINDOW:]).decompress(packed)


_NAME = re.compile(r'"\$":"([0-9a-f]{32})"')


class RunWriter:
    """A writer of the events of one run; each is on disk when `write` returns."""

    def __init__(
        self, database: Database, number: int, session: str, line: RunSummary, follower: RunIndexer
    ) -> None:
        self._database = database
        self._connection = database.connection
        self._blobs = database.blobs
        self._number = number
        self._session = session
        self._line = line
        self._follower = follower
        self._calls = CallWriter(database, number)

    def __call__(self, event: Event) -> None:
        """Write an event, as the journal of `RunDependencies`."""
        self.write(event)

    def keep_reply(self, reply: Reply) -> None:
        """Write the partial reply; the next event replaces it.

        An error of the file is reported with that event.
        """
        text = json.dumps(encode_value(reply), separators=(",", ":"))
        with contextlib.suppress(StoreError), self._database.transaction():
            self._check_owner()
            self._connection.execute(
                "INSERT OR REPLACE INTO replies (run, data) VALUES (?, ?)", (self._number, text)
            )

    def keep_call(self, seq: int, call: WireCall | KeptCall) -> None:
        """Store a wire call under the number of its `ModelCalled`.

        An error of the file is reported with the next event.
        """
        with contextlib.suppress(StoreError), self._database.transaction():
            self._check_owner()
            self._calls.write(seq, call)

    def write(self, event: Event) -> None:
        """Write one event, its texts and the run's summary, in one transaction.

        Raises:
            StoreError: the file cannot be written, or another program continues the run; nothing is
                written.
        """
        data = encode_event(event)
        for name in ("seq", "at"):  # they have their own columns
            data.pop(name, None)
        line = summarize(self._line, event)
        noted = self._follower.look(event)
        with self._database.transaction():
            self._check_owner()
            if not write_line(self._connection, self._number, line):
                raise StoreError("the run was deleted from the history")
            text = json.dumps(shorten(data, self._blobs), separators=(",", ":"))
            self._connection.execute(
                "INSERT INTO events (run, seq, at, data, mark) VALUES (?, ?, ?, ?, ?)",
                (self._number, event.seq, event.at, text, noted.mark if noted else None),
            )
            if noted is not None and noted.row is not None:
                self._write_step(noted.row)
            self._connection.execute("DELETE FROM replies WHERE run = ?", (self._number,))
        self._line = line
        self._follower.take(event, noted)

    def _check_owner(self) -> None:
        """Raise StoreError if another process has taken over the run."""
        row = self._connection.execute(
            "SELECT owner FROM runs WHERE number = ?", (self._number,)
        ).fetchone()
        if row is not None and row[0] != self._session:
            raise StoreError("another window or program continues this run")

    def _write_step(self, row: StepRow) -> None:
        state = None
        if row.snapshot is not None:
            state = json.dumps(shorten(row.snapshot, self._blobs), separators=(",", ":"))
        self._connection.execute(
            "INSERT INTO steps (run, seq, shape, messages, kept, calls, state, sketch) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (
                self._number,
                row.seq,
                row.shape,
                row.messages,
                row.kept,
                row.calls,
                state,
                row.step_summary,
            ),
        )


def read_rows(database: Database, run: str) -> tuple[list[EventRow], list[StepRecord], StoredTexts]:
    """Read everything stored of a run: its events, its steps, and their texts."""
    ask = database.connection.execute
    events = ask(
        "SELECT at, data, mark FROM events JOIN runs ON run = number WHERE id = ? ORDER BY seq",
        (run,),
    )
    rows: list[EventRow] = events.fetchall()
    ended = ask(
        "SELECT seq, shape, messages, kept, calls, state, sketch FROM steps "
        "JOIN runs ON run = number WHERE id = ? ORDER BY seq",
        (run,),
    )
    steps = [StepRecord._make(row) for row in ended]
    texts = [data for _, data, _ in rows if '"$' in data]
    texts += [row.state for row in steps if row.state and '"$' in row.state]
    # One search over one text: 20,000 searches took twice as long.
    names = set(_NAME.findall("\n".join(texts)))
    return rows, steps, database.blobs.held_by(names)
