"""Define the messages of a preview as cards, and the values shown beside the template's text."""

import json
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise, zip_longest
from pathlib import Path

from studio.application.words import marked, tr
from studio.core.masking.redact import DOTS, keys_in, redact
from studio.core.models.base import Capabilities, ProtocolName
from studio.core.models.connections import Connection
from studio.core.prompty.body.sections import read_marker
from studio.core.prompty.document import (
    EACH,
    MediaPart,
    Message,
    MessageOrigin,
    OpenThread,
    Part,
    PromptDocument,
    PromptMessages,
    Segment,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.prompty.inputs import InputOrigin, resolve_inputs
from studio.core.prompty.known_fields import Known
from studio.core.prompty.prepare import Prepared
from studio.core.text.amounts import one_line
from studio.core.text.diff import common_ends, word_changes
from studio.core.text.source import Problem, Span
from studio.core.text.values import Json, JsonObject
from studio.core.tokens.tokenizers import Tokenizers
from studio.core.wire.request import Provider

# The cards of the preview as values: their text, the inserted values, and the origin of each.

CUT_CHARACTERS = 12_000
CUT_LINES = 200
"""Lines of a long text that a card shows before the user expands it."""


@dataclass(frozen=True, slots=True)
class ValueReference:
    """A piece of a card's text that is the value of an input."""

    input: str
    """The input's name; empty if the expression names none."""

    span: Span | None
    """The expression in the source."""

    warning: str = ""
    """Warning if the value contains text that looks like structure (a role marker)."""

    is_sample: bool = False
    """Whether it is only the sample of the input, which a run does not send."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of text with one origin."""

    text: str
    """The text."""

    value: ValueReference | None = None
    """Value that was inserted here; `None` for the author's own text."""

    span: Span | None = None
    """Span in the source."""

    is_new: bool = False
    """Whether the shown run had different words here."""


@dataclass(frozen=True, slots=True)
class CardData:
    """One message, ready for display."""

    number: int
    """Position among the messages, from 1."""

    message: Message
    """The message."""

    line: int | None = None
    """Source line of its role marker, from 1."""

    colors: Mapping[str, int] = field(default_factory=dict)
    """Input name → its number, which selects its color in the theme."""

    warnings: tuple[Problem, ...] = ()
    """Problems with the values in this message."""

    is_open_thread: bool = False
    """Whether it is a placeholder for a conversation that the run inserts."""

    missing: tuple[str, ...] = ()
    """Names of the declared inputs in it that have no value: they render as empty text."""

    samples: frozenset[str] = frozenset()
    """Inputs whose value is only a sample."""

    attribute_places: Mapping[str, Span] = field(default_factory=dict, compare=False)
    """Attribute → span of its value in the source."""

    new: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)
    """Part index → spans of its text that the shown run did not have; none for a part that only
    lost words.
    """

    look: tuple[object, ...] = field(init=False, compare=False, default=())
    """Everything that is drawn, without source spans: cards with equal looks are not drawn
    again.
    """

    extent: tuple[int, int] = field(init=False, compare=False, default=(0, 0))
    """Number of characters and lines of its text, to estimate the card's height."""

    def __post_init__(self) -> None:
        """Compute the look now, in the pool, so that the GUI thread only has to compare it."""
        look = (
            self.message.role,
            tuple(self.message.attributes.items()),
            tuple(_part_look(part) for part in self.message.parts),
            tuple(self.colors.items()),
            tuple(sorted({problem.message for problem in self.warnings})),
            self.missing,
            self.samples,
            self.is_open_thread,
            tuple(self.new.items()),
        )
        object.__setattr__(self, "look", look)
        text = self.message.text[:CUT_CHARACTERS]
        extent = (len(text), min(CUT_LINES, text.count("\n") + 1))
        object.__setattr__(self, "extent", extent)

    @property
    def role(self) -> str:
        """Display name of the message's role."""
        return "thread" if self.is_open_thread else self.message.role

    def holds(self, offset: int) -> bool:
        """Return whether the source offset of a caret is in this message."""
        span = self.message.origin.span
        return span is not None and span.start <= offset < max(span.end, span.start + 1)

    def ends_at(self, offset: int) -> bool:
        """Return whether the message ends at the caret, as at the end of the text."""
        span = self.message.origin.span
        return span is not None and span.end == offset

    def runs(self, part: TextPart | ToolResultPart) -> Iterator[TextRun]:
        """Yield the text of one part, split where its origin changes; computed lazily."""
        new = self.new.get(self.message.parts.index(part), ()) if self.new else ()
        yield from _marked(self._runs(part), new) if new else self._runs(part)

    def _runs(self, part: TextPart | ToolResultPart) -> Iterator[TextRun]:
        if not part.segments:
            if part.text:
                yield TextRun(part.text, None, part.span or self.message.origin.span)
            return
        warned = {problem.span: problem.message for problem in self.warnings}
        for segment in part.segments:
            if segment.text:
                yield _run(segment, warned, self.samples)

    def shown_runs(
        self, part: TextPart | ToolResultPart, characters: int, lines: int
    ) -> tuple[tuple[TextRun, ...], int]:
        """Return the start of a part's text and the number of omitted lines (0: none)."""
        if len(part.text) <= characters and part.text.count("\n") < lines:
            return tuple(self.runs(part)), 0
        kept = cut_runs(self.runs(part), characters, lines)
        shown = sum(run.text.count("\n") for run in kept)
        return kept, max(1, part.text.count("\n") - shown)


