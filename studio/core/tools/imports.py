"""Importing the heavy packages of the tools in a thread, so that the loop goes on meanwhile."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor

from studio.core.whole_imports import are_whole, import_whole

MCP = tuple(
    """
    mcp mcp.client.auth mcp.client.auth.extensions.client_credentials mcp.client.extension
    mcp.client.sse mcp.client.stdio mcp.client.streamable_http mcp.client.subscriptions httpx2
    studio.core.tools.mcp.http_streams studio.core.tools.mcp.tasks
""".split()
)
"""What a connection to an MCP server uses."""

HTTP = ("httpx2",)
"""What a request to a service uses."""


async def import_packages(names: tuple[str, ...]) -> None:
    """Import packages, if that has not been done; only then may the loop itself name them."""
    if are_whole(*names):
        return
    with ThreadPoolExecutor(1, "import-tools") as pool:
        await asyncio.get_running_loop().run_in_executor(pool, _import, names)


def _import(names: tuple[str, ...]) -> None:
    import_whole(*names)
    # What goes wrong is said where it goes wrong; without a handler of its own the SDK prints it,
    # with tracebacks, on the error stream beside that.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
