"""Output with nowhere to go, as a shell sets it up: a reader that has gone, a full disk."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from studio.__main__ import main
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from tests.support import patience

FULL = Path("/dev/full")


def said(output: int, *arguments: str, unbuffered: bool) -> tuple[int, str]:
    """Exit code and standard error of the program with an output of this descriptor."""
    environment = {key: value for key, value in os.environ.items() if key != "PYTHONUNBUFFERED"}
    if unbuffered:
        environment["PYTHONUNBUFFERED"] = "1"
    done = subprocess.run(
        [sys.executable, "-m", "studio", *arguments],
        stdin=subprocess.DEVNULL,
        stdout=output,
        stderr=subprocess.PIPE,
        text=True,
        env=environment,
        timeout=patience.SECONDS,
        check=False,
    )
    return done.returncode, done.stderr


@pytest.mark.parametrize("unbuffered", [False, True])
@pytest.mark.parametrize("command", ["--help", "connections list"])
def test_a_reader_that_has_gone_is_no_fault(command: str, *, unbuffered: bool) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    try:
        assert said(writing, *command.split(), unbuffered=unbuffered) == (FINE, "")
    finally:
        os.close(writing)


@pytest.mark.parametrize("unbuffered", [False, True])
def test_what_was_found_counts_though_the_reader_has_gone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, *, unbuffered: bool
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\n{{ city\n", encoding="utf-8")
    reading, writing = os.pipe()
    os.close(reading)
    raw = os.fdopen(writing, "wb", 0 if unbuffered else -1)
    with io.TextIOWrapper(raw, "utf-8", write_through=unbuffered) as output:
        monkeypatch.setattr(sys, "stdout", output)
        assert main(["check", str(path)]) == PROBLEMS


@pytest.mark.parametrize("encoding", ["ascii", "cp1252", "latin-1"])
def test_what_an_output_has_no_sign_for_is_escaped_as_in_json(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, encoding: str
) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("user:\nGrüß 世界 🌍\n", encoding="utf-8")
    for more in ([], ["--json"]):
        raw = io.BytesIO()
        with io.TextIOWrapper(raw, encoding) as output:
            monkeypatch.setattr(sys, "stdout", output)
            assert main(["messages", str(path), *more]) == FINE
            told = raw.getvalue().decode(encoding)
        if more:
            assert "Grüß 世界 🌍" in json.dumps(json.loads(told), ensure_ascii=False)
        else:
            assert r"\u4e16\u754c \ud83c\udf0d" in told


def test_a_name_that_the_system_refuses_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    name = "a" * 5000 + ".prompty"
    for command in ("check", "fmt", "tools list", "experiment list"):
        assert main([*command.split(), name]) == USAGE
        told = capsys.readouterr().err
        assert told.startswith("prompt-studio: ")
        assert "Traceback" not in told


@pytest.mark.skipif(not FULL.exists(), reason="this system has no /dev/full")
@pytest.mark.parametrize(
    ("command", "unbuffered"), [("connections list", False), ("runs list --json", True)]
)
def test_a_full_disk_is_said(command: str, *, unbuffered: bool) -> None:
    with FULL.open("wb") as full:
        code, told = said(full.fileno(), *command.split(), unbuffered=unbuffered)
    assert code == PROBLEMS
    assert told == f"prompt-studio: cannot write: {os.strerror(28)}\n"
