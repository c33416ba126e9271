"""The expression language: what it means, and what it never does."""

from __future__ import annotations

from dataclasses import replace

import pytest

from studio.core.agent.values.breakpoints import (
    NAMES,
    Breakpoint,
    ExpressionError,
    HitCounter,
    check_message,
    environment_of,
    fill,
    moments_of,
    parse_expression,
    problem_of,
)
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Call, PausePoint, RunSetup, Step
from tests.application.run import examples
from tests.support.soon import soon

HERE = {
    "iteration": 3,
    "tool": "search",
    "args": {"query": "a b", "list": [1, 2], "n": 5},
    "observation": None,
    "cost": 0.05,
    "tokens": {"total": 100},
}


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("iteration > 2", True),
        ("iteration >= 3 and tool == 'search'", True),
        ("iteration < 3 or cost >= 0.05", True),
        ('not (tool == "x")', True),
        ("not tool == 'search'", False),
        ("args.query contains 'b'", True),
        ("'b' in args.query", True),
        ('args.query startswith "a"', True),
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
        ('"it\'s \\"so\\"" == \'it\\\'s "so"\'', True),
        ("args.query.startswith('a')", True),
        ("not observation.startswith('a')", True),
        ("args.missing.deeper.startswith('a')", None),
        ("not args.query startswith 'a'", False),
        ("args.query is not contains 'b'", False),
        ("tool in ['search', 'find']", True),
        ("1 < iteration < 5", True),
        ("iteration > 'x' or tool == 'search'", True),
        ("args.items == null", True),
        ("args.list|length", 2),
        ("args['query']", "a b"),
        ("(tool, args.list|first)", ["search", 1]),
        ("iteration * 2 + 1", 7),
        ("'tool contains x' == args.query", False),
    ],
)
def test_values(source, value):
    assert parse_expression(source).value(HERE) == value


@pytest.mark.parametrize(
    "source",
    [
        "",
        "  ",
        "iteration >",
        "> 2",
        "(iteration",
        "iteration)",
        "a b",
        "nothing == 1",
        "tool = 'x'",
        "__import__('os')",
        "iteration; 1",
        "1 +",
        "'open",
        "tool | nothing",
        "loop",
        "tool is nothing",
        "tool contains",
        "tool }} {{ tool",
        "tool }}",
        "lipsum()",
        "range(3)",
        "(" * 200,
        "(" * 900 + "1" + ")" * 900,
        "x" * 3000,
    ],
)
def test_what_is_no_expression_is_refused(source):
    with pytest.raises(ExpressionError):
        parse_expression(source)


@pytest.mark.parametrize(
    ("source", "place"),
    [
        (
            "iteration > 3 and and tool",
            "an operator is missing, at 'tool', character 23",
        ),
        ("iteration >", "at its end"),
        ("tool startswith 'a' and nothing", "no 'nothing'"),
        ("tool startswith 'a' and nothing", "at 'nothing', character 25"),
    ],
)
def test_what_is_wrong_says_where(source, place):
    with pytest.raises(ExpressionError) as caught:
        parse_expression(source)
    assert place in str(caught.value)


@pytest.mark.parametrize(
    "source",
    [
        "tool.__class__()",
        "tool.nothing()",
        "tool * 1000000",
        "tool.ljust(99999999)",
        "observation + 1",
        "tool.startswith(1)",
    ],
)
def test_what_cannot_be_worked_out_says_so(source):
    with pytest.raises(ExpressionError):
        parse_expression(source).value(HERE)
    hit = HitCounter().look([Breakpoint("b", condition=source)], state())
    assert hit.stops == ("b",)
    assert source in hit.logs[0][1]


def test_nothing_is_changed():
    with pytest.raises(ExpressionError):
        parse_expression("args.list.append(3)").value(HERE)
    assert HERE["args"]["list"] == [1, 2]


def test_long_work_ends():
    with soon(), pytest.raises(ExpressionError):
        parse_expression("(args.query * 400000)|batch(1)|list|length > 0").value(HERE)


def test_attributes_of_python_objects_cannot_be_reached():
    for source in ("tool.__class__", "tool.upper", "args.__class__", "args.keys"):
        assert parse_expression(source).value(HERE) is None


