"""What is meant by a mistake in a template, in the words of a colleague, with the fix."""

from __future__ import annotations

import re
from collections.abc import Sequence

from studio.core.prompty.templates.jinja.foreign import Mistake, mustache, of_another_language
from studio.core.text.naming import nearest
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_CLOSING = {"{{": "}}", "{%": "%}"}
_TAGS = ("if", "elif", "else", "endif", "for", "endfor", "set", "endset", "macro", "endmacro",
         "raw", "endraw", "filter", "endfilter", "call", "endcall", "with", "endwith")  # fmt: skip
_UNKNOWN_TAG = re.compile(r"Encountered unknown tag '(?P<name>[^']*)'")
_EXPECTED = re.compile(r"expected token '(?P<wanted>.+)', got '(?P<found>.+)'")
_NO_EXPRESSION = re.compile(r"(?:Expected an expression, got|^unexpected) '(?P<found>.+ .+)'")
_UNBALANCED = re.compile(r"unexpected '(?P<found>.)', expected '(?P<wanted>[)\]}])'")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_FIRST_WORD = re.compile(r"[-+]?[ \t]*(\w+)")
_SPACED_END = re.compile(r"end[ \t]+(?P<block>if|for|set|macro|raw|filter|call|with)\b")
_ENDS = re.compile(r"[\w.]*[ \t]*(?:[-+]?%\}|\||if\b|recursive\b)")
"""What follows the source of a loop."""
_WORDS = {
    "end of print statement": "}}",
    "end of statement block": "%}",
    "begin of statement block": "{%",
    "begin of print statement": "{{",
    "name": "a name",
    "string": "a text in quotes",
    "integer": "a number",
}


_THEIRS: tuple[tuple[str, str], ...] = (
    ("expected name or number", "the name of a field belongs behind this dot"),
    ("expected subscript expression", "something is missing between these brackets"),
    ("can't assign to", "a value can only be given to a name"),
    ("non-default argument follows", "a parameter without a default stands before those with one"),
    ("expected call", "'call' wants a macro with its parentheses"),
    ("invalid syntax for function call", "a value without a name stands before those with one"),
    ("You cannot chain multiple tests", "one 'is' follows another; join two tests with 'and'"),
    ("Block names in Jinja", "the name of a block has no hyphen; write _"),
    ("Required blocks can only", "a required block holds nothing but comments"),
    ("Exceeds the limit", "this number has too many digits"),
)
"""Jinja's words, and ours."""


def explain(
    message: str, span: Span, source: str, tag: int, opened: Sequence[tuple[int, str]]
) -> Mistake:
    """Put a mistake in words that help.

    Args:
        message: Jinja's own words, or ours.
        span: where the reader stopped.
        source: the template.
        tag: where the tag begins in which it stopped.
        opened: blocks that are open there: offset of the tag, and its name.
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
    """A tag that goes on over its line into another tag, or to the end of the text."""
    opening = source[tag : tag + 2]
    if opening not in _CLOSING:
        return None
    line_end = source.find("\n", tag)
    line_end = len(source) if line_end < 0 else line_end
    if span.start < line_end and "never closed" not in message:
        return None  # what is wrong stands in its own line
    end = source.find(_CLOSING[opening], tag + 2)
    nexts = [at for at in (source.find(each, tag + 2) for each in _CLOSING) if at >= 0]
    if end >= 0 and end < min(nexts, default=len(source)):
        return None  # a tag of several lines
    closing = _CLOSING[opening]
    at = tag + len(source[tag:line_end].rstrip())
    half = source.endswith(closing[0], tag + 2, at) and "{" not in source[tag + 2 : at]
    place = Span(at - half, at)
    fix = Fix(f"Close it with {closing}", (TextEdit(place, closing if half else f" {closing}"),))
    return Mistake(f"this {opening} is never closed by {closing}", Span(tag, tag + 2), (fix,))


def _wrong_end(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """`}` or the other tag's end, in the place of the tag's own."""
    closing = _CLOSING.get(source[tag : tag + 2])
    if closing is None or not message.startswith("unexpected '}'"):
        return None
    if closing == "%}" and source[span.start - 1] == "%" and _UNBALANCED.match(message):
        return None  # the tag's own end: a bracket in it is open
    start = span.start - (closing == "}}" and source[span.start - 1 : span.start] == "%")
    end = span.start + 1 + (source[span.start + 1 : span.start + 2] == "}")
    if closing == "%}" and source.startswith("}%", span.start) and source[end : end + 1] != "}":
        end = span.start + 2
    found = source[start:end]
    if found == closing:
        return None
    word = _FIRST_WORD.match(source, tag + 2)
    if found == "%}" and word is not None and word[1] in _TAGS:
        fix = Fix("Write {%", (TextEdit(Span(tag, tag + 2), "{%"),))
        return Mistake(f"the tag {word[1]!r} begins with {{%, not {{{{", Span(tag, tag + 2), (fix,))
    fix = Fix(f"Write {closing}", (TextEdit(Span(start, end), closing),))
    words = f"a tag that begins with {source[tag : tag + 2]} ends with {closing}, not {found}"
    return Mistake(words, span, (fix,))


def _open_bracket(message: str, source: str, tag: int, span: Span) -> Mistake | None:
    """A bracket that the tag's end, or another bracket, stands in the place of."""
    found = _UNBALANCED.match(message)
    if found is None:
        return None
    closing, here = found["wanted"], found["found"]
    if here in _BRACKETS and here != "}":
        fix = Fix(f"Write {closing}", (TextEdit(span, closing),))
        return Mistake(f"{closing} belongs here, not {here}", span, (fix,))
    opening = _BRACKETS[closing]
    depth, start = 0, span.start
    for start in range(span.start - 1, tag + 1, -1):
        depth += (source[start] == closing) - (source[start] == opening)
        if depth < 0:
            break
    at = len(source[: span.start].rstrip().removesuffix("%").rstrip())
    fix = Fix(f"Close it with {closing}", (TextEdit(Span(at, at), closing),))
    words = f"this {opening} is never closed by {closing}"
    return Mistake(words, Span(start, start + 1), (fix,))


