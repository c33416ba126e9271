"""Where tools come from, in the pane: servers with all they have, their log, restart, trust."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton, QWidget
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.tools.registry import SourceStatus
from studio.core.tools.source import ServerOffer
from studio.core.tools.trust.store import TrustStore
from studio.ui.style.theme import DARK
from studio.ui.tools.pane import ToolsPane
from studio.ui.tools.sources_page import SourcesPage
from studio.viewmodels.app.background import Background
from studio.viewmodels.tools.controller import ToolsController
from tests.support.themes import wear
from tests.support.tool_ids import tool_id

SERVER = '''
import os, sys
from mcp.server.mcpserver import MCPServer

server = MCPServer("weather", version="1.2", instructions="Cities only.")
print("server starts", file=sys.stderr, flush=True)

@server.tool()
def forecast(city: str) -> str:
    """The forecast."""
    print("asked for", city, file=sys.stderr, flush=True)
    return str(os.getpid())

@server.prompt()
def greet(name: str) -> str:
    """Greet somebody."""
    return name

@server.resource("note://one", description="The only note")
def note() -> str: return "1"

server.run()
'''
DOC = """---
metadata:
  agent:
    mcp_servers: [weather]
---
system:
Hello
"""


def button(block: QWidget, words: str) -> QPushButton:
    return next(each for each in block.findChildren(QPushButton) if each.text() == words)


@pytest.fixture
def controller(qapp: object, tmp_path: Path) -> Iterator[ToolsController]:
    background = Background()
    trust = TrustStore(tmp_path / "data" / "trust.json")
    trust.trust(tmp_path)
    made = ToolsController(background, trust)
    yield made
    made.close()
    background.stop()


@pytest.fixture
def pane(qtbot: QtBot, controller: ToolsController) -> ToolsPane:
    pane = ToolsPane()
    controller.registry_changed.connect(pane.show_registry)
    controller.trial_changed.connect(pane.detail.try_panel.show_trial)
    pane.detail.try_panel.request_try.connect(controller.trials.start)
    pane.sources.requests.restart.connect(controller.restart)
    pane.sources.requests.start.connect(controller.start_server)
    pane.sources.request_logs.connect(controller.read_logs)
    qtbot.addWidget(pane)
    pane.resize(520, 760)
    pane.show()
    return pane


def test_a_server_with_all_it_has_its_log_and_a_restart(
    qtbot: QtBot, controller: ToolsController, pane: ToolsPane, tmp_path: Path
) -> None:
    (tmp_path / "weather.py").write_text(SERVER, encoding="utf-8")
    command = {"command": sys.executable, "args": ["weather.py"]}
    (tmp_path / ".mcp.json").write_text(
        json.dumps({"mcpServers": {"weather": command, "spare": command}}), encoding="utf-8"
    )
    controller.set_document(parse(DOC, tmp_path / "a.prompty"))
    pane.bar.sources.setChecked(True)
    key = "mcp:weather"
    qtbot.waitUntil(lambda: key in pane.sources.blocks)
    block = pane.sources.blocks[key]
    for words in (
        "mcp: weather",
        "ready, 1 tool",
        "Version: 1.2",
        "Instructions: Cities only.",
        "Capabilities: prompts, resources, tools",
        "Prompts (1)",
        "greet: Greet somebody.",
        "Resources (1)",
        "note://one: The only note",
    ):
        assert words in block.text
    assert "not started" in pane.sources.blocks["mcp:spare"].text

    # The log grows while it is looked at, without the page being made anew.
    with qtbot.waitSignal(
        controller.trial_changed, check_params_cb=lambda trial: trial.outcome
    ) as first:
        pane.detail.try_panel.request_try.emit(tool_id(pane.registry, "forecast"), {"city": "Oslo"})
    qtbot.waitUntil(lambda: "asked for Oslo" in block.log.toPlainText())
    assert pane.sources.blocks[key] is block
    assert block.log.isVisible()

    # A restart is another process.
    qtbot.mouseClick(button(block, "Restart"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not controller.is_loading)
    with qtbot.waitSignal(
        controller.trial_changed, check_params_cb=lambda trial: trial.outcome
    ) as second:
        pane.detail.try_panel.request_try.emit(tool_id(pane.registry, "forecast"), {"city": "Rome"})
    assert first.args[0].outcome.text != second.args[0].outcome.text

    # A server that the prompt does not name runs when the person says so.
    qtbot.mouseClick(button(pane.sources.blocks["mcp:spare"], "Start"), Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "ready" in pane.sources.blocks["mcp:spare"].text)


@pytest.fixture
def page(qtbot: QtBot) -> SourcesPage:
    page = SourcesPage()
    qtbot.addWidget(page)
    page.resize(300, 500)
    page.show()
    return page


def test_states_lead_to_what_can_be_done(qtbot: QtBot, page: SourcesPage, tmp_path: Path) -> None:
    path = tmp_path / "tools.py"
    page.show_sources(
        (
            SourceStatus("python:a", "tools.py", "failed", "SyntaxError", path, 3),
            SourceStatus("mcp:b", "mcp: b", "available", "named in .mcp.json"),
            SourceStatus("python:c", "c.py", "untrusted", "not trusted", folder=tmp_path),
            SourceStatus(
                "mcp:d", "mcp: d", "ready", tools=2, offers=(ServerOffer("resource", "x://1"),)
            ),
        )
    )
    failed, waiting, untrusted, ready = page.blocks.values()
    assert "does not work" in failed.text
    with qtbot.waitSignal(page.requests.open) as opened:
        qtbot.mouseClick(button(failed, "Open"), Qt.MouseButton.LeftButton)
    assert opened.args == [path, 3]
    with qtbot.waitSignal(page.requests.start) as started:
        qtbot.mouseClick(button(waiting, "Start"), Qt.MouseButton.LeftButton)
    assert started.args == ["mcp:b"]
    assert not untrusted.findChildren(QPushButton), "what is not trusted is not started from here"
    assert "ready, 2 tools" in ready.text
    assert "x://1" in ready.text
    wear(DARK)
    assert "does not work" in page.blocks["python:a"].text


def test_calls_are_asked_about_for_the_folder_as_a_whole(
    qtbot: QtBot, page: SourcesPage, tmp_path: Path
) -> None:
    page.show_folder(tmp_path, "always")
    assert page.approval.currentText() == "Always ask"
    with qtbot.waitSignal(page.request_folder_approval) as chosen:
        qtbot.keyClick(page.approval, Qt.Key.Key_Down)
    assert chosen.args == ["once"]
