"""From one layout of the window to the next: what the user asks for, and what happens meanwhile.

Each step is a plain function from a layout to a layout.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace

from studio.ui.window.layout import (
    EDITOR,
    FIRST,
    RIGHT,
    RUN,
    WIDE,
    AsideFor,
    PanePlace,
    WindowLayout,
)

_USUAL = {
    PanePlace.LEFT: ("files",),
    PanePlace.COLUMN: ("inputs", "preview"),
    PanePlace.BOTTOM: ("problems",),
}
"""What the key of a side opens where nothing is open."""

# -- what the user does -------------------------------------------------------------------------


def ask_for(layout: WindowLayout, name: str, tabs: Iterable[str] = ()) -> WindowLayout:
    """The user asks for a pane.

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
        return _run_alone(layout) if name == RUN and not beside else _ask_column(layout, name)
    if place in (PanePlace.LEFT, PanePlace.BOTTOM):
        others = layout.open_in(place) - beside - {name}
        layout = replace(layout, open=layout.open - others)
    return _let_see(replace(layout, open=layout.open | {name}), place)


def close_pane(layout: WindowLayout, name: str) -> WindowLayout:
    """The user closes a pane that is seen."""
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
    """The key of a side: `LEFT`, `COLUMN` or `BOTTOM`."""
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
    """Nothing has the window for itself any more."""
    return _lapsed(layout, replace(layout, maximized="", is_welcome=False))


def end_run(layout: WindowLayout) -> WindowLayout:
    """The run gives its room back to what stands beside the editor while writing."""
    if not layout.has_run:
        return layout
    is_alone = layout.maximized == RUN
    maximized = "" if is_alone else layout.maximized
    without = replace(layout, has_run=False, open=layout.open - {RUN}, maximized=maximized)
    made, place = _lapsed(layout, without), {PanePlace.RUN}
    return replace(made, closed=made.closed - place, asked=made.asked - place)


def center(layout: WindowLayout) -> WindowLayout:
    """In a narrow window: the right column gives the editor's place back."""
    return replace(layout, asked=layout.asked - RIGHT) if layout.is_narrow else layout


# -- what happens -------------------------------------------------------------------------------


def show_prompt(layout: WindowLayout, is_prompt: bool) -> WindowLayout:
    """A prompt is looked at, or an experiment."""
    return _lapsed(layout, replace(layout, is_prompt=is_prompt))


def show_welcome(layout: WindowLayout, is_welcome: bool) -> WindowLayout:
    """The welcome page comes, or something else in its place."""
    return _lapsed(layout, replace(layout, is_welcome=is_welcome))


def fit(layout: WindowLayout, width: int, halves: int) -> WindowLayout:
    """The window has a width in pixels, and so many editors share what is left of it."""
    return _lapsed(layout, replace(layout, width=width, halves=halves))


def observe(
    layout: WindowLayout, places: Mapping[str, PanePlace], seen: frozenset[str]
) -> WindowLayout:
    """What the user did by hand: dragged panes elsewhere, closed their windows.

    Args:
        layout: as it was made last.
        places: where the panes are now.
        seen: those that are there to be seen.
    """
    come = seen - layout.shown
    for name in layout.shown - seen:
        layout = close_pane(layout, name)
    layout = _lapsed(layout, replace(layout, places=dict(places)))
    if layout.has_run and places.get(RUN) is not PanePlace.COLUMN:
        # A pane as others now: what stood aside for it comes back.
        kept = layout.open | {RUN}
        layout = _lapsed(layout, replace(layout, has_run=False, open=kept))
    for name in come & places.keys():
        layout = replace(layout, open=layout.open | {name})
        layout = _let_see(layout, layout.place_of(name))
    return layout


# -- from one start to the next -----------------------------------------------------------------


def reset(layout: WindowLayout) -> WindowLayout:
    """Everything as at the first start; what just is stays so."""
    return restore(layout, layout.places, frozenset(FIRST) & layout.places.keys())


def restore(
    layout: WindowLayout, places: Mapping[str, PanePlace], seen: frozenset[str]
) -> WindowLayout:
    """The panes stand as a kept layout, also one of an older version, has put them."""
    return WindowLayout(
        places=dict(places),
        open=seen,
        is_prompt=layout.is_prompt,
        is_welcome=layout.is_welcome,
        width=layout.width,
        halves=layout.halves,
    )


def to_keep(layout: WindowLayout) -> WindowLayout:
    """The layout of writing, whatever has the window as it closes."""
    return replace(
        end_run(layout),
        asked=frozenset(),
        maximized="",
        is_prompt=True,
        is_welcome=False,
        width=WIDE,
        halves=1,
    )


# -- inside -------------------------------------------------------------------------------------


def _lapsed(before: WindowLayout, after: WindowLayout) -> WindowLayout:
    """What was asked for holds as long as the reason why it had to be asked for."""
    same = (place for place in after.asked if after.aside(place) is before.aside(place))
    return replace(after, asked=frozenset(same))


def _run_alone(layout: WindowLayout) -> WindowLayout:
    """The run has the right column for itself."""
    alone = replace(layout, has_run=True, open=layout.open - {RUN})
    return _let_see(_lapsed(layout, alone), PanePlace.RUN)


def _ask_column(layout: WindowLayout, name: str) -> WindowLayout:
    """A pane of the column is asked for, which has it again."""
    layout, place = end_run(layout), PanePlace.COLUMN
    others = layout.open_in(place) if place in layout.closed else frozenset()
    return _let_see(replace(layout, open=(layout.open - others) | {name}), place)


def _let_see(layout: WindowLayout, place: PanePlace) -> WindowLayout:
    """Open a place, and ask for it where something puts it aside."""
    if place is PanePlace.BOTTOM and layout.is_column_in_place:
        layout = center(layout)
    asked = layout.asked | {place} if layout.aside(place) else layout.asked
    return replace(layout, closed=layout.closed - {place}, asked=asked)
