"""One agent run against the same scripted HTTP server: our loop, pydantic-ai, openai-agents.

The server (a process of its own) asks for the same tool some fifty times, then answers. All send
chat completions to it, call the same Python function and keep the same history. Beside the whole
iteration, the loop's own share is measured: all that is not inside the model's call, which is the
seam that each of them has (`ChatModel.stream`, `Model.request`, `Model.get_response`).

python tests/benches/bench_loop.py [--steps N] [--rounds N]
"""

from __future__ import annotations

import argparse
import asyncio
import gc
import importlib.util
import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ["OPENAI_AGENTS_DISABLE_TRACING"] = "1"

_TARGET = 1.0
_QUESTION = "Where is it?"
_ANSWER = "It is here."

PROMPT = """---
name: Caller
inputs:
  question: {kind: string, required: true}
tools:
  - name: search
    kind: function
    description: Find something.
    parameters:
      - {name: query, kind: string, required: true}
---
system:
Be brief.
user:
{{ question }}
"""


def search(query: str) -> str:
    """Find something."""
    return f"found {query}"


# The server ---------------------------------------------------------------------------------------


def completion(body: dict[str, Any], steps: int) -> dict[str, Any]:
    """What a model would say next: call the tool until it was called often enough."""
    done = sum(message["role"] == "tool" for message in body["messages"])
    message: dict[str, Any] = {"role": "assistant", "content": _ANSWER}
    if done < steps:
        function = {"name": "search", "arguments": json.dumps({"query": f"place {done}"})}
        asked = {"id": f"call-{done}", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [asked]}
    return {
        "id": f"reply-{done}",
        "object": "chat.completion",
        "created": 1,
        "model": "scripted",
        "choices": [
            {
                "index": 0,
                "message": message,
                "finish_reason": "tool_calls" if done < steps else "stop",
            }
        ],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def streamed(whole: dict[str, Any]) -> bytes:
    """The same reply as server-sent events."""
    choice = whole["choices"][0]
    delta = dict(choice["message"])
    if "tool_calls" in delta:
        delta["tool_calls"] = [{"index": 0, **delta["tool_calls"][0]}]
    head = {key: whole[key] for key in ("id", "created", "model")}
    head["object"] = "chat.completion.chunk"
    chunks = [
        {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]},
        {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]},
        {**head, "choices": [], "usage": whole["usage"]},
    ]
    lines = [f"data: {json.dumps(item)}\n\n" for item in chunks]
    return "".join([*lines, "data: [DONE]\n\n"]).encode()


