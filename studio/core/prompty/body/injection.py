"""Role markers that values tried to bring in: they stay text, and are named."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from studio.core.prompty.body.masked import PLACEHOLDER, MaskedText
from studio.core.prompty.body.roles import Marker, read_marker
from studio.core.prompty.document import PromptDocument
from studio.core.text.problem import Problem, Severity
from studio.core.text.span import Span

_MOST = 50


def injected_markers(
    document: PromptDocument, masked: MaskedText, markers: Sequence[Marker]
) -> Iterator[Problem]:
    """A problem for each value with a line that would begin a message if the author wrote it."""
    if not masked.hides_values:
        return
    accepted = {marker.span.start for marker in markers}
    reported: set[tuple[Span | None, str | None]] = set()
    for segment in masked.segments:
        if segment.kind != "value" or len(reported) >= _MOST or ":" not in segment.text:
            continue
        if (segment.span, segment.input) in reported:
            continue
        line = _marker_line(document, segment.text)
        if line is None:
            continue
        reported.add((segment.span, segment.input))
        yield _problem(document, segment.span, segment.input, line)
    yield from _completed_lines(document, masked, accepted, reported)


def _marker_line(document: PromptDocument, text: str) -> str | None:
    """The first line of a value that reads as a role marker."""
    return next((line for line in text.split("\n") if read_marker(line, document.dialect)), None)


def _completed_lines(
    document: PromptDocument,
    masked: MaskedText,
    accepted: set[int],
    reported: set[tuple[Span | None, str | None]],
) -> Iterator[Problem]:
    """Lines that only become a marker by a value in them (`{{who}}:`)."""
    for at, segment in masked.placed():
        if segment.kind != "value":
            continue
        if len(reported) >= _MOST or (segment.span, segment.input) in reported:
            continue
        if len(segment.text) > 40 or "\n" in segment.text:
            continue
        start = masked.text.rfind("\n", 0, at) + 1
        end = masked.text.find("\n", at)
        end = len(masked.text) if end < 0 else end
        if start in accepted or end - start > 400:
            continue
        if not masked.text[start:end].rstrip().endswith((":", PLACEHOLDER)):
            continue
        line = masked.read(start, end)
        if read_marker(line, document.dialect):
            reported.add((segment.span, segment.input))
            yield _problem(document, segment.span, segment.input, line)


def _problem(document: PromptDocument, span: Span | None, name: str | None, line: str) -> Problem:
    who = f"The value of {name!r}" if name else "A value"
    message = f"{who} holds the role marker {line.strip()!r}; it stays text."
    start = document.body.start
    return Problem("injected-marker", Severity.WARNING, message, span or Span(start, start))
