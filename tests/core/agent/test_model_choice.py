"""A run goes on with the model that the user takes, and its journal says so."""

from __future__ import annotations

import asyncio
from contextlib import closing

import pytest

from studio.core.agent.past.replay import (
    RecordedModel,
    RecordedSpecs,
    RecordedTools,
    Reenactment,
    branch_path,
    walk,
)
from studio.core.agent.run.plan import RunPlan
from studio.core.agent.run.requests import NotAllowedError
from studio.core.agent.run.runner import Run
from studio.core.agent.values.commands import (
    ChooseModel,
    Continue,
    ForkFrom,
    SendBack,
    StepOn,
    StopRun,
)
from studio.core.agent.values.events import ModelChosen
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, PausePoint, RunModel, Touch
from studio.core.models.scripted import ScriptedModel
from studio.core.runs.codec import decode_event, encode_event
from studio.core.runs.exchange import report
from studio.core.runs.otlp import otlp
from studio.core.runs.rows import RunSummary, summarize
from studio.core.runs.store import RunStore
from tests.core.agent.runs import NATIVE, Functions, Session, call, calling, document, search
from tests.support.start_run import start_run

OWN, OTHER = RunModel("Scripted model"), RunModel("Other", "other-2", "openai", "https://o.test")
EVERYWHERE = RunOptions(pause_at=frozenset(PausePoint))


async def at_second_request(**more) -> tuple[Session, ScriptedModel]:
    """A run that asked one model for a call, and stands before its second request."""
    session = Session.over(NATIVE, [calling(call()), "own"], options=EVERYWHERE, **more)
    await session.until_still()
    while session.run.state.iteration < 2:
        await session.send(StepOn("into"))
    assert session.run.state.place == PausePoint.BEFORE_REQUEST
    return session, ScriptedModel(["theirs", "theirs again"])


def asked_of(session: Session) -> list[str]:
    setup = session.run.state.setup
    steps = (*session.run.state.steps, session.run.state.step)
    known = {each.number: (each.model or setup.answered_by).name for each in steps if each.number}
    return [known[number] for number in sorted(known)]


async def test_the_requests_from_there_on_go_to_the_model_that_was_taken() -> None:
    session, other = await at_second_request()
    own = session.run.state.setup.answered_by
    await session.send(ChooseModel(OTHER, own, other))
    state = session.run.state
    assert (state.place, state.answered_by, state.declined) == (
        PausePoint.BEFORE_REQUEST,
        OTHER,
        None,
    )
    touch = state.step.touches[-1]
    assert (touch.kind, touch.place) == ("switched", PausePoint.BEFORE_REQUEST)
    assert touch.text == f"Other instead of {own.name}"
    while not session.run.state.is_over:
        await session.send(StepOn("into"))
    assert session.run.state.answer == "theirs"
    assert len(session.model.requests) == len(other.requests) == 1
    assert asked_of(session) == [own.name, "Other"]


async def test_a_model_that_is_kept_is_said_too_and_answers_on() -> None:
    session, other = await at_second_request()
    own = session.run.state.setup.answered_by
    await session.send(ChooseModel(own, OTHER), Continue())
    while not session.run.state.is_over:
        await session.send(StepOn("into"))
    assert (session.run.state.answer, other.requests) == ("own", ())
    kinds = [each.kind for step in session.run.state.steps for each in step.touches]
    kinds += [each.kind for each in session.run.state.step.touches]
    assert "kept" in kinds
    assert asked_of(session) == [own.name] * 2


async def test_a_model_that_is_refused_is_closed_with_the_run() -> None:
    class Noted(ScriptedModel):
        is_closed = False

        async def close(self) -> None:
            self.is_closed = True

    session, _ = await at_second_request()
    await session.send(StopRun())
    while not session.run.state.is_over:
        await asyncio.sleep(0)
    refused = Noted(["theirs"])
    with pytest.raises(NotAllowedError):
        session.run.send(ChooseModel(OTHER, OWN, refused))
    await session.run.close_models()
    assert refused.is_closed


async def test_a_fork_goes_back_to_the_model_of_its_place() -> None:
    session, other = await at_second_request()
    run = session.run
    first = next(each for each in run.tree.checkpoints if each.iteration == 2)
    own = run.state.answered_by
    await session.send(ChooseModel(OTHER, own, other))
    await session.send(StepOn("into"))
    await session.send(ForkFrom(first.id))
    assert run.state.answered_by == own
    while not run.state.is_over:
        await session.send(StepOn("into"))
    assert run.state.answer == "own"
    assert walk(run.events).state == run.state


