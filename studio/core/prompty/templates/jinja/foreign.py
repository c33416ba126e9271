"""What stands in a template and is of another language: Mustache, Liquid, JavaScript, Python."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from html import unescape

from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_CURLY = "“”„‘’"
_STRAIGHT = str.maketrans("“”„‘’", '"""\'\'')
_SIGNS = {"&&": "and", "||": "or", "&": "and", "!": "not", "$": "", ";": "", "@": ""}
"""Signs of other languages, and the words that stand for them here; nothing: it is left out."""
_ENTITY = re.compile(r"&(?:gt|lt|amp|quot|apos|nbsp|#\d{2,4});")
_COMPARED = re.compile(r"(?:===|!==)")
_WORDS = {"AND": "and", "OR": "or", "NOT": "not", "And": "and", "Or": "or", "Not": "not",
          "IN": "in", "IS": "is", "ELSE": "else", "IF": "if"}  # fmt: skip
_TAGS = {"elseif": "elif", "elsif": "elif", "elsf": "elif", "foreach": "for", "each": "for",
         "endforeach": "endfor", "endeach": "endfor", "assign": "set", "let": "set", "var": "set",
         "capture": "set", "endcapture": "endset"}  # fmt: skip
"""Tags of other template languages by what they are here."""
_BLOCKS = {"if": "if", "for": "for", "each": "for", "foreach": "for", "unless": "if",
           "macro": "macro", "set": "set", "raw": "raw", "with": "with"}  # fmt: skip
_HANDLEBARS = re.compile(r"\{\{[-~]?[ \t]*(?P<sign>[#/^>&])[ \t]*(?P<word>\w*)[^{}\n]*\}\}")
_WRITTEN = {
    ("#", "if"): "{% if … %}", ("/", "if"): "{% endif %}",
    ("#", "unless"): "{% if not … %}", ("/", "unless"): "{% endif %}",
    ("#", "each"): "{% for … in … %}", ("/", "each"): "{% endfor %}",
    ("#", "for"): "{% for … in … %}", ("/", "for"): "{% endfor %}",
}  # fmt: skip
"""Tags of Mustache's kin that have one meaning, as they are written here."""
_TRIPLE = re.compile(r"\{\{\{[ \t]*(?P<path>[A-Za-z_][\w.]*)[ \t]*\}\}\}")
_FILTER_COLON = re.compile(r"\|[ \t]*(?P<name>\w+)[ \t]*\Z")
_RANGE = re.compile(
    r"(?P<low>(?:\([ \t]*)?\b[0-9]{1,9})[ \t]*\.\.\.?[ \t]*(?P<high>[0-9]{1,9})\b(?:[ \t]*\))?"
)
_CLOSES = {"{{": "}}", "{%": "%}"}


@dataclass(frozen=True, slots=True)
class Mistake:
    """A mistake, explained."""

    message: str
    """What is wrong."""

    span: Span
    """Where, in the template's own offsets."""

    fixes: tuple[Fix, ...] = ()
    """What can be done, in the same offsets."""


