"""Jinja's lexing rules with exact offsets: its own token stream knows lines only."""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator

from jinja2 import TemplateSyntaxError
from jinja2.lexer import Lexer, Token

from studio.core.text.span import Span

_OPEN = re.compile(r"\{[{%#]")
_COMMENT_END = re.compile(r"[+-]?#\}")
_RAW = re.compile(r"\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})")
_RAW_END = re.compile(r"\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\})")
_PLAIN = re.compile(r"\{\{[^\S\r\n]*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[^\S\r\n]*\}\}", re.ASCII)
_WORDS_OF_JINJA = frozenset(
    ("true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else")
)
_CLOSING = {"{": "}", "(": ")", "[": "]"}

PLAIN = "plain"
"""Token type of a `{{ dotted.name }}`, the most common expression, read without Jinja's parser."""


class JinjaTokens:
    """The tokens of a template; a token's `lineno` is its offset in code points."""

    def __init__(self, source: str, lexer: Lexer, base: int) -> None:
        self._source = source
        self._lexer = lexer
        self._base = base
        self.tags: list[Span] = []
        """Every `{{ … }}` and `{% … %}` read so far, in order, in the document's offsets."""
        self.tag_start = 0
        """Where the tag begins that is being read."""

    def __iter__(self) -> Iterator[Token]:
        source, position = self._source, 0
        while found := _OPEN.search(source, position):
            start = found.start()
            yield from self._data(position, start, self._trims(start + 2))
            self.tag_start = start
            if source[start + 1] == "{":
                plain = _PLAIN.match(source, start)
                if plain is not None and plain[1].partition(".")[0] not in _WORDS_OF_JINJA:
                    position = plain.end()
                    self._tagged(start, position)
                    yield Token(plain.start(1), PLAIN, plain[1])
                    continue
                position = yield from self._tag(start, "variable")
            elif source[start + 1] == "#":
                position = self._comment(start)
            elif raw := _RAW.match(source, start):
                position = yield from self._raw(raw.end(), start)
            else:
                position = yield from self._tag(start, "block")
        yield from self._data(position, len(source), trims=False)

    def _tagged(self, start: int, end: int) -> None:
        self.tags.append(Span(start + self._base, end + self._base))

    def _trims(self, position: int) -> bool:
        return self._source.startswith("-", position)

    def _data(self, start: int, end: int, trims: bool) -> Iterator[Token]:
        text = self._source[start:end]
        if trims:
            text = text.rstrip()
        if "\r" in text:
            # A piece ends behind each line end, so that offsets in it stay exact.
            for line in re.findall(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+", text):
                yield Token(start, "data", line)
                start += len(line)
        elif text:
            yield Token(start, "data", text)

    def _comment(self, start: int) -> int:
        end = _COMMENT_END.search(self._source, start + 2)
        if end is None:
            raise TemplateSyntaxError("this comment is never closed by '#}'", start)
        return self._behind(end)

    def _raw(self, position: int, start: int) -> Generator[Token, None, int]:
        end = _RAW_END.search(self._source, position)
        if end is None:
            raise TemplateSyntaxError("this raw block is never closed by '{% endraw %}'", start)
        yield from self._data(position, end.start(), end[1] == "-")
        return end.end()

    def _behind(self, end: re.Match[str]) -> int:
        """The offset behind an end tag and the white space that it trims."""
        position = end.end()
        if end[0].startswith("-"):
            while position < len(self._source) and self._source[position].isspace():
                position += 1
        return position

    def _tag(self, start: int, kind: str) -> Generator[Token, None, int]:
        source = self._source
        position = start + 3 if source[start + 2 : start + 3] in ("-", "+") else start + 2
        closing = "}}" if kind == "variable" else "%}"
        yield Token(start, f"{kind}_begin", source[start:position])
        awaited: list[str] = []
        rules = self._lexer.rules[f"{kind}_begin"]
        while True:
            for pattern, token_type, _ in rules:
                match = pattern.match(source, position)
                if match is None or (awaited and token_type == f"{kind}_end"):
                    continue
                text = match.group()
                if token_type == f"{kind}_end":
                    self._tagged(start, position + len(text.rstrip()))
                    yield Token(position, token_type, text)
                    return match.end()
                if token_type == "operator":
                    _balance(awaited, text, position)
                if token_type != "whitespace":
                    yield from self._wrapped(position, str(token_type), text)
                position = match.end()
                break
            else:
                if position >= len(source):
                    raise TemplateSyntaxError(f"this tag is never closed by {closing!r}", start)
                found = source[position]
                raise TemplateSyntaxError(
                    "this quote is never closed"
                    if found in "\"'"
                    else f"unexpected character {found!r}",
                    position,
                )

    def _wrapped(self, position: int, token_type: str, text: str) -> Iterator[Token]:
        try:
            yield from self._lexer.wrap(iter(((position, token_type, text),)))
        except ValueError as error:
            raise TemplateSyntaxError(str(error), position) from error


def _balance(awaited: list[str], text: str, position: int) -> None:
    if text in _CLOSING:
        awaited.append(_CLOSING[text])
    elif text in _CLOSING.values():
        if not awaited:
            raise TemplateSyntaxError(f"unexpected {text!r}", position)
        expected = awaited.pop()
        if expected != text:
            raise TemplateSyntaxError(f"unexpected {text!r}, expected {expected!r}", position)
