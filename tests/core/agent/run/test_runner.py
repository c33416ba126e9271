"""Whole runs: straight through, paused, edited, forked, stopped; with the real machine below."""

from __future__ import annotations

import asyncio
import re
from contextlib import suppress
from dataclasses import replace

import pytest

from studio.core.agent.loop.machine import fold
from studio.core.agent.loop.steps import request_of
from studio.core.agent.past.replay import branch_path, state_at, walk
from studio.core.agent.run.requests import NotAllowedError, allowed, choice_at
from studio.core.agent.values.breakpoints import Breakpoint
from studio.core.agent.values.commands import (
    AnswerCall,
    Approve,
    Continue,
    EditReply,
    ForkFrom,
    PauseRun,
    Reject,
    RunTo,
    SendBack,
    SkipCall,
    Steer,
    StepOn,
    StopCall,
    StopRun,
    TakeRepair,
    TreatAsFinal,
)
from studio.core.agent.values.events import (
    AnswerEdited,
    CallEdited,
    ErrorObservationEdited,
    LimitRaised,
    Logged,
    MessagesEdited,
    ModelFailed,
    ModelReplied,
    ObservationEdited,
    OutcomeTold,
    ToolCalled,
)
from studio.core.agent.values.options import Guard, RunOptions
from studio.core.agent.values.step import Limits, PausePoint
from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedTurn
from studio.core.prompty.document import ToolCallPart
from studio.core.text.values import Json
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import (
    JSON_ACTION,
    NATIVE,
    REACT,
    Functions,
    Session,
    call,
    calling,
    run_of,
    search,
)
from tests.support import patience

ACT = 'Thought: look\nAction: search\nArgs: {"query": "a"}'
END = "Thought: done\nFinal Answer: here"
JSON_ACT = '{"action": "search", "action_input": {"query": "a"}}'
JSON_END = '{"action": "final_answer", "action_input": "here"}'
STEPS = RunOptions(
    pause_at=frozenset(
        {
            PausePoint.BEFORE_REQUEST,
            PausePoint.REPLY,
            PausePoint.TOOL_CALL,
            PausePoint.OBSERVATION,
            PausePoint.STEP_END,
            PausePoint.ANSWER,
        }
    )
)


def names(run) -> list[str]:
    return [type(event).__name__ for event in run.events]


# Straight through ---------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("prompt", "replies", "answer"),
    [
        (REACT, [ACT, END], "here"),
        (JSON_ACTION, [JSON_ACT, JSON_END], "here"),
        (NATIVE, [calling(call()), "here"], "here"),
    ],
)
async def test_all_three_protocols_come_to_an_answer(prompt, replies, answer):
    run, model = run_of(prompt, replies)
    state = await run.go()
    assert (state.status, state.answer, state.iteration) == ("done", answer, 2)
    assert len(model.requests) == 2
    assert fold(run.events) == state
    assert [event.seq for event in run.events] == list(range(1, len(run.events) + 1))


async def test_the_react_template_sees_thought_action_arguments_observation():
    run, model = run_of(REACT, [ACT, END])
    await run.go()
    last = model.requests[1].messages[-1].text
    assert 'Thought: look\nAction: search\nArgs: {"query": "a"}\nObservation: found a' in last
    assert model.requests[1].past_calls == (("search", '{"query": "a"}'),)
    assert model.requests[1].observations == ("found a",)
    assert model.requests[0].question == "Where?"


async def test_the_json_scratchpad_is_fenced_actions_and_outputs():
    run, model = run_of(
        JSON_ACTION, ['{"action": "search", "action_input": "q"}', '{"action": "final_answer"}']
    )
    state = await run.go()
    text = model.requests[1].messages[-1].text
    assert '```json\n{"action": "search", "action_input": {"query": "q"}}\n```' in text
    assert '```json\n{"action_output": "found q"}\n```' in text
    assert '- "search": Find something.' in text
    assert (state.status, state.answer) == ("done", "")


async def test_a_bad_reply_stands_in_the_scratchpad_with_whole_fences():
    bad = '{"action": "search", // what\n"action_input"\n```'
    run, model = run_of(JSON_ACTION, [bad, '{"action": "final_answer"}'])
    await run.go()
    text = model.requests[1].messages[-1].text
    assert f"```json\n{bad}" in text
    before, after = (request.messages[-1].text.count("```") for request in model.requests)
    assert (after - before) % 2 == 0


async def test_native_results_answer_their_calls_in_order():
    two = calling(call(call_id="1"), call(call_id="2", arguments='{"query": "y"}'), text="Let me.")
    run, model = run_of(NATIVE, [two, "ok"])
    await run.go()
    sent = model.requests[1].messages
    assert [message.role for message in sent] == ["system", "user", "assistant", "tool", "tool"]
    assert sent[2].text == "Let me."
    assert [message.attributes["tool_call_id"] for message in sent[3:]] == ["1", "2"]
    assert [message.text for message in sent[3:]] == ["found x", "found y"]


