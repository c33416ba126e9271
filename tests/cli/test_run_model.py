"""Another model for a run that goes on, in the terminal: asked about, said, and kept."""

from __future__ import annotations

import io
import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS
from studio.core.models.scripted import ScriptedModel
from tests.cli.test_run import ANSWER, CALL, REACT, last_run, say

OTHER = "Thought: done\nFinal Answer: Two says 42."


@pytest.fixture
def home(user_home: Path) -> Path:
    """Two scripted models, of which the first is the usual one."""
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    text = 'default = "One"\n'
    for name, replies in (("One", [CALL, ANSWER]), ("Two", [OTHER])):
        script = user_home / f"{name.lower()}.json"
        script.write_text(json.dumps(replies), encoding="utf-8")
        settings = f"settings = {{ script = {json.dumps(str(script))} }}"
        text += f'[[connection]]\nname = "{name}"\nkind = "scripted"\n{settings}\n'
    (config / "connections.toml").write_text(text, encoding="utf-8")
    return user_home


def make_default(home: Path, name: str) -> None:
    """What a prompt that names no connection is run with from now on."""
    path = home / "config" / "connections.toml"
    rest = path.read_text(encoding="utf-8").partition("\n")[2]
    path.write_text(f'default = "{name}"\n{rest}', encoding="utf-8")


def chosen_and_answer(capsys: pytest.CaptureFixture[str]) -> tuple[list[str], str]:
    """Names of the models that were chosen, and the answer, of what `run --json` wrote."""
    events = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    chosen = [each["model"]["name"] for each in events if each["t"] == "ModelChosen"]
    return chosen, events[-1].get("answer", "")


def test_a_fork_asks_where_the_prompt_has_another_model_by_now(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = ["run", str(REACT), "-i", "question=What is 6 * 7?"]
    assert run_command(asks) == FINE
    fork = ["run", str(REACT), "--fork", f"{last_run(capsys)}@2", "--json"]
    make_default(home, "Two")

    assert run_command(fork) == PROBLEMS  # nobody is there to be asked
    told = capsys.readouterr().err
    assert "The run used Script one.json; the prompt now requests Script two.json." in told
    assert "--fork-model" in told

    (home / "one.json").write_text(json.dumps([ANSWER]), encoding="utf-8")
    record = home / "calls.jsonl"
    assert run_command([*fork, "--fork-model", "run", "--record", str(record)]) == FINE
    assert len(record.read_text(encoding="utf-8").splitlines()) == 1
    assert chosen_and_answer(capsys) == (["Script one.json"], "It is 42.")

    for word in (["--fork-model", "prompt"], ["--connection", "Two"]):
        assert run_command([*fork, *word]) == FINE
        assert chosen_and_answer(capsys) == (["Script two.json"], "Two says 42.")

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    monkeypatch.setattr("sys.stdin", Terminal("what\nprompt\n"))
    assert run_command(fork) == FINE
    assert capsys.readouterr().err.count("Continue with Script one.json (run)") == 2


def test_whatever_answers_is_closed_once_whichever_word_ends_the_question(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asks = ["run", str(REACT), "-i", "question=What is 6 * 7?"]
    assert run_command(asks) == FINE
    fork = ["run", str(REACT), "--fork", f"{last_run(capsys)}@2", "--json"]
    opened: list[ScriptedModel] = []
    closed: list[ScriptedModel] = []

    def recorded(model: ScriptedModel, *_: object) -> ScriptedModel:
        opened.append(model)
        return model

    async def close(model: ScriptedModel) -> None:
        closed.append(model)

    monkeypatch.setattr("studio.cli.run.model.recorded", recorded)
    monkeypatch.setattr(ScriptedModel, "close", close)
    assert run_command(fork) == FINE  # the model is the run's own
    assert closed == opened
    make_default(home, "Two")
    for more, count in (([], 2), (["--fork-model", "run"], 4), (["--fork-model", "prompt"], 5)):
        run_command([*fork, *more])
        assert len(opened) == count
        assert sorted(closed, key=id) == sorted(opened, key=id)
    say(monkeypatch, "s", "model One", "c")
    assert run_command([*asks, "--step"]) == FINE
    assert len(opened) == 7
    assert sorted(closed, key=id) == sorted(opened, key=id)


def test_the_model_is_changed_while_stepping_and_the_replay_says_so(
    home: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    say(monkeypatch, "s", "model Nowhere", "model Two", "c")
    asks = ["run", str(REACT), "-i", "question=What is 6 * 7?"]
    assert run_command([*asks, "--step"]) == FINE
    printed = capsys.readouterr()
    assert "write `model CONNECTION`" in printed.err
    assert "Model: Script two.json, not Script one.json" in printed.out
    assert printed.out.endswith("Two says 42.\n")

    run = last_run(capsys)
    assert run_command(["run", str(REACT), "--replay", run, "--json"]) == FINE
    assert chosen_and_answer(capsys)[0] == ["Script two.json"]
    assert run_command(["runs", "show", run]) == FINE
    assert "Script two.json" in capsys.readouterr().out


AZURE = """---
name: basic
model:
  api: chat
  configuration:
    type: azure_openai
    azure_endpoint: ${env:NOT_SET_ENDPOINT}
    azure_deployment: ${env:NOT_SET_DEPLOYMENT}
sample:
  question: What is 6 * 7?
---
user:
{{question}}
"""


def test_the_model_of_a_prompt_that_is_not_used_needs_none_of_its_variables(
    home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "basic.prompty"
    path.write_text(AZURE, encoding="utf-8")
    asks = ["run", str(path), "--trust", "-i", "question=Hi", "--connection", "Two"]
    assert run_command(asks) == FINE
    assert "42" in capsys.readouterr().out
