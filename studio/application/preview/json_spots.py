"""What stands at a place of a JSON text: which value, by its keys, and how far into it."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field

from studio.core.wire.origins import Place

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


@dataclass(frozen=True, slots=True)
class JsonSpot:
    """A value, or its key, at a place of a JSON text."""

    place: Place
    """Keys and indices that lead to the value."""

    at: int = 0
    """Of a text: the place in it, in characters of the text that the JSON stands for."""

    is_key: bool = False
    """Whether the key was met, not the value."""


@dataclass(slots=True)
class _Frame:
    """An object or a list that is open."""

    is_object: bool
    key: str | int
    wants_key: bool


@dataclass(slots=True)
class _Reader:
    """Knows at every token which value it belongs to."""

    frames: list[_Frame] = field(default_factory=list)

    def pass_mark(self, mark: str) -> None:
        """Go past a bracket, comma or colon."""
        top = self.frames[-1] if self.frames else None
        if mark in "{[":
            self.frames.append(_Frame(mark == "{", "" if mark == "{" else 0, mark == "{"))
        elif mark in "}]":
            del self.frames[-1:]
        elif top is not None and top.is_object:
            top.wants_key = mark == ","
        elif top is not None and mark == ",":
            top.key = int(top.key) + 1

    def pass_value(self, written: str) -> bool:
        """Go past a key or a value; says whether it is a key."""
        top = self.frames[-1] if self.frames else None
        if top is None or not top.wants_key:
            return False
        top.key = _decoded(written)
        return True


def spot_at(text: str, offset: int) -> JsonSpot | None:
    """The value or key at a place of a JSON text; `None` at brackets, commas and gaps."""
    reader = _Reader()
    for token in _TOKEN.finditer(text):
        if token.start() > offset:
            break
        is_met, written = offset < token.end(), token[0]
        if written in "{}[]:,":
            if is_met:
                break
            reader.pass_mark(written)
            continue
        is_key = reader.pass_value(written)
        if is_met:
            place = tuple(frame.key for frame in reader.frames)
            at = 0 if is_key else _place_in(written, offset - token.start())
            return JsonSpot(place, at, is_key)
    return None


def _place_in(written: str, inside: int) -> int:
    if not written.startswith('"') or not inside:
        return 0
    return len(_decoded(written[:inside] + '"'))


def _decoded(written: str) -> str:
    """A JSON string as its text; of one that ends in an escape, what can be read."""
    for cut in range(12):  # a pair of \\u escapes is one character
        try:
            return str(json.loads(written[: len(written) - 1 - cut] + '"'))
        except json.JSONDecodeError:
            continue
    return ""
