"""The content of one section: text, media and conversations, in order."""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import accumulate, islice
from typing import Literal

from studio.core.prompty.body.media import (
    MediaKind,
    MediaToken,
    decided_kind,
    find_media,
    find_threads,
    kind_of_source,
)
from studio.core.prompty.body.sections import Attribute, is_inside
from studio.core.prompty.document import (
    BodySection,
    MediaPart,
    Message,
    MessageOrigin,
    OpenThread,
    Part,
    PromptDocument,
    Rendering,
    Role,
    Segment,
    TextPart,
)
from studio.core.prompty.reference_values import LookUp
from studio.core.prompty.threads import read_thread
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, text_or_json

# A rendering with its values hidden, so that only the author's text defines structure.

PLACEHOLDER = "\ufffc"
"""Placeholder for one hidden value; its offset distinguishes it from the same character in literal
text.
"""

TrustRule = Literal["literal", "role-words", "all"]
"""Which segments may define structure: only the author's text; also a value that is just a role
word (Prompty 1 prompts write `{{item.role}}:`); or every value (`format.strict: false`).
"""


class MaskedText:
    """A rendering's text without its values, and the mapping back to its segments."""

    def __init__(self, rendering: Rendering, trust: TrustRule, role_words: tuple[str, ...]) -> None:
        self.segments = tuple(segment for segment in rendering.segments if segment.text)
        self._visible = [_is_visible(item, trust, role_words) for item in self.segments]
        texts = [
            segment.text if visible else PLACEHOLDER
            for segment, visible in zip(self.segments, self._visible, strict=True)
        ]
        self.text = "".join(texts)
        """The text, one placeholder for each hidden value."""
        self._starts = [0, *accumulate(map(len, texts))]

    @property
    def hides_values(self) -> bool:
        """Whether any value is hidden."""
        return not all(self._visible)

    def placed(self) -> Iterator[tuple[int, Segment]]:
        """Yield every segment with its offset in the masked text."""
        return zip(self._starts, self.segments, strict=False)

    def pieces(self, start: int, end: int) -> list[Segment]:
        """Return the segments of a range of the masked text, cut to the range."""
        if start >= end:
            return []
        first = bisect_right(self._starts, start) - 1
        last = bisect_left(self._starts, end, first)  # exclusive
        found = list(self.segments[first:last])
        if not found:
            return []
        # Each end is cut separately, so that a long segment is not copied for a short piece.
        before, after = start - self._starts[first], end - self._starts[last - 1]
        if last - first == 1:
            if self._visible[first]:
                found[0] = cut(found[0], before, min(after, len(found[0].text)))
            return found
        if self._visible[last - 1]:
            found[-1] = cut(found[-1], 0, min(after, len(found[-1].text)))
        if self._visible[first]:
            found[0] = cut(found[0], before, len(found[0].text))
        return found

    def read(self, start: int, end: int) -> str:
        """Return the original text of a range, including values."""
        return "".join(piece.text for piece in self.pieces(start, end))

    def holds_value(self, start: int, end: int) -> bool:
        """Return whether any part of a range came from a value."""
        return any(piece.kind != "literal" for piece in self.pieces(start, end))

    def source(self, start: int, end: int) -> Span | None:
        """Return the template source of a range; None if nothing in it has a source."""
        spans = [piece.span for piece in self.pieces(start, end) if piece.span is not None]
        return spans[0].cover(spans[-1]) if spans else None

    def rich_places(self, start: int, end: int) -> list[tuple[int, Segment]]:
        """Return the rich inputs in a range, with their offsets."""
        found: list[tuple[int, Segment]] = []
        index = bisect_right(self._starts, start) - 1
        while index < len(self.segments) and self._starts[index] < end:
            if self.segments[index].kind == "rich" and self._starts[index] >= start:
                found.append((self._starts[index], self.segments[index]))
            index += 1
        return found


def cut(segment: Segment, start: int, end: int) -> Segment:
    """Return a slice of a segment, with its span sliced if text and source have equal length."""
    if start <= 0 and end >= len(segment.text):
        return segment
    span = segment.span
    if span is not None and segment.kind == "literal":
        # A template has LF line breaks: such a segment is longer in a CR LF source.
        longer = len(span) - len(segment.text)
        if longer == 0 or (longer == 1 and segment.text.endswith("\n")):
            span = Span(
                span.start + start, span.end if end >= len(segment.text) else span.start + end
            )
    return Segment(segment.kind, segment.text[start:end], span, segment.input)


