"""The editor's lexer: from a line and the state before it to tokens and the next state.

Pure and without Qt. Lines are nested languages: YAML front matter, role markers with attributes,
template expressions, Markdown, fenced code, and YAML again in `tools:` and tool calls. Rules for
whole lines (their zone) are here; the content of a line is handled by Pygments tables.
"""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cache
from typing import Literal, TypeAlias, cast

from pygments.lexer import ExtendedRegexLexer, Lexer, LexerContext, RegexLexer
from pygments.lexers import get_lexer_by_name
from pygments.token import _TokenType
from pygments.util import ClassNotFound

from studio.application.highlight.lexer_tables import LINE_LEXERS, style_of

# The lexer's result for a line, and its state between lines.

Zone: TypeAlias = Literal["start", "front", "body", "yaml", "fence"]
Template: TypeAlias = Literal["jinja2", "mustache", "fstring"]


@dataclass(frozen=True, slots=True)
class Token:
    """A range of characters with one style, inside one line."""

    start: int
    """Offset of the first code point in the line."""

    end: int
    """Offset after the last code point."""

    style: str
    """Style, a key of `Theme.syntax`."""


@dataclass(frozen=True, slots=True)
class State:
    """The state between lines; hashable, for fast comparison."""

    zone: Zone = "start"
    """Zone of the line; `yaml` is a body section with YAML content."""

    delimiter: str = ""
    """Delimiter line of the front matter."""

    template: Template = "jinja2"
    """Template language of the front matter."""

    stack: tuple[str, ...] = ()
    """Pygments states of an unclosed expression; empty for none."""

    scalar: int = -1
    """Indentation of the key whose block scalar (`|`, `>`) may contain the line; -1 outside one."""

    fence: str = ""
    """Backticks or tildes that opened the fenced code."""

    language: str = ""
    """Language of the fence."""

    code: tuple[str, ...] = ()
    """Pygments states of the language inside the fence."""


START = State()
"""State before the first line."""

YAML_FILE = State(zone="front", delimiter="\0")
"""State before the first line of a YAML file."""

PYTHON_FILE = State(zone="fence", fence="\0", language="python")
"""State before the first line of a Python file: code in a fence that is never closed."""


_ROLES = "system|user|assistant|developer|tool|function|tools|thread"
_MARKER = re.compile(
    rf"(?P<hash>\s{{0,3}}#?\s*)(?P<role>{_ROLES})(?P<attributes>\[.*\])?(?P<colon>\s*:)\s*$",
    re.IGNORECASE,
)
_ATTRIBUTE = re.compile(
    r"""(?P<key>[\w.-]+)(?P<eq>\s*=\s*)(?P<value>"[^"]*"?|'[^']*'?|[^,\]]*)|(?P<other>.)"""
)
_YAML_TYPE = re.compile(r"""type\s*=\s*["']?tool_call["']?""")
_FENCE = re.compile(r"\s{0,3}(?P<mark>`{3,}|~{3,})(?P<info>[^`]*)$")
_TEMPLATE = re.compile(
    r"\s*(?:template|kind|format|type)\s*:\s*(?:\{[^{}]*?\b(?:kind|format|type)\s*:\s*)*"
    r"[\"']?(jinja2|mustache|fstring)[\"']?\s*(?:[,}].*|#.*)?$"
)
"""Matches the key for the template language, in all its forms."""
_BLOCK_SCALAR = re.compile(r"(?P<indent>[ ]*)(?:- )*[^#\s].*?:\s+[|>][+-]?\d?\s*(?:#.*)?$")
_EXPRESSION = {
    "jinja2": re.compile(r"\{\{.*?\}\}|\{%.*?%\}|\{#.*?#\}"),
    "mustache": re.compile(r"\{\{\{.*?\}\}\}|\{\{.*?\}\}"),
    "fstring": re.compile(r"(?<!\{)\{[A-Za-z_][^{}]*\}(?!\})"),
}
_OWN_YAML = ("yaml", "yml")
_LONGEST = 20_000  # longer lines are shown without colors, so that no line can block the window


