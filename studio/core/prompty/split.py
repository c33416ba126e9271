"""Cut a prompt file into front matter and body."""

from __future__ import annotations

import re
from dataclasses import dataclass

from studio.core.prompty.body.sections import plain_newlines
from studio.core.text.source import Span

_OPENING = re.compile(r"\ufeff?[ \t\r\n\f\v]*(---|\+\+\+)[ \t]*(?:\r\n|\n|\r|\Z)")
_CLOSING = {
    "---": re.compile(r"^---[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
    "+++": re.compile(r"^\+\+\+[ \t]*(?:\r\n|\n|\r|\Z)", re.MULTILINE),
}
_OTHER = {"---": "+++", "+++": "---"}
_FIRST_ROLE = re.compile(
    r"(?im)^#?[ ]?(?:system|user|assistant|developer)(?:\[.*\])?[ \t]*:[ \t]*\r?$"
)


@dataclass(frozen=True, slots=True)
class Split:
    """The two halves of a file."""

    front: Span | None
    """The YAML between the delimiters; None where there is none."""

    body: Span
    """Everything after the closing delimiter's line."""

    opening: Span | None = None
    """The opening delimiter."""

    unclosed: bool = False
    """Whether the closing delimiter is missing; the front matter is then a guess."""


def split_front_matter(text: str) -> Split:
    """Split at delimiter lines (Prompty spec §2.2, made line-exact: docs/design/file-format.md).

    The closing delimiter is the first line that is exactly the opening one; where there is none,
    the first line that is exactly the other one (the specification lets them differ).
    """
    text = plain_newlines(text)
    opening = _OPENING.match(text)
    if opening is None:
        start = 1 if text.startswith("\ufeff") else 0
        return Split(None, Span(start, len(text)))
    mark = opening[1]
    delimiter = Span(*opening.span(1))
    start = opening.end()
    closing = _CLOSING[mark].search(text, start) or _CLOSING[_OTHER[mark]].search(text, start)
    if closing is not None:
        return Split(Span(start, closing.start()), Span(closing.end(), len(text)), delimiter)
    role = _FIRST_ROLE.search(text, start)
    end = role.start() if role else len(text)
    return Split(Span(start, end), Span(end, len(text)), delimiter, unclosed=True)


def in_front_matter(text: str, caret: int) -> bool:
    """Return whether the caret is between the delimiters of the front matter."""
    split = split_front_matter(text)
    if split.front is None or caret < split.front.start:
        return False
    return caret < split.front.end + split.unclosed  # at its end one still writes in it
