"""The recorder between a program and a server, beside the program alone with that server.

The recorder is a process of its own, as `prompt-studio record --port` starts it; program and server
are this one. Times are medians of rounds in turn; processor time is the recorder's own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import pairwise
from pathlib import Path

import httpx2

ROOT = Path(__file__).resolve().parents[2]

CONVERSATIONS, TURNS = 2_500, 4
_GROWTH_TARGET = 1.2
_MEMORY_TARGET = 400
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """Answers at once, streams at a rate, or takes and gives megabytes."""

    def __init__(self) -> None:
        self.port = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        self.port = self._server.sockets[0].getsockname()[1]
        return self

    async def __aexit__(self, *_: object) -> None:
        self._server.close()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                length = re.search(rb"(?i)content-length: (\d+)", head)
                body = json.loads(await reader.readexactly(int(length[1]) if length else 0))
                await self._answer(writer, body)
        except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
            pass
        finally:
            writer.close()

    async def _answer(self, writer: asyncio.StreamWriter, body: dict[str, object]) -> None:
        if not body.get("stream"):
            text = "y" * int(str(body.get("answer", 3)))
            message = {"role": "assistant", "content": text}
            data = json.dumps({"choices": [{"message": message, "finish_reason": "stop"}]}).encode()
            head = f"content-type: application/json\r\ncontent-length: {len(data)}\r\n\r\n"
            writer.write(b"HTTP/1.1 200 OK\r\n" + head.encode() + data)
            await writer.drain()
            return
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
            b"transfer-encoding: chunked\r\n\r\n"
        )
        count, rate = int(str(body["tokens"])), int(str(body["rate"]))
        began, sent = time.perf_counter(), 0
        while sent < count:
            due = min(count, int((time.perf_counter() - began) * rate) + 1)
            for _ in range(sent, due):
                _chunk(writer, b'data: {"choices":[{"delta":{"content":"tok "}}]}\n\n')
            sent = due
            await writer.drain()
            await asyncio.sleep(max(0.0, began + sent / rate - time.perf_counter()))
        _chunk(writer, b'data: {"choices":[{"delta":{},"finish_reason":"stop"}]}\n\n')
        _chunk(writer, b"data: [DONE]\n\n")
        writer.write(b"0\r\n\r\n")
        await writer.drain()


def _chunk(writer: asyncio.StreamWriter, data: bytes) -> None:
    writer.write(f"{len(data):x}\r\n".encode() + data + b"\r\n")


@contextmanager
def recorder(port: int) -> Iterator[tuple[str, int]]:
    """Give the address and the process of a recorder in front of a port of this machine."""
    memory = Path("/dev/shm")  # a disk's waits are no work of the recorder
    with tempfile.TemporaryDirectory(dir=memory if memory.is_dir() else None) as home:
        variables = {**os.environ, "PROMPT_STUDIO_HOME": home}
        command = [sys.executable, "-m", "studio", "record", "--to", f"http://127.0.0.1:{port}/v1"]
        with subprocess.Popen(
            command, cwd=ROOT, env=variables, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        ) as process:
            assert process.stdout is not None
            try:
                line = process.stdout.readline().decode()
                yield line.partition("=")[2].strip(), process.pid
            finally:
                process.terminate()


def processor_seconds(pid: int) -> float:
    """Return the processor time that a process has had."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / _TICKS


def megabytes(pid: int) -> int:
    """Return the memory of a process."""
    found = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    return int(found[1]) // 1024 if found else 0


async def many(client: httpx2.AsyncClient, address: str, pid: int) -> bool:
    """Ask 10,000 times in 2,500 conversations; print the time of the first and last 1,000."""
    marks = [processor_seconds(pid)]
    system = {"role": "system", "content": "You are brief. " * 40}
    asked = wrong = 0
    most = 0
    for number in range(CONVERSATIONS):
        messages = [system, {"role": "user", "content": f"Question {number}?"}]
        for turn in range(TURNS):
            body = {"model": "m", "messages": messages}
            answer = await client.post(f"{address}/chat/completions", json=body)
            wrong += answer.status_code != 200
            messages.append({"role": "assistant", "content": "yyy"})
            messages.append({"role": "user", "content": f"And {turn}?"})
            asked += 1
            if asked % 1_000 == 0:
                marks.append(processor_seconds(pid))
                most = max(most, megabytes(pid))
    spent = [after - before for before, after in pairwise(marks)]
    growth = spent[-1] / spent[0]
    print(
        f"{asked:,} requests, {wrong} errors: first 1,000 {spent[0]:.2f} s, last {spent[-1]:.2f} s "
        f"(processor), {growth:.2f} x; target {_GROWTH_TARGET} x; {most} MB"
    )
    print("  each 1,000: " + " ".join(f"{each:.2f}" for each in spent))
    return growth <= _GROWTH_TARGET and not wrong and most <= _MEMORY_TARGET


async def main() -> int:
    """Print all; 1 if a target is missed."""
    async with Server() as server, httpx2.AsyncClient(timeout=None) as client:
        with recorder(server.port) as (address, pid):
            is_fine = await many(client, address, pid)
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
