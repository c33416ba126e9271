"""Prompty 2's own vectors of the agent loop and of the turn engine, each case and each key.

What differs on purpose has a test of its own below, with the reason.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

from studio.core.agent.loop.context import SUMMARY
from studio.core.agent.values.events import ToolCalled
from studio.core.agent.values.state import RunState
from studio.core.agent.values.step import Action
from tests.core.agent.loop_vectors import load
from tests.core.agent.vector_runs import VectorRun, plain, wanted
from tests.support.prompty_events import agent_events, turn_kinds
from tests.support.vectors import Watched, all_read, assert_each_is_run

ROOT = Path(__file__).resolve().parents[3]
DIFFERENT = {"max_iterations_exceeded", "tool_not_registered_error"}


def vectors(name: str) -> list[dict[str, Any]]:
    folder = Path(os.environ.get("PROMPTY_VECTORS", ROOT / "../shared/vectors/prompty"))
    if not folder.is_dir():
        pytest.skip(f"no Prompty vectors at {folder}", allow_module_level=True)
    return json.loads((folder / name).read_text("utf-8"))


AGENT = vectors("agent.json")
COPIED = [
    {("sequence" if key == "script" else key): value for key, value in case.items()}
    for case in load("loop.json")
    if case["id"].startswith("prompty-")
]
"""Further cases of the same vectors, as the loop cases hold them."""

FOLLOWED, OTHERS = (
    [
        case
        for case in (*AGENT, *COPIED)
        if (case["id"].removeprefix("prompty-") in DIFFERENT) is different
    ]
    for different in (False, True)
)
TURNS = vectors("turn.json")


def test_each_case_is_run():
    assert_each_is_run([*AGENT, *COPIED], FOLLOWED, OTHERS)


@pytest.mark.parametrize("case", FOLLOWED, ids=lambda case: case["id"])
async def test_the_loop_does_what_the_vector_says(case):
    with all_read(case) as vector:
        assert vector.get("format", "tool_calls") == "tool_calls"
        given, expected, sequence = vector["input"], vector["expected"], vector["sequence"]
        run = VectorRun(given, sequence)
        state = await run.go()
        assert len(run.model.requests) == expected.get("iterations", len(run.model.requests))
        check_end(state, expected)
        check_calls(run, sequence)
        check_messages(run, expected)
        check_results(run, sequence)
        check_tools(run, expected)
        check_trimming(run, given, expected)
        if "events" in expected:
            check_events(run, expected["events"])


def check_end(state: RunState, expected: Watched) -> None:
    match expected.get("error"):
        case None:
            assert (state.status, state.answer) == ("done", expected["result"])
        case "CancelledError":
            assert state.status == "stopped"
        case "GuardrailError":
            assert state.error is not None
            assert (state.status, state.error.kind) == ("failed", "guardrail")
            assert state.error.message == expected["error_reason"]
        case other:
            pytest.fail(f"an unknown error: {other}")


def check_calls(run: VectorRun, sequence: Sequence[Mapping[str, Any]]) -> None:
    """Each reply is read as the calls that the vector says, and they run with its arguments."""
    assert len(run.steps) == len(sequence)
    ran = iter(run.source.called)
    for step, turn in zip(run.steps, sequence, strict=True):
        calls = step.reading.calls if isinstance(step.reading, Action) else ()
        assert [
            {"id": call.id, "name": call.tool, "arguments": call.arguments} for call in calls
        ] == (turn["expected_tool_calls"] or [])
        for name, arguments in (turn.get("expected_execution_args") or {}).items():
            assert next(ran) == (name, arguments)


def check_messages(run: VectorRun, expected: Watched) -> None:
    conversation = [plain(message) for message in run.run.state.conversation]
    # The vectors count one message too many once a tool ran.
    quirk = any(message["role"] == "tool" for message in conversation)
    assert len(conversation) + quirk == expected.get("total_messages", len(conversation) + quirk)
    if "message_sequence" in expected:
        assert conversation == [wanted(item) for item in expected["message_sequence"]]
    for key, role in (
        ("tool_result_message", "tool"),
        ("assistant_tool_calls_message", "assistant"),
    ):
        if key in expected:
            first = next(item for item in conversation if item["role"] == role)
            assert first == wanted(expected[key])


def check_results(run: VectorRun, sequence: Sequence[Mapping[str, Any]]) -> None:
    """Every result that the vector names is told, under its call's id, in call order."""
    told = [
        (message.attributes["tool_call_id"], message.text)
        for message in run.run.state.conversation
        if message.role == "tool"
    ]
    named = [item for turn in sequence for item in turn.get("tool_results") or ()]
    stopped = run.run.state.status == "stopped"
    if stopped:  # the step that was stopped in is not part of the conversation
        told = [
            (call.id, call.observation)
            for step in run.steps
            for call in step.calls
            if call.observation is not None
        ]
    assert [identifier for identifier, _ in told] == [item["tool_call_id"] for item in named]
    for (_, text), item in zip(told, named, strict=True):
        # Runtimes word a failure of their own: "Error calling 'get_weather': RuntimeError: …".
        failure = item["result"].partition("': ")[2] if item["result"].startswith("Error") else ""
        assert failure in text if failure else text == item["result"]


def check_tools(run: VectorRun, expected: Watched) -> None:
    called = [name for name, _ in run.source.called]
    assert called == expected.get("tool_execution_order", called)
    assert len(called) == expected.get("tools_executed", len(called))
    denied = [call.tool for step in run.steps for call in step.calls if call.error == "guardrail"]
    assert denied == expected.get("denied_tools", denied)
    assert not set(denied) & set(called)


