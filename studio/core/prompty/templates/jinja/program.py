"""Parse a Jinja template into statements with their spans.

Also explains errors in a template in plain words, with a fix.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import TemplateSyntaxError, nodes
from jinja2.environment import Environment
from jinja2.lexer import TokenStream
from jinja2.parser import Parser

from studio.core.prompty.templates.jinja.tokens import (
    RUN,
    Interpolation,
    JinjaTokens,
    mustache,
    of_another_language,
)
from studio.core.text.naming import nearest
from studio.core.text.source import Mistake, Span, fixable

_CLOSING = {"{{": "}}", "{%": "%}"}
_BLOCKS = ("if", "for", "set", "macro", "raw", "filter", "call", "with")
_TAGS = ("elif", "else", *(start + name for name in _BLOCKS for start in ("", "end")))
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(?P<name>[^']*)'")
_EXPECTED = re.compile(r"expected token '(?P<wanted>.+)', got '(?P<found>.+)'")
_NO_EXPRESSION = re.compile(r"(?:Expected an expression, got|^unexpected) '(?P<found>.+ .+)'")
_UNBALANCED = re.compile(r"unexpected '(?P<found>.)', expected '(?P<wanted>[)\]}])'")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_FIRST_WORD = re.compile(r"[-+]?[ \t]*(\w+)")
_SPACED_END = re.compile(rf"end[ \t]+(?P<block>{'|'.join(_BLOCKS)})\b")
_ENDS = re.compile(r"[\w.]*[ \t]*(?:[-+]?%\}|\||if\b|recursive\b)")
"""Matches the end of a loop's source."""
_WORDS = {
    "end of print statement": "}}",
    "end of statement block": "%}",
    "begin of statement block": "{%",
    "begin of print statement": "{{",
    "name": "a name",
    "string": "a text in quotes",
    "integer": "a number",
}


_THEIRS = {
    "expected name or number": "the name of a field is missing after this dot",
    "expected subscript expression": "something is missing between these brackets",
    "can't assign to": "a value can only be given to a name",
    "non-default argument follows": "a parameter without a default must come before those with one",
    "expected call": "'call' needs a macro with parentheses",
    "invalid syntax for function call": "a value without a name must come before those with one",
    "You cannot chain multiple tests": "one 'is' follows another; join two tests with 'and'",
    "Block names in Jinja": "the name of a block has no hyphen; write _",
    "Required blocks can only": "a required block contains only comments",
    "Exceeds the limit": "this number has too many digits",
}
"""The studio's texts for Jinja's error messages."""


def explain(
    message: str, span: Span, source: str, tag: int, opened: Sequence[tuple[int, str]]
) -> Mistake:
    """Explain an error in plain words.

    Args:
        message: message of Jinja or of the studio.
        span: span at which the parser stopped.
        source: the template.
        tag: start of the tag in which it stopped.
        opened: blocks open there: offset and name of the tag.
    """
    return (
        mustache(source, tag)
        or _unclosed(message, source, tag, span)
        or _wrong_end(message, source, tag, span)
        or _open_bracket(message, source, tag, span)
        or of_another_language(message, span, source, tag, opened)
        or _unknown_tag(message, source, span, opened)
        or _expected(message, source, span)
        or _left_over(message, source, span)
    )


