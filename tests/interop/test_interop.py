"""The reduced form of `make interop`: the programs that are installed beside the tests."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path

import pytest

from studio.application.exchange.export import NoJudgeError
from studio.application.exchange.judge import run_in
from studio.core.export.target import ExportSource
from studio.core.export.targets import find_target
from studio.core.prompty.parse import parse
from studio.core.prompty.reference_values import references_beside
from studio.core.wire.request import Provider
from tests.interop.bodies import said_by_the_command, sent_by_curl, type_faults, values_of
from tests.interop.corpus import LIST, main
from tests.interop.environments import PACKAGES, python_of
from tests.interop.interop import PROMPTS, read_one
from tests.interop.readers import READERS

HERE = {
    "prompty2": "prompty",
    "agentschema": "agentschema",
    "langchain": "langchain_openai",
    "script": "openai",
}
"""Environments whose package is among the developer's own."""


def python_for(target: str) -> Path:
    environment, _ = READERS[target]
    there = python_of(environment)
    if there is None and environment in HERE:
        pytest.importorskip(HERE[environment])
        return Path(sys.executable)
    if there is None:
        pytest.skip(f"{PACKAGES[environment][0]} is not installed; `make interop` does it")
    return there


@pytest.mark.parametrize("path", PROMPTS[::3], ids=lambda path: path.stem)
@pytest.mark.parametrize("target", READERS)
def test_what_a_program_reads_otherwise_is_named(target: str, path: Path) -> None:
    if target == "python" and path not in PROMPTS[::9]:
        pytest.skip("mypy takes seconds for each script; `make interop` checks all of them")
    if target == "promptfoo":
        pytest.skip("promptfoo takes seconds for each prompt; `make interop` asks it of all")
    state, told = read_one(path, target, python_for(target), READERS[target][1])
    assert state != "silent", told


@pytest.mark.skipif(
    not all(map(shutil.which, ("sh", "curl", "openssl"))), reason="no shell, curl or openssl"
)
@pytest.mark.parametrize(
    ("provider", "name"),
    [
        ("openai-chat", "react-agent"),
        ("openai-responses", "tool-calling-agent"),
        ("anthropic", "legacy-chat"),
    ],
)
def test_a_shell_sends_what_the_request_command_says(
    provider: Provider, name: str, tmp_path: Path
) -> None:
    path = next(path for path in PROMPTS if path.stem == name)
    assert sent_by_curl(path, provider, tmp_path) == ""


def test_the_types_of_a_providers_package_take_the_bodies() -> None:
    pytest.importorskip("openai")
    chat: Provider = "openai-chat"
    bodies = [(chat, said_by_the_command(path, chat, values_of(path))) for path in PROMPTS[::6]]
    spoiled = (chat, {**bodies[0][1], "messages": [{"role": "user", "text": "Hi"}]})
    *told, refused = type_faults(Path(sys.executable), [*bodies, spoiled])
    assert [each for each in told if each] == []
    assert refused


def test_a_python_without_the_package_is_named(tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("system:\nHi\n", encoding="utf-8")
    form = find_target("prompty")
    assert form is not None
    references = references_beside(path, trusted=True)
    source = ExportSource(parse("system:\nHi\n", path), references=references).for_target(form)
    made = form.make(source)
    with pytest.raises(NoJudgeError, match="gave no answer"):
        run_in("prompty", "prompty", source, made, tmp_path / "no-python")
    with pytest.raises(NoJudgeError, match=r"install prompty==0\.1\.50"):
        run_in("prompty1", "legacy", source, made, Path(sys.executable))


def test_the_corpus_names_each_file_once() -> None:
    rows = [line.split("\t") for line in LIST.read_text(encoding="utf-8").splitlines()]
    assert len({(repository, path) for repository, _, path in rows}) == len(rows) >= 200
    assert all(len(commit) == 40 for _, commit, _ in rows)


def test_files_of_the_corpus_that_are_not_here_are_skipped(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("CORPUS", str(tmp_path))
    assert main([]) == 0
    assert "corpus: 0 of" in capsys.readouterr().out
