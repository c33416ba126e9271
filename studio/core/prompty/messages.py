"""Messages as values: the text for the model, and the place of each piece.

Names for the messages that a template writes: `user 2` is the second section of that role.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Literal, TypeAlias, get_args

from studio.core.prompty.document import BodySection, PromptDocument
from studio.core.text.problem import Problem
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject

# What a template rendered to, piece by piece, each with where it came from.


@dataclass(frozen=True, slots=True)
class Segment:
    """A run of rendered text with one origin."""

    kind: Literal["literal", "value", "rich"]
    """`literal`: the author's own text. `value`: put in by an expression. `rich`: a whole thread,
    image, file or audio input, whose text here is only a placeholder."""

    text: str
    """The rendered text."""

    span: Span | None
    """The template source that made it: the literal text itself, or the whole `{{ … }}`."""

    input: str | None = None
    """For a value: the root name of the input that it came from, where one can be named."""

    value: Json = None
    """Value of a reference if it is no text; `text` is then its JSON."""


@dataclass(frozen=True)
class Rendering:
    """A rendered template: `text` is the segments' texts joined."""

    segments: tuple[Segment, ...]
    """In order. Literal segments may be split anywhere; empty ones are left out."""

    problems: tuple[Problem, ...] = ()
    """Problems of rendering (syntax, bounds); segments then hold the rendered part."""

    @cached_property
    def text(self) -> str:
        """The rendered text."""
        return "".join(segment.text for segment in self.segments)


Role: TypeAlias = Literal["system", "developer", "user", "assistant", "tool"]
"""Role of a message. The markers `function:` and `tool:` both give `tool`."""


@dataclass(frozen=True, slots=True)
class TextPart:
    """Text, with the segments it is made of."""

    text: str
    """As the model gets it."""

    segments: tuple[Segment, ...] = ()
    """The pieces, whose texts joined are `text`; empty where the text has no template."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class MediaPart:
    """An image, file, recording or video, by reference until a request is made."""

    kind: Literal["image", "file", "audio", "video"]
    """Kind of the medium."""

    source: str
    """URL, data URI, or a path as the author wrote it (relative to the prompt's folder)."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Any further attributes (`quality`, `detail`, `mediaType`, …)."""

    alt: str = ""
    """Alternative text, where the brackets held some."""

    span: Span | None = None
    """Place in the source."""

    word: str = ""
    """Unknown word of the author for its type (`type="hologram"`)."""

    input: str = ""
    """The input whose value it is; empty for the author's own, or a thread's."""


@dataclass(frozen=True, slots=True)
class ToolCallPart:
    """A call that the assistant asked for."""

    id: str
    """Identifier that the result answers to."""

    name: str
    """The tool."""

    arguments: str
    """The arguments, as JSON text exactly as they will be sent."""

    raw: JsonObject | None = None
    """The author's own mapping, where the call was written in the prompt (section dialect)."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class ToolResultPart:
    """The result of a tool; the message's `tool_call_id` attribute names the call."""

    text: str
    """The observation, as the model gets it."""

    segments: tuple[Segment, ...] = ()
    """The pieces of it, as in `TextPart`."""

    span: Span | None = None
    """Place in the source."""


Part: TypeAlias = TextPart | MediaPart | ToolCallPart | ToolResultPart
"""Closed: consumers `match` and `assert_never`."""


@dataclass(frozen=True, slots=True)
class MessageOrigin:
    """The origin of a message."""

    source: Literal["template", "thread", "run", "implicit"]
    """`template`: a section of the body. `thread`: an item of the thread input. `run`: put in by
    the agent loop. `implicit`: text with no marker before it."""

    span: Span | None = None
    """The whole section in the source, marker included."""

    marker: Span | None = None
    """The role marker line itself."""

    input: str = ""
    """Of an item of a thread: the input that holds the thread."""


@dataclass(frozen=True, slots=True)
class Message:
    """One message of a conversation."""

    role: Role
    """Role of the message."""

    parts: tuple[Part, ...]
    """Content in order; empty for an empty section."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Everything beside role and content (`name`, `tool_call_id`, any author's key)."""

    origin: MessageOrigin = field(default=MessageOrigin("run"))
    """Origin of the message."""

    carried: tuple[JsonObject, ...] = ()
    """Data that the provider of a reply wants back with it: signed thinking, encrypted
    reasoning."""

    @property
    def text(self) -> str:
        """The texts of all its text and result parts, joined."""
        return "".join(
            part.text for part in self.parts if isinstance(part, TextPart | ToolResultPart)
        )


@dataclass(frozen=True, slots=True)
class HoistedTool:
    """A tool of the body's `tools:` section, after its values were rendered."""

    id: str
    """The author's identifier."""

    type: str
    """The author's type (`function`, `bing`, …)."""

    options: JsonObject
    """Options with their values rendered."""

    span: Span | None = None
    """Place of its list item in the source."""

    dynamic_inputs: tuple[str, ...] = ()
    """Inputs whose values went into it; such a tool asks for approval."""

    reference: str = ""
    """The options where they are one reference (`${file:…}`) that has no value here."""


@dataclass(frozen=True, slots=True)
class OpenThread:
    """A place of a conversation that no value fills yet: the program that runs the prompt does.

    The seed calls it a thread item in the messages collection ("Prompt section", "Thread").
    """

    index: int
    """Messages before it."""

    input: str
    """Input that fills the place."""

    attributes: Mapping[str, Json] = field(default_factory=dict)
    """Attributes of its marker."""

    span: Span | None = None
    """Place in the source."""


@dataclass(frozen=True, slots=True)
class PromptMessages:
    """The messages of one rendering."""

    messages: tuple[Message, ...]
    """In order, threads expanded."""

    tools: tuple[HoistedTool, ...] = ()
    """Tools of the body's `tools:` section."""

    problems: tuple[Problem, ...] = ()
    """Problems of reading, injected markers among them."""

    threads: tuple[OpenThread, ...] = ()
    """Conversations without a value, in order of their places among the messages."""

    def items(self) -> Iterator[Message | OpenThread]:
        """Return the messages with the open threads at their places."""
        waiting = list(self.threads)
        for index, message in enumerate(self.messages):
            while waiting and waiting[0].index <= index:
                yield waiting.pop(0)
            yield message
        yield from waiting


def named_messages(document: PromptDocument) -> Iterator[tuple[str, BodySection]]:
    """The sections with a role of their own, in order, each with its name."""
    counts: Counter[str] = Counter()
    for section in document.sections:
        if section.marker is not None and section.role in get_args(Role):
            counts[section.role] += 1
            yield f"{section.role} {counts[section.role]}", section
