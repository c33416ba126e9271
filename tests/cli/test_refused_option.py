"""An option that the server refuses, on the command line: said by the run, and by its history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from tests.support.chat_server import chat_server, failure, streamed


def test_a_run_and_its_history_say_what_was_left_out(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "warm.prompty"
    prompt.write_text(
        "---\nname: warm\nmodel: {options: {temperature: 0.5}}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    told = "The server does not accept 'temperature': 0.5 is left out."
    with chat_server() as server:
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(
            'default = "s"\n[[connection]]\nname = "s"\nkind = "compatible"\nmodel = "m"\n'
            f"base_url = {json.dumps(server.url)}\n",
            encoding="utf-8",
        )
        said = "Unsupported parameter: 'temperature' is not supported with this model."
        server.script(failure(400, said, "unsupported_parameter", "temperature"), streamed("Hi."))
        for asked in (2, 3):  # the second run asks without it at once, and says so too
            server.always(streamed("Hi."))
            assert run_command(["run", str(prompt)]) == FINE
            out, err = capsys.readouterr()
            assert (out.strip(), told in err) == ("Hi.", True)
            assert len(server.requests) == asked
        assert run_command(["request", str(prompt)]) == FINE
        out, err = capsys.readouterr()
        assert (json.loads(out)["model"], told in err) == ("m", True)
        assert "temperature" not in json.loads(out)
    assert run_command(["runs", "list"]) == FINE
    run = capsys.readouterr().out.split()[0]
    assert run_command(["runs", "show", run]) == FINE
    assert f"Warning: {told}" in capsys.readouterr().out


def test_a_request_has_the_connection_of_its_folder_as_a_run_has(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "named.prompty"
    prompt.write_text(
        "---\nname: n\nmodel: {connection: {kind: reference, name: theirs}}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    folders = f"[folders]\n{json.dumps(str(tmp_path.resolve()))} = 'mine'\n"
    (config / "connections.toml").write_text(
        'default = "Embedded model"\n'
        '[[connection]]\nname = "mine"\nkind = "anthropic"\nmodel = "claude-x"\n'
        '[[connection]]\nname = "other"\nkind = "compatible"\nmodel = "m2"\n'
        f'base_url = "http://127.0.0.1:9/v1"\n{folders}',
        encoding="utf-8",
    )

    def body(*more: str) -> tuple[dict[str, object], str]:
        assert run_command(["request", str(prompt), *more]) == FINE
        out, err = capsys.readouterr()
        return json.loads(out), err

    made, err = body()
    assert (made["model"], "max_tokens" in made) == ("claude-x", True), "Anthropic's form"
    assert "'theirs'" in err
    assert body("--connection", "other")[0]["model"] == "m2"
    assert body("-m", "claude-y")[0]["model"] == "claude-y"
    (config / "connections.toml").write_text("", encoding="utf-8")
    assert "Nothing is sent" in body()[1]
