"""`retries` of a connection is how often a run asks again, whatever went wrong and when."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from studio.cli.main import run_command
from studio.cli.terminal import PROBLEMS
from tests.support.chat_server import (
    Answer,
    ChatServer,
    chat_server,
    chunk,
    cut_body,
    events,
    failure,
    raw,
    silent,
)

HALF = [chunk({"content": "Half of "})]
CAUSES = {
    "refused": failure(500, retry_after="0"),
    "busy": failure(429, retry_after="0"),
    "hung up": raw(""),
    "silent": silent(),
    "stalled after it began": events(HALF, then=[silent()]),
    "ended after it began": events(HALF),
    "cut off after it began": cut_body(HALF),
}


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.mark.parametrize(
    ("cause", "retries"), [*((cause, 1) for cause in CAUSES), ("ended after it began", 0)]
)
def test_retries_are_counted(
    server: ChatServer, user_home: Path, tmp_path: Path, cause: str, retries: int
) -> None:
    answer: Answer = CAUSES[cause]
    server.always(answer)
    config = user_home / "config"
    config.mkdir(parents=True)
    # Only what has to be waited out is short; whatever else happens first is another cause.
    first = 0.3 if cause == "silent" else 120.0
    stall = 0.3 if cause.startswith("stalled") else 60.0
    (config / "connections.toml").write_text(
        f'default = "Here"\n\n[[connection]]\nname = "Here"\nkind = "compatible"\n'
        f'base_url = "{server.url}"\nmodel = "m"\nretries = {retries}\n'
        f"first_byte_seconds = {first}\nstall_seconds = {stall}\n",
        encoding="utf-8",
    )
    path = tmp_path / "p.prompty"
    path.write_text("---\nname: p\n---\nuser:\nHello\n", encoding="utf-8")
    assert run_command(["run", str(path)]) == PROBLEMS
    assert len(server.requests) == retries + 1
