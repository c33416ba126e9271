"""`record` and `replay` with a program in a process of its own."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

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
    file, elsewhere = tmp_path / "recording.jsonl", tmp_path / "elsewhere"
    whole = ("runs", "export", runs[0]["id"], "--recording", "-o", str(file))
    assert "Request bodies: 1. Raw replies: 1." in prompt_studio(home, None, *whole).stderr
    assert leaks({"key": KEY}, [("the file", file.read_bytes())]) == []
    of_file = ("replay", str(file), "--", sys.executable, str(program), "first", "second")
    assert "2 of 2 calls replayed" in prompt_studio(elsewhere, None, *of_file).stderr
    taken = prompt_studio(elsewhere, None, "runs", "import", str(file)).stdout.split()
    there = ("replay", taken[1], "--", sys.executable, str(program), "first", "second")
    assert "2 of 2 calls replayed" in prompt_studio(elsewhere, None, *there).stderr
    other = prompt_studio(home, None, *again, "first", "third")
    assert other.returncode == 1
    assert 'messages[0].content is "third": it was "second"' in other.stderr

    listing = "import os, httpx2; print(httpx2.get(os.environ['OPENAI_BASE_URL'] + '/models'))"
    program.write_text(f"{listing}\n{PROGRAM}", encoding="utf-8")
    more = prompt_studio(home, None, *again, "first", "second")
    assert (more.returncode, more.stdout) == (7, "<Response [404 Not Found]>\nOne.\nTwo.\n")
    assert "not in the recording, answered with 404: GET /models" in more.stderr
    assert "2 of 2 calls replayed" in more.stderr


def test_a_second_recording_names_its_first_difference(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    home, command = tmp_path / "home", ("record", "--", sys.executable, str(program))
    with chat_server() as server:
        server.always(json_body(said("One.")))
        told = [prompt_studio(home, server, *command, "first", "second").stderr for _ in range(2)]
        assert "previous recording" not in told[0]
        assert "the requests equal those of the previous recording" in told[1]
        program.write_text(PROGRAM.replace('"content": text', '"content": text[:4]'))
        changed = prompt_studio(home, server, *command, "first", "second").stderr
    assert 'call 1: messages[0].content is "firs": it was "first"' in changed


def test_the_user_answers_a_request_that_differs(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    home, command = tmp_path / "home", ("--", sys.executable, str(program))
    with chat_server() as server:
        server.script(json_body(said("One.")))
        prompt_studio(home, server, "record", *command, "first")
    (run,) = json.loads(prompt_studio(home, None, "runs", "list", "--json").stdout)
    replay = ("replay", run["id"], "--on-difference", "answer", *command)
    done = prompt_studio(home, None, *replay, "first", "other", "third", typed="Mine.\n")
    answers = done.stdout.splitlines()
    assert (done.returncode, answers[:2]) == (1, ["One.", "Mine."])
    assert "differs from the recorded one" in answers[2]  # the input had ended
    assert "its last message: other" in done.stderr


def test_calls_of_a_recording_become_a_prompt_with_its_cases(tmp_path: Path) -> None:
    program, home, out = tmp_path / "agent.py", tmp_path / "home", tmp_path / "order.prompty"
    program.write_text(PROGRAM, encoding="utf-8")
    with chat_server() as server:
        server.script(json_body(said("One.")), json_body(said("Two.")))
        asked = ("Order: 17", "Order: 18")
        prompt_studio(home, server, "record", "--", sys.executable, str(program), *asked)
        sent = [each.body for each in server.requests]
    (second, first) = json.loads(prompt_studio(home, None, "runs", "list", "--json").stdout)
    one = prompt_studio(home, None, "runs", "open", first["id"])
    assert (one.returncode, one.stderr.splitlines()[-1]) == (
        0,
        f"{first['id']}, request 1: the file sends the same body",
    )
    assert one.stdout.endswith("user:\nOrder: 17\n")

    opening = ("runs", "open", first["id"], "--alike", "-o", str(out))
    made = prompt_studio(home, None, *opening)
    assert made.returncode == 0, made.stderr
    assert out.read_text(encoding="utf-8").endswith("user:\nOrder: {{ order }}\n")
    cases = json.loads(out.with_suffix(".inputs.json").read_text(encoding="utf-8"))
    assert [each["order"] for each in cases.values()] == [17, 18]
    assert f"{second['id']}, request 1" in cases
    for each, values in zip(sent, cases.values(), strict=True):
        given = tmp_path / "values.json"
        given.write_text(json.dumps(values), encoding="utf-8")
        built = prompt_studio(home, None, "request", "--inputs", str(given), str(out))
        assert json.loads(built.stdout)["messages"] == each["messages"]
    again = prompt_studio(home, None, *opening)
    assert again.returncode == 2
    assert "already exists" in again.stderr

    with chat_server() as server:
        server.always(json_body(said("Three.")))
        asking = ("run", str(out.with_suffix(".experiment.yaml")), "--trust", "--yes")
        done = prompt_studio(home, server, "experiment", *asking)
        cells = {json.dumps(each.body["messages"]) for each in server.requests}
        assert cells == {json.dumps(each["messages"]) for each in sent}, done.stdout + done.stderr

        text = out.read_text(encoding="utf-8")
        out.write_text(text.replace("Order:", "Which order is"), encoding="utf-8")
        edited = ("run", str(out), "--trust", "--results", f"{second['id']}@1")
        mine = prompt_studio(home, server, *edited)
        assert mine.stdout == "Three.\n", mine.stderr
        assert server.requests[-1].body["messages"][0]["content"] == "Which order is 18"
        assert "compared with the previous run: The first difference is" in mine.stderr
    wrong = prompt_studio(home, None, "run", str(out), "--results", f"{second['id']}@x")
    assert (wrong.returncode, "from 1" in wrong.stderr) == (2, True), wrong.stderr
    keeping = ("runs", "open", second["id"], "--case", str(out))
    assert prompt_studio(home, None, *keeping).returncode == 0
    kept = (tmp_path / "order.cases.csv").read_text(encoding="utf-8").splitlines()
    assert sorted(zip(*(line.split(",") for line in kept), strict=True)) == [
        ("expected", "Two."),
        ("order", "18"),
    ]
    none = prompt_studio(home, None, "runs", "open", first["id"], "--request", "2")
    assert (none.returncode, "no iteration 2" in none.stderr) == (1, True)


def held(
    folder: Path, server: ChatServer, place: str, typed: str
) -> subprocess.CompletedProcess[str]:
    """A recorded program of one call, which is held at a place for what is typed."""
    program = folder / "agent.py"
    program.write_text(PROGRAM, encoding="utf-8")
    server.script(json_body(said("One.")))
    words = ("record", "--break", place, "--", sys.executable, str(program), "first")
    return prompt_studio(folder / "home", server, *words, typed=typed)


def test_a_program_is_held_and_its_answer_edited(tmp_path: Path) -> None:
    with chat_server() as server:
        done = held(tmp_path, server, "answer", "final Another.\nc\n")
    assert done.stdout == "Another.\n", done.stderr
    assert "step 1, answer: the answer is ready" in done.stderr


def test_options_of_a_held_request_are_set(tmp_path: Path) -> None:
    typed = 'set {"temperature": }\nset {"temperature": 0.5}\nc\n'
    with chat_server() as server:
        done = held(tmp_path, server, "before_request", typed)
        assert server.requests[0].body["temperature"] == 0.5, done.stderr
    assert "the options are not JSON" in done.stderr


def test_the_end_of_input_while_stepping_is_no_success(tmp_path: Path) -> None:
    program = tmp_path / "agent.py"
    program.write_text(PROGRAM.replace("sys.exit(7 if is_fine else 9)", ""), encoding="utf-8")
    with chat_server() as server:
        stepped = ("--step", "--", sys.executable, str(program), "first", "second")
        done = prompt_studio(tmp_path / "home", server, "record", *stepped)
        nothing = (sys.executable, "-c", "")
        fine = prompt_studio(tmp_path / "home", server, "record", "--step", "--", *nothing)
        assert server.requests == []
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("The run of this request was stopped") == 1
    assert done.stdout.count("The recording has ended.") == 1
    assert done.stderr.count("end of input: stopped") == 1
    assert fine.returncode == 0


ENDLESS = """
import os, signal, subprocess, sys, time
from pathlib import Path

