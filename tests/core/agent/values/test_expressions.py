"""The expression language: what it means, and what it never does."""

from __future__ import annotations

import pytest

from studio.core.agent.values.breakpoints import Breakpoint, HitCounter, problem_of
from studio.core.agent.values.expressions import ExpressionError, fill, parse_expression
from studio.core.agent.values.state import Call, RunSetup, RunState, Step

HERE = {
    "iteration": 3, "tool": "search", "args": {"query": "a b", "list": [1, 2], "n": 5},
    "observation": None, "cost": 0.05, "tokens": {"total": 100},
}  # fmt: skip


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("iteration > 2", True),
        ("iteration >= 3 and tool == 'search'", True),
        ("iteration < 3 or cost >= 0.05", True),
        ("not (tool == \"x\")", True),
        ("not tool == 'search'", False),
        ("args.query contains 'b'", True),
        ("'b' in args.query", True),
        ("args.query startswith \"a\"", True),
        ("args.query endswith 'z'", False),
        ("args.query matches 'a*'", True),
        ("args.query matches '*x*'", False),
        ("args.list.1 == 2", True),
        ("args.missing.deeper == null", True),
        ("2 in args.list", True),
        ("tokens.total", 100),
        ("args.n == 5.0", True),
        ("observation contains 'x'", False),
        ("iteration > 'x'", False),
        ("-1 < 0", True),
        ("true and false", False),
        ("\"it's \\\"so\\\"\" == 'it\\'s \"so\"'", True),
    ],
)  # fmt: skip
def test_values(source, value):
    assert parse_expression(source).value(HERE) == value


@pytest.mark.parametrize(
    "source",
    ["", "  ", "iteration >", "> 2", "(iteration", "iteration)", "a b", "nothing == 1",
     "tool = 'x'", "__import__('os')", "tool.__class__()", "iteration; 1", "1 + 1", "'open",
     "(" * 200, "x" * 3000],
)  # fmt: skip
def test_what_is_no_expression_is_refused(source):
    with pytest.raises(ExpressionError):
        parse_expression(source)


def test_attributes_of_python_objects_cannot_be_reached():
    assert parse_expression("tool.__class__").value(HERE) is None


def test_log_messages():
    assert fill("{iteration}: {args.query} {args.list}", HERE) == "3: a b [1, 2]"


def state(place="P3", tool="search", query="a", iteration=1):
    call = Call("1", tool, {"query": query})
    return RunState(
        RunSetup("r"), place=place, call=0, iteration=iteration, step=Step(iteration, calls=(call,))
    )


def test_a_breakpoint_of_a_tool_stands_before_its_call():
    counter = HitCounter()
    point = Breakpoint("b", tool="search")
    assert counter.look([point], state()).stops == ("b",)
    assert counter.look([point], state("P4")).stops == ()
    assert counter.look([point], state(tool="other")).stops == ()


@pytest.mark.parametrize(
    ("hits", "stops"),
    [("", [1, 2, 3, 4]), ("2", [2]), (">=3", [3, 4]), (">3", [4]), ("<2", [1]), ("% 2", [2, 4])],
)
def test_hit_counts(hits, stops):
    counter = HitCounter()
    point = Breakpoint("b", tool="search", hits=hits)
    found = [at for at in range(1, 5) if counter.look([point], state()).stops]
    assert found == stops


def test_hits_are_counted_where_the_condition_holds():
    counter = HitCounter()
    point = Breakpoint("b", tool="search", condition='args.query == "z"', hits="2")
    asked = ["z", "a", "a", "z"]
    assert [bool(counter.look([point], state(query=query)).stops) for query in asked] == [
        False,
        False,
        False,
        True,
    ]


def test_a_broken_condition_stops_and_says_so():
    hit = HitCounter().look([Breakpoint("b", condition="oops ==")], state())
    assert hit.stops == ("b",)
    assert "oops" in hit.logs[0][1]


def test_a_switched_off_breakpoint_does_nothing():
    assert HitCounter().look([Breakpoint("b", enabled=False)], state()).stops == ()


def test_breakpoints_that_can_never_be_met_are_known():
    assert "no tool 'x'" in problem_of(Breakpoint("b", tool="x"), ["search"])
    assert problem_of(Breakpoint("b", condition="1 +"), []) != ""
    assert problem_of(Breakpoint("b", tool="search", condition="iteration > 1"), ["search"]) == ""
