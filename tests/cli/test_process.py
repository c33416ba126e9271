"""The command line as a person has it: processes of their own, one history between them."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

from studio.core.paths import resource
from tests.cli.test_main import script
from tests.support import patience

ROOT = Path(__file__).resolve().parents[2]
REACT = str(resource("examples", "react-agent.prompty"))
CALL = 'Thought: multiply\nAction: calculator\nArgs: {"expression": "6 * 7"}'
ANSWER = "Thought: done\nFinal Answer: It is 42."


def studio(*arguments: str, said: tuple[str, ...] = (), code: int = 0) -> tuple[str, str]:
    """Run the program; gives what it wrote to standard output and to standard error."""
    done = subprocess.run(
        [sys.executable, "-m", "studio", *arguments],
        cwd=ROOT,
        env=dict(os.environ),
        input="".join(f"{line}\n" for line in said),
        capture_output=True,
        encoding="utf-8",
        timeout=patience.SECONDS,
        check=False,
    )
    assert done.returncode == code, done.stderr
    return done.stdout, done.stderr


def events_of(text: str) -> list[dict[str, Any]]:
    return [json.loads(line) for line in text.splitlines()]


def test_a_run_is_stepped_edited_repeated_forked_and_carried_away(
    user_home: Path, tmp_path: Path
) -> None:
    script(user_home, CALL, ANSWER)
    cassette, journal = tmp_path / "cassette.jsonl", tmp_path / "run.jsonl"
    said = (
        "to 1 tool_call",
        'args {"expression": "6 * 8"}',
        "s",
        "obs forty-eight",
        "to P6",
        "final It is 48.",
        "c",
    )
    run = ("run", REACT, "-i", "question=What is 6 * 7?")
    out, err = studio(*run, "--step", "--json", "--record", str(cassette), said=said)
    stood = re.findall(r"-- step (\d, \w+): ", err)
    assert stood == [
        "1, before_request",
        "1, tool_call",
        "1, tool_call",
        "1, observation",
        "1, observation",
        "2, answer",
        "2, answer",
    ]
    first = events_of(out)
    assert first[-1] == {"t": "Result", "status": "done", "answer": "It is 48.", "error": ""}
    assert cassette.stat().st_size

    listed = json.loads(studio("runs", "list", "--json")[0])
    assert [(line["status"], line["answer"]) for line in listed] == [("done", "It is 48.")]
    name = listed[0]["id"]

    (user_home / "config").rename(user_home / "away")  # no model is there to be asked
    again = events_of(studio("run", REACT, "--replay", name, "--json")[0])
    assert again[-1] == first[-1]
    edits = {"CallEdited", "ObservationEdited", "AnswerEdited"}
    assert {event["t"] for event in again} >= edits
    (result,) = (event for event in again if event["t"] == "ToolEnded")
    assert result["outcome"]["text"] == "48"
    assert result["origin"] == "recorded"

    script(user_home, CALL, CALL, CALL)
    fork = ("run", REACT, "--fork", f"{name}@2", "--max-iterations", "3", "--break", "observation")
    out, err = studio(*fork, said=("c", "as 1", "q"), code=1)
    assert "step 2, before_request" in err
    assert "step 2, observation: a result has arrived (breakpoint) With a tool's result" in err

    studio("runs", "export", name, "--format", "journal", "-o", str(journal))
    kinds = [event["t"] for event in events_of(journal.read_text("utf-8"))]
    assert kinds.count("Forked") == 1
    taken, _ = studio("runs", "import", str(journal))
    assert taken.strip() not in ("", name)
    assert studio("runs", "prune", "--keep", "0")[0] == "2 runs deleted\n"


def test_a_command_without_the_window_does_not_load_qt() -> None:
    code = (
        "import sys; from studio.__main__ import main; code = main(['check', sys.argv[1]]);"
        "print(code, sorted(name for name in sys.modules if name.startswith('PySide6')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, REACT],
        cwd=ROOT,
        capture_output=True,
        encoding="utf-8",
        timeout=patience.SECONDS,
        check=True,
    )
    assert done.stdout == "0 []\n"
