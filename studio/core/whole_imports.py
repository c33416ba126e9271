"""Importing heavy packages whole: one thread at a time.

Two threads that import parts of one package at the same moment have seen each other's half-made
modules: openai, mcp and genai-prices all import pydantic, each in a thread of its own.
"""

import asyncio
import importlib
import logging
import threading
from concurrent.futures import ThreadPoolExecutor

_ONE_AT_A_TIME = threading.Lock()
_WHOLE: set[str] = set()


def import_whole(*names: str) -> None:
    """Import modules, unless that has been done; raise ImportError for one that is not there."""
    if _WHOLE.issuperset(names):
        return
    with _ONE_AT_A_TIME:
        for name in names:
            importlib.import_module(name)
        _WHOLE.update(names)


def are_whole(*names: str) -> bool:
    """Return whether modules have been imported by `import_whole`."""
    return _WHOLE.issuperset(names)


# Importing the heavy packages of the tools in a thread, so that the loop goes on meanwhile.

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
