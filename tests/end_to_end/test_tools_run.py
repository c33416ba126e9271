"""Tools in a run, in the real window: a request seen before it is sent, mocks, and no trust."""

from __future__ import annotations

import json
import sys
import threading
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QComboBox, QWidget
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.ui.app.workbench import Workbench
from studio.ui.tools.questions import AnswerDialog
from tests.support.model_choice import use_model
from tests.support.tool_ids import tool_id

Open = Callable[[Path], Workbench]
Scripted = Callable[..., None]

PETS = {
    "openapi": "3.0.0",
    "info": {"title": "Pets", "version": "1"},
    "components": {"securitySchemes": {"key": {"type": "apiKey", "in": "header", "name": "X-Key"}}},
    "security": [{"key": []}],
    "paths": {
        "/pets": {
            "post": {
                "operationId": "add_pet",
                "summary": "Add a pet.",
                "requestBody": {
                    "content": {
                        "application/json": {
                            "schema": {
                                "type": "object",
                                "properties": {"name": {"type": "string"}},
                                "required": ["name"],
                            }
                        }
                    }
                },
            }
        }
    },
}
TOOLS = '''
def add(a: int, b: int = 2) -> int:
    """Add two numbers."""
    return a + b


add.has_effects = False
'''
ADD = 'Thought: I add.\nAction: add\nArgs: {"a": 40}'
DONE = "Thought: I have it.\nFinal Answer: Done."


@pytest.fixture
def service() -> Iterator[tuple[str, list[tuple[str, str | None, str]]]]:
    """An address, and what was asked there: path, key, body."""
    heard: list[tuple[str, str | None, str]] = []

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"])).decode()
            heard.append((self.path, self.headers.get("X-Key"), body))
            self.send_response(201)
            self.send_header("Content-Length", "2")
            self.end_headers()
            self.wfile.write(b"ok")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    yield f"http://127.0.0.1:{server.server_address[1]}", heard
    server.shutdown()
    thread.join()
    server.server_close()


def write_prompt(folder: Path, front_matter: str) -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / "agent.prompty"
    path.write_text(
        f"---\nname: agent\n{front_matter}---\nsystem:\nUse the tools.\n\nuser:\nGo.\n",
        encoding="utf-8",
    )
    return path


@pytest.fixture
def agent(tmp_path: Path) -> Path:
    """A ReAct agent with a tool file."""
    path = write_prompt(
        tmp_path / "work", "metadata:\n  agent:\n    protocol: react\n    tools: [tools.py]\n"
    )
    path.with_name("tools.py").write_text(TOOLS, encoding="utf-8")
    return path


def load(qtbot: QtBot, workbench: Workbench, tool: str) -> None:
    """Trust the folder and choose a tool."""
    document = workbench.window.tabs.document
    assert document is not None
    assert document.source.path is not None
    workbench.tools.trust_folder(document.source.path.parent)
    qtbot.waitUntil(
        lambda: workbench.tools_pane.model.row_of(tool_id(workbench.tools.registry, tool)) >= 0
    )
    workbench.window.docks.show("tools")
    pane = workbench.tools_pane
    pane.choose(tool_id(pane.registry, tool))


def run(qtbot: QtBot, workbench: Workbench) -> None:
    page = workbench.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)


def pick(combo: QComboBox, title: str) -> None:
    """Choose an entry as a click on it would."""
    row = next(row for row in range(combo.count()) if title in combo.itemText(row))
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def stands_at(workbench: Workbench, place: str) -> bool:
    state = workbench.run.state
    return state is not None and state.pause is not None and state.pause.place == place


def observations(workbench: Workbench) -> list[str | None]:
    state = workbench.run.state
    assert state is not None
    return [call.observation for step in state.steps for call in step.calls]


