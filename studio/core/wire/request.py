"""The body of a request to a provider, and the function that builds it."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias, assert_never

from studio.core.prompty.document import InputDeclaration, Message, ModelDeclaration, ToolSpec
from studio.core.prompty.front.declarations import output_schema
from studio.core.text.source import Problem, Severity, Span
from studio.core.text.values import Json, JsonDict, JsonObject, KeyPath
from studio.core.wire import message_rules
from studio.core.wire.anthropic import anthropic_body
from studio.core.wire.chat import chat_body
from studio.core.wire.draft import (
    TOOL_NAME,
    UNSUPPORTED_ATTRIBUTE,
    UNSUPPORTED_MEDIA,
    RequestDraft,
    is_sendable,
    result_id,
    tool_calls,
)
from studio.core.wire.media import MediaSource
from studio.core.wire.origins import FoundOrigin, OriginNotes, text_origin
from studio.core.wire.responses import responses_body

# From the providers' API references: `tools[].function.name`, `tools[].name`.
_OPENAI = re.compile(r"[A-Za-z0-9_-]{1,64}")
_GEMINI = re.compile(r"[A-Za-z_][A-Za-z0-9_.:-]{0,63}")
_ANTHROPIC = re.compile(r"[A-Za-z0-9_-]{1,128}")


def name_refusal(
    name: str, provider: Literal["openai-chat", "openai-responses", "anthropic", "ollama", "gemini"]
) -> str:
    """Return why a provider rejects the name of a tool, one sentence; empty if it accepts it."""
    match provider:
        case "openai-chat" | "openai-responses":
            who, rule, most = "OpenAI", _OPENAI, 64
        case "anthropic":
            who, rule, most = "Anthropic", _ANTHROPIC, 128
        case "gemini":
            who, rule, most = "Gemini", _GEMINI, 64
        case "ollama":
            return ""  # anything that the model's template can write
        case _:
            assert_never(provider)
    if rule.fullmatch(name):
        return ""
    return (
        f"{who} refuses the name {name!r}: letters, digits, _ and - only, at most {most} of them."
    )


def embedding_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of an embedding request: a single text, or a list of several."""
    texts: list[Json] = [message.text for message in messages]
    for index, message in enumerate(messages):
        draft.origins.note(texts, index, text_origin(message))
    if len(texts) == 1:
        draft.origins.note_top("input", text_origin(messages[0]))
    return {
        "model": draft.model.id,
        "input": texts[0] if len(texts) == 1 else texts,
        **_further(draft, ("model", "input")),
    }


def image_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of an image request, whose prompt is the user's last message."""
    own = [message for message in messages if message.role == "user"][-1:] or messages
    prompt = "\n\n".join(message.text for message in own)
    draft.origins.note_top("prompt", text_origin(*own, between="\n\n"))
    return {"model": draft.model.id, "prompt": prompt, **_further(draft, ("model", "prompt"))}


def _further(draft: RequestDraft, taken: Sequence[str]) -> JsonDict:
    """Return only the author's further options; sampling options do not apply here."""
    further = draft.model.options.get("additionalProperties")
    if not isinstance(further, Mapping):
        return {}
    return {str(name): value for name, value in further.items() if name not in taken}


def history_problems(messages: Sequence[Message]) -> tuple[Problem, ...]:
    """Return the problems of a conversation that a provider would reject."""
    found: list[Problem] = []
    open_: dict[str, Message] = {}
    for message in messages:
        if message.role == "tool":
            if open_.pop(result_id(message), None) is None:
                call = result_id(message)
                text = f"This result answers no open call {call!r}; a run leaves it out."
                found.append(_problem("orphan-tool-result", text, message))
            continue
        found += _unanswered(open_)
        open_ = {call.id: message for call in tool_calls(message)}
    found += _unanswered(open_)
    return tuple(found)


def _unanswered(open_: dict[str, Message]) -> list[Problem]:
    return [
        _problem(
            "unanswered-tool-call",
            f"The call {call!r} has no result after it; a run marks it as interrupted.",
            message,
        )
        for call, message in open_.items()
    ]


def _problem(code: str, text: str, message: Message) -> Problem:
    span = message.origin.marker or message.origin.span or Span(0, 0)
    return Problem(code, Severity.WARNING, text, span)


Provider: TypeAlias = Literal["openai-chat", "openai-responses", "anthropic", "ollama", "gemini"]
"""Form of a request; many servers use `openai-chat`."""


@dataclass(frozen=True, slots=True)
class WireRequest:
    """A request's body with problems and origins."""

    body: JsonObject
    """JSON body, without a key."""

    problems: tuple[Problem, ...] = ()
    """Problems: unsupported parts, unreadable media, calls without results."""

    origins: OriginNotes = field(default_factory=OriginNotes, compare=False, repr=False)
    """Origins of the body's values."""

    def origin(self, place: KeyPath) -> FoundOrigin | None:
        """Return the origin of the value at a path of the body."""
        return self.origins.find(self.body, place)


