from __future__ import annotations

import base64
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from studio.application.preview.build import build_preview
from studio.application.preview.diff import (
    messages_as_chat,
    messages_as_json,
    messages_as_markdown,
    request_as_curl,
    request_as_json,
    request_as_python,
)
from studio.application.preview.requests import PROVIDERS, RequestPreview, request_of
from studio.application.preview.variables import Preview, PreviewJob, PreviewTarget
from studio.core.prompty.parse import parse
from studio.core.wire.request import Provider
from tests.support import patience
from tests.support.chat_server import chat_server, json_body


def preview() -> Preview:
    text = 'system:\nIt\'s "quoted" $HOME\n\nuser[name="Seth"]:\n{{ q }}\n'
    return build_preview(PreviewJob(parse(text), {"q": "a\nb"}, target=PreviewTarget("m")))


def test_messages_as_text() -> None:
    assert json.loads(messages_as_json(preview()))[1]["content"] == "a\nb"
    assert messages_as_chat(preview().messages.messages).endswith("user: a\nb")
    assert "## user (name: Seth)\n\na\nb" in messages_as_markdown(preview().messages.messages)


PNG = b"\x89PNG\r\n\x1a\n" + bytes(range(60))
EVERYTHING = """---
model:
  id: m-1
  options:
    temperature: 0.5
    topK: 4
    maxOutputTokens: 9
    stopSequences: [END]
    reasoningEffort: low
    additionalProperties: {logprobs: true, "odd key": {"a": [1, null]}}
template:
  parser: {kind: section}
outputs:
  answer: {kind: string}
tools:
  - name: search
    kind: function
    description: It's "found"
    parameters: {properties: {query: {kind: string}}}
---
system:
It's "quoted" $HOME `x` \\n 🙂

user[name="Seth"]:
{{ q }}

![image](cat.png)
"""


def everything(folder: Path) -> Preview:
    (folder / "cat.png").write_bytes(PNG)
    document = parse(EVERYTHING, folder / "p.prompty")
    return build_preview(PreviewJob(document, {"q": "a\nb'\"$(ls)"}))


def sent_body(request: RequestPreview) -> dict[str, Any]:
    """The body as it would be sent, without the wish for a stream."""
    body = dict(json.loads(request_as_json(request)))
    kept = {key: body[key] for key in body if key not in ("stream", "stream_options")}
    # Ollama streams unless it is told not to.
    return {**kept, "stream": False} if request.provider == "ollama" else kept


REPLIES: dict[str, object] = {
    "/v1/chat/completions": {
        "id": "1",
        "object": "chat.completion",
        "created": 1,
        "model": "m",
        "choices": [
            {
                "index": 0,
                "finish_reason": "stop",
                "message": {"role": "assistant", "content": "It worked."},
            }
        ],
    },
    "/v1/responses": {
        "id": "1",
        "object": "response",
        "created_at": 1,
        "model": "m",
        "status": "completed",
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "output": [
            {
                "id": "o",
                "type": "message",
                "role": "assistant",
                "status": "completed",
                "content": [{"type": "output_text", "text": "It worked.", "annotations": []}],
            }
        ],
    },
    "/v1/messages": {"content": [{"type": "text", "text": "It worked."}]},
    "/api/chat": {"message": {"role": "assistant", "content": "It worked."}, "done": True},
    "/v1beta/models/m-1:generateContent": {
        "candidates": [{"content": {"parts": [{"text": "It worked."}]}}]
    },
    "/v1/embeddings": {
        "object": "list",
        "model": "m",
        "usage": {"prompt_tokens": 1, "total_tokens": 1},
        "data": [{"object": "embedding", "index": 0, "embedding": [0.25, 0.5]}],
    },
    "/v1/images/generations": {"created": 1, "data": [{"url": "https://example.invalid/a.png"}]},
}


