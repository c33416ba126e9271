"""Files that coding agents read, which are no prompt files: told by their names, as agents do."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal, TypeAlias

AgentFileKind: TypeAlias = Literal["skill", "prompt-file", "custom-agent", "agents", "dotprompt"]
"""What such a file is."""

TITLES: Mapping[AgentFileKind, str] = MappingProxyType(
    {
        "skill": "agent skill",
        "prompt-file": "VS Code prompt file",
        "custom-agent": "custom agent",
        "agents": "AGENTS.md",
        "dotprompt": "Dotprompt",
    }
)
"""What each is called."""


def agent_file_kind(path: Path | None) -> AgentFileKind | None:
    """What a file is by its name; None for any other."""
    name = path.name if path is not None else ""
    if name in ("SKILL.md", "skill.md"):
        return "skill"
    if name.endswith(".prompt.md"):
        return "prompt-file"
    if name.endswith(".agent.md"):
        return "custom-agent"
    if name == "AGENTS.md":
        return "agents"
    return "dotprompt" if name.endswith(".prompt") and name != ".prompt" else None
