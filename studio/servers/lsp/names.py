"""Names in the protocol: definition, references, renaming, and the symbols of folders.

An experiment names files and inputs of its prompts; renaming an input changes it as well.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from studio.application.document.folder_files import prompt_files
from studio.application.editing.experiment.names import (
    FileEdits,
    declaration_of,
    rename_everywhere,
    value_name_at,
)
from studio.application.editing.experiment.names import file_at as experiment_file_at
from studio.application.editing.names import (
    definition,
    file_at,
    name_at,
    places_of,
    tool_at,
    tool_rename,
)
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.files import read_bounded
from studio.core.text.naming import score
from studio.servers.lsp.features import OpenText, PositionEncoding, Positions

_MOST = 200


def definition_at(reading: OpenText, position: types.Position) -> types.Location | None:
    """Find the declaration of the name at a position, or the file that is referred to."""
    offset = reading.positions.offset(position)
    path = reading.document.source.path
    if reading.document.is_experiment:
        return _definition_in_experiment(reading, offset)
    file = file_at(reading.document, offset)
    if file is not None and path is not None and (path.parent / file).is_file():
        start = types.Position(0, 0)
        return types.Location((path.parent / file).as_uri(), types.Range(start, start))
    span = definition(reading.document, offset)
    return None if span is None else types.Location(reading.uri, reading.positions.range(span))


def references_at(reading: OpenText, position: types.Position) -> list[types.Location]:
    """Return all references to the name at a position, including its declaration."""
    _, places = places_of(reading.document, reading.positions.offset(position))
    return [types.Location(reading.uri, reading.positions.range(place)) for place in places]


def renamable_at(
    reading: OpenText, position: types.Position
) -> types.PrepareRenamePlaceholder | None:
    """Return the name at a position and its range if it can be renamed."""
    offset = reading.positions.offset(position)
    if reading.document.is_experiment:
        return _renamable_in_experiment(reading, offset)
    name, places = places_of(reading.document, offset)
    place = next((each for each in places if each.touches(offset)), None)
    if place is None or reading.document.source.slice(place).strip("\"'") != name:
        return None
    return types.PrepareRenamePlaceholder(reading.positions.range(place), name)


def rename_at(reading: OpenText, position: types.Position, new: str) -> types.WorkspaceEdit | None:
    """Return the edits that rename the input or tool at a position.

    Raises:
        ValueError: the new name is invalid or in use; the text says which.
    """
    offset = reading.positions.offset(position)
    if reading.document.is_experiment:
        return _rename_in_experiment(reading, offset, new)
    name = name_at(reading.document, offset)
    if name is not None:
        return _with_files(reading, rename_everywhere(reading.document, name, new))
    tool = tool_at(reading.document, offset)
    return reading.workspace_edit(tool_rename(reading.document, tool, new)) if tool else None


def _definition_in_experiment(reading: OpenText, offset: int) -> types.Location | None:
    """Return the file named at an offset, or the declaration of the input whose value is there."""
    path = reading.document.source.path
    file = experiment_file_at(reading.document, offset)
    if file is not None and path is not None:
        start = types.Position(0, 0)
        return types.Location((path.parent / file).as_uri(), types.Range(start, start))
    found = value_name_at(reading.document, offset)
    declared = declaration_of(reading.document, found[0]) if found is not None else None
    if declared is None or declared[0].source.path is None:
        return None
    prompt, span = declared
    assert prompt.source.path is not None
    positions = Positions(prompt.source, reading.encoding)
    return types.Location(prompt.source.path.as_uri(), positions.range(span))


def _renamable_in_experiment(
    reading: OpenText, offset: int
) -> types.PrepareRenamePlaceholder | None:
    """Return the key of a row's value at an offset; it is renamed with the prompt's input."""
    found = value_name_at(reading.document, offset)
    if found is None or declaration_of(reading.document, found[0]) is None:
        return None
    return types.PrepareRenamePlaceholder(reading.positions.range(found[1].key), found[0])


def _rename_in_experiment(reading: OpenText, offset: int, new: str) -> types.WorkspaceEdit | None:
    """Return edits that rename an input in the experiment, its rows and its prompts.

    Raises:
        ValueError: the new name is invalid or in use; the text says which.
    """
    found = value_name_at(reading.document, offset)
    if found is None:
        return None
    return _with_files(reading, rename_everywhere(reading.document, found[0], new))


def _with_files(reading: OpenText, changes: Iterable[FileEdits]) -> types.WorkspaceEdit:
    """Combine the edits of all files in one workspace edit."""
    own = reading.document.source.path
    return types.WorkspaceEdit(
        changes={
            reading.uri if each.source.path == own else each.path.as_uri(): Positions(
                each.source, reading.encoding
            ).edits(each.edits)
            for each in changes
        }
    )


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: tuple[int, int]
    symbols: tuple[types.WorkspaceSymbol, ...]


class SymbolIndex:
    """An index of the names in the prompts of some folders."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self._encoding = encoding
        self._known: dict[Path, _Known] = {}

    def find(self, folders: tuple[Path, ...], query: str) -> list[types.WorkspaceSymbol]:
        """Find the prompts, inputs and tools whose names match a query, the best match first."""
        ranked: list[tuple[int, str, int, types.WorkspaceSymbol]] = []
        for path in prompt_files(folders):
            for symbol in self._symbols(path):
                points = score(query, symbol.name)
                if points is not None:
                    ranked.append((-points, symbol.name, len(ranked), symbol))
        ranked.sort(key=lambda each: each[:3])
        return [symbol for *_, symbol in ranked[:_MOST]]

    def _symbols(self, path: Path) -> tuple[types.WorkspaceSymbol, ...]:
        try:
            facts = path.stat()
            stamp = (facts.st_mtime_ns, facts.st_size)
            known = self._known.get(path)
            if known is None or known.stamp != stamp:
                text = read_bounded(path).decode("utf-8")
                known = _Known(stamp, tuple(_symbols_of(parse(text, path), self._encoding)))
                self._known[path] = known
        except (OSError, UnicodeDecodeError):
            return ()  # the file was removed or is not text
        return known.symbols


def _symbols_of(
    document: PromptDocument, encoding: PositionEncoding
) -> Iterator[types.WorkspaceSymbol]:
    path = document.source.path
    assert path is not None
    positions = Positions(document.source, encoding)
    uri, container = path.as_uri(), document.name or path.stem

    def symbol(name: str, kind: types.SymbolKind, start: int, end: int) -> types.WorkspaceSymbol:
        place = types.Range(positions.position(start), positions.position(end))
        return types.WorkspaceSymbol(
            types.Location(uri, place), name, kind, container_name=container
        )

    yield symbol(container, types.SymbolKind.File, 0, 0)
    for item in document.inputs:
        if item.name_span is not None:
            span = item.name_span
            yield symbol(item.name, types.SymbolKind.Variable, span.start, span.end)
    for tool in document.tools:
        if tool.span is not None:
            yield symbol(tool.name, types.SymbolKind.Function, tool.span.start, tool.span.end)
