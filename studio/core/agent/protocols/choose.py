"""Which protocol a prompt speaks, told from the prompt itself and shown with the reason."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import get_args

from studio.core.agent.values.state import ReadingStyle
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.text.values import Json

_LOOPED = re.compile(
    r"\{%-?\s*for\s+[\w\s,]+?\s+in\s+(?P<jinja>\w+)|\{\{[#^]\s*(?P<mustache>\w+)\s*\}\}"
)


@dataclass(frozen=True, slots=True)
class ProtocolChoice:
    """A protocol and why."""

    protocol: ProtocolName
    """The protocol."""

    reason: str
    """Why, for people: "the template uses agent_scratchpad"."""


def choose_protocol(document: PromptDocument) -> ProtocolChoice:
    """The protocol of a prompt: what `metadata.agent.protocol` says, else what its body shows."""
    named = agent_settings(document).get("protocol")
    for name in get_args(ProtocolName):
        if named == name:
            return ProtocolChoice(name, "metadata.agent.protocol says so")
    body = document.source.slice(document.body)
    names = {variable.name for variable in document.variables}
    if "action_input" in body or '"action"' in body:
        used = next((name for name in ("agent_scratchpad", "tool_names") if name in names), None)
        if used is not None:
            return ProtocolChoice(
                "json_action", f"the template uses {used} and asks for JSON actions"
            )
    if "history" in names and re.search(r"\.\s*action\b", body):
        return ProtocolChoice("react", "the template lists the history of actions")
    if re.search(r"Final Answer:", body) and re.search(r"(?m)^\s*(?:Action|Thought):", body):
        return ProtocolChoice("react", "the prompt teaches 'Action:' and 'Final Answer:'")
    if "agent_scratchpad" in names:
        return ProtocolChoice("json_action", "the template uses agent_scratchpad")
    if document.tools:
        return ProtocolChoice("native", "the prompt declares tools and no scratchpad")
    return ProtocolChoice("native", "the prompt has no agent format")


def agent_settings(document: PromptDocument) -> Mapping[str, Json]:
    """`metadata.agent`, empty where there is none."""
    settings = document.metadata.get("agent")
    return settings if isinstance(settings, Mapping) else {}


def reading_style(document: PromptDocument) -> ReadingStyle:
    """What a prompt's body teaches about the format of replies."""
    body = document.source.slice(document.body)
    has_final = "Final Answer:" in body
    labels = tuple(
        word
        for word in ("Answer", "AI")
        if not has_final and re.search(rf"(?m)^\s*{word}:", body) and "Action" in body
    )
    teaches_text = "Action Input:" in body and not re.search(r"(?m)^\s*Args:", body)
    shows_json = re.search(r"Action Input:\s*(?:```\w*\s*)?\{", body) is not None
    looped = {found["jinja"] or found["mustache"] for found in _LOOPED.finditer(body)}
    return ReadingStyle(
        free_text=teaches_text and not shows_json,
        answer_labels=labels,
        looped=frozenset(looped),
    )
