"""An option that the server refuses, on the command line: said by the run, and by its history."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from studio.cli.exit_codes import FINE
from studio.cli.main import run_command
from tests.support.chat_server import chat_server, failure, streamed


def test_a_run_and_its_history_say_what_was_left_out(
    user_home: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    prompt = tmp_path / "warm.prompty"
    prompt.write_text(
        "---\nname: warm\nmodel: {options: {temperature: 0.5}}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    told = "The server takes no 'temperature': 0.5 is left out."
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
    assert run_command(["runs", "list"]) == FINE
    run = capsys.readouterr().out.split()[0]
    assert run_command(["runs", "show", run]) == FINE
    assert f"Warning: {told}" in capsys.readouterr().out
