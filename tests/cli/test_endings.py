"""How an answer ended: one that is not whole is no success, and its exit code says so."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS
from tests.cli.test_main import script

PLAIN = "---\nname: plain\n---\nuser:\nHello?\n"
DECLARED = "---\nname: declared\noutputs:\n  city: {kind: string}\n---\nuser:\nWhere?\n"
REACT = """---
name: react
metadata: {agent: {protocol: react}}
---
user:
Thought, Action, Final Answer. {{history}} {{agent_scratchpad}}
"""


@pytest.mark.parametrize(
    ("prompt", "reply", "code", "said"),
    [
        (PLAIN, {"text": "Whole."}, FINE, ""),
        (PLAIN, {"text": "Ha", "finish_reason": "length"}, PROBLEMS, "cut off by the token limit"),
        (PLAIN, {"text": "Ha", "finish_reason": "content_filter"}, PROBLEMS, "filter"),
        (PLAIN, {"text": "", "finish_reason": "stop"}, PROBLEMS, "empty"),
        (PLAIN, {"text": "Something.", "finish_reason": "unknown"}, FINE, ""),
        (DECLARED, {"text": '{"city": "Oslo"}'}, FINE, ""),
        (DECLARED, {"text": "Oslo, I say."}, PROBLEMS, "not a JSON object"),
        (DECLARED, {"text": '{"city": 7}'}, PROBLEMS, "city"),
        (DECLARED, {"text": '{"city": "O', "finish_reason": "length"}, PROBLEMS, "cut off"),
        (REACT, {"text": "Final Answer: Os", "finish_reason": "content_filter"}, PROBLEMS, "filt"),
        (REACT, {"text": "Final Answer: Os", "finish_reason": "length"}, PROBLEMS, "cut off"),
        (REACT, {"text": "Final Answer:"}, PROBLEMS, "empty"),
    ],
)
def test_only_a_whole_answer_is_fine(
    prompt: str,
    reply: dict[str, str],
    code: int,
    said: str,
    tmp_path: Path,
    user_home: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    script(user_home, reply)
    path = tmp_path / "a.prompty"
    path.write_text(prompt, encoding="utf-8")
    assert run_command(["run", str(path)]) == code
    printed = capsys.readouterr()
    answer = reply["text"].removeprefix("Final Answer:").strip()
    assert printed.out.splitlines()[-1:] == [answer]
    told = [line for line in printed.err.splitlines() if line.startswith("prompt-studio: ")]
    assert len(told) == (1 if said else 0)
    assert said in "".join(told)
    assert run_command(["runs", "list", "--json"]) == FINE
    status = json.loads(capsys.readouterr().out)[0]["status"]
    assert status == ("done" if code == FINE else "incomplete")


def test_a_refusal_is_told_and_no_success(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    script(user_home, {"refusal": "I will not.", "finish_reason": "refusal"})
    path = tmp_path / "a.prompty"
    path.write_text(PLAIN, encoding="utf-8")
    assert run_command(["run", str(path), "--json"]) == PROBLEMS
    printed = capsys.readouterr()
    assert json.loads(printed.out.splitlines()[-1])["status"] == "refused"
    assert "I will not." in printed.err
