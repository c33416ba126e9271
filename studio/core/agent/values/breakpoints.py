"""Breakpoints: places at which a run pauses or writes a line, with conditions."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

from studio.core.agent.values.expressions import (
    Environment,
    ExpressionError,
    check_message,
    environment_of,
    fill,
    parse_expression,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.prompty.document import named_messages
from studio.core.prompty.parse import parse

HERE = "here"
"""Id of the breakpoint that is met once: the place that the user wants to run to."""


@dataclass(frozen=True, slots=True)
class Breakpoint:
    """One breakpoint. All of what it names must hold."""

    id: str
    """Stable identifier."""

    places: frozenset[PausePoint] = frozenset()
    """Place; empty means everywhere that fits (for a tool: `TOOL_CALL`)."""

    tool: str = ""
    """Only for calls of this tool."""

    condition: str = ""
    """Only where this expression holds."""

    hits: str = ""
    """Hit count, counted where everything else holds: "3" (the third), ">=3", "%2" (every
    second); empty for every time."""

    log: str = ""
    """A log point: writes this line, with `{expression}` filled in, and does not stop."""

    enabled: bool = True
    """Whether it counts."""

    message: str = ""
    """Only for requests with this message of the template, newly rendered: its role and which of
    that role it is, as in `user 2`."""


@dataclass(frozen=True, slots=True)
class Hit:
    """The breakpoints that are hit at a place."""

    stops: tuple[str, ...] = ()
    """Ids of those that stop the run."""

    logs: tuple[tuple[str, str], ...] = ()
    """(id, line) of the log points."""


@dataclass
class HitCounter:
    """Counts how often each breakpoint was met in a run."""

    counts: dict[str, int] = field(default_factory=dict)
    """By id."""

    def look(
        self,
        breakpoints: Iterable[Breakpoint],
        state: RunState,
        rendered: Container[int] = frozenset(),
    ) -> Hit:
        """Return the breakpoints that are hit at the state's place, and count the hits.

        Args:
            breakpoints: all of them.
            state: the run.
            rendered: the places of the role markers whose messages were just rendered.
        """
        stops: list[str] = []
        logs: list[tuple[str, str]] = []
        environment = environment_of(state)
        for item in breakpoints:
            if not item.enabled or not _fits(item, state, environment, rendered):
                continue
            try:
                met = not item.condition or parse_expression(item.condition).holds(environment)
                line = fill(item.log, environment) if met and item.log else ""
            except ExpressionError as error:
                # A broken condition must not be a breakpoint that silently never stops.
                met, line = True, f"{item.condition or item.log!r}: {error}"
                logs.append((item.id, line))
            if not met:
                continue
            self.counts[item.id] = self.counts.get(item.id, 0) + 1
            if not _count_fits(item.hits, self.counts[item.id]):
                continue
            if item.log:
                logs.append((item.id, line))
            else:
                stops.append(item.id)
        return Hit(tuple(stops), tuple(logs))


def _fits(
    item: Breakpoint, state: RunState, environment: Environment, rendered: Container[int]
) -> bool:
    places = item.places or (frozenset({PausePoint.TOOL_CALL}) if item.tool else frozenset())
    if places and state.place not in places:
        return False
    if item.message:
        setup = state.setup
        if _markers(setup.source, setup.path).get(item.message) not in rendered:
            return False
    if item.tool:
        return environment["tool"] == item.tool
    return True


@lru_cache(maxsize=8)
def _markers(source: str, path: str) -> dict[str, int]:
    return {
        name: section.marker.start
        for name, section in named_messages(parse(source, Path(path) if path else None))
        if section.marker is not None
    }


def _count_fits(hits: str, count: int) -> bool:
    text = hits.strip()
    number = text.lstrip("<>=% ")
    if not text or not number.isdigit():
        return True
    wanted = int(number)
    match text[: len(text) - len(number)].strip():
        case ">=":
            return count >= wanted
        case ">":
            return count > wanted
        case "<=":
            return count <= wanted
        case "<":
            return count < wanted
        case "%":
            return wanted > 0 and count % wanted == 0
        case _:
            return count == wanted


def problem_of(item: Breakpoint, tools: Iterable[str]) -> str:
    """Return why a breakpoint can never be met as it is written; empty if it can."""
    if item.tool and item.tool not in set(tools):
        return f"there is no tool {item.tool!r}"
    try:
        if item.condition:
            parse_expression(item.condition)
        if item.log:
            check_message(item.log)
    except ExpressionError as error:
        return str(error)
    return ""