def lex_line(text: str, state: State) -> tuple[tuple[Token, ...], State]:
    """Return the tokens of a line without line break, and the next state.

    Args:
        text: the line; any text.
        state: the state returned for the previous line, or `START`.

    Returns:
        The tokens in order, not overlapping, and the state for the next line.
    """
    if len(text) > _LONGEST:
        return (), state if state.zone != "start" else replace(state, zone="body")
    match state.zone:
        case "start":
            return _start(text, state)
        case "front":
            return _front(text, state)
        case "fence":
            return _fenced(text, state)
        case _:
            return _body(text, state)


def _start(text: str, state: State) -> tuple[tuple[Token, ...], State]:
    line = text.removeprefix("\ufeff").rstrip()
    if line in ("---", "+++"):
        return (Token(0, len(text), "fence"),), replace(state, zone="front", delimiter=line)
    if not line:
        return (), state
    return _body(text, replace(state, zone="body"))


def _front(text: str, state: State) -> tuple[tuple[Token, ...], State]:
    if text.rstrip() == state.delimiter:
        done = replace(state, zone="body", scalar=-1, stack=())
        return (Token(0, len(text), "fence"),), done
    template = _TEMPLATE.match(text)
    if template:
        state = replace(state, template=cast("Template", template[1]))
    return _yaml(text, state, "front")


def _yaml(text: str, state: State, table: str) -> tuple[tuple[Token, ...], State]:
    """Return a line of YAML; a block scalar is text up to the first line that is not deeper."""
    if state.scalar >= 0:
        indent = len(text) - len(text.lstrip(" "))
        if not text.strip() or indent > state.scalar:
            tokens, stack = _inline(text, state, f"{table}-scalar")
            return tokens, state if stack == state.stack else replace(state, stack=stack)
        state = replace(state, scalar=-1)
    opens = _BLOCK_SCALAR.match(text)
    tokens, stack = _inline(text, state, table)
    if opens is None and stack == state.stack:
        return tokens, state
    return tokens, replace(state, stack=stack, scalar=len(opens["indent"]) if opens else -1)


def _body(text: str, state: State) -> tuple[tuple[Token, ...], State]:
    if not state.stack:
        marker = _MARKER.match(text)
        if marker and not (state.zone == "yaml" and text.startswith((" ", "\t"))):
            return _marker(marker, state)
        fence = _FENCE.match(text)
        if fence and state.zone == "body":
            language = fence["info"].strip().split(" ")[0].lower()
            begun = replace(state, zone="fence", fence=fence["mark"], language=language, code=())
            return (Token(0, len(text), "fence"),), begun
    if state.zone == "yaml":
        tokens, after = _yaml(text, state, "yaml")
        return tuple(_overlay(list(tokens), text, state.template)), after
    tokens, stack = _inline(text, state, "text")
    return tokens, state if stack == state.stack else replace(state, stack=stack)


def _marker(marker: re.Match[str], state: State) -> tuple[tuple[Token, ...], State]:
    """Return a role marker; `tools:` and tool calls continue with YAML."""
    tokens = [Token(*marker.span("role"), "role")]
    attributes = marker["attributes"]
    if attributes:
        tokens += _attributes(attributes, marker.start("attributes"), state.template)
    tokens.append(Token(*marker.span("colon"), "role"))
    if marker["hash"].strip():
        tokens.insert(0, Token(*marker.span("hash"), "role"))
    role = marker["role"].lower()
    yaml = role == "tools" or bool(attributes and _YAML_TYPE.search(attributes))
    after = replace(state, zone="yaml" if yaml else "body", scalar=-1, stack=())
    # `function:` inside a tool call is YAML if the next line is deeper; the section stays YAML.
    if state.zone == "yaml" and role == "function" and not attributes:
        return (Token(*marker.span("role"), "key"), Token(*marker.span("colon"), "punctuation")), (
            replace(state, scalar=-1)
        )
    return tuple(tokens), after


def _attributes(text: str, offset: int, template: Template) -> list[Token]:
    tokens = [Token(offset, offset + 1, "punctuation")]
    for match in _ATTRIBUTE.finditer(text, 1):
        if match["key"]:
            tokens.append(
                Token(offset + match.start("key"), offset + match.end("key"), "attribute")
            )
            tokens.append(
                Token(offset + match.start("eq"), offset + match.end("eq"), "punctuation")
            )
            span = match.span("value")
            inside = Token(offset + span[0], offset + span[1], "string")
            if span[0] < span[1]:
                tokens += _overlay([inside], " " * offset + text, template)
        elif not match["other"].isspace():
            tokens.append(Token(offset + match.start(), offset + match.end(), "punctuation"))
    return tokens


