"""Texts kept once, by their content; a text that begins like a recent one keeps only its tail.

A ReAct prompt grows with every step. Kept whole each time, 1,000 steps would take the square of
their size.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections import OrderedDict

MINIMUM = 400
"""Characters; shorter texts stay in their row."""

_RECENT = 6
_CACHED = 64
_WORTH = 200


class BlobStore:
    """The table of texts in an open database."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self._recent: OrderedDict[bytes, str] = OrderedDict()
        self._cache: OrderedDict[bytes, str] = OrderedDict()

    def put(self, text: str) -> str:
        """Keep a text; gives its name."""
        data = text.encode("utf-8", "surrogatepass")
        key = hashlib.sha256(data).digest()[:16]
        known = (
            key in self._recent
            or self._connection.execute("SELECT 1 FROM blobs WHERE hash = ?", (key,)).fetchone()
        )
        if not known:
            base, shared = self._best_base(text)
            tail = text[shared:].encode("utf-8", "surrogatepass")
            self._connection.execute(
                "INSERT OR IGNORE INTO blobs (hash, base, shared, tail) VALUES (?, ?, ?, ?)",
                (key, base, shared, tail),
            )
        self._recent[key] = text
        self._recent.move_to_end(key)
        while len(self._recent) > _RECENT:
            self._recent.popitem(last=False)
        return key.hex()

    def forget(self) -> None:
        """Trust nothing held in memory: texts may have gone with a transaction, or been tidied."""
        self._recent.clear()
        self._cache.clear()

    def get(self, name: str) -> str:
        """The text of that name.

        Raises:
            KeyError: there is none.
        """
        chain: list[tuple[bytes, int, str]] = []
        key: bytes | None = bytes.fromhex(name)
        text = ""
        while key is not None:
            held = self._cache.get(key)
            if held is not None:
                text = held
                break
            row = self._connection.execute(
                "SELECT base, shared, tail FROM blobs WHERE hash = ?", (key,)
            ).fetchone()
            if row is None:
                raise KeyError(name)
            chain.append((key, row[1], row[2].decode("utf-8", "surrogatepass")))
            key = row[0]
        for key, shared, tail in reversed(chain):
            text = text[:shared] + tail
            self._keep(key, text)
        return text

    def _keep(self, key: bytes, text: str) -> None:
        self._cache[key] = text
        self._cache.move_to_end(key)
        while len(self._cache) > _CACHED:
            self._cache.popitem(last=False)

    def _best_base(self, text: str) -> tuple[bytes | None, int]:
        best: bytes | None = None
        most = 0
        for key, other in reversed(self._recent.items()):
            shared = _common_prefix(text, other)
            if shared > most:
                best, most = key, shared
        return (best, most) if most >= max(_WORTH, len(text) // 4) else (None, 0)


def _common_prefix(one: str, other: str) -> int:
    """How many characters two texts have in common at their beginnings."""
    low, high = 0, min(len(one), len(other))
    if one[:high] == other[:high]:
        return high
    while low < high:
        middle = (low + high + 1) // 2
        if one[low:middle] == other[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low