def trim_newlines(pieces: list[Segment], *, blanks: bool = False) -> list[Segment]:
    """Return pieces without the line breaks at both ends (Prompty's test vectors).

    Args:
        pieces: Segments in order.
        blanks: Whether to remove spaces and tabs at both ends too.
    """
    what = " \t\r\n" if blanks else "\r\n"
    first, last = 0, len(pieces)
    while first < last and not pieces[first].text.strip(what):
        first += 1
    while last > first and not pieces[last - 1].text.strip(what):
        last -= 1
    kept = pieces[first:last]
    if kept:
        head = kept[0]
        kept[0] = cut(head, len(head.text) - len(head.text.lstrip(what)), len(head.text))
        tail = kept[-1]
        kept[-1] = cut(tail, 0, len(tail.text.rstrip(what)))
    return kept


def with_plain_newlines(pieces: list[Segment]) -> tuple[Segment, ...]:
    """Return the pieces with LF line breaks, as sent to a model."""
    return tuple(
        Segment(
            piece.kind,
            piece.text.replace("\r\n", "\n").replace("\r", "\n"),
            piece.span,
            piece.input,
        )
        if piece.kind == "literal" and "\r" in piece.text
        else piece
        for piece in pieces
    )


def _is_visible(segment: Segment, trust: TrustRule, role_words: tuple[str, ...]) -> bool:
    if segment.kind == "literal":
        return True
    if segment.kind == "rich":
        return False
    if trust == "role-words":
        return segment.text.strip(" \t").lower() in role_words
    return trust == "all"


THREAD_INPUT = "thread"
"""Input for `![thread]` and `thread:` (docs/design/file-format.md)."""

MOST_PROBLEMS = 200
"""Maximum number of problems reported for one rendering."""

MOST_TOOL_SECTIONS = 20
"""Maximum number of `tools:` sections read; usually there is one."""

_MEDIA_KINDS: dict[str, MediaKind] = {"image": "image", "file": "file", "audio": "audio"}


@dataclass(slots=True)
class Conversation:
    """The messages read so far, with problems."""

    document: PromptDocument
    """The prompt."""

    masked: MaskedText
    """Rendering of the prompt."""

    inputs: JsonObject
    """Values of the inputs, for threads and media."""

    look_up: LookUp | None = None
    """Resolves references; None leaves them as written."""

    messages: list[Message] = field(default_factory=list)
    """Messages, in order."""

    problems: list[Problem] = field(default_factory=list)
    """Problems, in the order found."""

    threads: list[OpenThread] = field(default_factory=list)
    """Places of threads without a value."""

    used_rich: set[str] = field(default_factory=set)
    """Names of the rich inputs that were inserted."""

    tool_sections: dict[int, BodySection] = field(init=False)
    """The `tools:` sections that are not read yet, by the offset of their marker."""

    def __post_init__(self) -> None:
        found = (item for item in self.document.sections if item.role == "tools" and item.marker)
        self.tool_sections = {item.span.start: item for item in islice(found, MOST_TOOL_SECTIONS)}

    def report(self, code: str, severity: Severity, message: str, span: Span | None) -> None:
        """Add a problem; without a span, it is reported at the body's start."""
        if len(self.problems) >= MOST_PROBLEMS:
            return
        start = self.document.body.start
        self.problems.append(Problem(code, severity, message, span or Span(start, start)))

    def add_thread(self, name: str, attributes: JsonObject, span: Span | None) -> None:
        """Add the messages of a thread input."""
        self.used_rich.add(name)
        value = self.inputs.get(name)
        messages = read_thread(value, attributes, span, name)
        if messages is not None:
            self.messages += messages
        elif value is None:
            self.threads.append(OpenThread(len(self.messages), name, attributes, span))
        else:
            text = f"The input {name!r} must be a list of messages; it is left out."
            self.report("thread-not-list", Severity.WARNING, text, span)


@dataclass(frozen=True, slots=True)
class SectionHead:
    """The attributes of a marker that apply to the messages of its section."""

    role: Role
    """Role of the message."""

    attributes: JsonObject
    """The marker's attributes, with values inserted."""

    origin: MessageOrigin
    """Origin of the message in the file."""


