"""Running to a place: past what would only stop a stepping person, not past a breakpoint."""

from __future__ import annotations

import pytest

from studio.application.run.text_commands import CommandError, target_of
from studio.core.agent.run.effect_runner import RunTarget
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import RunTo, StepOn
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import PausePoint
from tests.core.agent.runs import NATIVE, Session, call, calling

TURNS = [calling(call()), calling(call("search", '{"query": "y"}')), "ok"]


async def stand(**more) -> Session:
    session = Session.over(NATIVE, TURNS, options=RunOptions(stop_at_entry=True, **more))
    assert await session.until_still() == PausePoint.BEFORE_REQUEST
    return session


async def test_it_stands_at_the_place_of_the_step():
    session = await stand(pause_at=frozenset(PausePoint))
    assert await session.send(RunTo(PausePoint.OBSERVATION, 2)) == PausePoint.OBSERVATION
    assert (session.run.state.iteration, session.run.state.pause.reason) == (2, "step")
    assert await session.send(StepOn("into")) == PausePoint.STEP_END  # the target is forgotten
    assert await session.send(RunTo(PausePoint.ANSWER)) == PausePoint.ANSWER
    await session.close()


async def test_a_step_alone_is_its_first_place():
    session = await stand()
    assert await session.send(RunTo(iteration=2)) == PausePoint.BEFORE_REQUEST
    assert session.run.state.iteration == 2
    assert await session.send(RunTo(PausePoint.TOOL_CALL, 1)) == "done"  # never reached any more
    await session.close()


async def test_a_breakpoint_on_the_way_stops_it_and_the_target_is_forgotten():
    session = await stand(breakpoints=(Breakpoint("b", frozenset({PausePoint.TOOL_CALL})),))
    assert await session.send(RunTo(PausePoint.ANSWER)) == PausePoint.TOOL_CALL
    assert session.run.state.pause.breakpoints == ("b",)
    assert session.run.gate.target is None
    await session.close()


@pytest.mark.parametrize(
    ("text", "target"),
    [
        ("3", RunTarget(None, 3)),
        ("p3", RunTarget(PausePoint.TOOL_CALL, None)),
        ("2:tool_call", RunTarget(PausePoint.TOOL_CALL, 2)),
        ("step-end", RunTarget(PausePoint.STEP_END, None)),
        ("2:PX", RunTarget(PausePoint.ERROR, 2)),
        ("P1 4", RunTarget(PausePoint.BEFORE_REQUEST, 4)),
    ],
)
def test_a_place_as_it_is_written(text: str, target: RunTarget) -> None:
    assert target_of(text) == target


@pytest.mark.parametrize("text", ["", "P9", "3:4", "P1:P2", "here"])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(CommandError):
        target_of(text)
