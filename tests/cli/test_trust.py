"""An untrusted folder on the command line: nothing is read, no key leaves; `--trust` lifts it."""

from __future__ import annotations

import base64
import json
import subprocess
import sys
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE, PROBLEMS, USAGE
from studio.core.tools.trust.store import TrustStore
from tests.support.chat_server import ChatServer, chat_server

PLANTED = "PLANTED"
PNG = b"\x89PNG\r\n\x1a\n picture"
SECTION = "template: {parser: {kind: section}}\n"
BODY = "system:\nD={{d}}\nuser:\nHi\n"

CASES = {
    "a variable by a default": ("inputs: {d: {kind: string, default: '${env:X_NOTE}'}}\n", BODY),
    "a variable of .env": ("inputs: {d: {kind: string, default: '${env:X_BESIDE}'}}\n", BODY),
    "a file by a default": ("inputs: {d: {kind: string, default: '${file:x.txt}'}}\n", BODY),
    "a variable in the text": (SECTION, "user:\nD ${env:X_NOTE}\n"),
    "a file in the text": (SECTION, "user:\nD ${file:x.txt}\n"),
    "a file as the text": ("", "${file:x.txt}\n"),
}
"""Front matter and body of prompts that take something of the user's along."""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A stranger's folder, and variables that are the user's own."""
    monkeypatch.setenv("X_KEY", f"{PLANTED}-key")
    monkeypatch.setenv("X_NOTE", f"{PLANTED}-note")
    made = tmp_path / "strange"
    made.mkdir()
    (made / "x.txt").write_text(f"user:\n{PLANTED}-file", encoding="utf-8")
    (made / ".env").write_text(f"X_BESIDE={PLANTED}-beside\n", encoding="utf-8")
    return made


def prompt(folder: Path, front: str, body: str, server: ChatServer, key: str = "") -> str:
    """Write a prompt that names this machine as its endpoint."""
    connection = f"{{kind: key, endpoint: '{server.url}'{key}}}"
    model = f"model: {{id: m, provider: openai, connection: {connection}}}\n"
    path = folder / "strange.prompty"
    path.write_text(f"---\nname: strange\n{model}{front}---\n{body}", encoding="utf-8")
    return str(path)


def sent(server: ChatServer) -> str:
    return json.dumps([[each.headers, each.body] for each in server.requests])


def kept(home: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(home.rglob("*")) if path.is_file())


@pytest.mark.parametrize("case", CASES)
def test_a_run_reads_nothing_of_an_untrusted_folder(
    case: str, folder: Path, server: ChatServer, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = prompt(folder, *CASES[case], server)
    assert run_command(["run", path, "--json"]) == PROBLEMS
    printed = capsys.readouterr()
    assert PLANTED not in printed.out + printed.err + sent(server)
    assert PLANTED.encode() not in kept(user_home)
    assert "untrusted folder" in printed.out + printed.err

    assert run_command(["run", path, "--trust"]) == FINE
    assert PLANTED in sent(server)
    assert TrustStore().is_trusted(folder)


@pytest.mark.parametrize("command", ["messages", "request", "export", "check"])
@pytest.mark.parametrize("case", CASES)
def test_nothing_of_an_untrusted_folder_is_shown(
    command: str, case: str, folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = prompt(folder, *CASES[case], server)
    more = ["--target", "openai-chat"] if command == "export" else []
    run_command([command, path, *more])
    printed = capsys.readouterr()
    assert PLANTED not in printed.out + printed.err
    if "file" in case or command in ("messages", "request"):
        assert "untrusted folder" in printed.out + printed.err
    run_command([command, path, *more, "--trust"])
    printed = capsys.readouterr()
    assert "untrusted folder" not in printed.out + printed.err
    assert (f"{PLANTED}-file" in printed.out) is ("file" in case and command != "check")
    assert "-note" not in printed.out, "variables are never shown"


@pytest.mark.parametrize("case", ["a file by a default", "a file as the text"])
def test_a_check_is_not_failed_by_what_is_not_read_but_by_what_is_not_there(
    case: str, folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    path = prompt(folder, *CASES[case], server)
    assert run_command(["check", path]) == FINE
    assert "reference-not-trusted" in capsys.readouterr().out
    (folder / "x.txt").unlink()
    assert run_command(["check", path]) == PROBLEMS
    assert "file-missing" in capsys.readouterr().out


def test_a_picture_beside_an_untrusted_prompt_is_not_sent(
    folder: Path, server: ChatServer, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "x.png").write_bytes(PNG)
    path = prompt(folder, SECTION, "user:\n![image](x.png)\n", server)
    assert run_command(["run", path]) == PROBLEMS
    assert "untrusted folder" in "".join(capsys.readouterr())
    assert server.requests == []
    assert run_command(["run", path, "--trust"]) == FINE
    assert base64.b64encode(PNG).decode() in sent(server)


def test_an_endpoint_of_an_untrusted_file_gets_no_key(
    folder: Path, server: ChatServer, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    body = "system:\nS\nuser:\nHi\n"
    path = prompt(folder, "", body, server, ", apiKey: '${env:X_KEY}'")
    run_command(["run", path])
    printed = capsys.readouterr()
    assert PLANTED not in printed.out + printed.err + sent(server)
    assert PLANTED.encode() not in kept(user_home)
    assert "the key that the prompt names is not read" in printed.err

    assert run_command(["run", path, "--trust"]) == FINE
    assert server.requests[-1].headers["authorization"] == f"Bearer {PLANTED}-key"


def test_an_endpoint_of_an_untrusted_file_gets_no_key_of_the_user_either(
    folder: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI_API_KEY", "AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"):
        monkeypatch.setenv(name, f"{PLANTED}-{name}")
    path = prompt(folder, "", "system:\nS\nuser:\nHi\n", server)
    assert run_command(["run", path]) == FINE
    azure = Path(path).read_text(encoding="utf-8").replace("provider: openai", "provider: azure")
    Path(path).write_text(azure, encoding="utf-8")
    assert run_command(["run", path]) == FINE
    assert len(server.requests) == 2
    assert PLANTED not in sent(server)


def test_a_bundle_of_an_untrusted_folder_holds_no_file_that_the_prompt_names(
    folder: Path, server: ChatServer, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = prompt(folder, *CASES["a file by a default"], server)
    out = tmp_path / "out.zip"
    export = ["export", path, "--target", "bundle", "-o", str(out), "--accept-losses"]
    assert run_command(export) == FINE
    assert "'x.txt' is not packed" in capsys.readouterr().err
    assert "x.txt" not in zipfile.ZipFile(out).namelist()
    assert run_command([*export, "--trust", "--force"]) == FINE
    assert "x.txt" in zipfile.ZipFile(out).namelist()


def test_the_home_folder_is_not_trusted_as_a_whole(
    user_home: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    path = Path.home() / "never-written.prompty"
    assert run_command(["check", str(path), "--trust"]) == USAGE
    assert "never be trusted as a whole" in capsys.readouterr().err
    assert TrustStore().current.folders == frozenset()


def test_a_damaged_list_is_said_and_kept(
    tmp_path: Path, user_home: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "tools.py").write_text("def add(a: int) -> int:\n    return a\n", encoding="utf-8")
    (user_home / "data").mkdir()
    (user_home / "data" / "trust.json").write_text('{"folders": ["/ma', encoding="utf-8")
    listing = ["tools", "list", str(tmp_path / "tools.py")]
    assert run_command(listing) == USAGE
    assert "trust.json is damaged: no folder counts as trusted" in capsys.readouterr().err
    assert run_command([*listing, "--trust"]) == FINE
    kept = user_home / "data" / "trust.broken.json"
    assert kept.read_text(encoding="utf-8") == '{"folders": ["/ma'
    capsys.readouterr()
    assert run_command(listing) == FINE
    assert not capsys.readouterr().err


def test_a_run_in_a_trusted_folder_goes_on_where_nothing_can_be_kept(
    tmp_path: Path, user_home: Path, server: ChatServer
) -> None:
    """No byte can be written in the child, as on a full disk."""
    resource = pytest.importorskip("resource")
    path = prompt(tmp_path, "", "user:\nHi\n", server)
    TrustStore().trust(tmp_path)
    before = (user_home / "data" / "trust.json").read_bytes()
    done = subprocess.run(
        [sys.executable, "-m", "studio", "run", path],
        capture_output=True,
        text=True,
        check=False,
        cwd=Path(__file__).resolve().parents[2],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)),
    )
    assert done.returncode == FINE, done.stderr
    assert "the run is not saved in the history" in done.stderr
    assert len(server.requests) == 1
    assert (user_home / "data" / "trust.json").read_bytes() == before
