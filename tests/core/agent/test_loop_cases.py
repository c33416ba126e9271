"""Loops of other frameworks' tests: what ours does with the same replies.

Where ours differs, the reason stands beside the assertion. The cases that are copied from Prompty
are run in `test_prompty_vectors.py`.
"""

from __future__ import annotations

from typing import Any

import pytest

from studio.core.agent.loop.context import legal, user_message
from studio.core.agent.protocols.findings import ReadRules
from studio.core.agent.protocols.loops import loop_of
from studio.core.agent.run.runner import Run
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Action, Final, Limits
from studio.core.prompty.document import Message, TextPart, ToolCallPart
from studio.core.wire.reply import Reply
from tests.core.agent.loop_vectors import load, reply_of
from tests.core.agent.runs import NATIVE, REACT, Functions, call, calling, run_of, search
from tests.support.vectors import all_read, assert_each_is_run

CASES = load("loop.json")
OWN = ["pai-l1", "pai-l2", "lc-l2", "lc-l3", "oai-l1", "smol-l1"]


def case_of(name: str) -> dict[str, Any]:
    return next(case for case in CASES if case["id"] == name)


def test_each_case_is_run() -> None:
    prompty = [case for case in CASES if case["id"].startswith("prompty-")]
    assert_each_is_run(CASES, prompty, [case_of(name) for name in OWN])


def headless(steps: int) -> RunOptions:
    return RunOptions(headless=True, limits=Limits(steps))


def told(run: Run) -> list[str]:
    return [message.text for message in run.state.conversation if message.role == "tool"]


async def test_an_unknown_tool_is_told_where_there_are_none() -> None:
    with all_read(case_of("pai-l1")) as case:
        assert (case["format"], case["tools"]) == ("tool_calls", [])
        run, _ = run_of(NATIVE, [reply_of(item) for item in case["script"]], tools=Functions())
        state = await run.go()
        assert (state.status, state.answer) == ("done", case["expected"]["final"])
        (observation,) = case["expected"]["observations"]
        assert observation == "Unknown tool name: 'foobar'. No tools available."
        # Our words for it: the same name, and the same advice.
        assert told(run) == ["Error: foobar is not a valid tool; no tools are available."]


def test_a_transcript_that_was_broken_off() -> None:
    with all_read(case_of("pai-l2")) as case:
        assert case["format"] == "tool_calls"
        messages = []
        for item in case["history"]:
            calls = [
                ToolCallPart(each["id"], each["function"]["name"], each["function"]["arguments"])
                for each in item.get("tool_calls", ())
            ]
            messages.append(Message(item["role"], (TextPart(item["content"]), *calls)))
        made = legal([*messages, user_message(case["next_user"])])
        results = {
            item.attributes["tool_call_id"]: item.text for item in made if item.role == "tool"
        }
        assert results == case["expected"]["inserted_tool_results"]
        assert [item.role for item in made] == [
            "user",
            "assistant",
            "tool",
            "tool",
            "user",
            "assistant",
            "user",
        ]


async def test_no_step_allowed_is_a_limit_and_no_answer() -> None:
    with all_read(case_of("lc-l2")) as case:
        assert (case["format"], case["tools"]) == ("react", ["Search", "Lookup"])
        run, model = run_of(REACT, case["script"], options=headless(case["max_iterations"]))
        state = await run.go()
        # LangChain returns a sentence in the answer's place; ours names it and answers nothing.
        assert case["expected"]["final"] == "Agent stopped due to iteration limit or time limit."
        assert (state.status, state.answer) == ("limit", None)
        assert state.error is not None
        assert (state.error.code, model.requests) == ("iterations", ())


async def test_a_result_goes_to_the_model_and_is_never_the_answer_by_itself() -> None:
    with all_read(case_of("lc-l3")) as case:
        assert (case["format"], case["tools"]) == ("react", ["Search (return_direct)"])

        def Search(query: str) -> str:  # noqa: N802 - as the case names it
            return query

        script = [
            reply.replace("Action Input: misalignment", 'Args: {"query": "misalignment"}')
            for reply in case["script"]
        ]
        run, model = run_of(REACT, script, tools=Functions(Search))
        state = await run.go()
        # `return_direct` is a flag of LangChain's tools; a prompt file has no such flag.
        observation = model.requests[1].messages[-1].text.partition("Observation: ")[2]
        assert observation.strip() == case["expected"]["final"] == "misalignment"
        assert (state.status, state.answer) == ("done", "curses foiled again")


async def test_a_tool_call_every_turn_ends_at_the_limit() -> None:
    with all_read(case_of("oai-l1")) as case:
        assert (case["format"], case["script"]) == ("tool_calls", "tool call every turn")
        allowed = case["max_iterations"]
        replies = [calling(call(call_id=f"c{number}")) for number in range(allowed + 1)]
        run, model = run_of(NATIVE, replies, tools=Functions(search), options=headless(allowed))
        state = await run.go()
        assert case["expected"]["error"] == "MaxTurnsExceeded"
        assert state.error is not None
        assert (state.status, state.error.code) == ("limit", "iterations")
        assert len(model.requests) == allowed
        assert len(told(run)) == allowed


async def test_an_answer_is_never_a_tool_beside_another() -> None:
    with all_read(case_of("smol-l1")) as case:
        assert case["format"] == "tool_calls"
        assert case["script"] == "final_answer and another tool in one reply"
        error = "please do not perform any other tool calls than the final answer tool call"
        assert case["expected"]["step_error_contains"] == error
        # There an answer is a tool call. Here it is none: the model is told, and the other runs.
        both = calling(call("final_answer", '{"answer": "x"}', "c1"), call(call_id="c2"))
        run, _ = run_of(NATIVE, [both, "done"], tools=Functions(search))
        state = await run.go()
        assert (state.status, state.answer) == ("done", "done")
        assert told(run)[0].startswith("Error: final_answer is not a valid tool")
        assert told(run)[1] == "found x"


ANSWER = '```json\n{"action": "final_answer", "action_input": "done"}\n```\n'
CALL = '```json\n{"action": "search", "action_input": {"query": "x"}}\n```\n'


@pytest.mark.parametrize(("reply", "kind"), [(ANSWER + CALL, Final), (CALL + ANSWER, Action)])
def test_of_an_answer_and_an_action_the_first_counts(reply: str, kind: type) -> None:
    reading = loop_of("json_action").read(Reply(reply), ReadRules())
    assert isinstance(reading, kind)
    assert [warning.code for warning in reading.warnings] == ["several_actions"]
