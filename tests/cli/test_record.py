"""`record` and `replay` with a program in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from tests.support import patience
from tests.support.chat_server import ChatServer, chat_server, json_body
from tests.support.planted import bytes_below, leaks

KEY = "sk-planted-9876543210-abcdefghij"
PROGRAM = """
import os, sys
import httpx2

assert os.environ["AZURE"] == "kept"
headers = {"authorization": "Bearer " + os.environ["OPENAI_API_KEY"]}
for text in sys.argv[1:]:
    body = {"model": "m", "messages": [{"role": "user", "content": text}]}
    address = os.environ["OPENAI_BASE_URL"] + "/chat/completions"
    answer = httpx2.post(address, json=body, headers=headers, timeout=None)
    is_fine = answer.status_code == 200
    print(answer.json()["choices"][0]["message"]["content"] if is_fine else answer.text)
sys.exit(7 if is_fine else 9)
"""


def prompt_studio(
    home: Path, server: ChatServer | None, *arguments: str, typed: str = ""
) -> subprocess.CompletedProcess[str]:
    variables = {
        "PATH": str(Path(sys.executable).parent),
        "PROMPT_STUDIO_HOME": str(home),
        "OPENAI_API_KEY": KEY,
        "OPENAI_BASE_URL": server.url if server is not None else "http://127.0.0.1:1/v1",
        "AZURE": "kept",
    }
    return subprocess.run(
        [sys.executable, "-m", "studio", *arguments],
        input=typed,
        env=variables,
        capture_output=True,
        encoding="utf-8",
        timeout=patience.SECONDS,
        check=False,
    )


def said(text: str) -> dict[str, object]:
    return {"choices": [{"index": 0, "message": {"content": text}, "finish_reason": "stop"}]}


def test_a_program_is_recorded_and_replayed_with_the_server_off(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    home = tmp_path / "home"
    with chat_server() as server:
        server.script(json_body(said("One.")), json_body(said("Two.")))
        done = prompt_studio(
            home, server, "record", "--", sys.executable, str(program), "first", "second"
        )
        sent = [each.data for each in server.requests]
    assert (done.returncode, done.stdout) == (7, "One.\nTwo.\n"), done.stderr
    runs = json.loads(prompt_studio(home, None, "runs", "list", "--json").stdout)
    assert [(each["prompt"], each["answer"]) for each in runs] == [
        ("agent.py 2", "Two."),
        ("agent.py 1", "One."),
    ]
    kept = prompt_studio(home, None, "runs", "show", runs[1]["id"], "--request", "1").stdout
    assert kept.rstrip("\n").encode() == sent[0]
    assert leaks({"key": KEY}, bytes_below(home)) == []

    again = ("replay", runs[0]["id"], "--", sys.executable, str(program))
    same = prompt_studio(home, None, *again, "first", "second")
    assert (same.returncode, same.stdout) == (7, "One.\nTwo.\n")
    assert "2 of 2 calls replayed" in same.stderr
    other = prompt_studio(home, None, *again, "first", "third")
    assert other.returncode == 1
    assert 'messages[0].content is "third": it was "second"' in other.stderr


def test_a_program_is_held_and_its_answer_edited(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    with chat_server() as server:
        server.script(json_body(said("One.")))
        done = prompt_studio(
            tmp_path / "home",
            server,
            *("record", "--break", "answer", "--", sys.executable, str(program), "first"),
            typed="final Another.\nc\n",
        )
    assert done.stdout == "Another.\n", done.stderr
    assert "step 1, answer: the answer is ready" in done.stderr


def test_wrong_use_is_named(tmp_path: Path) -> None:
    done = prompt_studio(tmp_path, None, "record", "--", "no-such-program-here")
    assert (done.returncode, done.stderr) == (
        2,
        "prompt-studio: no-such-program-here: no such program\n",
    )
    done = prompt_studio(tmp_path, None, "replay", "none", "--", sys.executable, "-c", "")
    assert done.returncode == 2
    assert "no run of the history begins with 'none'" in done.stderr
