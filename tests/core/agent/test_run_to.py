"""Running to a place: past what would only stop a stepping person, not past a breakpoint."""

from __future__ import annotations

import pytest

from studio.cli.commands import CommandError, target_of
from studio.core.agent.run.gate import Target
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import RunTo, StepOn
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import PLACES
from tests.core.agent.runs import NATIVE, Session, call, calling

TURNS = [calling(call()), calling(call("search", '{"query": "y"}')), "ok"]


async def stand(**more) -> Session:
    session = Session.over(NATIVE, TURNS, options=RunOptions(stop_at_entry=True, **more))
    assert await session.until_still() == "P1"
    return session


async def test_it_stands_at_the_place_of_the_step():
    session = await stand(pause_at=frozenset(PLACES))
    assert await session.send(RunTo("P4", 2)) == "P4"
    assert (session.run.state.iteration, session.run.state.pause.reason) == (2, "step")
    assert await session.send(StepOn("into")) == "P5"  # the target is forgotten
    assert await session.send(RunTo("P6")) == "P6"
    await session.close()


async def test_a_step_alone_is_its_first_place():
    session = await stand()
    assert await session.send(RunTo(iteration=2)) == "P1"
    assert session.run.state.iteration == 2
    assert await session.send(RunTo("P3", 1)) == "done"  # never reached any more
    await session.close()


async def test_a_breakpoint_on_the_way_stops_it_and_the_target_is_forgotten():
    session = await stand(breakpoints=(Breakpoint("b", frozenset({"P3"})),))
    assert await session.send(RunTo("P6")) == "P3"
    assert session.run.state.pause.breakpoints == ("b",)
    assert session.run.gate.target is None
    await session.close()


@pytest.mark.parametrize(
    ("text", "target"),
    [("3", Target(None, 3)), ("p3", Target("P3", None)), ("2:PX", Target("PX", 2)),
     ("P1 4", Target("P1", 4))],
)  # fmt: skip
def test_a_place_as_it_is_written(text: str, target: Target) -> None:
    assert target_of(text) == target


@pytest.mark.parametrize("text", ["", "P9", "3:4", "P1:P2", "here"])
def test_what_is_no_place(text: str) -> None:
    with pytest.raises(CommandError):
        target_of(text)
