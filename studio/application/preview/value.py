"""The frozen value that the preview shows, made from a document and its inputs; its cards."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from pathlib import Path

from studio.core.models.base import Capabilities, ProtocolName
from studio.core.models.connections import Connection
from studio.core.prompty.document import (
    MediaPart,
    Message,
    Part,
    PromptDocument,
    PromptMessages,
    Segment,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.prompty.prepare import Prepared
from studio.core.text.diff import common_ends
from studio.core.text.source import Problem, Span
from studio.core.text.values import Json
from studio.core.tokens.tokenizers import Tokenizers
from studio.core.wire.request import Provider

# The cards of the preview as values: which text, which of it is a value, and from where.

CUT_CHARACTERS = 12_000
CUT_LINES = 200
"""Number of lines of a long text that a card shows before the user expands it."""


@dataclass(frozen=True, slots=True)
class ValueReference:
    """A piece of a card's text that an input put there."""

    input: str
    """The input's name; empty where the expression names none."""

    span: Span | None
    """The expression in the source."""

    warning: str = ""
    """Set where the value carries something that looks like structure (a role marker)."""


@dataclass(frozen=True, slots=True)
class TextRun:
    """A run of text with one origin."""

    text: str
    """The text."""

    value: ValueReference | None = None
    """Value that was inserted here; `None` for the author's own text."""

    span: Span | None = None
    """Place in the source."""

    is_new: bool = False
    """Whether the shown run had other words here."""


@dataclass(frozen=True, slots=True)
class CardData:
    """One message, ready to be shown."""

    number: int
    """Place among the messages, from 1."""

    message: Message
    """The message."""

    line: int | None = None
    """Source line of its marker, from 1."""

    colors: Mapping[str, int] = field(default_factory=dict)
    """Input name → its number, by which the theme picks a color."""

    warnings: tuple[Problem, ...] = ()
    """Problems about values in this message."""

    is_open_thread: bool = False
    """Whether it is no message but the place of a conversation that the run fills."""

    missing: tuple[str, ...] = ()
    """Declared inputs that it names and that have no value: they render as nothing."""

    attribute_places: Mapping[str, Span] = field(default_factory=dict, compare=False)
    """Attribute → where its value is written."""

    new: Mapping[int, tuple[Span, ...]] = field(default_factory=dict)
    """Part → places in its text that the shown run did not have; a part with no words too many
    that only lost some has none."""

    look: tuple[object, ...] = field(init=False, compare=False, default=())
    """Everything that is drawn, without places: equal looks need no drawing again."""

    extent: tuple[int, int] = field(init=False, compare=False, default=(0, 0))
    """Characters and lines of its text, for an estimate of the card's height."""

    def __post_init__(self) -> None:
        """Work the look out at once, which is in the pool: comparing is all the GUI thread does."""
        look = (
            self.message.role,
            tuple(self.message.attributes.items()),
            tuple(_part_look(part) for part in self.message.parts),
            tuple(self.colors.items()),
            tuple(sorted({problem.message for problem in self.warnings})),
            self.missing,
            self.is_open_thread,
            tuple(self.new.items()),
        )
        object.__setattr__(self, "look", look)
        text = self.message.text[:CUT_CHARACTERS]
        extent = (len(text), min(CUT_LINES, text.count("\n") + 1))
        object.__setattr__(self, "extent", extent)

    @property
    def role(self) -> str:
        """The word for who speaks."""
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
        """Yield the text of one part, cut where its origin changes; made as far as it is read."""
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
                yield _run(segment, warned)

    def shown_runs(
        self, part: TextPart | ToolResultPart, characters: int, lines: int
    ) -> tuple[tuple[TextRun, ...], int]:
        """Return the start of a part's text and the number of lines left out (0: none)."""
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
    """Cut runs where words begin or end that the shown run did not have."""
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
    """Count the cards at the start and at the end that did not change."""
    return common_ends([card.look for card in old], [card.look for card in new])


