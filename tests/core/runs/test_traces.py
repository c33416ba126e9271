"""Traces: their shape, their sums, their names, and what they hide."""

from __future__ import annotations

import json

from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits
from studio.core.masking.redact import DOTS as MASK
from studio.core.masking.redact import redact
from studio.core.runs.traces import trace, trace_name
from studio.core.wire.reply import Reply, Usage
from tests.core.agent.runs import NATIVE, REACT, Functions, call, calling, run_of


async def run_with(prompt, replies, **more):
    run, _ = run_of(prompt, replies, **more)
    await run.go()
    return run


async def test_usage_is_summed_over_model_calls_only():
    run = await run_with(NATIVE, [calling(call()), Reply("ok", usage=Usage(3, 4))])
    root = trace(run.events, "1.0")["trace"]
    assert root["__usage"] == {"prompt_tokens": 13, "completion_tokens": 9, "total_tokens": 22}
    steps = root["__frames"]
    assert [step["name"] for step in steps] == ["step 1", "step 2"]
    models = [frame for step in steps for frame in step["__frames"] if frame.get("type") == "LLM"]
    assert sum(frame["__usage"]["total_tokens"] for frame in models) == 22
    tool = steps[0]["__frames"][1]
    assert (tool["name"], tool["inputs"], tool["result"]) == ("search", {"query": "x"}, "found x")
    sent = models[1]["inputs"]["messages"]
    assert [message["role"] for message in sent] == ["system", "user", "assistant", "tool"]
    assert sent[2]["tool_calls"][0]["function"]["name"] == "search"


async def test_times_are_utc_and_inside_their_parents():
    run = await run_with(REACT, ['Action: search\nArgs: {"query": "a"}', "Final Answer: ok"])
    root = trace(run.events, "1.0")["trace"]

    def walk(frame):
        assert frame["__time"]["start"].endswith("Z")
        for child in frame.get("__frames", ()):
            assert frame["__time"]["start"] <= child["__time"]["start"]
            assert child["__time"]["end"] <= frame["__time"]["end"]
            walk(child)

    walk(root)
    assert root["result"] == {"status": "done", "answer": "ok"}


async def test_a_failed_run_says_why():
    run = await run_with(
        NATIVE, [calling(call())], options=RunOptions(headless=True, limits=Limits(1))
    )
    result = trace(run.events, "1.0")["trace"]["result"]
    assert result["status"] == "limit"
    assert "1 step " in result["exception"]


async def test_secrets_are_masked_wherever_they_stand():
    def login(user: str, api_key: str) -> str:
        return json.dumps({"access_token": "t0p", "user": user})

    arguments = '{"user": "ann", "api_key": "s3cret"}'
    run = await run_with(NATIVE, [calling(call("login", arguments)), "ok"], tools=Functions(login))
    text = json.dumps(trace(run.events, "1.0"))
    assert "s3cret" not in text
    assert "t0p" not in text
    assert "ann" in text


def test_what_counts_as_a_secret():
    given = {
        "x-api-key": "a",
        "Authorization": "b",
        "password": "c",
        "passwd": "d",
        "access_tokens": "e",
        "connection_string": "f",
        "token": "g",
        "max_tokens": 5,
        "prompt_tokens": "7",
        "author": "h",
        "authors": ["i"],
        "maxOutputTokens": 9,
        "token_count": None,
        "note": '[{"secret": "j"}]',
    }
    got = redact(given)
    hidden = {key for key, value in got.items() if value == MASK}
    assert hidden == {
        "x-api-key",
        "Authorization",
        "password",
        "passwd",
        "access_tokens",
        "connection_string",
        "token",
    }
    assert json.loads(got["note"]) == [{"secret": MASK}]
    assert got["prompt_tokens"] == "7"


async def test_files_have_names_of_their_own():
    run = await run_with(NATIVE, ["ok"])
    assert trace(run.events, "1.0")["runtime"] == "python"
    assert trace_name("A / b?", 0.0, "r1") == "A_b.19700101.000000.r1.tracy"
    assert trace_name("A / b?", 0.0, "r2") != trace_name("A / b?", 0.0, "r1")
