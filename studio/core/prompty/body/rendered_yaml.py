"""YAML out of a rendering, with every value as one opaque word while it is read.

So a value can never become a key, a list item or a further line, whatever it holds
(docs/design/file-format.md). Loops and conditions have been run by then.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left, bisect_right
from collections.abc import Mapping, Sequence
from itertools import accumulate

from studio.core.prompty.body.masked import cut
from studio.core.prompty.document import Entry
from studio.core.prompty.rendering import Segment
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.problem import Problem
from studio.core.text.span import Span
from studio.core.text.values import Json

_OPEN, _CLOSE = "\ue000", "\ue001"
_DIGITS = str.maketrans("0123456789", "".join(chr(0xE010 + digit) for digit in range(10)))
_BACK = {new: old for old, new in _DIGITS.items()}
_WORD = re.compile(f"{_OPEN}([\ue010-\ue019]{{1,9}}){_CLOSE}")
_SCALAR = re.compile(r"true|false|-?(?:0|[1-9]\d{0,17})(?:\.\d{1,17})?")


class RenderedYaml:
    """The YAML of a range of a rendering."""

    def __init__(self, pieces: Sequence[Segment], inputs: Mapping[str, Json]) -> None:
        self._pieces = tuple(pieces)
        self._inputs = inputs
        texts = [_opaque(piece, index) for index, piece in enumerate(self._pieces)]
        self._starts = [0, *accumulate(map(len, texts))]
        self._text = "".join(texts)
        reading = read_yaml(self._text)
        self._entries: dict[tuple[str | int, ...], Entry] = {
            entry.path: entry for entry in reading.entries
        }
        self._raw = reading.value
        self.broken = reading.broken
        """Whether a syntax error was met, so that values may be missing."""
        self.problems: tuple[Problem, ...] = reading.problems
        """Places count in the opaque text; `source` leads back."""

    @property
    def value(self) -> Json:
        """The whole value, with what was rendered put in."""
        return self._filled(self._raw, (), set())

    def items(self) -> list[tuple[Json, frozenset[str], Span | None]] | None:
        """The items of a list, each with the inputs used in it and its place; None for no list."""
        if not isinstance(self._raw, list):
            return None
        found = []
        for index, item in enumerate(self._raw):
            used: set[str] = set()
            value = self._filled(item, (index,), used)
            entry = self._entries.get((index,))
            place = self.source(entry.value) if entry else None
            found.append((value, frozenset(used), place))
        return found

    def source(self, span: Span) -> Span | None:
        """The template source of a range of the opaque text."""
        last = max(span.end, span.start + 1)
        spans = []
        first = max(0, bisect_right(self._starts, span.start) - 1)
        for index in range(first, bisect_left(self._starts, last, first, len(self._pieces))):
            piece, start = self._pieces[index], self._starts[index]
            if piece.kind == "literal":
                place = cut(piece, max(0, span.start - start), last - start).span
            else:
                place = piece.span
            spans += [] if place is None else [place]
        return spans[0].cover(spans[-1]) if spans else None

    def _filled(self, value: Json, path: tuple[str | int, ...], used: set[str]) -> Json:
        if isinstance(value, Mapping):
            return {
                self._put_in(str(key), used): self._filled(item, (*path, key), used)
                for key, item in value.items()
            }
        if isinstance(value, list):
            return [self._filled(item, (*path, index), used) for index, item in enumerate(value)]
        if not isinstance(value, str):
            return value
        only = _WORD.fullmatch(value)
        if only is not None and not self._is_quoted(path):
            piece = self._piece(only)
            if piece is not None:
                used |= {piece.input} if piece.input else set()
                return self._typed(piece)
        return self._put_in(value, used)

    def _typed(self, piece: Segment) -> Json:
        """What an input is, where it stands alone; a text that looks like a number stays text."""
        own = self._inputs.get(piece.input) if piece.input else None
        if isinstance(own, list | Mapping) and piece.text == str(own):
            return own
        if isinstance(own, str) or not _SCALAR.fullmatch(piece.text):
            return piece.text
        value: Json = json.loads(piece.text)
        return value

    def _put_in(self, text: str, used: set[str]) -> str:
        def rendered(word: re.Match[str]) -> str:
            piece = self._piece(word)
            if piece is None:
                return word[0]
            used.update({piece.input} if piece.input else set())
            return piece.text

        return _WORD.sub(rendered, text) if _OPEN in text else text

    def _piece(self, word: re.Match[str]) -> Segment | None:
        index = int(word[1].translate(_BACK))
        is_value = index < len(self._pieces) and self._pieces[index].kind != "literal"
        return self._pieces[index] if is_value else None

    def _is_quoted(self, path: tuple[str | int, ...]) -> bool:
        entry = self._entries.get(path)
        start = entry.value.start if entry else 0
        return entry is not None and self._text[start : start + 1] in ('"', "'", "|", ">")


def _opaque(piece: Segment, index: int) -> str:
    if piece.kind == "literal":
        return piece.text.replace("\r\n", " \n").replace("\r", "\n")
    return f"{_OPEN}{str(index).translate(_DIGITS)}{_CLOSE}"
