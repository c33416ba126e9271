"""Messages as JSON, for the command line and for other programs.

Section dialect: role, attributes and a list of parts, as in chat APIs. Prompty 2: the form of its
test vectors.
"""

from typing import assert_never

from studio.core.prompty.document import (
    Dialect,
    HoistedTool,
    MediaPart,
    Message,
    OpenThread,
    Part,
    PromptMessages,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.values import Json, JsonDict, JsonObject


def part_text(part: Part) -> str:
    """Return a part as text for the user: media as Markdown, a call as `name(arguments)`."""
    match part:
        case TextPart(text) | ToolResultPart(text):
            return text
        case MediaPart(kind, source, _, alt):
            return f"![{alt or kind}]({source})"
        case ToolCallPart(_, name, arguments):
            return f"{name}({arguments})"
        case _:
            assert_never(part)


def message_text(message: Message) -> str:
    """Return the whole content of a message as text, one or more lines per part."""
    return "\n".join(part_text(part) for part in message.parts)


def messages_to_json(messages: PromptMessages, dialect: Dialect) -> list[Json]:
    """Return the messages in the form of their dialect."""
    if dialect == "prompty":
        return [_prompty_message(message) for message in messages.messages]
    return [
        {"role": "thread", **item.attributes}
        if isinstance(item, OpenThread)
        else _section_message(item)
        for item in messages.items()
    ]


def tools_to_json(tools: tuple[HoistedTool, ...]) -> list[Json]:
    """Return the tools of the body's `tools:` section in the section dialect's form."""
    return [
        {"id": tool.id, "type": tool.type, "options": tool.reference or tool.options}
        for tool in tools
    ]


def _prompty_message(message: Message) -> JsonObject:
    parts: list[Json] = [
        _prompty_part(part) for part in message.parts if not isinstance(part, ToolCallPart)
    ]
    found: JsonDict = {
        "role": message.role,
        "content": parts or [{"kind": "text", "value": ""}],
    }
    metadata = dict(message.attributes)
    calls = [part for part in message.parts if isinstance(part, ToolCallPart)]
    if calls:
        metadata["tool_calls"] = [_call(call) for call in calls]
    if metadata:
        found["metadata"] = metadata
    return found


def _prompty_part(part: Part) -> JsonObject:
    match part:
        case TextPart() | ToolResultPart():
            return {"kind": "text", "value": part.text}
        case MediaPart():
            return {"kind": part.kind, "value": part.source, **part.attributes}
        case ToolCallPart():
            return {"kind": "tool_call", "value": _call(part)}
        case _:
            assert_never(part)


def _section_message(message: Message) -> JsonObject:
    own = {
        key: value for key, value in message.attributes.items() if key not in ("role", "content")
    }
    found: JsonDict = {"role": message.role, **own}
    if not message.parts:
        found["content"] = ""
    elif len(message.parts) == 1 and isinstance(message.parts[0], TextPart):
        found["content"] = message.parts[0].text
    else:
        found["content"] = [_section_part(part) for part in message.parts]
    return found


def _section_part(part: Part) -> JsonObject:
    match part:
        case TextPart():
            return {"type": "text", "text": part.text}
        case MediaPart():
            key = part.word or ("image_url" if part.kind == "image" else part.kind)
            block: JsonDict = {"url": part.source, **part.attributes}
            if part.alt:
                block["alt"] = part.alt
            return {"type": key, key: block}
        case ToolCallPart():
            return {"type": "tool_call", "tool_call": part.raw or _call(part)}
        case ToolResultPart():
            return {"type": "tool_result", "tool_result": part.text}
        case _:
            assert_never(part)


def _call(part: ToolCallPart) -> JsonObject:
    """Return a call in chat completions' form."""
    return {
        "id": part.id,
        "type": "function",
        "function": {"name": part.name, "arguments": part.arguments},
    }