async def test_parallel_calls_overlap_and_keep_their_order():
    both = asyncio.Barrier(2)

    async def wait(query: str) -> str:
        await both.wait()
        return query

    two = calling(call("wait", '{"query": "1"}', "1"), call("wait", '{"query": "2"}', "2"))
    run, model = run_of(
        NATIVE, [two, "ok"], tools=Functions(wait), options=RunOptions(headless=True, parallel=True)
    )
    state = await asyncio.wait_for(run.go(), patience.SECONDS)
    assert state.status == "done"
    assert [message.text for message in model.requests[1].messages[-2:]] == ["1", "2"]


async def test_one_of_several_calls_is_stopped_and_its_siblings_go_on():
    go = asyncio.Event()

    async def wait(query: str) -> str:
        await (asyncio.Event() if query == "1" else go).wait()
        return query

    two = calling(call("wait", '{"query": "1"}', "1"), call("wait", '{"query": "2"}', "2"))
    session = Session.over(
        NATIVE, [two, "ok"], tools=Functions(wait), options=RunOptions(parallel=True)
    )
    run = session.run
    ended = asyncio.create_task(session.until_still())
    await session.until(lambda: [each.status for each in run.state.step.calls] == ["running"] * 2)
    assert StopCall in allowed(run.state)
    assert run.live_output(0) == "1 is at it"
    run.send(StopCall(0))
    await session.until(lambda: run.state.step.calls[0].status != "running")
    assert run.state.step.calls[1].status == "running"
    with pytest.raises(NotAllowedError, match="not running"):
        run.send(StopCall(0))
    go.set()
    assert await ended == "done"
    calls = run.state.steps[0].calls
    assert [each.observation for each in calls] == ["Error: The user stopped this call.", "2"]
    assert calls[0].outcome is not None
    assert calls[0].outcome.status == "cancelled"
    assert fold(run.events) == run.state


async def test_calls_at_the_same_time_are_approved_one_by_one_or_all_together():
    three = calling(*(call("search", f'{{"query": "{at}"}}', str(at)) for at in range(3)))
    options = RunOptions(parallel=True, pause_at=frozenset({PausePoint.TOOL_CALL}))
    tools = Functions(search)
    session = Session.over(NATIVE, [three, three, "ok"], tools=tools, options=options)
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert await session.send(StepOn("over")) == PausePoint.TOOL_CALL
    statuses = [each.status for each in session.run.state.step.calls]
    assert (statuses, tools.called) == (["approved", "asked", "asked"], [])
    assert await session.send(Approve(1, others=True, how="")) == PausePoint.TOOL_CALL
    assert (session.run.state.iteration, len(tools.called)) == (2, 3)
    assert await session.send(Approve(0, others=True, how="over")) == PausePoint.OBSERVATION
    assert len(tools.called) == 6


async def test_calls_that_run_one_after_the_other_are_not_approved_together():
    two = calling(call(call_id="1"), call(call_id="2"))
    options = RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL}))
    session = Session.over(NATIVE, [two, "ok"], options=options)
    assert await session.until_still() == PausePoint.TOOL_CALL
    with pytest.raises(NotAllowedError, match="one after another"):
        session.run.send(Approve(0, others=True))


async def test_calls_wait_for_one_another_where_one_of_them_asks():
    """The document allows them at once, but the user has not allowed the second one yet."""
    two = calling(call("look", '{"query": "1"}', "1"), call("change", '{"query": "2"}', "2"))

    def look(query: str) -> str:
        return "seen"

    def change(query: str) -> str:
        return "changed"

    tools = Functions(look, change, ask=("change",))
    session = Session.over(NATIVE, [two, "ok"], tools=tools, options=RunOptions(parallel=True))
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert [name for name, _ in tools.called] == ["look"]
    assert session.run.state.step.calls[0].observation == "seen"
    assert await session.send(Approve(1)) == "done"
    assert [name for name, _ in tools.called] == ["look", "change"]
    assert fold(session.run.events) == session.run.state


def test_a_prompt_says_in_two_places_whether_its_calls_run_at_once_and_it_is_sent():
    def made(front: str) -> tuple[bool, Json]:
        run, _ = run_of(NATIVE.replace("name: Caller", f"name: Caller\n{front}"), [])
        return run.state.setup.parallel, request_of(run.state).options

    assert made("x: 1") == (False, None)
    agent = "metadata: {agent: {parallel_tool_calls: %s}}"
    assert made(agent % "true") == (True, {"allowMultipleToolCalls": True})
    assert made(agent % "false") == (False, {"allowMultipleToolCalls": False})
    option = "model: {id: m, options: {allowMultipleToolCalls: %s}}"
    assert made(option % "true") == (True, {"allowMultipleToolCalls": True})
    assert made(f"{option % 'true'}\n{agent % 'false'}") == (
        False,
        {"allowMultipleToolCalls": True},
    )


async def test_a_reply_tells_when_it_began_and_how_fast_it_came():
    reply = Reply("One two three", usage=Usage(5, 30))
    run, _ = run_of(NATIVE, [ScriptedTurn(reply)])
    state = await run.go()
    event = next(event for event in run.events if isinstance(event, ModelReplied))
    assert event.first_seconds is not None
    assert 0 <= event.first_seconds <= event.seconds
    assert state.step.first_seconds == event.first_seconds
    assert state.step.tokens_per_second == 30 / event.seconds