_ADDRESSES: Sequence[tuple[re.Pattern[str], Provider, str]] = (
    (re.compile(r"/chat/completions$"), "openai-chat", "messages"),
    (re.compile(r"/responses$"), "openai-responses", "input"),
    (re.compile(r"/messages$"), "anthropic", "messages"),
    (re.compile(r"/api/chat$"), "ollama", "messages"),
    (re.compile(r":(?:stream)?[gG]enerateContent$"), "gemini", "contents"),
)
"""Suffixes of the URLs of model APIs, with the key of the messages in the body."""


def asked_at(target: str) -> tuple[Provider, str] | None:
    """Return the form of a request to a URL, and the key of its messages; else None."""
    path = target.partition("?")[0]
    return next((row[1:] for row in _ADDRESSES if row[0].search(path)), None)


def provider_of(model: ModelDeclaration) -> Provider:
    """Return the form of request for a document's `model:` block."""
    if model.provider.lower() == "anthropic":
        return "anthropic"
    if model.api_type == "responses":
        return "openai-responses"
    return "openai-chat"


def to_request(
    messages: Sequence[Message],
    tools: Sequence[ToolSpec],
    model: ModelDeclaration,
    *,
    provider: Provider,
    outputs: Sequence[InputDeclaration] = (),
    response_schema: JsonObject | None = None,
    stop: Sequence[str] = (),
    stream: bool = False,
    media: MediaSource | None = None,
    keeps_nothing: bool = False,
) -> WireRequest:
    """Build the body of a request (Prompty spec §7; also for embeddings and images).

    Args:
        messages: The conversation; it is sent unchanged, and invalid parts are reported.
        tools: The model's tools, without services that a document only names.
        model: Model id and options, references resolved.
        provider: The form of the body.
        outputs: Declared outputs, as which the answer is requested in JSON.
        response_schema: The outputs as a JSON schema (`declarations.output_schema`), if known.
        stop: Further stop sequences.
        stream: Whether to request a streamed reply.
        media: Reads local files. Without it paths stay as the author wrote them.
        keeps_nothing: Whether to request that the provider stores nothing and returns its reasoning
            instead; an author's `store` takes precedence.
    """
    schema = response_schema if response_schema is not None else output_schema(outputs)
    draft = RequestDraft(model, tuple(tools), schema, tuple(stop), stream, media, keeps_nothing)
    draft.note_model()
    if not model.id:
        message = "Neither the prompt nor a connection names a model; a run takes its connection's."
        # Most prompts leave the model to the connection, which is no error.
        draft.report("no-model", message, model.span, Severity.HINT)
    if model.api_type == "embedding":
        body = embedding_body(messages, draft)
        return WireRequest(body, tuple(draft.problems), draft.origins)
    if model.api_type == "image":
        body = image_body(messages, draft)
        return WireRequest(body, tuple(draft.problems), draft.origins)
    match provider:
        case "openai-chat":
            body, rules = chat_body(messages, draft), message_rules.CHAT
        case "openai-responses":
            body, rules = responses_body(messages, draft), message_rules.RESPONSES
        case "anthropic":
            body, rules = anthropic_body(messages, draft), message_rules.ANTHROPIC
        # These two also read replies, which takes longer to import than checking a file.
        case "ollama":
            from studio.core.wire.ollama import ollama_body

            body, rules = ollama_body(messages, draft), message_rules.OLLAMA
        case "gemini":
            from studio.core.wire.gemini import gemini_body

            body, rules = gemini_body(messages, draft), message_rules.GEMINI
        case _:
            assert_never(provider)
    message_rules.report_media(messages, draft, rules)
    message_rules.report_calls(messages, draft, rules)
    for tool in tools:
        refusal = name_refusal(tool.name, provider) if is_sendable(tool) else ""
        if refusal:
            draft.report(TOOL_NAME, refusal, tool.span)
    if not holds_message(body):
        _report_nothing_asked(messages, draft)
    return WireRequest(body, (*history_problems(messages), *draft.problems), draft.origins)


def _report_nothing_asked(messages: Sequence[Message], draft: RequestDraft) -> None:
    """Report that the request has no content."""
    message, place = "There is no message for the model; write one below user:.", None
    if messages:
        message = (
            "There is no message for the model besides the system text, which the provider "
            "rejects; put user: before the question."
        )
        place = messages[-1].origin.marker or messages[-1].origin.span
    draft.report(NO_MESSAGE, message, place, Severity.ERROR)


NO_MESSAGE = "no-message"

_OF_THE_MESSAGES = frozenset(
    {
        UNSUPPORTED_ATTRIBUTE,
        UNSUPPORTED_MEDIA,
        message_rules.NAME_CHANGED,
        message_rules.CALL_ID,
        NO_MESSAGE,
    }
)


def message_problems(request: WireRequest) -> tuple[Problem, ...]:
    """Return the problems of the messages themselves, which a check of the prompt also reports."""
    return tuple(item for item in request.problems if item.code in _OF_THE_MESSAGES)


def holds_message(body: JsonObject) -> bool:
    """Return whether a body has messages or an input."""
    return any(body.get(key) for key in ("messages", "input", "prompt", "contents"))
