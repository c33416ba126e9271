"""Slips in YAML: in the lines of blocks (depth, dashes, blanks behind colons), and in brackets."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from studio.core.prompty.yaml.quotes import in_quotes
from studio.core.text.amounts import counted
from studio.core.text.problem import Fix, Mistake, TextEdit, fixable
from studio.core.text.span import Span

_KEY = re.compile(r"[ ]*(?:-[ ]+)?([\w.-]+)[ ]*:(?=[ \n]|\Z)")
_WITH_VALUE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+[^\s#|>&*!\[{].*")
_BLOCK = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+[|>][-+0-9]*[ ]*")
_OPENS_BLOCK = re.compile(r"[ ]*[\w.-]+:[ ]*")
_REFERENCE = re.compile(r"\$\{[^}\n]*\}|\{\{[^}\n]*\}\}")
_TEMPLATE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+(?P<value>\{\{[^\n]*\S)")
_CLOSERS = {"[": "]", "{": "}"}
_IN_BLOCKS = r"^(?!.*(?:flow|quoted))"
_SIGNS = (
    ("", 1, r"[ ]*(?:(?:- +)?[A-Za-z_][\w.-]*(?=:[\[{])|(?=-[\[{]))(?P<span>[:-])(?P<edit>)"),
    ("", 1, r"[ ]*(?P<span>(?:- +)?[A-Za-z_][\w.-]*(?P<edit> *= *| +))(?=[\[{])"),
    (":'|mapping", 2, r"(?P<span> *(?:- +)?[\w.-]+(?P<edit> *= *)(?=[^\s=])[^\n]*\S)"),
    (_IN_BLOCKS, 2, r" *(?:- +)?[A-Za-z_]\w*(?P<span>:)(?P<edit>)(?=[^\s/\\])"),
    (_IN_BLOCKS, 2, r" *(?P<span>-)(?P<edit>)(?=[A-Za-z_]\w*:[ \n])"),
)
"""A pattern in the scanner's words; lines, from its own up; what has the wrong sign, or no blank.

