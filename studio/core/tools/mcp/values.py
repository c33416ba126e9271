"""What an MCP server lists and answers, as values of ours."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.tools.source import ToolPicture

if TYPE_CHECKING:
    import mcp_types as types


_MOST_PICTURES = 20


@dataclass
class HttpNotes:
    """What a server said by HTTP, beside the protocol."""

    failure: str = ""
    """Its last refusal, or the bound that its last answer passed; empty after a good answer."""

    status: int = 0
    """The status of its last answer; 0 before there is one."""


class ServerRefusal(Exception):  # noqa: N818 - an answer, not a failure of ours
    """The server answered a request with a protocol error."""

    def __init__(self, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.message = message
        """The server's words."""
        self.data = data
        """What it sent along."""


class ConnectionLost(Exception):  # noqa: N818 - names the state
    """The server went away before it answered."""


@dataclass(frozen=True, slots=True)
class CallResult:
    """What a server answered to a call."""

    text: str
    """The content as text; anything but text is described in square brackets."""

    is_error: bool = False
    """Whether the tool says that it failed."""

    structured: Json = None
    """Structured content, where the server sent some."""

    meta: JsonObject = field(default_factory=dict)
    """The result's `_meta`."""

    pictures: tuple[ToolPicture, ...] = ()
    """Its pictures and audio."""


def is_old_task(tool: types.Tool, version: str) -> bool:
    """Whether a tool can only be called as a task of the protocol that had tasks of its own."""
    if version != "2025-11-25" or tool.execution is None:
        return False
    return tool.execution.task_support == "required"


def listed_tool(tool: types.Tool, source: str) -> ToolSpec:
    """A tool of the SDK as ours; one that does not say that it only reads may have effects."""
    hint = tool.annotations.read_only_hint if tool.annotations else None
    return ToolSpec(
        tool.name,
        tool.description or "",
        tool.input_schema,
        kind="mcp",
        returns=tool.output_schema or {},
        source=source,
        # MCP: a tool that does not say that it only reads may change something.
        has_effects=not hint,
        reads_only=hint is True,
    )


def block_pictures(blocks: Iterable[object]) -> tuple[ToolPicture, ...]:
    """The pictures and the audio among blocks of content, at most a few."""
    found = []
    for block in blocks:
        if getattr(block, "type", "") == "text":
            continue  # a model of pydantic is slow to say what it does not have
        inner = getattr(block, "resource", None) or block
        data = getattr(inner, "data", None) or getattr(inner, "blob", None)
        kind = getattr(inner, "mime_type", None) or ""
        if isinstance(data, str) and kind.startswith(("image/", "audio/", "application/pdf")):
            found.append(ToolPicture(kind, data))
    return tuple(found[:_MOST_PICTURES])


def block_text(block: object) -> str:
    """A block of content as text; anything but text is described in square brackets."""
    text = getattr(block, "text", None)
    if isinstance(text, str):
        return text
    kind = getattr(block, "type", "content")
    resource = getattr(block, "resource", None)
    inner = resource or block
    mime = getattr(inner, "mime_type", None) or "of unknown type"
    data = getattr(inner, "data", None) or getattr(inner, "blob", None)
    if resource is not None and isinstance(getattr(resource, "text", None), str):
        return str(resource.text)
    size = f", {len(data) * 3 // 4:,} bytes" if isinstance(data, str) else ""
    place = getattr(block, "uri", None) or getattr(resource, "uri", None)
    return f"[{kind} {mime}{size}{f' {place}' if place else ''}]"
