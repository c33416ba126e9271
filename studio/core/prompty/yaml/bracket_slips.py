"""Slips in the brackets of YAML, and right before them."""

from __future__ import annotations

import re

from studio.core.prompty.yaml.lines import depth_of, line_at
from studio.core.prompty.yaml.mistake import YamlMistake, in_quotes
from studio.core.text.problem import Fix, TextEdit
from studio.core.text.span import Span

_BEFORE_BRACKET = re.compile(
    r"[ ]*(?:-[ ]+)?[A-Za-z_][\w.-]*(?P<sign>:|[ ]*=[ ]*|[ ]+)(?=[\[{])|[ ]*-(?P<dash>)(?=[\[{])"
)
"""What stands before a bracket in place of a colon, or a dash, with its blank."""
_REFERENCE = re.compile(r"\$\{[^}\n]*\}|\{\{[^}\n]*\}\}")
_TEMPLATE = re.compile(r"[ ]*(?:-[ ]+)?[\w.-]+:[ ]+(?P<value>\{\{[^\n]*\S)")
_CLOSERS = {"[": "]", "{": "}"}


def unquoted_reference(what: str, place: Span, text: str) -> YamlMistake | None:
    """`{key: ${KEY}}`: between brackets, the braces of a reference are YAML's own."""
    if "flow" not in what:
        return None
    start, end = line_at(text, place.start)
    whole = _TEMPLATE.match(text, start, end)
    if whole is not None:
        span = Span(*whole.span("value"))
        fix = Fix("Put it in quotes", (TextEdit(span, in_quotes(whole["value"])),))
        return YamlMistake("a value with {{ … }} is put in quotes", span, (fix,))
    depths, done = dict.fromkeys(_CLOSERS, 0), start
    for found in _REFERENCE.finditer(text, start, end):
        before, done = text[done : found.start()], found.start()
        for one, other in _CLOSERS.items():
            depths[one] += before.count(one) - before.count(other)
        if max(depths.values()) > 0 and before.rstrip()[-1:] in (":", ",", "["):
            span = Span(*found.span())
            fix = Fix("Put it in quotes", (TextEdit(span, in_quotes(found[0])),))
            told = f"between brackets, {found[0]} is put in quotes: its braces are YAML's own"
            return YamlMistake(told, span, (fix,))
    return None


def before_bracket(what: str, place: Span, text: str) -> YamlMistake | None:
    """`model:{id: m}`, `model = {id: m}`, `model {id: m}` and `-{name: a}`."""
    found = _BEFORE_BRACKET.match(text, *line_at(text, min(place.start, len(text) - 1)))
    if found is None:
        return None
    span = Span(*found.span("sign" if found["sign"] is not None else "dash"))
    match found["sign"]:
        case None | ":":
            what, end = ("dash", span.end) if found["sign"] is None else ("colon", span.end)
            fix = Fix("Put a space behind it", (TextEdit(Span(end, end), " "),))
            return YamlMistake(f"a space belongs behind this {what}", Span(end - 1, end), (fix,))
        case sign:
            fix = Fix("Write a colon", (TextEdit(span, ": "),))
            told = "a colon stands between key and value" + (", and not =" if "=" in sign else "")
            return YamlMistake(
                told, Span(found.start() + depth_of(text, found.start()), span.end), (fix,)
            )


def wrong_closer(what: str, place: Span, text: str) -> YamlMistake | None:
    """`[a, b}`, and a comma or bracket too many."""
    if "node content" in what:
        at = next((each for each in range(place.start, place.end) if text[each] in ",]}"), -1)
        if at < 0:
            return YamlMistake("a value is missing here", place)
        span = Span(at, at + 1)
        if text[at] != ",":
            return YamlMistake(f"this {text[at]} closes nothing", span)
        fix = Fix("Remove the comma", (TextEdit(span, ""),))
        return YamlMistake("a value is missing before this comma", span, (fix,))
    if "flow" not in what or text[place.start : place.start + 1] not in _CLOSERS:
        return None
    open_: list[str] = []
    for at in range(place.start, place.end):
        char = text[at]
        if char in "\"'":
            return None
        if char in _CLOSERS:
            open_.append(char)
        elif char in _CLOSERS.values() and open_:
            wanted = _CLOSERS[open_.pop()]
            if char != wanted:
                span = Span(at, at + 1)
                if _is_too_many(char, text[slice(*line_at(text, at))]):
                    return _nothing_closed(char, span)
                fix = Fix(f"Write {wanted}", (TextEdit(span, wanted),))
                return YamlMistake(f"{wanted} belongs here, not {char}", span, (fix,))
    return None


def stray_closer(what: str, place: Span, text: str) -> YamlMistake | None:
    """`[a, b]]`."""
    here = text[place.start : place.start + 1]
    if "flow" in what or here not in ("]", "}") or "did not find expected" not in what:
        return None
    return _nothing_closed(here, Span(place.start, place.start + 1))


def _nothing_closed(bracket: str, span: Span) -> YamlMistake:
    fix = Fix(f"Remove {bracket}", (TextEdit(span, ""),))
    return YamlMistake(f"this {bracket} closes nothing", span, (fix,))


def _is_too_many(closer: str, line: str) -> bool:
    """Whether a line closes more brackets of one kind than it opens, and the others are even."""
    surplus = {end: line.count(end) - line.count(start) for start, end in _CLOSERS.items()}
    return surplus[closer] > 0 and not any(surplus[end] for end in surplus if end != closer)
