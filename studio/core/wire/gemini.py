"""Bodies and replies of Gemini's own API (`models/…:streamGenerateContent`).

The compatible API at `/v1beta/openai` loses (docs/connections.md): summaries of the thinking and
its budget, signatures of texts, safety settings and why an answer was blocked, top-k, cached
content, files by URL, audio and video, and the modalities in the usage.
"""

import json
import zlib
from collections.abc import Mapping, Sequence
from typing import assert_never

from studio.core.prompty.document import MediaPart, Message, TextPart, ToolCallPart, ToolResultPart
from studio.core.text.values import Json, JsonDict, JsonObject, parse_json
from studio.core.wire import reply
from studio.core.wire.chunks import unlisted
from studio.core.wire.draft import (
    RequestDraft,
    declared_type,
    described_tool,
    report_attributes,
    resolve_media,
    result_id,
    tool_calls,
)
from studio.core.wire.message_rules import GEMINI, sent_attributes
from studio.core.wire.ollama import arguments_object, called_name
from studio.core.wire.origins import ValueOrigin, message_origin, part_origin, text_origin

OPTIONS = {
    "temperature": "temperature",
    "maxOutputTokens": "maxOutputTokens",
    "topP": "topP",
    "topK": "topK",
    "frequencyPenalty": "frequencyPenalty",
    "presencePenalty": "presencePenalty",
    "seed": "seed",
    "stopSequences": "stopSequences",
    "reasoningEffort": "thinkingConfig",
}
BESIDE = frozenset(
    ("safetySettings", "cachedContent", "toolConfig", "labels", "serviceTier", "tools")
)
"""Keys of the body itself; other options belong to `generationConfig`."""

_TAKEN = ("model", "contents", "systemInstruction", "tools")
_SYSTEM = ("system", "developer")
_OWN_ID = "gemini-"
"""Prefix of ids that this reader made because the API gave none; they are not sent back."""

_MOST_CHOICES = 128