# Failures are told, not fatal ---------------------------------------------------------------------


async def test_a_tool_that_raises_is_an_observation():
    def broken(query: str) -> str:
        raise ValueError("no such place")

    run, model = run_of(REACT, [ACT.replace("search", "broken"), END], tools=Functions(broken))
    assert (await run.go()).status == "done"
    assert "Observation: Error: ValueError: no such place" in model.requests[1].messages[-1].text


@pytest.mark.parametrize(
    ("reply", "said"),
    [
        (ACT.replace("search", "serch"), "serch is not a valid tool, try one of [search]. Did you"),
        (ACT.replace('"query"', '"q"'), "Error: "),
        (re.sub(r"\{.*\}", "{}", ACT), "query"),  # a required parameter is missing
    ],
)
async def test_a_call_that_cannot_run_is_told(reply, said):
    run, model = run_of(REACT, [reply, END])
    assert (await run.go()).status == "done"
    assert said in model.requests[1].messages[-1].text
    assert not any(isinstance(event, ToolCalled) for event in run.events)


async def test_a_bad_reply_stays_in_history_with_one_line_about_it():
    run, model = run_of(REACT, ["It is there.", END])
    state = await run.go()
    bad, told = model.requests[1].messages[-2:]
    assert (bad.role, bad.text) == ("assistant", "It is there.")
    assert told.role == "user"
    assert told.text.startswith("Observation: Error: The reply has none of the labels")
    assert told.text.count("\n") == 0
    assert (state.status, state.iteration) == ("done", 2)


async def test_native_arguments_that_cannot_be_read_never_become_empty():
    tools = Functions(search)
    run, model = run_of(NATIVE, [calling(call(arguments="{'query': 1}")), "ok"], tools=tools)
    assert (await run.go()).status == "done"
    assert tools.called == []
    assert model.requests[1].messages[-1].text.startswith("Error: The arguments are not valid JSON")
    part = next(
        part for part in model.requests[1].messages[-2].parts if isinstance(part, ToolCallPart)
    )
    assert part.arguments == "{'query': 1}"


async def test_a_limit_ends_a_headless_run_by_name():
    run, model = run_of(
        NATIVE, [calling(call())] * 3, options=RunOptions(headless=True, limits=Limits(3))
    )
    state = await run.go()
    assert (state.status, state.error.code, len(model.requests)) == ("limit", "iterations", 3)


async def test_a_token_limit():
    run, _ = run_of(
        NATIVE,
        [calling(call())] * 9,
        options=RunOptions(headless=True, limits=Limits(None, tokens=30)),
    )
    state = await run.go()
    assert (state.status, state.error.code, state.iteration) == ("limit", "tokens", 2)


async def test_a_model_failure_that_may_pass_is_tried_again_with_the_same_snapshot():
    busy = ModelError("rate-limited", "Too many requests.", retryable=True)
    run, model = run_of(NATIVE, [busy, busy, "ok"], options=RunOptions(headless=True, backoff=0.01))
    state = await run.go()
    assert (state.status, state.step.attempt) == ("done", 3)
    sent = [request.messages for request in model.requests]
    assert len(sent) == 3
    assert sent[0] == sent[1] == sent[2]
    waits = [event.retry_in for event in run.events if isinstance(event, ModelFailed)]
    assert waits == [0.01, 0.02]


async def test_a_model_failure_ends_a_headless_run_and_keeps_what_came():
    cut = ScriptedTurn(Reply("Half an ans"), error=ModelError("cut-off", "The stream broke."))
    run, _ = run_of(NATIVE, [cut])
    state = await run.go()
    assert (state.status, state.error.kind, state.error.message) == (
        "failed",
        "model",
        "The stream broke.",
    )
    assert state.step.partial.text == "Half an ans"


async def test_a_request_without_a_message_reaches_no_model():
    run, model = run_of("![thread]", ["made up"], inputs={})
    state = await run.go()
    assert (state.status, state.error.code, model.requests) == ("failed", "no-message", ())


async def test_a_further_try_that_brings_nothing_takes_nothing_away():
    cut = ScriptedTurn(
        Reply("Half an ans"), error=ModelError("cut-off", "The stream broke.", retryable=True)
    )
    gone = ModelError("refused", "Nothing answers.", retryable=True)
    options = RunOptions(headless=True, attempts=2, backoff=0.01)
    run, _ = run_of(NATIVE, [cut, gone], options=options)
    state = await run.go()
    assert (state.status, state.error.code) == ("failed", "refused")
    assert state.step.partial.text == "Half an ans"


async def test_a_refusal_is_an_end_of_its_own():
    run, _ = run_of(NATIVE, [Reply(refusal="I must not.", finish_reason="refusal")])
    state = await run.go()
    assert (state.status, state.answer, state.error.message) == ("refused", None, "I must not.")


