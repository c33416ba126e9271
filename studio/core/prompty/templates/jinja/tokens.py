"""Jinja's lexer rules with exact offsets, since its own token stream only has lines.

Also the statements that Jinja's parser does not have, with their spans, and the recognition of
other languages' syntax.
"""

import re
from collections.abc import Generator, Iterator, Sequence
from dataclasses import dataclass
from html import unescape
from typing import cast

from jinja2 import TemplateSyntaxError, nodes
from jinja2.lexer import Lexer, Token

from studio.core.text.source import Mistake, Span, fixable


@dataclass(frozen=True, slots=True)
class Literal:
    """A piece of the author's text."""

    text: str
    """Text as rendered, with LF line breaks."""

    span: Span
    """Span in the template."""


@dataclass(frozen=True, slots=True)
class PlainExpression:
    """An expression of the form `{{ dotted.name }}`."""

    path: tuple[str, ...]
    """The names between the dots."""

    offset: int
    """Offset of the first name."""

    span: Span
    """Span of the whole tag."""


@dataclass(frozen=True, slots=True)
class Interpolation:
    """Any other `{{ … }}`."""

    expression: nodes.Expr
    """The expression."""

    span: Span
    """Span of the whole tag."""


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
"""Token type for a run of literal text and `{{ dotted.name }}`, which is most of any prompt. Its
value is a list of statements, created without Jinja's parser.
"""


class JinjaTokens:
    """The tokens of a template; a token's `lineno` is its offset in code points."""

    def __init__(self, source: str, lexer: Lexer, base: int) -> None:
        self._source = source
        self._lexer = lexer
        self._base = base
        self.tags: list[Span] = []
        """Every tag that Jinja parses, in order, with offsets in the document."""
        self.raw_blocks: list[Span] = []
        """Every `{% raw %}` up to the end of its tag, with offsets in the document."""
        self._run: list[Literal | PlainExpression] = []
        self.tag_start = 0
        """Offset of the current tag."""

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
        # A piece ends after each line break, so that its offsets stay exact.
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
        """Return the offset after an end tag and the whitespace that it trims."""
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
                # The most frequent token by far; the rules below would try four patterns first.
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


# Syntax of other languages in a template: Mustache, Liquid, JavaScript, Python.

_CURLY = "“”„‘’"
_STRAIGHT = str.maketrans("“”„‘’", '"""\'\'')
_SIGNS = {"&&": "and", "||": "or", "&": "and", "!": "not", "$": "", ";": "", "@": ""}
"""Operators of other languages, with their replacements; an empty one removes the operator."""
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|apos|nbsp|#\d{2,4});")
_WORDS = ("AND", "OR", "NOT", "And", "Or", "Not", "IN", "IS", "ELSE", "IF")
_TAGS = {"foreach": "for", "each": "for", "endforeach": "endfor", "endeach": "endfor"}
_TAGS |= dict.fromkeys(("elseif", "elsif", "elsf"), "elif")
_TAGS |= dict.fromkeys(("assign", "let", "var", "capture"), "set") | {"endcapture": "endset"}
"""Tags of other template languages, with the equivalent tag here."""
_BLOCKS = {"each": "for", "foreach": "for", "unless": "if"}
_HANDLEBARS = re.compile(r"\{\{[-~]?[ \t]*(?P<sign>[#/^>&])[ \t]*(?P<word>\w*)[^{}\n]*\}\}")
_WRITTEN = {"#if": "{% if … %}", "#unless": "{% if not … %}", "&": "{{ … }}"}
_WRITTEN |= dict.fromkeys(("#each", "#for"), "{% for … in … %}")
_WRITTEN |= dict.fromkeys(("/if", "/unless"), "{% endif %}")
_WRITTEN |= dict.fromkeys(("/each", "/for"), "{% endfor %}")
"""Mustache-like tags with only one meaning, with the equivalent tag here."""
_TRIPLE = re.compile(r"\{\{\{[ \t]*(?P<path>[A-Za-z_][\w.]*)[ \t]*\}\}\}")
_FILTER_COLON = re.compile(r"\|[ \t]*(?P<name>\w+)[ \t]*\Z")
_RANGE = re.compile(
    r"(?P<low>(?:\([ \t]*)?\b[0-9]{1,9})[ \t]*\.\.\.?[ \t]*(?P<high>[0-9]{1,9})\b(?:[ \t]*\))?"
)
_CLOSES = {"{{": "}}", "{%": "%}"}