def _unclosed(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report a tag that continues into another tag or to the end of the text."""
    opening = source[tag : tag + 2]
    if opening not in _CLOSING:
        return None
    line_end, closing = source.find("\n", tag), _CLOSING[opening]
    line_end = len(source) if line_end < 0 else line_end
    if span.start < line_end and "never closed" not in message:
        return None  # the error is in its own line
    end = source.find(closing, tag + 2)
    nexts = [at for at in (source.find(each, tag + 2) for each in _CLOSING) if at >= 0]
    if end >= 0 and end < min(nexts, default=len(source)):
        return None  # a tag over several lines
    at = tag + len(source[tag:line_end].rstrip())
    half = source.endswith(closing[0], tag + 2, at) and "{" not in source[tag + 2 : at]
    right, words = " " * (not half) + closing, f"this {opening} is never closed by {closing}"
    return fixable(words, Span(tag, tag + 2), f"Close it with {closing}", right, at - half, at)


def _wrong_end(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report `}` or the end of another kind of tag in place of the tag's own."""
    closing = _CLOSING.get(source[tag : tag + 2])
    if closing is None or not message.startswith("unexpected '}'"):
        return None
    if closing == "%}" and source[span.start - 1] == "%" and _UNBALANCED.match(message):
        return None  # the tag's own end: a bracket in it is not closed
    start = span.start - (closing == "}}" and source[span.start - 1 : span.start] == "%")
    end = span.start + 1 + (source[span.start + 1 : span.start + 2] == "}")
    if closing == "%}" and source.startswith("}%", span.start) and source[end : end + 1] != "}":
        end = span.start + 2
    found = source[start:end]
    if found == closing:
        return None
    word = _FIRST_WORD.match(source, tag + 2)
    if found == "%}" and word is not None and word[1] in _TAGS:
        words = f"the tag {word[1]!r} begins with {{%, not {{{{"
        return fixable(words, Span(tag, tag + 2), "Write {%", "{%")
    words = f"a tag that starts with {source[tag : tag + 2]} ends with {closing}, not {found}"
    return fixable(words, span, f"Write {closing}", closing, start, end)


def _open_bracket(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report a bracket that is closed by the tag's end or by a wrong bracket."""
    found = _UNBALANCED.match(message)
    if found is None:
        return None
    closing, here = found["wanted"], found["found"]
    if here in (")", "]"):
        return fixable(f"{closing} belongs here, not {here}", span, f"Write {closing}", closing)
    opening = _BRACKETS[closing]
    depth, start = 0, span.start
    for start in range(span.start - 1, tag + 1, -1):
        depth += (source[start] == closing) - (source[start] == opening)
        if depth < 0:
            break
    at = len(source[: span.start].rstrip().removesuffix("%").rstrip())
    words, title = f"this {opening} is never closed by {closing}", f"Close it with {closing}"
    return fixable(words, Span(start, start + 1), title, closing, at)


def _unknown_tag(
    message: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    found = _UNKNOWN_TAG.search(message)
    if found is None:
        return None
    name, inner = found["name"], opened[-1][1] if opened else ""
    if name.startswith("end") and name in _TAGS:
        return _wrong_block_end(name, source, span, opened)
    if name in ("else", "elif"):
        after = "comes after the 'else' of its 'if', which is the last"
        where = after if inner == "if" else "is outside of an 'if'"
        return Mistake(f"this {name!r} {where}", span)
    if spaced := _SPACED_END.match(source, span.start):
        word = f"end{spaced['block']}"
        return fixable(f"{word!r} is one word", Span(*spaced.span()), f"Write {word}", word)
    if name == "end" and opened:
        words = f"the {inner!r} is closed by 'end{inner}', not by 'end'"
        return fixable(words, span, f"Change to 'end{inner}'", f"end{inner}")
    tag, line = source.rfind("{%", 0, span.start), source[span.end :].split("\n", maxsplit=1)[0]
    if tag >= 0 and "}}" in line.split("%}", maxsplit=1)[0]:
        words = "write a value between {{ and }}, not after {%"
        return fixable(words, Span(tag, tag + 2), "Write {{", "{{")
    words = f"there is no tag {name!r}"
    if near := nearest(name, _TAGS):
        words += f"; did you mean {near!r}?"
        return fixable(words, span, f"Change to {near!r}", near)
    return Mistake(words, span)


def _wrong_block_end(
    name: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake:
    block = name[3:]
    if not opened:
        return Mistake(f"this {name!r} closes nothing: no {block!r} is open here", span)
    start, inner = opened[-1]
    lines = source.count("\n", start, span.start)
    where = "in this line" if not lines else f"{lines} lines above" if lines > 1 else "a line above"
    words = f"the {inner!r} {where} is closed by 'end{inner}', but {name!r} is here"
    around = sum(each == block for _, each in opened[:-1])
    rest = re.findall(rf"\{{%[-+]?[ \t]*(end)?{block}\b", source[span.end :])
    if around > rest.count("end") - rest.count(""):  # later ones do not close the open block
        at = source.rfind("{%", 0, span.start)
        return fixable(words, span, f"Put end{inner} before it", f"{{% end{inner} %}}", at)
    return fixable(words, span, f"Write end{inner}", f"end{inner}")


def _expected(message: str, source: str, span: Span) -> Mistake | None:
    if missing := _NO_EXPRESSION.search(message):
        what = _WORDS.get(missing["found"], missing["found"])
        return Mistake(f"something is missing before {what}: a name or a value", span)
    found = _EXPECTED.search(message)
    if found is None:
        return None
    wanted, here = (_WORDS.get(each, each) for each in (found["wanted"], found["found"]))
    text, before = source[span.start : span.end], source[: span.start].rstrip(" \t")
    if here == "=" and wanted == "%}":
        return fixable("one = sets a value; two compare", span, "Write ==", "==")
    if here == "if" and before.endswith("else"):
        place = Span(len(before) - len("else"), span.end)
        return fixable("'else if' is written 'elif'", place, "Write elif", "elif")
    if wanted in ("}}", "%}") and text.isidentifier():
        words = "is not expected: the tag should end before it, or an operator is missing"
        return Mistake(f"{here!r} {words}", span)
    if wanted == "in" and _ENDS.match(source, span.end):
        words = f"the word 'in' is missing before {here!r}"
        return fixable(words, span, "Put in before it", "in ", span.start)
    if wanted.isidentifier() and found["wanted"] not in _WORDS:
        words = f"the word {wanted!r} belongs here, not {here!r}"
        fixed = fixable(words, span, f"Write {wanted}", wanted)
        return fixed if text == here else Mistake(words, span)
    return Mistake(f"{wanted} belongs here, not {here}", span)


def _left_over(message: str, source: str, span: Span) -> Mistake:
    """Translate Jinja's remaining messages to plain sentences."""
    here = source[span.start : span.end] or "the end"
    if message == "tag name expected":
        return Mistake(f"a tag starts with a word such as 'if' or 'for', not with {here}", span)
    if message.startswith("unexpected '"):
        return Mistake(f"{here} does not belong here", span)
    starts = (ours for theirs, ours in _THEIRS.items() if message.startswith(theirs))
    return Mistake(next(starts, message), span)


@dataclass(frozen=True, slots=True)
class Program:
    """A parsed template."""

    body: list[Any]
    """Its statements, typed loosely because Jinja's bodies are."""

    tags: tuple[Span, ...]
    """Every tag, in order."""

    base: int
    """Offset of the template in the document; spans include it, Jinja's nodes do not."""

    error: Mistake | None = None
    """Error in the template; `body` then contains the complete part before it."""

    raw_blocks: tuple[Span, ...] = ()
    """Opening tags of all `{% raw %}` blocks."""

    def tag_at(self, offset: int) -> Span:
        """Return the tag at an offset in the template."""
        offset += self.base
        index = bisect_right(self.tags, offset, key=lambda tag: tag.start) - 1
        if index < 0 or offset >= self.tags[index].end:
            return Span(offset, offset)
        return self.tags[index]


def read_program(
    source: str,
    environment: Environment,
    base: int = 0,
    parser_class: type[ProgramParser] | None = None,
) -> Program:
    """Parse a template; one with an error is parsed up to the tag before it."""
    tokens = JinjaTokens(source, environment.lexer, base)
    parser = (parser_class or ProgramParser)(environment, tokens, base)
    try:
        body = parser.read()
    except TemplateSyntaxError as error:
        mistake = _mistake(error, source, tokens, parser)
    except RecursionError:
        place = Span(tokens.tag_start, tokens.tag_start + 2)
        mistake = Mistake("the expressions are nested too deeply", place)
    else:
        return Program(body, tuple(tokens.tags), base, raw_blocks=tuple(tokens.raw_blocks))
    mistake, cut = mistake.shift(base), parser.outermost(tokens.tag_start)
    if cut >= len(source):
        return Program([], (), base, mistake)
    before = read_program(source[:cut], environment, base, parser_class)
    return Program(before.body, before.tags, base, mistake)


def _mistake(
    error: TemplateSyntaxError, source: str, tokens: JinjaTokens, parser: ProgramParser
) -> Mistake:
    """Return the error, explained by Jinja's message or the studio's."""
    message = error.message or "the template cannot be read"
    if message.startswith("Unexpected end of template") and parser.opened:
        start, name = parser.opened[-1]
        return Mistake(f"this {name!r} is never closed by 'end{name}'", _tag_span(source, start))
    opened = [each for each in parser.opened if each[0] < tokens.tag_start]
    place = _word_span(source, min(error.lineno, len(source)))
    return explain(message, place, source, tokens.tag_start, opened)


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
    """Jinja's parser, which here produces statements with spans."""

    def __init__(self, environment: Environment, tokens: JinjaTokens, base: int) -> None:
        # Jinja's constructor would tokenize the source without offsets.
        self.environment = environment
        self._base = base
        self._tokens = tokens
        self.opened: list[tuple[int, str]] = []
        """Open block tags: offset and name."""
        self.name = self.filename = None
        self.closed = False
        self.extensions = {}
        self._last_identifier = 0
        self._tag_stack = []
        self._end_token_stack = []
        self.stream = TokenStream(iter(()), None, None)

    def read(self) -> list[Any]:
        """Parse the whole template."""
        self.stream = TokenStream(iter(self._tokens), None, None)
        return self.subparse()

    def outermost(self, otherwise: int) -> int:
        """Return the start of the outermost open block."""
        return self.opened[0][0] if self.opened else otherwise

    def subparse(self, end_tokens: tuple[str, ...] | None = None) -> list[nodes.Node]:
        """Parse statements up to one of the end tokens."""
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
