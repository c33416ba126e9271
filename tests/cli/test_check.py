"""`check` in the hands of scripts, hooks and CI."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree as ET

import pytest

from studio.__main__ import main
from studio.cli.main import run_command
from studio.cli.terminal import FINE, INTERRUPTED, PROBLEMS, USAGE
from tests.support.no_files import REASONS, each_kind, make_no_file, needs_posix
from tests.support.soon import soon

WARNED = "---\nname: x\ninputs:\n  a: {kind: string}\n---\nuser:\n{{ b }}\n"
"""`a` is not used, `b` is not declared."""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, which is where the command is called."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def codes(text: str) -> list[str]:
    return [line.split()[2] for line in text.splitlines()]


def test_findings_are_what_the_command_is_asked_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    assert run_command(["check", "x.prompty"]) == PROBLEMS
    printed = capsys.readouterr()
    assert "x.prompty:7:4: warning undeclared-variable " in printed.out
    assert printed.err == ""


def test_codes_are_chosen_and_left_out(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    run_command(["check", "--select", "undeclared-*", "x.prompty"])
    assert codes(capsys.readouterr().out) == ["undeclared-variable"]
    run_command(["check", "--ignore", "undeclared-variable", "x.prompty"])
    assert "undeclared-variable" not in codes(capsys.readouterr().out)


def test_what_counts_is_a_choice(folder: Path) -> None:
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    assert run_command(["check", "x.prompty"]) == PROBLEMS
    assert run_command(["check", "--severity", "error", "x.prompty"]) == FINE
    assert run_command(["check", "--exit-zero", "x.prompty"]) == FINE


def test_fixes_are_made_and_the_rest_is_said(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = folder / "x.prompty"
    path.write_text(WARNED, encoding="utf-8")
    run_command(["check", "--fix", "--select", "undeclared-variable", "x.prompty"])
    assert capsys.readouterr().out == ""
    assert "  b:\n    kind: string\n" in path.read_text(encoding="utf-8")
    kept = path.read_text(encoding="utf-8")
    run_command(["check", "--fix", "--select", "undeclared-variable", "x.prompty"])
    assert path.read_text(encoding="utf-8") == kept


def test_a_text_on_stdin_has_the_name_that_it_is_given(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(WARNED.encode())))
    assert run_command(["check", "-", "--stdin-name", "later.prompty"]) == PROBLEMS
    assert capsys.readouterr().out.startswith("later.prompty:")
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"\xff")))
    assert run_command(["check", "-"]) == PROBLEMS
    assert "not UTF-8" in capsys.readouterr().out
    assert run_command(["check", "-", "--fix"]) == USAGE


def test_one_file_that_cannot_be_read_ends_nothing(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "a.prompty").write_bytes("user:\nHi\ncafé\n".encode("latin-1"))
    (folder / "b.prompty").write_text(WARNED, encoding="utf-8")
    assert run_command(["check", "."]) == PROBLEMS
    out = capsys.readouterr().out
    assert "a.prompty:1:1: error file-unreadable line 3 is not UTF-8" in out
    assert "b.prompty:7:4: warning undeclared-variable" in out


def test_a_folder_is_looked_at_without_what_tools_keep_there(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for place in ("own", ".venv/lib", "build", "own/drafts"):
        (folder / place).mkdir(parents=True)
        (folder / place / "x.prompty").write_text(WARNED, encoding="utf-8")
    (folder / ".gitignore").write_text("/build/\n", encoding="utf-8")
    (folder / "own" / ".gitignore").write_text("drafts\n", encoding="utf-8")

    def looked_at(*arguments: str) -> set[str]:
        run_command(["check", "--json", *arguments, "."])
        found = json.loads(capsys.readouterr().out)
        return {Path(each["file"]).parent.as_posix() for each in found}

    assert looked_at() == {"own"}
    assert looked_at("--no-ignore") == {"own", "build", "own/drafts"}
    assert looked_at("--no-ignore", "--exclude", "build") == {"own", "own/drafts"}


@pytest.mark.parametrize(
    ("name", "head"),
    [("pyproject.toml", "[tool.prompt-studio.check]"), ("prompt-studio.toml", "[check]")],
)
def test_a_project_says_it_once(
    folder: Path,
    name: str,
    head: str,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    (folder / name).write_text(
        f'{head}\nselect = ["undeclared-variable"]\nseverity = "error"\n', encoding="utf-8"
    )
    (folder / "deep").mkdir()
    (folder / "deep" / "x.prompty").write_text(WARNED, encoding="utf-8")
    monkeypatch.chdir(folder / "deep")
    assert run_command(["check", "."]) == FINE
    assert codes(capsys.readouterr().out) == ["undeclared-variable"]
    assert run_command(["check", "--severity", "warning", "."]) == PROBLEMS


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_in_a_folder_is_not_waited_for(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    os.mkfifo(folder / "pipe.prompty")
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    assert run_command(["check", "."]) == PROBLEMS
    assert "pipe" not in capsys.readouterr().out


def test_other_runtimes_are_asked_about_on_request(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.prompty").write_text(f"{WARNED}{{{{ b | title }}}}\n", encoding="utf-8")

    def told(*options: str) -> list[str]:
        run_command(["check", *options, "x.prompty"])
        return codes(capsys.readouterr().out)

    usual = ["unused-input", "undeclared-variable"]
    assert told() == usual
    assert told("--portability") == [*usual, "portable-filter"]
    assert told("--select", "portability") == ["portable-filter"]
    assert told("--select", "portable-*,unused-input") == ["unused-input", "portable-filter"]
    assert told("--portability", "--ignore", "portability") == usual


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("[check]\nselct = []\n", "'check' has no 'selct'; its keys are select"),
        ("[check]\nselect = 1\n", "'check.select' is a list of texts"),
        ("[check]\nseverity = 'loud'\n", "'check.severity' is error, warning or hint"),
        ("[check\n", "prompt-studio.toml: "),
    ],
)
def test_settings_that_cannot_be_read_are_named(
    folder: Path, text: str, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "prompt-studio.toml").write_text(text, encoding="utf-8")
    assert run_command(["check", "."]) == USAGE
    assert said in capsys.readouterr().err


def test_github_gets_its_own_lines(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "a,b.prompty").write_text(WARNED, encoding="utf-8")
    run_command(["check", "--format", "github", "--select", "undeclared-variable", "."])
    (line,) = capsys.readouterr().out.splitlines()
    place = "file=a%2Cb.prompty,line=7,col=4,endLine=7,endColumn=5"
    assert line.startswith(f"::warning {place},title=undeclared-variable::")


def test_github_gets_nothing_that_its_log_would_act_on(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    front = '---\nname: "a"\n"k\\e[31m\\u202e\\r\\n::error::%": 1\n---\nsystem:\nHi\n'
    (folder / "x\x1b[31m.prompty").write_text(front, encoding="utf-8")
    run_command(["check", "--format", "github", "."])
    out = capsys.readouterr().out
    assert all(
        line.startswith(("::warning ", "::error ", "::notice ")) for line in out.splitlines()
    )
    assert "file=x\\x1b[31m.prompty," in out
    assert "k\\x1b[31m\\u202e" in out
    assert not {"\x1b", "\u202e", "\r"} & {*out}


def test_sarif_names_rules_and_places(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    run_command(["check", "--format", "sarif", "."])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    rules = [rule["id"] for rule in run["tool"]["driver"]["rules"]]
    found = next(each for each in run["results"] if each["ruleId"] == "undeclared-variable")
    assert rules[found["ruleIndex"]] == "undeclared-variable"
    (place,) = found["locations"]
    assert place["physicalLocation"]["artifactLocation"]["uri"] == "x.prompty"
    assert place["physicalLocation"]["region"]["startLine"] == 7
    assert found["level"] == "warning"


def test_sarif_places_are_uris(
    folder: Path, tmp_path_factory: pytest.TempPathFactory, capsys: pytest.CaptureFixture[str]
) -> None:
    away = tmp_path_factory.mktemp("elsewhere") / "x.prompty"
    for path in (folder / "a ä#%.prompty", away):
        path.write_text(WARNED, encoding="utf-8")
    run_command(["check", "--format", "sarif", "a ä#%.prompty", str(away)])
    (run,) = json.loads(capsys.readouterr().out)["runs"]
    uris = {
        each["locations"][0]["physicalLocation"]["artifactLocation"]["uri"]
        for each in run["results"]
    }
    assert uris == {"a%20%C3%A4%23%25.prompty", away.as_uri()}


def test_junit_has_a_case_for_each_file(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "bad.prompty").write_text(WARNED, encoding="utf-8")
    (folder / "good.prompty").write_text("user:\nHi\n", encoding="utf-8")
    run_command(["check", "--format", "junit", "--select", "undeclared-variable", "."])
    (suite,) = ET.fromstring(capsys.readouterr().out)
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    failed = [case.get("name") for case in suite if case.find("failure") is not None]
    assert failed == ["bad.prompty"]


def test_colors_are_for_terminals(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.prompty").write_text(WARNED, encoding="utf-8")
    monkeypatch.delenv("NO_COLOR", raising=False)
    monkeypatch.delenv("FORCE_COLOR", raising=False)
    run_command(["check", "x.prompty"])
    assert "\x1b[" not in capsys.readouterr().out
    monkeypatch.setenv("FORCE_COLOR", "1")
    run_command(["check", "x.prompty"])
    assert "\x1b[33mwarning\x1b[0m" in capsys.readouterr().out
    monkeypatch.setenv("NO_COLOR", "1")
    run_command(["check", "x.prompty"])
    assert "\x1b[" not in capsys.readouterr().out


def test_a_slip_of_a_command_is_named(folder: Path) -> None:
    asked = subprocess.run(
        [sys.executable, "-m", "studio", "chek", "x.prompty"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert asked.returncode == USAGE
    assert "did you mean 'check'?" in asked.stderr


class Interrupted(io.BytesIO):
    """An input at which Ctrl-C is pressed."""

    def read(self, *_: object) -> bytes:
        raise KeyboardInterrupt


def test_an_interrupt_is_a_word_and_no_traceback(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(Interrupted()))
    assert main(["check", "-"]) == INTERRUPTED
    assert capsys.readouterr().err == "prompt-studio: interrupted\n"


@needs_posix
@each_kind
def test_what_is_named_and_no_file_is_refused_and_not_read(
    kind: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = make_no_file(kind, tmp_path / "endless.prompty")
    with soon():
        assert run_command(["check", str(path)]) == PROBLEMS
    assert REASONS[kind] in capsys.readouterr().out


@pytest.mark.skipif(sys.platform == "win32", reason="a file that grows too large is told otherwise")
def test_fixes_that_cannot_be_written_leave_the_other_files_their_findings(folder: Path) -> None:
    large = WARNED + "A line.\n" * 1000
    (folder / "a.prompty").write_text(large, encoding="utf-8")
    (folder / "b.prompty").write_text(WARNED, encoding="utf-8")
    program = (
        "import resource, signal; from studio.cli.main import run_command\n"
        "signal.signal(signal.SIGXFSZ, signal.SIG_IGN)\n"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (4000, 4000))\n"
        "run_command(['check', '--fix', 'a.prompty', 'b.prompty'])\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False
    )
    assert "a.prompty:1:1: error file-unreadable the fixes cannot be written" in done.stdout
    assert (folder / "a.prompty").read_text(encoding="utf-8") == large
    assert "  b:\n    kind: string\n" in (folder / "b.prompty").read_text(encoding="utf-8")
    assert sorted(path.name for path in folder.iterdir()) == ["a.prompty", "b.prompty"]
