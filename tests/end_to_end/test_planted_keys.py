"""Four planted keys, echoed by a tool, a server and a model, are found nowhere afterwards.

Everything is real: the program in processes of its own, a tool file and an MCP server as children,
a service and a model on loopback that repeat what they get, one history.
"""

from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

from studio.cli.main import run_command
from studio.core.agent.values.events import ModelCalled
from studio.core.runs.store import RunStore
from tests.support.chat_server import (
    ChatServer,
    chat_server,
    chunk,
    events,
    failure,
    text_chunks,
)
from tests.support.memory_keyring import memory_keyring
from tests.support.patience import SECONDS
from tests.support.planted import bytes_below, leaks, spellings

ROOT = Path(__file__).resolve().parents[2]
KEYS = {
    "reference in the prompt": 'note/planted+5150 "q" & more',
    "key store": "kept-Planted/0123456789+abcd=",
    "header reference": "head-Planted/98765+zyxw43210==",
    "tool environment": "tool-Planted/5a5a5a+6b6b6b==77",
}
NOTE, KEPT, HEADER, TOOL = KEYS.values()

TOOLS = '''
import base64, os, sys
from urllib.parse import quote

def echo(text: str) -> dict:
    """Say it again, and all that there is to know."""
    key = os.environ["PLANTED_TOOL_KEY"]
    print("printed", key)
    print("logged", key, file=sys.stderr)
    coded = base64.b64encode(f"user:{key}".encode()).decode()
    return {"text": text, "key": key, "url": quote(key, safe=""), "coded": coded, key: 1}

def fail(text: str) -> str:
    """Fail with all that there is to know."""
    raise ValueError(f"{text} with {os.environ['PLANTED_TOOL_KEY']}")
'''
SERVED = '''
import os

def served(text: str) -> str:
    """Say what this server was given."""
    return f"{text}: {os.environ['GIVEN_KEY']}"
'''
PROMPT = """---
name: planted
model:
  connection: {kind: reference, name: Office}
inputs:
  note: {kind: string, default: "${env:PLANTED_NOTE}"}
tools:
  - name: pets
    kind: openapi
    specification: pets.json
    connection: {endpoint: "SERVICE", apiKey: "${env:PLANTED_HEADER}"}
  - {name: echo, kind: function, parameters: [{name: text, kind: string}]}
  - {name: fail, kind: function, parameters: [{name: text, kind: string}]}
metadata:
  agent:
    tools: [tools.py]
    env: [PLANTED_TOOL_KEY]
    mcp_servers: [served]
---
system:
Note: {{ note }}
user:
Go.
"""
PETS = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1"},
    "components": {"securitySchemes": {"key": {"type": "http", "scheme": "bearer"}}},
    "security": [{"key": []}],
    "paths": {
        "/pets": {
            "get": {
                "operationId": "get_pets",
                "summary": "All of them.",
                "parameters": [{"name": "q", "in": "query", "schema": {"type": "string"}}],
            }
        }
    },
}
KEYRING = f'''
from keyring.backend import KeyringBackend

class Planted(KeyringBackend):
    """A key store with one key."""

    priority = 1

    def get_password(self, service, username):
        return {KEPT!r} if username == "Office" else None

    def set_password(self, service, username, password):
        raise RuntimeError("read only")

    def delete_password(self, service, username):
        raise RuntimeError("read only")
'''


@pytest.fixture
def service() -> Iterator[tuple[str, list[str]]]:
    """A service that repeats each request: its address, and what it heard."""
    heard: list[str] = []

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            heard.append(f"{self.path}\n{self.headers}")
            key = str(self.headers.get("Authorization")).removeprefix("Bearer ")
            said = {
                "heard": heard[-1],
                "coded": base64.b64encode(f"ann:{key}".encode()).decode(),
                "url": f"https://x.test/?key={quote(key, safe='')}",
            }
            data = json.dumps(said).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", heard
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


