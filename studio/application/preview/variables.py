"""The values of a preview in the text's margin, and its messages as cards."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import zip_longest

from studio.application.preview.value import CardData, Preview
from studio.application.words import marked, tr
from studio.core.masking.redact import DOTS, keys_in, redact
from studio.core.prompty.body.sections import read_marker
from studio.core.prompty.document import (
    EACH,
    MediaPart,
    Message,
    MessageOrigin,
    OpenThread,
    PromptDocument,
    Segment,
    TextPart,
    ToolResultPart,
)
from studio.core.prompty.inputs import InputOrigin, resolve_inputs
from studio.core.prompty.known_fields import Known
from studio.core.prompty.prepare import Prepared
from studio.core.text.diff import word_changes
from studio.core.text.source import Problem, Span
from studio.core.text.values import Json, JsonObject

# Mask texts that look like secrets before they are shown or copied.

MASK = DOTS
"""Text that replaces a secret."""


def unmasked_place(text: str, at: int) -> int:
    """Map an offset in `without_keys(text)` to the offset in `text`."""
    shift = 0
    for first, last in keys_in(text):
        start = first - shift
        if start > at:
            break
        if at < start + len(MASK):
            return first
        shift += last - first - len(MASK)
    return at + shift


def mask_secrets(value: JsonObject) -> JsonObject:
    """Return a JSON object with everything that looks like a secret hidden."""
    hidden = redact(value, MASK, inside=False)
    assert isinstance(hidden, dict)
    return hidden


def variable_names(document: PromptDocument) -> tuple[str, ...]:
    """Return the declared inputs in order, then the other names and parameters in order of use."""
    names = (
        *(item.name for item in document.inputs if item.name),
        *(variable.name for variable in document.variables),
        *(parameter.name for parameter in document.parameters),
    )
    return tuple(dict.fromkeys(names))


# Values in a few characters, as completion, hover and the text's margin show them.

_ONE_VALUE = re.compile(
    r"\{\{\{?[-+&]?\s*[\w.]+(?:\[[\w\"']+\][\w.]*)*\s*[-+]?\}?\}\}|\{%[-+]?\s*for\b[^|(]*%\}"
)
"""An expression that names one value, and a loop over one."""
_LONGEST = 48
_MOST_ITEMS = 3
_MOST_SHOWN = 500
"""Of a text that are given values; the editor shows one screen of it."""


def short_value(value: Json, longest: int = _LONGEST) -> str:
    """Return a value in one line: text as it is, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    line = " ".join(text[: 4 * longest].split())
    return line if len(line) <= longest and len(text) <= 4 * longest else line[: longest - 1] + "…"


_ORIGINS: Mapping[InputOrigin, str] = {"default": marked("default"), "sample": marked("sample")}
"""Words beside a value that the user did not give."""


@dataclass(frozen=True, slots=True)
class InlineValue:
    """The rendered value of one expression of a template."""

    expression: Span
    """The whole tag."""

    text: str
    """The value in one line, behind "sample" or "default" where it is one; of a loop, how many
    items it goes through."""


def inline_values(preview: Preview) -> tuple[InlineValue, ...]:
    """Work out what is put in for the expressions of a template, to be shown behind their lines.

    Secrets are hidden, and what a run supplies is left out.

    Returns:
        One for each expression that names one value, in source order.
    """
    document, values = preview.document, preview.newest.inputs
    samples = preview.newest.samples
    origins = resolve_inputs(document, preview.job.inputs).origins
    declared = {item.name for item in document.inputs}
    shown = mask_secrets(
        {name: each for name, each in values.items() if name in declared or name not in samples}
    )
    paths: dict[Span, tuple[str, ...]] = {}
    for variable in document.variables:
        if variable.certain:
            paths.setdefault(variable.expression, (variable.name,))
    for use in document.fields:
        longest = paths.get(use.expression, ())
        if len(use.path) > len(longest):
            paths[use.expression] = use.path
    text = document.source.text
    found = []
    for span in sorted(paths)[:_MOST_SHOWN]:
        written = text[span.start : span.end]
        if paths[span][0] in shown and _ONE_VALUE.fullmatch(written):
            words = _shown_text(paths[span], shown, is_loop=written.startswith("{%"))
            if words:
                origin = _ORIGINS.get(origins.get(paths[span][0], "given"))
                found.append(InlineValue(span, f"{tr(origin)}: {words}" if origin else words))
    return tuple(found)


