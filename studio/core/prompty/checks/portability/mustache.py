"""What runtimes make otherwise of a Mustache template: chevron, mustache.js and Stubble."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from studio.core.prompty.checks.portability.difference import BOTH, TS, RuntimeDifference, report
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.declarations import kind_of_value
from studio.core.prompty.known_fields import known_at
from studio.core.prompty.templates.mustache.tags import (
    MustacheVariable,
    Section,
    Text,
    read_mustache,
)
from studio.core.text.problem import Fix, TextEdit

_Piece = Text | MustacheVariable | Section


def mustache_differences(document: PromptDocument) -> Iterator[RuntimeDifference]:
    """All of a body."""
    pieces, _ = read_mustache(document.source.slice(document.body), document.body.start)
    yield from _differences(document, pieces, in_section=False)


def _differences(
    document: PromptDocument, pieces: Sequence[_Piece], *, in_section: bool
) -> Iterator[RuntimeDifference]:
    for piece in pieces:
        if isinstance(piece, Section):
            yield from _differences(document, piece.body, in_section=True)
        elif isinstance(piece, MustacheVariable):
            kind = None if in_section else _kind(document, piece.key)
            if kind in ("boolean", "float"):
                message = "TypeScript writes true for True, and 1 for 1.0."
                yield report("portable-value", piece.span, TS, message)
            elif piece.escapes and kind != "integer":
                yield _escaped(document, piece)


def _escaped(document: PromptDocument, piece: MustacheVariable) -> RuntimeDifference:
    raw = "{" + document.source.slice(piece.span) + "}"
    fix = Fix("Write three braces", (TextEdit(piece.span, raw),))
    message = (
        "Each runtime escapes other characters: TypeScript also ' / ` and =, C# also ' and "
        "letters such as é. Three braces escape none."
    )
    return report("portable-value", piece.span, BOTH, message, fix)


def _kind(document: PromptDocument, key: str) -> str | None:
    known = known_at(document, tuple(key.split("."))) if key != "." else None
    if known is None:
        return None
    kinds = {each.kind for each in known.declared}
    kinds = kinds or {kind_of_value(value) for value in known.values if value is not None}
    return kinds.pop() if len(kinds) == 1 else None
