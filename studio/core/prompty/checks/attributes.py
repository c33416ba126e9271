"""The attributes of role markers: `user[name="Ada"]:`, and what is nearly that."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.prompty.body.sections import (
    ROLES,
    fenced_ranges,
    is_inside,
    plain_newlines,
    read_marker,
)
from studio.core.prompty.checks.markers import NEAR_MARKER, ROLE_ALONE
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span

_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*)?(?P<role>system|user|assistant|developer|tool|function|thread)[ \t]*"
    r"\[(?P<inside>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_CURLY = "“”„‘’"
_STRAIGHT = str.maketrans(_CURLY, '"""' + "''")
_COLON = re.compile(r"(?P<key>\w+)[ \t]*:[ \t]*(?=[\w\"'])")


def check_attributes(document: PromptDocument) -> Iterator[Problem]:
    """Attributes that cannot be read, so that their line is text; and curly quotes in them."""
    body = plain_newlines(document.source.slice(document.body))
    lines = list(_LINE.finditer(body))
    fences = fenced_ranges(body) if lines else ()
    for found in lines:
        line, inside, role = found[0], found["inside"], found["role"].lower()
        if role not in ROLES[document.dialect] or is_inside(fences, found.start()):
            continue
        place = Span(*found.span()).shift(document.body.start)
        marker = read_marker(line, document.dialect)
        if marker is not None:
            if any(str(each.value)[:1] in _CURLY for each in marker.attributes if each.value):
                message = (
                    "These quotes are curly and go into the value; attributes have straight ones."
                )
                fix = Fix("Write straight quotes", (TextEdit(place, line.translate(_STRAIGHT)),))
                yield Problem("attribute-syntax", Severity.WARNING, message, place, (fix,))
            continue
        if "=" not in inside and not inside.rstrip().endswith(":"):
            continue
        nearly = NEAR_MARKER.fullmatch(line)
        if nearly is not None:
            right = f"{nearly['role'].lower()}{nearly['attributes'] or ''}:"
            if read_marker(right, document.dialect) is not None:
                continue  # told by itself
        right = f"{role}[{inside.rstrip().rstrip(':').rstrip().rstrip(']')}]:"
        if read_marker(right, document.dialect) is not None and ROLE_ALONE.fullmatch(line):
            continue  # told with its fix
        yield _unreadable(document, role, inside, place)


def _unreadable(document: PromptDocument, role: str, inside: str, place: Span) -> Problem:
    """The line as it is meant, where one slip keeps it from being read."""
    within = inside.rstrip().rstrip(":;").rstrip()
    has_end = within.endswith("]")
    within = within.removesuffix("]").rstrip()
    quote = '"' if within.count('"') % 2 else "'" if within.count("'") % 2 else ""
    meant = (
        ("a ] is missing before the colon", within if not has_end else ""),
        ("a quote is never closed", f"{within}{quote}" if quote else ""),
        ("attributes have straight quotes", within.translate(_STRAIGHT)),
        ("an attribute is written key=value, with = and no colon", _COLON.sub(r"\g<key>=", within)),
    )
    for meaning, tried in meant:
        right = f"{role}[{tried}]:"
        if tried and read_marker(right, document.dialect) is not None:
            message = f"This marker cannot be read, so the line is text: {meaning}."
            fix = Fix(f"Write {right}", (TextEdit(place, right),))
            return Problem("attribute-syntax", Severity.WARNING, message, place, (fix,))
    message = (
        "These attributes cannot be read, so the line is text; "
        f'write {role}[key="value", other=1]: alone on the line.'
    )
    return Problem("attribute-syntax", Severity.WARNING, message, place)