def tool_calls(*calls: tuple[str, dict[str, Any]]) -> list[object]:
    """A streamed reply that calls tools, the arguments in pieces of three characters."""
    made: list[object] = [chunk({"role": "assistant", "content": ""})]
    for index, (name, arguments) in enumerate(calls):
        head = {"index": index, "id": f"c{index}", "function": {"name": name, "arguments": ""}}
        made.append(chunk({"tool_calls": [head]}))
        text = json.dumps(arguments)
        for at in range(0, len(text), 3):
            piece = {"index": index, "function": {"arguments": text[at : at + 3]}}
            made.append(chunk({"tool_calls": [piece]}))
    return [*made, chunk({}, "tool_calls"), "[DONE]"]


def everything(size: int) -> list[object]:
    """A reply that says all keys in all spellings, in pieces of a size."""
    said = "\n".join(f"{name}: {text}" for name, key in KEYS.items() for text in spellings(key))
    return [*text_chunks(said, size), "[DONE]"]


def script(model: ChatServer) -> None:
    """Two errors that repeat the keys, two rounds of calls, and an answer that says them all."""
    model.script(
        failure(429, f"Slow down, {KEPT} with {NOTE}", retry_after="0"),
        failure(503, f"Busy: Bearer {KEPT}", retry_after="0"),
        events(
            tool_calls(
                ("echo", {"text": NOTE}),
                ("fail", {"text": f"<{NOTE}>"}),
                ("get_pets", {"q": f"a {NOTE} b"}),
                ("served", {"text": "given"}),
            )
        ),
        events(tool_calls(("echo", {"text": f"{KEPT} {HEADER} {TOOL}"}))),
        events(everything(5)),
    )


@pytest.fixture
def prompt(tmp_path: Path, user_home: Path, model: ChatServer, service: tuple[str, Any]) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    (folder / "served.py").write_text(SERVED, encoding="utf-8")
    (folder / "pets.json").write_text(json.dumps(PETS), encoding="utf-8")
    command = [sys.executable, "-m", "studio", "tools", "serve", str(folder / "served.py")]
    given = {"GIVEN_KEY": "${PLANTED_TOOL_KEY}", "PYTHONPATH": str(ROOT)}
    entry = {"command": command[0], "args": command[1:], "env": given}
    (folder / ".mcp.json").write_text(json.dumps({"mcpServers": {"served": entry}}))
    path = folder / "planted.prompty"
    path.write_text(PROMPT.replace("SERVICE", service[0]), encoding="utf-8")
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    (config / "connections.toml").write_text(
        'default = "Office"\n\n[[connection]]\nname = "Office"\nkind = "compatible"\n'
        f'model = "m"\nbase_url = "{model.url}"\nkey = "keyring"\n',
        encoding="utf-8",
    )
    return path


