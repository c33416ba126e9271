"""Choose the protocol of a prompt from its text, with the reason."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import get_args

from studio.core.agent.values.step import ReadingStyle
from studio.core.models.base import ProtocolName
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.loop_format import agent_settings, text_format

_LOOPED = re.compile(
    r"\{%-?\s*for\s+[\w\s,]+?\s+in\s+(?P<jinja>\w+)|\{\{[#^]\s*(?P<mustache>\w+)\s*\}\}"
    r"|\{[{%][^{}%]*?\b(?P<indexed>tools)\s*(?:\[|\.\d)"
)


@dataclass(frozen=True, slots=True)
class ProtocolChoice:
    """A protocol and why."""

    protocol: ProtocolName
    """The protocol."""

    reason: str
    """Reason, for people: "the template uses agent_scratchpad"."""


def choose_protocol(document: PromptDocument, wanted: ProtocolName | None = None) -> ProtocolChoice:
    """Choose the protocol of a prompt: what its settings say, else what its body shows.

    Args:
        document: the prompt.
        wanted: what the user chose in its place.
    """
    choice = _own_protocol(document)
    if wanted is None or wanted == choice.protocol:
        return choice
    return ProtocolChoice(wanted, "chosen for this run")


def _own_protocol(document: PromptDocument) -> ProtocolChoice:
    named = agent_settings(document).get("protocol")
    for name in get_args(ProtocolName):
        if named == name:
            return ProtocolChoice(name, "metadata.agent.protocol says so")
    taught, reason = text_format(document)
    if taught is not None:
        return ProtocolChoice(taught, reason)
    if document.tools:
        return ProtocolChoice("native", "the prompt declares tools and no scratchpad")
    return ProtocolChoice("native", "the prompt has no agent format")


def reading_style(document: PromptDocument) -> ReadingStyle:
    """Detect the format of replies that a prompt's body asks for."""
    body = document.source.slice(document.body)
    has_final = "Final Answer:" in body
    labels = tuple(
        word
        for word in ("Answer", "AI")
        if not has_final and re.search(rf"(?m)^\s*{word}:", body) and "Action" in body
    )
    teaches_text = "Action Input:" in body and not re.search(r"(?m)^\s*Args:", body)
    shows_json = re.search(r"Action Input:\s*(?:```\w*\s*)?\{", body) is not None
    looped = {
        found["jinja"] or found["mustache"] or found["indexed"] for found in _LOOPED.finditer(body)
    }
    return ReadingStyle(
        free_text=teaches_text and not shows_json, answer_labels=labels, looped=frozenset(looped)
    )
