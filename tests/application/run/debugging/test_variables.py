from __future__ import annotations

from dataclasses import replace

import pytest

from studio.application.run.cards.timeline import step_at
from studio.application.run.cursor import RunCursor
from studio.application.run.debugging.variables import (
    RunVariable,
    command_for,
    variables_at,
    with_changes,
)
from studio.core.agent.values.breakpoints import at_step, environment_of, parse_expression
from studio.core.agent.values.events import CallEdited, LimitRaised, ObservationEdited
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import StepError
from tests.application.run import examples as run


def _named(rows: tuple[RunVariable, ...]) -> dict[str, RunVariable]:
    return {row.name: row for row in rows}


def test_what_a_run_holds_before_its_tool_runs() -> None:
    rows = _named(variables_at(run.at_call(), None))

    assert rows["iteration"].value == "1"
    assert rows["tool"].value == '"lookup"'
    assert rows["args.fact"].edit == "argument"
    assert rows["observation"].value == "null"
    assert rows["left"].whole == run.at_call().limits.iterations - 1
    assert "thought" in rows
    assert "answer" not in rows


def test_an_earlier_moment_has_what_was_known_then() -> None:
    state = run.done()
    first = _named(variables_at(state, RunCursor(1, "prompt")))
    call = _named(variables_at(state, RunCursor(1, "action", 0)))
    told = _named(variables_at(state, RunCursor(1, "observation", 0)))
    after = _named(variables_at(state, RunCursor(2, "prompt")))
    last = _named(variables_at(state, RunCursor(2, "final")))

    assert "thought" not in first
    assert "tool" not in first
    assert call["observation"].value == "null"
    assert told["observation"].whole
    assert after["steps[0].observation"].value == told["observation"].value
    assert "observation" not in after
    assert "answer" not in after
    assert last["answer"].whole == state.answer
    assert {row.edit for row in (*first.values(), *call.values(), *last.values())} == {""}


@pytest.mark.parametrize(
    "moment",
    [
        RunCursor(1, "prompt"),
        RunCursor(1, "reply"),
        RunCursor(1, "observation", 0),
        RunCursor(2, "prompt"),
        RunCursor(2, "final"),
        None,
    ],
)
@pytest.mark.parametrize("state", [run.done(), run.at_call(), run.at_result()])
def test_a_row_has_the_value_of_its_name_as_an_expression(
    state: RunState, moment: RunCursor | None
) -> None:
    at = state
    if moment is not None:
        at = at_step(state, step_at(state, moment.step), moment.call)
    for row in variables_at(state, moment):
        if row.name != "messages|length":  # a step that is done keeps the number alone
            assert parse_expression(row.name).value(environment_of(at)) == row.whole, row.name


def test_what_changed_since_the_moment_before_is_marked() -> None:
    state = run.done()
    before = variables_at(state, RunCursor(1, "action", 0))
    rows = with_changes(variables_at(state, RunCursor(1, "observation", 0)), before)

    assert [row.name for row in rows if row.is_changed] == ["observation"]
    assert not any(row.is_changed for row in with_changes(before, ()))


def test_a_value_is_written_over_where_the_run_stands() -> None:
    state = run.at_call()
    row = _named(variables_at(state, None))["args.fact"]

    written = command_for(row, '"capital of Italy"', state)
    assert written == CallEdited(0, "lookup", {"fact": "capital of Italy"})
    # A text may be written without its quotes, also one that looks like a number.
    assert command_for(row, "42", state) == CallEdited(0, "lookup", {"fact": "42"})
    with pytest.raises(ValueError, match="not a JSON"):
        command_for(replace(row, whole=[1]), "[1,", state)


def test_the_observation_is_written_over_after_the_tool() -> None:
    state = run.at_result()
    row = _named(variables_at(state, None))["observation"]

    assert command_for(row, "Rome", state) == ObservationEdited(0, "Rome", is_error=False)
    assert _named(variables_at(state, RunCursor(1, "observation", 0)))["observation"].edit == ""


def test_at_a_limit_the_iterations_are_written_over() -> None:
    state = replace(run.at_result(), error=StepError("limit", "iterations", "Too many."))
    row = _named(variables_at(state, None))["iteration"]

    assert command_for(row, "12", state) == LimitRaised("iterations", 12)
    with pytest.raises(ValueError, match="how many"):
        command_for(row, "0", state)
