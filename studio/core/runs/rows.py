"""The rows of one run: writing them event by event, and reading them all at once."""

from __future__ import annotations

import contextlib
import json
import re
import zlib
from dataclasses import replace
from typing import NamedTuple

from studio.core.agent.values.events import Event
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
from studio.core.runs.summary import RunSummary, summarize, write_line
from studio.core.text.diff import common_start
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import KeptCall, WireCall

# What each model call of a run sent and received, kept beside its events.

_CHAIN = 32
"""Bodies in a row that are stored as what they add to the one before."""

_WINDOW = 32 * 1024
"""Bytes that packed data can refer back to."""

_LEVEL = 3


class _Body(NamedTuple):
    seq: int
    data: bytes
    chain: int


class CallWriter:
    """Writes the calls of one run."""

    def __init__(self, database: Database, number: int) -> None:
        self._database = database
        self._number = number
        self._last: _Body | None = None

    def write(self, seq: int, call: WireCall | KeptCall) -> None:
        """Keep a call, or what is kept of a call of another run; replaces what `seq` had.

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
    """Return what is kept of a call; None where nothing is."""
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
    """Writes the events of one run; each is on disk when `write` returns."""

    def __init__(
        self,
        database: Database,
        number: int,
        session: str,
        line: RunSummary,
        follower: RunIndexer,
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
        """The same as `write`, as the journal of `RunDependencies`."""
        self.write(event)

    def keep_reply(self, reply: Reply) -> None:
        """Write the partial reply; the next event replaces it.

        A file that cannot be written is told of with that event.
        """
        text = json.dumps(encode_value(reply), separators=(",", ":"))
        with contextlib.suppress(StoreError), self._database.transaction():
            self._check_owner()
            self._connection.execute(
                "INSERT OR REPLACE INTO replies (run, data) VALUES (?, ?)", (self._number, text)
            )

    def keep_call(self, seq: int, call: WireCall | KeptCall) -> None:
        """Write what a model call sent and received, under the number of its `ModelCalled`.

        A file that cannot be written is reported with the next event.
        """
        with contextlib.suppress(StoreError), self._database.transaction():
            self._check_owner()
            self._calls.write(seq, call)

    def write(self, event: Event) -> None:
        """Write one event, its texts and the run's line, in one transaction.

        Raises:
            StoreError: the file cannot be written, or another program goes on with the run;
                nothing of the event is there.
        """
        data = encode_event(event)
        for name in ("seq", "at"):  # they have columns of their own
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
        """Raises StoreError: another window or program has taken the run over."""
        row = self._connection.execute(
            "SELECT owner FROM runs WHERE number = ?", (self._number,)
        ).fetchone()
        if row is not None and row[0] != self._session:
            raise StoreError("another window or program goes on with this run")

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
    """All that is kept of a run: its events, its steps, and the texts that they name."""
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
    # One search of one text: 20,000 searches took twice as long.
    names = set(_NAME.findall("\n".join(texts)))
    return rows, steps, database.blobs.held_by(names)