def _shown_text(path: tuple[str, ...], values: Mapping[str, Json], *, is_loop: bool) -> str:
    known = Known(values=(values[path[0]],))
    for name in path[1:]:
        known = known.at(name)
    if not is_loop:
        return ", ".join(_distinct(known, each=EACH in path))
    first = next(iter(known.values), None)
    if not isinstance(first, list | tuple):
        return ""
    if len(first) == 1:
        return tr("1 item")
    return tr("{count} items").format(count=len(first))


def _distinct(known: Known, *, each: bool) -> list[str]:
    values = known.values[: _MOST_ITEMS + 1] if each else known.values[:1]
    lines = [short_value(value, 24 if each else _LONGEST) for value in values if value != ""]
    return [*lines[:_MOST_ITEMS], "…"] if len(lines) > _MOST_ITEMS else lines


# The cards of a preview, made of its messages.


def cards(document: PromptDocument, prepared: Prepared) -> tuple[CardData, ...]:
    """Return the cards of a prompt's messages, in order."""
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
                missing=_missing(document, prepared, message.origin.span),
                attribute_places=_attribute_places(document, message),
            )
        )
    return tuple(result)


def marked_cards(cards: tuple[CardData, ...], asked: Sequence[Message]) -> tuple[CardData, ...]:
    """Return the cards with what differs from the messages that a run began with.

    Args:
        cards: of the messages now.
        asked: the run's messages; none where no run is shown.
    """
    if not asked:
        return cards
    own = [card for card in cards if not card.is_open_thread]
    found = {
        id(card): replace(card, new=new)
        for card, was in zip_longest(own, asked[: len(own)])
        if (new := _new_words(card.message, was))
    }
    return tuple(found.get(id(card), card) for card in cards)


def _new_words(message: Message, was: Message | None) -> dict[int, tuple[Span, ...]]:
    """Return the words of each changed text part that it did not have before."""
    before = was.parts if was is not None and was.role == message.role else ()
    found = {}
    for index, (part, old) in enumerate(zip_longest(message.parts, before[: len(message.parts)])):
        if not isinstance(part, TextPart | ToolResultPart):
            continue
        text = old.text if isinstance(old, TextPart | ToolResultPart) else ""
        if text != part.text:
            found[index] = tuple(_words_of(part.text, word_changes(text, part.text)))
    return found


def _words_of(text: str, changed: Iterable[Span]) -> Iterator[Span]:
    """Cut from changed places the signs at both ends: they may be Markdown's."""
    for span in changed:
        words = [
            span.start + each.start() for each in re.finditer(r"\w", text[span.start : span.end])
        ]
        if words:
            yield Span(words[0], words[-1] + 1)


def _thread_card(thread: OpenThread, number: int, document: PromptDocument) -> CardData:
    """Return the card of a conversation that the run fills."""
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
    """Return the inputs whose values are in a message."""
    named = {segment.input for segment in _segments(message)} | {message.origin.input}
    named |= {part.input for part in message.parts if isinstance(part, MediaPart)}
    return sorted(name for name in named if name)


def _missing(document: PromptDocument, prepared: Prepared, place: Span | None) -> tuple[str, ...]:
    """Return the declared inputs without a value that the text of a message names."""
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
    """Return the value of an attribute; `None` where the marker's line has none of that name."""
    line = document.source.slice(marker)
    read = read_marker(line, document.dialect)
    for item in reversed(read.attributes if read is not None else ()):
        if item.key == name:
            return item.value_span.shift(marker.start)
    return None
