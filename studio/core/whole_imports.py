"""Import heavy packages completely, one thread at a time.

Two threads that import parts of one package at the same time may see each other's incomplete
modules: openai, mcp and genai-prices all import pydantic, each in its own thread.
"""

import asyncio
import importlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

_ONE_AT_A_TIME = threading.Lock()
_WHOLE: set[str] = set()


def import_whole(*names: str) -> None:
    """Import modules unless they are imported; raise ImportError for a missing one."""
    if _WHOLE.issuperset(names):
        return
    with _ONE_AT_A_TIME:
        for name in names:
            importlib.import_module(name)
        _WHOLE.update(names)


def are_whole(*names: str) -> bool:
    """Return whether `import_whole` has imported the modules."""
    return _WHOLE.issuperset(names)


# Imports the heavy packages of the tools in a thread, so that the event loop keeps running.

MCP = tuple(
    """
    mcp mcp.client.auth mcp.client.auth.extensions.client_credentials mcp.client.extension
    mcp.client.sse mcp.client.stdio mcp.client.streamable_http mcp.client.subscriptions httpx2
    studio.core.tools.mcp.http_streams studio.core.tools.mcp.tasks
""".split()
)
"""Modules for a connection to an MCP server."""

HTTP = ("httpx2",)
"""Modules for a request to a service."""


async def import_packages(names: tuple[str, ...]) -> None:
    """Import packages unless they are imported; only then may the event loop's thread use them."""
    if are_whole(*names):
        return
    with ThreadPoolExecutor(1, "import-tools") as pool:
        await asyncio.get_running_loop().run_in_executor(pool, _import, names)


def _import(names: tuple[str, ...]) -> None:
    import_whole(*names)
    # Errors are reported where they happen; without a handler the SDK also prints them with
    # tracebacks on stderr.
    logging.getLogger("mcp").addHandler(logging.NullHandler())
