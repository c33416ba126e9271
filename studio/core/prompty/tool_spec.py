"""What a tool is, to the model and to the user."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.text.span import Span
from studio.core.text.values import JsonObject

ToolKind: TypeAlias = Literal["function", "mcp", "openapi", "custom"]
"""How a document declares it."""


@dataclass(frozen=True, slots=True)
class ToolId:
    """Which tool this is: its source, and its name there. Two sources may use the same name."""

    source: str = ""
    """Key of the source that runs it ("mcp:weather"); empty where nothing does."""

    name: str = ""
    """Its name at that source, which providers may refuse."""


@dataclass(frozen=True, slots=True)
class ToolSpec:
    """A tool as the model is informed of it."""

    name: str
    """The name by which the model calls it; unique in a run."""

    description: str = ""
    """What it does, for the model."""

    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of the arguments, always an object schema, bound parameters left out."""

    kind: ToolKind = "function"
    """How it was declared."""

    source: str = "document"
    """Where it comes from, for people: "document", "tools.py", "mcp: weather"."""

    strict: bool = False
    """Whether the provider is asked to enforce the schema."""

    bindings: Mapping[str, str] = field(default_factory=dict)
    """Parameter name → name of the input whose value is put in at the call."""

    has_effects: bool = False
    """Whether calling it changes something outside; such calls are never repeated unasked."""

    reads_only: bool = False
    """Whether its author says that calling it changes nothing. A tool of which neither is said is
    unknown, and asks the first time."""

    dynamic: bool = False
    """Whether an input's value went into the declaration; such a tool asks for approval."""

    options: JsonObject = field(default_factory=dict)
    """Settings for the program that runs it, as the document has them; a model is not told."""

    returns: JsonObject = field(default_factory=dict)
    """JSON schema of the answer, where its source says one; empty otherwise."""

    span: Span | None = None
    """Where the document declares it."""

    id: ToolId = ToolId()
    """Which tool of which source it is; empty for a declaration that nothing runs."""