A key with its value right behind the colon is a slip, and an address (`https://…`) is none.
"""


class _Line(NamedTuple):
    """A line by its place."""

    start: int
    """Where it begins."""

    end: int
    """Where it ends, without the blanks at its end."""

    depth: int
    """Number of spaces that it begins with."""

    key: str
    """The key that it begins with, or that is behind its dash; empty where it has none."""

    words: str
    """Its text, without the line break."""

    @property
    def is_item(self) -> bool:
        """Whether it begins with a dash."""
        return self.words.startswith("- ", self.depth)


def explain_slip(what: str, place: Span, text: str) -> Mistake | None:
    """Return the slip behind a mistake that the scanner met further on.

    Args:
        what: the scanner's words.
        place: where it stopped.
        text: the YAML.
    """
    return next((found for look in _LOOKS if (found := look(what, place, text))), None)


def _wrong_sign(
    signs: Sequence[tuple[str, int, str]], what: str, place: Span, text: str
) -> Mistake | None:
    """`name:Trip`, `-{name: a}`, `name = Trip` and `model {id: m}`."""
    line = _line_at(text, min(place.start, len(text) - 1))
    for when, lines, pattern in signs:
        for each in (line, _line_above(text, line))[:lines] if re.search(when, what) else ():
            found = re.compile(pattern).match(text, each.start) if each else None
            if found is None:
                continue
            span, edit = Span(*found.span("span")), found.span("edit")
            if edit[0] == edit[1]:
                sign = "dash" if found["span"] == "-" else "colon"
                words = f"a space belongs behind this {sign}"
                return fixable(words, span, "Put a space behind it", " ", span.end)
            words = "a colon stands between key and value" + ", and not =" * ("=" in found["edit"])
            return fixable(words, span, "Write a colon", ": ", *edit)
    return None


def _odd_depth(what: str, place: Span, text: str) -> Mistake | None:
    """A key that stands neither with the keys above it nor with those around them."""
    line = _line_at(text, place.start)
    if "did not find expected key" not in what or not line.key or line.is_item:
        return None
    above = _line_above(text, line, line.depth + 1)
    if above is None or above.depth <= line.depth or not above.key:
        return None
    name, space = above.key, counted(line.depth, "space")
    words = f"this line stands at {space}, and {name!r} above it at {above.depth}"
    span, deeper = Span(line.start + line.depth, line.end), " " * (above.depth - line.depth)
    return fixable(words, span, f"Put it below {name!r}", deeper, line.start)


def _block_not_deeper(what: str, place: Span, text: str) -> Mistake | None:
    """`description: |` with its text at the depth of the key."""
    line: _Line | None = _line_at(text, max(0, min(place.start, len(text) - 1)))
    lines: list[_Line] = []
    while line is not None and len(lines) < 40:
        if _BLOCK.fullmatch(line.words):
            below = [each for each in reversed(lines) if each.words.strip()]
            moved = list(takewhile(lambda each: not each.key, below))
            if not moved or moved[0].depth > line.depth:
                return None
            deeper = " " * (line.depth + 2)
            edits = tuple(TextEdit(Span(each.start, each.start), deeper) for each in moved)
            words = f"the text of this block stands deeper than its key {line.key!r}"
            first = Span(moved[0].start, moved[0].start + len(moved[0].words))
            return Mistake(words, first, (Fix("Indent the text", edits),))
        lines.append(line)
        line = _line_above(text, line)
    return None


def _too_deep(what: str, place: Span, text: str) -> Mistake | None:
    """A key below a key that has its value already."""
    line = _line_at(text, place.start)
    above = _line_above(text, line)
    if "mapping values are not allowed" not in what or above is None or not line.key:
        return None
    by = line.depth - above.depth - 2 * above.is_item
    if by <= 0 or not _WITH_VALUE.fullmatch(above.words):
        return None
    words = f"this line stands deeper than {above.key!r} above it, which has its value"
    span, before = Span(line.start + line.depth, line.end), _line_above(text, above)
    opens = before is not None and _OPENS_BLOCK.fullmatch(before.words)
    if before and opens and before.depth == above.depth and not above.is_item:
        title = f"Put {above.key!r} at its depth"  # the line above is the odd one of its block
        return fixable(words, span, title, " " * by, above.start)
    edits: list[TextEdit] = []
    at = line.start
    while at < len(text):
        each = _line_at(text, at)
        if each.words.strip():
            if each.depth < line.depth:
                break
            edits.append(TextEdit(Span(at, at + by), ""))
        at += len(each.words) + 1
    return Mistake(words, span, (Fix("Move it out", tuple(edits)),))


def _no_dash(what: str, place: Span, text: str) -> Mistake | None:
    """A line of a list without its dash, or a key where the dashes of a list stand."""
    line = _line_at(text, min(place.start, max(0, len(text.rstrip()) - 1)))
    above = _line_above(text, line)
    is_meant = "could not find expected ':'" in what or "'-' indicator" in what
    if not is_meant or above is None or not above.is_item or above.depth != line.depth:
        return None
    at = line.start + line.depth
    span, item = Span(at, line.end), _line_at(above.words[line.depth + 2 :], 0).key
    if line.words.startswith("-", line.depth):
        return None
    if not line.key or item == line.key:
        words = "each item of this list begins with a dash"
        return fixable(words, span, "Write a dash before it", "- ", at)
    words = "this key stands where the dashes of a list stand"
    if item:
        words += ", and not below its item"
        return fixable(words, span, f"Put it below {item!r}", "  ", line.start)
    outer = _line_above(text, line, line.depth - 1)
    return fixable(words, span, "Move it out", "", line.start, at - (outer.depth if outer else 0))


# In brackets, and right before them --------------------------------------------------------------


def _unquoted_reference(what: str, place: Span, text: str) -> Mistake | None:
    """`{key: ${KEY}}`: between brackets, the braces of a reference are YAML's own."""
    if "flow" not in what:
        return None
    start, end, *_ = _line_at(text, place.start)
    if whole := _TEMPLATE.match(text, start, end):
        span, words = Span(*whole.span("value")), "a value with {{ … }} is put in quotes"
        return fixable(words, span, "Put it in quotes", in_quotes(whole["value"]))
    for found in _REFERENCE.finditer(text, start, end):
        before = text[start : found.start()]
        is_inside = any(before.count(each) > before.count(_CLOSERS[each]) for each in _CLOSERS)
        if is_inside and before.rstrip()[-1:] in (":", ",", "["):
            words = f"between brackets, {found[0]} is put in quotes: its braces are YAML's own"
            span = Span(*found.span())
            return fixable(words, span, "Put it in quotes", in_quotes(found[0]))
    return None