def _unknown_tag(
    message: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake | None:
    found = _UNKNOWN_TAG.search(message)
    if found is None:
        return None
    name = found["name"]
    if name.startswith("end") and name in _TAGS:
        return _wrong_block_end(name, source, span, opened)
    if name in ("else", "elif"):
        return _stray_else(name, span, opened)
    spaced = _SPACED_END.match(source, span.start)
    if spaced is not None:
        place, word = Span(*spaced.span()), f"end{spaced['block']}"
        fix = Fix(f"Write {word}", (TextEdit(place, word),))
        return Mistake(f"{word!r} is one word", place, (fix,))
    if name == "end" and opened:
        word = f"end{opened[-1][1]}"
        words = f"the {opened[-1][1]!r} is closed by {word!r}, not by 'end'"
        return Mistake(words, span, (Fix(f"Change to {word!r}", (TextEdit(span, word),)),))
    near = nearest(name, _TAGS)
    tag, line = source.rfind("{%", 0, span.start), source[span.end :].split("\n", maxsplit=1)[0]
    if tag >= 0 and "}}" in line.split("%}", maxsplit=1)[0]:
        fix = Fix("Write {{", (TextEdit(Span(tag, tag + 2), "{{"),))
        return Mistake(
            "a value stands between {{ and }}, not behind {%", Span(tag, tag + 2), (fix,)
        )
    if not near:
        return Mistake(f"there is no tag {name!r}", span)
    fix = Fix(f"Change to {near!r}", (TextEdit(span, near),))
    return Mistake(f"there is no tag {name!r}; did you mean {near!r}?", span, (fix,))


def _stray_else(name: str, span: Span, opened: Sequence[tuple[int, str]]) -> Mistake:
    """`else` or `elif` where none can stand."""
    if opened and opened[-1][1] == "if":
        return Mistake(f"this {name!r} comes after the 'else' of its 'if', which is the last", span)
    return Mistake(f"this {name!r} stands outside of an 'if'", span)


def _wrong_block_end(
    name: str, source: str, span: Span, opened: Sequence[tuple[int, str]]
) -> Mistake:
    if not opened:
        return Mistake(f"this {name!r} closes nothing: no {name[3:]!r} is open here", span)
    start, inner = opened[-1]
    line = source.count("\n", 0, start) - source.count("\n", 0, span.start)
    where = "in this line" if not line else f"{-line} lines above" if line < -1 else "a line above"
    words = f"the {inner!r} {where} is closed by 'end{inner}', and here stands {name!r}"
    around = sum(each == name[3:] for _, each in opened[:-1])
    rest = re.findall(rf"\{{%[-+]?[ \t]*(end)?{name[3:]}\b", source[span.end :])
    if around > rest.count("end") - rest.count(""):  # those behind do not close what is open
        at = source.rfind("{%", 0, span.start)
        put = Fix(f"Put end{inner} before it", (TextEdit(Span(at, at), f"{{% end{inner} %}}"),))
        return Mistake(words, span, (put,))
    return Mistake(words, span, (Fix(f"Write end{inner}", (TextEdit(span, f"end{inner}"),)),))


def _expected(message: str, source: str, span: Span) -> Mistake | None:
    missing = _NO_EXPRESSION.search(message)
    if missing:
        what = _WORDS.get(missing["found"], missing["found"])
        return Mistake(f"something is missing before {what}: a name or a value", span)
    found = _EXPECTED.search(message)
    if found is None:
        return None
    wanted, here = (_WORDS.get(each, each) for each in (found["wanted"], found["found"]))
    if here == "=" and wanted == "%}":
        fix = Fix("Write ==", (TextEdit(span, "=="),))
        return Mistake("one = sets a value; two compare", span, (fix,))
    before = source[: span.start].rstrip(" \t")
    if here == "if" and before.endswith("else"):
        place = Span(len(before) - len("else"), span.end)
        fix = Fix("Write elif", (TextEdit(place, "elif"),))
        return Mistake("'else if' is written 'elif'", place, (fix,))
    if wanted in ("}}", "%}") and source[span.start : span.end].isidentifier():
        words = (
            f"{here!r} is a word too many: the tag should end before it, or an operator is missing"
        )
        return Mistake(words, span)
    if wanted == "in" and _ENDS.match(source, span.end):
        fix = Fix("Put in before it", (TextEdit(Span(span.start, span.start), "in "),))
        return Mistake(f"the word 'in' is missing before {here!r}", span, (fix,))
    if wanted.isidentifier() and found["wanted"] not in _WORDS:
        swap = () if source[span.start : span.end] != here else (TextEdit(span, wanted),)
        fixes = (Fix(f"Write {wanted}", swap),) if swap else ()
        return Mistake(f"the word {wanted!r} belongs here, not {here!r}", span, fixes)
    return Mistake(f"{wanted} belongs here, not {here}", span)


def _left_over(message: str, source: str, span: Span) -> Mistake:
    """What Jinja says in its own words, in ours."""
    here = source[span.start : span.end] or "the end"
    if message == "tag name expected":
        return Mistake(f"a tag begins with a word such as 'if' or 'for', and not with {here}", span)
    for theirs, ours in _THEIRS:
        if message.startswith(theirs):
            return Mistake(ours, span)
    if message.startswith("unexpected '"):
        return Mistake(f"{here} does not belong here", span)
    return Mistake(message, span)
