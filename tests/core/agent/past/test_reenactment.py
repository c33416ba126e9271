"""A run gone through again with all that the person did in it: nothing is asked or called."""

from __future__ import annotations

import pytest

from studio.core.agent.past.replay import (
    RecordedModel,
    RecordedSpecs,
    RecordedTools,
    Reenactment,
    branch_path,
)
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import (
    AnswerCall,
    Approve,
    Continue,
    Reject,
    SendBack,
    Steer,
    StepOn,
    TakeRepair,
)
from studio.core.agent.values.events import (
    CallEdited,
    MessagesEdited,
    ModelReplied,
    ObservationEdited,
    ToolEnded,
)
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import PausePoint
from studio.core.models.scripted import ScriptedModel
from studio.core.prompty.document import Message, TextPart
from tests.core.agent.runs import NATIVE, REACT, Functions, Session, call, calling, document, search
from tests.support.run_comparison import compare
from tests.support.start_run import start_run

EVERYWHERE = RunOptions(pause_at=frozenset(PausePoint) - {PausePoint.ERROR}, backoff=0)
ACT = 'Thought: I look.\nAction: search\nArgs: {"query": "x"}'
END = "Thought: I know.\nFinal Answer: there"
BROKEN = 'Thought: I look.\nAction: search\nArgs: {"query": "x",}'


async def reenacted(run: Run, text: str) -> tuple[RunState, Run]:
    past = Reenactment(branch_path(run.events, len(run.events)))
    again = start_run(
        document(text),
        {"question": "Where?"},
        RecordedModel(past.recording.calls),
        RecordedTools(RecordedSpecs(run.state.setup.tools), past.recording, live=False),
        RunOptions(approve="always", limits=run.state.setup.limits),
        reenactment=past,
    )
    return await again.go(), again


def same(one: RunState, other: RunState) -> None:
    assert compare(one, other).first is None
    assert (one.status, one.answer) == (other.status, other.answer)
    assert [step.marks - {"replayed"} for step in one.steps] == [
        step.marks - {"replayed"} for step in other.steps
    ]


async def edited_native() -> Session:
    """Every sort of edit that a native run knows, one a step."""
    script = [
        calling(call()),
        calling(call(call_id="c2")),
        calling(call(call_id="c3")),
        "first",
        "second",
    ]
    tools = Functions(search, ask=("search",))
    session = Session.over(NATIVE, script, tools=tools, options=EVERYWHERE)
    assert await session.until_still() == PausePoint.BEFORE_REQUEST
    messages = session.run.state.step.messages
    other = Message("user", (TextPart("Where is it?"),))
    await session.send(MessagesEdited((*messages[:-1], other)), StepOn("into"))
    await session.send(StepOn("into"))
    assert session.run.state.place == PausePoint.TOOL_CALL
    await session.send(CallEdited(0, "search", {"query": "other"}))
    await session.send(Approve(0))
    assert session.run.state.place == PausePoint.OBSERVATION
    await session.send(ObservationEdited(0, "nothing at all"), Steer("Be quick."), StepOn("into"))
    for decide in (Reject(0, "not now"), AnswerCall(0, "by hand")):
        while session.run.state.place != PausePoint.TOOL_CALL:
            await session.send(StepOn("into"))
        await session.send(decide)
    while not session.run.state.is_over:
        await session.send(StepOn("into"))
    assert session.run.state.answer == "first"
    await session.send(SendBack("And then?"))
    while not session.run.state.is_over:
        await session.send(Continue())
    return session


async def test_all_that_a_person_did_is_done_again() -> None:
    session = await edited_native()
    run = session.run
    assert (run.state.status, run.state.answer) == ("done", "second")
    state, again = await reenacted(run, NATIVE)
    same(run.state, state)
    assert {
        event.origin for event in again.events if isinstance(event, ModelReplied | ToolEnded)
    } == {"recorded"}
    assert state.usage.total_tokens == 0


async def test_a_repair_and_an_answer_in_the_models_place() -> None:
    session = Session.over(REACT, [BROKEN, END], options=RunOptions())
    assert await session.until_still() == PausePoint.ERROR
    repair = session.run.state.error.repairs[0]
    await session.send(TakeRepair(repair.name))
    while not session.run.state.is_over:
        await session.send(Continue())
    state, _ = await reenacted(session.run, REACT)
    same(session.run.state, state)
    assert "repaired" in state.steps[0].marks


async def test_a_problem_that_was_gone_on_from_does_not_stop_it() -> None:
    session = Session.over(REACT, ["mumble", "mumble", END], options=RunOptions())
    while await session.until_still() == PausePoint.ERROR:
        await session.send(Continue())
    assert session.run.state.status == "done"
    state, _ = await reenacted(session.run, REACT)
    same(session.run.state, state)


@pytest.mark.parametrize("gone", range(2, 30, 3))
async def test_a_recording_that_breaks_off_ends_by_saying_so(gone: int) -> None:
    session = await edited_native()
    events = session.run.events[:gone]
    past = Reenactment(events)
    run = start_run(
        document(NATIVE),
        {"question": "Where?"},
        RecordedModel(past.recording.calls),
        RecordedTools(RecordedSpecs(session.run.state.setup.tools), past.recording, live=False),
        RunOptions(headless=True, approve="always"),
        reenactment=past,
    )
    state = await run.go()
    assert state.is_over


async def test_a_run_that_goes_another_way_is_left_alone() -> None:
    session = await edited_native()
    past = Reenactment(session.run.events)
    tools = Functions(search)
    run = start_run(
        document(NATIVE),
        {"question": "Where?"},
        ScriptedModel([past.recording.calls[-1].reply]),
        tools,
        RunOptions(headless=True),
        reenactment=past,
    )
    state = await run.go()
    assert (state.status, state.answer) == ("done", "second")
    assert not past.goes_on


def test_what_is_no_journal_is_refused() -> None:
    with pytest.raises(ValueError, match="Started"):
        Reenactment([ModelReplied.__new__(ModelReplied)])
