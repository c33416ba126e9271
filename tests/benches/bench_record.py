"""The recorder between a program and a server, beside the program alone with that server.

The recorder is a process of its own, as `prompt-studio record --port` starts it; program and server
are this one. Times are medians of rounds in turn; processor time is the recorder's own.
"""

from __future__ import annotations

import asyncio
import json
import os
import re
import statistics
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
_STREAM_TARGET = 1.05
_GROWTH_TARGET = 1.2
_MEMORY_TARGET = 400
_TICKS = os.sysconf("SC_CLK_TCK")


class Server:
    """Answers at once, streams at a rate, or takes and gives megabytes."""

    def __init__(self) -> None:
        self.port = 0

    async def __aenter__(self) -> Server:
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=2**16)
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


async def streamed(client: httpx2.AsyncClient, address: str, tokens: int, rate: int) -> float:
    """Return the seconds of one stream."""
    message = {"role": "user", "content": f"Count {tokens} at {rate} of {time.perf_counter()}"}
    body = {"stream": True, "tokens": tokens, "rate": rate, "model": "m", "messages": [message]}
    began = time.perf_counter()
    async with client.stream("POST", f"{address}/chat/completions", json=body) as answer:
        came = sum([piece.count(b"tok ") async for piece in answer.aiter_raw()])
    assert came >= tokens - tokens // 100, came  # a piece's edge may part a token
    return time.perf_counter() - began


async def streams(client: httpx2.AsyncClient, bare: str, ours: str) -> bool:
    """Print one quick stream and 32 slow ones, each through the recorder and without it."""
    is_fine = True
    for count, tokens, rate in ((1, 15_000, 5_000), (32, 200, 100)):
        seconds: dict[str, list[float]] = {bare: [], ours: []}
        for _ in range(3):
            for address, taken in seconds.items():
                all_at_once = (streamed(client, address, tokens, rate) for _ in range(count))
                taken.append(max(await asyncio.gather(*all_at_once)))
        ratio = statistics.median(seconds[ours]) / statistics.median(seconds[bare])
        print(f"{count} at {rate:,} tokens/s: {ratio:.3f} x; target {_STREAM_TARGET} x")
        is_fine = is_fine and ratio <= _STREAM_TARGET
    return is_fine


async def short_calls(bare: str, ours: str) -> bool:
    """Print the time that the recorder adds to a short call of the openai SDK."""
    from openai import AsyncOpenAI

    taken: dict[str, list[float]] = {bare: [], ours: []}
    clients = {each: AsyncOpenAI(base_url=each, api_key="k", max_retries=0) for each in taken}
    for number in range(200):
        for address, client in clients.items():
            began = time.perf_counter()
            await client.chat.completions.create(
                model="m", messages=[{"role": "user", "content": f"Call {number}"}]
            )
            taken[address].append(time.perf_counter() - began)
    for client in clients.values():
        await client.close()
    own, through = (1000 * statistics.median(taken[each][20:]) for each in (bare, ours))
    added = through - own
    print(f"short call: SDK alone {own:.1f} ms, recorder adds {added:.1f} ms; target {own:.1f} ms")
    return added <= own


async def large(client: httpx2.AsyncClient, bare: str, ours: str) -> bool:
    """Print a request and an answer of 20 MB each; they must come whole."""
    message = {"role": "user", "content": "x" * 20_000_000}
    body = {"model": "m", "answer": 20_000_000, "messages": [message]}
    seconds = []
    for address in (bare, ours):
        began = time.perf_counter()
        answer = await client.post(f"{address}/chat/completions", json=body)
        seconds.append(time.perf_counter() - began)
        if len(answer.json()["choices"][0]["message"]["content"]) != body["answer"]:
            return False
    print(
        f"20 MB there and back: {seconds[0]:.2f} s alone, {seconds[1]:.2f} s through the recorder"
    )
    return True


async def main() -> int:
    """Print all; 1 if a target is missed."""
    async with Server() as server, httpx2.AsyncClient(timeout=None) as client:
        bare = f"http://127.0.0.1:{server.port}/v1"
        with recorder(server.port) as (address, _pid):
            is_fine = await streams(client, bare, address)
            is_fine = await short_calls(bare, address) and is_fine
            is_fine = await large(client, bare, address) and is_fine
        with recorder(server.port) as (address, pid):
            is_fine = await many(client, address, pid) and is_fine
    return 0 if is_fine else 1


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
