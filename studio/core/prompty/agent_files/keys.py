"""The keys of agent files, as their makers publish them, and what may stand behind each.

Agent skills: agentskills.io/specification. Prompt files and custom agents: code.visualstudio.com
(agent customization) and docs.github.com (custom agents configuration). Dotprompt:
google.github.io/dotprompt/reference/frontmatter; Genkit adds three keys.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from studio.core.prompty.agent_files.kinds import AgentFileKind
from studio.core.text.values import Json


@dataclass(frozen=True, slots=True)
class KeyRule:
    """What may stand behind a key."""

    shapes: tuple[str, ...]
    """Of "text", "yes or no", "a number", "a list of texts", "a list", "a mapping"."""

    choices: tuple[str, ...] = ()
    """The words that it may be; empty for any."""

    needed: bool = False
    """Whether the file must have it."""

    longest: int = 0
    """Characters at most; 0 for any number."""

    instead: str = ""
    """What the maker wants written in its place; empty where it is not out of use."""


_TEXT = KeyRule(("text",))
_TEXTS = KeyRule(("a list of texts",))
_TEXT_OR_TEXTS = KeyRule(("text", "a list of texts"))
_BOOLEAN = KeyRule(("yes or no",))
_MAPPING = KeyRule(("a mapping",))

KEYS: Mapping[AgentFileKind, Mapping[str, KeyRule]] = MappingProxyType(
    {
        "skill": {
            "name": KeyRule(("text",), needed=True, longest=64),
            "description": KeyRule(("text",), needed=True, longest=1024),
            "license": _TEXT,
            "compatibility": KeyRule(("text",), longest=500),
            "metadata": _MAPPING,
            "allowed-tools": _TEXT_OR_TEXTS,
        },
        "prompt-file": {
            "name": _TEXT,
            "description": _TEXT,
            "argument-hint": _TEXT,
            "agent": _TEXT,
            "mode": KeyRule(("text",), instead="agent"),
            "model": _TEXT_OR_TEXTS,
            "tools": _TEXT_OR_TEXTS,
        },
        "custom-agent": {
            "name": _TEXT,
            "description": _TEXT,
            "argument-hint": _TEXT,
            "tools": _TEXT_OR_TEXTS,
            "agents": _TEXT_OR_TEXTS,
            "model": _TEXT_OR_TEXTS,
            "target": KeyRule(("text",), choices=("vscode", "github-copilot")),
            "user-invocable": _BOOLEAN,
            "disable-model-invocation": _BOOLEAN,
            "infer": KeyRule(("yes or no",), instead="disable-model-invocation"),
            "mcp-servers": KeyRule(("a mapping", "a list")),
            "handoffs": KeyRule(("a list",)),
            "hooks": _MAPPING,
            "metadata": _MAPPING,
        },
        "agents": {},
        "dotprompt": {
            "name": _TEXT,
            "description": _TEXT,
            "variant": _TEXT,
            "model": _TEXT,
            "tools": _TEXTS,
            "toolChoice": _TEXT,
            "returnToolRequests": _BOOLEAN,
            "maxTurns": KeyRule(("a number",)),
            "toolDefs": KeyRule(("a list",)),
            "config": _MAPPING,
            "input": _MAPPING,
            "output": _MAPPING,
            "metadata": _MAPPING,
        },
    }
)
"""By the kind of file; `AGENTS.md` is plain Markdown, and its readers know no key."""


def shape_of(value: Json) -> tuple[str, ...]:
    """What a value is, in the words of `KeyRule.shapes`."""
    if isinstance(value, bool):
        return ("yes or no",)
    if isinstance(value, int | float):
        return ("a number",)
    if isinstance(value, Mapping):
        return ("a mapping",)
    if isinstance(value, list | tuple):
        is_plain = all(isinstance(each, str) for each in value)
        return ("a list", "a list of texts") if is_plain else ("a list",)
    return ("text",) if isinstance(value, str) else ()
