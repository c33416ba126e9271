"""Back and forward."""

from __future__ import annotations

from studio.ui.app.navigation import PlaceHistory, RunPlace, TextPlace


def at(line: int, document: str = "a") -> TextPlace:
    return TextPlace(document, None, line, line * 10)


def test_a_jump_is_a_place_and_a_few_lines_are_none() -> None:
    history = PlaceHistory()
    for place in (at(0), at(3), at(5), at(40), at(42), at(7, "b"), RunPlace("r1")):
        history.visit(place)
    assert history.step(1) is None
    assert history.step(-1) == at(7, "b")
    assert history.step(-1) == at(42)
    assert history.step(-1) == at(5)
    assert history.step(-1) is None
    assert history.step(1) == at(42)


def test_a_place_that_was_asked_for_is_one_however_near() -> None:
    history = PlaceHistory()
    for place in (at(0), at(40), at(41)):
        history.visit(place)
    history.leave()
    history.visit(at(38))
    assert history.step(-1) == at(41)
    history.leave()
    history.visit(at(41))
    assert history.step(-1) == at(0)


def test_a_new_jump_ends_the_way_forward() -> None:
    history = PlaceHistory()
    for place in (at(0), at(40), at(80)):
        history.visit(place)
    history.step(-1)
    history.visit(at(200))
    assert history.step(1) is None
    assert history.step(-1) == at(40)


def test_what_cannot_be_gone_to_is_passed_over() -> None:
    history = PlaceHistory()
    for place in (at(0), at(40), at(80)):
        history.visit(place)
    gone = history.step(-1)
    assert gone == at(40)
    history.forget(gone)
    assert history.step(0) == at(0)
    assert history.step(1) == at(80)
