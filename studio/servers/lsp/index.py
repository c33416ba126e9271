"""The names of all prompts in the editor's folders, read again where a file has changed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lsprotocol import types

from studio.application.document.prompt_files import prompt_files
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.parse import parse
from studio.core.text.fuzzy import score
from studio.servers.lsp.positions import PositionEncoding, Positions

_MOST = 200


@dataclass(frozen=True, slots=True)
class _Known:
    stamp: tuple[int, int]
    symbols: tuple[types.WorkspaceSymbol, ...]


class SymbolIndex:
    """What stands in the prompts of some folders."""

    def __init__(self, encoding: PositionEncoding) -> None:
        self._encoding = encoding
        self._known: dict[Path, _Known] = {}

    def find(self, folders: tuple[Path, ...], query: str) -> list[types.WorkspaceSymbol]:
        """The prompts, inputs and tools whose name answers a query, the best first."""
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
                text = path.read_text(encoding="utf-8")
                known = _Known(stamp, tuple(_symbols_of(parse(text, path), self._encoding)))
                self._known[path] = known
        except (OSError, UnicodeDecodeError):
            return ()  # a file that is gone, or is not a text, names nothing
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
