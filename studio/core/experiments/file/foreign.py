"""What promptfoo has and nothing here does: named where it stands, so that nothing is sent without.

Source: promptfoo 0.123, configuration reference and "Assertions and metrics".
"""

from __future__ import annotations

import re
from typing import Literal, TypeAlias

from studio.core.resource_files import resource_table

ForeignPlace: TypeAlias = Literal["experiment", "test", "options", "prompt", "provider", "config"]
"""The mapping that a key stands in."""

FOREIGN_KEYS = resource_table("words", "promptfoo.txt")
"""Keys by where they stand, each with what to do instead."""

FOREIGN_TYPES = tuple(
    """
    agent-rubric answer-relevance classifier contains-sql context-faithfulness context-recall
    context-relevance conversation-relevance guardrails human is-html is-sql
    is-valid-function-call is-valid-video max-score meteor moderation perplexity perplexity-score
    pi ruby search-rubric select-best skill-used trace-span-duration trajectory:goal-success
    video-rubric webhook
""".split()
)
"""Types of assertions that are not decided here."""

FOREIGN_PROVIDERS = tuple(
    """
    file:// python: http: https: exec: webhook: ws: wss: package: promptfoo: browser golang: ruby:
    mcp: sequence
""".split()
)
"""How providers begin that run code of their own."""

_REDTEAM = "promptfoo:redteam:"
_FOREIGN_PROMPT = re.compile(
    r"(?:langfuse|portkey|helicone)://\S+|(?:exec|python|package):\S+"
    r"|(?:file://)?[\w./-]+\.(?:py|js|mjs|cjs|ts|mts|cts|sh|rb|go|exe|bat|csv|jsonl)(?::\w+)?"
)
_FOREIGN_CODE = re.compile(r"file://.+\.(?:ts|mts|cts|rb|go)(?::\w+)?\s*")


def foreign_words(place: ForeignPlace, name: str) -> str:
    """The refusal of a key, with what to do."""
    where = f"{place}.{name}" if place in ("options", "config") else name
    return f"`{where}` is not followed here: {FOREIGN_KEYS[place][name]}."


def foreign_type(name: str) -> str:
    """The refusal of a type of assertion; empty for one that is not promptfoo's alone."""
    if name not in FOREIGN_TYPES and not name.startswith(_REDTEAM):
        return ""
    return (
        f"Assertions of type {name!r} are not run here: remove it, or ask the same with "
        "`javascript`, `python` or `llm-rubric`."
    )


def foreign_prompt(written: str) -> str:
    """The refusal of a prompt that a program or a service makes; empty for any other."""
    if _FOREIGN_PROMPT.fullmatch(written.strip()) is None:
        return ""
    return (
        f"The prompt {written!r} is made by a program or a service, or is a list of prompts, which "
        "is not read here: write it as a text or a file of text."
    )


def foreign_code(value: object) -> str:
    """The refusal of an assertion's code in a language that is not run; empty for any other."""
    if not isinstance(value, str) or _FOREIGN_CODE.fullmatch(value) is None:
        return ""
    return f"{value!r} is not run here: write it as JavaScript or Python."
