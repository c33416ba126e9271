"""Which tool a test means by the name that the model calls it by."""

from __future__ import annotations

from studio.core.prompty.document import ToolId
from studio.core.tools.registry import ToolRegistry


def tool_id(registry: ToolRegistry, name: str) -> ToolId:
    """Return the tool of a name; one that nothing has where there is none."""
    entry = registry.named(name)
    return entry.id if entry is not None else ToolId("", name)
