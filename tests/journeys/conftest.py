"""An empty home with one server of one's own, and the studio in a window of 1280 by 800."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from tests.support.chat_server import ChatServer, chat_server


@pytest.fixture
def server(user_home: Path) -> Iterator[ChatServer]:
    """The server that answers, on loopback; it keeps every request."""
    with chat_server() as running:
        config = user_home / "config"
        config.mkdir(parents=True, exist_ok=True)
        (config / "connections.toml").write_text(
            'default = "Mine"\n\n[[connection]]\nname = "Mine"\nkind = "compatible"\n'
            f'base_url = "{running.url}"\nmodel = "scripted-1"\n',
            encoding="utf-8",
        )
        yield running


@pytest.fixture
def bench(qtbot: QtBot, server: ChatServer) -> Iterator[Workbench]:
    """The studio, with nothing open."""
    made = Workbench(build_services(user_paths()))
    made.window.resize(1280, 800)
    with qtbot.waitActive(made.window):
        made.window.show()
        made.window.activateWindow()
    yield made
    for page in made.window.tabs.pages():
        page.editor.document().setModified(False)
    made.window.close()
    made.close()
    made.window.deleteLater()
