"""Files of coding agents on the command line: checked, shown, taken as prompts."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import USAGE


@pytest.fixture
def skill(tmp_path: Path) -> Path:
    folder = tmp_path / "read-tables"
    (folder / "references").mkdir(parents=True)
    path = folder / "SKILL.md"
    path.write_text(
        "---\nname: read-tables\ndescription: Reads tables.\n---\n"
        "system:\nRead {{ this }}. See [more](references/more.md) and [out](../out.md).\n",
        encoding="utf-8",
    )
    (folder / "references" / "more.md").write_text("More words on tables.", encoding="utf-8")
    (tmp_path / "out.md").write_text("Outside.", encoding="utf-8")
    return path


def test_a_folder_is_checked_with_the_files_of_agents(
    skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["check", str(skill.parent.parent)]) == 0
    (skill.parent / "plan.prompt.md").write_text("---\ntools: 1\n---\n", encoding="utf-8")
    assert run_command(["check", "--json", str(skill.parent.parent)]) == 1
    (finding,) = json.loads(capsys.readouterr().out)
    assert (finding["code"], finding["line"]) == ("agent-file-value", 2)


def test_a_folder_is_checked_with_its_experiments(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "mail.experiment.yaml").write_text("rows: mail.csv\n", encoding="utf-8")
    (tmp_path / "compose.yaml").write_text("rows: mail.csv\n", encoding="utf-8")
    assert run_command(["check", "--json", str(tmp_path)]) == 1
    found = json.loads(capsys.readouterr().out)
    assert {Path(each["file"]).name for each in found} == {"mail.experiment.yaml"}
    assert "experiment-key" in {each["code"] for each in found}


def test_messages_says_what_is_loaded_when(skill: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["messages", "--json", str(skill)]) == 0
    parts = json.loads(capsys.readouterr().out)
    assert [(part["when"], part["what"]) for part in parts] == [
        ("always", "name and description"),
        ("when the skill is used", "body"),
        ("when it is read", "more.md"),
    ]
    assert all(part["tokens"] > 0 for part in parts)
    assert "{{ this }}" in parts[1]["text"]


def test_a_request_has_its_text_and_what_the_user_asks(
    skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = ["request", str(skill), "-i", "request=Which?", "--provider", "openai-chat"]
    assert run_command(command) == 0
    shown = capsys.readouterr()
    assert "injected" not in shown.err
    body = skill.read_text(encoding="utf-8").split("---\n", 2)[2].strip()
    assert json.loads(shown.out)["messages"] == [
        {"role": "system", "content": body},
        {"role": "user", "content": "Which?"},
    ]


def test_what_an_agent_file_does_not_carry_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ".claude" / "agents" / "a.md"
    path.parent.mkdir(parents=True)
    path.write_text("---\nname: a\ndescription: b\ntools: Read\n---\nHelp.\n", encoding="utf-8")
    assert run_command(["request", str(path), "-i", "request=x"]) == 0
    assert "tools: nothing answers Read here" in capsys.readouterr().err


def test_a_command_of_gemini_without_its_prompt_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / ".gemini" / "commands" / "a.toml"
    path.parent.mkdir(parents=True)
    path.write_text('description = "d"\n', encoding="utf-8")
    assert run_command(["request", str(path)]) == USAGE
    assert "has no text that a model gets" in capsys.readouterr().err


@pytest.mark.parametrize("command", [["convert", "--to", "prompty", "--write"], ["fmt"]])
def test_no_command_that_writes_takes_one_for_a_prompt(
    command: list[str], skill: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    before = skill.read_bytes()
    assert run_command([*command, str(skill)]) == USAGE
    assert "is not a prompt (agent skill)" in capsys.readouterr().err
    assert skill.read_bytes() == before


@pytest.mark.parametrize("command", [["messages"], ["run"], ["fmt"]])
def test_an_experiment_is_no_prompt(
    command: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.experiment.yaml"
    path.write_text("prompts: [a.prompty]\ntests: []\n", encoding="utf-8")
    assert run_command([*command, str(path)]) == USAGE
    assert "experiment run" in capsys.readouterr().err
