"""The window against a hostile model server: each run ends, and the window goes on."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from tests.support.chat_server import ChatServer, chat_server, streamed
from tests.support.hostile_answers import HASTE, HOSTILE
from tests.support.planted import bytes_below

KEY = "planted-key-0123456789abcdef"
MOST_BYTES = 200 * 1024 * 1024
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as made:
        yield made


@pytest.fixture
def prompt(
    tmp_path: Path, user_home: Path, server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("PLANTED_MODEL_KEY", KEY)
    (user_home / "config").mkdir()
    (user_home / "config" / "connections.toml").write_text(
        'default = "Far"\n\n[[connection]]\nname = "Far"\nkind = "compatible"\nmodel = "m"\n'
        f'base_url = "{server.url}"\nkey = "${{env:PLANTED_MODEL_KEY}}"\n{HASTE}',
        encoding="utf-8",
    )
    path = tmp_path / "project" / "x.prompty"
    path.parent.mkdir()
    path.write_text("---\nname: x\n---\nuser:\nHi\n", encoding="utf-8")
    return path


def memory() -> int:
    """Return the bytes of this process in memory; 0 where the system does not say."""
    place = Path("/proc/self/statm")
    if not place.exists():
        return 0
    return int(place.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


def test_every_run_ends_and_the_window_goes_on(
    qtbot: QtBot,
    user_home: Path,
    server: ChatServer,
    prompt: Path,
    open_workbench: Callable[[Path], Workbench],
) -> None:
    workbench = open_workbench(prompt)

    def run() -> str:
        """Run to the answer, or to the error at which the run waits; return which it was."""
        workbench.run_coordinator.start(at_entry=False)
        qtbot.waitUntil(has_ended, timeout=60_000)
        state = workbench.run.state
        assert state is not None
        error = state.error
        workbench.run_pane.commands.stop()
        qtbot.waitUntil(lambda: not workbench.run.is_live)
        return error.kind if error is not None else state.status

    def has_ended() -> bool:
        state = workbench.run.state
        return state is not None and (state.error is not None or not workbench.run.is_live)

    server.always(streamed("Hello."))
    assert run() == "done"
    rest = memory()
    for name, answer in HOSTILE.items():
        server.always(answer)
        assert run(), name
        if "HOSTILE_MEMORY" in os.environ:  # `make chaos`: in a process that ran nothing before
            assert memory() - rest < MOST_BYTES, name
    server.always(streamed("Hello again."))
    assert run() == "done"
    qtbot.waitUntil(lambda: workbench.is_settled)
    assert [where for where, data in bytes_below(user_home) if KEY.encode() in data] == []
