"""Which names of tools a provider takes; a server's or description's own names may be refused."""

from __future__ import annotations

import re
from typing import Literal, assert_never

# The providers' references of their APIs: `tools[].function.name`, `tools[].name`.
_OPENAI = re.compile(r"[A-Za-z0-9_-]{1,64}")
_ANTHROPIC = re.compile(r"[A-Za-z0-9_-]{1,128}")


def name_refusal(
    name: str, provider: Literal["openai-chat", "openai-responses", "anthropic"]
) -> str:
    """Why a provider refuses a tool of that name, one sentence; empty where it takes it."""
    match provider:
        case "openai-chat" | "openai-responses":
            who, rule, most = "OpenAI", _OPENAI, 64
        case "anthropic":
            who, rule, most = "Anthropic", _ANTHROPIC, 128
        case _:
            assert_never(provider)
    if rule.fullmatch(name):
        return ""
    return (
        f"{who} refuses the name {name!r}: letters, digits, _ and - only, at most {most} of them."
    )
