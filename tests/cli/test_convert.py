"""`convert` and `fmt`, as a script would call them."""

from __future__ import annotations

from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.agent.protocols.loops import choose_protocol
from studio.core.paths import resource
from studio.core.prompty.parse import parse
from tests.support.errors import has_errors

LEGACY = (
    "---\nname: Old one  # keep me\nmodel:\n  api: chat\n  configuration:\n    type: openai\n"
    "    name: gpt-4\n  parameters:\n    max_tokens: 30\nsample:\n  who: Ann\nhouse: rules\n---\n"
    "system:\nBe kind to {{who}}.\n"
)
UNTIDY = "---\nname: x  \n---\nSystem :\nHi  there  \n\n\n\n\nuser: \nYes"


@pytest.fixture
def legacy(tmp_path: Path) -> Path:
    path = tmp_path / "old.prompty"
    path.write_bytes(LEGACY.encode())
    return path


def test_convert_writes_the_other_dialect_to_standard_output(
    legacy: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run_command(["convert", "--to", "prompty", str(legacy)]) == FINE
    text = capsys.readouterr().out
    document = parse(text)
    assert (document.dialect, document.model.id) == ("prompty", "gpt-4")
    assert "# keep me" in text
    assert "house: rules" in text
    assert legacy.read_bytes() == LEGACY.encode()


def test_convert_in_place_and_to_another_file(legacy: Path, tmp_path: Path) -> None:
    out = tmp_path / "new.prompty"
    assert run_command(["convert", "--to", "section", "-o", str(out), str(legacy)]) == FINE
    assert parse(out.read_text(encoding="utf-8")).dialect == "section"
    assert run_command(["convert", "--to", "prompty", "--write", str(legacy)]) == FINE
    assert parse(legacy.read_text(encoding="utf-8")).dialect == "prompty"


def test_convert_shows_a_diff(legacy: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_command(["convert", "--to", "prompty", "--diff", str(legacy)]) == FINE
    lines = capsys.readouterr().out.splitlines()
    assert "-  api: chat" in lines
    assert legacy.read_bytes() == LEGACY.encode()


def test_convert_touches_no_file_it_cannot_read(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "broken.prompty"
    path.write_text("---\nname: [a,\n---\nuser:\nx\n", encoding="utf-8")
    assert run_command(["convert", "--to", "prompty", "--write", str(path)]) == PROBLEMS
    assert "broken.prompty:2:10: " in capsys.readouterr().err
    tabbed = (
        "---\ninputs:\n\tcity:\n\t\ttype: string\nmodel:\n  api: chat\n---\nsystem:\n{{city}}\n"
    )
    path.write_text(tabbed, encoding="utf-8")
    assert run_command(["convert", "--to", "prompty", "--write", str(path)]) == PROBLEMS
    assert "broken.prompty:3:1: " in capsys.readouterr().err
    assert path.read_text(encoding="utf-8") == tabbed
    path.write_bytes(b"user:\n\xff\n")
    assert run_command(["convert", "--to", "prompty", "--write", str(path)]) == USAGE
    assert path.read_bytes() == b"user:\n\xff\n"


def test_fmt_tidies_and_then_has_nothing_to_do(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "untidy.prompty"
    path.write_bytes(UNTIDY.replace("\n", "\r\n").encode("utf-8-sig"))
    assert run_command(["fmt", "--check", str(tmp_path)]) == PROBLEMS
    assert run_command(["fmt", "--diff", str(path)]) == PROBLEMS
    assert "+system:" in capsys.readouterr().out
    assert run_command(["fmt", str(tmp_path)]) == FINE
    assert path.read_bytes() == (
        b"\xef\xbb\xbf---\r\nname: x\r\n---\r\nsystem:\r\nHi  there  \r\n\r\nuser:\r\nYes\r\n"
    )
    assert run_command(["fmt", "--check", str(path)]) == FINE


def test_fmt_does_not_guess_bytes(tmp_path: Path) -> None:
    path = tmp_path / "latin.prompty"
    path.write_bytes(b"System :\ncaf\xe9")
    assert run_command(["fmt", str(path)]) == USAGE
    assert path.read_bytes() == b"System :\ncaf\xe9"


def test_convert_between_protocols(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    prompt = tmp_path / "agent.prompty"
    prompt.write_bytes(resource("examples", "react-agent.prompty").read_bytes())
    assert run_command(["convert", "--protocol", "json_action", "--write", str(prompt)]) == FINE
    document = parse(prompt.read_text(encoding="utf-8"))
    assert choose_protocol(document).protocol == "json_action"
    assert not has_errors(document)
    assert run_command(["convert", "--protocol", "json_action", "--diff", str(prompt)]) == FINE
    printed = capsys.readouterr()
    assert "already uses json_action" in printed.err
    assert printed.out == ""


def test_a_file_that_its_runtime_refuses_is_named_although_nothing_changes(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "a.prompty"
    head = "template: {format: {kind: jinja2}, parser: {kind: prompty}}\n---\n"
    path.write_text(f"---\nname: a\n{head}system:\n{{% include 'b' %}}\n", encoding="utf-8")
    assert run_command(["convert", str(path), "--to", "prompty"]) == PROBLEMS
    assert "prompty 2.1 for Python does not take the file" in capsys.readouterr().err
    path.write_text(f"---\nname: a\n{head}system:\nHi\n", encoding="utf-8")
    assert run_command(["convert", str(path), "--to", "prompty"]) == FINE
