"""Importing the heavy packages of the tools, in a thread, whole, and one caller after the other.

The `mcp` SDK takes most of a second, and the loop must go on meanwhile. Two threads that import
parts of it at the same time have seen each other's half-made modules: a prompt with a server over
stdio and one over HTTP failed so.
"""

from __future__ import annotations

import asyncio
import importlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

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

_ONE_AT_A_TIME = threading.Lock()
_WHOLE: set[str] = set()


async def import_packages(names: tuple[str, ...]) -> None:
    """Import packages, if that has not been done; only then may the loop itself name them."""
    if _WHOLE.issuperset(names):
        return
    with ThreadPoolExecutor(1, "import-tools") as pool:
        await asyncio.get_running_loop().run_in_executor(pool, _import, names)


def _import(names: tuple[str, ...]) -> None:
    with _ONE_AT_A_TIME:
        for name in names:
            importlib.import_module(name)
        # What goes wrong is said where it goes wrong; without a handler of its own the SDK prints
        # it, with tracebacks, on the error stream beside that.
        logging.getLogger("mcp").addHandler(logging.NullHandler())
        _WHOLE.update(names)
