from __future__ import annotations

from studio.application.run.debugging.console import evaluated, lines_of, names_for
from studio.core.agent.values.events import Logged, ModelFailed, Paused, ReplyEdited, ToolEnded
from studio.core.agent.values.step import PausePoint
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply
from tests.application.run import examples as run


def test_what_happened_is_told_in_lines() -> None:
    outcome = ToolOutcome("no such fact\nat line 3", "error", stderr="looked in 2 facts\n\n")
    events = (
        Logged("iter 1 lookup", "b1"),
        ToolEnded(1, outcome),
        ModelFailed("busy", "The server is busy.", retry_in=2.0),
        ModelFailed("key", "The key is wrong."),
        ReplyEdited(Reply(), repair="quotes"),
        Paused(PausePoint.REPLY, "step"),
        ToolEnded(0, ToolOutcome("Paris", "ok")),
    )
    lines = [line for event in events for line in lines_of(event, 3, "lookup")]

    assert [(line.kind, line.text) for line in lines] == [
        ("log", "iter 1 lookup"),
        ("output", "lookup: looked in 2 facts"),
        ("error", "lookup: no such fact"),
        ("warning", "The server is busy; next try in 2.0 s"),
        ("error", "The key is wrong"),
        ("warning", "Repaired: quotes"),
    ]
    assert {line.step for line in lines} == {3}
    assert [line.call for line in lines if line.text.startswith("lookup: ")] == [1, 1]


def test_an_expression_is_worked_out_where_the_run_stands() -> None:
    asked, value = evaluated('args.fact ~ "!"', run.at_call())
    assert (asked.kind, value.kind) == ("asked", "value")
    assert value.text.endswith('!"')

    assert evaluated("args.", run.at_call())[1].kind == "wrong"
    assert evaluated("iteration", None)[1].text == "There is no run yet."


def test_the_names_that_can_be_written_have_the_arguments_at_hand() -> None:
    names = names_for(run.at_call())

    assert {"iteration", "tool", "tokens.total", "args.fact"} <= set(names)
    assert {"steps", "messages", "call.elapsed", "request.tools", "inputs"} <= set(names)
    assert "args.fact" not in names_for(None)
