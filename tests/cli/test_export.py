"""`prompt-studio export` and `import`, called as a person calls them."""

from __future__ import annotations

import json
import os
import zipfile
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.export.targets import TARGETS

ROOT = Path(__file__).resolve().parents[2]
AGENT = ROOT / "resources" / "examples" / "tool-calling-agent.prompty"
SECTION = ROOT / "resources" / "templates" / "section-prompt.prompty"


@pytest.fixture(autouse=True)
def _home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROMPT_STUDIO_HOME", str(tmp_path / "home"))


@pytest.mark.parametrize("target", [target.name for target in TARGETS])
def test_every_target_is_written_from_the_command_line(target: str, tmp_path: Path) -> None:
    prompt = tmp_path / "agent.prompty"
    prompt.write_bytes(AGENT.read_bytes())
    (tmp_path / "agent.inputs.json").write_text('{"one": {"question": "1+1?"}}', encoding="utf-8")
    out = tmp_path / "out"
    arguments = ["export", str(prompt), "--target", target, "-o", str(out), "-i", "question=2?"]

    code = run_command([*arguments, "--accept-losses"])

    assert code == FINE
    assert out.stat().st_size > 50
    if target == "bundle":
        assert "agent.inputs.json" in zipfile.ZipFile(out).namelist()


def test_a_key_in_the_prompt_is_written_nowhere_until_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt, out = tmp_path / "keyed.prompty", tmp_path / "out.prompty"
    head = "---\nname: x\nmodel:\n  connection:\n    kind: key\n    apiKey: my-own-key-1\n---\n"
    prompt.write_text(head + "system:\nHi\n", encoding="utf-8")
    arguments = ["export", str(prompt), "-o", str(out)]

    assert run_command(arguments) == PROBLEMS
    assert not out.exists()
    assert "The file contains the key written in line 6" in capsys.readouterr().err
    assert run_command([*arguments, "--accept-losses"]) == FINE
    assert "my-own-key-1" in out.read_text(encoding="utf-8")


def test_a_loss_writes_nothing_until_told_to(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "old.prompty"
    out.write_text("old", encoding="utf-8")
    arguments = ["export", str(SECTION), "--target", "legacy", "-o", str(out)]

    assert run_command(arguments) == PROBLEMS
    assert out.read_text(encoding="utf-8") == "old"
    said = capsys.readouterr().err
    assert "lost or changed: tools.nearby" in said
    assert "round trip, current values" in said
    assert "--accept-losses" in said
    assert run_command([*arguments, "--accept-losses"]) == USAGE
    assert out.read_text(encoding="utf-8") == "old"
    assert run_command([*arguments, "--accept-losses", "--force"]) == FINE
    assert "![thread]" in out.read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("kind", "value", "theirs", "ours"),
    [
        ("string", "null", "'v=None'", "'v='"),
        ("boolean", "true", "'v=True'", "'v=true'"),
        ("float", "1.0", "'v=1.0'", "'v=1'"),
    ],
)
def test_a_value_that_python_writes_in_another_way_is_named_before_anything_is_written(
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    kind: str,
    value: str,
    theirs: str,
    ours: str,
) -> None:
    prompt, out = tmp_path / "values.prompty", tmp_path / "out.prompty"
    template = "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"
    head = f"---\ninputs: {{x: {{kind: {kind}}}}}\n{template}"
    prompt.write_text(f"{head}user:\nv={{{{ x }}}}\n", encoding="utf-8")
    given = tmp_path / "values.json"
    given.write_text(f'{{"x": {value}}}', encoding="utf-8")
    arguments = ["export", str(prompt), "--target", "prompty", "-o", str(out)]
    arguments += ["--inputs", str(given)]
    assert run_command(arguments) == PROBLEMS
    assert not out.exists()
    said = capsys.readouterr().err
    assert f"message 1 (user) is different: {theirs} instead of {ours}" in said