async def test_a_missing_input_is_named():
    run, model = run_of(REACT, [END], inputs={})
    state = await run.go()
    assert (state.status, state.error.kind, model.requests) == ("failed", "render", ())
    assert "question" in state.error.message


async def test_an_invented_observation_is_cut_by_us_while_it_streams():
    run, model = run_of(
        REACT, [ScriptedTurn(Reply(ACT + "\nObservation: made up\n"), hangs=True), END]
    )
    state = await asyncio.wait_for(run.go(), patience.SECONDS)
    assert (state.status, state.steps[0].stopped_by) == ("done", "studio")
    assert "made up" not in model.requests[1].messages[-1].text


async def test_a_repeated_action_is_remarked():
    run, _ = run_of(NATIVE, [calling(call())] * 3 + ["ok"])
    state = await run.go()
    assert [
        any(item.code == "repeated_action" for item in step.warnings) for step in state.steps
    ] == [False, False, True]


# Standing still -----------------------------------------------------------------------------------


async def test_every_place_can_be_stood_at():
    session = Session.over(REACT, [ACT, END], options=STEPS)
    seen = [await session.until_still()]
    while seen[-1].startswith("P"):
        seen.append(await session.send(Continue()))
    assert seen == [
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.TOOL_CALL,
        PausePoint.OBSERVATION,
        PausePoint.STEP_END,
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.ANSWER,
        "done",
    ]


async def test_stepping():
    session = Session.over(REACT, [ACT, ACT, END], options=RunOptions(stop_at_entry=True))
    assert await session.until_still() == PausePoint.BEFORE_REQUEST
    assert await session.send(StepOn("over")) == PausePoint.REPLY
    assert await session.send(StepOn("into")) == PausePoint.TOOL_CALL
    assert await session.send(StepOn("out")) == PausePoint.STEP_END
    assert await session.send(StepOn("over")) == PausePoint.BEFORE_REQUEST
    assert await session.send(Continue()) == "done"


async def test_nothing_is_done_while_it_stands_still():
    tools = Functions(search)
    session = Session.over(
        REACT,
        [ACT, END],
        tools=tools,
        options=RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL})),
    )
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert tools.called == []
    assert await session.send(Continue()) == "done"
    assert tools.called == [("search", {"query": "a"})]


async def test_edited_messages_are_sent():
    session = Session.over(NATIVE, ["ok"], options=RunOptions(stop_at_entry=True))
    await session.until_still()
    messages = session.run.state.step.messages[1:]
    await session.send(MessagesEdited(messages))
    assert await session.send(Continue()) == "done"
    assert session.model.requests[0].messages == messages


async def test_an_edited_reply_is_read_again():
    session = Session.over(
        REACT, ["nonsense"], options=RunOptions(pause_at=frozenset({PausePoint.REPLY}))
    )
    await session.until_still()
    await session.send(EditReply(Reply(END)))
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "here"
    assert "edited" in session.run.state.step.marks


async def test_an_edited_call_rewrites_the_assistants_message():
    session = Session.over(
        NATIVE,
        [calling(call()), "ok"],
        options=RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL})),
    )
    await session.until_still()
    assert await session.send(CallEdited(0, "search", {"query": "z"})) == PausePoint.TOOL_CALL
    assert await session.send(Continue()) == "done"
    sent = session.model.requests[1].messages
    part = next(part for part in sent[2].parts if isinstance(part, ToolCallPart))
    assert (part.arguments, sent[3].text) == ('{"query": "z"}', "found z")


async def test_an_edited_call_is_checked_again():
    session = Session.over(
        NATIVE,
        [calling(call()), "ok"],
        options=RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL})),
    )
    await session.until_still()
    assert await session.send(CallEdited(0, "search", {"wrong": 1})) == PausePoint.ERROR
    assert session.run.state.error.kind == "schema"
    assert await session.send(CallEdited(0, "search", {"query": "z"})) == PausePoint.TOOL_CALL


async def test_an_edited_observation_is_what_the_model_sees():
    session = Session.over(
        REACT, [ACT, END], options=RunOptions(pause_at=frozenset({PausePoint.OBSERVATION}))
    )
    await session.until_still()
    await session.send(ObservationEdited(0, "nothing there"))
    assert await session.send(Continue()) == "done"
    assert "Observation: nothing there" in session.model.requests[1].messages[-1].text


async def test_an_edited_answer():
    session = Session.over(
        NATIVE, ["ok"], options=RunOptions(pause_at=frozenset({PausePoint.ANSWER}))
    )
    await session.until_still()
    await session.send(AnswerEdited("better"))
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "better"


@pytest.mark.parametrize(
    ("decision", "observation", "ran"),
    [
        (Approve(0), "found x", True),
        (Reject(0, "too risky"), "Error: The call was not allowed: too risky", False),
        (AnswerCall(0, "I say so"), "I say so", False),
        (SkipCall(0), "The tool was not run.", False),
    ],
)
async def test_four_decisions_about_a_call(decision, observation, ran):
    tools = Functions(search, ask=("search",))
    session = Session.over(NATIVE, [calling(call()), "ok"], tools=tools)
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert session.run.state.pause.reason == "approval"
    assert await session.send(decision) == "done"
    assert session.model.requests[1].messages[-1].text == observation
    assert bool(tools.called) is ran