def gemini_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of a generateContent request; the URL contains the model."""
    body: JsonDict = {}
    system = [message for message in messages if message.role in _SYSTEM]
    if system:
        parts: list[Json] = []
        for message in system:
            sent_attributes(message, draft, GEMINI)
            draft.origins.note(parts, len(parts), text_origin(message))
            parts.append({"text": message.text})
        body["systemInstruction"] = {"parts": parts}
    body["contents"] = _contents(messages, draft)
    tools: list[Json] = []
    for tool in draft.sendable_tools():
        draft.origins.note(tools, len(tools), ValueOrigin(tool.span))
        tools.append(described_tool(tool, draft, "parametersJsonSchema"))
    if tools:
        body["tools"] = [{"functionDeclarations": tools}]
    settings = draft.options(OPTIONS, _TAKEN)
    body |= {name: value for name, value in settings.items() if name in BESIDE}
    config = {name: value for name, value in settings.items() if name not in BESIDE}
    if isinstance(effort := config.get("thinkingConfig"), str):
        config["thinkingConfig"] = (
            {"thinkingBudget": 0}
            if effort == "none"
            else {"includeThoughts": True, "thinkingLevel": effort.upper()}
        )
    if draft.response_schema is not None:
        config["responseMimeType"] = "application/json"
        config["responseJsonSchema"] = dict(draft.response_schema)
    draft.note_nested(config, OPTIONS)
    if draft.response_schema is not None:
        draft.origins.note(
            config, "responseJsonSchema", ValueOrigin(keys=("outputs",), is_deep=True)
        )
    if config:
        body["generationConfig"] = config
    return body


def _contents(messages: Sequence[Message], draft: RequestDraft) -> list[Json]:
    """Return the conversation; the results of one turn are one content."""
    made: list[Json] = []
    results: list[Json] = []
    for index, message in enumerate(messages):
        if message.role in _SYSTEM:
            continue
        sent_attributes(message, draft, GEMINI)
        if message.role == "tool":
            if not results:
                draft.origins.note(made, len(made), message_origin(message))
                made.append({"role": "user", "parts": results})
            results.append(_result(message, messages[:index], draft))
            continue
        results = []
        role = "model" if message.role == "assistant" else "user"
        draft.origins.note(made, len(made), message_origin(message))
        body: JsonDict = {"role": role, "parts": _parts(message, draft)}
        draft.origins.note_message(body, message)
        made.append(body)
    return made


def _result(message: Message, before: Sequence[Message], draft: RequestDraft) -> JsonDict:
    call_id = result_id(message)
    made: JsonDict = {} if call_id.startswith(_OWN_ID) else {"id": call_id}
    made["name"] = called_name(call_id, before)
    try:
        value = parse_json(message.text)
    except ValueError:
        value = None
    held: JsonDict = {"result": message.text}
    made["response"] = value if isinstance(value, Mapping) else held
    media: list[Json] = [_media(p, draft) for p in message.parts if isinstance(p, MediaPart)]
    if media:
        made["parts"] = media
    draft.origins.note_result(made, message, "id", "response")
    draft.origins.note(held, "result", text_origin(message))
    return {"functionResponse": made}


def _parts(message: Message, draft: RequestDraft) -> list[Json]:
    made: list[Json] = []
    signed = {str(item.get("part")): item.get("thoughtSignature") for item in message.carried}
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                if not part.text and len(message.parts) > 1:
                    continue
                made.append({"text": part.text})
            case MediaPart():
                made.append(_media(part, draft))
            case ToolCallPart():
                continue
            case _:
                assert_never(part)
        draft.origins.note(made, len(made) - 1, part_origin(part, message))
    if made and signed.get("text") and isinstance(held := made[-1], dict):
        held["thoughtSignature"] = signed["text"]
    for call in tool_calls(message):
        draft.origins.note(made, len(made), part_origin(call, message))
        function: JsonDict = {} if call.id.startswith(_OWN_ID) else {"id": call.id}
        function |= {"name": call.name, "args": arguments_object(call.arguments)}
        asked: JsonDict = {"functionCall": function}
        if signed.get(call.id):
            asked["thoughtSignature"] = signed[call.id]
        made.append(asked)
    return made or [{"text": ""}]


def _media(part: MediaPart, draft: RequestDraft) -> JsonDict:
    report_attributes(part, draft)
    found = resolve_media(part, draft)
    if isinstance(found, str):
        kind = declared_type(part)
        address: JsonDict = {"mimeType": kind} if kind else {}
        return {"fileData": {**address, "fileUri": found}}
    return {"inlineData": {"mimeType": found.media_type, "data": found.data}}


class GeminiChunks:
    """A reader for the chunks of a streamed reply; a whole reply is one such chunk."""

    def __init__(self) -> None:
        self._calls = 0
        self._word: str | None = None

    @property
    def has_ended(self) -> bool:
        """Whether the server has sent a finish reason."""
        return self._word is not None

    def read(self, chunk: JsonObject) -> tuple[reply.ReplyDelta, ...]:
        """Read the deltas of one chunk."""
        made: list[reply.ReplyDelta] = []
        candidates = chunk.get("candidates")
        for candidate in candidates if isinstance(candidates, list) else ():
            if isinstance(candidate, Mapping):
                made += self._candidate(candidate, str(chunk.get("responseId", "")))
        feedback = chunk.get("promptFeedback")
        if isinstance(feedback, Mapping) and feedback.get("blockReason"):
            self._word = "safety"
            why = feedback.get("blockReasonMessage") or feedback["blockReason"]
            made.append(reply.ReplyNotice(f"The prompt was blocked: {why}."))
        usage = _usage(chunk.get("usageMetadata"))
        if usage is not None:
            made.append(usage)
        return tuple(made)

    def _candidate(self, candidate: JsonObject, answer: str) -> list[reply.ReplyDelta]:
        made: list[reply.ReplyDelta] = []
        index = candidate.get("index", 0)
        content = candidate.get("content")
        parts = content.get("parts") if isinstance(content, Mapping) else None
        for part in parts if isinstance(parts, list) else ():
            if not isinstance(part, Mapping):
                continue
            if isinstance(index, int) and 0 < index < _MOST_CHOICES:
                made.append(reply.ChoiceDelta(index, str(part.get("text", ""))))
            elif not index:
                made += self._part(part, answer)
        word = candidate.get("finishReason")
        if isinstance(word, str) and not index:
            self._word = word
        return made

    def _part(self, part: JsonObject, answer: str) -> list[reply.ReplyDelta]:
        made: list[reply.ReplyDelta] = []
        key = "text"
        text, call = part.get("text"), part.get("functionCall")
        if isinstance(text, str) and text:
            made.append(
                reply.ReasoningDelta(text) if part.get("thought") is True else reply.TextDelta(text)
            )
        if isinstance(call, Mapping):
            arguments = json.dumps(call.get("args") or {}, ensure_ascii=False)
            name = str(call.get("name", ""))
            mark = zlib.crc32(f"{answer}\n{name}\n{arguments}".encode(errors="replace"))
            key = str(call.get("id") or f"{_OWN_ID}{self._calls + 1}-{mark:08x}")
            made.append(reply.ToolCallDelta(self._calls, key, name, arguments))
            self._calls += 1
        if isinstance(signature := part.get("thoughtSignature"), str):
            made.append(reply.CarriedDelta({"part": key, "thoughtSignature": signature}))
        return made

    def end(self) -> tuple[reply.ReplyDelta, ...]:
        """Return the deltas with the finish reason."""
        word = self._word or ""
        reason: reply.FinishReason = reply.finish_reason(word)
        notices = unlisted(word, reason)
        if self._calls and reason in ("stop", "unknown"):
            reason = "tool_calls"
        return (*notices, reply.Finished(reason))


def _usage(value: Json) -> reply.UsageDelta | None:
    """Return usage under the common names; thoughts count as paid output."""
    if not isinstance(value, Mapping):
        return None

    def count(key: str) -> int:
        found = value.get(key)
        return found if isinstance(found, int) and not isinstance(found, bool) else 0

    by_kind: JsonDict = {"cached_tokens": count("cachedContentTokenCount")}
    details = value.get("promptTokensDetails")
    for each in details if isinstance(details, list) else ():
        if isinstance(each, Mapping) and each.get("modality") in ("IMAGE", "AUDIO"):
            by_kind[f"{str(each['modality']).lower()}_tokens"] = each.get("tokenCount")
    thoughts = count("thoughtsTokenCount")
    usage = reply.read_usage(
        {
            "input_tokens": count("promptTokenCount") + count("toolUsePromptTokenCount"),
            "output_tokens": count("candidatesTokenCount") + thoughts,
            "input_tokens_details": by_kind,
            "output_tokens_details": {"reasoning_tokens": thoughts},
        }
    )
    return reply.UsageDelta(usage) if usage is not None else None
