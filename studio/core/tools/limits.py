"""Limits of a tool's time and output."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, get_args

from studio.core.text.values import Json
from studio.core.tools.source import ToolOutcome


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of one call; exceeding one is a named outcome, never a hang."""

    seconds: float = 30.0
    """Longest time of a call, counted from the moment its process is ready."""

    start_seconds: float = 30.0
    """Longest time for a process or server to become ready."""

    characters: int = 1_000_000
    """Longest answer that is kept; the rest is cut with a remark. The part that the model gets
    is another rule (`output_rule`)."""

    memory_megabytes: int = 8192
    """Address space of a Python file's process and of each that it starts, where the system has
    such a bound (Linux)."""

    resident_megabytes: int = 4096
    """Memory that an MCP server may hold together with what it started."""

    answer_megabytes: float = 32.0
    """One answer of an MCP server, or one event of it, as it comes over the wire."""

    at_once: int = 4
    """Calls of one Python file that may run at the same time, each in a process of its own."""


DEFAULT_LIMITS = ToolLimits()


# How much of a tool's answer the model gets; the whole answer is kept beside it.

Keep: TypeAlias = Literal["head", "tail", "both"]
"""Which part of a long answer the model gets: its beginning, its end, or half of each."""

_LEAST, _MOST = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class OutputRule:
    """The rule for a long answer."""

    characters: int = 100_000
    """Most characters that the model gets of one answer."""

    keep: Keep = "head"
    """Which of them."""


USUAL_RULE = OutputRule()


def read_rule(value: Json) -> OutputRule:
    """The rule of a prompt's `metadata.agent.tool_output`: a number, or characters and keep.

    What is no usable number or part is as usual.
    """
    if not isinstance(value, Mapping):
        value = {"characters": value}
    count, keep = value.get("characters"), value.get("keep")
    rule = USUAL_RULE
    if isinstance(count, int) and not isinstance(count, bool) and _LEAST <= count <= _MOST:
        rule = replace(rule, characters=count)
    part: Keep | None = next((each for each in get_args(Keep) if each == keep), None)
    return replace(rule, keep=part) if part is not None else rule


def limited(outcome: ToolOutcome, rule: OutputRule) -> ToolOutcome:
    """An outcome with what the model gets as its text, and the whole answer beside it."""
    text, most = outcome.text, rule.characters
    if len(text) <= most:
        return outcome
    note = f"… cut: {len(text):,} characters, the limit is {most:,}"
    match rule.keep:
        case "head":
            cut = f"{text[:most]}\n{note}"
        case "tail":
            cut = f"{note}\n{text[-most:]}"
        case "both":
            half = most // 2
            cut = f"{text[: most - half]}\n{note}\n{text[-half:]}"
    return replace(outcome, text=cut, truncated=True, whole=text)