def test_log_messages():
    assert fill("{iteration}: {args.query} {args.list}", HERE) == "3: a b [1, 2]"
    check_message("{observation + 1}")  # may have a value one day
    with pytest.raises(ExpressionError):
        check_message("{iteration} {nothing}")


def value(source, at):
    return parse_expression(source).value(environment_of(at))


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ('place == "P4" and tool == "lookup"', True),
        ('"P4" == place', True),
        ('place in ["P3", "P4"]', True),
        ('place != "P3"', True),
        ("calls > 0 and attempt == 1", True),
        ('args.fact startswith "capital" and observation == "Paris"', True),
        ("reply contains 'Lyon'", True),
        ("reply.text == reply and steps[0].reply.text contains 'Lyon'", True),
        ("thought matches '*look*'", True),
        ("tokens.total >= 450 and tokens.input == 412", True),
        ("elapsed < 1 and cost == 0", True),
        ("error == null and answer == null", True),
        ('"invented_observation" in warnings', True),
    ],
)
def test_what_was_written_for_earlier_versions_means_the_same(source, wanted):
    assert value(source, examples.at_result()) is wanted


@pytest.mark.parametrize(
    ("source", "wanted"),
    [
        ("place", "observation"),
        ('place == "observation"', True),
        ("call.elapsed", 0.084),
        ("call.error", None),
        ("inputs.question", "Where?"),
        ("question", "What is the capital of France?"),
        ("messages|length", 2),
        ("messages[0].role", "system"),
        ("messages[-1].text startswith 'Question'", True),
        ("request.tools", ["calculator", "lookup"]),
        ("request.options.temperature", 0.5),
        ("request.messages[1].role == 'user'", True),
        ("model", "Scripted"),
        ("steps|length", 1),
        ("steps[-1].calls[0].observation", "Paris"),
        ("steps[0].reply == reply", True),
        ("steps|map(attribute='tool')|list", ["lookup"]),
        ("text contains 'Paris'", True),
        ("prompt contains 'Rule 3'", True),
        ("left", 5),
        ("errors", []),
    ],
)
def test_a_run_is_known_by_name(source, wanted):
    at = examples.at_result()
    setup = replace(at.setup, inputs={"question": "Where?"}, options={"temperature": 0.5})
    assert value(source, replace(at, setup=setup)) == wanted


def test_the_steps_before_are_known():
    at = examples.at_second_request()
    assert value("steps[0].observation", at) == "Paris"
    assert value("steps[-1].iteration == iteration and steps[-1].reply == null", at) is True
    assert value("steps[7].reply", at) is None
    assert value("steps", at)[0]["args"] == {"fact": "capital of France"}
    assert [value("(iteration, tool)", each) for each in moments_of(at)] == [
        [1, "lookup"],
        [2, None],
    ]


def test_every_name_has_a_value_at_every_place():
    for at in (examples.at_request(), examples.at_reply(), examples.at_call(), examples.done()):
        assert [value(name, at) for name in NAMES]
    assert value("call.elapsed", examples.at_reply()) == 1.24


def test_a_name_that_is_near_is_proposed():
    with pytest.raises(ExpressionError, match=r"no 'inptus'; did you mean 'inputs'\?"):
        parse_expression("inptus.city")


def test_what_has_no_value_says_where():
    with pytest.raises(ExpressionError, match=r"no 'nothing', at '\(\)', character 31"):
        value("iteration > 0 and tool.nothing()", examples.at_call())


def test_a_log_point_takes_the_braces_of_templates_too():
    assert fill("{{ tool }} {call.elapsed}", environment_of(examples.at_result())) == "lookup 0.084"


def state(place=PausePoint.TOOL_CALL, tool="search", query="a", iteration=1):
    call = Call("1", tool, {"query": query})
    return RunState(
        RunSetup("r"), place=place, call=0, iteration=iteration, step=Step(iteration, calls=(call,))
    )


def test_a_breakpoint_of_a_tool_stands_before_its_call():
    counter = HitCounter()
    point = Breakpoint("b", tool="search")
    assert counter.look([point], state()).stops == ("b",)
    assert counter.look([point], state(PausePoint.OBSERVATION)).stops == ()
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
