"""A server by FastMCP: it asks the user, works on tasks, and wants a key or a login where told so.

`python fastmcp_server.py plain|key|login PORT`; port 0 is this process's pipes.
"""

from __future__ import annotations

import asyncio
import sys
from dataclasses import dataclass

from fastmcp import Context, FastMCP
from fastmcp.server.auth import StaticTokenVerifier
from fastmcp.server.auth.providers.in_memory import InMemoryOAuthProvider
from fastmcp_tasks import TasksExtension
from mcp.server.auth.settings import ClientRegistrationOptions

kind, port = sys.argv[1], int(sys.argv[2])
auth = None
if kind == "key":
    auth = StaticTokenVerifier({"good-key": {"client_id": "me", "scopes": ["read"]}})
elif kind == "login":
    registration = ClientRegistrationOptions(enabled=True, valid_scopes=["read"])
    auth = InMemoryOAuthProvider(
        base_url=f"http://127.0.0.1:{port}", client_registration_options=registration
    )

server = FastMCP("fast", auth=auth)
server.add_extension(TasksExtension())


@dataclass
class Seat:
    row: int
    window: bool


@server.tool
async def book(context: Context) -> str:
    answer = await context.elicit("Which seat?", Seat)
    return f"{answer.action}: row {answer.data.row}"


@server.tool(task=True)
async def work(steps: int) -> str:
    await asyncio.sleep(0.1)
    return f"worked on {steps}"


if port:
    server.run("http", host="127.0.0.1", port=port, show_banner=False)
else:
    server.run(show_banner=False)
