"""The person's breakpoints and exception filters, kept between runs."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import partial

from PySide6.QtCore import QCoreApplication, QObject, Signal

from studio.application.words import marked
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.options import USUAL_EXCEPTIONS, ExceptionFilter
from studio.core.agent.values.state import Place
from studio.core.prompty.document import PromptDocument

_tr = partial(QCoreApplication.translate, "RunBreakpoints")

_PLACES: dict[Place, str] = {
    "P1": marked("Before the model"), "P2": marked("With the reply"), "P3": marked("Before a tool"),
    "P4": marked("With a tool's result"), "P5": marked("At the end of an iteration"),
    "P6": marked("With the answer"), "PX": marked("At any problem"),
}  # fmt: skip
"""Names of the places for people, in the order of one turn of the loop."""

_EXCEPTIONS: dict[ExceptionFilter, str] = {
    "format": marked("A reply that cannot be read"),
    "truncated": marked("A reply that was cut off"),
    "warning": marked("Any warning"),
    "repeated_action": marked("The same call for the third time"),
    "unknown_tool": marked("A tool that does not exist"),
    "schema": marked("Arguments that do not fit"),
    "tool": marked("A tool that fails"),
    "timeout": marked("A tool that takes too long"),
    "model": marked("A model that does not answer"),
    "render": marked("A prompt that cannot be rendered"),
    "guardrail": marked("A rule that says no"),
    "output": marked("An answer that does not fit the outputs"),
    "limit": marked("A limit that is reached"),
}
"""Names of the exception filters for people."""


def place_name(place: Place) -> str:
    """A place in words."""
    return _tr(_PLACES[place])


def place_names() -> dict[Place, str]:
    """All places in words, in the order of one turn of the loop."""
    return {place: _tr(words) for place, words in _PLACES.items()}


def exception_names() -> dict[ExceptionFilter, str]:
    """All exception filters in words."""
    return {name: _tr(words) for name, words in _EXCEPTIONS.items()}


@dataclass(frozen=True, slots=True)
class BreakpointSet:
    """All of it, as one value."""

    breakpoints: tuple[Breakpoint, ...] = ()
    """In the order they were made."""

    exceptions: frozenset[ExceptionFilter] = USUAL_EXCEPTIONS
    """What a run stops at by itself."""

    @property
    def places(self) -> frozenset[Place]:
        """Places with a plain breakpoint that is on: the diagram marks them."""
        return frozenset(
            place
            for item in self.breakpoints
            if item.enabled and not item.log and not item.message
            for place in item.places
        )


def describe(item: Breakpoint) -> str:
    """A breakpoint in words: `Before a tool · lookup · when iteration > 2`."""
    parts = [place_name(place) for place in sorted(item.places)]
    if item.message:
        role, _, number = item.message.partition(" ")
        parts.append(f"message {role}" + (f" (no. {number})" if number not in ("", "1") else ""))
    if item.tool:
        parts.append(item.tool if parts else _tr("Before a tool · {tool}").format(tool=item.tool))
    if not parts:
        parts.append(_tr("Anywhere"))
    if item.condition:
        parts.append(f"when {item.condition}")
    if item.hits:
        parts.append(_tr("hit count {hits}").format(hits=item.hits))
    if item.log:
        parts.append(_tr("logs “{log}”, does not stop").format(log=item.log))
    return " · ".join(parts)


class BreakpointBook(QObject):
    """Holds the set of one file and changes it; a run under way is told through `changed`."""

    changed = Signal(object)  # BreakpointSet

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._set = BreakpointSet()
        self._file: str | None = None
        self._made = 0

    @property
    def value(self) -> BreakpointSet:
        """The set."""
        return self._set

    @property
    def file(self) -> str | None:
        """The file that the set is for: empty for a prompt that was never saved, None for any."""
        return self._file

    def open_file(self, file: str, value: BreakpointSet) -> None:
        """Hold the set of another file from now on."""
        self._file = file
        named = tuple(replace(item, id=self._next()) for item in value.breakpoints)
        self._take(replace(value, breakpoints=named))

    def belongs_to(self, document: PromptDocument) -> bool:
        """Whether the set is for this prompt."""
        path = document.source.path
        return self._file is None or self._file == (str(path) if path is not None else "")

    def toggle_message(self, message: str) -> None:
        """Set or remove the plain breakpoint of a message: `user 2` is the second of that role."""
        self._toggle(Breakpoint("", frozenset({"P1"}), message=message))

    def toggle_place(self, place: Place) -> None:
        """Set or remove the plain breakpoint of a place."""
        self._toggle(Breakpoint("", frozenset({place})))

    def toggle_tool(self, tool: str) -> None:
        """Set or remove the plain breakpoint of a tool."""
        self._toggle(Breakpoint("", tool=tool))

    def _toggle(self, plain: Breakpoint) -> None:
        same = [
            item for item in self._set.breakpoints if replace(item, id="", enabled=True) == plain
        ]
        if same:
            self.remove(same[0].id)
        else:
            self.add(plain)

    def _next(self) -> str:
        self._made += 1
        return f"b{self._made}"

    def add(self, item: Breakpoint) -> str:
        """Add one; gives the id that it got."""
        named = replace(item, id=self._next())
        self._take(replace(self._set, breakpoints=(*self._set.breakpoints, named)))
        return named.id

    def change(self, item: Breakpoint) -> None:
        """Put a changed one in the place of the one with its id."""
        items = tuple(item if old.id == item.id else old for old in self._set.breakpoints)
        self._take(replace(self._set, breakpoints=items))

    def remove(self, identifier: str) -> None:
        """Remove one."""
        items = tuple(item for item in self._set.breakpoints if item.id != identifier)
        self._take(replace(self._set, breakpoints=items))

    def set_exceptions(self, exceptions: Iterable[ExceptionFilter]) -> None:
        """Say what a run stops at by itself."""
        self._take(replace(self._set, exceptions=frozenset(exceptions)))

    def _take(self, value: BreakpointSet) -> None:
        if value != self._set:
            self._set = value
            self.changed.emit(value)
