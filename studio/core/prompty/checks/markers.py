"""Checks of role markers, attributes, media and threads that are almost right."""

import re
from collections.abc import Callable, Iterator
from itertools import zip_longest

from studio.core.prompty.body.media import misplaced_media, near_threads, unclosed_media
from studio.core.prompty.body.sections import (
    ROLES,
    STANDARD_ROLES,
    fenced_ranges,
    find_markers,
    is_inside,
    plain_newlines,
    read_marker,
)
from studio.core.prompty.dialect import parser_kind
from studio.core.prompty.document import PromptDocument
from studio.core.text.naming import nearest
from studio.core.text.source import Fix, Problem, Severity, Span, TextEdit

_Predicate = Callable[[int], bool]

_ROLE = r"(?P<role>system|user|assistant|developer|tool|function|thread)"
NEAR_MARKER = re.compile(
    r"^[ \t\u00a0\u200b\ufeff]*(?:[#*_>]{1,6}[ \t]*)?(?:role[ \t]*[=:][ \t]*)?"
    + _ROLE
    + r"(?P<attributes>\[[^\]\n]{1,300}\])?(?![\w\[])[ \t\u00a0\u200b\ufeff]*"
    r"(?:[*_]{1,3}[ \t\u00a0]*)?"
    r"(?:[:\uff1a]{1,2}|;)[*_]{0,3}[ \t\u00a0\u200b\ufeff]*$",
    re.MULTILINE | re.IGNORECASE,
)
"""Matches lines that are reported as almost a marker."""
_TAG_LINE = re.compile(
    r"^(?P<tag>[ \t]*<(?P<end>/?)(?P<role>system|user|assistant)>[ \t]*)(?:\n|\Z)", re.MULTILINE
)
_TOOLS_ON_LINE = re.compile(
    r"^tools:[ \t]+(?=(?:\[[^\n]{0,400}\]|\$\{\w+:[^}\n]{0,200}\})[ \t]*$)", re.MULTILINE
)
_FOREIGN = re.compile(
    r"^[ \t]*(?:\[(?P<bracketed>system|user|assistant|developer)\][ \t]*:"
    r"|<\|im_start\|>[ \t]*(?P<chat>system|user|assistant|developer))[ \t]*$",
    re.MULTILINE | re.IGNORECASE,
)
_WITH_TEXT = re.compile(
    r"\s*(?P<role>system|user|assistant|developer)[ \t]*:[ \t]+(?=\S)", re.IGNORECASE
)
_WITH_TEXT_LATER = re.compile(
    r"^(?P<role>system|user|assistant|developer)[ \t]*:[ \t]+(?=\S)", re.IGNORECASE | re.MULTILINE
)

ROLE_ALONE = re.compile(
    r"[ \t]*(?P<word>[A-Za-z]{2,12})(?:[ \t]*[\[({](?P<inside>[^\n]{1,300})[\])}])?"
    r"[ \t]*(?P<colon>:?)[ \t]*"
)
"""Matches lines that may be reported as a misspelled marker."""
_LONGEST_MARKER = 400
_TWO = re.compile(
    # Each run of blanks belongs to only one part of the pattern: two would cause quadratic time.
    r"^[ \t]*(?:#[ \t]*)?(?P<one>[A-Za-z]{4,9})[ \t]*[/|][ \t]*(?P<other>[A-Za-z]{4,9})"
    r"(?:[ \t]*(?P<attributes>\[[^\n]{0,300}\]))?[ \t]*:[ \t]*$",
    re.MULTILINE,
)
_OTHER_ROLES = {"human": "user", "ai": "assistant", "bot": "assistant", "chatbot": "assistant"}
"""Other programs' words for the roles."""
_PLAIN_WORDS = frozenset(
    {"users", "uses", "used", "use", "systems", "assistants", "assistance", "developers", "assist"}
)
"""Words similar to a role that are usual in prose: headings such as `Users:` are no errors."""


def check_markers(document: PromptDocument) -> Iterator[Problem]:
    """Report lines that are meant as role markers but are none, and the opposite."""
    body = plain_newlines(document.source.slice(document.body))
    offset = document.body.start
    fences = fenced_ranges(body)

    def is_fenced(at: int) -> bool:
        return is_inside(fences, at)

    yield from _foreign(document, body, is_fenced)
    yield from _tags(document, body, is_fenced)
    yield from _nearly_right(document, body, is_fenced)
    yield from _two_roles(document, body, is_fenced)
    yield from _list_on_line(document, body, is_fenced)
    yield from _misspelled(document, body, is_fenced)
    yield from _untidy(document, body)
    if not document.sections or document.sections[0].role == "":
        yield from _text_on_line(document, body, is_fenced)
    if fences:
        fenced = [
            marker.span for marker in find_markers(body, "prompty") if is_fenced(marker.span.start)
        ]
        if fenced:
            yield _in_fence(document, fenced[0].shift(offset), len(fenced))


