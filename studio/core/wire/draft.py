"""Common parts of all request bodies: options, tools, schemas, media and problems.

A media part becomes a URL or data; parts that a provider does not accept are reported.
"""

import json
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace

from studio.core.prompty.document import (
    MediaPart,
    Message,
    ModelDeclaration,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.prompty.threads import read_call
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, objects_of, text_of
from studio.core.wire.media import MediaData, MediaFault, MediaSource, is_web, split_data_uri
from studio.core.wire.origins import OriginNotes, ValueOrigin
from studio.core.wire.schema import sent_parameters

UNSUPPORTED_ATTRIBUTE = "unsupported-attribute"
UNSUPPORTED_OPTION = "unsupported-option"
UNSUPPORTED_MEDIA = "unsupported-media"
SYSTEM_MOVED = "system-moved"
TOOL_NOT_SENT = "tool-not-sent"
TOOL_NAME = "tool-name-refused"
TOOL_OPTIONS = "tool-options-kept"

_NOWHERE = Span(0, 0)


@dataclass(slots=True)
class RequestDraft:
    """A request body under construction."""

    model: ModelDeclaration
    tools: tuple[ToolSpec, ...]
    response_schema: JsonObject | None
    stop: tuple[str, ...]
    stream: bool
    media: MediaSource | None
    keeps_nothing: bool = False
    problems: list[Problem] = field(default_factory=list)
    media_types: dict[str, str] = field(default_factory=dict)
    """MIME types of the local files that were read, by path as written by the author."""
    origins: OriginNotes = field(default_factory=OriginNotes)

    def report(
        self,
        code: str,
        message: str,
        span: Span | None = None,
        severity: Severity = Severity.WARNING,
    ) -> None:
        """Report a part of the prompt that the provider does not get as written."""
        self.problems.append(Problem(code, severity, message, span or _NOWHERE))

    def note_model(self) -> None:
        """Record the origin of the model's id."""
        self.origins.note_top("model", ValueOrigin(self.model.span, keys=("model", "id")))

    def note_outputs(self, top: str, holder: JsonDict) -> None:
        """Record the origin of the answer's schema: the declared outputs.

        Args:
            top: Key of the body that contains it.
            holder: The dict with the key `schema`.
        """
        if self.response_schema is not None:
            self.origins.note_top(top, ValueOrigin(keys=("outputs",)))
            self.origins.note(holder, "schema", ValueOrigin(keys=("outputs",), is_deep=True))

    def sendable_tools(self) -> Iterable[ToolSpec]:
        """Yield the tools with a schema; a server that is only named has none yet."""
        for tool in self.tools:
            if is_sendable(tool):
                yield tool
            else:
                self.report(
                    TOOL_NOT_SENT,
                    f"The {tool.kind} tool {tool.name!r} is not sent: it names a service, and no "
                    "source here provides its functions.",
                    tool.span,
                )
            if tool.options:
                options = json.dumps(tool.options, ensure_ascii=False)
                self.report(
                    TOOL_OPTIONS,
                    f"The options of the tool {tool.name!r} are not sent; they are for the "
                    f"program that runs it: {options}",
                    tool.span,
                    Severity.HINT,
                )

    def options(self, names: Mapping[str, str], taken: Iterable[str]) -> JsonDict:
        """Return options under the provider's names, then the author's further options.

        Args:
            names: Prompty's option names to the provider's (Prompty spec §7.1.5).
            taken: Keys that no further option may replace, if the body has them.
        """
        made: JsonDict = {}
        further = self.model.options.get("additionalProperties")
        for name, value in self.model.options.items():
            if value is None or name in ("additionalProperties", "stopSequences"):
                continue
            if name in names:
                made[names[name]] = value
                self._note_option(names[name], name)
            elif (name, value) != ("allowMultipleToolCalls", True):  # the default of such an API
                self._report_option(name)
        self._add_stop(made, names.get("stopSequences"))
        if isinstance(further, Mapping):
            is_set = {
                "tools": any(map(is_sendable, self.tools)),
                "response_format": self.response_schema is not None,
            }
            reserved = {"stream", "stream_options", *(n for n in taken if is_set.get(n, True))}
            for name, value in further.items():
                if name == "stream":
                    continue  # the caller decides the form of the answer
                if name in made or name in reserved:
                    self.report(
                        UNSUPPORTED_OPTION,
                        f"The additional property {name!r} is set by the request itself.",
                        self.model.span,
                    )
                else:
                    made[str(name)] = value
                    self._note_option(str(name), "additionalProperties", str(name))
        return made

    def _add_stop(self, made: JsonDict, name: str | None) -> None:
        stops = all_stops(self.model.options, self.stop)
        if stops and name is None:
            self._report_option("stopSequences")
        elif stops and name is not None:
            made[name] = stops
            if self.model.options.get("stopSequences"):
                self._note_option(name, "stopSequences")

    def _note_option(self, key: str, *keys: str) -> None:
        path = ("model", "options", *keys)
        self.origins.note_top(key, ValueOrigin(self.model.span, keys=path, is_deep=True))

    def note_nested(self, holder: JsonDict, names: Mapping[str, str]) -> None:
        """Record the origins of options in a nested object.

        Args:
            holder: the object.
            names: as for `options`.
        """
        ours = {theirs: name for name, theirs in names.items()}
        for key in holder:
            is_own = key in ours and self.model.options.get(ours[key]) is not None
            keys = (ours[key],) if is_own else ("additionalProperties", key)
            origin = ValueOrigin(self.model.span, keys=("model", "options", *keys), is_deep=True)
            self.origins.note(holder, key, origin)

    def _report_option(self, name: str) -> None:
        self.report(
            UNSUPPORTED_OPTION,
            f"The option {name!r} is not sent: this request format has no equivalent.",
            self.model.span,
        )


def described_tool(tool: ToolSpec, draft: RequestDraft, schema_key: str) -> JsonDict:
    """Return a tool as name, description and schema, and record their origins."""
    made: JsonDict = {"name": tool.name}
    if tool.description:
        made["description"] = tool.description
    made[schema_key] = sent_parameters(tool)
    draft.origins.note_tool(made, tool, schema_key)
    return made


def all_stops(options: JsonObject, more: Iterable[str]) -> list[Json]:
    """Return the stop sequences of the options, then those of the protocol, each once."""
    value = options.get("stopSequences")
    own = value if isinstance(value, list | tuple) else [value] if value else []
    stops: list[Json] = []
    for item in (*own, *more):  # an author may have written values that are no texts, and no key
        if item not in stops:
            stops.append(item)
    return stops


def is_sendable(tool: ToolSpec) -> bool:
    """Return whether a tool has a schema, rather than being the name of a service."""
    return tool.kind == "function" or tool.source != "document"


def merged_text(message: Message) -> str | None:
    """Return the text of a message with only text (and calls); None for others."""
    texts: list[str] = []
    for part in message.parts:
        if isinstance(part, TextPart | ToolResultPart):
            texts.append(part.text)
        elif not isinstance(part, ToolCallPart):
            return None
    return "".join(texts)


def tool_calls(message: Message) -> list[ToolCallPart]:
    """Return the calls of a message, also those in a thread's attribute in chat form."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    held = message.attributes.get("tool_calls")
    return calls or [read_call(call, None) for call in objects_of(held)]


def result_id(message: Message) -> str:
    """Return the id of the call that a tool message answers."""
    return str(message.attributes.get("tool_call_id", ""))


_DETAILS = ("low", "high", "auto", "original")
_EVERYWHERE = frozenset(("type", "mediaType", "media_type", "alt", "name", "filename"))


def resolve_media(part: MediaPart, draft: RequestDraft) -> MediaData | str:
    """Return the data to send, or the source unchanged (a URL, or an unreadable path)."""
    source = part.source
    data = split_data_uri(source)
    if data is not None:
        return data
    if is_web(source):
        return source
    media_type = declared_type(part)
    found = draft.media.read(source) if draft.media is not None and source else None
    if isinstance(found, MediaData):
        draft.media_types[source] = media_type or found.media_type
        return found if not media_type else MediaData(media_type, found.data, found.name)
    if media_type:
        # Prompty spec §7.5: with a media type, the source is the data itself.
        return MediaData(media_type, source, "")
    if isinstance(found, MediaFault):
        draft.report(found.code, found.message, part.span, Severity.ERROR)
    return source


def declared_type(part: MediaPart) -> str:
    """Return the MIME type given by the author or a thread."""
    return text_of(part.attributes.get("mediaType", part.attributes.get("media_type")))


def image_detail(part: MediaPart, draft: RequestDraft) -> str | None:
    """Return OpenAI's `detail`, also from a known `quality` of the section dialect."""
    for name in ("detail", "quality"):
        value = part.attributes.get(name)
        if value is None:
            continue
        if value in _DETAILS:
            return str(value)
        draft.report(
            UNSUPPORTED_ATTRIBUTE,
            f"The attribute {name}={value!r} is not sent: the detail of an image is one of"
            f" {', '.join(_DETAILS)}.",
            part.span,
        )
    return None


def report_attributes(part: MediaPart, draft: RequestDraft, known: Iterable[str] = ()) -> None:
    """Report attributes of a part that cannot be sent."""
    for name in part.attributes:
        if name not in _EVERYWHERE and name not in known:
            draft.report(
                UNSUPPORTED_ATTRIBUTE,
                f"The attribute {name!r} of this {part.kind} is not sent: the provider does not "
                "support it.",
                part.span,
            )


def has_media(message: Message) -> bool:
    """Return whether a message contains more than text and calls."""
    return any(isinstance(part, MediaPart) for part in message.parts)


def takes_only(message: Message, draft: RequestDraft, kinds: Collection[str]) -> Message:
    """Return a tool's result with the media that a provider accepts; others are reported."""
    left_out = [p for p in message.parts if isinstance(p, MediaPart) and p.kind not in kinds]
    report_text_only(replace(message, parts=tuple(left_out)), draft, "A tool's result here")
    return replace(message, parts=tuple(part for part in message.parts if part not in left_out))


def media_after_results(messages: Iterable[Message], draft: RequestDraft) -> Iterator[Message]:
    """Yield the messages, with media of tools' results moved to a user message after them.

    For APIs that accept only text in a result.
    """
    held: list[Part] = []
    for message in messages:
        if message.role != "tool" and held:
            yield Message("user", tuple(held))
            held = []
        media = [part for part in message.parts if isinstance(part, MediaPart)]
        if message.role == "tool" and media:
            name = message.attributes.get("name") or result_id(message)
            draft.report(
                UNSUPPORTED_MEDIA,
                f"The media in the result of {name!r} follow as a user message: this API only "
                "accepts text there.",
                severity=Severity.HINT,
            )
            held += [TextPart(f"From the result of {name}:"), *media]
            words = tuple(part for part in message.parts if part not in media)
            yield replace(message, parts=words)
        else:
            yield message
    if held:
        yield Message("user", tuple(held))


def report_text_only(message: Message, draft: RequestDraft, place: str) -> None:
    """Report media in a message that may contain only text."""
    for part in message.parts:
        if isinstance(part, MediaPart):
            draft.report(
                UNSUPPORTED_MEDIA,
                f"{place} can only be text: the {part.kind} {part.source[:60]!r} is left out.",
                part.span,
            )


def report_kind(part: MediaPart, draft: RequestDraft, provider: str) -> None:
    """Report a kind of media that the provider does not accept."""
    draft.report(
        UNSUPPORTED_MEDIA,
        f"{provider} accepts no {part.kind} here; {part.source[:60]!r} is left out.",
        part.span,
        Severity.ERROR,
    )


def file_name(part: MediaPart, data: MediaData) -> str:
    """Return the name under which a file is sent."""
    for name in ("filename", "name"):
        value = part.attributes.get(name)
        if isinstance(value, str) and value:
            return value
    return data.name or "file"
