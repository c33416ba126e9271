"""A server in the real window: pasted, tried, added to the prompt, ticked, edited, removed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.cli.main import run_command
from studio.cli.terminal import FINE
from studio.core.prompty.document import ToolId
from studio.ui.app.workbench import Workbench
from studio.ui.tools.add_server import AddServerDialog
from tests.support.tool_ids import tool_id

Open = Callable[[Path], Workbench]
SERVER = """
from mcp.server.mcpserver import MCPServer

server = MCPServer("notes")


@server.tool()
def look() -> str:
    return "seen"


@server.tool()
def write() -> str:
    return "written"


server.run()
"""


PETS = {
    "openapi": "3.1.0",
    "info": {"title": "Pets", "version": "1"},
    "servers": [{"url": "http://127.0.0.1:9"}],
    "paths": {"/pets": {"get": {"operationId": "list"}, "delete": {"operationId": "clear"}}},
}
AGENT = """---
name: agent
model: {id: m, provider: openai}
metadata: {agent: {tools: [tools.py]}}
tools:
  - {name: pets, kind: openapi, specification: pets.json, connection: {kind: anonymous}}
  - {name: ask, kind: function, description: Ask.}
---
user:
Hi
"""


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "server.py").write_text(SERVER, encoding="utf-8")
    path = folder / "task.prompty"
    path.write_text("---\nname: task\n---\nuser:\nHi\n", encoding="utf-8")
    return path


def dialog_of(qtbot: QtBot, workbench: Workbench) -> AddServerDialog:
    qtbot.waitUntil(lambda: bool(workbench.window.findChildren(AddServerDialog)))
    return workbench.window.findChildren(AddServerDialog)[-1]


def ticked(workbench: Workbench) -> list[str]:
    return [spec.name for spec in workbench.tools.registry.specs]


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_a_pasted_server_is_tried_added_ticked_edited_and_removed(
    qtbot: QtBot, prompt: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(prompt)
    workbench.tools.trust_folder(prompt.parent)
    page, pane = workbench.window.tabs.current, workbench.tools_pane
    assert page is not None

    # Pasted and tried: its tools are shown, one is not wanted.
    pane.sources.request_new_server.emit()
    dialog = dialog_of(qtbot, workbench)
    entry = {"command": sys.executable, "args": ["server.py"]}
    dialog.form.widgets["address"].setPlainText(json.dumps({"mcpServers": {"notes": entry}}))
    dialog.add_button.click()
    qtbot.waitUntil(dialog.tools.isVisible)
    assert [dialog.tools.item(row).text() for row in range(2)] == ["look", "write"]
    dialog.tools.item(1).setCheckState(Qt.CheckState.Unchecked)
    dialog.add_button.click()

    # Written into the folder's file and the prompt, and ready without another question.
    file = prompt.parent / ".mcp.json"
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {"notes": entry}}
    assert "allowedTools:\n      - look\n" in page.editor.text()
    qtbot.waitUntil(lambda: ticked(workbench) == ["look"])

    # A tick is written, too.
    pane.request_change.emit(ToolId("mcp:notes", "write"), {"enabled": True})
    qtbot.waitUntil(lambda: ticked(workbench) == ["look", "write"])
    assert "allowedTools" not in page.editor.text()

    # Edited and removed in the same form.
    status = next(each for each in workbench.tools.registry.sources if each.key == "mcp:notes")
    pane.sources.requests.edit.emit(status)
    qtbot.waitUntil(lambda: dialog_of(qtbot, workbench).windowTitle() == "Edit MCP server")
    dialog_of(qtbot, workbench).remove_button.click()
    assert json.loads(file.read_text(encoding="utf-8")) == {"mcpServers": {}}

    def is_gone() -> bool:
        found = [each for each in workbench.tools.registry.sources if each.key == "mcp:notes"]
        return [each.state for each in found] == ["failed"]

    qtbot.waitUntil(is_gone)


def test_ticks_of_functions_and_operations_are_what_the_command_line_sends(
    qtbot: QtBot, tmp_path: Path, open_workbench: Open, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tools.py").write_text("def add(a: int) -> int:\n    return a\n", encoding="utf-8")
    (folder / "pets.json").write_text(json.dumps(PETS), encoding="utf-8")
    path = folder / "agent.prompty"
    path.write_text(AGENT, encoding="utf-8")
    workbench = open_workbench(path)
    workbench.tools.trust_folder(folder)
    page, pane = workbench.window.tabs.current, workbench.tools_pane
    assert page is not None
    qtbot.waitUntil(lambda: ticked(workbench) == ["ask", "list", "clear"])

    # At once, and faster than the text is read again after the first of them.
    for tool, is_on in (
        (ToolId("openapi:pets", "clear"), False),
        (ToolId("", "ask"), False),
        (tool_id(workbench.tools.registry, "add"), True),
    ):
        pane.request_change.emit(tool, {"enabled": is_on})
    qtbot.waitUntil(lambda: ticked(workbench) == ["add", "list"])
    qtbot.waitUntil(lambda: not workbench.tools.is_loading)
    assert ticked(workbench) == ["add", "list"]
    path.write_text(page.editor.text(), encoding="utf-8")
    capsys.readouterr()
    assert run_command(["request", str(path), "--trust"]) == FINE
    body = json.loads(capsys.readouterr().out)
    names = {each["function"]["name"] for each in body["tools"]}
    assert names == {"add", "list"}

    # Back as it was: nothing of it is left in the file.
    for tool, is_on in ((ToolId("openapi:pets", "clear"), True), (ToolId("", "ask"), True)):
        pane.request_change.emit(tool, {"enabled": is_on})
    assert "{add: true}" in page.editor.text()