@pytest.fixture
def planted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The planted variables, and a key store in which one key is kept, here and for children."""
    backend = tmp_path / "backend"
    backend.mkdir()
    (backend / "planted_keyring.py").write_text(KEYRING, encoding="utf-8")
    monkeypatch.setenv("PLANTED_NOTE", NOTE)
    monkeypatch.setenv("PLANTED_HEADER", HEADER)
    monkeypatch.setenv("PLANTED_TOOL_KEY", TOOL)
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(backend), str(ROOT)]))
    with memory_keyring() as store:
        store.set_password("prompt-studio", "Office", KEPT)
        monkeypatch.setenv("PYTHON_KEYRING_BACKEND", "planted_keyring.Planted")
        yield


@dataclass
class CommandLine:
    """Runs the program, and keeps all that it says."""

    capture: pytest.CaptureFixture[str]
    said: list[tuple[str, bytes]]

    def child(self, *arguments: str) -> str:
        """In a process of its own."""
        done = subprocess.run(
            [sys.executable, "-m", "studio", *arguments],
            cwd=ROOT,
            env=dict(os.environ),
            capture_output=True,
            timeout=SECONDS,
            check=False,
        )
        self._keep(arguments, done.stdout, done.stderr)
        assert done.returncode == 0, done.stderr.decode()
        return done.stdout.decode()

    def here(self, *arguments: str, checked: bool = True) -> str:
        """In this process, which takes a tenth of the time."""
        code = run_command(arguments)
        out, err = self.capture.readouterr()
        self._keep(arguments, out.encode(), err.encode())
        assert not checked or code == 0, err
        return out

    def _keep(self, arguments: tuple[str, ...], out: bytes, err: bytes) -> None:
        place = " ".join(arguments)
        self.said += [(f"output of {place}", out), (f"errors of {place}", err)]


def kept_calls(user_home: Path) -> list[tuple[str, bytes]]:
    """What the history keeps of all requests and replies, which it packs."""
    with closing(RunStore(user_home / "data" / "runs.sqlite")) as store:
        found = [
            (f"{run.id} {event.seq}", repr(store.call(run.id, event.seq)).encode())
            for run in store.runs()
            for event in store.events(run.id)
            if isinstance(event, ModelCalled)
        ]
    assert any(b"${secret:1}" in data for _, data in found)
    return found


@pytest.mark.usefixtures("planted")
def test_the_command_line_leaves_no_key_behind(
    prompt: Path,
    tmp_path: Path,
    user_home: Path,
    model: ChatServer,
    service: tuple[str, list[str]],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    studio = CommandLine(capsys, [])
    out = tmp_path / "out"
    out.mkdir()
    script(model)
    run = ("run", str(prompt), "--trust", "--yes")
    told = studio.child(*run, "--json", "--record", str(out / "cassette.jsonl"))
    result = json.loads(told.splitlines()[-1])
    assert result["status"] == "done", result
    assert "${env:PLANTED_NOTE}" in result["answer"]
    assert "${key:Office}" in result["answer"]

    # What was sent is real, and what nobody put into the prompt was not sent.
    first, *_, last = (request for request in model.requests if request.method == "POST")
    assert first.headers["authorization"] == f"Bearer {KEPT}"
    assert first.body["messages"][0]["content"].rstrip() == f"Note: {NOTE}"
    sent = json.dumps(last.body["messages"]).encode()
    others = {name: key for name, key in KEYS.items() if key != NOTE}
    assert leaks(others, [("the last request", sent)]) == []
    assert json.dumps(NOTE)[1:-1].encode() in sent
    (heard,) = service[1]
    assert f"Bearer {HEADER}" in heard
    assert "note%2Fplanted" in heard

    name = json.loads(studio.here("runs", "list", "--json"))[0]["id"]
    studio.here("runs", "show", name)
    for form in ("html", "journal", "tracy", "otlp", "messages"):
        studio.here("runs", "export", name, "--format", form, "-o", str(out / f"run.{form}"))
    studio.here("run", str(prompt), "--replay", name)
    with monkeypatch.context() as changed:
        changed.setenv("PLANTED_NOTE", "another-note-here")
        studio.here("run", str(prompt), "--replay", name, "--json")
        changed.delenv("PLANTED_NOTE")
        studio.here("run", str(prompt), "--replay", name, "--json")
    studio.here("run", str(prompt), "--replay", str(out / "cassette.jsonl"), "--trust", "--yes")
    model.script(events(everything(3)))
    studio.child("run", str(prompt), "--fork", f"{name}@2", "--trust", "--yes")
    forked = model.requests[-1].body["messages"]
    assert forked[0]["content"].rstrip() == f"Note: {NOTE}"

    for target in ("request", "messages"):
        studio.here(target, str(prompt), "--trust", checked=False)  # they remark on the tools
    for target in ("python", "openai-chat", "curl-openai-chat", "bundle", "markdown"):
        arguments = ("--target", target, "--accept-losses", "--trust", "-o", str(out / target))
        studio.here("export", str(prompt), *arguments, checked=False)
    assert (out / "python").is_file()
    studio.here("check", str(prompt), "--json", checked=False)

    places = [*bytes_below(user_home), *bytes_below(out), *bytes_below(prompt.parent), *studio.said]
    places += kept_calls(user_home)
    assert sum(len(data) for _, data in places) > 100_000
    assert "\n".join(leaks(KEYS, places)) == ""

    # The search finds what it looks for: a run of a prompt that calls its note no secret.
    text = prompt.read_text(encoding="utf-8")
    opened = text.replace("    env: [", "    not_secret: [PLANTED_NOTE]\n    env: [")
    prompt.write_text(opened, encoding="utf-8")
    model.script(events(everything(3)))
    studio.here(*run)
    found = leaks(KEYS, bytes_below(user_home))
    assert found
    assert all(each.startswith("reference in the prompt in ") for each in found)