def check_trimming(run: VectorRun, given: Watched, expected: Watched) -> None:
    assert (run.trimmed is not None) == ("trimmed_messages" in expected)
    if run.trimmed is None:
        return
    trimmed = [plain(message) for message in run.trimmed]
    items = [wanted(item) for item in expected["trimmed_messages"]]
    # How the summary goes on is the summarizer's own; the vectors' was written by a model.
    begun = f"{SUMMARY}{expected.get('summary_contains', 'User asked')}"
    for each in (*trimmed, *items):
        if each["content"].startswith(SUMMARY):
            assert each["content"].startswith(begun)
            each["content"] = begun
    assert trimmed == items
    assert list(run.model.requests[0].messages) == list(run.trimmed)
    assert sum(len(message.text) for message in run.trimmed) <= given["context_budget"]


def check_events(run: VectorRun, items: list[dict[str, Any]]) -> None:
    """The events in their order; the vectors leave a status out where it does not matter."""
    assert all(set(item) <= {"type", "data"} for item in items)
    told = agent_events(run.run.events)
    wanted_status = [item for item in items if item["type"] == "status"]
    told = [each for each in told if each["type"] != "status" or each in wanted_status]
    assert [each["type"] for each in told] == [item["type"] for item in items]
    for each, item in zip(told, items, strict=True):
        assert each["data"] == item.get("data", each["data"])


@pytest.mark.parametrize("case", OTHERS, ids=lambda case: case["id"])
async def test_what_differs_on_purpose(case):
    with all_read(case) as vector:
        given, expected = vector["input"], vector["expected"]
        assert vector.get("format", "tool_calls") == "tool_calls"
        run = VectorRun(given, vector["sequence"], "I could not.")
        state = await run.go()
        assert state.error is not None or state.status == "done"
        match case["id"].removeprefix("prompty-"):
            case "max_iterations_exceeded":
                # An 11th call is expected; the specification and `replay.json` allow 10.
                assert expected["error"] == "Agent loop exceeded 10 iterations"
                assert len(run.model.requests) == expected["iterations"] - 1 == 10
                assert (state.status, state.error.code) == ("limit", "iterations")
                assert "10" in state.error.message
            case "tool_not_registered_error":
                # The run ends there; §9.9 forbids any tool failure to do that.
                assert expected["error_type"] == "ValueError"
                name = expected["error"].removeprefix("Tool not registered: ")
                assert (state.status, state.answer) == ("done", "I could not.")
                assert f"{name} is not a valid tool" in state.conversation[-2].text
            case other:
                pytest.fail(f"nothing is said of {other}")


@pytest.mark.parametrize("case", TURNS, ids=lambda case: case["id"])
async def test_the_turn_engine(case):
    """Results commit in request order, each request extends the one before."""
    with all_read(case) as vector:
        given, expected = vector["input"], vector["expected"]
        run = VectorRun(*loop_case(given))
        state = await run.go(stopped_at_once=bool(given.get("cancelBeforeRun")))
        assert state.status == {"success": "done", "cancelled": "stopped"}[expected["status"]]
        assert state.answer == expected.get("output")
        requests = [request.messages for request in run.model.requests]
        assert len(requests) == expected["iterations"] == expected["snapshots"]
        for before, after in pairwise(requests):
            assert after[: len(before)] == before
        if "snapshotStablePrefixes" in expected:
            prompt = requests[0]
            begins = [len(prompt) for each in requests if each[: len(prompt)] == prompt]
            assert begins == expected["snapshotStablePrefixes"]
        # The whole conversation is sent each time: no provider holds a part of it for us.
        portable = ["portable"] * len(requests)
        assert portable == expected.get("snapshotPortability", portable)
        assert expected.get("commitPortability", "portable") == "portable"
        assert not expected.get("delegatedState")
        committed = [
            item.attributes["tool_call_id"] for item in state.conversation if item.role == "tool"
        ]
        assert committed == expected.get("toolResultOrder", [])
        ran = [event for event in run.run.events if isinstance(event, ToolCalled)]
        assert len(ran) == expected["toolResults"]
        assert turn_kinds(run.run.events) == expected["eventKinds"]


def loop_case(given: Watched) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A turn of the turn engine as a case of the loop."""
    outputs = given.get("toolOutputs") or {}
    sequence = []
    for turn in given["model"]:
        assert set(turn) <= {"assistant", "output", "tools"}
        calls = turn.get("tools", ())
        message = {
            "content": turn.get("assistant") or turn.get("output"),
            "tool_calls": [
                {
                    "id": call["id"],
                    "function": {"name": call["name"], "arguments": json.dumps(call["arguments"])},
                }
                for call in calls
            ],
        }
        sequence.append(
            {
                "llm_response": {"choices": [{"message": message}]},
                "expected_tool_calls": calls,
                "tool_results": [
                    {"tool_call_id": call["id"], "result": outputs[call["id"]]} for call in calls
                ],
            }
        )
    tools = {
        call["name"]: {
            "name": call["name"],
            "kind": "function",
            "parameters": [{"name": name, "kind": "string"} for name in call["arguments"]],
        }
        for turn in given["model"]
        for call in turn.get("tools", ())
    }
    return {"messages": given["messages"], "tools": list(tools.values())}, sequence
