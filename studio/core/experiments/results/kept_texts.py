"""Answers and runs as they are kept: packed, equal answers once, runs beside a sibling's."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Mapping

from studio.core.text.values import Json

_SAMPLE = 32_768

Place = tuple[int, int, int, int]
"""Experiment, repeat, row and variant."""


def as_text(value: Mapping[str, Json]) -> str:
    """A mapping as it is kept."""
    return json.dumps(value, ensure_ascii=False, default=str)


def packed(text: str) -> bytes:
    """A text as it is kept."""
    return zlib.compress(text.encode("utf-8", "surrogatepass"))


def unpacked(data: bytes) -> str:
    """A kept text."""
    return zlib.decompress(data).decode("utf-8", "surrogatepass")


def keep_answer(run: sqlite3.Connection, text: str) -> int:
    """Keep an answer; an equal one is kept once. Gives its number."""
    data = text.encode("utf-8", "surrogatepass")
    name = hashlib.sha256(data).digest()[:16]
    held = run.execute("SELECT id FROM blob WHERE hash = ?", (name,)).fetchone()
    if held is not None:
        return int(held[0])
    made = run.execute("INSERT INTO blob (hash, data) VALUES (?, ?)", (name, zlib.compress(data)))
    return int(made.lastrowid or 0)


def keep_journal(run: sqlite3.Connection, where: Place, journal: bytes) -> None:
    """Keep a run. Those of one variant are alike: the first is the dictionary of the others."""
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
    """A kept run; None where it was not kept."""
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
