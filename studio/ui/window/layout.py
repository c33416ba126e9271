"""The layout of the panes around the editor as a value, without Qt.

The user's wishes (open panes, sides closed by a key, a maximized part) are separate from current
conditions (a run has the column, an experiment is active, the window is narrow).
`WindowLayout.shown` computes the visible panes from both, so panes return when the condition that
hid them ends, in any order.

The module also computes the sizes of panes in pixels: the user's sizes, limited by the window.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto

LEAST_RUN = 560
"""Minimum width of the run, in pixels; its rows are elided before the editor is."""
LEAST_HALF = 320
"""Minimum width of each half of a split editor, in pixels; the side bar collapses before that."""
SIDE_WIDTH = 248
BOTTOM_HEIGHT = 200
_LEAST_EDITOR = 360
"""Minimum width in pixels beside a run and the side bar; the run makes room for panes."""
_COLUMN_WIDTH, _COLUMN_WIDTH_SMALL = 440, 400
_WIDE = 1400
_RUN_SHARE = 0.6
_MOST = 0.75
"""Maximum share of the window's width for the right side."""
_MOST_INPUTS = 0.28
"""Maximum share of the window's height for the inputs, so that the cards below have room."""


@dataclass(frozen=True, slots=True)
class PaneSizes:
    """Sizes set by the user in pixels: widths, except for the panel below the editor."""

    side: int = SIDE_WIDTH
    """Width of the side bar while editing; a pane that needs more gets it."""
    column: int | None = None
    """Width of the right column while editing; None for the default."""
    bottom: int = BOTTOM_HEIGHT
    """Height of the panel below the editor."""
    run: int | None = None
    """Width of a run beside the editor without a side bar; None for the default."""

    def column_in(self, window: int) -> int:
        """Return the column's width beside the editor.

        Args:
            window: the window's width in pixels.
        """
        usual = _COLUMN_WIDTH if window >= _WIDE else _COLUMN_WIDTH_SMALL
        return min(usual if self.column is None else self.column, int(window * _MOST))

    def run_in(self, window: int, halves: int) -> int:
        """Return the run's width beside a number of editor halves, without a side bar."""
        usual = max(LEAST_RUN, int(window * _RUN_SHARE) - (halves - 1) * LEAST_HALF // 2)
        return min(usual if self.run is None else self.run, int(window * _MOST))

    def beside_run(self, window: int, strip: int, least: int) -> tuple[int, int]:
        """Return the widths of the side bar and of the run beside it; the editor keeps its minimum.

        Args:
            window: the window's width in pixels.
            strip: width of the icon strip at the left edge.
            least: minimum width of the side bar's pane.
        """
        side = max(self.side, least)
        room = window - strip - side - _LEAST_EDITOR
        return side, max(LEAST_RUN, min(room, int(window * _RUN_SHARE)))


def inputs_height(wanted: int, window: int) -> int:
    """Return the height of the inputs above the preview: their form's, at most their share."""
    return min(wanted, int(window * _MOST_INPUTS))


NARROW = 1100
"""Width below which a key toggles between the editor and the right column."""
VERY_NARROW = 1000
"""Width below which the side bar is only its icons until one is pressed."""
WIDE = 1440
"""Width at which every pane fits."""

EDITOR = "editor"
"""Name of the maximized part if it is not a pane."""
RUN, CASES = "run", "cases"
"""Panes that have the right column alone while they are shown."""
FIRST = ("files", "inputs", "preview")
"""Panes at the first start."""


class PanePlace(Enum):
    """The place of a pane."""

    LEFT = auto()
    """The side bar: one pane at a time."""
    COLUMN = auto()
    """The right side while editing, with inputs and preview."""
    RUN = auto()
    """The right side while a run has it alone."""
    BOTTOM = auto()
    """Below the editor: one pane at a time."""
    TOP = auto()
    """Above the editor: empty, unless the user moves a pane there."""
    WINDOW = auto()
    """A separate window."""


class AsideFor(Enum):
    """The reason why a place is empty although its panes are open."""

    WELCOME = auto()
    """The welcome page is shown without panes."""
    RUN = auto()
    """A run needs the room."""
    WIDTH = auto()
    """The window, or its part beside the editor's halves, has no room."""
    EXPERIMENT = auto()
    """An experiment has no inputs and no preview."""


RIGHT = frozenset({PanePlace.COLUMN, PanePlace.RUN})
"""Places at the right of the editor, which replace it in a narrow window."""


@dataclass(frozen=True, slots=True)
class WindowLayout:
    """The user's wishes for the panes, the current conditions, and the resulting visibility."""

    places: Mapping[str, PanePlace] = field(default_factory=dict)
    """Place of every pane; here the right side is always `COLUMN`, even for a run."""
    open: frozenset[str] = frozenset()
    """The panes that are open while editing, which are restored at the next start."""
    closed: frozenset[PanePlace] = frozenset()
    """The places that the user closed by their key; their panes stay open behind it."""
    asked: frozenset[PanePlace] = frozenset()
    """The places that the user wants to see although a condition hides them."""
    tab: str = ""
    """Id of the active tab's content; empty for none."""
    running: Mapping[str, str] = field(default_factory=dict)
    """The run or the cases that have the right column alone, by tab."""
    covered: frozenset[str] = frozenset()
    """The tabs whose cases are covered by a run."""
    maximized: str = ""
    """Maximized pane, or `EDITOR`; empty if none."""
    is_prompt: bool = True
    """Whether a prompt is shown, not an experiment."""
    is_welcome: bool = False
    """Whether the welcome page is shown with nothing around it."""
    width: int = WIDE
    """Width of the window, in pixels."""
    halves: int = 1
    """Number of editors beside each other."""

    # -- visibility -----------------------------------------------------------------------------

    @property
    def has_run(self) -> bool:
        """Whether the active tab's run or cases have the right column."""
        return bool(self.wide)

    @property
    def wide(self) -> str:
        """The pane that has the right column alone; empty for none."""
        return self.running.get(self.tab, "")

    @property
    def shown(self) -> frozenset[str]:
        """The visible panes."""
        if self.maximized:
            own = self.open_in(PanePlace.WINDOW)
            return own | ({self.maximized} & self.places.keys())
        rooms = (self.open_in(place) for place in PanePlace if self._has_room(place))
        return frozenset().union(*rooms)

    @property
    def shows_center(self) -> bool:
        """Return whether the editor is visible, or the part that replaces it."""
        return self.maximized in ("", EDITOR) and not self.is_column_in_place

    @property
    def is_column_in_place(self) -> bool:
        """Return whether the right column replaces the editor, in a narrow window."""
        if self.is_alone or not self.is_narrow:
            return False
        return any(self.open_in(place) for place in self.asked & RIGHT)

    @property
    def is_alone(self) -> bool:
        """Whether one part is maximized."""
        return bool(self.maximized) or self.is_welcome

    @property
    def is_narrow(self) -> bool:
        """Whether the editor and the right column do not fit side by side."""
        return self.width < NARROW

    def place_of(self, name: str) -> PanePlace:
        """Return the current place of a pane."""
        place = self.places[name]
        is_run = name == self.wide and place is PanePlace.COLUMN
        return PanePlace.RUN if is_run else place

    def shown_in(self, place: PanePlace) -> frozenset[str]:
        """Return the visible panes of a place."""
        return frozenset(name for name in self.shown if self.place_of(name) is place)

    def aside(self, place: PanePlace) -> AsideFor | None:
        """Return why a place is empty unless the user asks for it; None if it has room."""
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
        """Return the open panes of a place, visible or not."""
        here = (name for name in self.places if self.place_of(name) is place)
        return frozenset(here if place is PanePlace.RUN else self.open.intersection(here))

    def _has_room(self, place: PanePlace) -> bool:
        if place is PanePlace.BOTTOM and self.is_column_in_place:
            return False  # it belongs below the text, not in the column
        return place in self.asked if self.aside(place) else place not in self.closed


# Transitions between layouts: the user's commands and changed conditions.

_USUAL = {
    PanePlace.LEFT: ("files",),
    PanePlace.COLUMN: ("inputs", "preview"),
    PanePlace.BOTTOM: ("problems",),
}
"""Panes that the key of an empty side opens."""

# -- commands of the user -----------------------------------------------------------------------


def ask_for(layout: WindowLayout, name: str, tabs: Iterable[str] = ()) -> WindowLayout:
    """Return the layout after the user opened a pane.

    Args:
        layout: current layout.
        name: the pane.
        tabs: panes that share its place as tabs and may stay.
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
    """Return the layout after the user closed a visible pane."""
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
        # Beside an experiment, the column is that of editing, and it is closed for both.
        is_closed = layout.aside(place) in (None, AsideFor.EXPERIMENT)
        closed = layout.closed | {place} if is_closed else layout.closed
        return replace(layout, asked=layout.asked - {place}, closed=closed)
    if not layout.open_in(place):
        usual = layout.places.keys() & set(_USUAL[side])
        layout = replace(layout, open=layout.open | usual)
    return _let_see(layout, place)


def toggle_all(layout: WindowLayout) -> WindowLayout:
    """Hide everything except the editor, or restore the layout."""
    return bring_back(layout) if layout.is_alone else replace(layout, maximized=EDITOR)


def maximize(layout: WindowLayout, name: str) -> WindowLayout:
    """Maximize a pane, or the editor without a name; or restore the layout."""
    if layout.maximized:
        return replace(layout, maximized="")
    has_own_window = layout.places.get(name) is PanePlace.WINDOW
    if layout.is_welcome or has_own_window or (name and name not in layout.shown):
        return layout
    return replace(layout, maximized=name or EDITOR)


def bring_back(layout: WindowLayout) -> WindowLayout:
    """Return the layout without a maximized part."""
    return _lapsed(layout, replace(layout, maximized="", is_welcome=False))


def end_run(layout: WindowLayout) -> WindowLayout:
    """Return from the run to the panes for editing."""
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
    """Return to the cases from which the run was opened, or else to editing."""
    return _alone(layout, CASES) if layout.tab in layout.covered else end_run(layout)


def center(layout: WindowLayout) -> WindowLayout:
    """Return the layout with the editor instead of the right column, in a narrow window."""
    return replace(layout, asked=layout.asked - RIGHT) if layout.is_narrow else layout


# -- changed conditions -------------------------------------------------------------------------


def show_tab(layout: WindowLayout, tab: str, is_prompt: bool) -> WindowLayout:
    """Return the layout with another active tab, a prompt or an experiment, and its run."""
    after = replace(layout, tab=tab, is_prompt=is_prompt)
    if layout.maximized and layout.maximized == layout.wide != after.wide:
        after = replace(after, maximized="")
    return _lapsed(layout, after)


def show_welcome(layout: WindowLayout, is_welcome: bool) -> WindowLayout:
    """Return the layout with the welcome page, or with a document in its place."""
    return _lapsed(layout, replace(layout, is_welcome=is_welcome))


def fit(layout: WindowLayout, width: int, halves: int) -> WindowLayout:
    """Return the layout at a width in pixels with a number of editors."""
    return _lapsed(layout, replace(layout, width=width, halves=halves))


def observe(
    layout: WindowLayout, places: Mapping[str, PanePlace], seen: frozenset[str]
) -> WindowLayout:
    """Apply the user's manual changes: moved panes, closed windows.

    Args:
        layout: layout that was applied last.
        places: current places of the panes.
        seen: the visible panes.
    """
    come = seen - layout.shown
    for name in layout.shown - seen:
        layout = close_pane(layout, name)
    layout = _lapsed(layout, replace(layout, places=dict(places)))
    if layout.has_run and places.get(layout.wide) is not PanePlace.COLUMN:
        # It is now an ordinary pane: parts that made room for it return.
        kept = layout.open | {layout.wide}
        layout = _lapsed(layout, replace(layout, running={}, open=kept))
    for name in come & places.keys():
        layout = replace(layout, open=layout.open | {name})
        layout = _let_see(layout, layout.place_of(name))
    return layout


# -- saved layouts ------------------------------------------------------------------------------


def reset(layout: WindowLayout) -> WindowLayout:
    """Return the initial layout with the current conditions."""
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
    """Return the layout of editing, even if one pane fills the window at the end."""
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


# -- internals ----------------------------------------------------------------------------------


def _lapsed(before: WindowLayout, after: WindowLayout) -> WindowLayout:
    """Remove requests whose reason no longer applies."""
    same = (place for place in after.asked if after.aside(place) is before.aside(place))
    return replace(after, asked=frozenset(same))


def _alone(layout: WindowLayout, name: str) -> WindowLayout:
    """Return the layout in which the run or the cases have the right column alone."""
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
    """Open a place, and request it if a condition hides it."""
    if place is PanePlace.BOTTOM and layout.is_column_in_place:
        layout = center(layout)
    asked = layout.asked | {place} if layout.aside(place) else layout.asked
    return replace(layout, closed=layout.closed - {place}, asked=asked)
