"""Tools that a run may have and an export cannot know of, since nobody has asked their sources."""

from __future__ import annotations

from collections.abc import Iterator

from studio.core.export.target import ExportSource
from studio.core.prompty.messages import TextPart, ToolResultPart
from studio.core.prompty.reference_values import find_references
from studio.core.tools.document import McpServer, PythonFile, named_sources


def unread_tools(source: ExportSource) -> Iterator[str]:
    """Tools that a run may have and that nobody has asked their sources for."""
    if source.tools is not None:
        return
    declares = bool(source.document.tools) or bool(source.prepared.messages.tools)
    for item in named_sources(source.document):
        if isinstance(item, PythonFile) and not declares:
            yield (
                f"The functions of {item.path.name} are not among the tools: the file was not run "
                "to read them. Trust its folder, or declare the tools in the prompt."
            )
        elif isinstance(item, McpServer) and item.name not in {
            t.name for t in source.document.tools
        }:
            yield f"The tools of the MCP server {item.name} are left out: nobody asked it."


def unread_references(source: ExportSource) -> Iterator[str]:
    """References to variables that stay as they are written: an export holds no secret."""
    texts = [source.prepared.document.model.id]
    for message in source.prepared.messages.messages:
        texts += (
            part.text for part in message.parts if isinstance(part, TextPart | ToolResultPart)
        )
    found = [reference for text in texts for reference in find_references(text)]
    for name in dict.fromkeys(item.argument for item in found if item.protocol == "env"):
        yield (
            f"The reference ${{env:{name}}} stays as it is written: the values of variables are "
            "never put into an export."
        )
