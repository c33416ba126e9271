"""Breakpoints and exception filters as one value, and their display texts."""

from dataclasses import dataclass

from studio.application.words import marked, tr
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.options import USUAL_EXCEPTIONS, ExceptionFilter
from studio.core.agent.values.step import PausePoint

_PLACES: dict[PausePoint, str] = {
    PausePoint.BEFORE_REQUEST: marked("Before the model"),
    PausePoint.REPLY: marked("With the reply"),
    PausePoint.TOOL_CALL: marked("Before a tool"),
    PausePoint.OBSERVATION: marked("With a tool's result"),
    PausePoint.STEP_END: marked("At the end of an iteration"),
    PausePoint.ANSWER: marked("With the answer"),
    PausePoint.ERROR: marked("On any problem"),
}
"""Display names of the pause points, in the order of one turn of the loop."""

_EXCEPTIONS: dict[ExceptionFilter, str] = {
    "format": marked("An invalid reply"),
    "truncated": marked("A reply that was cut off"),
    "warning": marked("Any warning"),
    "repeated_action": marked("The same call for the third time"),
    "unknown_tool": marked("A tool that does not exist"),
    "schema": marked("Arguments that do not match"),
    "tool": marked("A tool that fails"),
    "timeout": marked("A tool that takes too long"),
    "model": marked("A model that does not respond"),
    "render": marked("A prompt that cannot be rendered"),
    "guardrail": marked("A rule that blocks a call"),
    "output": marked("An answer that does not match the outputs"),
    "limit": marked("A limit that was reached"),
}
"""Display names of the exception filters."""


def place_name(place: PausePoint) -> str:
    """Return the display name of a pause point."""
    return tr(_PLACES[place])


def place_names() -> dict[PausePoint, str]:
    """Return the display names of all pause points, in the order of one turn of the loop."""
    return {place: tr(words) for place, words in _PLACES.items()}


def exception_names() -> dict[ExceptionFilter, str]:
    """Return the display names of all exception filters."""
    return {name: tr(words) for name, words in _EXCEPTIONS.items()}


@dataclass(frozen=True, slots=True)
class BreakpointSet:
    """The breakpoints and exception filters of a run."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """The breakpoints, in the order of their creation."""

    exceptions: frozenset[ExceptionFilter] = USUAL_EXCEPTIONS
    """Exceptions at which a run pauses."""

    @property
    def places(self) -> frozenset[PausePoint]:
        """Pause points with an enabled plain breakpoint, which the diagram marks."""
        return frozenset(
            place
            for item in self.breakpoints
            if item.enabled and not (item.log or item.message or item.tool)
            for place in item.places
        )

    @property
    def tools(self) -> frozenset[str]:
        """Tools with an enabled breakpoint of their own, whose calls are marked."""
        return frozenset(
            item.tool for item in self.breakpoints if item.enabled and not item.log and item.tool
        )

    @property
    def log_places(self) -> frozenset[PausePoint]:
        """Pause points with an enabled log point, which have another mark in the diagram."""
        return frozenset(
            place for item in self.breakpoints if item.enabled and item.log for place in item.places
        )


NO_BREAKPOINTS = BreakpointSet()
"""No breakpoints; the default exceptions."""


def describe(item: Breakpoint) -> str:
    """Return a breakpoint as text: `Before a tool · lookup · when iteration > 2`."""
    parts = [place_name(place) for place in sorted(item.places)]
    if item.message:
        role, _, number = item.message.partition(" ")
        parts.append(f"message {role}" + (f" (no. {number})" if number not in ("", "1") else ""))
    if item.tool:
        parts.append(item.tool if parts else tr("Before a tool · {tool}").format(tool=item.tool))
    if not parts:
        parts.append(tr("Anywhere"))
    if item.condition:
        parts.append(f"when {item.condition}")
    if item.hits:
        parts.append(tr("hit count {hits}").format(hits=item.hits))
    if item.log:
        parts.append(tr("logs “{log}”, does not stop").format(log=item.log))
    return " · ".join(parts)
