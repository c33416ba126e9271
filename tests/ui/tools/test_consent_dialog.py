"""The questions before a stranger's files start something: shown whole, no by default."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.tools.trust.store import Doubt, Pin, TrustStore, Want
from studio.ui.tools.pane import ConsentDialog, ToolsPane, covered_text, doubt_text
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.controller import ToolsController
from tests.support.labels import labels_read_as_rich
from tests.support.modal import answering
from tests.support.tool_ids import tool_id

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather")

@server.tool()
def forecast(city: str) -> str:
    return city

server.run()
"""
DOC = """---
name: a
metadata:
  agent:
    mcp_servers: [weather]
---
system:
Hello
"""


@pytest.fixture
def controller(qapp: object, tmp_path: Path) -> Iterator[ToolsController]:
    background = Background()
    trust = TrustStore(tmp_path / "data" / "trust.json")
    trust.trust(tmp_path, ())
    made = ToolsController(background, trust)
    yield made
    made.close()
    background.stop()


@pytest.fixture
def pane(qtbot: QtBot, controller: ToolsController) -> ToolsPane:
    pane = ToolsPane()
    controller.registry_changed.connect(pane.show_registry)
    pane.request_allow.connect(controller.allow_source)
    pane.detail.head.request_allow.connect(controller.allow_tool)
    qtbot.addWidget(pane)
    pane.resize(520, 760)
    pane.show()
    return pane


def write_server(folder: Path, *more: str) -> None:
    (folder / "weather.py").write_text(SERVER, encoding="utf-8")
    command = {"command": sys.executable, "args": ["weather.py", *more]}
    text = json.dumps({"mcpServers": {"weather": command}})
    (folder / ".mcp.json").write_text(text, encoding="utf-8")


def answered(ask: Callable[[], object], *, yes: bool) -> str:
    """Answer the question that comes; gives what it said."""
    said: list[str] = []

    def answer(dialog: ConsentDialog) -> None:
        said.append(f"{dialog.words.text()}\n{dialog.covered.toPlainText()}")
        assert dialog.refuse.isDefault()
        assert labels_read_as_rich(dialog) == []
        (dialog.agree if yes else dialog.refuse).click()

    with answering(ConsentDialog, answer):
        ask()
    return said[0]


def test_a_new_server_is_asked_about_and_so_is_a_changed_one(
    qtbot: QtBot, controller: ToolsController, pane: ToolsPane, tmp_path: Path
) -> None:
    write_server(tmp_path)
    controller.set_document(parse(DOC, tmp_path / "a.prompty"))
    qtbot.waitUntil(lambda: len(pane.banners.shown) == 1)
    assert "new in a trusted folder" in pane.banners.shown[0].text

    def ask() -> None:
        qtbot.mouseClick(pane.banners.shown[0], Qt.MouseButton.LeftButton)

    assert "weather.py" in answered(ask, yes=False)
    assert pane.model.rowCount() == 0
    answered(ask, yes=True)
    qtbot.waitUntil(lambda: pane.model.row_of(tool_id(pane.registry, "forecast")) == 0)
    assert not pane.banners.shown

    write_server(tmp_path, "--all")
    controller.reload()
    qtbot.waitUntil(lambda: len(pane.banners.shown) == 1)
    said = answered(lambda: pane.sources.requests.allow.emit("mcp:weather"), yes=True)
    before, _, now = said.partition("Now:")
    assert "weather.py\n" in before
    assert "weather.py --all" in now
    qtbot.waitUntil(lambda: pane.model.row_of(tool_id(pane.registry, "forecast")) == 0)
    # The same tool, but of another command: it says so, until the user allows it.
    pane.choose(tool_id(pane.registry, "forecast"))
    note = pane.detail.head.change
    assert note.isVisibleTo(pane)
    assert "--all" in note.difference.toPlainText()
    assert pane.model.index(0, 6).data() == "ask once (changed)"
    qtbot.mouseClick(note.button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not note.isVisibleTo(pane))
    assert pane.model.index(0, 6).data() == "ask once"


def test_what_is_covered_hides_nothing(tmp_path: Path) -> None:
    text = covered_text(
        (
            Want("command", "sh -c 'x'\n rm -rf ~ \u202e#", "mcp: a"),
            Want("variable", "KEY", ""),
            Want("variable", "KEY", ""),
            Want("address", "https://x.test", "openapi: <b>x</b>"),
            Want("file", "/tmp/tools.py", "tools.py"),
        )
    )
    assert "⟨U+000A⟩ rm -rf ~ ⟨U+202E⟩#" in text
    assert text.count("KEY") == 1
    assert "https://x.test   (openapi: <b>x</b>)" in text
    hidden = Doubt(Want("command", "a", "b", pin=Pin("2", ("a",))), Pin("1", ("a",)))
    assert "hidden value" in doubt_text(hidden), "a change that cannot be seen is said"
