"""A server that answers calls with tasks (`io.modelcontextprotocol/tasks`), and our client."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from studio.core.tools.mcp.connection import InputGiven, InputWanted, is_old_task
from studio.core.tools.mcp.server_config import StdioServer
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolLimits
from tests.support import patience

SERVER = """
import json
import sys
from pathlib import Path
from mcp.server.extension import Extension, MethodBinding
from mcp.server.mcpserver import MCPServer
from mcp_types import RequestParams
from pydantic import Field

class TaskParams(RequestParams):
    task_id: str = Field(alias="taskId")

class AnswerParams(TaskParams):
    answers: dict = Field(alias="inputResponses")

polls, answers = {}, {}
WHEN = "2026-07-28T10:00:00Z"

def task(name, status, **more):
    return {"taskId": name, "status": status, "createdAt": WHEN, "lastUpdatedAt": WHEN,
            "ttlMs": None, "pollIntervalMs": 20, "resultType": "complete", **more}

def text(said):
    return {"content": [{"type": "text", "text": said}], "isError": False}

async def get(context, params):
    name = params.task_id
    polls[name] = polls.get(name, 0) + 1
    if name == "ask" and name not in answers:
        form = {"type": "object", "properties": {"ok": {"type": "boolean"}}, "required": ["ok"]}
        asked = {"mode": "form", "message": "Go on?", "requestedSchema": form}
        request = {"method": "elicitation/create", "params": asked}
        return task(name, "input_required", inputRequests={"q1": request})
    if name == "stay" or polls[name] < 3:
        return task(name, "working", statusMessage=f"step {min(polls[name], 2)}")
    if name == "break":
        return task(name, "failed", error={"code": -32603, "message": "the disk is full"})
    if name == "drop":
        return task(name, "cancelled", statusMessage="the operator said no")
    return task(name, "completed", result=text(json.dumps(answers.get(name, "done"))))

async def update(context, params):
    answers[params.task_id] = params.answers
    return {"resultType": "complete"}

async def cancel(context, params):
    Path(sys.argv[1]).write_text(params.task_id, encoding="utf-8")
    return {"resultType": "complete"}

class Tasks(Extension):
    identifier = "io.modelcontextprotocol/tasks"

    def methods(self):
        return (MethodBinding("tasks/get", TaskParams, get),
                MethodBinding("tasks/update", AnswerParams, update),
                MethodBinding("tasks/cancel", TaskParams, cancel))

    async def intercept_tool_call(self, params, ctx, call_next):
        return {**task(params.name, "working"), "resultType": "task"}

server = MCPServer("jobs", extensions=[Tasks()])
for name in ("work", "ask", "break", "drop", "stay"):
    server.add_tool(lambda: "", name=name, description=name, structured_output=False)
server.run()
"""


async def agree(wanted: InputWanted) -> InputGiven:
    assert wanted.message == "Go on?"
    return InputGiven("accept", {"ok": True})


@pytest.fixture
async def source(tmp_path: Path) -> AsyncIterator[McpSource]:
    server_file = tmp_path / "server.py"
    server_file.write_text(SERVER, encoding="utf-8")
    server = StdioServer(sys.executable, (str(server_file), str(tmp_path / "cancelled")))
    limits = ToolLimits(patience.SECONDS, patience.SECONDS)
    source = McpSource("jobs", server, limits=limits, ask=agree)
    yield source
    await source.close()


async def test_a_task_is_waited_for_or_cancelled(source: McpSource, tmp_path: Path) -> None:
    said: list[str] = []
    outcome = await source.call_with_progress("work", {}, said.append)
    assert (outcome.status, outcome.text) == ("ok", '"done"')
    assert said == ["step 1\n", "step 2\n"]

    outcome = await source.call("ask", {})
    answer = '{"q1": {"action": "accept", "content": {"ok": true}}}'
    assert (outcome.status, outcome.text) == ("ok", answer)

    outcome = await source.call("break", {})
    assert (outcome.status, outcome.text) == ("error", "the disk is full")
    outcome = await source.call("drop", {})
    assert outcome.status == "error"
    assert "(cancelled): the operator said no" in outcome.text
    assert not (tmp_path / "cancelled").exists()

    begun = asyncio.Event()
    call = asyncio.create_task(source.call_with_progress("stay", {}, lambda _: begun.set()))
    async with asyncio.timeout(patience.SECONDS):
        await begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert (tmp_path / "cancelled").read_text(encoding="utf-8") == "stay"


def test_a_tool_of_the_old_tasks_is_known() -> None:
    import mcp_types as types

    plain = types.Tool(name="plain", input_schema={"type": "object"})
    execution = types.ToolExecution(task_support="required")
    old = plain.model_copy(update={"execution": execution})
    assert is_old_task(old, "2025-11-25")
    assert not is_old_task(old, "2026-07-28")
    assert not is_old_task(plain, "2025-11-25")
