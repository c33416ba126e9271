"""What is meant by a mistake in YAML, in the words of a colleague, with a fix where it is sure."""

from __future__ import annotations

import re

from studio.core.prompty.yaml.quotes import in_quotes
from studio.core.prompty.yaml.slips import explain_slip
from studio.core.text.problem import Mistake, fixable
from studio.core.text.span import Span

_BEGINS_SO = "put text that begins so in quotes"
_NO_COLON = "this key has no colon behind it; write key: value"
_TOLD = {
    "mapping values": "a second colon stands on this line; put the text after the first one in "
    "quotes",
    "find expected ':'": _NO_COLON,
    "'-' indicator": "this line does not fit the list around it; each item begins with - at the "
    "same depth",
    "block sequence entries": "a list begins on a line of its own, below its key",
    "expected key": "this line does not fit the lines around it; look at its depth and at the "
    "quotes above it",
    "expected <document start>": "these lines cannot be read as keys and values",
    "expected alphabetic": f"a name belongs behind this & or *; {_BEGINS_SO}",
    "unknown escape|hexdecimal": "this escape means nothing between double quotes; write the "
    "backslash twice, or use single quotes",
    "comment or line break": "only > or | may stand here; the text begins on the next line",
    "whitespace or line break": "a blank belongs behind this tag or name; put text that begins "
    "with !, & or * in quotes",
    "tag URI|undefined tag": f"a tag begins with !; {_BEGINS_SO}",
    "directive": "a line cannot begin with %; put its text in quotes",
    "mapping keys": "a line cannot begin with ?; put its text in quotes",
    "document indicator": "--- or ... stands inside of this quoted text",
}
"""The scanner's words, and ours."""

_VALUE = re.compile(r"(?P<key>[^:\n]*:[ ]+)(?P<value>[^\n]*\S)")


_LONE = {"'": re.compile(r"(?<!')'(?!')"), '"': re.compile(r'(?<!\\)"')}
"""A quote that ends a text, by what the text began with."""


_FLOW = re.compile(r"(?::[ ]+|-[ ]+|^[ ]*)[\[{]", re.MULTILINE)
"""Where a list or mapping between brackets begins."""

_QUOTED = {"'": re.compile(r"'(?:[^']|'')*'"), '"': re.compile(r'"(?:[^"\\]|\\.)*"', re.DOTALL)}
"""A whole quoted text, by its quote."""

_QUOTED_KEY = re.compile(r"[\"'][\w.-]+(?=:[ ])")
_AFTER_QUOTED = re.compile(r"\s*(?:[,\]}:]|\Z|#)")
"""What may stand behind a quoted text between brackets."""


def explain_yaml(what: str, place: Span, text: str) -> Mistake:
    """Put the scanner's words in words that help.

    Args:
        what: the scanner's words, with its context in brackets.
        place: where it stopped, to the end of the line.
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
    if "mapping values are not allowed" in what:
        line = text.rfind("\n", 0, place.start) + 1
        above = text[:line].rstrip()
        start = above.rfind("\n") + 1
        if ":" not in text[line : place.start] and above and ":" not in above[start:]:
            return Mistake(_NO_COLON, Span(start, len(above)))
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
        words = "YAML takes spaces, and here stands a tab"
        return fixable(words, place, "Remove the tab", "", place.start, place.start + 1)
    return Mistake("this cannot be read as YAML", place)


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
    words = f"a value cannot begin with {odd}; put it in quotes"
    end = place.start + len(value)
    return fixable(words, place, "Put it in quotes", in_quotes(value), place.start, end)


def _quote_inside(what: str, place: Span, text: str) -> Mistake | None:
    """A quote within a quoted text, which ends it: `'it's'`."""
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
    """Where the outermost bracket stands that the mistake is in."""
    if "flow " not in what and "quoted scalar" not in what:
        return None
    line = text.rfind("\n", 0, place.start) + 1
    found = _FLOW.search(text, line, place.start + 1)
    if found is None or text.startswith("{{", found.end() - 1):  # a template, unquoted
        return None
    return found.end() - 1


def _quote_in_flow(text: str, start: int) -> Mistake | None:
    """A quote between brackets that is not closed, or that ends its text too early."""
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
    """Whether another item follows a quoted text, and not more of the text itself."""
    stop = text.find("\n", end)
    rest = text[end : stop if stop >= 0 else len(text)]
    return not rest[:1].strip() and rest.count(quote) % 2 == 0


def _open_in_flow(text: str, at: int, depth: int) -> Mistake:
    """A quote whose line ends before it does; it is closed before the brackets' ends."""
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
    """A quote ends a text too early; `value` is all that is meant to stand between the quotes."""
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
