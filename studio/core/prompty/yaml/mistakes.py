"""What is meant by a mistake in YAML, in the words of a colleague, with a fix where it is sure."""

from __future__ import annotations

import re

from studio.core.prompty.yaml.mistake import YamlMistake, in_quotes
from studio.core.prompty.yaml.slips import explain_slip
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_TOLD: tuple[tuple[str, str], ...] = (
    ("mapping values are not allowed", "a second colon stands on this line; put the text after "
     "the first one in quotes"),
    ("could not find expected ':'", "this key has no colon behind it; write key: value"),
    ("did not find expected '-' indicator", "this line does not fit the list around it; each item "
     "begins with - at the same depth"),
    ("block sequence entries are not allowed", "a list begins on a line of its own, below its key"),
    ("did not find expected key", "this line does not fit the lines around it; look at its depth "
     "and at the quotes above it"),
    ("did not find expected <document start>", "these lines cannot be read as keys and values"),
    ("did not find expected alphabetic", "a name belongs behind this & or *; put text that begins "
     "so in quotes"),
    ("unknown escape character", "this escape means nothing between double quotes; write the "
     "backslash twice, or use single quotes"),
    ("did not find expected comment or line break", "only > or | may stand here; the text begins "
     "on the next line"),
    ("did not find expected whitespace or line break", "a blank belongs behind this tag or name; "
     "put text that begins with !, & or * in quotes"),
    ("did not find expected tag URI", "a tag begins with !; put text that begins so in quotes"),
    ("undefined tag handle", "a tag begins with !; put text that begins so in quotes"),
    ("directive", "a line cannot begin with %; put its text in quotes"),
    ("hexdecimal", "this escape means nothing between double quotes; write the backslash twice, or "
     "use single quotes"),
    ("mapping keys are not allowed", "a line cannot begin with ?; put its text in quotes"),
    ("document indicator", "--- or ... stands inside of this quoted text"),
)  # fmt: skip
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


def explain_yaml(what: str, place: Span, text: str) -> YamlMistake:
    """Put the scanner's words in words that help.

    Args:
        what: the scanner's words, with its context in brackets.
        place: where it stopped, to the end of the line.
        text: the YAML.
    """
    flow = _flow_around(what, place, text)
    if flow is not None and (found := _quote_in_flow(text, flow)) is not None:
        return found
    slip = explain_slip(what, place, text)
    if slip is not None:
        return slip
    if "quoted scalar" in what and (found := _open_quote(what, place, text)) is not None:
        return found
    for context, opening, closing in (("sequence", "[", "]"), ("mapping", "{", "}")):
        if f"flow {context}" in what:
            return YamlMistake(
                f"this {opening} is never closed by {closing}, or a comma is missing in it", place
            )
    if "cannot start any token" in what:
        return _odd_start(place, text)
    if "mapping values are not allowed" in what:
        line = text.rfind("\n", 0, place.start) + 1
        above = text[:line].rstrip()
        start = above.rfind("\n") + 1
        if ":" not in text[line : place.start] and above and ":" not in above[start:]:
            words = "this key has no colon behind it; write key: value"
            return YamlMistake(words, Span(start, len(above)))
    inside = _quote_inside(what, place, text)
    if inside is not None:
        return inside
    for theirs, ours in _TOLD:
        if theirs in what:
            is_text = "colon stands" in ours or "in quotes" in ours
            return YamlMistake(ours, place, _quoted(place, text) if is_text else ())
    return _otherwise(place, text)


def _otherwise(place: Span, text: str) -> YamlMistake:
    if text.startswith("\t", place.start):
        fix = Fix("Remove the tab", (TextEdit(Span(place.start, place.start + 1), ""),))
        return YamlMistake("YAML takes spaces, and here stands a tab", place, (fix,))
    return YamlMistake("this cannot be read as YAML", place)