def _fenced(text: str, state: State) -> tuple[tuple[Token, ...], State]:
    mark = text.strip()
    if mark and set(mark) == {state.fence[0]} and len(mark) >= len(state.fence):
        return (Token(0, len(text), "fence"),), replace(
            state, zone="body", fence="", language="", code=()
        )
    tokens, code = _foreign(text, state.language, state.code)
    return tuple(_overlay(tokens, text, state.template)), replace(state, code=code)


def _inline(text: str, state: State, table: str) -> tuple[tuple[Token, ...], tuple[str, ...]]:
    """Run the line through a Pygments table, continuing an open expression."""
    lexer = LINE_LEXERS[state.template]
    context = LexerContext(text + "\n", 0, list(state.stack) or [table])
    tokens = tuple(_merge(lexer.get_tokens_unprocessed(context=context), len(text)))
    stack = tuple(context.stack)
    return tokens, stack if len(stack) > 1 else ()


@cache
def _language(name: str) -> Lexer | None:
    if not name:
        return None
    try:
        return get_lexer_by_name(name, stripnl=False, ensurenl=False)
    except ClassNotFound:
        return None


def _is_restartable(lexer: Lexer) -> bool:
    """Return whether tables are the lexer's whole state (YAML's also counts indentation)."""
    own = type(lexer).get_tokens_unprocessed
    return isinstance(lexer, RegexLexer) and own in (
        RegexLexer.get_tokens_unprocessed,
        ExtendedRegexLexer.get_tokens_unprocessed,
    )


def _foreign(
    text: str, language: str, stack: tuple[str, ...]
) -> tuple[list[Token], tuple[str, ...]]:
    """Return a line of another language; table-driven lexers continue from the previous line."""
    if language in _OWN_YAML:
        context = LexerContext(text + "\n", 0, ["front"])
        own = LINE_LEXERS["jinja2"].get_tokens_unprocessed(context=context)
        return list(_merge(own, len(text))), ()
    lexer = _language(language)
    if lexer is None:
        return ([Token(0, len(text), "code")] if text else []), ()
    if _is_restartable(lexer):
        context = LexerContext(text + "\n", 0, list(stack) or ["root"])
        try:
            # Any table can be restarted, unless one of its callbacks needs no context.
            found = ExtendedRegexLexer.get_tokens_unprocessed(lexer, context=context)  # type: ignore[arg-type]
            # Consume everything first: the line's end may change the state.
            return list(_merge(list(found), len(text))), tuple(context.stack)
        except TypeError:
            pass
    return list(_merge(lexer.get_tokens_unprocessed(text + "\n"), len(text))), ()


def _merge(found: Iterable[tuple[int, _TokenType, str]], length: int) -> Iterator[Token]:
    """Yield Pygments tokens as `Token`s: neighbors of one style joined, plain text omitted.

    It stops at the line's end, where every rule of a table would be tried again, since none of the
    rules changes the state there.
    """
    start = end = 0
    style = ""
    for index, kind, value in found:
        this = style_of(kind)
        if this != style or index != end:
            if style and start < end:
                yield Token(start, end, style)
            start, style = index, this
        end = index + len(value)
        if end > length:
            end = length
            break
    if style and start < end:
        yield Token(start, end, style)


def _overlay(tokens: list[Token], text: str, template: Template) -> list[Token]:
    """Replace other tokens at the template's expressions by the tokens of the expressions."""
    if "{" not in text:
        return tokens
    found: list[Token] = []
    for match in _EXPRESSION[template].finditer(text):
        context = LexerContext(match[0] + "\n", 0, ["text"])
        inner = _merge(LINE_LEXERS[template].get_tokens_unprocessed(context=context), len(match[0]))
        found += [
            Token(each.start + match.start(), each.end + match.start(), each.style)
            for each in inner
        ]
        tokens = [part for token in tokens for part in _without(token, *match.span())]
    return sorted([*tokens, *found], key=lambda token: token.start)


def _without(token: Token, start: int, end: int) -> Iterator[Token]:
    if token.end <= start or token.start >= end:
        yield token
        return
    if token.start < start:
        yield replace(token, end=start)
    if token.end > end:
        yield replace(token, start=end)