def _tags(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report `<user>` … `</user>` in a body without other text; otherwise they are text."""
    if any(section.role for section in document.sections):
        return
    tags = [found for found in _TAG_LINE.finditer(body) if not is_fenced(found.start())]
    edits: list[TextEdit] = []
    done = 0
    for first, last in zip_longest(tags[::2], tags[1::2]):
        is_pair = last and first["role"] == last["role"] and not first["end"] and last["end"]
        if not is_pair or body[done : first.start()].strip():
            return
        edits.append(TextEdit(Span(*first.span("tag")), f"{first['role']}:"))
        edits.append(TextEdit(Span(*last.span()), ""))
        done = last.end()
    if not tags or body[done:].strip():
        return
    offset = document.body.start
    place = Span(*tags[0].span("tag")).shift(offset)
    right = f"{tags[0]['role']}:"
    message = (
        f"{tags[0]['tag'].strip()!r} is text here; a role marker is {right!r} alone on its line."
    )
    title = f"Write {right}" if not tags[2:] else "Write role markers"
    fix = Fix(title, tuple(TextEdit(edit.span.shift(offset), edit.text) for edit in edits))
    yield Problem("near-marker", Severity.WARNING, message, place, (fix,))


def _foreign(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report the role markers of other formats: `[user]:` and `<|im_start|>user`."""
    for found in _FOREIGN.finditer(body):
        right = f"{(found['bracketed'] or found['chat']).lower()}:"
        if is_fenced(found.start()) or read_marker(right, document.dialect) is None:
            continue
        place = Span(*found.span()).shift(document.body.start)
        message = (
            f"{found[0].strip()!r} is text here; a role marker is {right!r} alone on its line."
        )
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        yield Problem("near-marker", Severity.WARNING, message, place, (fix,))


def _nearly_right(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    for found in NEAR_MARKER.finditer(body):
        role = found["role"].lower()
        if is_fenced(found.start()):
            continue
        if role == "developer" and document.dialect == "legacy":
            yield _later_role(document, found)
            continue
        if role not in ROLES[document.dialect]:
            continue
        line = found[0]
        if read_marker(line, document.dialect) is not None:
            continue
        if role not in STANDARD_ROLES and not found["attributes"]:
            continue  # "**Tool:**" is an ordinary heading
        right = _right_marker(found)
        if read_marker(right, document.dialect) is None:
            continue  # the error is in its attributes
        place = Span(*found.span()).shift(document.body.start)
        message = f"{line.strip()!r} is text here; a role marker is {right!r} alone on its line."
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        yield Problem("near-marker", Severity.WARNING, message, place, (fix,))


def _two_roles(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report `function/tool[…]:`, in which a reference lists both words."""
    known = ROLES[document.dialect]
    for found in _TWO.finditer(body):
        words = [found[name].lower() for name in ("other", "one")]
        rights = [f"{word}{found['attributes'] or ''}:" for word in words if word in known]
        if len(rights) < 2 or is_fenced(found.start()):
            continue
        if any(read_marker(right, document.dialect) is None for right in rights):
            continue
        place = Span(*found.span()).shift(document.body.start)
        message = f"{found[0].strip()!r} is text here; a role marker has one word: {rights[0]!r}."
        fixes = tuple(Fix(f"Write {right}", (TextEdit(place, right),)) for right in rights)
        yield Problem("near-marker", Severity.WARNING, message, place, fixes)


def _list_on_line(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report `tools: ${file:tools.yaml}`: the list belongs below the marker."""
    if document.dialect != "section":
        return
    for found in _TOOLS_ON_LINE.finditer(body):
        if is_fenced(found.start()):
            continue
        place = Span(*found.span()).shift(document.body.start)
        message = "tools: is text here; write it alone on its line, with the list below."
        fix = Fix("Put the list below", (TextEdit(place, "tools:\n"),))
        yield Problem("near-marker", Severity.WARNING, message, place, (fix,))


def _later_role(document: PromptDocument, found: re.Match[str]) -> Problem:
    place = Span(*found.span()).shift(document.body.start)
    message = (
        f"{found[0].strip()!r} is text here: Prompty 1 has no role developer. Write system:, or "
        "convert the file to Prompty 2."
    )
    fix = Fix("Write system:", (TextEdit(place, "system:"),))
    return Problem("near-marker", Severity.WARNING, message, place, (fix,))


def _right_marker(near: re.Match[str]) -> str:
    """Return the marker that a line is almost; its attributes may still be unreadable."""
    return f"{near['role'].lower()}{near['attributes'] or ''}:"


def _misspelled(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report misspelled markers: `usr:`, `user(name="Ada"):`, `System` on its own line."""
    marked = {section.role for section in document.sections if section.marker is not None}
    previous, at = "", 0
    lines = body.split("\n")

    def has_text(number: int) -> bool:
        return number < len(lines) and bool(lines[number].strip())

    for number, line in enumerate(lines):
        start, before = at, previous
        at, previous = at + len(line) + 1, line
        found = ROLE_ALONE.fullmatch(line) if len(line) < _LONGEST_MARKER else None
        if found is None or is_fenced(start) or read_marker(line, document.dialect):
            continue
        word, inside = found["word"], found["inside"]
        role = _meant_role(document, word)
        ends_well = bool(found["colon"]) or (role == word.lower() and line.rstrip().endswith("]"))
        has_shape = inside is not None and "=" in inside and ends_well
        is_bare = inside is None and not before.strip()
        if role is None or not (has_shape or is_bare):
            continue
        lacks_colon = (
            bool(marked)
            and role == word
            and is_bare
            and role not in marked
            and has_text(number + 1)
        )
        is_word = role == word.lower() and (found["colon"] or word == word.lower())
        if is_word and not has_shape and not lacks_colon:
            continue  # a marker, or a word of the text
        if word.lower() in _OTHER_ROLES and not (
            found["colon"] and role in ROLES[document.dialect]
        ):
            continue
        right = f"{role}[{inside.strip()}]:" if inside is not None else f"{role}:"
        if read_marker(right, document.dialect) is None or NEAR_MARKER.fullmatch(line):
            continue  # has its own report
        place = Span(start, start + len(line)).shift(document.body.start)
        message = f"{line.strip()!r} is text here; did you mean the role marker {right!r}?"
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        severity = (
            Severity.WARNING
            if has_shape or lacks_colon or (found["colon"] and word.lower() not in _OTHER_ROLES)
            else Severity.HINT
        )
        yield Problem("near-marker", severity, message, place, (fix,))


def _meant_role(document: PromptDocument, word: str) -> str | None:
    """Return the role that a word almost spells; None for common words."""
    lower = word.lower()
    if lower in _PLAIN_WORDS:
        return None
    if lower in _OTHER_ROLES:
        return _OTHER_ROLES[lower]
    roles = [role for role in STANDARD_ROLES if role in ROLES[document.dialect]]
    return nearest(lower, roles, surely=True) or None


def _untidy(document: PromptDocument, body: str) -> Iterator[Problem]:
    offset = document.body.start
    for section in document.sections:
        if section.marker is None:
            continue
        start, end = section.marker.start - offset, section.marker.end - offset
        line = body[start:end]
        tidy = tidy_marker(line)
        if tidy != line:
            message = f"This role marker is usually written {tidy!r}."
            fix = Fix(f"Write {tidy}", (TextEdit(section.marker, tidy),))
            yield Problem("untidy-marker", Severity.HINT, message, section.marker, (fix,))


def tidy_marker(line: str) -> str:
    """Return a marker line in standard form: lower case, no blanks around word and colon."""
    body, colon, _ = line.strip().rpartition(":")
    hash_mark = "#" if body.startswith("#") else ""
    word, bracket, rest = body[len(hash_mark) :].strip().partition("[")
    gap = " " if hash_mark and body[1:2] == " " else ""
    return f"{hash_mark}{gap}{word.strip().lower()}{bracket}{rest}{colon}"


def _text_on_line(document: PromptDocument, body: str, is_fenced: _Predicate) -> Iterator[Problem]:
    """Report `system: You are …` as the first line of a body without markers."""
    found = _WITH_TEXT.match(body)
    if found is None or found["role"].lower() not in ROLES[document.dialect]:
        return
    role = found["role"].lower()
    place = Span(found.start("role"), found.end()).shift(document.body.start)
    message = f"{found['role']}: is text here; write a role marker alone on its line."
    edits = [TextEdit(place, f"{role}:\n")]
    for other in _WITH_TEXT_LATER.finditer(body, found.end()):
        if is_fenced(other.start()) or other["role"].lower() not in ROLES[document.dialect]:
            continue
        span = Span(other.start("role"), other.end()).shift(document.body.start)
        edits.append(TextEdit(span, f"{other['role'].lower()}:\n"))
    title = f"Put {role}: on its own line" if len(edits) == 1 else "Put the roles on own lines"
    if len(edits) > 1:
        message += f" So does each role below it (+ {len(edits) - 1})."
    fix = Fix(title, tuple(edits))
    yield Problem("marker-with-text", Severity.WARNING, message, place, (fix,))


def _in_fence(document: PromptDocument, place: Span, count: int) -> Problem:
    more = f" ({count - 1} more like it)" if count > 1 else ""
    if document.dialect == "section":
        message = f"This role marker is in a code block, so it is text{more}."
        return Problem("marker-in-fence", Severity.HINT, message, place)
    message = f"This role marker is in a code block but still starts a message{more}."
    return Problem("marker-in-fence", Severity.WARNING, message, place)


# The attributes of role markers: `user[name="Ada"]:`, and similar text.

_LINE = re.compile(
    r"^[ \t]*(?:#[ \t]*)?(?P<role>system|user|assistant|developer|tool|function|thread)[ \t]*"
    r"\[(?P<inside>[^\n]*)$",
    re.MULTILINE | re.IGNORECASE,
)
_CURLY = "“”„‘’"
_STRAIGHT = str.maketrans(_CURLY, '"""' + "''")
_COLON = re.compile(r"\b(?P<key>\w+)[ \t]*:[ \t]*(?=[\w\"'])")


def check_attributes(document: PromptDocument) -> Iterator[Problem]:
    """Report unreadable attributes, which make their line text; and curly quotes in attributes."""
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
                    "These quotes are curly and become part of the value; use straight quotes."
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
                continue  # has its own report
        right = f"{role}[{inside.rstrip().rstrip(':').rstrip().rstrip(']')}]:"
        if read_marker(right, document.dialect) is not None and ROLE_ALONE.fullmatch(line):
            continue  # reported with its fix
        yield _unreadable(document, role, inside, place)


def _unreadable(document: PromptDocument, role: str, inside: str, place: Span) -> Problem:
    """Report a line that one error makes unreadable, with the line that is meant."""
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
            message = f"This marker is invalid, so the line is text: {meaning}."
            fix = Fix(f"Write {right}", (TextEdit(place, right),))
            return Problem("attribute-syntax", Severity.WARNING, message, place, (fix,))
    message = (
        "These attributes are invalid, so the line is text; "
        f'write {role}[key="value", other=1]: alone on the line.'
    )
    return Problem("attribute-syntax", Severity.WARNING, message, place)


# Media and threads that are almost right: `![image](pic.png`, `![Thread]`.


def check_media(document: PromptDocument) -> Iterator[Problem]:
    """Report tokens that are meant as media or a thread but are text."""
    body = plain_newlines(document.source.slice(document.body))
    yield from _near_threads(document, body)
    yield from _unclosed_media(document, body)


def _near_threads(document: PromptDocument, body: str) -> Iterator[Problem]:
    """Report `![thread]` within a line, `![Thread]`, `![thread key="v"]`."""
    if document.dialect != "section":
        return
    for span, right in near_threads(body):
        place = span.shift(document.body.start)
        is_marker = right.endswith(":") and read_marker(right, document.dialect) is None
        fixes = (Fix(f"Write {right}", (TextEdit(place, right),)),) if right else ()
        message = (
            f"{body[span.start : span.end]!r} is text here; ![thread] stands alone on its line, "
            'and thread[key="value"]: has attributes.'
        )
        yield Problem("near-marker", Severity.WARNING, message, place, () if is_marker else fixes)


def _unclosed_media(document: PromptDocument, body: str) -> Iterator[Problem]:
    """Report `![image](pic.png`, which is sent as text instead of an image."""
    if document.dialect == "legacy" or parser_kind(document.data) == "prompty":
        return
    for span, right in misplaced_media(body):
        place = span.shift(document.body.start)
        fix = Fix(f"Write {right}", (TextEdit(place, right),))
        message = f"{body[span.start : span.end]!r} is text here; did you mean {right!r}?"
        yield Problem("near-marker", Severity.WARNING, message, place, (fix,))
    for span in unclosed_media(body):
        place = span.shift(document.body.start)
        written = body[span.start : span.end]
        is_empty = written.endswith("](")
        lacks = "an address and a ) are missing" if is_empty else "a ) is missing after the address"
        fix = Fix("Close it with )", (TextEdit(Span(place.end, place.end), ")"),))
        message = f"{written!r} is text here: {lacks}."
        yield Problem("near-marker", Severity.WARNING, message, place, () if is_empty else (fix,))
