"""A server by FastMCP, met by our client: a key, a login, questions, tasks (`make interop`)."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import httpx2

from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.mcp.server_config import (
    HttpLogin,
    HttpServer,
    ServerAddress,
    StdioServer,
)
from studio.core.tools.mcp.source import McpSource
from studio.core.tools.source import ToolSourceError
from tests.interop.environments import PATIENT, build
from tests.support.ports import free_port

SERVER = Path(__file__).with_name("fastmcp_server.py")
REFUSED = "HTTP 401 Unauthorized: it needs a login"


async def answer(wanted: InputWanted) -> InputGiven:
    """A user who opens the page of a login, and fills in a seat."""
    if wanted.url:
        async with httpx2.AsyncClient(follow_redirects=True) as browser:
            await browser.get(wanted.url)
        return InputGiven("accept")
    return InputGiven("accept", {"row": 3, "window": True})


@asynccontextmanager
async def served(python: Path, kind: str) -> AsyncIterator[str]:
    """The server's address, while it serves by HTTP."""
    port = free_port()
    process = await asyncio.create_subprocess_exec(
        str(python),
        str(SERVER),
        kind,
        str(port),
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    try:
        while b"running on" not in (line := await process.stderr.readline()):
            if not line:
                raise RuntimeError("the server of FastMCP did not start")
        yield f"http://127.0.0.1:{port}/mcp"
    finally:
        process.kill()
        await process.communicate()


async def meet(name: str, address: ServerAddress) -> list[str]:
    """What is wrong with a call that becomes a task, and with one that asks."""
    wrong: list[str] = []
    for is_old, tool, said in ((False, "work", "worked on 4"), (True, "book", "accept: row 3")):
        spoken = replace(address, is_old=is_old)
        source = McpSource(name, spoken, limits=PATIENT, ask=answer)
        try:
            outcome = await source.call(tool, {"steps": 4} if tool == "work" else {})
        finally:
            await source.close()
        if (outcome.status, outcome.text) != ("ok", said):
            wrong.append(f"{name}: {tool}: {outcome.status}: {outcome.text}")
    return wrong


async def refused(address: ServerAddress) -> list[str]:
    """What is wrong with the sentence of a refusal."""
    source = McpSource("refused", address, limits=PATIENT)
    try:
        await source.list_tools()
    except ToolSourceError as error:
        return [] if REFUSED in str(error) else [str(error)]
    finally:
        await source.close()
    return ["a wrong key is taken"]


async def main() -> int:
    """Meet it by pipes, with a key, and with a login."""
    python = build("fastmcp")
    if python is None:
        print("FastMCP      not installed here")
        return 0
    wrong = await meet("pipes", StdioServer(str(python), (str(SERVER), "plain", "0")))
    async with served(python, "key") as url:
        wrong += await meet("key", HttpServer(url, {"Authorization": "Bearer good-key"}))
        wrong += await refused(HttpServer(url, {"Authorization": "Bearer no-key"}))
    async with served(python, "login") as url:
        wrong += await meet("login", HttpServer(url, login=HttpLogin(in_browser=True)))
    print("FastMCP      a task and a question by pipes, with a key, with a login", *wrong, sep="\n")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
