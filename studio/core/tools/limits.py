"""How long a tool may take and how much it may say."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of one call; exceeding one is a named outcome, never a hang."""

    seconds: float = 30.0
    """Longest time of a call, counted from the moment its process is ready."""

    start_seconds: float = 30.0
    """Longest time for a process or server to become ready."""

    characters: int = 1_000_000
    """Longest answer that is kept; what is beyond is cut and said to be. How much of it the model
    gets is another rule (`output_rule`)."""

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
