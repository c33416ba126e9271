"""The colors of a prompt as semantic tokens."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from lsprotocol import types

from studio.application.highlight.lexer import lex_line
from studio.application.highlight.lexer_state import START, YAML_FILE
from studio.core.text.span import Span
from studio.servers.lsp.open_text import OpenText

_TYPES: Mapping[str, str] = MappingProxyType(
    {
        "key": "property",
        "role": "class",
        "attribute": "parameter",
        "string": "string",
        "number": "number",
        "constant": "keyword",
        "keyword": "keyword",
        "operator": "operator",
        "comment": "comment",
        "delimiter": "macro",
        "variable": "variable",
        "filter": "function",
        "name": "function",
        "reference": "decorator",
        "link": "string",
        "heading": "type",
        "code": "string",
    }
)
"""The protocol's type of each style of the lexer; styles that have none are plain text."""

_NUMBERS = {name: number for number, name in enumerate(dict.fromkeys(_TYPES.values()))}

LEGEND = types.SemanticTokensLegend(token_types=list(_NUMBERS), token_modifiers=[])


def semantic_tokens(reading: OpenText) -> types.SemanticTokens:
    """Every colored run of characters, in the relative form of the protocol."""
    if reading.document.agent_file:
        return types.SemanticTokens([])
    source, positions = reading.document.source, reading.positions
    data: list[int] = []
    state = YAML_FILE if reading.document.is_experiment else START
    last_line = last_start = 0
    starts = (*source.line_starts, len(source.text))
    for line, start in enumerate(source.line_starts):
        text = source.text[start : starts[line + 1]].rstrip("\r\n")
        tokens, state = lex_line(text, state)
        for token in tokens:
            kind = _TYPES.get(token.style)
            if kind is None:
                continue
            place = positions.range(Span(start + token.start, start + token.end))
            column, length = place.start.character, place.end.character - place.start.character
            if line != last_line:
                last_start = 0
            data += (line - last_line, column - last_start, length, _NUMBERS[kind], 0)
            last_line, last_start = line, column
    return types.SemanticTokens(data)
