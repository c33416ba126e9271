"""Which panes stand around the editor, as a value: no Qt, and no width but the window's own.

What the user wants (which panes are open, which side its key has closed, what has the window for
itself) is kept apart from what just is (a run has the column, an experiment is looked at, the
window is narrow). What is seen follows from both in one place, `WindowLayout.shown`; so what goes
away for a reason is back when the reason is gone, in whatever order reasons come and go.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum, auto

from studio.ui.window.pane_sizes import LEAST_HALF

NARROW = 1100
"""Below this width the right column takes the place of the editor, and goes back, by a key."""
VERY_NARROW = 1000
"""Below this width the side bar is its icons, until one is pressed."""
WIDE = 1440
"""Every pane has its room at this width."""

EDITOR = "editor"
"""What is maximized where no pane is."""
RUN = "run"
"""The pane that has the right column for itself while it is looked at."""
FIRST = ("files", "inputs", "preview")
"""The panes that stand at the first start."""


class PanePlace(Enum):
    """Where a pane stands."""

    LEFT = auto()
    """The side bar: one pane at a time."""
    COLUMN = auto()
    """The right, where inputs and preview stand while writing."""
    RUN = auto()
    """The right, while a run has it for itself."""
    BOTTOM = auto()
    """Below the editor: one pane at a time."""
    TOP = auto()
    """Above the editor: nothing, unless the user puts something there."""
    WINDOW = auto()
    """A window of its own."""


class AsideFor(Enum):
    """Why a place is empty although its panes are open."""

    WELCOME = auto()
    """The welcome page has nothing around it."""
    RUN = auto()
    """A run has the room."""
    WIDTH = auto()
    """The window, or what the halves of the editor leave of it, has no room."""
    EXPERIMENT = auto()
    """It has no inputs and no preview."""


RIGHT = frozenset({PanePlace.COLUMN, PanePlace.RUN})
"""What stands right of the editor, or in a narrow window in its place."""


@dataclass(frozen=True, slots=True)
class WindowLayout:
    """What the user wants around the editor, what stands in its way, and what is seen of it."""

    places: Mapping[str, PanePlace] = field(default_factory=dict)
    """Every pane of the window with its place; the right is `COLUMN` here, also for a run."""
    open: frozenset[str] = frozenset()
    """The panes that are open while writing: the layout that a later start brings back."""
    closed: frozenset[PanePlace] = frozenset()
    """The places that their key has closed; their panes stay open behind it."""
    asked: frozenset[PanePlace] = frozenset()
    """The places that the user wants to see although something puts them aside."""
    has_run: bool = False
    """Whether the run has the right column for itself."""
    maximized: str = ""
    """The pane, or `EDITOR`, that has the window for itself; empty: nothing."""
    is_prompt: bool = True
    """Whether a prompt is looked at, and not an experiment."""
    is_welcome: bool = False
    """Whether the welcome page stands with nothing around it."""
    width: int = WIDE
    """Of the window, in pixels."""
    halves: int = 1
    """How many editors stand beside each other."""

    # -- what is seen ---------------------------------------------------------------------------

    @property
    def shown(self) -> frozenset[str]:
        """The panes that are there to be seen."""
        if self.maximized:
            own = self.open_in(PanePlace.WINDOW)
            return own | ({self.maximized} & self.places.keys())
        rooms = (self.open_in(place) for place in PanePlace if self._has_room(place))
        return frozenset().union(*rooms)

    @property
    def shows_center(self) -> bool:
        """Whether the editor, or what stands in its place, is there to be seen."""
        return self.maximized in ("", EDITOR) and not self.is_column_in_place

    @property
    def is_column_in_place(self) -> bool:
        """Whether the right column stands in the editor's place, in a narrow window."""
        if self.is_alone or not self.is_narrow:
            return False
        return any(self.open_in(place) for place in self.asked & RIGHT)

    @property
    def is_alone(self) -> bool:
        """Whether one part has the window for itself."""
        return bool(self.maximized) or self.is_welcome

    @property
    def is_narrow(self) -> bool:
        """Whether the editor and the right column have no room beside each other."""
        return self.width < NARROW

    def place_of(self, name: str) -> PanePlace:
        """Where a pane stands now."""
        place = self.places[name]
        is_run = name == RUN and self.has_run and place is PanePlace.COLUMN
        return PanePlace.RUN if is_run else place

    def shown_in(self, place: PanePlace) -> frozenset[str]:
        """The panes of a place that are there to be seen."""
        return frozenset(name for name in self.shown if self.place_of(name) is place)

    def aside(self, place: PanePlace) -> AsideFor | None:
        """Why a place is empty unless it is asked for; nothing where it has its room."""
        if place is PanePlace.WINDOW:
            return None
        if self.is_welcome:
            return AsideFor.WELCOME
        if place is PanePlace.LEFT:
            narrow = self.width < VERY_NARROW + (self.halves - 1) * LEAST_HALF
            return AsideFor.RUN if self.has_run else AsideFor.WIDTH if narrow else None
        if place not in RIGHT:
            return None
        if place is PanePlace.COLUMN and self.has_run:
            return AsideFor.RUN
        if self.is_narrow:
            return AsideFor.WIDTH
        is_column = place is PanePlace.COLUMN
        return AsideFor.EXPERIMENT if is_column and not self.is_prompt else None

    def open_in(self, place: PanePlace) -> frozenset[str]:
        """The panes that are open in a place, seen or not."""
        here = (name for name in self.places if self.place_of(name) is place)
        return frozenset(here if place is PanePlace.RUN else self.open.intersection(here))

    def _has_room(self, place: PanePlace) -> bool:
        if place is PanePlace.BOTTOM and self.is_column_in_place:
            return False  # it belongs below the text, and is no column of its own
        return place in self.asked if self.aside(place) else place not in self.closed
