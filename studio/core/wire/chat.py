"""Bodies of OpenAI's chat completions, the form of most servers (Prompty spec §7.1)."""

from collections.abc import Sequence
from typing import assert_never

from studio.core.prompty.document import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
    ToolSpec,
)
from studio.core.text.values import Json, JsonDict, JsonObject
from studio.core.wire.draft import (
    RequestDraft,
    declared_type,
    file_name,
    image_detail,
    media_after_results,
    merged_text,
    report_attributes,
    resolve_media,
    result_id,
)
from studio.core.wire.media import MediaData
from studio.core.wire.message_rules import CHAT, sent_attributes
from studio.core.wire.origins import ValueOrigin, message_origin, part_origin, text_origin
from studio.core.wire.schema import sent_parameters, strict_schema

OPTIONS = {
    "temperature": "temperature",
    "maxOutputTokens": "max_completion_tokens",
    "topP": "top_p",
    # Not part of OpenAI's API, but of most compatible servers; if it is rejected, the client sends
    # again without it.
    "topK": "top_k",
    "frequencyPenalty": "frequency_penalty",
    "presencePenalty": "presence_penalty",
    "seed": "seed",
    "stopSequences": "stop",
    "allowMultipleToolCalls": "parallel_tool_calls",
    "reasoningEffort": "reasoning_effort",
}
_TAKEN = ("model", "messages", "tools", "response_format")
_NO_PARAMETERS: JsonObject = {"type": "object", "properties": {}}


def chat_body(messages: Sequence[Message], draft: RequestDraft) -> JsonDict:
    """Return the body of a chat completions request."""
    body: JsonDict = {"model": draft.model.id}
    messages = tuple(media_after_results(messages, draft))
    talk: list[Json] = [_message(message, draft) for message in messages]
    for index, message in enumerate(messages):
        draft.origins.note(talk, index, message_origin(message))
    body["messages"] = talk
    body |= draft.options(OPTIONS, _TAKEN)
    sent = list(draft.sendable_tools())
    tools: list[Json] = [
        {"type": "function", "function": function_definition(tool, draft)} for tool in sent
    ]
    if tools:
        body["tools"] = tools
    for index, tool in enumerate(sent):
        draft.origins.note(tools, index, ValueOrigin(tool.span))
    schema = draft.response_schema
    if schema is not None:
        held: JsonDict = {
            "name": "structured_output",
            "strict": True,
            "schema": strict_schema(schema),
        }
        body["response_format"] = {"type": "json_schema", "json_schema": held}
        draft.note_outputs("response_format", held)
    if draft.stream:
        body["stream"] = True
        body["stream_options"] = {"include_usage": True}
    return body


def function_definition(tool: ToolSpec, draft: RequestDraft | None = None) -> JsonDict:
    """Return a function in OpenAI's form; a draft records its origin."""
    made: JsonDict = {"name": tool.name}
    if tool.description:
        made["description"] = tool.description
    parameters = sent_parameters(tool)
    if parameters != _NO_PARAMETERS or tool.bindings:
        made["parameters"] = strict_schema(parameters) if tool.strict else parameters
    if tool.strict:
        made["strict"] = True
    if draft is not None:
        draft.origins.note_tool(made, tool, "parameters")
    return made


def _message(message: Message, draft: RequestDraft) -> JsonDict:
    made: JsonDict = {"role": message.role}
    # Attributes are sent beside role and content and never replace them
    # (docs/design/file-format.md).
    made |= sent_attributes(message, draft, CHAT)
    if message.attributes.get("tool_call_id") is not None:
        # A bare number in the role marker is a number; the API requires text.
        made["tool_call_id"] = result_id(message)
    text = merged_text(message)
    made["content"] = text if text is not None else _blocks(message, draft)
    draft.origins.note_message(made, message)
    if text is not None:
        draft.origins.note(made, "content", text_origin(message))
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if calls:
        listed: list[Json] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
        signed = {item.get("id"): item.get("extra_content") for item in message.carried}
        for index, call in enumerate(calls):
            draft.origins.note(listed, index, part_origin(call, message))
            held = listed[index]
            if signed.get(call.id) and isinstance(held, dict):
                held["extra_content"] = signed[call.id]
        made["tool_calls"] = listed
    elif "tool_calls" in message.attributes:
        made["tool_calls"] = message.attributes["tool_calls"]  # from a thread, in this form already
    return made


def _blocks(message: Message, draft: RequestDraft) -> list[Json]:
    made: list[Json] = []
    for part in message.parts:
        match part:
            case TextPart() | ToolResultPart():
                made.append({"type": "text", "text": part.text})
            case MediaPart():
                made.append(_media(part, draft))
            case ToolCallPart():
                continue
            case _:
                assert_never(part)
        draft.origins.note(made, len(made) - 1, part_origin(part, message))
    return made


def _media(part: MediaPart, draft: RequestDraft) -> JsonDict:
    found = resolve_media(part, draft)
    address = found.uri if isinstance(found, MediaData) else found
    match part.kind:
        case "image":
            report_attributes(part, draft, ("detail", "quality"))
            url: JsonDict = {"url": address}
            detail = image_detail(part, draft)
            if detail is not None:
                url["detail"] = detail
            return {"type": "image_url", "image_url": url}
        case "audio":
            report_attributes(part, draft)
            return {"type": "input_audio", "input_audio": _audio(part, found)}
        case "file":
            report_attributes(part, draft)
            if isinstance(found, MediaData):
                held = {"filename": file_name(part, found), "file_data": found.uri}
                return {"type": "file", "file": held}
            return {"type": "file", "file": {"url": address}}
        case "video":
            report_attributes(part, draft)
            return {"type": "video_url", "video_url": {"url": address}}
        case _:
            assert_never(part.kind)


def _audio(part: MediaPart, found: MediaData | str) -> JsonDict:
    if isinstance(found, str):
        return {"data": found, "format": audio_format(declared_type(part))}
    return {"data": found.data, "format": audio_format(found.media_type)}


def audio_format(media_type: str) -> str:
    """Return OpenAI's name for an audio type (Prompty spec §7.1.2): the part after `audio/`."""
    word = media_type.partition(";")[0].removeprefix("audio/").removeprefix("x-")
    return {"mpeg": "mp3", "wave": "wav", "vnd.wave": "wav", "": "wav"}.get(word, word)