def _open_quote(what: str, place: Span, text: str) -> YamlMistake | None:
    quote = text[place.start : place.start + 1]
    if quote not in ("'", '"') or "unexpected end" not in what:
        return None
    fixes: tuple[Fix, ...] = ()
    key = _QUOTED_KEY.match(text, place.start)
    before = text[text.rfind("\n", 0, place.start) + 1 : place.start]
    if key is not None and not before.strip(" -"):
        fixes = (Fix(f"Close the quote with {quote}",
                     (TextEdit(Span(key.end(), key.end()), quote),)),)  # fmt: skip
    elif text.count("\n", place.start) >= 1:
        at = place.start + len(text[place.start : place.end].rstrip())
        fixes = (Fix(f"Close the quote with {quote}", (TextEdit(Span(at, at), quote),)),)
    return YamlMistake(f"this quote {quote} is never closed", place, fixes)


def _odd_start(place: Span, text: str) -> YamlMistake:
    odd = text[place.start : place.start + 1]
    if odd == "%" and text.startswith("{", place.start - 1):
        words = "the front matter is not a template: {% … %} means nothing here"
        return YamlMistake(words, Span(place.start - 1, place.end))
    value = text[place.start : place.end].rstrip()
    fix = Fix("Put it in quotes", (TextEdit(Span(place.start, place.start + len(value)),
                                           in_quotes(value)),))  # fmt: skip
    return YamlMistake(f"a value cannot begin with {odd}; put it in quotes", place, (fix,))


def _quote_inside(what: str, place: Span, text: str) -> YamlMistake | None:
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


def _quote_in_flow(text: str, start: int) -> YamlMistake | None:
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


def _open_in_flow(text: str, at: int, depth: int) -> YamlMistake:
    """A quote whose line ends before it does; it is closed before the brackets' ends."""
    quote, end = text[at], text.find("\n", at)
    value = text[at + 1 : end if end >= 0 else len(text)].rstrip().removesuffix(",")
    for _ in range(depth):
        value = value[:-1].rstrip() if value.endswith(("]", "}")) else value
    return _never_closed(quote, at, at + 1 + len(value))


def _ended_in_flow(text: str, at: int, end: int, depth: int) -> YamlMistake:
    quote, value = text[at], text[at + 1 : end]
    if "\n" in value:
        return _open_in_flow(text, at, depth)
    if value.rstrip().endswith(","):
        return _never_closed(quote, at, at + len(value.rstrip()))
    rest = text[end + 1 :].split("\n", maxsplit=1)[0]
    others = (end + 1 + each.start() for each in re.finditer(quote, rest))
    last = next((each for each in others if _AFTER_QUOTED.match(text, each + 1)), None)
    if last is None:
        return _ends_early(quote, end)
    return _ends_early(quote, end, Span(at, last + 1), text[at + 1 : last])


def _ends_early(quote: str, at: int, whole: Span | None = None, value: str = "") -> YamlMistake:
    """A quote ends a text too early; `value` is all that is meant to stand between the quotes."""
    twice = "''" if quote == "'" else '\\"'
    words = f"the quote {quote} ends this text too early; inside it, write {twice}"
    fixes: tuple[Fix, ...] = ()
    if whole is not None:
        right = f"{quote}{_LONE[quote].sub(lambda _: twice, value)}{quote}"
        fixes = (Fix(f"Write {twice} for it", (TextEdit(whole, right),)),)
    return YamlMistake(words, Span(at, at + 1), fixes)


def _never_closed(quote: str, at: int, closed: int) -> YamlMistake:
    fix = Fix(f"Close the quote with {quote}", (TextEdit(Span(closed, closed), quote),))
    return YamlMistake(f"this quote {quote} is never closed", Span(at, closed), (fix,))


def _quoted(place: Span, text: str) -> tuple[Fix, ...]:
    start = text.rfind("\n", 0, place.start) + 1
    found = _VALUE.match(text, start)
    if found is None:
        return ()
    span = Span(found.start("value"), found.end("value"))
    return (Fix("Put the text in quotes", (TextEdit(span, in_quotes(found["value"])),)),)
