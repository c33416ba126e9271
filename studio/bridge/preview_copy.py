"""The preview as text for other places: JSON, Markdown, chat text, curl, Python."""

from __future__ import annotations

import json
import shlex
from typing import assert_never

from studio.bridge.preview_value import Preview, RequestPreview
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    Part,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.text.values import Json
from studio.core.wire.request import Provider

_ENDPOINTS: dict[Provider, tuple[str, str]] = {
    "openai-chat": ("https://api.openai.com/v1/chat/completions", "OPENAI_API_KEY"),
    "openai-responses": ("https://api.openai.com/v1/responses", "OPENAI_API_KEY"),
    "anthropic": ("https://api.anthropic.com/v1/messages", "ANTHROPIC_API_KEY"),
}


def messages_as_json(preview: Preview) -> str:
    """The messages as the list that a chat completion takes, else in the seed's shape."""
    body = preview.requests.get("openai-chat")
    listed = body.body.get("messages") if body is not None else None
    return json.dumps(
        listed if listed is not None else [_plain(item) for item in preview.messages.messages],
        ensure_ascii=False,
        indent=2,
    )


def messages_as_markdown(preview: Preview) -> str:
    """A heading for each message, its text under it."""
    blocks = []
    for message in preview.messages.messages:
        attributes = ", ".join(f"{key}: {value}" for key, value in message.attributes.items())
        heading = f"## {message.role}" + (f" ({attributes})" if attributes else "")
        blocks.append("\n\n".join([heading, *(_part_text(part) for part in message.parts)]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def message_as_text(message: Message) -> str:
    """One message with its attributes, as text to compare."""
    attributes = ", ".join(f"{key}={value}" for key, value in message.attributes.items())
    head = f"{message.role}[{attributes}]:" if attributes else f"{message.role}:"
    return "\n".join([head, *(_part_text(part) for part in message.parts)])


def messages_as_chat(preview: Preview) -> str:
    """`role: text`, one message after the other."""
    return "\n\n".join(
        f"{message.role}: " + "\n".join(_part_text(part) for part in message.parts)
        for message in preview.messages.messages
    )


def request_as_curl(request: RequestPreview) -> str:
    """A shell command that sends the body; the key comes from the environment."""
    url, variable = _ENDPOINTS[request.provider]
    header = (
        f'-H "x-api-key: ${variable}" -H "anthropic-version: 2023-06-01"'
        if request.provider == "anthropic"
        else f'-H "Authorization: Bearer ${variable}"'
    )
    return (
        f"curl {url} \\\n  -H 'Content-Type: application/json' \\\n  {header} \\\n"
        f"  --data-binary {shlex.quote(request.text)}\n"
    )


def request_as_python(request: RequestPreview) -> str:
    """A script for the provider's own package; the key comes from the environment."""
    body = repr_json(request.body)
    if request.provider == "anthropic":
        return (
            "import anthropic\n\nclient = anthropic.Anthropic()\n"
            f"reply = client.messages.create(**{body})\nprint(reply.content)\n"
        )
    if request.provider == "openai-responses":
        return (
            "import openai\n\nclient = openai.OpenAI()\n"
            f"reply = client.responses.create(**{body})\nprint(reply.output_text)\n"
        )
    return (
        "import openai\n\nclient = openai.OpenAI()\n"
        f"reply = client.chat.completions.create(**{body})\n"
        "print(reply.choices[0].message)\n"
    )


def repr_json(value: Json, indent: int = 0) -> str:
    """A JSON value as Python source, indented as JSON would be."""
    inner = " " * (indent + 4)
    if isinstance(value, dict) and value:
        rows = [f"{inner}{key!r}: {repr_json(item, indent + 4)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + ",\n" + " " * indent + "}"
    if isinstance(value, list | tuple) and value:
        rows = [f"{inner}{repr_json(item, indent + 4)}" for item in value]
        return "[\n" + ",\n".join(rows) + ",\n" + " " * indent + "]"
    return repr(value)


def _plain(message: Message) -> dict[str, Json]:
    content = "\n".join(_part_text(part) for part in message.parts)
    return {"role": message.role, **message.attributes, "content": content}


def _part_text(part: Part) -> str:
    match part:
        case TextPart(text) | ToolResultPart(text):
            return text
        case MediaPart(kind, source, _, alt):
            return f"![{alt or kind}]({source})"
        case ToolCallPart(_, name, arguments):
            return f"{name}({arguments})"
        case _:
            assert_never(part)
