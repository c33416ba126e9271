"""Media tokens of the section dialect: `![image](url)`, `![type="file", …](url)`, `![thread]`."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from studio.core.prompty.body.roles import Attribute, read_attributes
from studio.core.prompty.body.sections import fenced_ranges, is_inside, plain_newlines
from studio.core.text.span import Span

MediaKind = Literal["image", "file", "audio", "video"]
"""What a token can stand for."""

_KINDS: dict[str, MediaKind] = {
    "image": "image",
    "file": "file",
    "audio": "audio",
    "video": "video",
}
_TARGET = re.compile(r"\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)")
_THREAD = re.compile(r"^[ \t]*!\[thread\][ \t]*$", re.MULTILINE)
_LONGEST_BRACKETS = 1000


@dataclass(frozen=True, slots=True)
class MediaToken:
    """A media token in a text."""

    kind: MediaKind
    """What it stands for; a word that is no kind is the alternative text of an image."""

    span: Span
    """The whole token."""

    target: Span
    """The URL or path."""

    attributes: tuple[Attribute, ...]
    """Attributes in the brackets, `type` among them; their spans count in the same text."""

    alt: Span | None
    """Alternative text, where the brackets hold some."""


def find_media(text: str) -> list[MediaToken]:
    """Every media token outside code, in order."""
    if "](" not in text:
        return []
    fences = fenced_ranges(plain_newlines(text))
    has_code = "`" in text
    found: list[MediaToken] = []
    line_start, counted, backticks = -1, 0, 0
    for token in _tokens(text):
        start = token.span.start
        if has_code:  # backticks before the token on its line, counted once each
            own_line = text.rfind("\n", max(line_start, 0), start) + 1
            if own_line > line_start:
                line_start, counted, backticks = own_line, own_line, 0
            backticks += text.count("`", counted, start)
            counted = start
            if backticks % 2 and _closes_on_line(text, token.span.end):
                continue
        if not is_inside(fences, start):
            found.append(token)
    return found


def find_threads(text: str) -> list[Span]:
    """Every `![thread]` alone on its line, outside fences."""
    if "![thread]" not in text:
        return []
    text = plain_newlines(text)
    fences = fenced_ranges(text)
    return [
        Span(*found.span())
        for found in _THREAD.finditer(text)
        if not is_inside(fences, found.start())
    ]


def _tokens(text: str) -> Iterator[MediaToken]:
    done = 0
    for target in _TARGET.finditer(text):
        close = target.start()
        start = text.rfind("![", max(done, close - _LONGEST_BRACKETS), close)
        if start < 0 or "\n" in text[start:close]:
            continue
        token = _read_token(text, start, close, target)
        if token is not None:
            done = token.span.end
            yield token


def _read_token(text: str, start: int, close: int, target: re.Match[str]) -> MediaToken | None:
    inside = text[start + 2 : close]
    place = _trim_target(text, *target.span(1))
    whole = Span(start, target.end())
    if inside.strip() in _KINDS:
        return MediaToken(_KINDS[inside.strip()], whole, place, (), None)
    if "=" in inside:
        read = read_attributes(text[: close + 1], start + 2, "section")
        if read is not None and read[1] == close and read[0]:
            kind = next((item.value for item in read[0] if item.key == "type"), "image")
            return MediaToken(_KINDS.get(str(kind), "image"), whole, place, read[0], None)
    if "]" in inside:
        return None
    alt = Span(start + 2, close) if inside.strip() else None
    return MediaToken("image", whole, place, (), alt)


def _trim_target(text: str, start: int, end: int) -> Span:
    """The URL alone: without spaces, a Markdown title and angle brackets."""
    inner = text[start:end]
    stripped = inner.strip()
    if stripped.endswith('"') and ' "' in stripped[:-1]:
        stripped = stripped[: stripped.rindex(' "', 0, len(stripped) - 1)].rstrip()
    start += len(inner) - len(inner.lstrip())
    if stripped.startswith("<") and stripped.endswith(">") and len(stripped) > 1:
        return Span(start + 1, start + len(stripped) - 1)
    return Span(start, start + len(stripped))


def _closes_on_line(text: str, at: int) -> bool:
    """Whether a backtick follows on the same line."""
    backtick = text.find("`", at)
    return backtick >= 0 and "\n" not in text[at:backtick]
