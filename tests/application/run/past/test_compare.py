from __future__ import annotations

from dataclasses import replace

from studio.application.run.past.compare import (
    RunSide,
    _without_ids,
    compare,
    figures_of,
    sides_of,
)
from studio.application.run.text import plain_text
from studio.core.agent.values.state import PersistentList
from tests.application.run import examples as run


def test_the_same_way_has_no_difference() -> None:
    comparison = compare(RunSide("A", run.done()), RunSide("B", run.done()))

    assert comparison.first_difference is None
    assert comparison.summary.startswith("Both are identical")


def test_two_ways_part_where_an_observation_differs() -> None:
    other = run.Fold()
    other.ask()
    other.whole_step(run.FIRST, "Lyon")
    other.ask(run.HISTORY)
    comparison = compare(RunSide("A", run.done()), RunSide("B", other.pause()))
    first = comparison.first_difference

    assert first is not None
    row = comparison.rows[first]
    assert row.left is not None
    assert row.right is not None
    assert (row.left.summary, row.right.summary) == ("Paris", "Lyon")
    assert [row.match for row in comparison.rows[-2:]] == ["left", "left"]
    assert (
        comparison.summary
        == "The first difference is in iteration 1, at “Observation”; 3 of 7 rows differ."
    )


def test_texts_count_whole_not_as_far_as_a_card_shows_them() -> None:
    state = run.done()
    call = state.steps[0].calls[0]
    sides = []
    for end in ("one", "two"):
        said = replace(call, observation="x" * 5_000 + f"\nthe end is {end}")
        steps = PersistentList([replace(state.steps[0], calls=(said,)), *state.steps[1:]])
        sides.append(RunSide(end, replace(state, steps=steps)))
    comparison = compare(*sides)
    first = comparison.first_difference

    assert first is not None
    row = comparison.rows[first]
    assert row.left is not None
    assert row.right is not None
    assert row.left.summary == row.right.summary
    texts = comparison.texts(first)
    assert [block.kind for block in texts.left] == ["body", "gone"]
    assert plain_text(texts.right[1:]) == "the end is two"


def test_figures_of_both_ways_say_how_much_more_or_less() -> None:
    priced = replace(run.done().usage, cost=0.25)
    one = replace(run.done(), usage=priced)
    usage = replace(one.usage, cost=0.75)
    two = replace(one, seconds=one.seconds + 2, usage=usage, status="stopped")
    found = {each.name: each for each in figures_of(compare(RunSide("A", one), RunSide("B", two)))}

    assert found["Time"].difference == "+2.0 s"
    assert (found["Cost"].difference, found["Cost"].is_less) == ("+$0.5000", False)
    assert found["Tokens"].difference == ""
    unknown = replace(two, usage=replace(usage, cost=None))
    sides = compare(RunSide("A", one), RunSide("B", unknown))
    cost = next(each for each in figures_of(sides) if each.name == "Cost")
    assert (cost.left, cost.right, cost.difference) == ("$0.2500", "unknown", "")
    assert (found["End"].left, found["End"].right) == ("answered", "Stopped")


def test_request_bodies_are_compared_and_ids_of_servers_are_not() -> None:
    state = run.at_reply()
    one = replace(state, step=replace(state.step, called=7))
    comparison = compare(RunSide("A", one, run.call_of), RunSide("B", one))
    bodies = comparison.bodies(0)
    assert '"seq": 7' in plain_text(bodies.left)
    assert "Not stored" in plain_text(bodies.right)

    said = 'assistant:\n→ lookup({"fact": "x"})   [call_0_{}]'
    texts = [said.replace("{}", number) for number in ("84524", "28981")]
    assert len({_without_ids(text) for text in texts}) == 1
    assert _without_ids("a list [1]") == "a list [1]"


def test_the_words_that_differ_are_marked_in_both_columns() -> None:
    sides = sides_of("one\nGo to Rome now.\n\nend", "one\nGo to Oslo now.\n\nend")
    assert [block.kind for block in sides.left] == ["body", "gone", "body"]
    assert [block.kind for block in sides.right] == ["body", "added", "body"]
    for blocks, word in ((sides.left, "Rome"), (sides.right, "Oslo")):
        strong = [
            piece.text for block in blocks for piece in block.pieces if piece.style != "plain"
        ]
        assert strong == [word]
        assert plain_text(blocks) == f"one\nGo to {word} now.\n\nend"


def test_a_side_that_has_nothing_is_empty() -> None:
    assert sides_of("", "a\nb").left == ()
    assert plain_text(sides_of("a\nb", "a\nb").right) == "a\nb"
