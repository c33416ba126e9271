"""Places of the language server protocol: lines and units of the encoding that was agreed on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal, TypeAlias

from lsprotocol import types

from studio.core.text.problem import TextEdit
from studio.core.text.source import SourceText
from studio.core.text.span import Span

PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""What a character of a position counts (LSP 3.17, PositionEncodingKind)."""


class Positions:
    """One text, in offsets of code points and in positions of the protocol."""

    def __init__(self, source: SourceText, encoding: PositionEncoding) -> None:
        self._source = source
        self._encoding = encoding

    def position(self, offset: int) -> types.Position:
        """The protocol's position of an offset."""
        source = self._source
        line = source.line_of(offset)
        start, end = source.line_starts[line], max(0, min(offset, len(source.text)))
        if self._encoding == "utf-16":
            return types.Position(line, source.to_utf16(end) - source.to_utf16(start))
        return types.Position(line, self._units(source.text[start:end]))

    def range(self, span: Span) -> types.Range:
        """The protocol's range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """The offset of a position; one beyond a line's end counts as that end (LSP 3.17)."""
        starts, text = self._source.line_starts, self._source.text
        if position.line >= len(starts):
            return len(text)
        start = starts[position.line]
        end = starts[position.line + 1] if position.line + 1 < len(starts) else len(text)
        line = text[start:end].rstrip("\r\n")
        if self._encoding == "utf-32" or line.isascii():
            return start + min(position.character, len(line))
        units = 0
        for index, character in enumerate(line):
            if units >= position.character:
                return start + index
            units += self._units(character)
        return start + len(line)

    def edits(self, edits: Iterable[TextEdit]) -> list[types.TextEdit]:
        """Edits of the text as the protocol writes them."""
        return [types.TextEdit(self.range(edit.span), edit.text) for edit in edits]

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2