def of_another_language(
    message: str, span: Span, source: str, tag: int, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    """Return the error with a fix if the parser stopped at another language's syntax.

    Args:
        message: message of Jinja or of the studio.
        span: span at which the parser stopped.
        source: the template.
        tag: start of the tag in which it stopped.
        opened: blocks open there: offset and name of the tag.
    """
    return (
        _other_tag(message, source, span)
        or _slash_end(message, source, span, opened)
        or _range(message, source, tag, span)
        or _filter_colon(message, source, tag, span)
        or _arrow(message, source, span)
        or _other_word(message, source, span)
        or _sign(message, source, tag, span)
    )


def mustache(source: str, tag: int) -> Mistake | None:
    """Report `{{#each …}}` and `{{{ name }}}` in a template with Jinja tags."""
    if triple := _TRIPLE.match(source, tag):
        right, words = (
            f"{{{{ {triple['path']} }}}}",
            "three braces are Mustache syntax; here two insert the value",
        )
        return fixable(words, Span(*triple.span()), f"Write {right}", right)
    found = _HANDLEBARS.match(source, tag)
    if found is None:
        return None
    words = f"{found[0]} is Mustache, and the file is read as Jinja2"
    written = _WRITTEN.get("&" if found["sign"] == "&" else found["sign"] + found["word"])
    return Mistake(f"{words}, which writes {written}" if written else words, Span(*found.span()))


def _other_tag(message: str, source: str, span: Span) -> Mistake | None:
    """Report `elseif`, `foreach`, `assign`: other names for a tag."""
    name = source[span.start : span.end]
    if "unknown tag" not in message or name not in _TAGS:
        return None
    right = _TAGS[name]
    words = f"there is no tag {name!r}; it is called {right!r} here"
    return fixable(words, span, f"Change to {right!r}", right)


def _slash_end(
    message: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    """Report `{% /if %}`."""
    found = re.compile(r"/[ \t]*(\w+)").match(source, span.start)
    if message != "tag name expected" or found is None:
        return None
    right = "end" + (opened[-1][1] if opened else _BLOCKS.get(found[1], found[1]))
    words = f"a block is closed by its 'end': {right!r}, not {found[0]!r}"
    return fixable(words, Span(*found.span()), f"Write {right}", right)


def _range(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report `1..3`."""
    if not message.startswith(("expected name or number", "expected token", "unexpected")):
        return None
    for found in _RANGE.finditer(source, tag, _tag_end(source, tag)):
        if found.start() <= span.start <= found.end():
            low, place = found["low"].strip("( \t"), Span(*found.span())
            right = f"range({low}, {int(found['high']) + 1})"
            return fixable(f"numbers in a row are written {right}", place, f"Write {right}", right)
    return None


def _filter_colon(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report `city | default: 'x'`."""
    name = _FILTER_COLON.search(source, tag, span.start)
    if not message.endswith("got ':'") or name is None:
        return None
    behind = source[span.end : _tag_end(source, tag)]
    value = behind.strip("- \t")
    words = f"write the arguments of a filter in parentheses: {name['name']}(…)"
    if not value or "|" in value or ":" in value:
        return Mistake(words, span)
    end, right = span.end + behind.index(value) + len(value), f"({value})"
    return fixable(words, span, f"Write {name['name']}{right}", right, name.end("name"), end)


def _arrow(message: str, source: str, span: Span) -> Mistake | None:
    """Report `city->name` and `a === b`."""
    for start in range(span.start, max(-1, span.start - 3), -1):
        if source.startswith("->", start):
            place = Span(start, start + 2)
            return fixable("a field is written after a dot", place, "Write a dot", ".")
        if source.startswith(("===", "!=="), start):
            right, place = source[start : start + 2], Span(start, start + 3)
            return fixable(f"a template compares with {right}", place, f"Write {right}", right)
    return None


def _other_word(message: str, source: str, span: Span) -> Mistake | None:
    """Report `AND`, which is lower case here."""
    here = source[span.start : span.end]
    if here not in _WORDS or "got '" not in message:
        return None
    right = here.lower()
    return fixable(f"{right!r} is written in lower case", span, f"Write {right}", right)


def _sign(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """Report an operator of another language."""
    here, start = source[span.start], span.start
    if not message.startswith("unexpected character") and not message.endswith("got ';'"):
        return None
    if here in _CURLY:
        end = _tag_end(source, tag)
        right = source[start:end].translate(_STRAIGHT)
        words = "use straight quotes in a template"
        return fixable(words, span, "Write straight quotes", right, start, end)
    if entity := _ENTITY.match(source, start):
        right, words = unescape(entity[0]), f"{entity[0]} is HTML; here it is written"
        return fixable(f"{words} {right}", Span(*entity.span()), f"Write {right}", right)
    for sign, word in _SIGNS.items():
        if source.startswith(sign, start):
            place = Span(start, start + len(sign))
            if not word:
                return fixable(f"{sign} does not belong here", place, "Leave it out", "")
            words, right = f"a template has no {sign}: write {word}", word + " " * (word == "not")
            return fixable(words, place, f"Write {word}", right)
    if here == "?":
        return Mistake("a choice is written `a if condition else b`, not with ?", span)
    if not here.isprintable():
        words = f"here is an invisible character, U+{ord(here):04X}"
        return fixable(words, span, "Remove the character", "")
    return Mistake(f"{here} has no meaning in a template", span)


def _tag_end(source: str, tag: int) -> int:
    """Return the end of the tag, or of its line if it does not end."""
    ends = (source.find(_CLOSES.get(source[tag : tag + 2], "}}"), tag), source.find("\n", tag))
    return min((each for each in ends if each >= 0), default=len(source))
