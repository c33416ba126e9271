"""The seam between the machine and the three ways a prompt and a model speak about tools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Reading
from studio.core.models.base import PROTOCOLS, ProtocolName
from studio.core.prompty.messages import Message
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.naming import nearest
from studio.core.text.values import Json
from studio.core.wire.reply import Reply


@dataclass(frozen=True)
class ReadRules:
    """The rules for reading a reply."""

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
        """Return the variables of the template besides the user's inputs.

        Names in `looped` (those that the template loops over) are given as lists, others as text.
        """
        ...

    def read(self, reply: Reply, rules: ReadRules) -> Reading:
        """Read a reply. Total, pure, bounded; independent of how the text is split into chunks."""
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


# What the model is told when something went wrong; every text can be edited in its step.

INTERRUPTED = "The tool call was interrupted before a result was produced."
"""Result of a call that has none, so that the history stays legal for the provider."""

RAN_WITHOUT_RESULT = "The tool ran, but its result was lost."
"""Result of a call that the user knows to have run."""

SKIPPED = "The tool was not run."
"""Result of a call that the user took out."""


def format_feedback(protocol: ProtocolName, message: str) -> str:
    """The one-line observation after a reply that could not be read."""
    facts = PROTOCOLS[protocol]
    return f"{facts.result_label} Error: {message.rstrip('.')}. {facts.correction}".lstrip()


def unknown_tool(name: str, known: Sequence[str]) -> str:
    """The observation for a tool that does not exist."""
    if not known:
        return f"Error: {name} is not a valid tool; no tools are available."
    near = nearest(name, known)
    hint = f" Did you mean {near}?" if near else ""
    return f"Error: {name} is not a valid tool, try one of [{', '.join(known)}].{hint}"


def bad_call(problems: Sequence[str]) -> str:
    """The observation for arguments that cannot be used."""
    return "Error: " + "; ".join(problem.rstrip(".") for problem in problems) + "."


def rejected(reason: str) -> str:
    """The observation for a call that the user (or a rule) did not allow."""
    return (
        f"Error: The call was not allowed: {reason}"
        if reason
        else "Error: The call was not allowed."
    )
