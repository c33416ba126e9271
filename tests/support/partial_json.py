"""Unfinished JSON, closed for the live display only; never used for a call."""

from __future__ import annotations

import json

from studio.core.agent.values.json_text import Decoded, decode_at
from studio.core.text.values import Json

_LARGEST = 20_000


def partial_json(text: str) -> Json:
    """The value that a growing text shows so far; None where it shows none yet.

    Values change until the text has ended: a number may be 67, then 6739.
    """
    start = text.find("{")
    if start < 0 or len(text) - start > _LARGEST:
        return None
    decoded = decode_at(text, start)
    if isinstance(decoded, Decoded):
        return decoded.value
    closed = _close(text[start:])
    for _ in range(200):
        try:
            value: Json = json.loads(closed[0] + closed[1], strict=False)
        except (ValueError, RecursionError):
            shorter = closed[0][:-1]
            if not shorter:
                return None
            closed = _close(shorter)
        else:
            return value
    return None


def _close(text: str) -> tuple[str, str]:
    """The text, and the closers that it still lacks."""
    closers: list[str] = []
    in_string = escaped = False
    for place, char in enumerate(text):
        if in_string:
            if escaped:
                escaped = False
            elif char == "\\":
                escaped = True
            elif char == '"':
                in_string = False
        elif char == '"':
            in_string = True
        elif char in "{[":
            closers.append("}" if char == "{" else "]")
        elif char in "}]":
            if not closers or closers.pop() != char:
                return text[:place], ""
            if not closers:
                return text[: place + 1], ""
    cut = text[:-1] if escaped else text
    if not in_string:
        cut = cut.rstrip().rstrip(",")
    return cut, ('"' if in_string else "") + "".join(reversed(closers))