@pytest.mark.parametrize("label", ["Other", "Scripted (recording)"])
async def test_a_request_goes_to_no_other_model_than_the_journal_names(label: str) -> None:
    session, other = await at_second_request()
    run = session.run
    first = next(each for each in run.tree.checkpoints if each.iteration == 2)
    await session.send(ChooseModel(OTHER, run.state.answered_by, other))
    await session.send(StepOn("into"))

    # taken up with one model alone, and gone back to where the run had its first one
    at_hand = ScriptedModel(["from the one at hand"], label=label)
    changed = asyncio.Event()
    plan = RunPlan(
        document(NATIVE),
        {"question": "Where?"},
        at_hand,
        Functions(search),
        options=EVERYWHERE,
        past=walk(tuple(run.events)),
        shown=lambda _: changed.set(),
    )
    again = Session(Run(plan, run.state.setup))
    again.changed = changed
    await session.close()
    await again.send(ForkFrom(first.id))
    await again.send(StepOn("into"))
    if label == "Other":
        assert (again.run.state.place, at_hand.requests) == (PausePoint.ERROR, ())
        error = again.run.state.error
        assert error is not None
        assert (error.code, error.message) == (
            "missing-model",
            "Scripted was used here and is not open in this run; nothing was sent.",
        )
    else:
        assert len(at_hand.requests) == 1
        assert again.run.state.step.reply.text == "from the one at hand"
    await again.close()


async def test_a_run_that_begins_says_which_model_it_was_begun_with_and_over_which() -> None:
    session = Session.over(NATIVE, ["first"])
    own = session.run.state.answered_by
    state = await session.run.go(ChooseModel(own, OTHER))
    assert (state.answer, state.answered_by, state.declined) == ("first", own, OTHER)
    (touch,) = state.step.touches
    assert (touch.kind, touch.place) == ("switched", PausePoint.BEFORE_REQUEST)


async def test_after_the_answer_the_thread_goes_on_with_another_model() -> None:
    session = Session.over(NATIVE, ["first"])
    assert await session.until_still() == "done"
    other = ScriptedModel(["second"])
    own = session.run.state.answered_by
    await session.send(ChooseModel(OTHER, own, other), SendBack("And then?"))
    while not session.run.state.is_over:
        await session.send(Continue())
    assert session.run.state.answer == "second"
    touches = [each for step in session.run.state.steps for each in step.touches]
    assert [(each.kind, each.place) for each in touches] == [("switched", PausePoint.ANSWER)]

    past = Reenactment(branch_path(session.run.events, len(session.run.events)))
    again = start_run(
        document(NATIVE),
        {"question": "Where?"},
        RecordedModel(past.recording.calls),
        RecordedTools(RecordedSpecs(session.run.state.setup.tools), past.recording, live=False),
        RunOptions(approve="always"),
        reenactment=past,
    )
    state = await again.go()
    assert (state.status, state.answer) == ("done", "second")
    chosen = [each for each in again.events if isinstance(each, ModelChosen)]
    assert [(each.model, each.over) for each in chosen] == [(OTHER, own)]
    assert state.answered_by == OTHER


async def test_journal_index_report_and_trace_tell_of_it(tmp_path) -> None:
    with closing(RunStore(tmp_path / "runs.sqlite")) as store:
        writer = store.journal("r1")
        replies = [calling(call(arguments=f'{{"query": "{n}"}}')) for n in range(12)]
        options = RunOptions(pause_at=frozenset(PausePoint), limits=Limits(None))
        session = Session.over(
            NATIVE, [*replies, "own"], options=options, tools=Functions(search), journal=writer
        )
        await session.until_still()
        other = ScriptedModel([*replies, "theirs"])
        own = session.run.state.answered_by
        while session.run.state.iteration < 2:
            await session.send(StepOn("into"))
        session.run.gate.options = RunOptions()
        await session.send(ChooseModel(OTHER, own, other), Continue())
        assert session.run.state.answer == "theirs"
        events = list(session.run.events)
        assert [decode_event(encode_event(each)) for each in events] == events
        opened = store.open("r1")
        assert opened.state == session.run.state
        late = opened.tree.checkpoints[-1]
        assert opened.state_at(late.id).answered_by == OTHER  # from a snapshot, too

    spans = otlp(events, "1.0")["resourceSpans"][0]["scopeSpans"][0]["spans"]
    chats = [each for each in spans if each["name"].startswith("chat")]
    assert [each["name"] for each in chats][:2] == [f"chat {own.name}", "chat other-2"]
    named = {each["key"]: each["value"] for each in chats[1]["attributes"]}
    assert named["gen_ai.provider.name"] == {"stringValue": "openai"}
    assert named["server.address"] == {"stringValue": "o.test"}
    page = report(events, "1.0")
    assert f"{own.name}, then Other" in page
    assert "model changed by the user: Other instead of" in page
    line = RunSummary("r1")
    for event in events:
        line = summarize(line, event)
    assert line.model == f"{own.name}, Other"


def test_models_are_told_apart_by_their_server_where_it_is_known() -> None:
    assert RunModel("a (recording)").is_same(
        RunModel("a", "id", "p", "s")
    )  # its calls were written down
    assert RunModel("a").is_same(RunModel("a", "id", "p", "s"))  # an older journal
    assert not RunModel("a", "id", "p", "s").is_same(RunModel("a", "id", "p", "t"))
    assert Touch("kept", PausePoint.ANSWER).text == ""