async def serve(steps: int) -> None:
    """Answer until the process is ended."""

    async def client(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while True:
            try:
                head = await reader.readuntil(b"\r\n\r\n")
            except asyncio.IncompleteReadError:
                writer.close()
                return
            length = next(
                int(line.split(b":")[1])
                for line in head.lower().split(b"\r\n")
                if line.startswith(b"content-length")
            )
            body = json.loads(await reader.readexactly(length))
            whole = completion(body, steps)
            is_stream = body.get("stream") is True
            data = streamed(whole) if is_stream else json.dumps(whole).encode()
            kind = "text/event-stream" if is_stream else "application/json"
            writer.write(
                f"HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n"
                f"content-length: {len(data)}\r\n\r\n".encode()
                + data
            )
            await writer.drain()

    server = await asyncio.start_server(client, "127.0.0.1", 0, limit=2**24)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


# The runs -----------------------------------------------------------------------------------------

Runner = Callable[[str, int], Awaitable[str]]


class Meter:
    """Adds up the seconds inside model calls."""

    seconds = 0.0

    @classmethod
    def around(cls, asked: Callable[..., Awaitable[Any]]) -> Callable[..., Awaitable[Any]]:
        """The same call, timed."""

        async def call(*args: Any, **more: Any) -> Any:
            began = time.perf_counter()
            try:
                return await asked(*args, **more)
            finally:
                cls.seconds += time.perf_counter() - began

        return call

    @classmethod
    def along(cls, asked: Callable[..., Any]) -> Callable[..., Any]:
        """The same stream, timed while it is waited for."""

        async def call(*args: Any, **more: Any) -> Any:
            items = asked(*args, **more)
            try:
                while True:
                    began = time.perf_counter()
                    try:
                        item = await anext(items)
                    except StopAsyncIteration:
                        return
                    finally:
                        cls.seconds += time.perf_counter() - began
                    yield item
            finally:
                await items.aclose()

        return call


def client_of(url: str) -> Any:
    """The HTTP client that all of them use."""
    from openai import AsyncOpenAI

    return AsyncOpenAI(base_url=url, api_key="none", max_retries=0)


async def bare(url: str, steps: int, *, stream: bool) -> str:
    """The same requests and nothing else: what the client costs."""
    tools = [
        {
            "type": "function",
            "function": {
                "name": "search",
                "description": "Find something.",
                "parameters": {
                    "type": "object",
                    "properties": {"query": {"type": "string"}},
                    "required": ["query"],
                },
            },
        }
    ]
    messages: list[Any] = [
        {"role": "system", "content": "Be brief."},
        {"role": "user", "content": _QUESTION},
    ]
    text = ""
    async with client_of(url) as client:
        for at in range(steps + 1):
            asked = client.chat.completions.create
            if stream:
                chunks = await asked(
                    model="scripted",
                    messages=messages,
                    tools=tools,
                    stream=True,
                    stream_options={"include_usage": True},
                )
                async for chunk in chunks:
                    text = (chunk.choices and chunk.choices[0].delta.content) or text
            else:
                reply = await asked(model="scripted", messages=messages, tools=tools)
                text = reply.choices[0].message.content or ""
            whole = completion({"messages": messages}, steps)["choices"][0]["message"]
            messages.append(whole)
            messages.append(
                {"role": "tool", "tool_call_id": f"call-{at}", "content": f"found place {at}"}
            )
    return text


async def bare_whole(url: str, steps: int) -> str:
    """The client, each reply in one piece."""
    return await bare(url, steps, stream=False)


async def bare_stream(url: str, steps: int) -> str:
    """The client, streaming."""
    return await bare(url, steps, stream=True)


async def ours(url: str, steps: int) -> str:
    """Prompt Studio's loop, streaming and with its whole journal in memory."""
    from studio.core.agent.values.options import RunOptions
    from studio.core.agent.values.step import Limits
    from studio.core.models.choice import choose_connection, open_model
    from studio.core.models.connections import Connection, Connections
    from tests.core.agent.runs import Functions, document
    from tests.support.start_run import start_run

    prompt = document(PROMPT)
    connection = Connection("Bench", "compatible", base_url=url, model="scripted")
    choice = choose_connection(prompt.model, Connections((connection,), "Bench"), chosen="Bench")
    model = open_model(choice)
    model.stream = Meter.along(model.stream)
    try:
        options = RunOptions(headless=True, limits=Limits(None))
        run = start_run(prompt, {"question": _QUESTION}, model, Functions(search), options)
        state = await run.go()
    finally:
        await model.close()
    return state.answer or str(state.error)


async def by_pydantic(url: str, steps: int) -> str:
    """pydantic-ai."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
    from pydantic_ai.usage import UsageLimits

    async with client_of(url) as client:
        model = OpenAIChatModel("scripted", provider=OpenAIProvider(openai_client=client))
        model.request = Meter.around(model.request)
        agent = Agent(model, instructions="Be brief.", tools=[search])
        limits = UsageLimits(request_limit=None)
        return str((await agent.run(_QUESTION, usage_limits=limits)).output)


async def by_openai_agents(url: str, steps: int) -> str:
    """openai-agents."""
    from agents import Agent, OpenAIChatCompletionsModel, Runner, function_tool

    async with client_of(url) as client:
        model = OpenAIChatCompletionsModel("scripted", client)
        model.get_response = Meter.around(model.get_response)
        agent = Agent(
            "Caller", instructions="Be brief.", model=model, tools=[function_tool(search)]
        )
        return str((await Runner.run(agent, _QUESTION, max_turns=steps + 5)).final_output)


def timed(run: Runner, url: str, steps: int) -> tuple[float, float]:
    """Milliseconds of one iteration in one run, and of what is not the model's call."""
    gc.collect()
    Meter.seconds = 0.0
    began = time.perf_counter()
    answer = asyncio.run(run(url, steps))
    seconds = time.perf_counter() - began
    assert answer == _ANSWER, answer
    return seconds / (steps + 1) * 1000, (seconds - Meter.seconds) / (steps + 1) * 1000


def main() -> int:
    """Measure; returns 1 where the target is missed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--steps", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--serve", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        asyncio.run(serve(options.steps))
        return 0
    absent = [name for name in ("pydantic_ai", "agents") if importlib.util.find_spec(name) is None]
    if absent:
        print(f"skipped: {' and '.join(absent)} not installed (pip install --group bench)")
        return 0
    command = [sys.executable, __file__, "--serve", "--steps", str(options.steps)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        try:
            assert server.stdout is not None
            url = f"http://127.0.0.1:{int(server.stdout.readline())}/v1"
            return measure(url, options.steps, options.rounds)
        finally:
            server.terminate()


def measure(url: str, steps: int, rounds: int) -> int:
    """Take turns, so that a busy moment of the machine hits all; then compare medians."""
    runs: dict[str, Runner] = {
        "bare client": bare_whole,
        "bare client, streaming": bare_stream,
        "prompt-studio": ours,
        "pydantic-ai": by_pydantic,
        "openai-agents": by_openai_agents,
    }
    for run in runs.values():
        timed(run, url, steps)  # imports and first connections
    taken: dict[str, list[tuple[float, float]]] = {name: [] for name in runs}
    for _ in range(rounds):
        for name, run in runs.items():
            taken[name].append(timed(run, url, steps))
    middle, share = (
        {name: statistics.median(each[part] for each in values) for name, values in taken.items()}
        for part in (0, 1)
    )
    loops = ("prompt-studio", "pydantic-ai", "openai-agents")
    for name, value in middle.items():
        own = f", the loop's own share {share[name]:.2f} ms" if name in loops else ""
        print(f"{name}: {value:.2f} ms an iteration{own}")
    best = min(middle["pydantic-ai"], middle["openai-agents"])
    ratio = middle["prompt-studio"] / best
    own_ratio = share["prompt-studio"] / min(share["pydantic-ai"], share["openai-agents"])
    print(f"whole iteration against the faster of both: {ratio:.2f}x (target {_TARGET:g}x)")
    print(f"own share against the smaller of both: {own_ratio:.2f}x (target {_TARGET:g}x)")
    bare_best = min(middle["bare client"], middle["bare client, streaming"])
    print(
        f"the client's own typed call is {bare_best / best:.0%} of the faster peer's iteration; "
        "ours posts through the same SDK without its typed request models"
    )
    return int(max(ratio, own_ratio) > _TARGET)


if __name__ == "__main__":
    sys.exit(main())
