"""Jinja's lexing rules with exact offsets: its own token stream knows lines only.

Statements that Jinja's parser does not make, each with its place.
"""

from __future__ import annotations

import re
from collections.abc import Generator, Iterator
from dataclasses import dataclass
from typing import cast

from jinja2 import TemplateSyntaxError, nodes
from jinja2.lexer import Lexer, Token

from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class Literal:
    """The author's own text."""

    text: str
    """As it is rendered: line ends are LF."""

    span: Span
    """As it stands in the template."""


@dataclass(frozen=True, slots=True)
class PlainExpression:
    """A `{{ dotted.name }}`."""

    path: tuple[str, ...]
    """The names between the dots."""

    offset: int
    """Where the first name begins."""

    span: Span
    """The whole tag."""


@dataclass(frozen=True, slots=True)
class Interpolation:
    """Any other `{{ … }}`."""

    expression: nodes.Expr
    """What is put in."""

    span: Span
    """The whole tag."""


_OPEN = re.compile(r"\{[{%#]")
_COMMENT_END = re.compile(r"[+-]?#\}")
_RAW = re.compile(r"\{%[-+]?\s*raw\s*(?:-%\}\s*|%\})")
_RAW_END = re.compile(r"\{%([-+]?)\s*endraw\s*(?:\+%\}|-%\}\s*|%\})")
_PLAIN = re.compile(r"\{\{[^\S\r\n]*([A-Za-z_]\w*(?:\.[A-Za-z_]\w*)*)[^\S\r\n]*\}\}", re.ASCII)
_NAME = re.compile(r"\s*([A-Za-z_][A-Za-z0-9_]*)(?!\w)")
_LINE = re.compile(r"[^\r\n]*(?:\r\n|\r|\n)|[^\r\n]+")
_WORDS_OF_JINJA = frozenset(
    ("true", "false", "none", "True", "False", "None", "not", "and", "or", "in", "is", "if", "else")
)
_CLOSING = {"{": "}", "(": ")", "[": "]"}

RUN = "run"
"""Token type of literal text and `{{ dotted.name }}` one after another: the most of any prompt.
Its value is a list of statements, made here without Jinja's parser."""


class JinjaTokens:
    """The tokens of a template; a token's `lineno` is its offset in code points."""

    def __init__(self, source: str, lexer: Lexer, base: int) -> None:
        self._source = source
        self._lexer = lexer
        self._base = base
        self.tags: list[Span] = []
        """Every tag that Jinja parses, in order, in the document's offsets."""
        self.raw_blocks: list[Span] = []
        """Every `{% raw %}` up to the end of its tag, in the document's offsets."""
        self._run: list[Literal | PlainExpression] = []
        self.tag_start = 0
        """Where the tag begins that is being read."""

    def __iter__(self) -> Iterator[Token]:
        source, position = self._source, 0
        while found := _OPEN.search(source, position):
            start = self.tag_start = found.start()
            self._literal(position, start, trims=source.startswith("-", start + 2))
            if source[start + 1] == "{":
                plain = _PLAIN.match(source, start)
                if plain is not None and self._plain(plain):
                    position = plain.end()
                    continue
                position = yield from self._tag(start, "variable")
            elif source[start + 1] == "#":
                position = self._comment(start)
            elif raw := _RAW.match(source, start):
                position = self._raw(raw.end(), start)
            else:
                position = yield from self._tag(start, "block")
        self._literal(position, len(source), trims=False)
        yield from self._flush()

    def _flush(self) -> Iterator[Token]:
        if self._run:
            run, self._run = self._run, []
            yield Token(self.tag_start, RUN, cast("str", run))

    def _literal(self, start: int, end: int, *, trims: bool) -> None:
        text = self._source[start:end]
        if trims:
            text = text.rstrip()
        if not text:
            return
        start += self._base
        if "\r" not in text:
            self._run.append(Literal(text, Span(start, start + len(text))))
            return
        # A piece ends behind each line end, so that offsets in it stay exact.
        for line in _LINE.findall(text):
            plain = line.replace("\r\n", "\n").replace("\r", "\n")
            self._run.append(Literal(plain, Span(start, start + len(line))))
            start += len(line)

    def _plain(self, found: re.Match[str]) -> bool:
        path = tuple(found[1].split("."))
        if path[0] in _WORDS_OF_JINJA:
            return False
        start, end = found.span()
        base = self._base
        self._run.append(
            PlainExpression(path, found.start(1) + base, Span(start + base, end + base))
        )
        return True

    def _comment(self, start: int) -> int:
        inner = start + 3 if self._source[start + 2 : start + 3] in ("-", "+") else start + 2
        end = _COMMENT_END.search(self._source, inner)
        if end is None:
            raise TemplateSyntaxError("this comment is never closed by '#}'", start)
        return self._behind(end)

    def _raw(self, position: int, start: int) -> int:
        end = _RAW_END.search(self._source, position)
        if end is None:
            raise TemplateSyntaxError("this raw block is never closed by '{% endraw %}'", start)
        self.raw_blocks.append(
            Span(start + self._base, self._source.index("%}", start) + 2 + self._base)
        )
        self._literal(position, end.start(), trims=end[1] == "-")
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
        yield from self._flush()
        yield Token(start, f"{kind}_begin", source[start:position])
        awaited: list[str] = []
        rules = self._lexer.rules[f"{kind}_begin"]
        while True:
            if name := _NAME.match(source, position):
                # The most common token by far; the rules below would try four patterns first.
                yield Token(name.start(1), "name", name[1])
                position = name.end()
                continue
            for pattern, token_type, _ in rules:
                match = pattern.match(source, position)
                if match is None or (awaited and token_type == f"{kind}_end"):
                    continue
                text = match.group()
                if token_type == f"{kind}_end":
                    end = position + len(text.rstrip()) + self._base
                    self.tags.append(Span(start + self._base, end))
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