def _run(segment: Segment, warned: Mapping[Span, str]) -> TextRun:
    if segment.kind == "literal":
        return TextRun(segment.text, None, segment.span)
    warning = warned.get(segment.span, "") if segment.span else ""
    return TextRun(
        segment.text, ValueReference(segment.input or "", segment.span, warning), segment.span
    )


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
    """The model that a run would be sent to."""

    model_id: str = ""
    """Its id; empty while the document's own is meant."""

    name: str = ""
    """Display name of the connection."""

    context_window: int | None = None
    """Tokens that a conversation may have; `None` while unknown."""

    is_embedded: bool = False
    """Whether the studio's own server answers, which can count exactly."""

    capabilities: Capabilities = field(default_factory=Capabilities)
    """Abilities of the model; options that it is known to refuse are not sent."""

    weights: Path | None = None
    """The embedded model's file."""

    base_url: str = ""
    """Address of the server; empty for the provider's own."""

    provider: Provider | None = None
    """The form of the requests that are sent to it; `None` for the document's own."""

    connection: Connection | None = field(default=None, compare=False, repr=False)
    """Connection of the model; `None` if it is not known."""

    chosen: str = ""
    """Sentence on what answers, and why; empty while nothing is known of it."""

    is_described: bool = True
    """Whether the prompt's own description of the connection is used, or could be."""

    is_refused: bool = False
    """Whether a run would be refused, since the prompt names what is not set up here."""


@dataclass(frozen=True, slots=True)
class PreviewJob:
    """Everything that a preview is made from."""

    document: PromptDocument
    """The document."""

    inputs: Mapping[str, Json] = field(default_factory=dict)
    """The values given, by name."""

    tools: tuple[ToolSpec, ...] | None = None
    """The tools that a run would have; `None` while only the document's own are known."""

    target: PreviewTarget = field(default_factory=PreviewTarget)
    """The model that a run would be sent to."""

    tokenizers: Tokenizers = field(default_factory=Tokenizers)
    """Count the tokens."""

    revision: int = 0
    """Number of the order."""

    protocol: ProtocolName | None = None
    """The protocol chosen for runs; `None` for the document's own."""

    trusted: bool = True
    """Whether the prompt's folder is trusted; of another no variable and no file is looked at."""

    opened: Path | None = None
    """The folder that the user opened: text files below it are shown before it is trusted."""

    asked: Sequence[Message] = ()
    """First messages of the run whose answer is shown; the cards mark what differs from them."""


@dataclass(frozen=True, slots=True)
class Preview:
    """The messages of one revision of a document; what panes show beside them is made of it."""

    document: PromptDocument
    """The document of this revision."""

    job: PreviewJob
    """Job that made the messages; that of the last good revision while `is_stale`."""

    prepared: Prepared
    """The messages with the values in them; the last good ones while `is_stale`."""

    newest: Prepared
    """The same of `document` itself; differs from `prepared` while `is_stale`."""

    sent: Prepared
    """The messages without samples: what a run sends once the folder is trusted."""

    offered: tuple[ToolSpec, ...] = ()
    """Every tool that a run would have."""

    tools: tuple[ToolSpec, ...] = ()
    """Tools that are sent to the model."""

    sent_tools: tuple[ToolSpec, ...] = ()
    """The tools that go with `sent`."""

    problems: tuple[Problem, ...] = ()
    """Problems of the document, and those found while the messages were made."""

    cards: tuple[CardData, ...] = ()
    """The messages as cards."""

    is_stale: bool = False
    """Whether the document has an error that gives no messages, so that older ones are shown."""

    revision: int = 0
    """Counts up; a later preview has a higher one."""

    @property
    def messages(self) -> PromptMessages:
        """The messages that the model would get."""
        return self.prepared.messages

    @property
    def shown(self) -> PromptDocument:
        """The document that the messages come from; differs from `document` while `is_stale`."""
        return self.job.document

    @property
    def samples(self) -> frozenset[str]:
        """Names whose value is only a sample: a run does not send it."""
        return self.prepared.samples

    @property
    def media_folder(self) -> Path | None:
        """The folder whose pictures are shown: of a saved prompt in a trusted folder."""
        path = self.shown.source.path
        return path.parent if path is not None and self.job.trusted else None

    @property
    def blocker(self) -> Problem | None:
        """Return the problem that prevents a run, if there is one."""
        if not self.is_stale:
            return None
        return next((item for item in self.problems if item.severity == "error"), None)
