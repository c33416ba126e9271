"""A server in the real window: pasted, tried, added to the prompt, ticked, edited, removed."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.prompty.tool_spec import ToolId
from studio.ui.app.workbench import Workbench
from studio.ui.tools.add_server import AddServerDialog

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
    dialog.address.setPlainText(json.dumps({"mcpServers": {"notes": entry}}))
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
