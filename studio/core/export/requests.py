"""Request bodies, curl commands and lines of data sets: the prompt with its values in it."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from studio.core.agent.loop.setup import stop_sequences
from studio.core.agent.protocols.choose import choose_protocol
from studio.core.export.request_script import (
    body_of,
    json_text,
    sendable,
)
from studio.core.export.round_trip import Meaning, compare
from studio.core.export.target import ExportResult, ExportSource, RoundTrip, TargetGroup, result
from studio.core.export.unresolved import unlisted_tools, unresolved_references
from studio.core.imports.request_messages import read_request
from studio.core.prompty.loop_format import sent_options
from studio.core.prompty.messages import MediaPart, Message, Part, TextPart, ToolResultPart
from studio.core.prompty.prepare import Prepared
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.problem import Problem, Severity
from studio.core.text.values import JsonObject
from studio.core.wire.request import Provider, WireRequest, to_request

LABELS: Mapping[Provider, str] = {
    "openai-chat": "OpenAI chat",
    "openai-responses": "OpenAI responses",
    "anthropic": "Anthropic messages",
    "ollama": "Ollama chat",
    "gemini": "Gemini generateContent",
}


@dataclass(frozen=True, slots=True)
class RequestBody:
    """The exact body of a request, as JSON."""

    provider: Provider
    group: TargetGroup = "Requests"
    suffix: str = ".json"
    needs_values: bool = True

    @property
    def name(self) -> str:
        """The provider's name."""
        return self.provider

    @property
    def label(self) -> str:
        """Name for people."""
        return f"Request body: {LABELS[self.provider]}"

    @property
    def about(self) -> str:
        """What it is."""
        return (
            f"The body that {LABELS[self.provider]} gets, as JSON, with the values of the inputs "
            "and the pictures in it."
        )

    def make(self, source: ExportSource) -> ExportResult:
        """The body with media read from the prompt's folder."""
        request = request_of(source, self.provider)
        round_trips = request_round_trips(source, self.provider, json_text)
        return result(
            json_text(request.body),
            (*source.problems, *request.problems),
            request_losses(source, request),
            round_trips,
        )


@dataclass(frozen=True, slots=True)
class MessagesJsonl:
    """Conversations as lines of a data set: `{"messages": […], "tools": […]}`."""

    name: str = "messages-jsonl"
    label: str = "Messages (JSONL)"
    group: TargetGroup = "Documents"
    suffix: str = ".jsonl"
    needs_values: bool = True
    about: str = (
        "One line per saved input set (without sets, one for the values of now), in the form that "
        "evaluation and training sets take."
    )

    def make(self, source: ExportSource) -> ExportResult:
        """A line in the form of chat completions for each set."""
        chosen = source.set_rounds or source.rounds
        problems: list[Problem] = [*source.document.problems]
        lines: list[str] = []
        for each in chosen.values():
            problems += each.prepared.problems
            request = request_of(each, "openai-chat")
            problems += request.problems
            lines.append(_line(request.body))
        round_trips = request_round_trips(source, "openai-chat", _line)
        losses = (*lost(problems), *unlisted_tools(source), *unresolved_references(source))
        used = round_trips if not source.sets else round_trips[1:]
        return result("\n".join(lines) + "\n", problems, losses, used)


def _line(body: JsonObject) -> str:
    kept = {key: body[key] for key in ("messages", "tools") if key in body}
    return sendable(json.dumps(kept, ensure_ascii=False))


def request_of(
    source: ExportSource, provider: Provider, messages: Sequence[Message] | None = None
) -> WireRequest:
    """The request that the prompt would send: a loop's first one, where it works in a loop.

    Args:
        source: The prompt with its values.
        provider: Form of the body.
        messages: What is sent in place of the prompt's own messages.
    """
    document = source.prepared.document
    model = document.model
    if not model.id:
        model = replace(model, id=source.model)
    if model.api_type == "responses" and provider == "openai-chat":
        model = replace(model, api_type="chat")
    options = sent_options(document, model.options)
    if not source.sent_tools:
        options = {key: value for key, value in options.items() if key != "allowMultipleToolCalls"}
    stop = stop_sequences(document, choose_protocol(document).protocol)
    return to_request(
        source.prepared.messages.messages if messages is None else messages,
        source.sent_tools,
        replace(model, options=options),
        provider=provider,
        outputs=document.outputs,
        stop=stop,
        media=source.media,
        keeps_nothing=True,
    )


def request_losses(source: ExportSource, request: WireRequest) -> Iterator[str]:
    """What a request does not carry, and what it cannot be sent without, in words."""
    yield from lost(request.problems)
    if request.body.get("model") == "":
        yield "The request names no model, and every provider requires one: write model.id."
    yield from unlisted_tools(source)
    yield from unresolved_references(source)


def lost(problems: Iterable[Problem]) -> Iterator[str]:
    """What a request leaves out of what the author wrote, in words."""
    for problem in problems:
        if problem.code in _LOST and problem.severity is not Severity.ERROR:
            yield problem.message


_LOST = (
    "unsupported-attribute",
    "unsupported-option",
    "unsupported-media",
    "tool-not-sent",
    "tool-arguments",
    "system-moved",
    "name-changed",
)


def request_round_trips(
    source: ExportSource, provider: Provider, write: Callable[[JsonObject], str]
) -> tuple[RoundTrip, ...]:
    """For every set: what is written is read again, and says the same messages and tools.

    Systems are one text and attributes are gone where the provider has it so; media are compared
    by kind and place, since their content is encoded.
    """
    if source.prepared.document.model.api_type in ("embedding", "image"):
        return ()
    made = []
    for name, each in source.rounds.items():
        text = write(request_of(each, provider).body)
        again = read_request(body_of(text))
        expected = _normal(each.prepared, provider)
        names = [tool.name for tool in each.sent_tools if _is_described(tool)]
        found = [str(tool.get("name", "")) for tool in again[1]]
        made.append(compare(name, Meaning(expected), Meaning(_plain(again[0], provider))))
        if names != found and made[-1].is_same:
            words = f"the tools are {', '.join(found) or 'none'} instead of {', '.join(names)}."
            made[-1] = replace(made[-1], difference=words)
        made[-1] = replace(made[-1], tools=len(found))
    return tuple(made)


def _is_described(tool: ToolSpec) -> bool:
    return tool.kind == "function" or tool.source != "document"


def _normal(prepared: Prepared, provider: Provider) -> tuple[Message, ...]:
    return _plain(prepared.messages.messages, provider)


def _plain(messages: Iterable[Message], provider: Provider) -> tuple[Message, ...]:
    """Messages as a provider has them: only what its form can tell."""
    made: list[Message] = []
    systems: list[str] = []
    for message in messages:
        if provider != "openai-chat" and message.role in ("system", "developer"):
            systems.append(message.text)
            continue
        parts = tuple(
            _bare(part, message)
            for part in message.parts
            if not (isinstance(part, TextPart) and not part.text)
        )
        made.append(Message(message.role, parts))
    if systems:
        made.insert(0, Message("system", (TextPart("\n\n".join(systems)),)))
    return tuple(made)


def _bare(part: Part, message: Message) -> Part:
    """A part without what no body tells: where media lie, and that a tool's text is a result."""
    if isinstance(part, MediaPart):
        return MediaPart(part.kind, "")
    if isinstance(part, TextPart) and message.role == "tool":
        return ToolResultPart(part.text)
    return part