def test_a_request_is_seen_before_a_run_sends_it(
    qtbot: QtBot,
    tmp_path: Path,
    open_workbench: Open,
    scripted: Scripted,
    service: tuple[str, list[tuple[str, str | None, str]]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PETS_KEY", "s3cret")
    address, heard = service
    path = write_prompt(
        tmp_path / "work",
        "tools:\n  - name: pets\n    kind: openapi\n    specification: pets.json\n"
        f"    connection: {{endpoint: '{address}', apiKey: '${{env:PETS_KEY}}'}}\n"
        "metadata:\n  agent:\n    protocol: react\n",
    )
    path.with_name("pets.json").write_text(json.dumps(PETS), encoding="utf-8")
    scripted('Thought: Add it.\nAction: add_pet\nArgs: {"body": {"name": "Rex"}}', DONE)
    workbench = open_workbench(path)
    load(qtbot, workbench, "add_pet")
    view = workbench.run_pane.side.request
    run(qtbot, workbench)
    qtbot.waitUntil(lambda: stands_at(workbench, PausePoint.TOOL_CALL))
    qtbot.waitUntil(view.isVisible)
    shown = view.text.toPlainText()
    assert shown.startswith(f"POST {address}/pets\nHost: {address.removeprefix('http://')}\n")
    assert shown.endswith(
        '\nX-Key: •••\nContent-Type: application/json\nContent-Length: 15\n\n{"name": "Rex"}'
    )
    assert heard == []
    approve = next(b for b in workbench.run_pane.actions_bar.buttons if b.text() == "Approve")
    qtbot.mouseClick(approve, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert heard == [("/pets", "s3cret", '{"name": "Rex"}')]
    assert not view.isVisible()


def test_the_person_answers_a_mocked_tool_of_a_run(
    qtbot: QtBot, agent: Path, open_workbench: Open, scripted: Scripted
) -> None:
    scripted(ADD, DONE)
    workbench = open_workbench(agent)
    load(qtbot, workbench, "add")
    pick(workbench.tools_pane.detail.mock.kind, "Ask me")
    qtbot.waitUntil(lambda: workbench.tools.registry.named("add").state == "mocked")
    run(qtbot, workbench)
    qtbot.waitUntil(lambda: bool(workbench.window.findChildren(AnswerDialog)))
    dialog = workbench.window.findChildren(AnswerDialog)[0]
    qtbot.keyClicks(dialog.text, "a hundred")
    qtbot.mouseClick(dialog.give, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert observations(workbench) == ["a hundred"]


def test_answers_of_a_former_run_stand_in_for_a_tool(
    qtbot: QtBot, agent: Path, open_workbench: Open, scripted: Scripted
) -> None:
    scripted(ADD, DONE)
    workbench = open_workbench(agent)
    load(qtbot, workbench, "add")
    run(qtbot, workbench)
    qtbot.waitUntil(lambda: not workbench.run.is_live and bool(workbench.run.state))
    assert observations(workbench) == ["42"]

    # The tool's file changes; the recorded answer does not.
    agent.with_name("tools.py").write_text(TOOLS.replace("a + b", "a - b"), encoding="utf-8")
    mock = workbench.tools_pane.detail.mock
    pick(mock.kind, "Recorded answers")
    qtbot.waitUntil(lambda: "1 recorded answer" in mock.runs.currentText())
    panel = workbench.tools_pane.detail.try_panel
    panel.form.set_values({"a": 40})
    qtbot.waitUntil(lambda: workbench.tools.registry.named("add").state == "mocked")
    workbench.tools_pane.detail.try_panel.request_try.emit(
        tool_id(workbench.tools.registry, "add"), {"a": 40}
    )
    qtbot.waitUntil(lambda: panel.answer.result.toPlainText() == "42")
    workbench.tools_pane.detail.try_panel.request_try.emit(
        tool_id(workbench.tools.registry, "add"), {"a": 1}
    )
    qtbot.waitUntil(lambda: "no recorded answer" in panel.answer.result.toPlainText())


def test_nothing_of_an_untrusted_folder_runs_or_is_read(
    qtbot: QtBot,
    tmp_path: Path,
    open_workbench: Open,
    scripted: Scripted,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Planted canaries: opening, previewing, running and looking at everything wakes none."""
    monkeypatch.setenv("CANARY", "sings")
    mark = tmp_path / "ran"
    path = write_prompt(
        tmp_path / "work",
        "model: {id: m, connection: {kind: key, endpoint: '${env:CANARY}', "
        "apiKey: '${env:CANARY}'}}\ndescription: '${file:canary.txt}'\n"
        "metadata:\n  trusted: true\n  agent:\n    protocol: react\n    trust: true\n"
        "    tools: [tools.py]\n    mcp_servers: [evil]\n",
    )
    path.with_name("canary.txt").write_text("it sings", encoding="utf-8")
    write = f"open({str(mark)!r}, 'w').close()"
    path.with_name("tools.py").write_text(f"{write}\n{TOOLS}", encoding="utf-8")
    path.with_name(".mcp.json").write_text(
        json.dumps({"mcpServers": {"evil": {"command": sys.executable, "args": ["-c", write]}}}),
        encoding="utf-8",
    )
    path.with_name("trust.json").write_text(
        json.dumps({"folders": [str(path.parent)]}), encoding="utf-8"
    )
    scripted(ADD, DONE)
    workbench = open_workbench(path)
    window = workbench.window
    [notice] = [notice for notice in window.notices.notices if notice.key == "trust"]
    assert str(path.parent) in notice.where
    [banner] = workbench.tools_pane.banners.shown
    assert "tools.py, mcp: evil will not run" in banner.text
    for page in range(workbench.preview_pane.tabs.count()):
        workbench.preview_pane.tabs.setCurrentIndex(page)
    workbench.tools_pane.bar.sources.setChecked(True)
    workbench.tools_pane.bar.reload.click()
    qtbot.waitUntil(lambda: not workbench.tools.is_loading)
    use_model(workbench.connections, "Script")  # its own connection is not there, and not replaced
    run(qtbot, workbench)
    refused = "files are not read in an untrusted folder"
    qtbot.waitUntil(lambda: any(refused in each.what for each in window.notices.notices))
    assert workbench.run.state is None
    assert not mark.exists()
    assert workbench.connections.choice.connection.name == "Script", "its ${env:} is not read"
    everything = " ".join(
        label
        for widget in window.findChildren(QWidget)
        for label in [
            getattr(widget, "text", str)() if callable(getattr(widget, "text", None)) else ""
        ]
        if isinstance(label, str)
    )
    assert "sings" not in everything
    assert not workbench.trust.is_trusted(path)


def test_variables_alone_are_said_to_be_unread(
    qtbot: QtBot, tmp_path: Path, open_workbench: Open
) -> None:
    path = write_prompt(tmp_path / "work", "description: '${env:HOME}'\n")
    workbench = open_workbench(path)
    [notice] = [item for item in workbench.window.notices.notices if item.key == "trust"]
    assert "no variables are read" in notice.hint
    [banner] = workbench.tools_pane.banners.shown
    assert (
        banner.text
        == f"{path.parent} is not trusted: no ${{env:}} and no ${{file:}} of it is read."
    )
    workbench.tools.trust_folder(path.parent)
    qtbot.waitUntil(lambda: not workbench.tools_pane.banners.shown)
    assert not [item for item in workbench.window.notices.notices if item.key == "trust"]


SLOW = '''
import time


def wait(name: str, until: str) -> str:
    """Wait for a file."""
    print("waiting for", name)
    while not __import__("pathlib").Path(until).exists():
        time.sleep(0.02)
    return f"{name} came"


wait.has_effects = False
'''


def test_calls_at_once_are_seen_at_work_and_stopped_one_by_one(
    qtbot: QtBot, tmp_path: Path, open_workbench: Open, scripted: Scripted
) -> None:
    path = write_prompt(
        tmp_path / "work",
        "metadata:\n  agent:\n    tools: [tools.py]\n    parallel_tool_calls: true\n",
    )
    path.with_name("tools.py").write_text(SLOW, encoding="utf-8")
    come = tmp_path / "come"
    calls = [
        {"id": name, "name": "wait", "arguments": json.dumps({"name": name, "until": str(until)})}
        for name, until in (("never", tmp_path / "none"), ("soon", come))
    ]
    scripted({"tool_calls": calls}, "Done.")
    workbench = open_workbench(path)
    load(qtbot, workbench, "wait")
    rows = workbench.run_pane.side.running.rows
    run(qtbot, workbench)
    qtbot.waitUntil(lambda: len(rows) == 2)
    for number, name in enumerate(("never", "soon")):
        said = rows[number].output_label
        qtbot.waitUntil(lambda said=said, name=name: said.whole == f"waiting for {name}")
    assert rows[0].isVisible()
    assert rows[0].clock.text().endswith((" ms", " s"))
    qtbot.mouseClick(rows[0].stop_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: [*rows] == [1])
    come.write_text("", encoding="utf-8")
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert observations(workbench) == ["Error: The user stopped this call.", "soon came"]
    assert not workbench.run_pane.side.running.isVisible()