def cut_runs(runs: Iterable[TextRun], characters: int, lines: int) -> tuple[TextRun, ...]:
    """Return the start of a long text."""
    kept: list[TextRun] = []
    room, line_room = characters, lines
    for run in runs:
        text = "".join(run.text[:room].splitlines(keepends=True)[:line_room])
        if text:
            kept.append(replace(run, text=text))
        room -= len(text)
        line_room -= text.count("\n")
        if len(text) < len(run.text) or not room or not line_room:
            break
    return tuple(kept)


def _marked(runs: Iterable[TextRun], new: Sequence[Span]) -> Iterator[TextRun]:
    """Split runs at the ends of words that the shown run did not have."""
    edges = sorted({edge for span in new for edge in (span.start, span.end)})
    done = 0
    for run in runs:
        end = done + len(run.text)
        cuts = [done, *(edge for edge in edges if done < edge < end), end]
        for first, last in pairwise(cuts):
            place = run.span
            if place is not None and run.value is None:
                begin = min(place.start + first - done, place.end)
                place = Span(begin, min(begin + last - first, place.end))
            is_new = any(span.start <= first < span.end for span in new)
            yield replace(run, text=run.text[first - done : last - done], span=place, is_new=is_new)
        done = end


def same_ends(old: Sequence[CardData], new: Sequence[CardData]) -> tuple[int, int]:
    """Count the unchanged cards at the start and at the end."""
    return common_ends([card.look for card in old], [card.look for card in new])


def _run(segment: Segment, warned: Mapping[Span, str], samples: frozenset[str]) -> TextRun:
    if segment.kind == "literal":
        return TextRun(segment.text, None, segment.span)
    warning = warned.get(segment.span, "") if segment.span else ""
    name = segment.input or ""
    value = ValueReference(name, segment.span, warning, name in samples)
    return TextRun(segment.text, value, segment.span)


def _part_look(part: Part) -> tuple[object, ...]:
    match part:
        case TextPart(text, segments) | ToolResultPart(text, segments):
            pieces = tuple((item.kind, item.text, item.input) for item in segments)
            return (type(part).__name__, text, pieces)
        case MediaPart(kind, source, attributes, alt):
            return ("media", kind, source, tuple(attributes.items()), alt)
        case ToolCallPart(identifier, name, arguments):
            return ("call", identifier, name, arguments)


@dataclass(frozen=True, slots=True)
class PreviewTarget:
    """The model that would receive a run's requests."""

    model_id: str = ""
    """Id of the model; empty to use the document's own."""

    name: str = ""
    """Display name of the connection."""

    context_window: int | None = None
    """Size of the context window in tokens; `None` if unknown."""

    is_embedded: bool = False
    """Whether the embedded server answers, which can count exactly."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """Abilities of the model; options that it is known to reject are not sent."""

    weights: Path | None = None
    """The embedded model's file."""

    base_url: str = ""
    """Base URL of the server; empty for the provider's own."""

    provider: Provider | None = None
    """The API shape of the requests; `None` for the document's own."""

    connection: Connection | None = field(default=None, compare=False, repr=False)
    """Connection of the model; `None` if it is not known."""

    chosen: str = ""
    """Sentence on which model answers, and why; empty if nothing is known."""

    is_described: bool = True
    """Whether the prompt's own description of the connection is used, or could be."""

    is_refused: bool = False
    """Whether a run would be refused because the prompt names a connection that is not set up."""


