"""Origins of the values of a request, kept beside the unchanged body.

A builder records an origin for a key of a dict or list that it creates. Origins are never searched
by text: two equal values have separate origins. A value without an origin has that of its
container.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from studio.core.prompty.document import (
    MediaPart,
    Message,
    Part,
    Segment,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath


@dataclass(frozen=True, slots=True)
class ValueOrigin:
    """The origin of a value."""

    span: Span | None = None
    """Source span of the value, if it is a single one."""

    pieces: tuple[Segment, ...] = ()
    """For a text: the segments that it is joined from."""

    keys: tuple[str, ...] = ()
    """Keys of a front matter value; items of lists are included."""

    is_deep: bool = False
    """Whether the parts of the value are under `keys` too, by their own keys."""

    attribute: str = ""
    """Name of the attribute of a role marker, whose span is `span`; empty for others."""

    input: str = ""
    """Input that the whole value comes from; empty for none."""


@dataclass(frozen=True, slots=True)
class FoundOrigin:
    """The nearest origin of a value."""

    origin: ValueOrigin
    """Origin of the value or of its container."""

    further: KeyPath = ()
    """Path from the container to the value; empty if the origin is the value's own."""


@dataclass(slots=True)
class OriginNotes:
    """The origins of one body."""

    _notes: dict[tuple[int, str | int], ValueOrigin] = field(default_factory=dict)
    _holders: list[object] = field(default_factory=list)
    _top: dict[str, ValueOrigin] = field(default_factory=dict)

    def note(
        self, holder: JsonObject | Sequence[Json], key: str | int, origin: ValueOrigin
    ) -> None:
        """Record the origin of a key of this dict or list object."""
        self._holders.append(holder)  # as long as it lives, no other object has its id
        self._notes[id(holder), key] = origin

    def note_top(self, key: str, origin: ValueOrigin) -> None:
        """Record the origin of a value at the top of the body."""
        self._top[key] = origin

    def note_message(self, made: JsonDict, message: Message) -> None:
        """Record the origins of a message's role and attributes under their names in it."""
        marker = message.origin.marker or message.origin.span
        by = message.origin.input
        self.note(made, "role", ValueOrigin(marker, input=by))
        for name in message.attributes:
            if name in made and name not in ("role", "content"):
                self.note(made, name, ValueOrigin(marker, attribute=name, input=by))

    def note_result(self, made: JsonDict, message: Message, id_key: str, key: str) -> None:
        """Record the origins of a tool's result and of the id of its call."""
        own = message.origin
        marker = own.marker or own.span
        for each in made:
            self.note(made, each, message_origin(message))
        self.note(made, id_key, ValueOrigin(marker, attribute="tool_call_id", input=own.input))
        self.note(made, key, text_origin(message))

    def note_tool(self, made: JsonDict, tool: ToolSpec, schema_key: str) -> None:
        """Record the origins of a tool's name, description and schema."""
        if tool.source != "document":
            return
        for name, key in (("name", "name"), ("description", "description")):
            keys = ("tools", tool.name, key)
            self.note(made, name, ValueOrigin(tool.span, keys=keys))
        keys = ("tools", tool.name, "parameters")
        self.note(made, schema_key, ValueOrigin(tool.span, keys=keys, is_deep=True))
        self.note(made, "strict", ValueOrigin(tool.span, keys=("tools", tool.name, "strict")))

    def find(self, body: JsonObject, place: KeyPath) -> FoundOrigin | None:
        """Return the nearest origin of a value; None if no part of its path has one."""
        holder: Json = body
        found: FoundOrigin | None = None
        for depth, key in enumerate(place):
            origin = self._notes.get((id(holder), key))
            if origin is None and depth == 0:
                origin = self._top.get(str(key))
            if origin is not None:
                found = FoundOrigin(origin, place[depth + 1 :])
            if isinstance(holder, Mapping):
                holder = holder.get(str(key))
            elif isinstance(holder, list | tuple) and isinstance(key, int):
                holder = holder[key] if key < len(holder) else None
            else:
                break
        return found


def message_origin(message: Message) -> ValueOrigin:
    """Return the origin of a message."""
    return ValueOrigin(message.origin.marker or message.origin.span, input=message.origin.input)


def text_origin(*messages: Message, between: str = "") -> ValueOrigin:
    """Return the origin of messages' texts joined by `between`."""
    pieces: tuple[Segment, ...] = ()
    for index, message in enumerate(messages):
        if index:
            pieces += (Segment("literal", between, None),)
        for part in message.parts:
            if isinstance(part, TextPart | ToolResultPart):
                pieces += part_pieces(part, message)
    first = messages[0].origin if messages else None
    span = (first.marker or first.span) if first else None
    return ValueOrigin(span, pieces, input=first.input if first else "")


def part_origin(part: Part, message: Message) -> ValueOrigin:
    """Return the origin of a part of a message."""
    own = message.origin
    span = part.span or own.marker or own.span
    match part:
        case TextPart() | ToolResultPart():
            return ValueOrigin(span, part_pieces(part, message), input=own.input)
        case MediaPart():
            return ValueOrigin(span, input=part.input or own.input)
        case ToolCallPart():
            return ValueOrigin(span, input=own.input)


def part_pieces(part: TextPart | ToolResultPart, message: Message) -> tuple[Segment, ...]:
    """Return a part's segments; a single one if no template made it."""
    if part.segments:
        return part.segments
    own = message.origin
    span = part.span or own.span
    return (Segment("rich", part.text, span, own.input or None),) if part.text else ()