@pytest.mark.parametrize(
    "options",
    [
        RunOptions(),
        RunOptions(breakpoints=(Breakpoint("b", tool="search"),)),
        RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL})),
    ],
    ids=["asked", "at a breakpoint", "stepped to"],
)
async def test_going_on_never_approves_a_call(options):
    tools = Functions(search, ask=("search",))
    session = Session.over(NATIVE, [calling(call()), "ok"], tools=tools, options=options)
    assert await session.until_still() == PausePoint.TOOL_CALL
    for move in (
        Continue(),
        StepOn("over"),
        StepOn("into"),
        StepOn("out"),
        RunTo(PausePoint.ANSWER),
    ):
        assert type(move) not in allowed(session.run.state)
        with pytest.raises(NotAllowedError, match="waits for approval"):
            session.run.send(move)
    assert tools.called == []
    assert choice_at(session.run.state) == "approval"
    assert await session.send(Approve(0)) == "done"
    assert len(tools.called) == 1


async def test_a_call_that_waits_for_no_approval_is_gone_on_with():
    tools = Functions(search)
    options = RunOptions(pause_at=frozenset({PausePoint.TOOL_CALL}))
    session = Session.over(NATIVE, [calling(call()), "ok"], tools=tools, options=options)
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert choice_at(session.run.state) == ""
    assert await session.send(Continue()) == "done"


async def test_going_on_never_ends_a_run_at_a_limit():
    options = RunOptions(limits=Limits(iterations=1))
    session = Session.over(NATIVE, [calling(call()), "ok"], options=options)
    assert await session.until_still() == PausePoint.ERROR
    for move in (
        Continue(),
        StepOn("over"),
        StepOn("into"),
        StepOn("out"),
        RunTo(PausePoint.ANSWER),
    ):
        with pytest.raises(NotAllowedError, match="a limit is reached"):
            session.run.send(move)
    assert choice_at(session.run.state) == "limit"
    await session.send(LimitRaised("iterations", 2))
    assert choice_at(session.run.state) == ""
    assert await session.send(Continue()) == "done"


async def test_headless_nobody_allows_a_call():
    tools = Functions(search, ask=("search",))
    run, model = run_of(NATIVE, [calling(call()), "ok"], tools=tools)
    await run.go()
    assert tools.called == []
    assert "not allowed" in model.requests[1].messages[-1].text


async def test_what_is_not_possible_is_refused():
    session = Session.over(NATIVE, ["ok"], options=RunOptions(stop_at_entry=True))
    await session.until_still()
    with pytest.raises(NotAllowedError, match="editing a call is not possible here"):
        session.run.send(CallEdited(0, "x", {}))
    assert MessagesEdited in allowed(session.run.state)
    assert ObservationEdited not in allowed(session.run.state)
    await session.close()


async def test_steering_joins_before_the_next_step():
    session = Session.over(
        NATIVE,
        [calling(call()), "ok"],
        options=RunOptions(pause_at=frozenset({PausePoint.OBSERVATION})),
    )
    await session.until_still()
    session.run.send(Steer("In Celsius, please."))
    assert await session.send(Steer("And short."), Continue()) == "done"
    assert [message.text for message in session.model.requests[1].messages[-2:]] == [
        "In Celsius, please.",
        "And short.",
    ]


# PX -----------------------------------------------------------------------------------------------


async def test_a_repair_is_made_after_a_click():
    bad = 'Thought: t\nAction: search\nArgs: {"query": "a",}'
    session = Session.over(REACT, [bad, END])
    assert await session.until_still() == PausePoint.ERROR
    assert await session.send(TakeRepair("trailing_comma")) == PausePoint.TOOL_CALL
    assert "repaired" in session.run.state.step.marks
    assert await session.send(Continue()) == "done"
    assert session.run.state.format_errors == 0


async def test_a_repair_switched_on_is_made_without_asking():
    bad = calling(call(arguments="{'query': 'a',}"))
    options = RunOptions(headless=True, repairs=frozenset({"single_quotes", "trailing_comma"}))
    tools = Functions(search)
    run, _ = run_of(NATIVE, [bad, "ok"], tools=tools, options=options)
    assert (await run.go()).status == "done"
    assert tools.called == [("search", {"query": "a"})]


async def test_treating_a_reply_as_the_answer():
    session = Session.over(REACT, ["It is there."])
    assert await session.until_still() == PausePoint.ERROR
    assert await session.send(TreatAsFinal()) == PausePoint.ANSWER
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "It is there."


async def test_two_bad_replies_in_a_row_stand_still_whatever_the_filters():
    session = Session.over(REACT, ["no", "no", END], options=RunOptions(exceptions=frozenset()))
    assert await session.until_still() == PausePoint.ERROR
    assert session.run.state.format_errors == 2
    await session.send(ErrorObservationEdited("Please answer properly."))
    assert await session.send(Continue()) == "done"
    assert session.model.requests[2].messages[-1].text == "Please answer properly."


