"""A Python file as an MCP server: progress, cancellation, pictures, both eras."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client

from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import SERVER

TOOLS = '''
import asyncio
import base64
import time
from collections.abc import Iterator
from types import SimpleNamespace

PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def steps(count: int) -> Iterator[str]:
    """Yield words."""
    for number in range(count):
        yield f"step {number}"


def spin() -> str:
    """Never end."""
    print("spinning", flush=True)
    while True:
        time.sleep(0.01)


async def wait() -> str:
    """Never end."""
    print("waiting", flush=True)
    await asyncio.Event().wait()


def draw() -> bytes:
    """Give a picture."""
    return PNG


def both() -> list:
    """Give a word and a picture of MCP's own class."""
    made = SimpleNamespace(type="image", data=base64.b64encode(PNG).decode(), mimeType="image/png")
    return ["a word", SimpleNamespace(to_image_content=lambda: made)]
'''
ENVELOPE = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "tools.py"
    path.write_text(TOOLS, encoding="utf-8")
    return path


def message(number: int, method: str, **parameters: Any) -> str:
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})


def served(file: Path, *lines: str) -> list[dict[str, Any]]:
    """What the server writes to lines that are followed by the end of its input."""
    command = [sys.executable, str(SERVER), str(file)]
    done = subprocess.run(
        command, input="\n".join(lines), capture_output=True, text=True, check=True, timeout=300
    )
    return [json.loads(line) for line in done.stdout.splitlines()]


def test_what_was_asked_is_answered_before_it_ends(file: Path) -> None:
    call = message(1, "tools/call", name="steps", arguments={"count": 2})
    (answer,) = served(file, call)
    assert answer["result"]["content"][0]["text"] == '["step 0","step 1"]'


def test_what_a_generator_yields_is_progress(file: Path) -> None:
    call = {"name": "steps", "arguments": {"count": 2}, "_meta": {"progressToken": "p"}}
    *told, answer = served(file, message(1, "tools/call", **call))
    assert [each["params"] for each in told] == [
        {"progressToken": "p", "progress": 1, "message": "step 0"},
        {"progressToken": "p", "progress": 2, "message": "step 1"},
    ]
    assert answer["id"] == 1


@pytest.mark.parametrize(("name", "said"), [("spin", "spinning"), ("wait", "waiting")])
def test_a_cancelled_call_ends_and_is_not_answered(file: Path, name: str, said: str) -> None:
    command = [sys.executable, "-u", str(SERVER), str(file)]
    pipes = dict.fromkeys(("stdin", "stdout", "stderr"), subprocess.PIPE)
    with subprocess.Popen(command, text=True, **pipes) as server:  # type: ignore[call-overload]
        server.stdin.write(message(1, "tools/call", name=name, arguments={}) + "\n")
        server.stdin.flush()
        assert server.stderr.readline().strip() == said
        cancel = {"method": "notifications/cancelled", "params": {"requestId": 1}}
        ping = message(2, "ping")
        out, _ = server.communicate(f"{json.dumps(cancel)}\n{ping}\n", timeout=300)
    assert [json.loads(line)["id"] for line in out.splitlines()] == [2]


def test_requests_without_a_handshake_are_answered(file: Path) -> None:
    answers = {
        each["id"]: each
        for each in served(
            file,
            message(1, "server/discover", _meta=ENVELOPE),
            message(2, "tools/list", _meta=ENVELOPE),
            message(3, "ping", _meta=ENVELOPE),
            message(4, "server/discover"),
            message(5, "tools/list", _meta={**ENVELOPE, next(iter(ENVELOPE)): "1999-01-01"}),
        )
    }
    found = answers[1]["result"]
    assert (found["supportedVersions"], found["resultType"]) == (["2026-07-28"], "complete")
    assert found["_meta"]["io.modelcontextprotocol/serverInfo"]["name"] == "tools.py"
    assert answers[2]["result"]["ttlMs"] == 0
    assert answers[3]["error"]["code"] == -32601
    assert answers[4]["error"]["code"] == -32602
    assert answers[5]["error"]["code"] == -32022
    assert answers[5]["error"]["data"] == {"supported": ["2026-07-28"], "requested": "1999-01-01"}


@pytest.mark.parametrize("mode", ["legacy", "2026-07-28", "auto"])
async def test_the_sdks_client_gets_pictures_in_both_eras(file: Path, mode: str) -> None:
    served = StdioServerParameters(command=sys.executable, args=[str(SERVER), str(file)])
    async with Client(stdio_client(served), mode=mode) as client:  # type: ignore[arg-type]
        drawn = await client.call_tool("draw", {})
        both = await client.call_tool("both", {})
    assert [(each.type, each.mime_type) for each in drawn.content] == [("image", "image/png")]  # type: ignore[union-attr]
    assert [each.type for each in both.content] == ["text", "image"]


async def test_the_studio_gets_pictures(file: Path) -> None:
    source = PythonFileSource(file)
    try:
        outcome = await source.call("both", {})
    finally:
        await source.close()
    assert [each.kind for each in outcome.pictures] == ["image/png"]
    assert outcome.text.startswith("a word\n[image image/png")