def of_another_language(
    message: str, span: Span, source: str, tag: int, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    """What is meant, where the reader stopped at something that another language has.

    Args:
        message: Jinja's own words, or ours.
        span: where the reader stopped.
        source: the template.
        tag: where the tag begins in which it stopped.
        opened: blocks that are open there: offset of the tag, and its name.
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
    """`{{#each …}}` and `{{{ name }}}`, in a template that has tags of Jinja."""
    triple = _TRIPLE.match(source, tag)
    if triple is not None:
        right = f"{{{{ {triple['path']} }}}}"
        fix = Fix(f"Write {right}", (TextEdit(Span(*triple.span()), right),))
        return Mistake(
            "three braces are Mustache's; here two put in the value", Span(*triple.span()), (fix,)
        )
    found = _HANDLEBARS.match(source, tag)
    if found is None:
        return None
    words = f"{found[0]} is Mustache, and the file is read as Jinja2"
    written = _WRITTEN.get(
        (found["sign"], found["word"]), "{{ … }}" if found["sign"] == "&" else ""
    )
    return Mistake(f"{words}, which writes {written}" if written else words, Span(*found.span()))


def _other_tag(message: str, source: str, span: Span) -> Mistake | None:
    """`elseif`, `foreach`, `assign`: the same tag under another name."""
    name = source[span.start : span.end]
    if "unknown tag" not in message or name not in _TAGS:
        return None
    right = _TAGS[name]
    fix = Fix(f"Change to {right!r}", (TextEdit(span, right),))
    return Mistake(f"there is no tag {name!r}; it is called {right!r} here", span, (fix,))


def _slash_end(
    message: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    """`{% /if %}`."""
    found = re.compile(r"/[ \t]*(\w+)").match(source, span.start)
    if message != "tag name expected" or found is None:
        return None
    block = opened[-1][1] if opened else _BLOCKS.get(found[1], found[1])
    place, right = Span(*found.span()), f"end{block}"
    fix = Fix(f"Write {right}", (TextEdit(place, right),))
    return Mistake(f"a block is closed by its 'end': {right!r}, not {found[0]!r}", place, (fix,))


def _range(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """`1..3`."""
    if not message.startswith(("expected name or number", "expected token", "unexpected")):
        return None
    for found in _RANGE.finditer(source, tag, _tag_end(source, tag)):
        if found.start() <= span.start <= found.end():
            low, high = found["low"].strip("( \t"), int(found["high"])
            right, place = f"range({low}, {high + 1})", Span(*found.span())
            fix = Fix(f"Write {right}", (TextEdit(place, right),))
            return Mistake(f"numbers in a row are written {right}", place, (fix,))
    return None


def _filter_colon(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """`city | default: 'x'`."""
    name = _FILTER_COLON.search(source, tag, span.start)
    if not message.endswith("got ':'") or name is None:
        return None
    end = _tag_end(source, tag)
    value = source[span.end : end].strip("- \t")
    words = f"the values of a filter stand in parentheses: {name['name']}(…)"
    if not value or "|" in value or ":" in value:
        return Mistake(words, span)
    start = name.end("name")
    at = span.end + source[span.end : end].index(value) + len(value)
    right = f"({value})"
    fix = Fix(f"Write {name['name']}{right}", (TextEdit(Span(start, at), right),))
    return Mistake(words, span, (fix,))


def _arrow(message: str, source: str, span: Span) -> Mistake | None:
    """`city->name` and `a === b`."""
    for start in (span.start, span.start - 1, span.start - 2):
        if start >= 0 and source.startswith("->", start):
            place = Span(start, start + 2)
            fix = Fix("Write a dot", (TextEdit(place, "."),))
            return Mistake("a field is written behind a dot", place, (fix,))
        compared = _COMPARED.match(source, start) if start >= 0 else None
        if compared is not None:
            place, right = Span(*compared.span()), compared[0][:2]
            fix = Fix(f"Write {right}", (TextEdit(place, right),))
            return Mistake(f"a template compares with {right}", place, (fix,))
    return None


def _other_word(message: str, source: str, span: Span) -> Mistake | None:
    """`AND`, where the word is small."""
    here = source[span.start : span.end]
    if here not in _WORDS or "got '" not in message:
        return None
    right = _WORDS[here]
    fix = Fix(f"Write {right}", (TextEdit(span, right),))
    return Mistake(f"{right!r} is written small", span, (fix,))


def _sign(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """A sign of another language, where templates have a word or nothing."""
    here = source[span.start]
    is_semicolon = message.endswith("got ';'")
    if not message.startswith("unexpected character") and not is_semicolon:
        return None
    if here in _CURLY:
        end = _tag_end(source, tag)
        straight = source[span.start : end].translate(_STRAIGHT)
        fix = Fix("Write straight quotes", (TextEdit(Span(span.start, end), straight),))
        return Mistake("quotes are straight in a template", span, (fix,))
    entity = _ENTITY.match(source, span.start)
    if entity is not None:
        right, place = unescape(entity[0]), Span(*entity.span())
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        return Mistake(f"{entity[0]} is HTML; here it is written {right}", place, (fix,))
    for sign, word in _SIGNS.items():
        if source.startswith(sign, span.start):
            place = Span(span.start, span.start + len(sign))
            edit = TextEdit(place, word + " " * (word == "not"))
            words = (
                f"a template has no {sign}: write {word}"
                if word
                else f"{sign} does not belong here"
            )
            return Mistake(
                words, place, (Fix(f"Write {word}" if word else "Leave it out", (edit,)),)
            )
    if here == "?":
        return Mistake("a choice is written `a if condition else b`, not with ?", span)
    if not here.isprintable():
        fix = Fix("Remove the character", (TextEdit(span, ""),))
        return Mistake(f"here stands a character that nobody sees, U+{ord(here):04X}", span, (fix,))
    return Mistake(f"{here} means nothing in a template", span)


def _tag_end(source: str, tag: int) -> int:
    """Where the tag ends, or its line where it does not end."""
    ends = (source.find(_CLOSES.get(source[tag : tag + 2], "}}"), tag), source.find("\n", tag))
    return min((each for each in ends if each >= 0), default=len(source))
