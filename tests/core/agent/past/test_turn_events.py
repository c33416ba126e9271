"""Our runs, told in the words of Prompty's turn engine: its vectors `replay` and `stream`."""

from __future__ import annotations

import json
import os
from datetime import datetime
from pathlib import Path

import pytest

from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.step import Limits, Refused
from studio.core.models.base import ModelError
from studio.core.models.scripted import ScriptedModel
from studio.core.wire.reply import Reply
from tests.core.agent.runs import NATIVE, Functions, call, calling, document, run_of
from tests.support.start_run import start_run
from tests.support.turn_events import turn_events
from tests.support.vectors import Watched, all_read

ROOT = Path(__file__).resolve().parents[4]
FOLDER = Path(os.environ.get("PROMPTY_VECTORS", ROOT / "../shared/vectors/prompty"))


def vectors(name: str) -> list[dict]:
    path = FOLDER / name
    return json.loads(path.read_text("utf-8")) if path.exists() else []


def add(query: str) -> str:
    return "5"


def broken(query: str) -> str:
    raise ValueError("broken")


async def lines_of(case: Watched) -> list[str]:
    """The run that a vector's lines tell of: which of its parts there are is read from them."""
    told = " ".join(case["expected"])
    is_failing = ":add:false" in told and "tool_execution_start" in told
    function = broken if is_failing else add
    function.__name__ = "add"
    uses_tool = ":add:" in told
    replies = [calling(call("add", call_id="exec-1"))] if uses_tool else []
    tools = Functions(function, ask=("add",) if "permission_denied" in told else ())
    options = RunOptions(headless=True, limits=Limits(case["input"].get("maxIterations", 10)))
    inputs = {"question": "Where?"} | case["input"].get("inputs", {})
    run, _ = run_of(NATIVE, [*replies, "ok"], tools=tools, options=options, inputs=inputs)
    await run.go()
    # When it happened is in the journal, and in no line.
    assert datetime.fromisoformat(case["input"]["clock"]).timestamp() < run.events[0].at
    return list(turn_events(run.events, case["input"]["sessionId"], case["input"]["turnId"]))


@pytest.mark.skipif(not FOLDER.exists(), reason="the vectors are not beside the checkout")
@pytest.mark.parametrize("case", vectors("replay.json"), ids=lambda case: case["id"])
async def test_a_run_is_told_as_the_vector_says(case):
    with all_read(case) as vector:
        assert await lines_of(vector) == vector["expected"]


async def test_a_broken_tool_is_told_as_an_exception():
    run, _ = run_of(NATIVE, [calling(call("broken")), "ok"], tools=Functions(broken))
    await run.go()
    lines = turn_events(run.events, "s", "t")
    assert "turn:tool_result:0:broken:false:exception" in lines
    assert lines[-1] == "summary:s:success:turns=1:checkpoints=2"


async def test_a_refusal_is_determinate_and_a_broken_stream_is_not():
    """`stream.json`: neither commits a completion; what came before the break is kept."""
    run, _ = run_of(NATIVE, [Reply(refusal="I cannot help with that", finish_reason="refusal")])
    state = await run.go()
    assert (state.status, state.answer) == ("refused", None)
    assert isinstance(state.step.reading, Refused)
    assert state.error.message == "I cannot help with that"

    class Breaking(ScriptedModel):
        async def stream(self, request):
            async for delta in super().stream(request):
                yield delta
                raise ModelError("network", "connection reset")

    document_, options = document(NATIVE), RunOptions(headless=True)
    model = Breaking(["partial and more"])
    state = await start_run(document_, {"question": "Where?"}, model, options=options).go()
    assert (state.status, state.answer, state.error.kind) == ("failed", None, "model")
    assert state.step.reply is None
    assert state.step.partial is not None
    assert state.step.partial.text
    assert "partial and more".startswith(state.step.partial.text)
