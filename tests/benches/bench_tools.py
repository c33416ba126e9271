"""A tool's round trip through the toolbox, beside a direct call of the official MCP client.

Both talk to a server of their own that serves the same file; ours also checks the arguments, puts
bindings in, bounds the time and gathers what the tool printed. Then 1,200 tools in the registry.
"""

from __future__ import annotations

import asyncio
import statistics
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from studio.core.paths import resource
from studio.core.prompty.document import ToolSpec
from studio.core.tools.binding import build_registry
from studio.core.tools.python.interpreter import server_environment
from studio.core.tools.python.source import PythonFileSource
from studio.core.tools.python.worker import server_command
from studio.core.tools.registry import SourceTools
from studio.core.tools.toolbox import Toolbox

_ROUNDS = 10
_CALLS = 60
_RATIO_TARGET = 1.3
_OPEN_TARGET = 0.2
_FILTER_TARGET = 0.016
_ARGUMENTS = {"expression": "128 * 46"}


async def round_trips() -> tuple[float, float]:
    """Median seconds of a call: ours, and direct."""
    from mcp import Client, StdioServerParameters

    path = resource("examples", "tools.py")
    source = PythonFileSource(path)
    registry = build_registry([], [SourceTools("file", "file", await source.list_tools())])
    toolbox = Toolbox(lambda: registry, {"file": source})
    command, *arguments = server_command(path)
    server = StdioServerParameters(
        command=command, args=arguments, env=server_environment(), cwd=path.parent
    )
    ours: list[float] = []
    direct: list[float] = []
    async with Client(server) as client:
        await client.list_tools()
        for _ in range(_ROUNDS):
            for _ in range(_CALLS):
                began = time.perf_counter()
                outcome = await toolbox.call("calculator", _ARGUMENTS)
                ours.append(time.perf_counter() - began)
                assert outcome.value == 5888
            for _ in range(_CALLS):
                began = time.perf_counter()
                await client.call_tool("calculator", dict(_ARGUMENTS))
                direct.append(time.perf_counter() - began)
    await source.close()
    return statistics.median(ours), statistics.median(direct)


def pane_times() -> tuple[float, float]:
    """Seconds to show 1,200 tools in the real pane, and for a key in its search (the median)."""
    from PySide6.QtTest import QTest
    from PySide6.QtWidgets import QApplication

    from studio.ui.tools.pane import ToolsPane

    app = QApplication.instance() or QApplication([])
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    specs = tuple(ToolSpec(f"tool_{number}", "Text " * 20, schema) for number in range(1200))
    pane = ToolsPane()
    pane.resize(520, 760)
    pane.show()
    app.processEvents()
    began = time.perf_counter()
    pane.show_registry(build_registry((), [SourceTools("s", "s", specs)]))
    app.processEvents()
    opened = time.perf_counter() - began
    keys = []
    for key in "tool_99":
        began = time.perf_counter()
        QTest.keyClicks(pane.search, key)
        app.processEvents()
        keys.append(time.perf_counter() - began)
    pane.close()
    return opened, statistics.median(keys)


def registry_times() -> tuple[float, float]:
    """Seconds to build a registry of 1,200 tools, and the slowest of a few filters."""
    schema = {"type": "object", "properties": {"n": {"type": "integer"}}, "required": ["n"]}
    specs = tuple(ToolSpec(f"tool_{number}", "Text " * 20, schema) for number in range(1200))
    began = time.perf_counter()
    registry = build_registry((), [SourceTools("s", "s", specs)])
    opened = time.perf_counter() - began
    filters = []
    for text in ("t", "to", "tool_9", "tool_99 bound", "nothing"):
        began = time.perf_counter()
        registry.search(text)
        filters.append(time.perf_counter() - began)
    return opened, max(filters)


def main() -> int:
    """Print the figures; 1 when a target is missed."""
    ours, direct = asyncio.run(round_trips())
    ratio = ours / direct
    opened, filtered = registry_times()
    shown, key = pane_times()
    print(
        f"tool round trip: {ours * 1000:.2f} ms, direct MCP client {direct * 1000:.2f} ms: "
        f"{ratio:.2f}x (target <= {_RATIO_TARGET}x)"
    )
    print(
        f"1,200 tools: registry {opened * 1000:.1f} ms (target <= {_OPEN_TARGET * 1000:.0f} ms), "
        f"filter {filtered * 1000:.1f} ms (target <= {_FILTER_TARGET * 1000:.0f} ms)"
    )
    print(
        f"1,200 tools in the pane: shown {shown * 1000:.1f} ms (target <= "
        f"{_OPEN_TARGET * 1000:.0f} ms), key {key * 1000:.1f} ms (target <= "
        f"{_FILTER_TARGET * 1000:.0f} ms)"
    )
    opened, filtered = max(opened, shown), max(filtered, key)
    missed = ratio > _RATIO_TARGET or opened > _OPEN_TARGET or filtered > _FILTER_TARGET
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
