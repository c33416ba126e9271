"""The studio as the client of the protocol's conformance suite: `python … URL`, started by it.

The suite plays a server, and looks at what the client does. Which part it plays is said by
MCP_CONFORMANCE_SCENARIO. The login's page is opened as a browser would, by someone who agrees.
"""

from __future__ import annotations

import asyncio
import json
import os
import sys
from typing import Any

import httpx2

from studio.core.prompty.document import ToolSpec
from studio.core.tools.mcp.connection import InputGiven, InputWanted
from studio.core.tools.mcp.server_config import HttpLogin, HttpServer
from studio.core.tools.mcp.source import McpSource
from tests.interop.environments import PATIENT

SCENARIO = os.environ.get("MCP_CONFORMANCE_SCENARIO", "")
CONTEXT: dict[str, Any] = json.loads(os.environ.get("MCP_CONFORMANCE_CONTEXT", "{}") or "{}")

OLD = bool(os.environ.get("MCP_CONFORMANCE_OLD"))
"""Whether the protocols before 2026-07-28 are spoken."""


async def answer(wanted: InputWanted) -> InputGiven:
    """Open the page of a login, or send a form with its defaults."""
    if wanted.url:
        async with httpx2.AsyncClient(follow_redirects=True) as browser:
            await browser.get(wanted.url)
        return InputGiven("accept")
    properties: Any = wanted.schema.get("properties", {})
    filled = {name: each["default"] for name, each in properties.items() if "default" in each}
    return InputGiven("accept", filled)


def filled(spec: ToolSpec, first: ToolSpec) -> dict[str, Any]:
    """Arguments of a call; one that echoes a schema gets that of the first tool."""
    required: Any = spec.parameters.get("required", [])
    return {name: first.parameters if name == "schema" else 1 for name in required}


def login() -> HttpLogin | None:
    """How to log in, as a user would have written it down."""
    if not SCENARIO.startswith("auth/"):
        return None
    if SCENARIO.startswith("auth/client-credentials"):
        return HttpLogin(CONTEXT.get("client_id", ""), CONTEXT.get("client_secret", ""))
    client, secret = CONTEXT.get("client_id", ""), CONTEXT.get("client_secret", "")
    return HttpLogin(client, secret, in_browser=True)


async def main(url: str) -> int:
    """List the tools, make the calls that the suite asks for, else one of each, and leave."""
    server = HttpServer(url, login=login(), is_old=OLD)
    source = McpSource("suite", server, limits=PATIENT, ask=answer)
    try:
        specs = await source.list_tools()
        calls = [(each["name"], each["arguments"]) for each in CONTEXT.get("toolCalls", ())]
        for name, arguments in calls or [(spec.name, filled(spec, specs[0])) for spec in specs]:
            outcome = await source.call(name, arguments)
            print(name, outcome.status, outcome.text[:200])
    finally:
        await source.close()
    return 0


if __name__ == "__main__":
    sys.exit(asyncio.run(main(sys.argv[-1])))