async def test_a_limit_stands_still_and_can_be_raised():
    session = Session.over(NATIVE, [calling(call()), "ok"], options=RunOptions(limits=Limits(1)))
    assert await session.until_still() == PausePoint.ERROR
    assert session.run.state.pause.reason == "limit"
    await session.send(LimitRaised("iterations", 6))
    assert await session.send(Continue()) == "done"


@pytest.mark.parametrize(
    ("limits", "name", "more", "iteration"),
    [
        (Limits(None, tokens=20), "tokens", 100, 2),
        (Limits(None, cost=0.5), "cost", None, 2),
        (Limits(None, seconds=1e-9), "seconds", 60.0, 1),
    ],
)
async def test_tokens_money_and_time_stand_still_too(limits, name, more, iteration):
    asks = replace(calling(call("search")), usage=Usage(10, 5, cost=0.3))
    session = Session.over(
        NATIVE, [asks, asks, "ok"], tools=Functions(search), options=RunOptions(limits=limits)
    )
    assert await session.until_still() == PausePoint.ERROR
    state = session.run.state
    assert (state.iteration, state.pause.reason, state.error.code) == (iteration, "limit", name)
    assert await session.send(LimitRaised(name, more), Continue()) == "done"


async def test_a_failed_model_call_can_be_made_again_or_answered_by_the_person():
    gone = ModelError("refused", "Nobody listens there.")
    session = Session.over(NATIVE, [gone, gone, "ok"])
    assert await session.until_still() == PausePoint.ERROR
    assert await session.send(Continue()) == PausePoint.ERROR
    await session.send(EditReply(Reply("I answer.")))
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "I answer."


async def test_after_the_answer_the_person_goes_on():
    session = Session.over(NATIVE, ["one", "two"])
    assert await session.until_still() == "done"
    assert await session.send(SendBack("And then?")) == "done"
    sent = session.model.requests[1].messages
    assert [(message.role, message.text) for message in sent[-2:]] == [
        ("assistant", "one"),
        ("user", "And then?"),
    ]
    assert session.run.state.answer == "two"


async def test_feedback_before_the_end_goes_on_once():
    session = Session.over(
        NATIVE, ["one", "two"], options=RunOptions(pause_at=frozenset({PausePoint.ANSWER}))
    )
    await session.until_still()
    assert await session.send(SendBack("Longer.")) == PausePoint.ANSWER
    texts = [message.text for message in session.model.requests[1].messages]
    assert texts.count("one") == 1


STRUCTURED = NATIVE.replace("tools:", "outputs:\n  count: {kind: integer, required: true}\ntools:")


@pytest.mark.parametrize(
    ("answer", "value", "problems"),
    [
        ('{"count": 3}', {"count": 3}, 0),
        ('```json\n{"count": 3}\n```', {"count": 3}, 0),
        ("three", None, 1),
        ('{"count": "3"}', {"count": "3"}, 1),
        ('{"count": 3', None, 1),
    ],
)
async def test_an_answer_is_compared_with_the_declared_outputs(answer, value, problems):
    run, model = run_of(STRUCTURED, [answer])
    state = await run.go()
    assert state.status == ("incomplete" if problems else "done")
    assert (state.answer, state.answer_value) == (answer, value)
    assert len(state.answer_problems) == problems
    assert model.requests[0].response_schema["required"] == ["count"]


async def test_an_answer_that_does_not_fit_can_be_stopped_at_and_mended():
    options = RunOptions(exceptions=frozenset({"output"}))
    session = Session.over(STRUCTURED, ["three", '{"count": 3}'], options=options)
    assert await session.until_still() == PausePoint.ERROR
    assert session.run.state.error.kind == "output"
    assert await session.send(AnswerEdited('{"count": 4}'), Continue()) == "done"
    assert session.run.state.answer_value == {"count": 4}
    other = Session.over(STRUCTURED, ["three", '{"count": 3}'], options=options)
    await other.until_still()
    assert await other.send(SendBack("As JSON.")) == "done"
    assert other.run.state.answer_value == {"count": 3}


async def test_a_cut_answer_goes_on_where_it_ended():
    cut = Reply("The answer is for", finish_reason="length")
    session = Session.over(NATIVE, [cut, "ty-two."])
    assert await session.until_still() == PausePoint.ERROR
    assert (session.run.state.error.kind, session.run.state.error.code) == ("output", "cut_answer")
    assert await session.send(SendBack("Go on.", continues=True)) == "done"
    assert session.run.state.answer == "The answer is forty-two."


async def test_a_user_may_accept_a_cut_answer_as_it_is():
    session = Session.over(NATIVE, [Reply("The answer is for", finish_reason="length")])
    await session.until_still()
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer_problems


async def test_where_nobody_asks_to_stop_a_cut_answer_ends_the_run_as_incomplete():
    options = RunOptions(exceptions=frozenset())
    session = Session.over(
        NATIVE, [Reply("for", finish_reason="length"), "Forty-two."], options=options
    )
    assert await session.until_still() == "incomplete"
    assert session.run.state.answer == "for"
    assert await session.send(SendBack("Again, please.")) == "done"
    assert session.run.state.answer == "Forty-two."


