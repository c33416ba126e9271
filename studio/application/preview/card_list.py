"""The cards of a preview, made of its messages."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from studio.application.preview.cards import CardData
from studio.application.preview.variables import variable_names
from studio.core.prompty.body.sections import read_marker
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    MessageOrigin,
    OpenThread,
    TextPart,
    ToolResultPart,
)
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.rendering import Segment
from studio.core.text.problem import Problem
from studio.core.text.span import Span


def cards(document: PromptDocument, prepared: Prepared) -> tuple[CardData, ...]:
    """The cards of a prompt's messages, in order."""
    colors = {name: index for index, name in enumerate(variable_names(document))}
    source = document.source
    result = []
    number = 0
    for item in prepared.messages.items():
        if isinstance(item, OpenThread):
            result.append(_thread_card(item, number + 1, document))
            continue
        number, message = number + 1, item
        place = message.origin.marker or message.origin.span
        inputs = _inputs(message)
        result.append(
            CardData(
                number=number,
                message=message,
                line=source.line_of(place.start) + 1 if place else None,
                colors={name: colors[name] for name in inputs if name in colors},
                warnings=tuple(_warnings(message, prepared.messages.problems)),
                samples=tuple(name for name in inputs if name in prepared.samples),
                missing=_missing(document, prepared, message.origin.span),
                attribute_places=_attribute_places(document, message),
            )
        )
    return tuple(result)


def _thread_card(thread: OpenThread, number: int, document: PromptDocument) -> CardData:
    """The card of a conversation that the run fills."""
    origin = MessageOrigin("thread", thread.span, thread.span, thread.input)
    line = document.source.line_of(thread.span.start) + 1 if thread.span else None
    message = Message("user", (), thread.attributes, origin)
    return CardData(number, message, line, is_open_thread=True)


def _attribute_places(document: PromptDocument, message: Message) -> dict[str, Span]:
    marker = message.origin.marker
    if marker is None or message.origin.source != "template":
        return {}
    places = ((name, attribute_place(document, marker, name)) for name in message.attributes)
    return {name: span for name, span in places if span is not None}


def _segments(message: Message) -> Iterator[Segment]:
    for part in message.parts:
        if isinstance(part, TextPart | ToolResultPart):
            yield from part.segments


def _inputs(message: Message) -> list[str]:
    """The inputs whose values are in a message."""
    named = {segment.input for segment in _segments(message)} | {message.origin.input}
    named |= {part.input for part in message.parts if isinstance(part, MediaPart)}
    return sorted(name for name in named if name)


def _missing(document: PromptDocument, prepared: Prepared, place: Span | None) -> tuple[str, ...]:
    """The declared inputs without a value that the text of a message names."""
    if place is None:
        return ()
    names = {item.name for item in document.inputs} - prepared.inputs.keys()
    used = (each.name for each in document.variables if each.span.start in place)
    return tuple(dict.fromkeys(name for name in used if name in names))


def _warnings(message: Message, problems: Sequence[Problem]) -> Iterator[Problem]:
    spans = {segment.span for segment in _segments(message) if segment.kind != "literal"}
    for problem in problems:
        if problem.span in spans:
            yield problem


def attribute_place(document: PromptDocument, marker: Span, name: str) -> Span | None:
    """The value of an attribute; `None` where the marker's line has none of that name."""
    line = document.source.slice(marker)
    read = read_marker(line, document.dialect)
    for item in reversed(read.attributes if read is not None else ()):
        if item.key == name:
            return item.value_span.shift(marker.start)
    return None
