"""A conversation as a chat template without tools can take it: roles and plain texts."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

from studio.core.models.base import ModelRequest
from studio.core.prompty.messages import (
    MediaPart,
    Message,
    TextPart,
    ToolCallPart,
    ToolResultPart,
)
from studio.core.prompty.tool_spec import ToolSpec

_ROLES = {"developer": "system", "tool": "user"}


def template_messages(request: ModelRequest) -> tuple[dict[str, str], ...]:
    """The messages for `/apply-template`.

    The bundled model's template drops tools in silence (docs/design/embedded-model.md), so for the
    native protocol they are described in the system message, calls are written as the JSON that
    the grammar asks for, and results come as what the user says. Neighbours of one role are
    joined, because some templates refuse them.
    """
    merged: list[dict[str, str]] = []
    for role, text in _turns(request):
        if merged and merged[-1]["role"] == role:
            merged[-1]["content"] += "\n\n" + text
        else:
            merged.append({"role": role, "content": text})
    return tuple(merged)


def last_user_text(request: ModelRequest) -> str:
    """What the user said last, for grounding where the run names no question."""
    for message in reversed(request.messages):
        if message.role == "user":
            return message.text
    return ""


def _turns(request: ModelRequest) -> Iterator[tuple[str, str]]:
    if request.protocol == "native" and request.tools:
        yield "system", _tool_help(request.tools)
    for message in request.messages:
        yield _ROLES.get(message.role, message.role), _text(message)


def _tool_help(tools: tuple[ToolSpec, ...]) -> str:
    lines = [_tool_line(tool) for tool in tools]
    form = '{"name": "' + tools[0].name + '", "arguments": {…}}'
    return "\n".join(["Tools:", *lines, f"To use a tool, write only {form}."])


def _tool_line(tool: ToolSpec) -> str:
    properties = tool.parameters.get("properties")
    names = ", ".join(properties) if isinstance(properties, Mapping) else ""
    return f"- {tool.name}({names}): {tool.description.splitlines()[0] if tool.description else ''}"


def _text(message: Message) -> str:
    pieces: list[str] = []
    for part in message.parts:
        match part:
            case TextPart(text):
                pieces.append(text)
            case ToolResultPart(text):
                pieces.append(f"The tool answered: {text}")
            case ToolCallPart():
                name = json.dumps(part.name, ensure_ascii=False)
                pieces.append(f'{{"name": {name}, "arguments": {part.arguments or "{}"}}}')
            case MediaPart():
                pieces.append(f"[{part.alt or part.kind}]")
    return "\n".join(piece for piece in pieces if piece)
