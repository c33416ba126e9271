"""Planted keys, and the search for them in all that is left behind.

The spellings are made here, apart from those of the product.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

_BEFORE = ("", "u:", "user:", "ab")


def spellings(key: str) -> set[str]:
    """A key as it is, in JSON, in a URL and in base64, alone and behind something else."""
    found = {key, quote(key), quote(key, safe=""), quote_plus(key)}
    found |= {json.dumps(key)[1:-1], json.dumps(json.dumps(key)[1:-1])[1:-1]}
    for before in _BEFORE:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            found.add(encode(f"{before}{key}".encode()).decode())
    return found


def _traces(key: str) -> set[str]:
    """What of these spellings is of the key alone, whatever stands around it."""
    found = spellings(key)
    for before in _BEFORE:
        for encode in (base64.b64encode, base64.urlsafe_b64encode):
            text = encode(f"{before}{key}".encode()).decode().rstrip("=")
            # What stands before the key changes the characters that it shares with it.
            first = -(-len(before) * 4 // 3)
            found.add(text[first : len(text) - 1])
    return found


def leaks(keys: Mapping[str, str], data: Iterable[tuple[str, bytes]]) -> list[str]:
    """Where a key was found: `name of the key in place`.

    Args:
        keys: by a name for messages.
        data: places with what is in them.
    """
    wanted = {name: {each.encode() for each in _traces(key)} for name, key in keys.items()}
    return [
        f"{name} in {place}, as {form.decode()}"
        for place, content in data
        for name, forms in wanted.items()
        for form in sorted(forms)
        if form in content
    ]


def bytes_below(folder: Path) -> list[tuple[str, bytes]]:
    """Every file of a folder, and every name."""
    return [(str(path), _bytes_of(path)) for path in folder.rglob("*")]


def _bytes_of(path: Path) -> bytes:
    """What is in a file; nothing of what a thread that still works has just moved or removed."""
    try:
        return path.read_bytes() if path.is_file() else b""
    except FileNotFoundError:
        return b""
