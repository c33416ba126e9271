"""How long a stop takes: a model that hangs, an answer that streams, a tool that never returns.

Measured from the request to stop until the task has ended and, for a tool, its process is gone.
"""

from __future__ import annotations

import asyncio
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Coroutine
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT))

from studio.core.models.base import ModelRequest  # noqa: E402
from studio.core.models.connections import Connection  # noqa: E402
from studio.core.models.remote.model import RemoteModel  # noqa: E402
from studio.core.prompty.document import Message, TextPart  # noqa: E402
from studio.core.tools.python.source import PythonFileSource  # noqa: E402
from studio.core.tools.source import ToolLimits  # noqa: E402
from tests.support.chat_server import ChatServer, chat_server, silent, streamed  # noqa: E402

ROUNDS = 7
TARGET = 0.2
_READY_SECONDS = 20.0
TOOL = """
import os
from pathlib import Path

def spin(mark: str) -> str:
    Path(mark).write_text(str(os.getpid()))
    while True:
        pass
"""


async def stop(
    work: Coroutine[object, object, object], ready: Callable[[], bool], gone: Callable[[], bool]
) -> float:
    """Seconds from the stop until everything has ended."""
    task = asyncio.ensure_future(work)
    end = time.monotonic() + _READY_SECONDS
    while not ready():
        if time.monotonic() > end or task.done():
            raise SystemExit(f"what should be stopped never began: {task}")
        await asyncio.sleep(0.005)
    began = time.perf_counter()
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    while not gone():
        await asyncio.sleep(0.001)
    return time.perf_counter() - began


async def model(server: ChatServer, *, writes: bool) -> float:
    """A model that accepts and never answers, or one in the middle of its answer."""
    server.always(streamed("word " * 5000, delay=0.005) if writes else silent())
    before = len(server.requests)
    heard: list[object] = []
    remote = RemoteModel(Connection("Bench", "compatible", base_url=server.url), "bench", None)

    async def listen() -> None:
        async for delta in remote.stream(ModelRequest((Message("user", (TextPart("Go"),)),))):
            heard.append(delta)

    def ready() -> bool:
        return len(heard) > 5 if writes else len(server.requests) > before

    seconds = await stop(listen(), ready, lambda: True)
    await remote.close()
    return seconds


async def tool(folder: Path, number: int) -> float:
    """A Python tool in an endless loop."""
    path = folder / "tools.py"
    path.write_text(TOOL, encoding="utf-8")
    mark = folder / f"pid-{number}"
    source = PythonFileSource(path, ToolLimits())
    process = 0

    def ready() -> bool:
        nonlocal process
        text = mark.read_text(encoding="utf-8") if mark.exists() else ""
        process = int(text or 0)
        return process > 0

    def gone() -> bool:
        try:
            os.kill(process, 0)
        except ProcessLookupError:
            return True
        return False

    seconds = await stop(source.call("spin", {"mark": str(mark)}), ready, gone)
    await source.close()
    return seconds


async def measure() -> dict[str, list[float]]:
    """All three, in turn."""
    found: dict[str, list[float]] = {}
    with chat_server() as server, tempfile.TemporaryDirectory() as scratch:
        for number in range(ROUNDS):
            found.setdefault("a model that hangs", []).append(await model(server, writes=False))
            found.setdefault("a model that writes", []).append(await model(server, writes=True))
            found.setdefault("a tool that never returns", []).append(
                await tool(Path(scratch), number)
            )
    return found


def main() -> int:
    """Print the figures; 1 when a target is missed."""
    worst = 0.0
    for name, seconds in asyncio.run(measure()).items():
        worst = max(worst, *seconds)
        middle = statistics.median(seconds) * 1000
        print(f"stop {name}: median {middle:.0f} ms, longest {max(seconds) * 1000:.0f} ms")
    print(f"longest stop {worst * 1000:.0f} ms (target <= {TARGET * 1000:.0f} ms)")
    return 1 if worst > TARGET else 0


if __name__ == "__main__":
    sys.exit(main())
