"""What stands around the editor, step by step: plain functions, without a window."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from studio.ui.window import layout as steps
from studio.ui.window.layout import AsideFor, PanePlace, WindowLayout

Step = Callable[[WindowLayout], WindowLayout]

PLACES = {
    "files": PanePlace.LEFT,
    "outline": PanePlace.LEFT,
    "tools": PanePlace.LEFT,
    "history": PanePlace.LEFT,
    "inputs": PanePlace.COLUMN,
    "preview": PanePlace.COLUMN,
    "run": PanePlace.COLUMN,
    "problems": PanePlace.BOTTOM,
    "search": PanePlace.BOTTOM,
}
SIDES = (PanePlace.LEFT, PanePlace.COLUMN, PanePlace.BOTTOM)
FIRST = steps.reset(WindowLayout(places=PLACES))


def ask(name: str, *tabs: str) -> Step:
    return lambda layout: steps.ask_for(layout, name, tabs)


def close(name: str) -> Step:
    return lambda layout: steps.close_pane(layout, name)


def key(side: PanePlace) -> Step:
    return lambda layout: steps.toggle(layout, side)


def maximize(name: str = "") -> Step:
    return lambda layout: steps.maximize(layout, name)


def width(pixels: int, halves: int = 1) -> Step:
    return lambda layout: steps.fit(layout, pixels, halves)


def moved(**places: PanePlace) -> Step:
    return lambda layout: steps.observe(layout, {**layout.places, **places}, layout.shown)


def by_hand(*, come: str = "", gone: str = "") -> Step:
    def observe(layout: WindowLayout) -> WindowLayout:
        seen = (layout.shown | set(come.split())) - set(gone.split())
        return steps.observe(layout, layout.places, seen)

    return observe


def experiment(layout: WindowLayout) -> WindowLayout:
    return steps.show_tab(layout, "experiment", is_prompt=False)


def prompt(layout: WindowLayout) -> WindowLayout:
    return steps.show_tab(layout, "", is_prompt=True)


def welcome(layout: WindowLayout) -> WindowLayout:
    return steps.show_welcome(layout, is_welcome=True)


def opened(layout: WindowLayout) -> WindowLayout:
    return steps.show_welcome(layout, is_welcome=False)


RUN, ESC = ask("run"), steps.end_run
LEFT, COLUMN, BOTTOM = (key(side) for side in SIDES)
CENTER, ALL, BACK = steps.center, steps.toggle_all, steps.bring_back
NARROW, VERY_NARROW, WIDE = width(1050), width(900), width(1440)

CASES: dict[str, tuple[list[Step], str]] = {
    "the first start": ([], "files inputs preview"),
    # the keys of the sides
    "the key of the side bar": ([LEFT], "inputs preview"),
    "and back": ([LEFT, LEFT], "files inputs preview"),
    "the key of the column": ([COLUMN], "files"),
    "the panel below": ([BOTTOM], "files inputs preview problems"),
    "one pane at a time at the left": ([ask("tools")], "tools inputs preview"),
    "one panel at a time below": ([BOTTOM, ask("search")], "files inputs preview search"),
    "the key brings back what was there": (
        [ask("tools"), LEFT, LEFT],
        "tools inputs preview",
    ),
    "a pane that is asked for opens its side": ([LEFT, ask("tools")], "tools inputs preview"),
    "and the key closes that one": ([LEFT, ask("tools"), LEFT, LEFT], "tools inputs preview"),
    "one of a closed column comes alone": ([COLUMN, ask("preview")], "files preview"),
    "the key opens the usual where all was closed": (
        [close("files"), LEFT],
        "files inputs preview",
    ),
    "a column of which one was closed": ([close("inputs"), COLUMN, COLUMN], "files preview"),
    "tabs stay beside each other": ([ask("tools", "files")], "files tools inputs preview"),
    "a pane that there is not": ([ask("nothing"), close("nothing")], "files inputs preview"),
    "a pane that is closed already": ([close("history")], "files inputs preview"),
    # a run
    "a run has the room": ([RUN], "run"),
    "and gives it back": ([RUN, ESC], "files inputs preview"),
    "twice asked for, once given back": ([RUN, RUN, ESC], "files inputs preview"),
    "its own mark gives it back too": ([RUN, close("run")], "files inputs preview"),
    "no run, no room to give back": ([ESC], "files inputs preview"),
    "what was closed before it stays closed": ([COLUMN, LEFT, RUN, ESC], ""),
    "a side pane beside it": ([RUN, ask("tools")], "run tools"),
    "another in its place": ([RUN, ask("tools"), ask("files")], "run files"),
    "it is the pane of the side bar after it": (
        [RUN, ask("tools"), ESC],
        "tools inputs preview",
    ),
    "the key opens the side bar beside it": ([RUN, LEFT], "run files"),
    "and the one that was open": ([ask("history"), RUN, LEFT], "run history"),
    "and closes it": ([RUN, LEFT, LEFT], "run"),
    "which closes nothing of writing": ([RUN, LEFT, LEFT, ESC], "files inputs preview"),
    "its key hides the run": ([RUN, COLUMN], ""),
    "and brings it back": ([RUN, COLUMN, COLUMN], "run"),
    "the next step brings it back": ([RUN, COLUMN, RUN], "run"),
    "a hidden run gives back too": ([RUN, COLUMN, ESC], "files inputs preview"),
    "the column takes the room back": ([RUN, ask("preview")], "files inputs preview"),
    "problems stand below a run": ([RUN, BOTTOM], "run problems"),
    "and stay after it": ([RUN, BOTTOM, ESC], "files inputs preview problems"),
    "a run that is a tab takes no room": (
        [ask("run", "preview")],
        "files inputs preview run",
    ),
    "a run in a window of its own": (
        [RUN, moved(run=PanePlace.WINDOW)],
        "files inputs preview run",
    ),
    "which stays on Esc": ([RUN, moved(run=PanePlace.WINDOW), ESC], "files inputs preview run"),
    "the window of a run is closed": (
        [RUN, moved(run=PanePlace.WINDOW), by_hand(gone="run")],
        "files inputs preview",
    ),
    "a run below is a panel": (
        [moved(run=PanePlace.BOTTOM), BOTTOM, RUN],
        "files inputs preview run",
    ),
    # one part alone
    "the editor alone": ([maximize()], ""),
    "and back to all": ([maximize(), maximize()], "files inputs preview"),
    "a pane alone": ([maximize("files")], "files"),
    "another that is asked for ends it": (
        [maximize("files"), ask("preview")],
        "files inputs preview",
    ),
    "itself asked for does not": ([maximize("files"), ask("files")], "files"),
    "maximized, closed, opened again": (
        [maximize("files"), close("files"), ask("files")],
        "files inputs preview",
    ),
    "maximized and closed": ([maximize("files"), close("files")], "inputs preview"),
    "maximized and closed by hand": (
        [maximize("files"), by_hand(gone="files")],
        "inputs preview",
    ),
    "a key of a side ends it": ([maximize(), BOTTOM], "files inputs preview problems"),
    "a run begins behind the editor": ([maximize(), RUN], "run"),
    "a run alone, and Esc": ([RUN, maximize("run"), ESC], "files inputs preview"),
    "a run alone, and back": ([RUN, maximize("run"), maximize("run")], "run"),
    "a run ends behind the editor": ([RUN, maximize(), ESC], ""),
    "and all comes back after it": ([RUN, maximize(), ESC, maximize()], "files inputs preview"),
    "a hidden pane is not maximized": ([maximize("history")], "files inputs preview"),
    "nor one with a window of its own": (
        [moved(files=PanePlace.WINDOW), maximize("files")],
        "files inputs preview",
    ),
    "a window of its own stays beside one alone": (
        [moved(files=PanePlace.WINDOW), maximize("preview")],
        "files preview",
    ),
    "nothing but the editor": ([ALL], ""),
    "and everything": ([ALL, ALL], "files inputs preview"),
    # an experiment
    "an experiment has no column": ([experiment], "files"),
    "and the prompt has it again": ([experiment, prompt], "files inputs preview"),
    "who wants it sees it": ([experiment, COLUMN], "files inputs preview"),
    "and closes it for both": ([experiment, COLUMN, COLUMN, prompt], "files"),
    "the next experiment has it no more": ([experiment, COLUMN, prompt, experiment], "files"),
    "what was closed is not asked for": ([close("inputs"), experiment, COLUMN], "files preview"),
    "a closed column stays closed": ([COLUMN, experiment, prompt], "files"),
    "over a maximized editor": ([maximize(), experiment, maximize()], "files"),
    "and back under it": ([experiment, maximize(), prompt, BACK], "files inputs preview"),
    "a run beside an experiment": ([experiment, RUN], "run"),
    "gives back the side bar": ([experiment, RUN, ESC], "files"),
    "a run stays with its tab": ([RUN, experiment], "files"),
    "and is there with it again": ([RUN, experiment, ESC, prompt], "run"),
    "also where it had the window": ([RUN, maximize("run"), experiment], "files"),
    "the side bar beside a run was for that time": ([RUN, LEFT, experiment, prompt], "run"),
    # the welcome page
    "the welcome page is alone": ([welcome], ""),
    "and all comes after it": ([welcome, opened], "files inputs preview"),
    "with what was asked for beside it": ([welcome, ask("tools")], "tools"),
    "the key beside it": ([welcome, LEFT], "files"),
    "closed beside it, open after it": ([welcome, LEFT, LEFT, opened], "files inputs preview"),
    "a run of the past beside it": ([welcome, RUN], "run"),
    "which is there after it": ([welcome, RUN, opened], "run"),
    "nothing is maximized there": ([welcome, maximize("files")], ""),
    "the key of everything shows it": ([welcome, ALL], "files inputs preview"),
    "last tab closed with the editor alone": ([maximize(), welcome, maximize()], ""),
    "the first start on the welcome page": ([welcome, steps.reset], ""),
    "and its first file": ([welcome, steps.reset, opened], "files inputs preview"),
    # the width
    "narrow: no column": ([NARROW], "files"),
    "very narrow: no side bar": ([VERY_NARROW], ""),
    "wide again": ([VERY_NARROW, WIDE], "files inputs preview"),
    "halves need room": ([width(1280, 2)], "inputs preview"),
    "joined again": ([width(1280, 2), width(1280, 1)], "files inputs preview"),
    "the column in the editor's place": ([NARROW, COLUMN], "files inputs preview"),
    "and the editor": ([NARROW, COLUMN, COLUMN], "files"),
    "a place in the text is shown": ([NARROW, COLUMN, CENTER], "files"),
    "wide with the column in place": ([NARROW, COLUMN, WIDE], "files inputs preview"),
    "narrow again: the editor": ([NARROW, COLUMN, WIDE, NARROW], "files"),
    "the side bar over a very narrow window": ([VERY_NARROW, ask("tools")], "tools"),
    "is the one that stays": ([VERY_NARROW, ask("tools"), WIDE], "tools inputs preview"),
    "closed there, open where it is wide": (
        [VERY_NARROW, ask("files"), close("files"), WIDE],
        "files inputs preview",
    ),
    "a run in the editor's place": ([NARROW, RUN], "run"),
    "gives back all": ([NARROW, RUN, ESC], "files"),
    "problems bring the text": ([NARROW, RUN, ask("problems")], "problems"),
    "and the run comes back": ([NARROW, RUN, ask("problems"), RUN], "run"),
    "the panel goes with the text": ([NARROW, BOTTOM, COLUMN], "files inputs preview"),
    "and comes with it": ([NARROW, BOTTOM, COLUMN, COLUMN], "files problems"),
    "a run in a narrow window that grows": ([NARROW, RUN, WIDE], "run"),
    "a run in a wide window that shrinks": ([RUN, NARROW], ""),
    "and is asked for there": ([RUN, NARROW, RUN], "run"),
    "all is back after it": ([RUN, NARROW, ESC, WIDE], "files inputs preview"),
    "narrow while the editor is alone": ([maximize(), VERY_NARROW, maximize()], ""),
    "an experiment in a narrow window": ([NARROW, experiment, WIDE], "files"),
    "the column of a narrow experiment": ([NARROW, experiment, COLUMN], "files inputs preview"),
    # by hand
    "a pane shown by hand": ([by_hand(come="history")], "files history inputs preview"),
    "and hidden": ([by_hand(gone="preview")], "files inputs"),
    "inputs dragged to the left go with the left": (
        [moved(inputs=PanePlace.LEFT), LEFT],
        "preview",
    ),
    "and are no part of the column": ([moved(inputs=PanePlace.LEFT), experiment], "files inputs"),
    "a pane above is not part of a side": (
        [moved(inputs=PanePlace.TOP), COLUMN, LEFT],
        "inputs",
    ),
    "reset": ([COLUMN, ask("tools"), BOTTOM, RUN, steps.reset], "files inputs preview"),
}


def after(taken: list[Step], layout: WindowLayout = FIRST) -> WindowLayout:
    for step in taken:
        layout = step(layout)
    return layout


@pytest.mark.parametrize("case", CASES)
def test_what_is_seen(case: str) -> None:
    taken, expected = CASES[case]
    assert after(taken).shown == set(expected.split())


@pytest.mark.parametrize(
    ("taken", "shown"),
    [
        ([], True),
        ([maximize()], True),
        ([maximize("preview")], False),
        ([welcome], True),
        ([NARROW], True),
        ([NARROW, COLUMN], False),
        ([NARROW, RUN], False),
        ([NARROW, RUN, ESC], True),
        ([NARROW, RUN, ask("problems")], True),
        ([NARROW, COLUMN, ask("tools")], False),
        ([NARROW, COLUMN, close("inputs"), close("preview")], True),
        ([NARROW, COLUMN, by_hand(gone="inputs preview")], True),
        ([NARROW, COLUMN, maximize()], True),
        ([NARROW, COLUMN, WIDE], True),
        ([RUN, NARROW], True),
    ],
)
def test_the_text_is_there_unless_something_stands_in_its_place(
    taken: list[Step], shown: bool
) -> None:
    assert after(taken).shows_center is shown


@pytest.mark.parametrize(
    ("taken", "place", "reason"),
    [
        ([], PanePlace.LEFT, None),
        ([welcome], PanePlace.BOTTOM, AsideFor.WELCOME),
        ([RUN], PanePlace.LEFT, AsideFor.RUN),
        ([RUN], PanePlace.COLUMN, AsideFor.RUN),
        ([RUN], PanePlace.RUN, None),
        ([RUN, NARROW], PanePlace.RUN, AsideFor.WIDTH),
        ([VERY_NARROW], PanePlace.LEFT, AsideFor.WIDTH),
        ([NARROW], PanePlace.LEFT, None),
        ([experiment], PanePlace.COLUMN, AsideFor.EXPERIMENT),
        ([experiment], PanePlace.LEFT, None),
        ([welcome, NARROW, experiment], PanePlace.WINDOW, None),
    ],
)
def test_why_a_place_is_empty(taken: list[Step], place: PanePlace, reason: AsideFor | None) -> None:
    assert after(taken).aside(place) is reason


@pytest.mark.parametrize(
    ("taken", "kept"),
    [
        ([], "files inputs preview"),
        ([RUN], "files inputs preview"),
        ([RUN, maximize("run")], "files inputs preview"),
        ([experiment], "files inputs preview"),
        ([experiment, maximize()], "files inputs preview"),
        ([welcome], "files inputs preview"),
        ([VERY_NARROW], "files inputs preview"),
        ([VERY_NARROW, RUN], "files inputs preview"),
        ([width(1280, 2)], "files inputs preview"),
        ([COLUMN], "files"),
        ([COLUMN, RUN], "files"),
        ([BOTTOM, ask("tools"), maximize()], "tools inputs preview problems"),
    ],
)
def test_the_layout_of_writing_is_kept(taken: list[Step], kept: str) -> None:
    layout = steps.to_keep(after(taken))
    assert layout.shown == set(kept.split())
    assert layout.shows_center


def test_a_layout_of_an_older_version_stands_as_it_was() -> None:
    """0.1.0 had the run as a tab beside the preview, and the inputs at the left."""
    places = {**PLACES, "inputs": PanePlace.LEFT, "history": PanePlace.BOTTOM}
    seen = frozenset({"files", "outline", "tools", "inputs", "preview", "run", "problems"})
    old = steps.restore(WindowLayout(), places, seen)
    assert old.shown == seen
    assert not old.has_run
    assert after([LEFT], old).shown == {"preview", "run", "problems"}
    assert after([LEFT, LEFT], old).shown == seen
    assert after([experiment, prompt], old).shown == seen
    assert after([RUN, ESC], old).shown == seen - {"run"}
    assert after([ask("run", "preview")], old).shown == seen
    assert steps.to_keep(old).shown == seen


def test_restoring_keeps_what_just_is() -> None:
    layout = steps.restore(after([experiment, width(1050, 2)]), PLACES, frozenset({"preview"}))
    assert (layout.is_prompt, layout.width, layout.halves) == (False, 1050, 2)
    assert layout.shown == set()
    assert prompt(WIDE(layout)).shown == {"preview"}


# -- laws that hold wherever the user is --------------------------------------------------------

ANY: list[Step] = [
    *(ask(name) for name in PLACES),
    *(close(name) for name in PLACES),
    LEFT,
    COLUMN,
    BOTTOM,
    ALL,
    BACK,
    ESC,
    CENTER,
    experiment,
    prompt,
    welcome,
    opened,
    maximize(),
    maximize("run"),
    maximize("preview"),
    NARROW,
    VERY_NARROW,
    WIDE,
    width(1280, 2),
    moved(run=PanePlace.WINDOW),
    moved(run=PanePlace.COLUMN),
    moved(inputs=PanePlace.LEFT),
    moved(inputs=PanePlace.COLUMN),
    ask("tools", "files"),
    ask("run", "preview"),
]
LAYOUTS = st.lists(st.sampled_from(ANY), max_size=12).map(after)


def same(one: WindowLayout, other: WindowLayout) -> bool:
    return (one.shown, one.shows_center) == (other.shown, other.shows_center)


@given(LAYOUTS, st.sampled_from(SIDES))
def test_a_side_toggled_twice_is_as_it_was(layout: WindowLayout, side: PanePlace) -> None:
    if layout.maximized or (side is PanePlace.BOTTOM and layout.is_column_in_place):
        return  # the first press brings something else back
    once = steps.toggle(layout, side)
    assert same(steps.toggle(once, side), layout)


@given(LAYOUTS, st.sampled_from(["", *PLACES]))
def test_maximized_and_back_is_as_it_was(layout: WindowLayout, name: str) -> None:
    if not layout.maximized:
        assert steps.maximize(steps.maximize(layout, name), name) == layout
    if not layout.is_alone:
        assert steps.toggle_all(steps.toggle_all(layout)) == layout


@given(LAYOUTS)
def test_what_comes_and_goes_by_itself_changes_nothing(layout: WindowLayout) -> None:
    """A run, an experiment, another width and the welcome page leave what the user chose."""
    if RUN(layout).has_run and not (layout.has_run or layout.maximized or "run" in layout.open):
        made = ESC(RUN(layout))
        assert made == replace(layout, asked=made.asked)
    changes: tuple[tuple[Step, Step], ...] = (
        (
            lambda each: steps.show_tab(each, "other", not layout.is_prompt),
            lambda each: steps.show_tab(each, layout.tab, layout.is_prompt),
        ),
        (
            lambda each: steps.show_welcome(each, not layout.is_welcome),
            lambda each: steps.show_welcome(each, layout.is_welcome),
        ),
        (
            lambda each: steps.fit(each, 1800 if layout.width < 1440 else 900, 1),
            lambda each: steps.fit(each, layout.width, layout.halves),
        ),
    )
    for there, back in changes:
        made = back(there(layout))
        assert made == replace(layout, asked=made.asked)
        assert made.asked <= layout.asked


@given(LAYOUTS, st.sampled_from(sorted(PLACES)))
def test_what_is_asked_for_is_seen_and_what_is_closed_is_not(
    layout: WindowLayout, name: str
) -> None:
    assert name in steps.ask_for(layout, name).shown
    assert name not in steps.close_pane(layout, name).shown


@given(LAYOUTS)
def test_the_window_is_never_empty(layout: WindowLayout) -> None:
    assert layout.shows_center or layout.shown
    assert layout.shown <= layout.places.keys()


@given(LAYOUTS)
def test_looking_changes_nothing(layout: WindowLayout) -> None:
    assert steps.observe(layout, layout.places, layout.shown) == layout


@given(LAYOUTS)
def test_a_later_start_has_the_panes_of_writing(layout: WindowLayout) -> None:
    kept = steps.to_keep(layout)
    again = steps.restore(WindowLayout(), kept.places, kept.shown)
    assert again.shown == kept.shown
    assert kept.shows_center
    assert not kept.has_run
