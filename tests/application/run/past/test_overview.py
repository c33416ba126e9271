from __future__ import annotations

from dataclasses import replace

from studio.application.run.past.branches import BranchView, as_tree
from studio.application.run.past.compare import RunSide, overview
from tests.application.run import examples as run


def test_three_runs_are_held_against_the_first() -> None:
    done = run.done()
    slow = replace(done, seconds=9.5)
    made = overview([RunSide("one", done), RunSide("two", done), RunSide("slow", slow)])

    rows = {row.name: row for row in made.rows}
    assert rows["Time"].cells == ("2.6 s", "2.6 s", "9.5 s")
    assert rows["Time"].differs == (False, False, True)
    assert rows["End"].cells == ("answered",) * 3
    assert rows["Answer"].cells[0].startswith("The answer is")
    assert rows["Against the first"].cells == (
        "the first",
        "Both are identical.",
        "Both are identical.",
    )


def test_where_a_run_parts_is_said() -> None:
    made = overview([RunSide("one", run.done()), RunSide("cut", run.at_call())])

    assert made.rows[-1].cells[1].startswith("The first difference is in iteration 1")


def test_ways_stand_behind_the_one_that_they_parted_from() -> None:
    def way(number: int, parent: int | None, depth: int) -> BranchView:
        return BranchView(f"way {number}", "", number, number, depth=depth, parent=parent)

    ways = (way(0, None, 0), way(1, 0, 1), way(2, 0, 1), way(3, 1, 2))

    assert [one.number for one in as_tree(ways)] == [0, 1, 3, 2]
    assert [one.number for one in as_tree(ways[1:])] == [1, 3, 2]
