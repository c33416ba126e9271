"""Explain an error in YAML, with a fix if it is certain.

Covers indentation, dashes and blanks after colons in blocks, and errors in brackets.
"""

import math
import re
from collections.abc import Callable, Sequence
from functools import partial
from itertools import takewhile
from typing import NamedTuple

from studio.core.paths import resource_table
from studio.core.prompty.yaml.tree import in_quotes
from studio.core.text.amounts import counted
from studio.core.text.source import Fix, Mistake, Span, TextEdit, fixable

_KEY = re.compile(r"[ ]*(?:-[ ]+)?([\w.-]+)[ ]*:(?=[ \n]|\Z)")
_WITH_VALUE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+[^\s#|>&*!\[{].*")
_BLOCK = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+[|>][-+0-9]*[ ]*")
_OPENS_BLOCK = re.compile(r"[ ]*[\w.-]+:[ ]*")
_REFERENCE = re.compile(r"\$\{[^{}\n]*\}|\{\{(?:[^{}\n]|\{[^{}\n]*\})*\}\}")
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
"""The scanner's messages, as patterns; lines to search upward; a wrong sign, or a missing blank.

A key with its value right after the colon is an error, but a URL (`https://…`) is not.
"""


class _Line(NamedTuple):
    """A line with its offsets."""

    start: int
    """Start offset."""

    end: int
    """End offset, without trailing blanks."""

    depth: int
    """Number of leading spaces."""

    key: str
    """Key at its start or after its dash; empty if there is none."""

    words: str
    """Text without line break."""

    @property
    def is_item(self) -> bool:
        """Whether it begins with a dash."""
        return self.words.startswith("- ", self.depth)


def explain_slip(what: str, place: Span, text: str) -> Mistake | None:
    """Return the cause of an error that the scanner found further on.

    Args:
        what: the scanner's message.
        place: span at which it stopped.
        text: the YAML.
    """
    return next((found for look in _LOOKS if (found := look(what, place, text))), None)


def _wrong_sign(
    signs: Sequence[tuple[str, int, str]], what: str, place: Span, text: str
) -> Mistake | None:
    """Report `name:Trip`, `-{name: a}`, `name = Trip` and `model {id: m}`."""
    line = _line_at(text, min(place.start, len(text) - 1))
    for when, lines, pattern in signs:
        for each in (line, _line_above(text, line))[:lines] if re.search(when, what) else ():
            found = re.compile(pattern).match(text, each.start) if each else None
            if found is None:
                continue
            span, edit = Span(*found.span("span")), found.span("edit")
            if edit[0] == edit[1]:
                sign = "dash" if found["span"] == "-" else "colon"
                words = f"a space is missing after this {sign}"
                return fixable(words, span, "Add a space after it", " ", span.end)
            words = "a colon separates key and value" + ", and not =" * ("=" in found["edit"])
            return fixable(words, span, "Write a colon", ": ", *edit)
    return None


def _odd_depth(what: str, place: Span, text: str) -> Mistake | None:
    """Report a key whose indentation fits neither the keys above it nor those around them."""
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
    """Report `description: |` whose text is no deeper than the key."""
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
            words = f"the text of this block must be indented more than its key {line.key!r}"
            first = Span(moved[0].start, moved[0].start + len(moved[0].words))
            return Mistake(words, first, (Fix("Indent the text", edits),))
        lines.append(line)
        line = _line_above(text, line)
    return None


def _too_deep(what: str, place: Span, text: str) -> Mistake | None:
    """Report a key below a key that already has a value."""
    line = _line_at(text, place.start)
    above = _line_above(text, line)
    if "mapping values are not allowed" not in what or above is None or not line.key:
        return None
    by = line.depth - above.depth - 2 * above.is_item
    if by <= 0 or not _WITH_VALUE.fullmatch(above.words):
        return None
    words = f"this line is indented deeper than {above.key!r} above it, which already has a value"
    span, before = Span(line.start + line.depth, line.end), _line_above(text, above)
    opens = before is not None and _OPENS_BLOCK.fullmatch(before.words)
    if before and opens and before.depth == above.depth and not above.is_item:
        title = f"Put {above.key!r} at its depth"  # the line above has the wrong indentation
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
    """Report a list item without a dash, or a key between the dashes of a list."""
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
        words = "each item of this list must start with a dash"
        return fixable(words, span, "Write a dash before it", "- ", at)
    words = "this key is in the column of the dashes of a list"
    if item:
        words += ", and not below its item"
        return fixable(words, span, f"Put it below {item!r}", "  ", line.start)
    outer = _line_above(text, line, line.depth - 1)
    return fixable(words, span, "Move it out", "", line.start, at - (outer.depth if outer else 0))


# In brackets, and right before them --------------------------------------------------------------


def _unquoted_reference(what: str, place: Span, text: str) -> Mistake | None:
    """Report `{key: ${KEY}}`, where YAML reads the braces of the reference."""
    if "flow" not in what:
        return None
    start, end, *_ = _line_at(text, place.start)
    if whole := _TEMPLATE.match(text, start, end):
        span, words = Span(*whole.span("value")), "put a value with {{ … }} in quotes"
        return fixable(words, span, "Put it in quotes", in_quotes(whole["value"]))
    depth = dict.fromkeys(_CLOSERS, 0)
    for found in _REFERENCE.finditer(text, start, end):
        gap, start = text[start : found.start()], found.start()
        for opener, closer in _CLOSERS.items():
            depth[opener] += gap.count(opener) - gap.count(closer)
        if any(count > 0 for count in depth.values()) and gap.rstrip()[-1:] in (":", ",", "["):
            words = f"between brackets, put {found[0]} in quotes: its braces have a meaning in YAML"
            span = Span(*found.span())
            return fixable(words, span, "Put it in quotes", in_quotes(found[0]))
    return None


def _wrong_closer(what: str, place: Span, text: str) -> Mistake | None:
    """Report `[a, b}`, and an extra comma or bracket."""
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
    """Report `[a, b]]`."""
    here = text[place.start : place.start + 1]
    if "flow" in what or here not in ("]", "}") or "did not find expected" not in what:
        return None
    return _nothing_closed(here, Span(place.start, place.start + 1))


def _nothing_closed(bracket: str, span: Span) -> Mistake:
    return fixable(f"this {bracket} closes nothing", span, f"Remove {bracket}", "")


def _is_too_many(closer: str, line: str) -> bool:
    """Return whether a line has extra closing brackets of one kind, and the others match."""
    surplus = {end: line.count(end) - line.count(start) for start, end in _CLOSERS.items()}
    return surplus.pop(closer) > 0 and not any(surplus.values())


# Lines with their offsets -------------------------------------------------------------------------


def _line_at(text: str, at: int) -> _Line:
    """Return the line around an offset."""
    start = text.rfind("\n", 0, max(at, 0)) + 1
    stop = text.find("\n", start)
    words = text[start : stop if stop >= 0 else len(text)]
    key, depth = _KEY.match(words), len(words) - len(words.lstrip(" "))
    return _Line(start, start + len(words.rstrip()), depth, key[1] if key else "", words)


def _line_above(text: str, line: _Line, deepest: float = math.inf) -> _Line | None:
    """Return the next nonblank line above that has at most `deepest` leading spaces."""
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


_TOLD = resource_table("words", "terms.txt")["yaml_errors"]
"""The studio's texts for the scanner's messages."""

_VALUE = re.compile(r"(?P<key>[^:\n]*:[ ]+)(?P<value>[^\n]*\S)")


_LONE = {"'": re.compile(r"(?<!')'(?!')"), '"': re.compile(r'(?<!\\)"')}
"""Matches the quote that ends a text, by its opening quote."""


_FLOW = re.compile(r"(?::[ ]+|-[ ]+|^[ ]*)[\[{]", re.MULTILINE)
"""Matches the start of a list or mapping in brackets."""

_QUOTED = {"'": re.compile(r"'(?:[^']|'')*'"), '"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)}
"""Matches a whole quoted text, by its quote."""

_QUOTED_KEY = re.compile(r"[\"'][\w.-]+(?=:[ ])")
_AFTER_QUOTED = re.compile(r"\s*(?:[,\]}:]|\Z|#)")
"""Matches what can follow a quoted text in brackets."""


def explain_yaml(what: str, place: Span, text: str) -> Mistake:
    """Explain the scanner's message in plain words.

    Args:
        what: the scanner's message, with its context in brackets.
        place: span from where it stopped to the end of the line.
        text: the YAML.
    """
    flow = _flow_around(what, place, text)
    found = (_quote_in_flow(text, flow) if flow is not None else None) or (
        explain_slip(what, place, text) or _open_quote(what, place, text)
    )
    if found is not None:
        return found
    for context, opening, closing in (("sequence", "[", "]"), ("mapping", "{", "}")):
        if f"flow {context}" in what:
            words = f"this {opening} is never closed by {closing}, or a comma is missing in it"
            return Mistake(words, place)
    if "cannot start any token" in what:
        return _odd_start(place, text)
    if "mapping values are not allowed" in what or "find expected ':'" in what:
        line = text.rfind("\n", 0, place.start) + 1
        above = text[:line].rstrip()
        start = above.rfind("\n") + 1
        if ":" not in text[line : place.start] and above and ":" not in above[start:]:
            return Mistake(_TOLD["find expected ':'"], Span(start, len(above)))
    if (inside := _quote_inside(what, place, text)) is not None:
        return inside
    for theirs, ours in _TOLD.items():
        if re.search(theirs, what):
            value = _VALUE.match(text, text.rfind("\n", 0, place.start) + 1)
            if value is None or "in quotes" not in ours:
                return Mistake(ours, place)
            right = in_quotes(value["value"])
            return fixable(ours, place, "Put the text in quotes", right, *value.span("value"))
    if text.startswith("\t", place.start):
        words = "YAML needs spaces, but this is a tab"
        return fixable(words, place, "Remove the tab", "", place.start, place.start + 1)
    return Mistake("this is not valid YAML", place)


def _open_quote(what: str, place: Span, text: str) -> Mistake | None:
    quote = text[place.start : place.start + 1]
    if "quoted scalar" not in what or quote not in ("'", '"') or "unexpected end" not in what:
        return None
    key = _QUOTED_KEY.match(text, place.start)
    before = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    if key is not None and not before.strip(" -"):
        return _never_closed(quote, place, key.end())
    is_last = text.count("\n", place.start) == 0
    end = place.start + len(text[place.start : place.end].rstrip())
    return _never_closed(quote, place, None if is_last else end)


def _odd_start(place: Span, text: str) -> Mistake:
    odd = text[place.start : place.start + 1]
    if odd == "%" and text.startswith("{", place.start - 1):
        words = "the front matter is not a template: {% … %} means nothing here"
        return Mistake(words, Span(place.start - 1, place.end))
    value = text[place.start : place.end].rstrip()
    words = f"a value cannot start with {odd}; put it in quotes"
    end = place.start + len(value)
    return fixable(words, place, "Put it in quotes", in_quotes(value), place.start, end)


def _quote_inside(what: str, place: Span, text: str) -> Mistake | None:
    """Report a quote within a quoted text, which ends the text: `'it's'`."""
    start, end = text.rfind("\n", 0, place.start) + 1, text.find("\n", place.start)
    line = text[start : end if end >= 0 else len(text)].rstrip()
    at = min((line.find(each) for each in "'\"" if each in line), default=-1)
    if "did not find expected" not in what or at < 0:
        return None
    if not (line[:at].strip(" -") == "" or line[:at].rstrip().endswith(":")):
        return None
    quote = line[at]
    value = line[at + 1 :]
    words = value[: value.rfind(" #")].rstrip() if " #" in value else value
    last = len(words if words.endswith(quote) else value)
    last -= value.startswith(quote, last - 1)
    value = value[:last]
    first = _LONE[quote].search(value)
    if first is None or start + at + 1 + first.end() > place.start:
        return None
    closes = at + 1 + last + line.startswith(quote, at + 1 + last)
    found = start + at + 1 + first.start()
    return _ends_early(quote, found, Span(start + at, start + closes), value)


def _flow_around(what: str, place: Span, text: str) -> int | None:
    """Return the start of the outermost bracket around the error."""
    if "flow " not in what and "quoted scalar" not in what:
        return None
    line = text.rfind("\n", 0, place.start) + 1
    found = _FLOW.search(text, line, place.start + 1)
    if found is None or text.startswith("{{", found.end() - 1):  # an unquoted template
        return None
    return found.end() - 1


def _quote_in_flow(text: str, start: int) -> Mistake | None:
    """Report a quote in brackets that is not closed, or is closed too early."""
    depth, may_open, at = 0, True, start
    while at < len(text):
        char = text[at]
        if char in "'\"" and may_open:
            found = _QUOTED[char].match(text, at)
            if found is None:
                return _open_in_flow(text, at, depth)
            if not _AFTER_QUOTED.match(text, found.end()):
                if _lacks_comma(text, found.end(), char):
                    return None
                return _ended_in_flow(text, at, found.end() - 1, depth)
            at = found.end()
            may_open = False
            continue
        depth += (char in "[{") - (char in "]}")
        if depth <= 0:
            return None
        may_open = char in "[{,:" or (may_open and char.isspace())
        at += 1
    return None


def _lacks_comma(text: str, end: int, quote: str) -> bool:
    """Return whether another item follows a quoted text, rather than the rest of the text."""
    stop = text.find("\n", end)
    rest = text[end : stop if stop >= 0 else len(text)]
    return not rest[:1].strip() and rest.count(quote) % 2 == 0


def _open_in_flow(text: str, at: int, depth: int) -> Mistake:
    """Report a quote that is not closed on its line, before the brackets end."""
    quote, end = text[at], text.find("\n", at)
    value = text[at + 1 : end if end >= 0 else len(text)].rstrip().removesuffix(",")
    for _ in range(depth):
        value = value[:-1].rstrip() if value.endswith(("]", "}")) else value
    return _never_closed(quote, Span(at, at + 1 + len(value)), at + 1 + len(value))


def _ended_in_flow(text: str, at: int, end: int, depth: int) -> Mistake:
    quote, value = text[at], text[at + 1 : end]
    if "\n" in value:
        return _open_in_flow(text, at, depth)
    if value.rstrip().endswith(","):
        closed = at + len(value.rstrip())
        return _never_closed(quote, Span(at, closed), closed)
    rest = text[end + 1 :].split("\n", maxsplit=1)[0]
    others = (end + 1 + each.start() for each in re.finditer(quote, rest))
    last = next((each for each in others if _AFTER_QUOTED.match(text, each + 1)), None)
    if last is None:
        return _ends_early(quote, end)
    return _ends_early(quote, end, Span(at, last + 1), text[at + 1 : last])


def _ends_early(quote: str, at: int, whole: Span | None = None, value: str = "") -> Mistake:
    """Report a quote that ends a text too early; `value` is the intended text."""
    twice = "''" if quote == "'" else '\\"'
    words = f"the quote {quote} ends this text too early; inside it, write {twice}"
    if whole is None:
        return Mistake(words, Span(at, at + 1))
    right = f"{quote}{_LONE[quote].sub(lambda _: twice, value)}{quote}"
    span = Span(at, at + 1)
    return fixable(words, span, f"Write {twice} for it", right, whole.start, whole.end)


def _never_closed(quote: str, place: Span, closed: int | None) -> Mistake:
    words = f"this quote {quote} is never closed"
    if closed is None:
        return Mistake(words, place)
    return fixable(words, place, f"Close the quote with {quote}", quote, closed)
