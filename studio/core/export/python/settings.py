"""Settings of a prompt as expressions of a script: stop sequences, tools."""

from __future__ import annotations

from studio.core.export.python_literal import python_literal
from studio.core.export.target import ExportSource
from studio.core.models.base import ProtocolName
from studio.core.prompty.loop_format import agent_settings
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject
from studio.core.wire.chat import function_definition

_STOP: dict[ProtocolName, list[Json]] = {"react": ["\nObservation:"]}


def chat_tool(tool: ToolSpec) -> JsonObject:
    """A tool as chat completions take it."""
    return {"type": "function", "function": function_definition(tool)}


def stops(source: ExportSource, protocol: ProtocolName) -> tuple[str, ...]:
    """Stop sequences: the prompt's own, otherwise the protocol's usual ones."""
    own = agent_settings(source.document).get("stop")
    given = own if isinstance(own, list) else [own] if own else _STOP.get(protocol, [])
    return tuple(item for item in given if isinstance(item, str))


def quoted(text: str) -> str:
    """A text as Python source."""
    return python_literal(text)