def _wrong_closer(what: str, place: Span, text: str) -> Mistake | None:
    """`[a, b}`, and a comma or bracket too many."""
    if "node content" in what:
        found = re.compile(r"[,\]}]").search(text, place.start, place.end)
        if found is None:
            return Mistake("a value is missing here", place)
        span = Span(*found.span())
        if found[0] != ",":
            return Mistake(f"this {found[0]} closes nothing", span)
        return fixable("a value is missing before this comma", span, "Remove the comma", "")
    if "flow" not in what or text[place.start : place.start + 1] not in _CLOSERS:
        return None
    open_: list[str] = []
    for at in range(place.start, place.end):
        char, span = text[at], Span(at, at + 1)
        if char in "\"'":
            return None
        if char in _CLOSERS:
            open_.append(_CLOSERS[char])
        elif char in _CLOSERS.values() and open_ and (wanted := open_.pop()) != char:
            if _is_too_many(char, text[slice(*_line_at(text, at)[:2])]):
                return _nothing_closed(char, span)
            return fixable(f"{wanted} belongs here, not {char}", span, f"Write {wanted}", wanted)
    return None


def _stray_closer(what: str, place: Span, text: str) -> Mistake | None:
    """`[a, b]]`."""
    here = text[place.start : place.start + 1]
    if "flow" in what or here not in ("]", "}") or "did not find expected" not in what:
        return None
    return _nothing_closed(here, Span(place.start, place.start + 1))


def _nothing_closed(bracket: str, span: Span) -> Mistake:
    return fixable(f"this {bracket} closes nothing", span, f"Remove {bracket}", "")


def _is_too_many(closer: str, line: str) -> bool:
    """Whether a line closes more brackets of one kind than it opens, and the others are even."""
    surplus = {end: line.count(end) - line.count(start) for start, end in _CLOSERS.items()}
    return surplus.pop(closer) > 0 and not any(surplus.values())


# Lines by their places ----------------------------------------------------------------------------


def _line_at(text: str, at: int) -> _Line:
    """Return the line around a place."""
    start = text.rfind("\n", 0, max(at, 0)) + 1
    stop = text.find("\n", start)
    words = text[start : stop if stop >= 0 else len(text)]
    key, depth = _KEY.match(words), len(words) - len(words.lstrip(" "))
    return _Line(start, start + len(words.rstrip()), depth, key[1] if key else "", words)


def _line_above(text: str, line: _Line, deepest: float = math.inf) -> _Line | None:
    """Return the next line above that has text, and at most `deepest` spaces before it."""
    while line.start > 0:
        line = _line_at(text, line.start - 1)
        words = line.words.strip()
        if words and not words.startswith("#") and line.depth <= deepest:
            return line
    return None


_LOOKS: tuple[Callable[[str, Span, str], Mistake | None], ...] = (
    _unquoted_reference,
    _no_dash,
    _block_not_deeper,
    partial(_wrong_sign, _SIGNS[:2]),
    _wrong_closer,
    _stray_closer,
    partial(_wrong_sign, _SIGNS[2:]),
    _too_deep,
    _odd_depth,
)