@dataclass(frozen=True, slots=True)
class PreviewJob:
    """The inputs of a preview."""

    document: PromptDocument
    """The document."""

    inputs: JsonObject = field(default_factory=dict)
    """The given values, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; `None` if only the document's own are known."""

    target: PreviewTarget = field(default_factory=PreviewTarget)
    """The model that would receive a run's requests."""

    tokenizers: Tokenizers = field(default_factory=Tokenizers)
    """The tokenizers to count with."""

    revision: int = 0
    """Sequence number of the job."""

    protocol: ProtocolName | None = None
    """The protocol chosen for runs; `None` for the document's own."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; variables and files of other folders are not read."""

    opened: Path | None = None
    """The folder that the user opened: its text files are shown before it is trusted."""

    asked: Sequence[Message] = ()
    """First messages of the shown run; the cards mark differences from them."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages of one revision of a document; panes compute everything else from it."""

    document: PromptDocument
    """The document of this revision."""

    job: PreviewJob
    """Job that produced the messages; that of the last good revision if `is_stale`."""

    prepared: Prepared
    """The messages with the values in them; the last good ones if `is_stale`."""

    newest: Prepared
    """The messages of `document` itself; differs from `prepared` if `is_stale`."""

    sent: Prepared
    """The messages without samples, as a run sends them once the folder is trusted."""

    offered: tuple[ToolSpec, ...] = ()
    """Every tool that a run would have."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that are sent to the model."""

    sent_tools: tuple[ToolSpec, ...] = ()
    """The tools that are sent with `sent`."""

    problems: tuple[Problem, ...] = ()
    """Problems of the document and of building the messages."""

    cards: tuple[CardData, ...] = ()
    """The messages as cards."""

    is_stale: bool = False
    """Whether an error of the document prevents new messages, so that older ones are shown."""

    revision: int = 0
    """Revision number; a later preview has a higher one."""

    @property
    def messages(self) -> PromptMessages:
        """The messages that the model would receive."""
        return self.prepared.messages

    @property
    def shown(self) -> PromptDocument:
        """The document that the messages come from; differs from `document` if `is_stale`."""
        return self.job.document

    @property
    def samples(self) -> frozenset[str]:
        """Names whose value is only a sample, which a run does not send."""
        return self.prepared.samples

    @property
    def media_folder(self) -> Path | None:
        """The folder whose images are shown: that of a saved prompt in a trusted folder."""
        path = self.shown.source.path
        return path.parent if path is not None and self.job.trusted else None

    @property
    def blocker(self) -> Problem | None:
        """The problem that prevents a run; None if there is none."""
        if not self.is_stale:
            return None
        return next((item for item in self.problems if item.severity == "error"), None)


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
    """Return a JSON object with everything that looks like a secret masked."""
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


# Values in a few characters, for completion, hover and the text's margin.

_ONE_VALUE = re.compile(
    r"\{\{\{?[-+&]?\s*[\w.]+(?:\[[\w\"']+\][\w.]*)*\s*[-+]?\}?\}\}|\{%[-+]?\s*for\b[^|(]*%\}"
)
"""Matches an expression that names one value, or a loop over one."""
_LONGEST = 48
_MOST_ITEMS = 3
_MOST_SHOWN = 500
"""Expressions of a text that get inline values; the editor shows one screen of it."""


def short_value(value: Json, longest: int = _LONGEST) -> str:
    """Return a value on one line: text unchanged, anything else as JSON."""
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)
    return one_line(text, longest)


_ORIGINS: Mapping[InputOrigin, str] = {"default": marked("default"), "sample": marked("sample")}
"""Labels for a value that the user did not give."""


@dataclass(frozen=True, slots=True)
class InlineValue:
    """The rendered value of one expression of a template."""

    expression: Span
    """The whole tag."""

    text: str
    """The value on one line, after "sample" or "default" if it is one; for a loop, its number of
    items.
    """


def inline_values(preview: Preview) -> tuple[InlineValue, ...]:
    """Return the values of a template's expressions, to be shown at the end of their lines.

    Secrets are masked, and values that a run supplies are omitted.

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


def _shown_text(path: tuple[str, ...], values: JsonObject, *, is_loop: bool) -> str:
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


# Build the cards of a preview from its messages.


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
                samples=prepared.samples.intersection(inputs),
                attribute_places=_attribute_places(document, message),
            )
        )
    return tuple(result)


def marked_cards(
    cards: tuple[CardData, ...], sent: Sequence[Message], asked: Sequence[Message]
) -> tuple[CardData, ...]:
    """Return the cards with the differences from the first messages of a run marked.

    Args:
        cards: the cards of the current messages.
        sent: the messages that a run would send now, without samples.
        asked: the run's messages; empty if no run is shown.
    """
    if not asked:
        return cards
    own = [card for card in cards if not card.is_open_thread]
    found = {
        id(card): replace(card, new=new)
        for card, was, now in zip_longest(own, asked[: len(own)], sent[: len(own)])
        if not (card.samples and now is not None and not _new_words(now, was))
        and (new := _new_words(card.message, was))
    }
    return tuple(found.get(id(card), card) for card in cards)


def _new_words(message: Message, was: Message | None) -> dict[int, tuple[Span, ...]]:
    """Return the spans of new words in each changed text part."""
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
    """Trim punctuation from both ends of changed spans: it may be Markdown syntax."""
    for span in changed:
        words = [
            span.start + each.start() for each in re.finditer(r"\w", text[span.start : span.end])
        ]
        if words:
            yield Span(words[0], words[-1] + 1)


def _thread_card(thread: OpenThread, number: int, document: PromptDocument) -> CardData:
    """Return the card of a conversation that the run inserts."""
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
    """Return the span of an attribute's value; `None` if the marker's line does not have it."""
    line = document.source.slice(marker)
    read = read_marker(line, document.dialect)
    for item in reversed(read.attributes if read is not None else ()):
        if item.key == name:
            return item.value_span.shift(marker.start)
    return None