# Breakpoints, guards ------------------------------------------------------------------------------


async def test_a_breakpoint_with_a_condition_and_a_log_point():
    points = (
        Breakpoint("b1", tool="search", condition='args.query == "x" and iteration >= 2'),
        Breakpoint(
            "b2", places=frozenset({PausePoint.OBSERVATION}), log="{iteration}: {observation}"
        ),
    )
    session = Session.over(
        NATIVE, [calling(call())] * 2 + ["ok"], options=RunOptions(breakpoints=points)
    )
    assert await session.until_still() == PausePoint.TOOL_CALL
    assert (session.run.state.iteration, session.run.state.pause.breakpoints) == (2, ("b1",))
    assert await session.send(Continue()) == "done"
    assert [event.text for event in session.run.events if isinstance(event, Logged)] == [
        "1: found x",
        "2: found x",
    ]


async def test_a_guard_denies_a_call_and_the_model_is_told():
    guard = Guard("call", 'tool == "search"', "Not authorized")
    run, model = run_of(
        NATIVE, [calling(call()), "ok"], options=RunOptions(headless=True, guards=(guard,))
    )
    await run.go()
    assert "Tool denied by guardrail: Not authorized" in model.requests[1].messages[-1].text


# Pausing and stopping -----------------------------------------------------------------------------


def hanging_tools() -> Functions:
    async def hang(query: str) -> str:
        await asyncio.Event().wait()
        return ""

    return Functions(hang)


async def begun(session: Session, kind: str, *, silent: bool = False) -> None:
    """Let it run until an effect is under way (a model's: until something came, if it will)."""
    task = asyncio.create_task(session.until_still())
    await session.until(lambda: kind in names(session.run))
    if kind == "ModelCalled" and not silent:
        await session.streamed.wait()
    task.cancel()
    await asyncio.wait({task})


async def test_stop_reaches_a_hanging_model_and_keeps_what_came():
    session = Session.over(NATIVE, [ScriptedTurn(Reply("Half"), hangs=True)])
    await begun(session, "ModelCalled")
    assert await session.send(StopRun()) == "stopped"
    assert session.run.state.step.partial.text == "Half"


async def test_stop_reaches_a_hanging_tool_whose_fate_is_then_unknown():
    session = Session.over(NATIVE, [calling(call("hang"))], tools=hanging_tools())
    await begun(session, "ToolCalled")
    assert await session.send(StopRun()) == "stopped"
    assert session.run.state.step.calls[0].status == "unknown"


async def test_stop_does_not_wait_for_a_tool_that_will_not_let_go():
    release = asyncio.Event()

    async def stubborn(query: str) -> str:
        while not release.is_set():
            try:
                await release.wait()
            except asyncio.CancelledError:
                continue
        return "late"

    session = Session.over(NATIVE, [calling(call("stubborn"))], tools=Functions(stubborn))
    await begun(session, "ToolCalled")
    assert await session.send(StopRun()) == "stopped"
    count = len(session.run.events)
    release.set()
    await asyncio.wait({session.run._effects._task._task})
    assert len(session.run.events) == count  # what comes too late is not written


async def test_a_run_that_is_cancelled_twice_is_written_as_stopped():
    """As where the studio is closed: the run is let go of, and then the loop ends."""
    release = asyncio.Event()

    async def stubborn(query: str) -> str:
        while not release.is_set():
            with suppress(asyncio.CancelledError):
                await release.wait()
        return "late"

    session = Session.over(NATIVE, [calling(call("stubborn"))], tools=Functions(stubborn))
    await begun(session, "ToolCalled")
    for _ in range(2):
        session._task.cancel()
        for _ in range(5):  # until it is heard
            await asyncio.sleep(0)
    await asyncio.wait({session._task}, timeout=patience.SECONDS)
    release.set()
    await asyncio.wait({session.run._effects._task._task})
    assert session._task.cancelled()
    assert names(session.run)[-1] == "Stopped"


async def test_pause_waits_for_the_reply_or_cuts_it_off():
    session = Session.over(NATIVE, [ScriptedTurn(Reply("Half"), hangs=True), "whole"])
    await begun(session, "ModelCalled")
    assert await session.send(PauseRun(abort=True)) == PausePoint.REPLY
    step = session.run.state.step
    assert (step.reply.text, step.stopped_by, "cut" in step.marks) == ("Half", "user", True)
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "Half"


async def test_a_reply_cut_off_before_anything_came_is_asked_for_again():
    session = Session.over(NATIVE, [ScriptedTurn(Reply(""), hangs=True), "whole"])
    await begun(session, "ModelCalled", silent=True)
    assert await session.send(PauseRun(abort=True)) == PausePoint.ERROR
    assert session.run.state.error.code == "aborted"
    assert await session.send(Continue()) == "done"
    assert session.run.state.answer == "whole"


