"""The seam between the machine and the three ways a prompt and a model speak about tools."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Protocol

from studio.core.agent.values.reading import Reading
from studio.core.agent.values.state import RunState
from studio.core.models.base import ProtocolName
from studio.core.prompty.messages import Message
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json
from studio.core.wire.reply import Reply


@dataclass(frozen=True)
class ReadRules:
    """What reading a reply depends on besides its text."""

    tools: tuple[ToolSpec, ...] = ()
    """The tools offered; a tool with one parameter may take a bare value."""

    final_words: tuple[str, ...] = ()
    """Further words that end a JSON-action run."""

    plain_is_final: bool = False
    """Whether a reply without any label counts as the answer."""

    free_text: bool = False
    """Whether the prompt teaches `Action Input:` with free text (the older ReAct dialect)."""

    answer_labels: tuple[str, ...] = ()
    """Further labels that end a ReAct run, without colon ("Answer", "AI")."""

    def tool(self, name: str) -> ToolSpec | None:
        """The tool of that exact name."""
        return next((tool for tool in self.tools if tool.name == name), None)


class LoopProtocol(Protocol):
    """One way of asking for tools and of reading a reply. Stateless."""

    @property
    def name(self) -> ProtocolName:
        """Its name."""
        ...

    @property
    def rerenders(self) -> bool:
        """Whether the template is rendered again for every step."""
        ...

    def variables(self, state: RunState, looped: frozenset[str]) -> dict[str, Json]:
        """What the template is given besides the user's inputs.

        Names in `looped` (those that the template loops over) are given as lists, others as text.
        """
        ...

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """What a reply says. Total, pure, bounded; the same for every chunking of the text."""
        ...

    def trailing(self, state: RunState) -> tuple[Message, ...]:
        """Messages that follow the rendered ones (bad replies with their errors, steering)."""
        ...


def only_parameter(tool: ToolSpec | None) -> str | None:
    """The name of a tool's one and only parameter (or of its only required one)."""
    if tool is None:
        return None
    properties = tool.parameters.get("properties")
    if not isinstance(properties, Mapping):
        return None
    if len(properties) == 1:
        return next(iter(properties))
    required = tool.parameters.get("required")
    if isinstance(required, list | tuple) and len(required) == 1:
        return str(required[0])
    return None


def takes_text(tool: ToolSpec | None) -> bool:
    """Whether a tool's only parameter is a string (or says nothing of its type)."""
    name = only_parameter(tool)
    if tool is None or name is None:
        return False
    properties = tool.parameters.get("properties")
    schema = properties.get(name) if isinstance(properties, Mapping) else None
    kind = schema.get("type") if isinstance(schema, Mapping) else None
    return kind in (None, "string")