_Item = tuple[int, int, Segment | MediaToken | None]
"""Start, end, and item: a rich input, a media token, or a thread token."""


def read_content(talk: Conversation, head: SectionHead, start: int, end: int) -> None:
    """Read the content of one section and add its messages.

    Args:
        talk: The conversation so far.
        head: Role, attributes and origin of the section.
        start: Start of the content in the masked text.
        end: End of the content.
    """
    items = _items(talk, start, end)
    if not items:
        text = _text_parts(talk.masked, start, end, keep_blank=True)
        talk.messages.append(Message(head.role, text, head.attributes, head.origin))
        return
    parts: list[Part] = []
    role = head.role
    at, after_thread = start, False
    for item in items:
        item_start, item_end, what = item
        current = replace(head, role=role)
        is_thread = _is_thread(talk, item)
        parts += _text_between(talk, at, item_start, by_thread=is_thread or after_thread)
        at, after_thread = item_end, is_thread
        span = talk.masked.source(item_start, item_end)
        if isinstance(what, MediaToken):
            parts.append(_token_part(talk, what, span))
        elif what is not None and not is_thread:
            _add_media_input(talk, current, what.input or "", span, parts)
        else:
            _flush(talk, current, parts)
            talk.add_thread(what.input or "" if what else thread_input(talk), {}, span)
            if talk.document.dialect == "legacy":
                role = "user"  # the Prompty 1 runtime treats text after ![thread] as the user's
    parts += _text_between(talk, at, end, by_thread=after_thread)
    _flush(talk, replace(head, role=role), parts)


def _text_between(
    talk: Conversation, start: int, end: int, *, by_thread: bool
) -> tuple[TextPart, ...]:
    """Return text beside a token; next to a thread, Prompty 2 also strips blanks (§5.3)."""
    blanks = by_thread and talk.document.dialect == "prompty"
    return _text_parts(talk.masked, start, end, keep_blank=False, blanks=blanks)


def _add_media_input(
    talk: Conversation, head: SectionHead, name: str, span: Span | None, parts: list[Part]
) -> None:
    """Add an image, file or audio input; outside user messages it becomes a user message."""
    talk.used_rich.add(name)
    declared = talk.document.input(name)
    kind = _MEDIA_KINDS[declared.kind] if declared else "file"
    part = input_part(kind, talk.inputs.get(name), span)
    if part is None:
        return
    part = replace(part, input=name)
    if head.role == "user":
        parts.append(part)
    else:
        _flush(talk, head, parts)
        _add_for_user(talk, part, head.origin)


def _is_thread(talk: Conversation, item: _Item) -> bool:
    """Return whether an item is a thread."""
    if not isinstance(item[2], Segment):
        return item[2] is None
    declared = talk.document.input(item[2].input or "")
    return declared is None or declared.kind not in _MEDIA_KINDS


def input_part(kind: MediaKind, value: Json, span: Span | None) -> MediaPart | None:
    """Return the part for the value of an image, file or audio input; None without a value."""
    if isinstance(value, Mapping):
        source = next(
            (str(value[key]) for key in ("source", "url", "path", "data") if value.get(key)), ""
        )
        rest = {key: item for key, item in value.items() if key in ("mediaType", "detail")}
        return MediaPart(kind, source, rest, span=span) if source else None
    if value is None or value == "":
        return None
    source = text_or_json(value)
    return MediaPart(kind, source, span=span)


def attribute_values(masked: MaskedText, attributes: tuple[Attribute, ...]) -> JsonDict:
    """Return attributes as a mapping with template values inserted; the last of a repeated key."""
    found: JsonDict = {}
    for item in attributes:
        start, end = item.value_span.start, item.value_span.end
        hidden = masked.holds_value(start, end)
        found[item.key] = masked.read(start, end) if hidden else item.value
    return found


def _items(talk: Conversation, start: int, end: int) -> list[_Item]:
    """Return everything in a range except text, in order."""
    found: list[_Item] = [
        (place, place + 1, segment) for place, segment in talk.masked.rich_places(start, end)
    ]
    if talk.document.dialect != "prompty":
        text = talk.masked.text[start:end]
        if "![" in text:
            for span in find_threads(text):
                found.append((start + span.start, start + span.end, None))
            threads = {item[0] for item in found}
            for token in find_media(text):
                if start + token.span.start not in threads:
                    moved = _shift(token, start)
                    found.append((moved.span.start, moved.span.end, moved))
            tokens = [Span(item[0], item[1]) for item in found if isinstance(item[2], MediaToken)]
            found = [item for item in found if not _is_within(item, tokens)]
    return sorted(found, key=lambda item: item[0])