@pytest.mark.parametrize("prompt", [NATIVE, REACT, JSON_ACTION])
async def test_a_message_put_in_at_the_request_is_in_that_request(prompt):
    session = Session.over(prompt, [END], options=RunOptions(stop_at_entry=True))
    await session.until_still()
    await session.send(Steer("Be brief."))
    step = session.run.state.step
    assert (step.messages[-1].text, step.said) == ("Be brief.", ("Be brief.",))
    await session.send(Continue())
    assert session.model.requests[0].messages[-1].text == "Be brief."


async def test_pause_at_the_next_place():
    session = Session.over(NATIVE, [ScriptedTurn(Reply("whole " * 30), delay=0.005)])
    await begun(session, "ModelCalled")
    assert await session.send(PauseRun()) == PausePoint.REPLY
    assert session.run.state.pause.reason == "pause"
    await session.close()
    assert session.run.state.status == "stopped"


# Forks --------------------------------------------------------------------------------------------


def at(session: Session, place: str, iteration: int = 1):
    return session.run.tree.find(iteration, place)


async def test_a_fork_goes_on_from_an_earlier_place_and_keeps_what_was():
    session = Session.over(NATIVE, [calling(call()), "one", "two"])
    assert await session.until_still() == "done"
    before = list(session.run.events)
    assert (
        await session.send(ForkFrom(at(session, PausePoint.OBSERVATION).id))
        == PausePoint.OBSERVATION
    )
    assert await session.send(ObservationEdited(0, "nothing"), Continue()) == "done"
    assert session.run.state.answer == "two"
    assert session.model.requests[2].messages[-1].text == "nothing"
    assert list(session.run.events[: len(before)]) == before
    assert state_at(session.run.events, len(before)).answer == "one"
    assert {item.branch for item in session.run.tree.checkpoints} == {0, 1}
    again = walk(session.run.events)
    assert (again.state, again.tree.checkpoints) == (
        session.run.state,
        session.run.tree.checkpoints,
    )
    path = branch_path(session.run.events, len(session.run.events))
    assert len(path) < len(session.run.events)


@pytest.mark.parametrize("approve", ["ask", "always"])
async def test_a_call_with_effects_is_not_made_again_unasked(approve):
    tools = Functions(search, has_effects=True)
    options = RunOptions(approve=approve)
    session = Session.over(NATIVE, [calling(call()), "one", "two"], tools=tools, options=options)
    await session.until_still()
    await session.send(ForkFrom(at(session, PausePoint.REPLY).id))
    assert await session.send(Continue()) == PausePoint.TOOL_CALL
    assert session.run.state.pause.reason == "approval"
    assert len(tools.called) == 1
    assert await session.send(AnswerCall(0, "as before")) == "done"
    assert len(tools.called) == 1


async def test_a_stopped_run_is_taken_up_again_and_asks_about_the_unknown_call():
    session = Session.over(NATIVE, [calling(call("hang")), "ok"], tools=hanging_tools())
    await begun(session, "ToolCalled")
    assert await session.send(StopRun()) == "stopped"
    assert (
        await session.send(ForkFrom(at(session, PausePoint.TOOL_CALL).id)) == PausePoint.TOOL_CALL
    )
    assert await session.send(AnswerCall(0, "it did")) == "done"


async def interrupted(approve: str) -> tuple[Session, list[str]]:
    """A run that was stopped while a tool with effects ran, and goes on from the call."""
    ran: list[str] = []

    async def send(query: str) -> str:
        ran.append(query)
        if len(ran) == 1:
            await asyncio.Event().wait()
        return "sent"

    tools = Functions(send, has_effects=True)
    session = Session.over(
        NATIVE, [calling(call("send")), "ok"], tools=tools, options=RunOptions(approve=approve)
    )
    await begun(session, "ToolCalled")
    assert await session.send(StopRun()) == "stopped"
    await session.send(ForkFrom(at(session, PausePoint.TOOL_CALL).id))
    assert await session.send(Continue()) == PausePoint.ERROR
    assert session.run.state.error.kind == "outcome_unknown"
    assert "OutcomeLost" in names(session.run)
    assert len(ran) == 1
    return session, ran


async def test_an_interrupted_call_with_effects_is_asked_about_before_it_is_made_again():
    session, ran = await interrupted("always")
    await session.send(OutcomeTold(0, "did-not-run"))
    assert await session.send(Continue()) == "done"
    assert len(ran) == 2
    assert fold(branch_path(session.run.events, len(session.run.events))) == session.run.state


async def test_an_interrupted_call_that_ran_is_not_made_again():
    session, ran = await interrupted("ask")
    await session.send(OutcomeTold(0, "result", "sent at noon"))
    while not session.run.state.is_over:
        await session.send(Continue())
    assert session.run.state.answer == "ok"
    assert len(ran) == 1
    assert session.model.requests[-1].messages[-1].text == "sent at noon"


async def test_an_unknown_checkpoint_is_refused():
    session = Session.over(NATIVE, ["one"])
    await session.until_still()
    with pytest.raises(NotAllowedError, match="no checkpoint 99"):
        await session.run.go(ForkFrom(99))


def test_outcomes_are_told_only_when_they_are_unknown():
    run, _ = run_of(NATIVE, [])
    assert OutcomeTold not in allowed(run.state)
