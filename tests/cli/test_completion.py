"""Completion at Tab: what is offered, and the three shells that ask for it."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from studio.cli.completion import FILES, SHELLS, every_parser, offers
from studio.cli.terminal import COMMANDS
from studio.core.paths import resource_text


def words(*given: str) -> list[str]:
    return [offer.word for offer in offers(given)]


@pytest.mark.parametrize(
    ("given", "found"),
    [
        (("ch",), ["check", FILES]),
        (("check", "--format", "j"), ["json", "junit"]),
        (("check", "--format", "json", "--form"), []),
        (("check", "--exclude", "x", "--exc"), ["--exclude"]),
        (("runs", "p"), ["prune"]),
        (("runs", "export", "3f", "--form"), ["--format"]),
        (("runs", "export", "3f", "--format", "html", ""), [FILES]),
        (("experiment", "run", "--only", ""), ["errors", "failed"]),
        (("a.prompty", "--sa"), ["--safe", FILES]),
        (("--the",), ["--theme"]),
        (("check", "--stdin-name", ""), [FILES]),
    ],
)
def test_a_word_is_continued_as_the_parser_reads_it(
    given: tuple[str, ...], found: list[str]
) -> None:
    assert words(*given) == found


def test_every_command_and_its_own_commands_are_offered() -> None:
    assert set(words("")) >= set(COMMANDS)
    names = [name for name, _ in every_parser()]
    assert {"runs export", "experiment run", "check"} <= set(names)


ASKS = {
    "bash": """\
source "$SCRIPT"
COMP_WORDS=(prompt-studio check --format ''); COMP_CWORD=3; _prompt_studio
printf '%s\\n' "${COMPREPLY[@]}"
COMP_WORDS=(prompt-studio check a); COMP_CWORD=2; _prompt_studio
printf '%s\\n' "${COMPREPLY[@]}"
""",
    "zsh": """\
compdef() { :; }; _files() { print -l a*; }
_describe() { print -l -- "${(@)${(@P)2}%%:*}"; }
source "$SCRIPT"
words=(prompt-studio check --format ''); CURRENT=4; _prompt_studio
words=(prompt-studio check a); CURRENT=3; _prompt_studio
""",
    "fish": """\
source $SCRIPT
complete -C 'prompt-studio check --format '
complete -C 'prompt-studio check a'
""",
}


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_shows_what_is_offered(shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    (tmp_path / "a b.prompty").touch()
    own = tmp_path / "bin"
    own.mkdir()
    start = own / "prompt-studio"
    start.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m studio "$@"\n', encoding="utf-8")
    start.chmod(0o755)
    (tmp_path / "script").write_text(
        resource_text("completion", f"prompt-studio.{shell}"), encoding="utf-8"
    )
    root = Path(__file__).resolve().parents[2]
    done = subprocess.run(
        [program, *(("--norc",) if shell == "bash" else ()), "-c", ASKS[shell]],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
        env={
            **os.environ,
            "PATH": f"{own}:{os.environ['PATH']}",
            "PYTHONPATH": str(root),
            "SCRIPT": str(tmp_path / "script"),
            "HOME": str(tmp_path),
        },
    )
    shown = [line.partition("\t")[0] for line in done.stdout.splitlines()]
    plain = {word.replace("\\", "") for word in shown}
    assert plain == {"text", "json", "github", "sarif", "junit", "a b.prompty"}, done.stderr
