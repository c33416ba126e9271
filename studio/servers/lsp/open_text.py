"""One open text as it was last read, and what the protocol's features ask of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Literal, TypeAlias

from lsprotocol import types

from studio.application.document.checked_file import findings_of
from studio.application.document.reading import read_document
from studio.application.editing.editor_context import EditorContext, editor_context_of
from studio.application.trust import is_trusted
from studio.core.models.connections import user_connections
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.text.files import files_beside
from studio.core.text.source import Problem, SourceText, Span, TextEdit
from studio.core.tools.trust.store import TrustStore

# Places of the language server protocol: lines and units of the encoding that was agreed on.

PositionEncoding: TypeAlias = Literal["utf-8", "utf-16", "utf-32"]
"""Unit of a position's characters (LSP 3.17, PositionEncodingKind)."""


class Positions:
    """One text, in offsets of code points and in positions of the protocol."""

    def __init__(self, source: SourceText, encoding: PositionEncoding) -> None:
        self._source = source
        self._encoding = encoding

    def position(self, offset: int) -> types.Position:
        """Return the protocol's position of an offset."""
        source = self._source
        line = source.line_of(offset)
        start, end = source.line_starts[line], max(0, min(offset, len(source.text)))
        if self._encoding == "utf-16":
            return types.Position(line, source.to_utf16(end) - source.to_utf16(start))
        return types.Position(line, self._units(source.text[start:end]))

    def range(self, span: Span) -> types.Range:
        """Return the protocol's range of a span."""
        return types.Range(self.position(span.start), self.position(span.end))

    def offset(self, position: types.Position) -> int:
        """Return a position's offset; one beyond a line's end counts as that end (LSP 3.17)."""
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
        """Return the edits of the text as the protocol writes them."""
        return [types.TextEdit(self.range(edit.span), edit.text) for edit in edits]

    def _units(self, text: str) -> int:
        if self._encoding == "utf-32" or text.isascii():
            return len(text)
        if self._encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2


@dataclass(frozen=True)
class OpenText:
    """A text of an editor, parsed; the rest is found out when it is first asked for."""

    uri: str
    """The editor's name of the text."""

    version: int | None
    """The editor's number of this state of the text."""

    document: PromptDocument
    """The parsed text."""

    encoding: PositionEncoding
    """Unit of a position's characters."""

    trust: TrustStore = field(default_factory=TrustStore)
    """Folders whose files and variables may be read."""

    @cached_property
    def positions(self) -> Positions:
        """Offsets and positions of the text."""
        return Positions(self.document.source, self.encoding)

    @cached_property
    @evaluation_limits()
    def problems(self) -> tuple[Problem, ...]:
        """Return the problems that `check` finds in it."""
        return findings_of(self.document, self.trust)

    def workspace_edit(self, edits: Sequence[TextEdit]) -> types.WorkspaceEdit:
        """Return the edits of the text, as one change that the editor makes."""
        return types.WorkspaceEdit(changes={self.uri: self.positions.edits(edits)})

    @property
    def around(self) -> EditorContext:
        """Return the context of the prompt: its tools, its files, the names of variables."""
        path = self.document.source.path
        folder = path.parent if path is not None else None
        trusted = is_trusted(path, self.trust)
        connections: tuple[str, ...] = ()
        if self.document.is_experiment:
            found = user_connections()
            connections = tuple(each.name for each in found.connections)
        known = editor_context_of({}, (), (), folder, trusted=trusted, connections=connections)
        return replace(known, files=partial(files_beside, path))


@evaluation_limits()
def read(
    uri: str, path: Path | None, text: str, version: int | None, encoding: PositionEncoding
) -> OpenText:
    """Parse a text of an editor.

    Args:
        uri: the editor's name of it.
        path: its file; None for a text that was never saved.
        text: the text.
        version: the editor's number of this state.
        encoding: what a character of a position counts.
    """
    return OpenText(uri, version, read_document(text, path), encoding)
