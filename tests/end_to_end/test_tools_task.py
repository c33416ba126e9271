"""Tools in the real window: a file opened, its folder trusted, a tool tried, mocked, inserted."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QMessageBox
from pytestqt.qtbot import QtBot

from studio.ui.inputs.fields import NumberField
from studio.ui.tools.answer_dialog import AnswerDialog
from studio.ui.workbench import Workbench
from tests.end_to_end.conftest import WAIT_MS

Open = Callable[[Path], Workbench]

TOOLS = '''
def add(a: int, b: int = 2) -> int:
    """Add two numbers.

    Args:
        a: The first.
        b: The second.
    """
    return a + b


def hang() -> None:
    while True:
        pass


def leave() -> None:
    import os

    os._exit(3)


def flood() -> str:
    return "x" * 100_000_000


def chatter() -> str:
    for _ in range(1000):
        print('{"jsonrpc": "2.0", "id": 1, "result": {}}')
    return "said"


def multiply_self() -> str:
    import os, time

    if os.fork() == 0:
        time.sleep(600)
    return "forked"


def listen() -> str:
    return repr(input())
'''
PROMPT = """---
name: task
metadata:
  agent:
    tools: [tools.py]
    tool_seconds: 3
---
system:
You may use tools.
"""


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    folder = tmp_path / "work"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    path = folder / "task.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    return path


@pytest.fixture
def agreed(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the person was asked, and agreed to."""
    asked: list[str] = []

    def agree(_: object, __: str, text: str, *___: object) -> QMessageBox.StandardButton:
        asked.append(text)
        return QMessageBox.StandardButton.Yes

    monkeypatch.setattr(QMessageBox, "question", agree)
    return asked


def trust(qtbot: QtBot, workbench: Workbench) -> None:
    """Take the notice's offer."""
    notices = workbench.window.notices.notices
    offer = next(notice for notice in notices if notice.key == "trust").offers[0]
    offer.act()
    qtbot.waitUntil(lambda: workbench.tools.registry.entry("add") is not None, timeout=WAIT_MS)


def choose(qtbot: QtBot, workbench: Workbench, name: str) -> None:
    workbench.window.docks.show("tools")

    def is_chosen() -> bool:
        # The registry is new in the loop's thread a moment before the pane shows it.
        workbench.tools_pane.choose(name)
        entry = workbench.tools_pane.detail.entry
        return entry is not None and entry.name == name

    qtbot.waitUntil(is_chosen, timeout=WAIT_MS)


def call(qtbot: QtBot, workbench: Workbench) -> None:
    panel = workbench.tools_pane.detail.try_panel
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not workbench.tools.is_trying, timeout=WAIT_MS)


def mock(workbench: Workbench, title: str) -> None:
    combo = workbench.tools_pane.detail.mock.kind
    row = next(row for row in range(combo.count()) if title in combo.itemText(row))
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def test_trust_try_mock_and_insert(
    qtbot: QtBot, prompt: Path, open_workbench: Open, agreed: list[str]
) -> None:
    workbench = open_workbench(prompt)
    pane, tools = workbench.tools_pane, workbench.tools
    assert tools.registry.entries == ()
    trust(qtbot, workbench)
    assert str(prompt.parent) in agreed[0]
    assert not [notice for notice in workbench.window.notices.notices if notice.key == "trust"]

    # Tried by its form.
    choose(qtbot, workbench, "add")
    panel = pane.detail.try_panel
    field = panel.form.rows["a"].editor
    assert isinstance(field, NumberField)
    qtbot.keyClicks(field.line, "40")
    call(qtbot, workbench)
    assert panel.result.toPlainText() == "42"

    # Mocked, and what each protocol sends stays the same.
    forms = [view.toPlainText() for view in pane.detail.forms.views.values()]
    assert len(forms) == 5
    assert all("add" in form for form in forms)
    mock(workbench, "Fixed value")
    qtbot.keyClicks(pane.detail.mock.text, "1000")
    qtbot.waitUntil(lambda: tools.registry.entry("add").state == "mocked", timeout=WAIT_MS)
    call(qtbot, workbench)
    assert panel.result.toPlainText() == "1000"
    assert [view.toPlainText() for view in pane.detail.forms.views.values()] == forms
    assert panel.history.count() == 2

    # Answered by the person.
    mock(workbench, "Ask me")
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(workbench.window.findChildren(AnswerDialog)), timeout=WAIT_MS)
    dialog = workbench.window.findChildren(AnswerDialog)[0]
    qtbot.keyClicks(dialog.text, "seven")
    qtbot.mouseClick(dialog.give, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tools.is_trying, timeout=WAIT_MS)
    assert panel.result.toPlainText() == "seven"
    mock(workbench, "The tool itself")

    # Inserted into the document, as one step.
    page = workbench.window.tabs.current
    assert page is not None
    qtbot.mouseClick(pane.detail.declare, Qt.MouseButton.LeftButton)
    assert "name: add" in page.editor.text()
    qtbot.waitUntil(lambda: tools.registry.entry("add").declared, timeout=WAIT_MS)
    page.editor.undo()
    assert page.editor.text() == PROMPT

    # Loaded again when saved.
    (prompt.parent / "tools.py").write_text(TOOLS.replace("def add", "def plus"), encoding="utf-8")
    qtbot.waitUntil(lambda: tools.registry.entry("plus") is not None, timeout=WAIT_MS)

    # Its definition.
    choose(qtbot, workbench, "plus")
    qtbot.mouseClick(pane.detail.definition, Qt.MouseButton.LeftButton)
    page = workbench.window.tabs.current
    assert page is not None
    assert page.editor.text().startswith("\ndef plus")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_hostile_tools_end_in_named_states(
    qtbot: QtBot, prompt: Path, open_workbench: Open, agreed: list[str]
) -> None:
    workbench = open_workbench(prompt)
    trust(qtbot, workbench)
    endings = {
        "hang": "Stopped: it took too long",
        "leave": "The tool's process crashed",
        "flood": "Done",
        "chatter": "Done",
        "multiply_self": "Done",
        "listen": "The tool failed",
        "add": "Done",
    }
    panel = workbench.tools_pane.detail.try_panel
    for name, words in endings.items():
        choose(qtbot, workbench, name)
        if name == "add":
            panel.form.set_values({"a": 1})
        call(qtbot, workbench)
        assert panel.status.text().startswith(words), name
    outcome = panel.result.toPlainText()
    assert outcome == "3"
    assert QApplication.activeWindow() is workbench.window
    folder = os.environ.get("TOOLS_SHOTS")
    if folder:
        _take_pictures(qtbot, workbench, Path(folder))


def _take_pictures(qtbot: QtBot, workbench: Workbench, folder: Path) -> None:
    workbench.tools_pane.resize(520, 760)
    for theme in ("light", "dark"):
        workbench.window.actions_by_id[f"view.{theme}"].trigger()
        for page in (0, 2):
            workbench.tools_pane.detail.tabs.setCurrentIndex(page)
            qtbot.wait(50)
            workbench.window.grab().save(str(folder / f"tools-{theme}-{page}.png"))
        workbench.tools_pane.sources_button.setChecked(True)
        qtbot.wait(50)
        workbench.window.grab().save(str(folder / f"tools-{theme}-sources.png"))
        workbench.tools_pane.sources_button.setChecked(False)