def _is_within(item: _Item, tokens: list[Span]) -> bool:
    """Return whether a rich input is inside a media token (`![image]({{photo}})`)."""
    return isinstance(item[2], Segment) and is_inside(tokens, item[0])


def _shift(token: MediaToken, by: int) -> MediaToken:
    return MediaToken(
        token.kind,
        token.span.shift(by),
        token.target.shift(by),
        tuple(
            replace(item, key_span=item.key_span.shift(by), value_span=item.value_span.shift(by))
            for item in token.attributes
        ),
        token.alt.shift(by) if token.alt else None,
        token.word,
        token.is_said,
    )


def thread_input(talk: Conversation) -> str:
    """Return the input for `![thread]` and `thread:`: `thread`, else the only thread input."""
    if THREAD_INPUT in talk.inputs:
        return THREAD_INPUT
    declared = [item.name for item in talk.document.inputs if item.kind == "thread"]
    return declared[0] if len(declared) == 1 else THREAD_INPUT


def _token_part(talk: Conversation, token: MediaToken, span: Span | None) -> MediaPart:
    masked = talk.masked
    attributes = attribute_values(masked, token.attributes)
    attributes.pop("type", None)
    source = name = ""
    for piece in masked.pieces(token.target.start, token.target.end):
        if piece.kind == "rich":  # `![image]({{photo}})` with an input of kind image
            name = piece.input or ""
            inner = input_part(token.kind, talk.inputs.get(name), span)
            talk.used_rich.add(name)
            source += inner.source if inner else ""
        else:
            source += piece.text
    alt = masked.read(token.alt.start, token.alt.end) if token.alt else ""
    source = source.strip()
    kind = decided_kind(token, source)
    _report_kind(talk, token, kind, source, span)
    return MediaPart(kind, source, attributes, alt, span, token.word, name)


def _report_kind(
    talk: Conversation, token: MediaToken, kind: MediaKind, source: str, span: Span | None
) -> None:
    """Report if the type of media is guessed, unknown, or not that of the URL."""
    found = kind_of_source(source)
    if token.word:
        text = f"The type {token.word!r} is unknown; it is sent as {kind}."
        talk.report("media-type-unknown", Severity.WARNING, text, span)
    elif not token.is_said and kind != "image":
        text = f"This is treated as {kind} because of its address; write: ![{kind}](…)."
        talk.report("media-type-guessed", Severity.WARNING, text, span)
    elif kind == "image" and found not in (None, "image") and not _is_path(source):
        # The content of a file beside the prompt shows its type (`media_files`).
        text = f"This is marked as an image, but its address is {found}; providers need pictures."
        talk.report("media-type-mismatch", Severity.WARNING, text, span)


def _is_path(source: str) -> bool:
    return "://" not in source and not source.startswith("data:")


def _text_parts(
    masked: MaskedText, start: int, end: int, *, keep_blank: bool, blanks: bool = False
) -> tuple[TextPart, ...]:
    """Return the text of a range as a part; empty if no text is left."""
    pieces = with_plain_newlines(trim_newlines(masked.pieces(start, end), blanks=blanks))
    text = "".join(piece.text for piece in pieces)
    if not text or (not keep_blank and not text.strip()):
        return ()
    return (TextPart(text, pieces, _cover(pieces)),)


def _cover(pieces: tuple[Segment, ...]) -> Span | None:
    spans = [piece.span for piece in pieces if piece.span is not None]
    return spans[0].cover(spans[-1]) if spans else None


def _flush(talk: Conversation, head: SectionHead, parts: list[Part]) -> None:
    if parts:
        talk.messages.append(Message(head.role, tuple(parts), head.attributes, head.origin))
        parts.clear()


def _add_for_user(talk: Conversation, part: MediaPart, origin: MessageOrigin) -> None:
    """Add a media input to the preceding user message, or to a new one (as Prompty's runtime)."""
    last = talk.messages[-1] if talk.messages else None
    if last is not None and last.role == "user":
        talk.messages[-1] = replace(last, parts=(*last.parts, part))
    else:
        talk.messages.append(Message("user", (part,), {}, origin))
