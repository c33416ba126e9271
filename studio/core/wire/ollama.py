"""Bodies and replies of Ollama's own chat API (`/api/chat`).

The compatible API at `/v1/chat/completions` loses (docs/connections.md): the size of the context
(`num_ctx`; without it the start of a long prompt is silently cut), `keep_alive`, `think`, and every
sampling option except OpenAI's own.
"""

from collections.abc import Mapping, Sequence

from studio.core.prompty.document import MediaPart, Message, TextPart, ToolResultPart
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json
from studio.core.wire import reply
from studio.core.wire.chat import function_definition
from studio.core.wire.chunks import CallSlots, arguments_text, unlisted
from studio.core.wire.draft import (
    RequestDraft,
    report_attributes,
    report_kind,
    resolve_media,
    result_id,
    tool_calls,
)
from studio.core.wire.media import MediaData
from studio.core.wire.message_rules import OLLAMA, sent_attributes
from studio.core.wire.origins import ValueOrigin, message_origin, part_origin, text_origin

OPTIONS = {
    "temperature": "temperature",
    "maxOutputTokens": "num_predict",
    "topP": "top_p",
    "topK": "top_k",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "seed": "seed",
    "stopSequences": "stop",
    "reasoningEffort": "think",
}
_BESIDE = frozenset(
    ("think", "keep_alive", "format", "logprobs", "tools", "top_logprobs", "truncate", "shift")
)
"""Keys of the body itself; other options belong to the model's `options`."""

_TAKEN = ("model", "messages", "tools")
_EFFORTS: JsonObject = {"none": False, "minimal": "low"}


def ollama_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of a chat request."""
    body: JsonDict = {"model": draft.model.id}
    talk: list[Json] = []
    for index, message in enumerate(messages):
        talk.append(_message(message, messages[:index], draft))
        draft.origins.note(talk, index, message_origin(message))
    body["messages"] = talk
    settings = draft.options(OPTIONS, _TAKEN)
    if "think" in settings:
        settings["think"] = _EFFORTS.get(str(settings["think"]), settings["think"])
    body |= {name: value for name, value in settings.items() if name in _BESIDE}
    options = {name: value for name, value in settings.items() if name not in _BESIDE}
    if options:
        body["options"] = options
        draft.note_nested(options, OPTIONS)
    sent = list(draft.sendable_tools())
    tools: list[Json] = [
        {"type": "function", "function": function_definition(tool, draft)} for tool in sent
    ]
    for index, tool in enumerate(sent):
        draft.origins.note(tools, index, ValueOrigin(tool.span))
    if tools:
        body["tools"] = tools
    if draft.response_schema is not None:
        body["format"] = dict(draft.response_schema)
        draft.origins.note(body, "format", ValueOrigin(keys=("outputs",), is_deep=True))
    body["stream"] = draft.stream
    return body


def _message(message: Message, before: Sequence[Message], draft: RequestDraft) -> JsonDict:
    role = "system" if message.role == "developer" else message.role
    made: JsonDict = {"role": role}
    sent_attributes(message, draft, OLLAMA)
    calls = tool_calls(message)
    text = "".join(
        part.text for part in message.parts if isinstance(part, TextPart | ToolResultPart)
    )
    if text or not calls:
        made["content"] = text
    images: list[Json] = []
    for part in message.parts:
        image = _image(part, draft) if isinstance(part, MediaPart) else None
        if image is not None:
            draft.origins.note(images, len(images), part_origin(part, message))
            images.append(image)
    if images:
        made["images"] = images
    draft.origins.note_message(made, message)
    draft.origins.note(made, "content", text_origin(message))
    thought = next((item.get("thinking") for item in message.carried if "thinking" in item), None)
    if thought is not None:
        made["thinking"] = thought
    if calls:
        listed: list[Json] = [
            {"function": {"name": call.name, "arguments": arguments_object(call.arguments)}}
            for call in calls
        ]
        for index, call in enumerate(calls):
            draft.origins.note(listed, index, part_origin(call, message))
        made["tool_calls"] = listed
    if message.role == "tool":
        made["tool_name"] = called_name(result_id(message), before)
    return made


def called_name(call_id: str, before: Sequence[Message]) -> str:
    """Return the tool of a result's call; APIs without call ids need its name."""
    for message in reversed(before):
        for call in tool_calls(message):
            if call.id == call_id:
                return call.name
    return ""


def arguments_object(text: str) -> JsonDict:
    """Return the arguments as an object; invalid JSON is kept whole under a descriptive key."""
    try:
        value = parse_json(text or "{}")
    except ValueError:
        value = text
    return dict(value) if isinstance(value, Mapping) else {"_raw": value}


def _image(part: MediaPart, draft: RequestDraft) -> Json:
    if part.kind != "image":
        report_kind(part, draft, "Ollama")
        return None
    report_attributes(part, draft)
    found = resolve_media(part, draft)
    return found.data if isinstance(found, MediaData) else found


class OllamaChunks:
    """A reader for the lines of a streamed chat reply; a whole reply is one such line."""

    def __init__(self) -> None:
        self._calls = CallSlots()
        self._count = 0
        self._word: str | None = None
        self._thought: list[str] = []

    @property
    def has_ended(self) -> bool:
        """Whether the server has sent `done`."""
        return self._word is not None

    def read(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        """Read the deltas of one line."""
        made: list[reply.ReplyDelta] = []
        message = chunk.get("message")
        if isinstance(message, Mapping):
            made += self._deltas_of(message)
        if chunk.get("done") is True:
            word = chunk.get("done_reason")
            self._word = word if isinstance(word, str) else "stop"
            usage = reply.read_usage(
                {
                    "input_tokens": chunk.get("prompt_eval_count", 0),
                    "output_tokens": chunk.get("eval_count"),
                }
            )
            if usage is not None:
                made.append(reply.UsageDelta(usage))
        return tuple(made)

    def _deltas_of(self, message: JsonObject) -> list[reply.ReplyDelta]:
        made: list[reply.ReplyDelta] = []
        thought, text = message.get("thinking"), message.get("content")
        if isinstance(thought, str) and thought:
            self._thought.append(thought)
            made.append(reply.ReasoningDelta(thought))
        if isinstance(text, str) and text:
            made.append(reply.TextDelta(text))
        calls = message.get("tool_calls")
        for call in calls if isinstance(calls, list) else ():
            function = call.get("function") if isinstance(call, Mapping) else None
            if isinstance(call, Mapping) and isinstance(function, Mapping):
                name, given = str(function.get("name", "")), call.get("id")
                self._count += 1
                made.append(
                    # Each call is complete and has its own place, whatever its index.
                    self._calls.delta(
                        f"call {self._count}",
                        str(given) if given else None,
                        name,
                        arguments_text(function.get("arguments")),
                    )
                )
        return made

    def end(self) -> tuple[reply.ReplyDelta, ...]:
        """Return the deltas with the finish reason; thinking is sent back with calls."""
        word = self._word or ""
        reason = reply.finish_reason(word)
        notices = unlisted(word, reason)
        made: list[reply.ReplyDelta] = [*self._calls.identifiers()]
        if self._calls.any:
            if self._thought:
                made.append(reply.CarriedDelta({"thinking": "".join(self._thought)}))
            reason = "tool_calls" if reason in ("stop", "unknown") else reason
        return (*made, *notices, reply.Finished(reason))