def test_the_difference_is_shown_and_nothing_written(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new.prompty"
    code = run_command(["export", str(SECTION), "--target", "prompty", "--diff", "-o", str(out)])
    assert code == PROBLEMS  # there are losses to agree to
    shown = capsys.readouterr().out
    assert "-    kind: section" in shown
    assert "+    kind: prompty" in shown
    assert not out.exists()


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write all")
def test_a_failed_write_leaves_the_old_file_whole_without_rights(tmp_path: Path) -> None:
    folder = tmp_path / "locked"
    folder.mkdir()
    out = folder / "old.py"
    out.write_text("old", encoding="utf-8")
    folder.chmod(0o500)
    try:
        assert run_command(["export", str(AGENT), "--target", "python", "-o", str(out)]) == USAGE
        assert out.read_text(encoding="utf-8") == "old"
    finally:
        folder.chmod(0o700)


def test_a_failed_write_is_told_and_changes_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    taken = tmp_path / "folder.py"
    taken.mkdir()
    (taken / "kept").write_text("x", encoding="utf-8")

    plain = tmp_path / "home" / "plain.prompty"
    plain.parent.mkdir(exist_ok=True)
    plain.write_text("user:\nHi\n", encoding="utf-8")
    arguments = ["export", str(plain), "--target", "python", "--accept-losses", "-o", str(taken)]
    assert run_command(arguments) == USAGE

    assert (taken / "kept").read_text(encoding="utf-8") == "x"
    assert sorted(path.name for path in tmp_path.iterdir() if path.name != "home") == ["folder.py"]
    assert str(taken) in capsys.readouterr().err


def test_tools_of_a_trusted_folder_are_read_for_a_script(tmp_path: Path) -> None:
    (tmp_path / "tools.py").write_text(
        'def add(a: int, b: int) -> int:\n    """Add two numbers."""\n    return a + b\n',
        encoding="utf-8",
    )
    prompt = tmp_path / "p.prompty"
    prompt.write_text(
        "---\nmodel: {id: m}\nmetadata:\n  agent: {tools: [tools.py]}\n"
        "template:\n  format: {kind: jinja2}\n  parser: {kind: prompty}\n---\nuser:\nHi\n",
        encoding="utf-8",
    )
    out = tmp_path / "out.py"
    arguments = ["export", str(prompt), "--target", "python", "-o", str(out)]

    assert run_command(arguments) == PROBLEMS  # the tools would be missing
    assert not out.exists()
    assert run_command([*arguments, "--trust"]) == FINE
    assert '"description": "Add two numbers."' in out.read_text(encoding="utf-8")
    assert "def add(" in out.read_text(encoding="utf-8")


def test_import_writes_the_prompt_with_its_input_sets_and_over_nothing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "promptfooconfig.yaml"
    source.write_text(
        "prompts: ['Tell me about {{city}}', 'Describe {{city}}']\n"
        "tests:\n  - vars: {city: Oslo}\n    assert: [{type: contains, value: x}]\n",
        encoding="utf-8",
    )
    out = tmp_path / "trip.prompty"

    assert run_command(["import", str(source), "-o", str(out), "--pick", "2"]) == FINE
    said = capsys.readouterr().err
    assert "promptfoo configuration" in said
    assert "assert" in said
    assert "Describe {{city}}" in out.read_text(encoding="utf-8")
    sets = json.loads((tmp_path / "trip.inputs.json").read_text(encoding="utf-8"))
    assert sets == {"test 1": {"city": "Oslo"}}
    before = out.read_bytes()
    assert run_command(["import", str(source), "-o", str(out)]) == USAGE
    assert out.read_bytes() == before
    assert run_command(["import", str(source), "-o", str(out), "--force"]) == FINE
    assert "Tell me" in out.read_text(encoding="utf-8")
    assert run_command(["check", str(out)]) == FINE


def test_import_of_what_is_no_prompt_says_what_is(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    source = tmp_path / "mcp.json"
    source.write_text('{"mcpServers": {}}', encoding="utf-8")
    assert run_command(["import", str(source)]) == USAGE
    assert "not a known prompt" in capsys.readouterr().err


BROKEN_TOOLS = """---
template: {parser: {kind: section}}
---
tools:
  - type: bing
  - id: a
    type: bing
  - id: a
    type: bing

user:
Hi
"""


@pytest.mark.parametrize("target", ["file", "openai-chat", "markdown"])
def test_each_kind_of_error_wants_a_yes(
    target: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path, out = tmp_path / "broken.prompty", tmp_path / "out"
    path.write_text(BROKEN_TOOLS, encoding="utf-8")
    command = ["export", str(path), "--target", target, "-o", str(out), "--accept-losses"]
    assert run_command(command) == PROBLEMS
    told = capsys.readouterr().err.splitlines()[-1]
    kinds = [word for word in told.split() if word.startswith(("tool-", "duplicate-"))]
    assert len(kinds) == 2
    assert run_command([*command, "--accept-error", kinds[0]]) == PROBLEMS
    left = capsys.readouterr().err.splitlines()[-1]
    assert f"use --accept-error {kinds[1]} to write it" in left
    assert not out.exists()
    yes = [part for kind in kinds for part in ("--accept-error", kind)]
    assert run_command([*command, *yes]) == FINE
    assert out.exists()
