"""Messages from outside the prompt: items of a conversation as plain values."""

import json
from collections.abc import Mapping
from typing import Literal

from studio.core.prompty.document import (
    MediaPart,
    Message,
    MessageOrigin,
    Part,
    Role,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.source import Span
from studio.core.text.values import Json, JsonDict, JsonObject, object_of, objects_of

ROLES: dict[str, Role] = {
    "system": "system",
    "developer": "developer",
    "user": "user",
    "human": "user",
    "assistant": "assistant",
    "ai": "assistant",
    "tool": "tool",
    "function": "tool",
}
"""Roles of a conversation, by their names in other formats."""
_OWN_KEYS = frozenset({"role", "content", "parts", "tool_calls", "metadata"})


def thread_calls(message: Message) -> JsonDict:
    """Return a message's tool calls in the form of a thread item; empty without calls."""
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if not calls:
        return {}
    return {
        "tool_calls": [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": call.arguments},
            }
            for call in calls
        ]
    }


def read_thread(
    value: Json, attributes: JsonObject, span: Span | None, name: str = ""
) -> tuple[Message, ...] | None:
    """Read the messages of a thread input.

    Args:
        value: A list of messages, or `{"messages": […]}`.
        attributes: Attributes of the `thread[…]` marker; a message's own take precedence.
        span: Span of the thread in the template.
        name: Name of the input.

    Returns:
        The messages; None if `value` is not a list.
    """
    if isinstance(value, Mapping):
        value = value.get("messages")
    if not isinstance(value, list):
        return None
    origin = MessageOrigin("thread", span, span, name)
    return tuple(
        _read_message(item, attributes, origin) for item in value if isinstance(item, Mapping)
    )


def _read_message(item: JsonObject, attributes: JsonObject, origin: MessageOrigin) -> Message:
    role = ROLES.get(str(item.get("role", "user")).lower(), "user")
    content = item["content"] if "content" in item else item.get("parts")
    parts: list[Part] = []
    if isinstance(content, str):
        parts.append(ToolResultPart(content) if role == "tool" else TextPart(content))
    elif isinstance(content, list):
        parts += (_read_part(part, role) for part in content)
    elif content is not None:
        parts.append(TextPart(json.dumps(content, ensure_ascii=False)))
    metadata = item.get("metadata")
    own = {**metadata} if isinstance(metadata, Mapping) else {}
    calls = item["tool_calls"] if "tool_calls" in item else own.pop("tool_calls", None)
    if isinstance(calls, list):
        parts = [part for part in parts if not (isinstance(part, TextPart) and not part.text)]
        parts += (read_call(call, None) for call in objects_of(calls))
    own |= {key: value for key, value in item.items() if key not in _OWN_KEYS}
    return Message(role, tuple(parts), {**attributes, **own}, origin)


_TEXTS = ("text", "input_text", "output_text")
_MEDIA: Mapping[str, Literal["image", "file", "audio", "video"]] = {
    **dict.fromkeys(("image", "image_url", "input_image"), "image"),
    **dict.fromkeys(("audio", "input_audio"), "audio"),
    **dict.fromkeys(("file", "input_file", "document"), "file"),
    **dict.fromkeys(("video", "video_url"), "video"),
}
_MEDIA_KEYS = {"image": "image_url", "audio": "input_audio", "file": "file", "video": "video_url"}
PART_KINDS = frozenset((*_TEXTS, *_MEDIA, "tool_result", "tool_call"))
"""Supported kinds of parts; others become their JSON as text."""


def _read_part(item: Json, role: Role) -> Part:
    if not isinstance(item, Mapping):
        return TextPart(item if isinstance(item, str) else json.dumps(item, ensure_ascii=False))
    kind = part_kind(item)
    if kind in _MEDIA:
        return _media(_MEDIA[kind], item)
    match kind:
        case "text" | "input_text" | "output_text":
            text = _first_text(item, "value", "text") or ""
            return ToolResultPart(text) if role == "tool" else TextPart(text)
        case "tool_result":
            return ToolResultPart(_first_text(item, "tool_result", "text", "content") or "")
        case "tool_call":
            call = item.get("tool_call")
            return read_call(call if isinstance(call, Mapping) else item, None)
        case _:
            return TextPart(json.dumps(item, ensure_ascii=False, default=str))


def part_kind(item: JsonObject) -> str:
    """Return the kind of a part; an unknown one if its content is not found.

    A part without a kind is a text.
    """
    named = item.get("kind", item.get("type"))
    media = _MEDIA.get(str(named))
    if media is not None and _address(media, item) is None:
        return f"{named} without an address"
    if named in (None, *_TEXTS) and _first_text(item, "value", "text") is None:
        return f"{named} without a text" if named else f"{next(iter(item), '')} without a type"
    return str(named or "text")


def read_call(call: JsonObject, span: Span | None) -> ToolCallPart:
    """Read a tool call as a mapping (`{id, type, function: {name, arguments}}`, or flat).

    The text input of OpenAI's custom tools becomes the argument `input`.
    """
    function = call["function"] if "function" in call else call.get("custom")
    inner = function if isinstance(function, Mapping) else call
    arguments = inner.get("arguments")
    if arguments is None and isinstance(inner.get("input"), str):
        arguments = {"input": inner["input"]}
    if arguments is None:
        text = "{}"
    elif isinstance(arguments, str):
        text = arguments
    else:
        text = json.dumps(arguments, ensure_ascii=False)
    call_id, name = call.get("id"), inner.get("name")
    return ToolCallPart(
        "" if call_id is None else str(call_id), "" if name is None else str(name), text, call, span
    )


def _media(kind: Literal["image", "file", "audio", "video"], item: JsonObject) -> MediaPart:
    """Return a media part of either form: `{kind, source, …}` or a provider's block."""
    wire_key = _MEDIA_KEYS[kind]
    block = object_of(item.get(wire_key, item.get("source")))
    known = {"kind", "type", "source", "value", "url", "data", "file_data", "file_id", wire_key}
    attributes = {key: value for key, value in {**block, **item}.items() if key not in known}
    if "media_type" in attributes:
        attributes["mediaType"] = attributes.pop("media_type")
    if kind == "audio" and isinstance(attributes.get("format"), str):
        attributes["mediaType"] = f"audio/{attributes.pop('format')}"
    return MediaPart(kind, _address(kind, item) or "", attributes)


def _address(kind: Literal["image", "file", "audio", "video"], item: JsonObject) -> str | None:
    """Return the source of a media part; empty for an input without a value, else None."""
    inner = item.get(_MEDIA_KEYS[kind], item.get("source"))  # Anthropic's has media_type and data
    found = (
        _first_text(item, "source", "value", "url", "data"),
        _first_text(object_of(inner), "url", "data", "file_data", "file_id"),
        inner if isinstance(inner, str) else None,
    )
    return next(filter(None, found), None if found == (None, None, None) else "")


def _first_text(item: JsonObject, *keys: str) -> str | None:
    for key in keys:
        value = item.get(key)
        if isinstance(value, str):
            return value
        if isinstance(value, int | float):
            return str(value)
    return None
