"""Media and threads that are nearly right: `![image](pic.png`, `![Thread]`."""

from __future__ import annotations

from collections.abc import Iterator

from studio.core.prompty.body.media import misplaced_media, near_threads, unclosed_media
from studio.core.prompty.body.sections import plain_newlines, read_marker
from studio.core.prompty.dialect import parser_kind
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Fix, Problem, Severity, TextEdit
from studio.core.text.span import Span


def check_media(document: PromptDocument) -> Iterator[Problem]:
    """Tokens that are meant as media or a thread and are text."""
    body = plain_newlines(document.source.slice(document.body))
    yield from _near_threads(document, body)
    yield from _unclosed_media(document, body)


def _near_threads(document: PromptDocument, body: str) -> Iterator[Problem]:
    """`![thread]` in a line of text, `![Thread]`, `![thread key="v"]`: none of them is a thread."""
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
    """`![image](pic.png`: its text goes to the model in place of the picture."""
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
        lacks = (
            "an address and a ) are missing" if is_empty else "a ) is missing behind the address"
        )
        fix = Fix("Close it with )", (TextEdit(Span(place.end, place.end), ")"),))
        message = f"{written!r} is text here: {lacks}."
        yield Problem("near-marker", Severity.WARNING, message, place, () if is_empty else (fix,))