folder = Path(sys.argv[1])
if sys.argv[2] == "deaf":
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
child = subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"])
(folder / "pids").write_text(f"{os.getpid()} {child.pid}")
(folder / "pids").rename(folder / "ready")
time.sleep(600)
"""


@pytest.mark.parametrize("kind", ["plain", "deaf"])
def test_sigterm_ends_the_program_and_what_it_started(tmp_path: Path, kind: str) -> None:
    program = ("--", sys.executable, "-c", ENDLESS, str(tmp_path), kind)
    variables = {"PATH": str(Path(sys.executable).parent), "PROMPT_STUDIO_HOME": str(tmp_path)}
    command = [sys.executable, "-m", "studio", "record", *program]
    with subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL) as recorder:
        patience.wait_until((tmp_path / "ready").exists, "the program")
        pids = [int(each) for each in (tmp_path / "ready").read_text().split()]
        assert all(map(is_running, pids))
        recorder.send_signal(signal.SIGTERM)
    assert recorder.returncode == 128 + signal.SIGTERM
    patience.wait_until(lambda: not any(map(is_running, pids)), "the end of the processes")


def test_a_program_that_a_signal_ends_gives_the_code_that_shells_give(tmp_path: Path) -> None:
    code = "import os; os.kill(os.getpid(), 9)"
    done = prompt_studio(tmp_path, None, "record", "--", sys.executable, "-c", code)
    assert done.returncode == 128 + signal.SIGKILL


def is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_wrong_use_is_named(tmp_path: Path) -> None:
    done = prompt_studio(tmp_path, None, "record", "--", "no-such-program-here")
    assert (done.returncode, done.stderr) == (
        2,
        "prompt-studio: 'no-such-program-here' is not a program on the PATH\n",
    )
    script = tmp_path / "agent.py"
    script.touch()
    done = prompt_studio(tmp_path, None, "record", "--", str(script))
    assert (done.returncode, done.stderr) == (2, f"prompt-studio: '{script}' is not executable\n")
    program = ("--", sys.executable, "-c", "")
    for address in ("no address", "ftp://host/v1", "http://host/v1?key=x", "http://[::1"):
        done = prompt_studio(tmp_path, None, "record", "--to", address, *program)
        assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
        assert done.stderr.startswith(f"prompt-studio: --to: {address!r} is not an address")
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = str(taken.getsockname()[1])
        done = prompt_studio(tmp_path, None, "record", "--port", port, *program)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert done.stderr.startswith(f"prompt-studio: port {port} of this machine:")
    done = prompt_studio(tmp_path, None, "replay", "none", "--", sys.executable, "-c", "")
    assert done.returncode == 2
    assert "no run of the history starts with 'none'" in done.stderr