def run_python(request: RequestPreview, path: str, tmp_path: Path) -> tuple[str, dict[str, Any]]:
    """Run the script against a server; what it printed, and the body that came."""
    script = tmp_path / "script.py"
    script.write_text(request_as_python(request), encoding="utf-8")
    with chat_server() as server:
        server.script(json_body(REPLIES[path]))
        environment = {
            **os.environ,
            "OPENAI_BASE_URL": server.url,
            "ANTHROPIC_BASE_URL": server.url.removesuffix("/v1"),
            "OLLAMA_HOST": server.url.removesuffix("/v1"),
            "GOOGLE_GEMINI_BASE_URL": server.url + "beta",
            "OPENAI_API_KEY": "key-1",
            "ANTHROPIC_API_KEY": "key-1",
            "GEMINI_API_KEY": "key-1",
            "PYTHONIOENCODING": "utf-8",
        }
        done = subprocess.run(
            [sys.executable, str(script)],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
            timeout=patience.SECONDS,
        )
        assert done.returncode == 0, done.stderr
        [got] = server.requests
    assert got.path == path
    keys = ("authorization", "x-api-key", "x-goog-api-key")
    sent = "".join(got.headers.get(each, "") for each in keys)
    assert ("key-1" in sent) == (request.provider != "ollama")
    return done.stdout, got.body


PATHS: dict[Provider, str] = {
    "openai-chat": "/v1/chat/completions",
    "openai-responses": "/v1/responses",
    "anthropic": "/v1/messages",
    "ollama": "/api/chat",
    "gemini": "/v1beta/models/m-1:generateContent",
}


@pytest.mark.parametrize("provider", list(PROVIDERS))
def test_the_python_script_runs_and_sends_the_body(provider: Provider, tmp_path: Path) -> None:
    request = request_of(everything(tmp_path), provider)
    printed, body = run_python(request, PATHS[provider], tmp_path)
    assert "It worked." in printed
    assert body == sent_body(request)
    assert base64.b64encode(PNG).decode() in json.dumps(body)


@pytest.mark.parametrize(
    ("api", "path", "key"),
    [("embedding", "/v1/embeddings", "input"), ("image", "/v1/images/generations", "prompt")],
)
def test_other_requests_go_to_their_own_address(
    api: str, path: str, key: str, tmp_path: Path
) -> None:
    text = f"---\nmodel: {{id: m, apiType: {api}}}\n---\nuser:\nA cat\n"
    request = request_of(build_preview(PreviewJob(parse(text))), "openai-chat")
    _, body = run_python(request, path, tmp_path)
    assert body[key] == "A cat"
    assert f"https://api.openai.com{path} " in request_as_curl(request)


def test_curl_carries_the_body_through_a_shell(tmp_path: Path) -> None:
    """A stand-in for curl writes down what a real shell gave it."""
    stand_in = tmp_path / "curl"
    stand_in.write_text(
        f"#!{sys.executable}\nimport json, sys\n"
        f"json.dump([*sys.argv, sys.stdin.read()], open({str(tmp_path / 'seen.json')!r}, 'w'))\n",
        encoding="utf-8",
    )
    stand_in.chmod(0o755)
    for provider, path in PATHS.items():
        request = request_of(everything(tmp_path), provider)
        names = ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY")
        keys = dict.fromkeys(names, "key-1")
        environment = {**os.environ, **keys, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
        subprocess.run(
            ["/bin/sh", "-c", request_as_curl(request)],
            env=environment,
            check=True,
            timeout=patience.SECONDS,
        )
        words = json.loads((tmp_path / "seen.json").read_text())
        assert json.loads(words[-1]) == sent_body(request)
        assert any(word.endswith(path) for word in words)
        assert any(word.endswith("key-1") for word in words) == (provider != "ollama")


def test_a_servers_own_address_is_used() -> None:
    target = PreviewTarget("m", "Mine", base_url="http://localhost:11434/v1/")
    preview = build_preview(PreviewJob(parse("user:\nhi\n"), target=target))
    chat = request_of(preview, "openai-chat")
    assert "http://localhost:11434/v1/chat/completions" in request_as_curl(chat)
    assert "base_url='http://localhost:11434/v1/'" in request_as_python(chat)
    assert "api.anthropic.com" in request_as_curl(request_of(preview, "anthropic"))


def test_the_body_shown_tells_only_the_size_of_a_file(tmp_path: Path) -> None:
    request = request_of(everything(tmp_path), "openai-chat")
    assert f"data:image/png;base64,… {len(PNG)} bytes …" in request.text
    assert base64.b64encode(PNG).decode() in request_as_json(request)


def test_secrets_stay_masked_in_every_copy() -> None:
    key = "sk-abcdefghijklmnopqrstuvwx"
    preview = build_preview(PreviewJob(parse(f"user:\nUse {key}\n")))
    for request in (request_of(preview, provider) for provider in PROVIDERS):
        for write in (request_as_json, request_as_curl, request_as_python):
            assert key not in write(request)
    assert key not in messages_as_json(preview)
