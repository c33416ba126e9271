"""Replays: exactly, with fixed tool results; and where they part from the first."""

from __future__ import annotations

from studio.core.agent.past.replay import RecordedModel, RecordedTools, Reenactment, branch_path
from studio.core.agent.values.events import ModelReplied, ToolEnded
from studio.core.agent.values.options import RunOptions
from studio.core.models.scripted import ScriptedModel
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, Functions, call, calling, document, run_of, search
from tests.support.run_comparison import compare
from tests.support.start_run import start_run

SCRIPT = [
    calling(call()),
    calling(call(arguments='{"query": "y"}')),
    Reply("ok", usage=Usage(5, 5)),
]


async def recorded():
    run, _ = run_of(NATIVE, list(SCRIPT))
    await run.go()
    return run, Reenactment(branch_path(run.events, len(run.events))).recording


def again(model, tools, prompt=NATIVE):
    options = RunOptions(headless=True, backoff=0)
    return start_run(document(prompt), {"question": "Where?"}, model, tools, options)


async def test_a_replay_asks_nobody_and_costs_nothing():
    first, recording = await recorded()
    tools = Functions(search)
    model = RecordedModel(recording.calls)
    run = again(model, RecordedTools(tools, recording, live=False))
    state = await run.go()
    assert (state.status, state.answer, tools.called) == ("done", "ok", [])
    assert {
        event.origin for event in run.events if isinstance(event, ModelReplied | ToolEnded)
    } == {"recorded"}
    assert (state.usage.total_tokens, first.state.usage.total_tokens) == (0, 40)
    assert compare(first.state, state).first is None
    assert not compare(first.state, state).answers_differ
    assert "replayed" in state.steps[0].marks


async def test_a_recording_that_is_used_up_says_so():
    _, recording = await recorded()
    run = again(RecordedModel(recording.calls[:2]), RecordedTools(Functions(search), recording))
    state = await run.go()
    assert (state.status, state.error.code) == ("failed", "recording-ended")


async def test_an_edited_prompt_with_fixed_results_shows_where_it_parts():
    first, recording = await recorded()
    live = ScriptedModel([calling(call()), Reply("sooner")])
    run = again(
        live,
        RecordedTools(Functions(search), recording, live=False),
        NATIVE.replace("brief", "quick"),
    )
    state = await run.go()
    found = compare(first.state, state)
    assert found.first == (1, "request")
    assert [step.aspects for step in found.steps][1][:2] == ("request", "reply")
    assert found.steps[2].aspects == ("steps",)
    assert found.answers_differ


async def test_a_replay_stops_where_it_parts():
    _, recording = await recorded()
    model = RecordedModel(recording.calls)
    run = again(model, Functions(search), NATIVE.replace("brief", "quick"))
    state = await run.go()
    assert (state.status, state.error.code) == ("failed", "diverged")


async def test_a_call_that_was_not_recorded_is_an_error_or_live():
    _, recording = await recorded()
    other = [calling(call(arguments='{"query": "new"}')), "ok"]
    closed = again(ScriptedModel(other), RecordedTools(Functions(search), recording, live=False))
    state = await closed.go()
    assert "no recorded result" in state.conversation[-2].text
    tools = Functions(search)
    opened = again(ScriptedModel(other), RecordedTools(tools, recording))
    await opened.go()
    assert tools.called == [("search", {"query": "new"})]
