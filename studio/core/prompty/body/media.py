"""Media tokens of the section dialect: `![image](url)`, `![type="file", …](url)`, `![thread]`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from studio.core.prompty.body import sections
from studio.core.text.source import Span

MediaKind = Literal["image", "file", "audio", "video"]
"""Kind of media token."""

_KINDS: dict[str, MediaKind] = {
    "image": "image",
    "file": "file",
    "pdf": "file",
    "document": "file",
    "audio": "audio",
    "recording": "audio",
    "video": "video",
}
"""Words in the brackets for the type (seed: "Content": "the value describes the type")."""

_SUFFIX_WORDS: dict[MediaKind, str] = {
    "image": "png jpg jpeg jpe gif webp bmp svg tif tiff heic heif avif ico",
    "audio": "mp3 wav m4a ogg oga flac aac opus wma",
    "video": "mp4 m4v mov webm mkv avi mpg mpeg wmv",
    "file": (
        "pdf doc docx odt rtf xls xlsx ods ppt pptx odp csv tsv txt md json xml yaml yml epub zip"
    ),
}
_SUFFIXES = {suffix: kind for kind, words in _SUFFIX_WORDS.items() for suffix in words.split()}
_MIME_KINDS: dict[str, MediaKind] = {"image": "image", "audio": "audio", "video": "video"}
_TARGET = re.compile(r"\]\(([^()\n]*(?:\([^()\n]*\)[^()\n]*)*)\)")
_THREAD = re.compile(r"^[ \t]*!\[thread\][ \t]*$", re.MULTILINE)
_NEAR_THREAD = re.compile(r"!\[[ \t]*thread\b(?P<inside>[^\]\n]{0,200})\](?!\()", re.IGNORECASE)
_OPENING = re.compile(r"!\[(?P<kind>[a-z]{1,9})\]\(")
_ADDRESS = re.compile(r"[ \t]*(?:\{\{[^{}]*\}\}|\S{1,4000})")
_MISPLACED = re.compile(
    r"!\[(?P<kind>[a-z]{1,9})\](?:[ \t]{1,9}\((?=[^()\n]*\))|[ \t]{0,9}\{(?!\{))"
    r"(?P<address>[^(){}\n]{1,300})[)}]"
)
_LONGEST_BRACKETS = 1000


@dataclass(frozen=True, slots=True)
class MediaToken:
    """A media token in a text."""

    kind: MediaKind
    """Kind by the word in brackets; any other word is the alternative text of an image."""

    span: Span
    """The whole token."""

    target: Span
    """The URL or path."""

    attributes: tuple[sections.Attribute, ...]
    """Attributes in the brackets, including `type`; with spans in the same text."""

    alt: Span | None
    """Span of the alternative text; None without one."""

    word: str = ""
    """Unknown value of `type=`."""

    is_said: bool = True
    """Whether a known word gives the type; otherwise the URL may."""


def kind_of_source(source: str) -> MediaKind | None:
    """Return the kind of a path's suffix or of data's media type; None if there is none."""
    if source.startswith("data:"):
        media_type = source[5:].partition(",")[0].partition(";")[0]
        return _MIME_KINDS.get(media_type.partition("/")[0], "file") if media_type else None
    path = source
    if "://" in source:
        path = source.partition("://")[2].partition("/")[2]
    name = path.partition("?")[0].partition("#")[0].replace("\\", "/").rpartition("/")[2]
    return _SUFFIXES.get(name.rpartition(".")[2].lower()) if "." in name else None


def decided_kind(token: MediaToken, source: str) -> MediaKind:
    """Return the kind of a token with a known URL: by its word, else by the suffix."""
    if token.is_said:
        return token.kind
    return kind_of_source(source) or ("file" if token.word else token.kind)


def find_media(text: str) -> list[MediaToken]:
    """Return every media token outside code, in order."""
    if "](" not in text:
        return []
    fences = sections.fenced_ranges(sections.plain_newlines(text))
    has_code = "`" in text
    found: list[MediaToken] = []
    line_start, counted, backticks = -1, 0, 0
    for token in _tokens(text):
        start = token.span.start
        if has_code:  # backticks before the token on its line, each counted once
            own_line = text.rfind("\n", max(line_start, 0), start) + 1
            if own_line > line_start:
                line_start, counted, backticks = own_line, own_line, 0
            backticks += text.count("`", counted, start)
            counted = start
            if backticks % 2 and _closes_on_line(text, token.span.end):
                continue
        if not sections.is_inside(fences, start):
            found.append(token)
    return found


def find_threads(text: str) -> list[Span]:
    """Return every `![thread]` alone on its line, outside fences."""
    if "![thread]" not in text:
        return []
    text = sections.plain_newlines(text)
    fences = sections.fenced_ranges(text)
    return [
        Span(*found.span())
        for found in _THREAD.finditer(text)
        if not sections.is_inside(fences, found.start())
    ]


def without_threads(text: str) -> str:
    """Return a text without its `![thread]` lines."""
    for span in reversed(find_threads(text)):
        text = text[: span.start] + text[span.end :]
    return text


def near_threads(text: str) -> Iterator[tuple[Span, str]]:
    """Yield texts similar to `![thread]`, with the line that would be valid, or an empty text."""
    if "thread" not in text.lower():
        return
    plain = sections.plain_newlines(text)
    right = find_threads(text)
    last, head, tail = -1, 0, 0  # of the current line: its end, and those of its words
    for found in _outside_code(_NEAR_THREAD, plain):
        start, end = found.span()
        if start > last:
            next_line = plain.find("\n", end)
            last = next_line if next_line >= 0 else len(plain)
            head, tail = _text_ends(plain, plain.rfind("\n", 0, start) + 1, last)
        if sections.is_inside(right, start):
            continue
        inside = found["inside"].strip(" \t,")
        line = f"thread[{inside}]:" if inside else "![thread]"
        yield Span(start, end), line if start <= head and end >= tail else ""


def unclosed_media(text: str) -> Iterator[Span]:
    """Yield media tokens, outside code, without a closing bracket after their URL.

    The span ends with the URL, or with the opening bracket if there is no URL.
    """
    plain = sections.plain_newlines(text)
    end = closes = 0
    for found in _outside_code(_OPENING, plain):
        if found["kind"] not in _KINDS:
            continue
        if found.end() > end:
            newline = plain.find("\n", found.end())
            end = newline if newline >= 0 else len(plain)
            closes = plain.rfind(")", found.end(), end)
        if closes < found.end():
            address = _ADDRESS.match(plain, found.end(), end)
            yield Span(found.start(), address.end() if address else found.end())


def misplaced_media(text: str) -> Iterator[tuple[Span, str]]:
    """Yield `![image] (pic.png)` and `![image]{pic.png}` with the correct token, outside code."""
    for found in _outside_code(_MISPLACED, sections.plain_newlines(text)):
        if found["kind"] in _KINDS:
            yield Span(*found.span()), f"![{found['kind']}]({found['address'].strip()})"


def _outside_code(pattern: re.Pattern[str], plain: str) -> Iterator[re.Match[str]]:
    """Yield the matches in a text with LF line breaks, outside fences and backticks."""
    fences = sections.fenced_ranges(plain) if "![" in plain else []
    ticks = done = 0
    for found in pattern.finditer(plain):
        line = max(done, plain.rfind("\n", done, found.start()) + 1)
        ticks = plain.count("`", line, found.start()) + (ticks if line == done else 0)
        done = found.start()
        if ticks % 2 == 0 and not sections.is_inside(fences, found.start()):
            yield found


def _text_ends(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the start of the first word and the end of the last word on a line."""
    line = text[start:end]
    return end - len(line.lstrip()), start + len(line.rstrip())


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
        read = sections.read_attributes(text[: close + 1], start + 2, "section")
        if read is not None and read[1] == close and read[0]:
            given = next((item.value for item in reversed(read[0]) if item.key == "type"), None)
            kind = _KINDS.get(str(given))
            word = "" if given is None or kind is not None else str(given)
            is_said = kind is not None
            return MediaToken(kind or "image", whole, place, read[0], None, word, is_said)
    if "]" in inside:
        return None
    alt = Span(start + 2, close) if inside.strip() else None
    return MediaToken("image", whole, place, (), alt, is_said=False)


def _trim_target(text: str, start: int, end: int) -> Span:
    """Return the span of the URL without spaces, a Markdown title and angle brackets."""
    inner = text[start:end]
    stripped = inner.strip()
    if stripped.endswith('"') and ' "' in stripped[:-1]:
        stripped = stripped[: stripped.rindex(' "', 0, len(stripped) - 1)].rstrip()
    start += len(inner) - len(inner.lstrip())
    if stripped.startswith("<") and stripped.endswith(">") and len(stripped) > 1:
        return Span(start + 1, start + len(stripped) - 1)
    return Span(start, start + len(stripped))


def _closes_on_line(text: str, at: int) -> bool:
    """Return whether a backtick follows on the same line."""
    backtick = text.find("`", at)
    return backtick >= 0 and "\n" not in text[at:backtick]
