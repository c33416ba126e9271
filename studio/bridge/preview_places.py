"""Where a value of a request body was written: from a place in the JSON back to the source."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass

from studio.bridge.preview_secrets import mask_text
from studio.bridge.preview_value import Preview, RequestPreview
from studio.core.prompty.messages import MediaPart, Part, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.span import Span

_STRING = re.compile(r'"(?:[^"\\]|\\.)*"')
_KEY_MARK = re.compile(r"\s*:")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A text that the request was made from."""

    text: str
    span: Span
    part: Part | None = None


def place_of(preview: Preview, request: RequestPreview, offset: int) -> Span | None:
    """The source of what stands at a place of the body.

    The same texts go into the body in the order of the messages, so the n-th string of the body
    that is equal to a text belongs to the n-th message part with that text.

    Args:
        preview: the preview that the body belongs to.
        request: the body.
        offset: place in `request.text`, in code points.
    """
    earlier: list[str] = []
    for match in _STRING.finditer(request.text):
        if match.start() > offset:
            break
        is_key = _KEY_MARK.match(request.text, match.end()) is not None
        value = _decoded(match[0])
        if match.start() <= offset < match.end():
            if is_key:
                return None
            return _find(preview, value, earlier.count(value), match[0], offset - match.start())
        if not is_key:
            earlier.append(value)
    return None


def _find(preview: Preview, value: str, nth: int, written: str, inside: int) -> Span | None:
    pieces = [piece for piece in _pieces(preview) if mask_text(piece.text) == value]
    if pieces:
        piece = pieces[min(nth, len(pieces) - 1)]
        if piece.text != value:  # a secret is masked: places in it are not those of the source
            return piece.span
        return _inside(piece, len(_decoded(written[:inside] + '"')) if inside else 0)
    return _joined(preview, value, len(_decoded(written[:inside] + '"')) if inside else 0)


def _joined(preview: Preview, value: str, at: int) -> Span | None:
    """The piece at a place of a string that several of them were joined to."""
    done = 0
    for piece in _pieces(preview):
        found = value.find(piece.text, done) if piece.text else -1
        if found < 0:
            continue
        if found <= at < found + len(piece.text):
            return _inside(piece, at - found)
        done = found + len(piece.text)
    return None


def _inside(piece: _Piece, at: int) -> Span:
    """The value, or the author's own character, at a place of a piece."""
    if not isinstance(piece.part, TextPart | ToolResultPart):
        return piece.span
    done = 0
    for segment in piece.part.segments:
        if at < done + len(segment.text):
            if segment.span is None:
                return piece.span
            if segment.kind != "literal":
                return segment.span
            place = min(segment.span.start + at - done, segment.span.end)
            return Span(place, place)
        done += len(segment.text)
    return piece.span


def _pieces(preview: Preview) -> Iterator[_Piece]:
    model = preview.shown.model
    if model.span is not None:
        yield _Piece(model.id, model.span)
    for message in preview.messages.messages:
        marker = message.origin.marker or message.origin.span
        if marker is not None:
            yield _Piece(message.role, marker)
            for value in message.attributes.values():
                if isinstance(value, str):
                    yield _Piece(value, marker)
        for part in message.parts:
            span = part.span or marker
            if span is not None:
                yield from (_Piece(text, span, part) for text in _texts(part))
    for tool in preview.tools:
        if tool.span is not None and tool.source == "document":
            yield _Piece(tool.name, tool.span)
            yield _Piece(tool.description, tool.span)


def _texts(part: Part) -> tuple[str, ...]:
    match part:
        case TextPart(text) | ToolResultPart(text):
            return (text,)
        case MediaPart(_, source):
            return (source,)
        case ToolCallPart(identifier, name, arguments):
            return (identifier, name, arguments)


def _decoded(written: str) -> str:
    """A JSON string as its text; of a piece that ends in an escape, what can be read."""
    for cut in range(6):
        try:
            return str(json.loads(written[: len(written) - 1 - cut] + '"'))
        except json.JSONDecodeError:
            continue
    return ""
