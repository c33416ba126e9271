"""A Jinja template read into statements that know where they stand."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass, replace
from typing import Any

from jinja2 import TemplateSyntaxError, nodes
from jinja2.environment import Environment
from jinja2.lexer import TokenStream
from jinja2.parser import Parser

from studio.core.prompty.templates.jinja.mistakes import explain
from studio.core.prompty.templates.jinja.statements import Interpolation
from studio.core.prompty.templates.jinja.tokens import RUN, JinjaTokens
from studio.core.text.problem import Fix
from studio.core.text.span import Span


@dataclass(frozen=True, slots=True)
class Program:
    """A template that was read."""

    body: list[Any]
    """Its statements; `Statement`, typed loosely because Jinja's bodies are."""

    tags: tuple[Span, ...]
    """Every tag, in order."""

    base: int
    """Where the template begins in the document; all spans count it in, Jinja's nodes do not."""

    error: SyntaxFault | None = None
    """What is wrong; `body` then holds what stands whole before it."""

    raw_blocks: tuple[Span, ...] = ()
    """The opening tag of every `{% raw %}`."""

    def tag_at(self, offset: int) -> Span:
        """The tag that holds an offset in the template."""
        offset += self.base
        index = bisect_right(self.tags, offset, key=lambda tag: tag.start) - 1
        if index < 0 or offset >= self.tags[index].end:
            return Span(offset, offset)
        return self.tags[index]


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """Why a template cannot be read."""

    message: str
    """In Jinja's words, or ours."""

    span: Span
    """Where."""

    cut: int
    """Up to where the template can be read, in its own offsets."""

    fixes: tuple[Fix, ...] = ()
    """What can be done."""

    def shift(self, by: int) -> SyntaxFault:
        """The same fault in a text in which the template begins at `by`."""
        return replace(
            self, span=self.span.shift(by), fixes=tuple(fix.shift(by) for fix in self.fixes)
        )


def read_program(
    source: str,
    environment: Environment,
    base: int = 0,
    parser_class: type[ProgramParser] | None = None,
) -> Program:
    """Read a template; one with a mistake is read up to the tag before it."""
    tokens = JinjaTokens(source, environment.lexer, base)
    parser = (parser_class or ProgramParser)(environment, tokens, base)
    try:
        body = parser.read()
    except TemplateSyntaxError as error:
        fault = _fault(error, source, tokens, parser)
    except RecursionError:
        fault = SyntaxFault(
            "the expressions are nested too deeply",
            Span(tokens.tag_start, tokens.tag_start + 2),
            parser.outermost(tokens.tag_start),
        )
    else:
        return Program(body, tuple(tokens.tags), base, raw_blocks=tuple(tokens.raw_blocks))
    fault = fault.shift(base)
    if fault.cut >= len(source):
        return Program([], (), base, fault)
    before = read_program(source[: fault.cut], environment, base, parser_class)
    return Program(before.body, before.tags, base, fault)


def _fault(
    error: TemplateSyntaxError, source: str, tokens: JinjaTokens, parser: ProgramParser
) -> SyntaxFault:
    offset = min(error.lineno, len(source))
    message = error.message or "the template cannot be read"
    cut = parser.outermost(tokens.tag_start)
    if message.startswith("Unexpected end of template") and parser.opened:
        start, name = parser.opened[-1]
        return SyntaxFault(
            f"this {name!r} is never closed by 'end{name}'", _tag_span(source, start), cut
        )
    opened = [each for each in parser.opened if each[0] < tokens.tag_start]
    found = explain(message, _word_span(source, offset), source, tokens.tag_start, opened)
    return SyntaxFault(found.message, found.span, cut, found.fixes)


def _tag_span(source: str, start: int) -> Span:
    end = source.find("%}", start)
    return Span(start, len(source) if end < 0 else end + 2)


def _word_span(source: str, offset: int) -> Span:
    end = offset
    while end < len(source) and (source[end].isalnum() or source[end] == "_"):
        end += 1
    if end == offset and end < len(source):
        end += 2 if source[offset : offset + 2] in ("{{", "{%", "{#", "%}", "}}") else 1
    return Span(offset, end)


class ProgramParser(Parser):
    """Jinja's parser, which here yields statements with their places."""

    def __init__(self, environment: Environment, tokens: JinjaTokens, base: int) -> None:
        # Jinja's own constructor would lex the source without offsets.
        self.environment = environment
        self._base = base
        self._tokens = tokens
        self.opened: list[tuple[int, str]] = []
        """Block tags that are open: offset of the tag and its name."""
        self.name = self.filename = None
        self.closed = False
        self.extensions = {}
        self._last_identifier = 0
        self._tag_stack = []
        self._end_token_stack = []
        self.stream = TokenStream(iter(()), None, None)

    def read(self) -> list[Any]:
        """Read the whole template."""
        self.stream = TokenStream(iter(self._tokens), None, None)
        return self.subparse()

    def outermost(self, otherwise: int) -> int:
        """Where the outermost open block begins."""
        return self.opened[0][0] if self.opened else otherwise

    def subparse(self, end_tokens: tuple[str, ...] | None = None) -> list[nodes.Node]:
        """Read statements up to one of the end tokens."""
        if end_tokens is not None:
            self._end_token_stack.append(end_tokens)
        body: list[Any] = []
        stream = self.stream
        while stream:
            token = stream.current
            if token.type == RUN:
                body += token.value
                next(stream)
            elif token.type == "variable_begin":
                next(stream)
                expression = self.parse_tuple(with_condexpr=True)
                span = self._tokens.tags[-1] if stream.current.type == "variable_end" else None
                stream.expect("variable_end")
                assert span is not None
                body.append(Interpolation(expression, span))
            else:
                start = token.lineno
                next(stream)
                if end_tokens is not None and stream.current.test_any(*end_tokens):
                    break
                self._parse_block(body, start)
        if end_tokens is not None:
            self._end_token_stack.pop()
        return body

    def _parse_block(self, body: list[Any], start: int) -> None:
        self.opened.append((start, str(self.stream.current.value)))
        statement = self.parse_statement()
        self.opened.pop()
        body.extend(statement if isinstance(statement, list) else (statement,))
        self.stream.expect("block_end")
