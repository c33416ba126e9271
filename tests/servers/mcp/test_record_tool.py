"""The recorder's tool: a real client, a program's real requests, a scripted server."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import Client

from tests.servers.mcp.test_server import Person, beside, refusal, told
from tests.support.chat_server import chat_server, json_body

ASK = {"model": "m", "messages": [{"role": "user", "content": "Where?"}]}


def said(text: str) -> dict[str, Any]:
    message = {"role": "assistant", "content": text}
    return {"choices": [{"message": message, "finish_reason": "stop"}]}


async def asked(variables: list[str]) -> httpx2.Response:
    """Ask as a program that was started with the variables."""
    address = dict(each.split("=", 1) for each in variables)["OPENAI_BASE_URL"]
    async with httpx2.AsyncClient(timeout=None) as client:
        return await client.post(f"{address}/chat/completions", json=ASK)


async def held(client: Client) -> dict[str, Any]:
    listed = await told(client, "record", action="list", wait=60)
    (run,) = listed["runs"]
    assert (run["status"], run["step"]) == ("paused", 1)
    found: dict[str, Any] = run
    return found


async def test_an_agent_holds_and_edits_the_calls_of_a_program(
    tmp_path: Path, user_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    person = Person()
    with chat_server() as server:
        server.always(json_body(said("Found.")))
        monkeypatch.setenv("OPENAI_BASE_URL", server.url)
        async with beside(tmp_path, person) as client:
            began = await told(client, "record", action="start", hold_first=True)
            going = asyncio.create_task(asked(began["variables"]))
            run = (await held(client))["run"]
            assert server.requests == []
            assert "decides" in await refusal(client, "edit", run=run, what="message", text="x")
            assert "stop the recording" in await refusal(client, "fork", run=run, step=1)
            await told(client, "breakpoints", run=run, set=["answer"])
            await told(client, "continue", run=run)
            await told(client, "edit", run=run, what="answer", text="Edited.")
            await told(client, "continue", run=run)
            answer = (await going).json()["choices"][0]["message"]["content"]
            ended = await told(client, "record", action="stop")
            with pytest.raises(httpx2.HTTPError):
                await asked(began["variables"])
    assert answer == "Edited."
    assert [each.body for each in server.requests] == [ASK]
    assert (ended["recording"], ended["runs"]) == ("none", [])
    assert len(person.asked) == 1


async def test_a_recording_needs_the_users_consent(tmp_path: Path, user_home: Path) -> None:
    async with beside(tmp_path, Person(allows=False)) as client:
        assert "did not allow" in await refusal(client, "record", action="start")
        assert (await told(client, "record", action="list"))["variables"] == []
