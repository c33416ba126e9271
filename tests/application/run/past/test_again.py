from __future__ import annotations

import asyncio
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.run.inspector.tabs import Inspection, InspectorView
from studio.application.run.offers.of_run import offers_for
from studio.application.run.past.again import exactly, is_other_prompt, values_of, with_results_of
from studio.application.run.past.record import RunRecord
from studio.application.run.text import plain_text
from studio.core.agent.loop.calls import NoTools, RunToolbox
from studio.core.agent.past import replay
from studio.core.agent.past.replay import state_at, walk
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.values.commands import Continue, ForkFrom
from studio.core.agent.values.events import CallEdited, ObservationEdited
from studio.core.agent.values.step import PausePoint, RunModel
from studio.viewmodels.app.background import Background
from studio.viewmodels.run.controller import RunController
from tests.application.run.world import CALCULATE, FINAL, LOOKUP, ListJournal, LocalTools, plan


@pytest.fixture
def background() -> Iterator[Background]:
    one = Background()
    yield one
    one.stop()


@pytest.fixture
def journal() -> ListJournal:
    return ListJournal()


@pytest.fixture
def controller(background: Background, journal: ListJournal) -> Iterator[RunController]:
    one = RunController(background, journal)
    yield one
    one.close()


def over(qtbot: QtBot, controller: RunController, plan: RunPlan) -> None:
    with qtbot.waitSignal(controller.sessions.ended):
        controller.start(plan)


def waiting(qtbot: QtBot, controller: RunController, place: str) -> None:
    def stands() -> bool:
        state = controller.state
        return state is not None and state.pause is not None and state.pause.place == place

    qtbot.waitUntil(stands)


def test_a_run_of_the_past_goes_on_with_another_observation(
    qtbot: QtBot, controller: RunController, journal: ListJournal
) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL]))
    before = list(journal.events)
    record = RunRecord("From history", tuple(before))
    at = next(item for item in record.checkpoints if item.place == PausePoint.OBSERVATION)
    controller.open_record(record)
    controller.go_to(at.id)
    past = controller.past
    assert past is not None
    assert past.checkpoint == at.id

    tools = LocalTools()
    controller.take_up(
        replace(plan(["Final Answer: Rome."], tools=tools), past=past.to_take_up), ForkFrom(at.id)
    )
    waiting(qtbot, controller, PausePoint.OBSERVATION)
    assert controller.view.record == ""
    assert len(controller.view.branches) == 2
    with qtbot.waitSignal(controller.sessions.ended):
        controller.send(ObservationEdited(0, "Rome"), Continue())

    assert controller.state is not None
    assert controller.state.answer == "Rome."
    assert tools.called == []
    assert journal.events[: len(before)] == before
    assert [event.seq for event in journal.events] == list(range(1, len(journal.events) + 1))
    assert walk(journal.events).state == controller.state


def test_the_prompt_is_run_again_with_the_results_of_a_run(
    qtbot: QtBot, controller: RunController
) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL]))
    past = controller.past
    assert past is not None
    tools = LocalTools()
    with qtbot.waitSignal(controller.compared) as compared:
        again = plan([LOOKUP, CALCULATE, FINAL], tools=tools)
        controller.start(with_results_of(again, past), against=past)

    # The call that was made before was not made again; the new one was.
    assert [name for name, _ in tools.called] == ["calculator"]
    comparison = compared.args[0]
    assert (comparison.left.title, comparison.right.title) == ("Previous run", "This run")
    assert comparison.first_difference is not None
    row = comparison.rows[comparison.first_difference]
    assert (row.left or row.right).step == 2
    state = controller.state
    assert state is not None
    assert state.steps[0].calls[0].origin == "recorded"
    assert state.steps[1].calls[0].origin == "live"


def test_a_run_is_replayed_with_what_the_person_did_in_it(
    qtbot: QtBot, controller: RunController
) -> None:
    controller.breakpoints.toggle_place(PausePoint.OBSERVATION)
    controller.start(plan([LOOKUP, FINAL]))
    waiting(qtbot, controller, PausePoint.OBSERVATION)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.send(ObservationEdited(0, "Rome"), Continue())
    controller.breakpoints.toggle_place(PausePoint.OBSERVATION)
    past = controller.past
    assert past is not None
    with qtbot.waitSignal(controller.repeated) as repeated:
        controller.start(exactly(past), against=past)

    comparison = repeated.args[0]
    assert comparison.first_difference is None
    state = controller.state
    assert state is not None
    assert state.setup.run != past.setup.run
    assert (state.steps[0].calls[0].observation, state.answer) == ("Rome", past.state.answer)
    assert {"edited", "replayed"} <= state.steps[0].marks
    bodies: list[InspectorView] = []
    controller.inspector_changed.connect(bodies.append)
    controller.inspect(Inspection(1, "request"))
    assert "A replay sends nothing" in plain_text(bodies[-1].blocks)


def test_a_replay_stops_at_a_breakpoint_and_goes_its_own_way_from_there(
    qtbot: QtBot, controller: RunController
) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL]))
    past = controller.past
    assert past is not None
    controller.breakpoints.toggle_tool("lookup")
    controller.start(exactly(past))
    waiting(qtbot, controller, PausePoint.TOOL_CALL)
    controller.send(CallEdited(0, "lookup", {"fact": "capital of Italy"}), Continue())
    waiting(
        qtbot, controller, PausePoint.ERROR
    )  # the next request is not the one that was recorded

    state = controller.state
    assert state is not None
    assert state.error is not None
    assert state.error.code == "diverged"
    assert "no recorded result" in (state.steps[0].calls[0].observation or "")


