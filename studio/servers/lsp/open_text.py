"""One open text as it was last read, and what the protocol's features ask of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path

from lsprotocol import types

from studio.application.document.checked_file import findings_of
from studio.application.document.reading import read_document
from studio.application.editing.editor_context import (
    EditorContext,
    editor_context_of,
)
from studio.application.trust import is_trusted
from studio.core.models.connection_file import user_connections
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.evaluation import evaluation_limits
from studio.core.text.files_beside import files_beside
from studio.core.text.problem import Problem, TextEdit
from studio.core.tools.trust.store import TrustStore
from studio.servers.lsp.positions import PositionEncoding, Positions


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
    """What a character of a position counts."""

    trust: TrustStore = field(default_factory=TrustStore)
    """Folders whose files and variables may be read."""

    @cached_property
    def positions(self) -> Positions:
        """Offsets and positions of the text."""
        return Positions(self.document.source, self.encoding)

    @cached_property
    @evaluation_limits()
    def problems(self) -> tuple[Problem, ...]:
        """What `check` says of it."""
        return findings_of(self.document, self.trust)

    def workspace_edit(self, edits: Sequence[TextEdit]) -> types.WorkspaceEdit:
        """Edits of the text, as one change that the editor makes."""
        return types.WorkspaceEdit(changes={self.uri: self.positions.edits(edits)})

    @property
    def around(self) -> EditorContext:
        """What is known around the prompt: its tools, its files, the names of variables."""
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
