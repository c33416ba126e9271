"""The panes around the editor, as a value: no Qt, and no width but the window's own.

What the user wants (which panes are open, which side its key has closed, what has the window for
itself) is kept apart from what just is (a run has the column, an experiment is looked at, the
window is narrow). What is seen follows from both in one place, `WindowLayout.shown`; so what goes
away for a reason is back when the reason is gone, in whatever order reasons come and go.

How wide and high panes are, in pixels: what the user gave them, within the window's room.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

LEAST_RUN = 560
"""Minimum width of the run, in pixels; its rows are cut at their ends before the editor is."""
LEAST_HALF = 320
"""Of an editor that is split: the side bar is its icons before a half is narrower than this."""
SIDE_WIDTH = 248
BOTTOM_HEIGHT = 200
_LEAST_EDITOR = 360
"""Beside a run and the side bar: a pane that comes takes its room from the run."""
_COLUMN_WIDTH, _COLUMN_WIDTH_SMALL = 440, 400
_WIDE = 1400
_RUN_SHARE = 0.6
_MOST = 0.75
"""Maximum share of the window's width for the right side."""
_MOST_INPUTS = 0.28
"""Of the window's height: the cards below need the rest."""


@dataclass(frozen=True, slots=True)
class PaneSizes:
    """The sizes that the user gave, in pixels; widths, but for the panel below the editor."""

    side: int = SIDE_WIDTH
    """Of the side bar while writing; a pane that needs more takes it."""
    column: int | None = None
    """Of the right column while writing; none: the usual one."""
    bottom: int = BOTTOM_HEIGHT
    """Height of the panel below the editor."""
    run: int | None = None
    """Of a run beside the editor alone; none: the usual one."""

    def column_in(self, window: int) -> int:
        """Return the column's width beside the editor.

        Args:
            window: the window's width in pixels.
        """
        usual = _COLUMN_WIDTH if window >= _WIDE else _COLUMN_WIDTH_SMALL
        return min(usual if self.column is None else self.column, int(window * _MOST))

    def run_in(self, window: int, halves: int) -> int:
        """Return the run's width beside so many halves of the editor, and no side bar."""
        usual = max(LEAST_RUN, int(window * _RUN_SHARE) - (halves - 1) * LEAST_HALF // 2)
        return min(usual if self.run is None else self.run, int(window * _MOST))

    def beside_run(self, window: int, strip: int, least: int) -> tuple[int, int]:
        """Return the widths of the side bar and of the run beside it: the editor keeps its room.

        Args:
            window: the window's width in pixels.
            strip: the width of the icons at the left edge.
            least: what the pane of the side bar needs.
        """
        side = max(self.side, least)
        room = window - strip - side - _LEAST_EDITOR
        return side, max(LEAST_RUN, min(room, int(window * _RUN_SHARE)))


def inputs_height(wanted: int, window: int) -> int:
    """Return the height of the inputs above the preview: what their form wants, or their share."""
    return min(wanted, int(window * _MOST_INPUTS))


NARROW = 1100
"""Below this width the right column takes the place of the editor, and goes back, by a key."""
VERY_NARROW = 1000
"""Below this width the side bar is its icons, until one is pressed."""
WIDE = 1440
"""Every pane has its room at this width."""

EDITOR = "editor"
"""Name of the maximized part if it is no pane."""
RUN, CASES = "run", "cases"
"""The panes of which one has the right column for itself while it is looked at."""
FIRST = ("files", "inputs", "preview")
"""Panes at the first start."""


class PanePlace(Enum):
    """The place of a pane."""

    LEFT = auto()
    """The side bar: one pane at a time."""
    COLUMN = auto()
    """The right side, with inputs and preview while writing."""
    RUN = auto()
    """The right, while a run has it for itself."""
    BOTTOM = auto()
    """Below the editor: one pane at a time."""
    TOP = auto()
    """Above the editor: nothing, unless the user puts something there."""
    WINDOW = auto()
    """A window of its own."""


class AsideFor(Enum):
    """The reason why a place is empty although its panes are open."""

    WELCOME = auto()
    """The welcome page has nothing around it."""
    RUN = auto()
    """A run has the room."""
    WIDTH = auto()
    """The window, or what the halves of the editor leave of it, has no room."""
    EXPERIMENT = auto()
    """It has no inputs and no preview."""


RIGHT = frozenset({PanePlace.COLUMN, PanePlace.RUN})
"""Places at the right of the editor, or in a narrow window in its place."""


@dataclass(frozen=True, slots=True)
class WindowLayout:
    """The wishes of the user for the panes, the present limits, and the resulting visibility."""

    places: Mapping[str, PanePlace] = field(default_factory=dict)
    """Every pane of the window with its place; the right is `COLUMN` here, also for a run."""
    open: frozenset[str] = frozenset()
    """The panes that are open while writing: the layout that a later start brings back."""
    closed: frozenset[PanePlace] = frozenset()
    """The places that their key has closed; their panes stay open behind it."""
    asked: frozenset[PanePlace] = frozenset()
    """The places that the user wants to see although something puts them aside."""
    tab: str = ""
    """Id of what the tab in front shows; empty for none."""
    running: Mapping[str, str] = field(default_factory=dict)
    """The run or the cases, which have the right column for themselves, by tab."""
    covered: frozenset[str] = frozenset()
    """The tabs whose cases a run of theirs has the place of."""
    maximized: str = ""
    """Maximized pane, or `EDITOR`; empty if none."""
    is_prompt: bool = True
    """Whether a prompt is shown, not an experiment."""
    is_welcome: bool = False
    """Whether the welcome page is shown with nothing around it."""
    width: int = WIDE
    """Of the window, in pixels."""
    halves: int = 1
    """Number of editors beside each other."""

    # -- what is seen ---------------------------------------------------------------------------

    @property
    def has_run(self) -> bool:
        """Whether the run, or the cases, of the tab in front have the right column."""
        return bool(self.wide)

    @property
    def wide(self) -> str:
        """The pane that has the right column for itself; empty for none."""
        return self.running.get(self.tab, "")

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
        """Return whether the editor, or the part in its place, is visible."""
        return self.maximized in ("", EDITOR) and not self.is_column_in_place

    @property
    def is_column_in_place(self) -> bool:
        """Return whether the right column is in the editor's place, in a narrow window."""
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
        """Return the present place of a pane."""
        place = self.places[name]
        is_run = name == self.wide and place is PanePlace.COLUMN
        return PanePlace.RUN if is_run else place

    def shown_in(self, place: PanePlace) -> frozenset[str]:
        """Return the panes of a place that are there to be seen."""
        return frozenset(name for name in self.shown if self.place_of(name) is place)

    def aside(self, place: PanePlace) -> AsideFor | None:
        """Return why a place is empty unless it is asked for; nothing where it has its room."""
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
        """Return the panes that are open in a place, seen or not."""
        here = (name for name in self.places if self.place_of(name) is place)
        return frozenset(here if place is PanePlace.RUN else self.open.intersection(here))

    def _has_room(self, place: PanePlace) -> bool:
        if place is PanePlace.BOTTOM and self.is_column_in_place:
            return False  # it belongs below the text, and is no column of its own
        return place in self.asked if self.aside(place) else place not in self.closed


# From one layout of the window to the next: what the user asks for, and what happens meanwhile.

_USUAL = {
    PanePlace.LEFT: ("files",),
    PanePlace.COLUMN: ("inputs", "preview"),
    PanePlace.BOTTOM: ("problems",),
}
"""Panes that the key of an empty side opens."""

# -- what the user does -------------------------------------------------------------------------


def ask_for(layout: WindowLayout, name: str, tabs: Iterable[str] = ()) -> WindowLayout:
    """Return the layout after the user asked for a pane.

    Args:
        layout: as it is.
        name: the pane.
        tabs: the panes that share its place as tabs, which may stay.
    """
    if name not in layout.places or layout.maximized == name:
        return layout
    layout = replace(layout, maximized="")
    beside = frozenset(tabs)
    place = layout.places[name]
    if place is PanePlace.COLUMN:
        is_wide = name in (RUN, CASES) and not beside
        return _alone(layout, name) if is_wide else _ask_column(layout, name)
    if place in (PanePlace.LEFT, PanePlace.BOTTOM):
        others = layout.open_in(place) - beside - {name}
        layout = replace(layout, open=layout.open - others)
    return _let_see(replace(layout, open=layout.open | {name}), place)


def close_pane(layout: WindowLayout, name: str) -> WindowLayout:
    """Return the layout after the user closed a pane that was shown."""
    if name not in layout.shown:
        return layout
    place = layout.place_of(name)
    if place is PanePlace.RUN:
        return end_run(layout)
    if layout.maximized == name:
        layout = replace(layout, maximized="")
    if layout.aside(place) is not None and layout.open_in(place) == {name}:
        return replace(layout, asked=layout.asked - {place})
    return replace(layout, open=layout.open - {name})


def toggle(layout: WindowLayout, side: PanePlace) -> WindowLayout:
    """Return the layout after the key of a side: `LEFT`, `COLUMN` or `BOTTOM`."""
    layout = replace(layout, maximized="")
    place = PanePlace.RUN if side is PanePlace.COLUMN and layout.has_run else side
    if layout.shown_in(place):
        # Beside an experiment the column is the one of writing, and closed for both.
        is_closed = layout.aside(place) in (None, AsideFor.EXPERIMENT)
        closed = layout.closed | {place} if is_closed else layout.closed
        return replace(layout, asked=layout.asked - {place}, closed=closed)
    if not layout.open_in(place):
        usual = layout.places.keys() & set(_USUAL[side])
        layout = replace(layout, open=layout.open | usual)
    return _let_see(layout, place)


def toggle_all(layout: WindowLayout) -> WindowLayout:
    """Leave nothing but the editor, or bring everything back."""
    return bring_back(layout) if layout.is_alone else replace(layout, maximized=EDITOR)


def maximize(layout: WindowLayout, name: str) -> WindowLayout:
    """Give a pane, or the editor where there is no name, the window for itself; or back."""
    if layout.maximized:
        return replace(layout, maximized="")
    has_own_window = layout.places.get(name) is PanePlace.WINDOW
    if layout.is_welcome or has_own_window or (name and name not in layout.shown):
        return layout
    return replace(layout, maximized=name or EDITOR)


def bring_back(layout: WindowLayout) -> WindowLayout:
    """Return the layout in which nothing has the window for itself any more."""
    return _lapsed(layout, replace(layout, maximized="", is_welcome=False))


def end_run(layout: WindowLayout) -> WindowLayout:
    """Give the run's room back to the parts beside the editor while writing."""
    if not layout.has_run:
        return layout
    is_alone = layout.maximized == layout.wide
    maximized = "" if is_alone else layout.maximized
    running = {tab: name for tab, name in layout.running.items() if tab != layout.tab}
    left = layout.open - {layout.wide}
    covered = layout.covered - {layout.tab}
    without = replace(layout, running=running, covered=covered, open=left, maximized=maximized)
    made, place = _lapsed(layout, without), {PanePlace.RUN}
    return replace(made, closed=made.closed - place, asked=made.asked - place)


def leave_run(layout: WindowLayout) -> WindowLayout:
    """Go back to the cases that the run was opened from, or else to writing."""
    return _alone(layout, CASES) if layout.tab in layout.covered else end_run(layout)


def center(layout: WindowLayout) -> WindowLayout:
    """Return the layout with the editor in the right column's place, in a narrow window."""
    return replace(layout, asked=layout.asked - RIGHT) if layout.is_narrow else layout


# -- what happens -------------------------------------------------------------------------------


def show_tab(layout: WindowLayout, tab: str, is_prompt: bool) -> WindowLayout:
    """Return the layout with another tab in front, a prompt or an experiment; its run with it."""
    after = replace(layout, tab=tab, is_prompt=is_prompt)
    if layout.maximized and layout.maximized == layout.wide != after.wide:
        after = replace(after, maximized="")
    return _lapsed(layout, after)


def show_welcome(layout: WindowLayout, is_welcome: bool) -> WindowLayout:
    """Return the layout with the welcome page, or with something else in its place."""
    return _lapsed(layout, replace(layout, is_welcome=is_welcome))


def fit(layout: WindowLayout, width: int, halves: int) -> WindowLayout:
    """Return the layout at a width in pixels, the rest of which so many editors share."""
    return _lapsed(layout, replace(layout, width=width, halves=halves))


def observe(
    layout: WindowLayout, places: Mapping[str, PanePlace], seen: frozenset[str]
) -> WindowLayout:
    """Apply manual changes: panes dragged elsewhere, windows closed.

    Args:
        layout: as it was made last.
        places: where the panes are now.
        seen: those that are there to be seen.
    """
    come = seen - layout.shown
    for name in layout.shown - seen:
        layout = close_pane(layout, name)
    layout = _lapsed(layout, replace(layout, places=dict(places)))
    if layout.has_run and places.get(layout.wide) is not PanePlace.COLUMN:
        # A pane as others now: what stood aside for it comes back.
        kept = layout.open | {layout.wide}
        layout = _lapsed(layout, replace(layout, running={}, open=kept))
    for name in come & places.keys():
        layout = replace(layout, open=layout.open | {name})
        layout = _let_see(layout, layout.place_of(name))
    return layout


# -- from one start to the next -----------------------------------------------------------------


def reset(layout: WindowLayout) -> WindowLayout:
    """Return the layout of the first start; maximized panes and the like stay so."""
    return restore(layout, layout.places, frozenset(FIRST) & layout.places.keys())


def restore(
    layout: WindowLayout, places: Mapping[str, PanePlace], seen: frozenset[str]
) -> WindowLayout:
    """Restore a saved layout, also one of an older version."""
    return WindowLayout(
        places=dict(places),
        open=seen,
        tab=layout.tab,
        is_prompt=layout.is_prompt,
        is_welcome=layout.is_welcome,
        width=layout.width,
        halves=layout.halves,
    )


def to_keep(layout: WindowLayout) -> WindowLayout:
    """Return the layout of writing, even if one pane fills the window at the end."""
    return replace(
        end_run(layout),
        running={},
        asked=frozenset(),
        maximized="",
        is_prompt=True,
        is_welcome=False,
        width=WIDE,
        halves=1,
    )


# -- inside -------------------------------------------------------------------------------------


def _lapsed(before: WindowLayout, after: WindowLayout) -> WindowLayout:
    """Drop requests whose reason is gone."""
    same = (place for place in after.asked if after.aside(place) is before.aside(place))
    return replace(after, asked=frozenset(same))


def _alone(layout: WindowLayout, name: str) -> WindowLayout:
    """Return the layout in which the run or the cases have the right column for themselves."""
    running = {**layout.running, layout.tab: name}
    covered = layout.covered - {layout.tab}
    if name == RUN and (layout.wide == CASES or layout.tab in layout.covered):
        covered |= {layout.tab}
    alone = replace(layout, running=running, covered=covered, open=layout.open - {name})
    return _let_see(_lapsed(layout, alone), PanePlace.RUN)


def _ask_column(layout: WindowLayout, name: str) -> WindowLayout:
    """Return the layout in which a pane of the column is shown, which ends a run there."""
    layout, place = end_run(layout), PanePlace.COLUMN
    others = layout.open_in(place) if place in layout.closed else frozenset()
    return _let_see(replace(layout, open=(layout.open - others) | {name}), place)


def _let_see(layout: WindowLayout, place: PanePlace) -> WindowLayout:
    """Open a place, and ask for it where something puts it aside."""
    if place is PanePlace.BOTTOM and layout.is_column_in_place:
        layout = center(layout)
    asked = layout.asked | {place} if layout.aside(place) else layout.asked
    return replace(layout, closed=layout.closed - {place}, asked=asked)
