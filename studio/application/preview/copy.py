"""What the preview shows as text for other places: its messages, and its request."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace

from studio.application.preview.requests import RequestPreview, request_preview
from studio.application.preview.value import Preview
from studio.core.export.request_script import ApiEndpoint, curl_command, endpoint_of, python_script
from studio.core.prompty.messages import Message
from studio.core.prompty.shapes import message_text, part_text
from studio.core.text.values import Json, JsonObject


def messages_as_json(preview: Preview) -> str:
    """The messages as a chat completion takes them, else in the section dialect's shape."""
    made = request_preview("openai-chat", preview.prepared, preview.tools, preview.job.target)
    listed = _whole(made).get("messages")
    return json.dumps(
        listed if listed is not None else [_plain(item) for item in preview.messages.messages],
        ensure_ascii=False,
        indent=2,
    )


def messages_as_markdown(messages: Sequence[Message]) -> str:
    """A heading for each message, its text under it."""
    blocks = []
    for message in messages:
        attributes = ", ".join(f"{key}: {value}" for key, value in message.attributes.items())
        heading = f"## {message.role}" + (f" ({attributes})" if attributes else "")
        blocks.append("\n\n".join([heading, *(part_text(part) for part in message.parts)]))
    return "\n\n".join(blocks) + "\n" if blocks else ""


def message_as_text(message: Message) -> str:
    """One message with its attributes, as text to compare."""
    attributes = ", ".join(f"{key}={value}" for key, value in message.attributes.items())
    head = f"{message.role}[{attributes}]:" if attributes else f"{message.role}:"
    return "\n".join([head, *(part_text(part) for part in message.parts)])


def messages_as_chat(messages: Sequence[Message]) -> str:
    """`role: text`, one message after the other."""
    return "\n\n".join(f"{message.role}: {message_text(message)}" for message in messages)


def _plain(message: Message) -> dict[str, Json]:
    return {"role": message.role, **message.attributes, "content": message_text(message)}


def request_as_json(request: RequestPreview) -> str:
    """The body with the content of its files."""
    return json.dumps(_whole(request), ensure_ascii=False, indent=2)


def request_as_curl(request: RequestPreview) -> str:
    """A shell command that sends the body."""
    return curl_command(_whole(request), *_endpoint(request))


def request_as_python(request: RequestPreview) -> str:
    """A script that sends the body and prints the reply."""
    return python_script(_whole(request), *_endpoint(request))


def _whole(request: RequestPreview) -> JsonObject:
    return request.whole() if request.whole is not None else request.body


def _endpoint(request: RequestPreview) -> tuple[ApiEndpoint, str]:
    """Where the request goes, at the connection's own address where it has one."""
    endpoint = endpoint_of(request.provider, request.api)
    endpoint = replace(endpoint, path=endpoint.path.replace("{model}", request.model or "MODEL"))
    return endpoint, request.base_url