def test_it_runs_to_a_place_once(qtbot: QtBot, controller: RunController) -> None:
    controller.start(plan([LOOKUP, CALCULATE, FINAL]), to=PausePoint.TOOL_CALL)
    waiting(qtbot, controller, PausePoint.TOOL_CALL)
    assert "Breakpoint" not in controller.view.sentence
    controller.run_to(PausePoint.BEFORE_REQUEST)
    waiting(qtbot, controller, PausePoint.BEFORE_REQUEST)
    assert controller.state is not None
    assert controller.state.iteration == 2
    with qtbot.waitSignal(controller.sessions.ended):
        controller.send(Continue())
    assert controller.breakpoints.value.breakpoints == ()


def test_stopping_while_the_tools_are_made_ready(qtbot: QtBot, controller: RunController) -> None:
    never = asyncio.Event

    async def open_toolbox() -> RunToolbox:
        await never().wait()
        return NoTools()

    controller.start(replace(plan([FINAL]), toolbox=None, open_toolbox=open_toolbox))
    qtbot.waitUntil(lambda: controller.view.is_starting)
    assert controller.view.sentence == "Starting the tools"
    assert controller.view.is_busy
    controller.stop()
    qtbot.waitUntil(lambda: not controller.is_live)
    assert not controller.view.is_live


def test_a_branch_ends_where_it_was_left(qtbot: QtBot, controller: RunController) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL, FINAL]))
    first = controller.past
    assert first is not None
    assert first.last == len(first.events)
    at = next(
        item
        for item in controller._slot.shown.tree.checkpoints
        if item.place == PausePoint.OBSERVATION
    )
    controller.go_to(at.id)
    waiting(qtbot, controller, PausePoint.OBSERVATION)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.send(Continue())
    whole = controller.past
    assert whole is not None
    tree, last = controller._slot.shown.tree, len(whole.events)
    assert tree.branch_end(at.id, last) == first.last
    assert tree.branch_end(first.last + 1, last) == last
    controller.open_record(RunRecord("From history", whole.events))
    controller.go_to(at.id)
    shown = controller.past
    assert shown is not None
    assert shown.last == first.last


def test_places_of_a_record_are_folded_from_states_on_the_way(
    qtbot: QtBot, controller: RunController, monkeypatch: pytest.MonkeyPatch
) -> None:
    over(qtbot, controller, plan([LOOKUP, CALCULATE, FINAL, FINAL]))
    at = next(
        item
        for item in controller._slot.shown.tree.checkpoints
        if item.place == PausePoint.OBSERVATION
    )
    controller.go_to(at.id)
    waiting(qtbot, controller, PausePoint.OBSERVATION)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.send(Continue())
    past = controller.past
    assert past is not None
    monkeypatch.setattr(replay, "_KEEP_EVERY", 3)
    made = walk(past.events)
    for event in past.events:
        assert made.state_at(event.seq) == state_at(past.events, event.seq)
    record = RunRecord("From history", past.events)
    assert record.at_checkpoint(at.id).moved(1).whole is record.whole


def test_a_stopped_run_can_be_replayed_too(qtbot: QtBot, controller: RunController) -> None:
    controller.start(plan([LOOKUP, FINAL]), to=PausePoint.TOOL_CALL)
    waiting(qtbot, controller, PausePoint.TOOL_CALL)
    with qtbot.waitSignal(controller.sessions.ended):
        controller.stop()
    offers = controller.view.offers
    assert offers.title == "The run was stopped."
    assert [offer.ask for offer in offers.offers] == ["rerun", "replay"]


def test_what_is_offered_after_a_run(qtbot: QtBot, controller: RunController) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL]))
    state = controller.state
    assert state is not None
    live = [offer.label for offer in offers_for(state, is_record=False).offers]
    assert live == ["Continue with a message…", "Run again with these results", "Replay exactly"]
    kept = [offer.ask for offer in offers_for(state, is_record=True).offers]
    assert kept == ["resume", "rerun", "replay"]
    recorded = replace(state, setup=replace(state.setup, program="python agent.py"))
    for is_record in (False, True):
        made = offers_for(recorded, is_record=is_record, asked=RunModel("other"))
        assert made.offers == ()
        assert made.detail == "These are calls of a program. Start the program for another run."
        assert made.title


def test_a_run_is_run_again_with_its_own_inputs_and_its_own_prompt(
    qtbot: QtBot, controller: RunController, tmp_path: Path
) -> None:
    over(qtbot, controller, plan([LOOKUP, FINAL]))
    past = controller.past
    assert past is not None
    asked = past.setup.inputs["question"]
    now = {"question": "Something else?", "new": 1}
    assert values_of(past, now) == {"question": asked, "new": 1}

    one, two = tmp_path / "one.prompty", tmp_path / "two.prompty"
    one.write_text("system:\n", "utf-8")
    kept = replace(past, state=replace(past.state, setup=replace(past.setup, path=str(one))))
    assert is_other_prompt(kept, two)
    assert is_other_prompt(kept, None)
    assert not is_other_prompt(kept, one)
    one.rename(two)  # as far as anyone can see, it is the file that is open now
    assert not is_other_prompt(kept, two)
