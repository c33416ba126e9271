"""Common arguments and results of the tools, and their descriptions for clients."""

# The annotations are values: the SDK makes the schemas of them.

from typing import Annotated, Any, TypeAlias

from mcp_types import ToolAnnotations
from pydantic import Field

from studio.core.wire.request import Provider

Answer: TypeAlias = dict[str, Any]
"""Answer of a tool: a JSON object."""

File: TypeAlias = Annotated[str, Field(description="A prompt file, relative to the served folder")]
UnsavedText: TypeAlias = Annotated[
    str | None, Field(description="Look at this text in the file's place; it is not saved")
]
Inputs: TypeAlias = Annotated[
    dict[str, Any] | None, Field(description="Values of the prompt's inputs, by name")
]
BodyForm: TypeAlias = Annotated[
    Provider | None, Field(description="Whose form of the body; the prompt's own otherwise")
]

READS = ToolAnnotations(read_only_hint=True, open_world_hint=False)
"""Hints of tools that change nothing and reach nothing outside."""

WRITES = ToolAnnotations(read_only_hint=False, destructive_hint=True, open_world_hint=False)
"""For tools that may write a file of the folder."""
