"""The clocks of a run: each starts where the thing that it measures starts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import pytest

from studio.core.agent.loop.machine import advance, fold
from studio.core.agent.loop.steps import new_state
from studio.core.agent.past.replay import RecordedModel, RecordedSpecs, RecordedTools, Reenactment
from studio.core.agent.values.breakpoints import environment_of
from studio.core.agent.values.commands import Continue
from studio.core.agent.values.events import (
    ModelCalled,
    ModelReplied,
    Rendered,
    ReplyRead,
    ToolCalled,
    ToolEnded,
)
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action, PausePoint, RequestedCall, RunSetup
from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedModel
from studio.core.tools.source import ToolOutcome
from studio.core.wire.reply import Reply
from tests.core.agent.runs import (
    NATIVE,
    Functions,
    Session,
    call,
    calling,
    document,
    run_of,
    search,
)
from tests.support.start_run import start_run


class SlowToOpen(ScriptedModel):
    """A model whose client is opened first, and notes what the run had written by then."""

    def __init__(self, fault: ModelError | None = None) -> None:
        super().__init__(["ok"])
        self.fault = fault
        self.run = None
        self.written: list[type] = []

    async def prepare(self, tell: Callable[[str], None]) -> None:
        tell("Opening the model.")
        self.written = [type(event) for event in self.run.events]
        if self.fault is not None:
            raise self.fault


@pytest.mark.parametrize("fault", [None, ModelError("no-key", "It needs a key.")])
async def test_a_client_is_opened_before_the_clock_of_the_call_starts(fault):
    model = SlowToOpen(fault)
    options = RunOptions(headless=True)
    model.run = start_run(document(NATIVE), {"question": "Where?"}, model, Functions(), options)
    state = await model.run.go()
    assert model.written[-1] is Rendered
    assert ModelCalled in [type(event) for event in model.run.events]
    assert state.status == ("failed" if fault else "done")
    assert state.error is None or state.error.message == "It needs a key."


class SlowToStart(Functions):
    """Tools whose process is started first; notes what the run had written by then."""

    run = None
    written: tuple[type, ...] = ()

    async def call(self, *asked: Any) -> ToolOutcome:
        self.written = tuple(type(event) for event in self.run.events)
        return await super().call(*asked)


async def test_a_process_is_started_before_the_clock_of_the_call_starts():
    tools = SlowToStart(search)
    tools.run, _ = run_of(NATIVE, [calling(call()), "ok"], tools=tools)
    state = await tools.run.go()
    assert state.status == "done"
    assert ToolCalled not in tools.written
    types = [type(event) for event in tools.run.events]
    assert types[len(tools.written) :][:2] == [ToolCalled, ToolEnded]


def with_tool_calls(*spans: tuple[float, float]) -> RunState:
    """A run whose calls began and ended so, in seconds."""
    asked = tuple(call(call_id=f"c{row}") for row in range(len(spans)))
    state = new_state(RunSetup("r"))
    for event in (
        ModelCalled(1, at=100.0),
        ModelReplied(Reply(tool_calls=asked), 2.0, at=102.0),
        ReplyRead(Action(calls=tuple(RequestedCall(c.id, c.name, {"q": c.id}, "") for c in asked))),
        *(ToolCalled(row, at=began) for row, (began, _) in enumerate(spans)),
        *(
            ToolEnded(row, ToolOutcome("x", "ok", ended - began), at=ended)
            for row, (began, ended) in enumerate(spans)
        ),
    ):
        state, _ = advance(state, event)
    return state


@pytest.mark.parametrize(
    ("spans", "worked"),
    [
        (((110.0, 111.0), (112.0, 113.5)), 2.5),
        (((110.0, 111.0), (110.0, 113.5)), 3.5),
        (((112.0, 113.0), (110.0, 114.0)), 4.0),
        (((110.0, 112.0), (111.0, 113.0), (120.0, 121.0)), 4.0),
        (((0.0, 1.0), (0.0, 2.0)), 3.0),  # journals that kept no beginning
    ],
)
def test_calls_at_the_same_time_are_not_added_up(spans, worked):
    state = with_tool_calls(*spans)
    assert (state.step.seconds_tools, state.seconds_tools) == (worked, worked)
    assert state.seconds == 2.0 + worked


def test_elapsed_is_the_time_of_the_call_whose_result_is_shown():
    state = replace(with_tool_calls((110.0, 111.0), (110.0, 113.5)), call=1)
    at = {place: environment_of(replace(state, place=place)) for place in PausePoint}
    assert at[PausePoint.OBSERVATION]["elapsed"] == 3.5
    assert at[PausePoint.REPLY]["elapsed"] == 2.0
    assert at[PausePoint.STEP_END]["elapsed"] == state.seconds == 5.5


async def test_an_exact_replay_has_its_own_time_and_knows_the_recorded_one():
    run, _ = run_of(NATIVE, [calling(call()), "ok"])
    first = await run.go()
    events = [
        replace(event, seconds=40.0)
        if isinstance(event, ModelReplied)
        else replace(event, outcome=replace(event.outcome, duration=20.0))
        if isinstance(event, ToolEnded)
        else event
        for event in run.events
    ]
    past = Reenactment(events)
    again = start_run(
        document(NATIVE),
        {"question": "Where?"},
        RecordedModel(past.recording.calls),
        RecordedTools(RecordedSpecs(first.setup.tools), past.recording, live=False),
        RunOptions(approve="always"),
        reenactment=past,
    )
    state = await again.go()
    assert (state.status, state.setup.recorded_seconds) == ("done", 100.0)
    assert state.seconds < 20.0
    assert Reenactment(again.events).seconds == 100.0


@pytest.mark.parametrize("jump", [0.0, 315_576_000.0, -315_576_000.0])
async def test_a_clock_that_is_set_during_a_pause_changes_no_waiting(monkeypatch, jump):
    clock = SimpleNamespace(set=1.8e9, own=50.0)
    clock.time, clock.monotonic = lambda: clock.set, lambda: clock.own
    monkeypatch.setattr("studio.core.agent.run.event_log.time", clock)
    session = Session.over(NATIVE, ["ok"], options=RunOptions(stop_at_entry=True))
    assert await session.until_still() == PausePoint.BEFORE_REQUEST
    clock.own += 25.0
    clock.set += 25.0 + jump
    assert await session.send(Continue()) == "done"
    assert session.run.state.waited == 25.0
    assert fold(session.run.events) == session.run.state
