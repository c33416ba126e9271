"""llmock, a server of somebody else's that breaks on purpose, and its verdict on our client."""

from __future__ import annotations

import asyncio
import socket
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

from studio.core.agent.loop.calls import NoTools
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.models.connections import Connection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.prompty.parse import parse
from tests.interop.environments import build
from tests.support.patience import wait_until
from tests.support.ports import free_port
from tests.support.start_run import start_run

_CALLS = 12
"""Of each API."""

_RETRIES = 9
"""Where a call is given up at last, the verdict cannot tell that from half an answer taken for a
whole one; more than ten attempts are a storm for it."""

_SEEDED = "import random; from llmock.cli import app; random.seed(7); app()"
"""It draws its faults with Python's own `random`; so they are the same in each call."""

_FAULTS = (
    "--error-rate",
    "400=0.05",
    "--error-rate",
    "429=0.1",
    "--error-rate",
    "503=0.1",
    "--stream-fault",
    "truncate=0.1",
    "--stream-fault",
    "disconnect=0.1",
    "--stream-fault",
    "malformed=0.05",
)


def _connections(address: str) -> dict[str, tuple[Connection, str]]:
    return {
        "chat": (Connection("C", "compatible", base_url=f"{address}/v1"), "gpt-4o"),
        "responses": (
            Connection("R", "compatible", base_url=f"{address}/v1", api="responses"),
            "gpt-4o",
        ),
        "anthropic": (
            Connection("A", "anthropic", base_url=f"{address}/anthropic/v1"),
            "claude-sonnet-4-5",
        ),
        "gemini": (
            Connection("G", "gemini", base_url=f"{address}/gemini/v1beta"),
            "gemini-2.5-pro",
        ),
        "mistral": (
            Connection("M", "compatible", base_url=f"{address}/mistral/v1"),
            "mistral-large-latest",
        ),
    }


def main() -> int:
    """Ask each API some times, print what came, then the server's verdict; 1 where it is bad."""
    python = build("llmock")
    if python is None:
        print("llmock               not installed here")
        return 0
    tool = python.parent / "llmock"
    port = free_port()
    serve = ["serve", "-h", "127.0.0.1", "-p", str(port), "--log-level", "error", *_FAULTS]
    with subprocess.Popen([str(python), "-c", _SEEDED, *serve]) as server:
        try:
            wait_until(lambda: _answers(port), "llmock answering")
            asyncio.run(_ask_all(f"http://127.0.0.1:{port}"))
            return _verdict(tool, port)
        finally:
            server.terminate()


def _verdict(tool: Path, port: int) -> int:
    url = f"http://127.0.0.1:{port}"
    done = subprocess.run([str(tool), "report", "--url", url], check=False)
    return done.returncode


def _answers(port: int) -> bool:
    with socket.socket() as client:
        return client.connect_ex(("127.0.0.1", port)) == 0


async def _ask_all(address: str) -> None:
    for name, (connection, model_id) in _connections(address).items():
        whole = 0
        named: dict[str, int] = {}
        for number in range(_CALLS):
            # Each another question: the server takes an equal request for a further try.
            question = f"Say a sentence, number {number} by {name}."
            patient = replace(connection, retries=_RETRIES)
            state = await _run(RemoteModel(patient, model_id, Secret("test-key")), question)
            if state.status == "done" and state.answer:
                whole += 1
            elif state.error is not None:
                named[state.error.code] = named.get(state.error.code, 0) + 1
        faults = ", ".join(f"{kind} {count}" for kind, count in sorted(named.items()))
        print(f"llmock {name:12} {whole} of {_CALLS} whole; {faults or 'no fault left'}")


async def _run(model: RemoteModel, question: str) -> RunState:
    """As the studio runs a prompt: what broke off is tried again by the run."""
    options = RunOptions(headless=True, backoff=0.2)
    try:
        return await start_run(
            parse("user:\n{{ question }}\n"), {"question": question}, model, NoTools(), options
        ).go()
    finally:
        await model.close()


if __name__ == "__main__":
    sys.exit(main())
