"""Find the source of a value in a request body by its offset in the JSON text."""

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from studio.application.preview.requests import RequestPreview
from studio.application.preview.variables import attribute_place, unmasked_place
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.front.front_matter import LEGACY_OPTIONS
from studio.core.text.source import Span
from studio.core.text.values import Json, KeyPath
from studio.core.wire.origins import FoundOrigin, ValueOrigin

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]:,]|[^\s{}\[\]:,"]+')


@dataclass(frozen=True, slots=True)
class JsonLocation:
    """A value or a key at an offset of a JSON text."""

    place: KeyPath
    """Keys and indices that lead to the value."""

    at: int = 0
    """Offset inside the decoded string, in characters."""

    is_key: bool = False
    """Whether the offset is in the key instead of the value."""


@dataclass(slots=True)
class _Frame:
    """An open object or list."""

    is_object: bool
    key: str | int
    wants_key: bool


@dataclass(slots=True)
class _Reader:
    """A reader that tracks the path of the current token."""

    frames: list[_Frame] = field(default_factory=list)

    def pass_mark(self, mark: str) -> None:
        """Skip a bracket, comma or colon."""
        top = self.frames[-1] if self.frames else None
        if mark in "{[":
            self.frames.append(_Frame(mark == "{", "" if mark == "{" else 0, mark == "{"))
        elif mark in "}]":
            del self.frames[-1:]
        elif top is not None and top.is_object:
            top.wants_key = mark == ","
        elif top is not None and mark == ",":
            top.key = int(top.key) + 1

    def pass_value(self, written: str) -> bool:
        """Skip a key or a value; return whether it is a key."""
        top = self.frames[-1] if self.frames else None
        if top is None or not top.wants_key:
            return False
        top.key = _decoded(written)
        return True


def location_at(text: str, offset: int) -> JsonLocation | None:
    """Return the value or key at an offset of a JSON text; `None` at brackets, commas and gaps."""
    reader = _Reader()
    for token in _TOKEN.finditer(text):
        if token.start() > offset:
            break
        is_met, written = offset < token.end(), token[0]
        if written in "{}[]:,":
            if is_met:
                break
            reader.pass_mark(written)
            continue
        is_key = reader.pass_value(written)
        if is_met:
            place = tuple(frame.key for frame in reader.frames)
            at = 0 if is_key else _place_in(written, offset - token.start())
            return JsonLocation(place, at, is_key)
    return None


def _place_in(written: str, inside: int) -> int:
    if not written.startswith('"') or not inside:
        return 0
    return len(_decoded(written[:inside] + '"'))


def _decoded(written: str) -> str:
    """Decode a JSON string; if it ends inside an escape, decode the part before the escape."""
    for cut in range(12):  # a pair of \\u escapes is one character
        try:
            return str(json.loads(written[: len(written) - 1 - cut] + '"'))
        except json.JSONDecodeError:
            continue
    return ""


_ALIASES: Mapping[str, tuple[str, ...]] = {
    "type": ("kind",),
    "options": ("parameters",),
    "id": ("azure_deployment", "model", "name"),
    **{
        name: tuple(old for old, new in LEGACY_OPTIONS.items() if new == name)
        for name in LEGACY_OPTIONS.values()
    },
}
"""Names in a request body and in Prompty 2, with the names that a front matter may use instead."""


@dataclass(frozen=True, slots=True)
class ValueSource:
    """The source of a value in a request body."""

    span: Span | None
    """Span in the document; `None` if there is none."""

    input: str = ""
    """The input that provided the value; empty for the author's own text."""


def source_of(document: PromptDocument, request: RequestPreview, offset: int) -> ValueSource | None:
    """Return the source of the value at an offset of a body; `None` if it is generated.

    Args:
        document: the prompt that the body was built from.
        request: the body.
        offset: offset in `request.text`, in code points.
    """
    location = location_at(request.text, offset)
    found = request.made.origin(location.place) if location is not None and request.made else None
    if location is None or found is None or request.made is None:
        return None
    raw = _value_at(request.made.body, location.place)
    piece = None if location.is_key else _piece(found.origin, raw, location)
    if piece is not None:
        return ValueSource(piece[0], piece[1])
    if location.place == ("model",) and raw != document.model.id:
        return None  # the connection's own model
    span = _span(document, found)
    return ValueSource(span, found.origin.input) if span is not None else None


def _piece(origin: ValueOrigin, raw: Json, location: JsonLocation) -> tuple[Span, str] | None:
    """Return the span and input of a value, or of one character, in a text made of pieces."""
    if not isinstance(raw, str) or "".join(piece.text for piece in origin.pieces) != raw:
        return None
    at, done = unmasked_place(raw, location.at), 0
    for piece in origin.pieces:
        if at < done + len(piece.text):
            if piece.span is None:
                return None
            if piece.kind != "literal":
                return piece.span, piece.input or ""
            place = min(piece.span.start + at - done, piece.span.end)
            return Span(place, place), ""
        done += len(piece.text)
    last = next((piece.span for piece in reversed(origin.pieces) if piece.span is not None), None)
    return (Span(last.end, last.end), "") if last is not None else None


def _span(document: PromptDocument, found: FoundOrigin) -> Span | None:
    origin = found.origin
    if origin.attribute and origin.span is not None:
        return attribute_place(document, origin.span, origin.attribute) or origin.span
    if origin.keys:
        keys = (*origin.keys, *found.further) if origin.is_deep else origin.keys
        return _front_matter(document, keys) or origin.span
    return origin.span


def _front_matter(document: PromptDocument, keys: Sequence[str | int]) -> Span | None:
    """Return the span of the value at a path, as far as the front matter has its keys.

    A body has levels that the front matter omits (`properties`), and some keys have other names.
    """
    if document.dialect == "legacy" and tuple(keys) == ("model", "id"):
        keys = ("model", "configuration", "id")  # one level deeper in Prompty 1
    places = {entry.path: entry.value for entry in document.entries}
    path: KeyPath = ()
    node: Json = document.data
    for key in keys:
        step = next((each for each in _steps(node, key)), None)
        if step is not None:
            path = (*path, step)
            node = node[step]  # type: ignore[index]
        elif not path:
            return None
    return places.get(path)


def _steps(node: Json, key: str | int) -> Iterator[str | int]:
    """Yield the keys of a node that a key of the body may correspond to."""
    if isinstance(node, Mapping):
        yield from (each for each in (key, *_ALIASES.get(str(key), ())) if each in node)
    elif isinstance(node, list | tuple):
        for index, item in enumerate(node):
            if isinstance(item, Mapping) and item.get("name", item.get("id")) == key:
                yield index


def _value_at(body: Json, place: KeyPath) -> Json:
    for key in place:
        if isinstance(body, Mapping):
            body = body.get(str(key))
        elif isinstance(body, list | tuple) and isinstance(key, int) and key < len(body):
            body = body[key]
        else:
            return None
    return body
