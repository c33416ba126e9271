"""A curl command goes to where the prompt says, with the key that it names."""

from __future__ import annotations

import http.server
import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.core.export.conftest import Make
from tests.support import patience

HEAD = "---\nname: x\nmodel:\n  id: m\n"


class Recorder(http.server.BaseHTTPRequestHandler):
    """Keeps what it is asked."""

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["content-length"]))
        self.server.asked.append((self.path, dict(self.headers), json.loads(body)))  # type: ignore[attr-defined]
        self.send_response(200)
        self.end_headers()

    def log_message(self, *_: Any) -> None:
        """Say nothing."""


@pytest.fixture
def server() -> Iterator[http.server.ThreadingHTTPServer]:
    made = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Recorder)
    made.asked = []  # type: ignore[attr-defined]
    thread = threading.Thread(target=made.serve_forever)
    thread.start()
    yield made
    made.shutdown()
    thread.join()
    made.server_close()


def ask(
    make: Make, server: Any, tmp_path: Path, front: str, target: str
) -> tuple[str, dict[str, str], dict[str, Any]]:
    if shutil.which("sh") is None or shutil.which("curl") is None:
        pytest.skip("there is no sh, or no curl")
    address = f"http://127.0.0.1:{server.server_port}"
    text = HEAD + front.replace("HOST", address) + '---\nuser:\nIt\'s "$HOME" `x`\n'
    made = make(text, target)
    assert not made.blocked
    script = tmp_path / "ask.sh"
    script.write_bytes(made.content)
    environment = {**os.environ, "MY_KEY": "k1", "OPENAI_API_KEY": "k2", "ANTHROPIC_API_KEY": "k3"}
    environment |= {"WHERE": address + "/v1/", "no_proxy": "*"}
    subprocess.run(["sh", str(script)], check=True, env=environment, timeout=patience.SECONDS)
    path, headers, body = server.asked[0]
    return path, {key.lower(): value for key, value in headers.items()}, body


@pytest.mark.parametrize(
    ("front", "target", "path", "header"),
    [
        (
            "  connection: {kind: key, endpoint: 'HOST/v1', apiKey: '${env:MY_KEY}'}\n",
            "curl-openai-chat",
            "/v1/chat/completions",
            ("authorization", "Bearer k1"),
        ),
        (
            "  connection: {kind: key, endpoint: '${env:WHERE}'}\n",
            "curl-openai-responses",
            "/v1/responses",
            ("authorization", "Bearer k2"),
        ),
        (
            "  connection: {kind: key, endpoint: '${env:NOT_SET:HOST/v1}'}\n",
            "curl-openai-chat",
            "/v1/chat/completions",
            ("authorization", "Bearer k2"),
        ),
        (
            "  provider: foundry\n"
            "  connection: {kind: key, endpoint: HOST, apiKey: '${env:MY_KEY}'}\n",
            "curl-openai-chat",
            "/openai/v1/chat/completions",
            ("api-key", "k1"),
        ),
        (
            "  provider: anthropic\n  connection: {kind: key, endpoint: HOST}\n",
            "curl-anthropic",
            "/v1/messages",
            ("x-api-key", "k3"),
        ),
        (
            "  apiType: embedding\n  connection: {kind: key, endpoint: 'HOST/v1'}\n",
            "curl-openai-chat",
            "/v1/embeddings",
            ("authorization", "Bearer k2"),
        ),
        (
            "  apiType: image\n  connection: {kind: key, endpoint: 'HOST/v1'}\n",
            "curl-openai-chat",
            "/v1/images/generations",
            ("authorization", "Bearer k2"),
        ),
    ],
)
def test_the_command_goes_to_the_prompts_own_server(
    front: str,
    target: str,
    path: str,
    header: tuple[str, str],
    make: Make,
    server: Any,
    tmp_path: Path,
) -> None:
    asked, headers, body = ask(make, server, tmp_path, front, target)
    assert asked == path
    assert headers[header[0]] == header[1]
    assert 'It\'s \\"$HOME\\" `x`' in json.dumps(body)


def test_another_providers_server_is_not_asked_and_that_is_named(make: Make) -> None:
    front = "  provider: anthropic\n  connection: {kind: key, endpoint: 'https://a.b'}\n"
    made = make(HEAD + front + "---\nuser:\nHi\n", "curl-openai-chat")
    assert "https://a.b" not in made.text
    assert [loss for loss in made.losses if "https://a.b" in loss]


def test_a_request_without_a_model_is_named(make: Make) -> None:
    made = make("---\nname: x\n---\nuser:\nHi\n", "curl-openai-chat")
    assert [loss for loss in made.losses if "names no model" in loss]
