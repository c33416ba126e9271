"""`prompt-studio mcp`: the studio for coding agents, over the Model Context Protocol.

Over standard input and output, or over HTTP on this machine alone, where each request carries a
token that only whoever started the server knows. The prompts of the folder are MCP prompts, with
their names, arguments and messages.
"""

from __future__ import annotations

import hmac
import logging
import secrets
import sys
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import anyio
import anyio.to_thread
from mcp.server.mcpserver import Context, MCPServer
from mcp.server.mcpserver.exceptions import ToolError
from mcp_types import (
    CallToolResult,
    Completion,
    CompletionArgument,
    CompletionContext,
    GetPromptResult,
    InputRequiredResult,
    Prompt,
    PromptReference,
    ResourceTemplateReference,
    Tool,
)
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

from studio import __version__
from studio.core.tools.trust.store import TrustStore
from studio.servers.mcp.debug_tools import OUTWARD, add_debug_tools
from studio.servers.mcp.experiment_tools import add_experiment_tools
from studio.servers.mcp.live_runs import LiveRuns
from studio.servers.mcp.prompt_tools import add_prompt_tools
from studio.servers.mcp.prompts import (
    listed_prompts,
    prompt_messages,
    prompt_tools,
    proposed_values,
)
from studio.servers.mcp.served_folder import ServedFolder

_INSTRUCTIONS = """\
Prompt Studio works on .prompty files in one folder. `check` finds their problems and `fix` makes \
the fixes; `messages` and `request` show exactly what a model would get, and `explain_value` which \
text of the file made a piece of it. `start`, `step`, `continue`, `edit` and `fork` are a debugger \
for prompts and agents. `experiment_run` proves a change. What leaves the machine, and each tool \
call that needs approval, is asked of the user. Every run stands in the history of the Prompt \
Studio window."""

LOOPBACK = "127.0.0.1"
"""The only address that is listened on."""


class StudioServer(MCPServer[Any]):
    """The server with its tools, and the prompts of its folder as they are when they are asked."""

    def __init__(self, folder: ServedFolder) -> None:
        super().__init__(
            "prompt-studio",
            title="Prompt Studio",
            instructions=_INSTRUCTIONS,
            version=__version__,
            log_level="WARNING",
        )
        self._folder = folder
        self._runs = LiveRuns(folder)
        add_prompt_tools(self, folder)
        add_debug_tools(self, folder, self._runs)
        add_experiment_tools(self, folder)
        self._own = frozenset(tool.name for tool in self._tool_manager.list_tools())
        self._prompts: list[str] = []
        self.completion()(self._propose)  # type: ignore[no-untyped-call]

    async def list_tools(self) -> list[Tool]:
        """The tools, with the prompts that are tools themselves."""
        await self._refresh_prompts()
        return await super().list_tools()

    async def call_tool(
        self,
        name: str,
        arguments: dict[str, Any],
        context: Context[Any, Any] | None = None,
    ) -> CallToolResult | InputRequiredResult:
        """Call a tool.

        Raises:
            ToolError: there is none of that name, or it fails.
        """
        if name not in self._own:  # a prompt: its file is read as it is now
            await self._refresh_prompts()
        elif fault := self._misnamed(name, arguments):
            raise ToolError(fault)
        return await super().call_tool(name, arguments, context)

    def _misnamed(self, name: str, arguments: Mapping[str, Any]) -> str:
        """What is wrong with the names of arguments; one that nobody knows is not just left out."""
        tool = self._tool_manager.get_tool(name)
        if tool is None:
            return ""
        known = tool.parameters.get("properties", {})
        missing = [each for each in tool.parameters.get("required", ()) if each not in arguments]
        unknown = [each for each in arguments if each not in known]
        lines = [f"it needs {each!r}" for each in missing]
        lines += [f"it has no argument {each!r}" for each in unknown]
        return f"{name}: {', '.join(lines)}. It takes {', '.join(known)}." if lines else ""

    async def _refresh_prompts(self) -> None:
        find = partial(prompt_tools, self._folder, self._runs)
        found = await anyio.to_thread.run_sync(lambda: list(find()))
        for name in self._prompts:
            self.remove_tool(name)
        offered = [each for each in found if each.name not in self._own]
        self._prompts = [each.name for each in offered]
        for each in offered:
            self.add_tool(each.call, each.name, None, each.description, OUTWARD)

    async def list_prompts(self) -> list[Prompt]:
        """The prompts of the folder."""
        return await anyio.to_thread.run_sync(listed_prompts, self._folder)

    async def _propose(
        self,
        reference: PromptReference | ResourceTemplateReference,
        argument: CompletionArgument,
        context: CompletionContext | None,
    ) -> Completion | None:
        """Propose values for an argument of a prompt."""
        del context
        if not isinstance(reference, PromptReference):
            return None
        asked = (reference.name, argument.name, argument.value)
        return await anyio.to_thread.run_sync(proposed_values, self._folder, *asked)

    async def get_prompt(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        context: Context[Any, Any] | None = None,
    ) -> GetPromptResult | InputRequiredResult:
        """The messages of one.

        Raises:
            MCPError: there is no such prompt, or a value is missing or wrong.
        """
        del context
        return await anyio.to_thread.run_sync(
            partial(prompt_messages, self._folder, name, arguments)
        )

    async def close(self) -> None:
        """Stop the runs that go on, and end what was started."""
        await self._runs.close()
        await self._folder.close()


def serve(root: Path, *, port: int | None, allow_all: bool, trust: TrustStore) -> None:
    """Serve a folder until the client leaves, or the process is interrupted.

    Args:
        root: the folder.
        port: a port for HTTP, 0 for any free one; None for standard input and output.
        allow_all: whether what would be asked of the user is allowed.
        trust: the folders that the user trusts.
    """
    # A library that prints would break the stream; what is logged goes to standard error.
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    anyio.run(_serve, ServedFolder(root.resolve(), allow_all, trust), port)


async def _serve(folder: ServedFolder, port: int | None) -> None:
    server = StudioServer(folder)
    try:
        if port is None:
            await server.run_stdio_async()
        else:
            await _serve_http(server, port)
    finally:
        with anyio.CancelScope(shield=True):
            await server.close()


async def _serve_http(server: StudioServer, port: int) -> None:
    import socket

    import uvicorn

    token = secrets.token_urlsafe(32)
    listening = socket.create_server((LOOPBACK, port))
    address = f"http://{LOOPBACK}:{listening.getsockname()[1]}/mcp"
    app = TokenGuard(server.streamable_http_app(host=LOOPBACK), token)
    config = uvicorn.Config(app, log_level="warning")
    print(f"{address}\nAuthorization: Bearer {token}", file=sys.stderr, flush=True)  # noqa: T201
    with listening:
        await uvicorn.Server(config).serve([listening])


class TokenGuard:
    """Passes on what carries the token, and refuses the rest."""

    def __init__(self, app: ASGIApp, token: str) -> None:
        self._app = app
        self._wanted = f"Bearer {token}".encode()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection, as ASGI has it."""
        if scope["type"] == "http" and not self._is_known(scope):
            refusal = PlainTextResponse(
                "The request carries no token, or another one.",
                401,
                {"WWW-Authenticate": "Bearer"},
            )
            await refusal(scope, receive, send)
            return
        await self._app(scope, receive, send)

    def _is_known(self, scope: Scope) -> bool:
        given = [value for name, value in scope["headers"] if name == b"authorization"]
        return len(given) == 1 and hmac.compare_digest(given[0], self._wanted)
