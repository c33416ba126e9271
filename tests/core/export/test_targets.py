"""Exports: what is written, what blocks it, and the proof that it means the same."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path

import pytest

from studio.core.export.prompt_files import prompt_rounds
from studio.core.export.target import ExportSource
from studio.core.export.targets import TARGETS, find_target
from studio.core.prompty.meaning import meaning
from studio.core.prompty.parse import parse
from studio.core.prompty.prepare import prepare
from studio.core.prompty.reference_values import references_beside
from tests.support import patience

_TEXT = """---
name: shop
model:
  id: some-model
  options:
    temperature: 0
inputs:
  - name: who
    kind: string
    default: Ada
tools:
  - name: look_up
    kind: function
    description: Find a thing.
    parameters:
      - name: thing
        kind: string
        required: true
template:
  format:
    kind: jinja2
  parser:
    kind: prompty
---
system:
Help {{ who }}. It's "fine": `$HOME` 'x' é

user[name="Seth"]:
What is it?
"""


def _source(text: str = _TEXT, **inputs: object) -> ExportSource:
    return ExportSource(parse(text), inputs)  # type: ignore[arg-type]


def test_every_form_has_its_own_name_and_is_found_by_it() -> None:
    names = [target.name for target in TARGETS]

    assert len(set(names)) == len(names)
    assert [find_target(name) for name in names] == list(TARGETS)
    assert find_target("nothing") is None


@pytest.mark.parametrize("target", TARGETS, ids=lambda target: target.name)
def test_a_good_prompt_is_exported_in_every_form(target: object) -> None:
    made = target.make(_source())  # type: ignore[attr-defined]

    assert not made.blocked, made.problems
    assert made.text.endswith("\n")
    made.text.encode("utf-8")


def test_the_prompt_file_is_the_buffer_byte_for_byte() -> None:
    text = _TEXT.replace("\n", "\r\n") + "  \t"
    target = find_target("file")
    assert target is not None

    made = target.make(_source(text))

    assert made.text == text
    assert not made.blocked
    again = prepare(parse(made.text), {})
    assert meaning(again.messages.messages) == meaning(_source(text).prepared.messages.messages)


@pytest.mark.parametrize(
    ("broken", "code"),
    [
        (_TEXT.replace("{{ who }}", "{{ who"), "template-syntax"),
        (_TEXT.replace("kind: string\n    default", "kind: [string\n    default"), None),
        (_TEXT + "\ud800", "export-not-utf8"),
    ],
)
def test_an_error_blocks_the_prompt_file(broken: str, code: str | None) -> None:
    target = find_target("file")
    assert target is not None

    made = target.make(_source(broken))

    assert made.blocked
    assert code is None or code in {problem.code for problem in made.problems}
    assert made.text == broken


def test_the_proof_sees_other_messages_and_other_tools() -> None:
    source = _source()

    assert [each.difference for each in prompt_rounds(_TEXT, source)] == [""]
    (other,) = prompt_rounds(_TEXT.replace("What is", "Where is"), source)
    assert other.difference.startswith("message ")
    (other,) = prompt_rounds(_TEXT.replace("look_up", "other"), source)
    assert other.difference.startswith("tools is ")


def test_the_proof_reads_references_as_the_editor_did(tmp_path: Path) -> None:
    (tmp_path / "rules.txt").write_text("Be kind.", encoding="utf-8")
    text = _TEXT.replace("default: Ada", "default: ${file:rules.txt}")
    context = references_beside(tmp_path / "p.prompty", trusted=True, masked=True)
    document = parse(text, tmp_path / "p.prompty")
    target = find_target("file")
    assert target is not None
    known = ExportSource(document, references=context)
    assert "Be kind." in known.prepared.messages.messages[0].text

    assert not target.make(ExportSource(document)).blocked
    assert [each.difference for each in prompt_rounds(text, known)] == [""]
    (tmp_path / "rules.txt").write_text("Be rude.", encoding="utf-8")
    assert not prompt_rounds(text.replace("who }}", "other }}"), known)[0].is_same


def test_a_text_protocol_has_its_tools_in_the_prompt_only() -> None:
    text = _TEXT.replace(
        "What is it?", "{% for h in history %}{{ h.action }}{% endfor %}\nFinal Answer: x"
    )
    target = find_target("openai-chat")
    assert target is not None

    assert "tools" in json.loads(target.make(_source()).text)
    assert "tools" not in json.loads(target.make(_source(text)).text)


def test_a_missing_input_blocks_a_request_and_not_the_file() -> None:
    source = _source(_TEXT.replace("default: Ada", "required: true"))
    file, body = find_target("file"), find_target("openai-chat")
    assert file is not None
    assert body is not None

    assert not file.make(source).blocked
    assert body.make(source).blocked


def test_a_request_body_holds_media_of_the_folder(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"\x89PNG\r\n\x1a\nrest")
    text = "---\ntemplate:\n  parser:\n    kind: section\n---\nuser:\n![image](a.png)\n"
    source = ExportSource(parse(text, tmp_path / "p.prompty"))
    target = find_target("openai-chat")
    assert target is not None

    body = json.loads(target.make(source).text)

    url = body["messages"][0]["content"][0]["image_url"]["url"]
    assert url.startswith("data:image/png;base64,iVBORw0KGgp")


def test_messages_as_jsonl_are_one_line() -> None:
    target = find_target("messages-jsonl")
    assert target is not None

    text = target.make(_source()).text

    assert text.count("\n") == 1
    line = json.loads(text)
    assert [message["role"] for message in line["messages"]] == ["system", "user"]
    assert line["messages"][1]["name"] == "Seth"
    assert [tool["function"]["name"] for tool in line["tools"]] == ["look_up"]


class _Server(HTTPServer):
    seen: tuple[str, dict[str, str], bytes] | None = None


class _Handler(BaseHTTPRequestHandler):
    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        assert isinstance(self.server, _Server)
        self.server.seen = (self.path, dict(self.headers), body)
        self.send_response(200)
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_: object) -> None:
        """Stay quiet."""


def test_a_curl_command_for_vectors_goes_to_their_address() -> None:
    target = find_target("curl-openai-chat")
    assert target is not None
    made = target.make(_source("---\nmodel: {id: m, apiType: embedding}\n---\nuser:\nA cat\n"))
    assert "https://api.openai.com/v1/embeddings " in made.text


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.parametrize("provider", ["openai-chat", "openai-responses", "anthropic"])
def test_a_curl_command_sends_the_body_and_takes_the_key_from_the_environment(
    provider: str, tmp_path: Path
) -> None:
    server = _Server(("127.0.0.1", 0), _Handler)
    thread = threading.Thread(target=server.handle_request)
    thread.start()
    address = f"http://127.0.0.1:{server.server_address[1]}/v1"
    source = replace(_source(), base_url=address)
    target, body = find_target(f"curl-{provider}"), find_target(provider)
    assert target is not None
    assert body is not None
    script = tmp_path / "send.sh"
    script.write_text(target.make(source).text, encoding="utf-8")

    keys = {"OPENAI_API_KEY": "k1", "ANTHROPIC_API_KEY": "k2"}
    done = subprocess.run(
        ["/bin/sh", str(script)],
        env={**os.environ, **keys, "no_proxy": "*"},
        capture_output=True,
        check=False,
        timeout=patience.SECONDS,
    )
    thread.join()
    server.server_close()

    assert done.returncode == 0, done.stderr
    assert server.seen is not None
    path, headers, sent = server.seen
    assert path.startswith("/v1/")
    assert json.loads(sent) == json.loads(body.make(source).text)
    assert "k1" in headers.get("Authorization", "") or headers.get("x-api-key") == "k2"


def test_what_prompty_sends_of_its_own_is_named() -> None:
    target = find_target("prompty")
    assert target is not None

    def differences(model: str) -> str:
        text = f"---\nmodel: {model}\n---\nuser:\nHi\n"
        made = target.make(ExportSource(parse(text)))
        return " ".join(each.difference for each in made.round_trips)

    assert "store is left out" in differences("{id: m, provider: openai, apiType: responses}")
    assert "accepts none" in differences("{id: m, provider: openai, apiType: embedding}")
    assert differences("{id: m, provider: openai, apiType: chat}") == ""
