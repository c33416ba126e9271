"""Prompts that the studio has word for word as they were published, and what is wrong in them."""

from __future__ import annotations

FINDINGS: dict[str, frozenset[str]] = {
    "prompt-section.prompty": frozenset({"text-below-thread"}),
    "react-agent-trustgraph.prompty": frozenset(
        {
            "all-required",
            "history-without-thought",
            "history-quoted",
            "history-not-json",
            "loop-without-tools",
        }
    ),
    "instructions-prompt-cheshire-cat.prompty": frozenset({"loop-without-tools"}),
    "react-agent.prompty": frozenset({"loop-without-tools"}),
    "json-action-agent.prompty": frozenset({"loop-without-tools"}),
    "legacy-chat.prompty": frozenset({"legacy-file"}),
}
"""Codes by the name of the file; a template waits for tools, and one of the old dialect says so."""
