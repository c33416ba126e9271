"""What each model call of a run sent and received, kept beside its events.

A body mostly begins like the one before it and ends with the same tools: only what is new is
stored, packed with the end of the other. Every few bodies one is stored whole, so that reading one
never takes more than a few rows.
"""

from __future__ import annotations

import json
import zlib
from dataclasses import replace
from typing import NamedTuple

from studio.core.runs.codec import decode_value, encode_value
from studio.core.runs.database import Database
from studio.core.text.diff import common_start
from studio.core.wire.wire_call import KeptCall, WireCall

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
