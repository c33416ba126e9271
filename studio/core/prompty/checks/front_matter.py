"""Front matter that is none: something stands before it, or other lines around it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from studio.core.prompty.body.sections import plain_newlines
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span

_ODD_FRONT = re.compile(
    r"(?P<first>[-–—]{1,2}|-{4,80}|[–—]{3,}|[ \t]*`{3,}[ \t]*ya?ml)[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?:[^\n]*\n){1,400}?(?P<last>(?P=first)|`{3,}|---)[ \t]*(?:\n|\Z)"
)
"""Front matter between other lines than three dashes."""
_OF_A_PROMPT = re.compile(r"^(?:model|inputs|template)[ \t]*:", re.MULTILINE)
"""What no other YAML has beside a name, a version or a description."""
_FENCED_FILE = re.compile(r"[ \t]*(?P<fence>`{3,})[^`\n]*\n\Z")
_LATE_FRONT = re.compile(
    r"(?P<before>(?:[^\n]{0,200}\n){0,3}?[^\n]{0,200}?)---[ \t]*\n"
    r"(?=(?:name|description|model|inputs|tools|template|metadata|version)[ \t]*:)"
    r"(?=(?:[^\n]*\n){1,400}?---[ \t]*(?:\n|\Z))"
)


def check_front_matter(document: PromptDocument) -> Iterator[Problem]:
    """Front matter that something stands before: then all of it is text of the prompt."""
    if document.front_matter is not None:
        return
    body = plain_newlines(document.source.slice(document.body))
    found = _LATE_FRONT.match(body)
    odd = _ODD_FRONT.match(body)
    if odd is not None and ("`" not in odd["first"] or _OF_A_PROMPT.search(odd[0])):
        yield _odd_front(document, odd)
        return
    if found is None or not found["before"].strip():
        return
    place = Span(*found.span("before")).shift(document.body.start)
    edits = [TextEdit(place, "")]
    fenced = _FENCED_FILE.search(found["before"])
    if fenced is not None:
        ends = re.search(rf"^[ \t]*{fenced['fence']}[ \t]*\Z", body.rstrip(), re.MULTILINE)
        if ends is not None:
            edits.append(TextEdit(Span(ends.start(), len(body)).shift(document.body.start), ""))
    message = (
        "This stands before the front matter, which begins a file or is none: as it is, all of it "
        "is text of the prompt."
    )
    title = "Remove what stands before it" if len(edits) == 1 else "Remove the fence around it"
    fix = Fix(title, tuple(edits))
    yield Problem("front-matter-late", Severity.WARNING, message, place, (fix,))


def _odd_front(document: PromptDocument, odd: re.Match[str]) -> Problem:
    """Front matter between `----` or a fence: as it is, text of the prompt."""
    places = [Span(*odd.span(name)).shift(document.body.start) for name in ("first", "last")]
    fix = Fix("Write --- above and below it", tuple(TextEdit(place, "---") for place in places))
    message = (
        f"{odd['first'].strip()!r} begins no front matter, so all of it is text of the prompt: "
        "three dashes alone on a line do, ---."
    )
    return Problem("front-matter-late", Severity.WARNING, message, places[0], (fix,))
