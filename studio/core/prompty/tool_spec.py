"""The description of a tool, for the model and the user.

Example actions of tools, made of their schemas: what `{examples}` stands for.

The program that published the instructions prompt fills the placeholder with example actions of its
tools; a value of the user counts over these.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypeAlias

from studio.core.text.source import Span
from studio.core.text.values import Json, JsonObject

ToolKind: TypeAlias = Literal["function", "mcp", "openapi", "custom"]
"""Kind of a tool's declaration."""


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
    """Description of the tool, for the model."""

    parameters: JsonObject = field(default_factory=lambda: {"type": "object", "properties": {}})
    """JSON schema of the arguments, always an object schema, bound parameters left out."""

    kind: ToolKind = "function"
    """Kind of the declaration."""

    source: str = "document"
    """Source of the tool, for people: "document", "tools.py", "mcp: weather"."""

    strict: bool = False
    """Whether the provider is asked to enforce the schema."""

    bindings: Mapping[str, str] = field(default_factory=dict)
    """Parameter name → name of the input whose value is put in at the call."""

    has_effects: bool = False
    """Whether calling it changes something outside; such calls are never repeated unasked."""

    reads_only: bool = False
    """Whether its author declares that calling it changes nothing. A tool without a declaration
    is unknown, and asks the first time."""

    dynamic: bool = False
    """Whether an input's value went into the declaration; such a tool asks for approval."""

    options: JsonObject = field(default_factory=dict)
    """Settings for the program that runs it, as in the document; not sent to a model."""

    returns: JsonObject = field(default_factory=dict)
    """JSON schema of the answer, where its source says one; empty otherwise."""

    instructions: str = ""
    """Instructions of its server for all its tools, for `server_instructions` of a template."""

    span: Span | None = None
    """Place of the declaration in the document."""

    id: ToolId = ToolId()
    """Which tool of which source it is; empty for a declaration that nothing runs."""


MOST_EXAMPLES = 8
"""Tools that get an example; more would crowd out the prompt."""

_DEEPEST = 4
_BY_TYPE: Mapping[str, Json] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}


def example_actions(tools: Sequence[ToolSpec]) -> str:
    """One fenced JSON action for each tool; empty where there are none."""
    if not tools:
        return ""
    blocks = ["## Examples of actions"]
    for tool in tools[:MOST_EXAMPLES]:
        action: Json = {"action": tool.name, "action_input": example_of(tool.parameters) or None}
        blocks.append(f"```json\n{json.dumps(action, ensure_ascii=False, indent=4)}\n```")
    return "\n".join(blocks)


def example_of(schema: Json, depth: int = 0) -> Json:
    """A value that fits a JSON schema: its own example or default, else one of its type."""
    if not isinstance(schema, Mapping) or depth > _DEEPEST:
        return None
    listed: Json
    for key in ("examples", "enum"):
        listed = schema.get(key)
        if isinstance(listed, list) and listed:
            first: Json = listed[0]
            return first
    for key in ("example", "const", "default"):
        if schema.get(key) is not None:
            given: Json = schema[key]
            return given
    for key in ("anyOf", "oneOf"):
        forms = schema.get(key)
        if isinstance(forms, list) and forms:
            return example_of(forms[0], depth + 1)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = kind[0] if kind else None
    properties = schema.get("properties")
    if kind == "object" or isinstance(properties, Mapping):
        return _object(schema, properties, depth)
    if kind == "array":
        item = example_of(schema.get("items"), depth + 1)
        return [] if item is None else [item]
    return _BY_TYPE.get(kind, "text") if isinstance(kind, str) else "text"


def _object(schema: Mapping[str, Json], properties: Json, depth: int) -> Json:
    """The required properties; where none is, the first one, so that the form is seen."""
    if not isinstance(properties, Mapping):
        return {}
    required = schema.get("required")
    names = [name for name in properties if isinstance(required, list) and name in required]
    return {name: example_of(properties[name], depth + 1) for name in names or list(properties)[:1]}
