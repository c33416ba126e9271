"""Tools in the real window: a file opened, its folder trusted, a tool tried, mocked, inserted."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtWidgets import QApplication, QFileDialog
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.ui.inputs.fields import NumberField
from studio.ui.tools.calls_dialog import CallsDialog
from studio.ui.tools.pane import ConsentDialog
from studio.ui.tools.questions import AnswerDialog
from tests.core.tools.conftest import is_running
from tests.support.modal import answering
from tests.support.tool_ids import tool_id

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


def spin(mark: str) -> None:
    import os

    with open(mark, "w") as file:
        file.write(str(os.getpid()))
    while True:
        pass
'''
PROMPT = """---
name: task
metadata:
  agent:
    tools: [tools.py]
    tool_seconds: 600
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


def back_to(qtbot: QtBot, workbench: Workbench) -> None:
    """Where nothing manages windows the keyboard has to be given back after a dialog."""
    workbench.window.activateWindow()
    qtbot.waitUntil(workbench.window.isActiveWindow)


def agreed(ask: Callable[[], object]) -> str:
    """Say yes to the question that comes; gives what it said."""
    asked: list[str] = []

    def agree(dialog: ConsentDialog) -> None:
        asked.append(f"{dialog.words.text()}\n{dialog.covered.toPlainText()}")
        dialog.agree.click()

    with answering(ConsentDialog, agree):
        ask()
    return asked[0]


def trust(qtbot: QtBot, workbench: Workbench) -> str:
    """Take the notice's offer; gives what the person was asked."""
    bar = workbench.window.notices
    offer = next(notice for notice in bar.notices if notice.key == "trust").offers[0]
    said = agreed(offer.act)
    # The registry is new in the loop's thread a moment before the window is told.
    qtbot.waitUntil(lambda: not any(each.key == "trust" for each in bar.notices))
    assert workbench.tools.registry.named("add") is not None
    return said


def choose(qtbot: QtBot, workbench: Workbench, name: str) -> None:
    workbench.window.docks.show("tools")

    def is_chosen() -> bool:
        # The registry is new in the loop's thread a moment before the pane shows it.
        workbench.tools_pane.choose(tool_id(workbench.tools_pane.registry, name))
        entry = workbench.tools_pane.detail.entry
        return entry is not None and entry.name == name

    qtbot.waitUntil(is_chosen)


def call(qtbot: QtBot, workbench: Workbench) -> None:
    panel = workbench.tools_pane.detail.try_panel
    QApplication.processEvents()  # what was shown just now gets its place
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not workbench.tools.trials.is_running)


def mock(workbench: Workbench, title: str) -> None:
    combo = workbench.tools_pane.detail.mock.kind
    row = next(row for row in range(combo.count()) if title in combo.itemText(row))
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def click_tab(qtbot: QtBot, workbench: Workbench, title: str) -> None:
    tabs = workbench.tools_pane.detail.tabs
    row = next(row for row in range(tabs.count()) if tabs.tabText(row) == title)
    qtbot.mouseClick(tabs, Qt.MouseButton.LeftButton, pos=tabs.tabRect(row).center())


def sent_forms(qtbot: QtBot, workbench: Workbench) -> dict[str, str]:
    """The forms that are in sight on their page, by title."""
    click_tab(qtbot, workbench, "As sent")
    views = workbench.tools_pane.detail.forms.views
    assert all(view.isVisible() for view in views.values())
    forms = {title: view.toPlainText() for title, view in views.items()}
    click_tab(qtbot, workbench, "Try it")
    return forms


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_the_task_from_the_python_file_on(qtbot: QtBot, prompt: Path, open_workbench: Open) -> None:
    """Issue text: open a Python tool file, trust the folder, try a tool by its form, switch it to a
    mock, see both in the forms that each protocol will send. By keys and clicks."""
    workbench = open_workbench(prompt)
    window, pane, tools = workbench.window, workbench.tools_pane, workbench.tools
    path = prompt.with_name("tools.py")

    window.tabs.open(path)
    qtbot.waitUntil(
        lambda: window.tabs.document is not None and window.tabs.document.source.path == path,
    )
    assert not window.tabs.document.problems
    back_to(qtbot, workbench)
    qtbot.keyClick(
        window,
        Qt.Key.Key_T,
        Qt.KeyboardModifier.ControlModifier | Qt.KeyboardModifier.AltModifier,
    )
    qtbot.waitUntil(pane.search.hasFocus)
    qtbot.waitUntil(lambda: bool(pane.banners.shown))
    assert tools.registry.entries == (), "nothing of the folder runs before it is trusted"

    # Trusted, with one question.
    said = agreed(lambda: qtbot.mouseClick(pane.banners.shown[0], Qt.MouseButton.LeftButton))
    assert str(path.parent) in said
    assert str(path.with_name("tools.py")) in said, "what it covers is shown"
    qtbot.waitUntil(lambda: pane.model.row_of(tool_id(pane.registry, "add")) >= 0)
    assert not pane.banners.shown

    # Found by its name, opened by a click, tried by its form.
    qtbot.keyClicks(pane.search, "add")
    box = pane.table.visualRect(pane.model.index(0, 0))
    qtbot.mouseClick(
        pane.table.viewport(), Qt.MouseButton.LeftButton, pos=box.center() + QPoint(20, 0)
    )
    panel = pane.detail.try_panel
    # The tools are loaded once more meanwhile, and the form is made anew with them.
    qtbot.waitUntil(lambda: "a" in panel.form.rows and panel.form.rows["a"].editor.isVisible())
    field = panel.form.rows["a"].editor
    assert isinstance(field, NumberField)
    qtbot.keyClicks(field.line, "40")
    call(qtbot, workbench)
    assert panel.answer.result.toPlainText() == "42"
    forms = sent_forms(qtbot, workbench)

    # Switched to a mock with the arrow key; what is sent stays what it is.
    kind = pane.detail.mock.kind
    kind.setFocus()
    qtbot.keyClick(kind, Qt.Key.Key_Down)
    assert kind.currentText() == "Mock: Fixed value"
    qtbot.keyClicks(pane.detail.mock.text, "1000")
    qtbot.waitUntil(lambda: tools.registry.named("add").state == "mocked")
    call(qtbot, workbench)
    assert panel.answer.result.toPlainText() == "1000"
    assert sent_forms(qtbot, workbench) == forms
    for title, beginning in {
        "OpenAI chat completions, and servers like it": '"function"',
        "OpenAI responses": '"type": "function"',
        "Anthropic messages": '"input_schema"',
        "ReAct list line": "- **add**: Add two numbers.",
        "JSON action line": '- "add": Add two numbers. Input: "a" (integer): The first.',
    }.items():
        assert beginning in forms[title]

    # And back, with the other arrow.
    qtbot.keyClick(kind, Qt.Key.Key_Up)
    qtbot.waitUntil(lambda: tools.registry.named("add").state == "bound")
    call(qtbot, workbench)
    assert panel.answer.result.toPlainText() == "42"
    assert not pane.detail.head.declare.isEnabled(), "a Python file takes no declaration"


def test_trust_try_mock_and_insert(qtbot: QtBot, prompt: Path, open_workbench: Open) -> None:
    workbench = open_workbench(prompt)
    pane, tools = workbench.tools_pane, workbench.tools
    assert tools.registry.entries == ()
    assert str(prompt.parent) in trust(qtbot, workbench)

    # Tried by its form.
    choose(qtbot, workbench, "add")
    panel = pane.detail.try_panel
    field = panel.form.rows["a"].editor
    assert isinstance(field, NumberField)
    qtbot.keyClicks(field.line, "40")
    call(qtbot, workbench)
    assert panel.answer.result.toPlainText() == "42"

    # Mocked, and what each protocol sends stays the same.
    forms = [view.toPlainText() for view in pane.detail.forms.views.values()]
    assert len(forms) == 5
    assert all("add" in form for form in forms)
    mock(workbench, "Fixed value")
    qtbot.keyClicks(pane.detail.mock.text, "1000")
    qtbot.waitUntil(lambda: tools.registry.named("add").state == "mocked")
    call(qtbot, workbench)
    assert panel.answer.result.toPlainText() == "1000"
    assert [view.toPlainText() for view in pane.detail.forms.views.values()] == forms
    assert panel.history.count() == 2

    # Answered by the person.
    mock(workbench, "Ask me")
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(workbench.window.findChildren(AnswerDialog)))
    dialog = workbench.window.findChildren(AnswerDialog)[0]
    qtbot.keyClicks(dialog.text, "seven")
    qtbot.mouseClick(dialog.give, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not tools.trials.is_running)
    assert panel.answer.result.toPlainText() == "seven"
    mock(workbench, "The tool itself")

    # Inserted into the document, as one step.
    page = workbench.window.tabs.current
    assert page is not None
    qtbot.mouseClick(pane.detail.head.declare, Qt.MouseButton.LeftButton)
    assert "name: add" in page.editor.text()
    qtbot.waitUntil(lambda: tools.registry.named("add").declared)
    page.editor.undo()
    assert page.editor.text() == PROMPT

    # Loaded again when saved.
    (prompt.parent / "tools.py").write_text(TOOLS.replace("def add", "def plus"), encoding="utf-8")
    qtbot.waitUntil(lambda: tools.registry.named("plus") is not None)

    # Its definition.
    choose(qtbot, workbench, "plus")
    qtbot.mouseClick(pane.detail.head.definition, Qt.MouseButton.LeftButton)
    page = workbench.window.tabs.current
    assert page is not None
    assert page.editor.text().startswith("\ndef plus")


def test_a_call_is_saved_called_again_tested_and_stands_in(
    qtbot: QtBot, prompt: Path, open_workbench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    workbench = open_workbench(prompt)
    trust(qtbot, workbench)
    choose(qtbot, workbench, "add")
    pane = workbench.tools_pane
    panel = pane.detail.try_panel
    panel.form.set_values({"a": 40})
    call(qtbot, workbench)
    panel.saved.request_save.emit()
    file = prompt.with_name("task.calls.jsonl")
    assert '"name": "add"' in file.read_text(encoding="utf-8")

    # Called again from the menu, with its own arguments.
    panel.form.set_values({"a": 1})
    panel.saved.menu().aboutToShow.emit()
    again = panel.saved.menu().actions()[0]
    assert again.text() == "add"
    again.trigger()
    qtbot.waitUntil(lambda: panel.history.count() == 2)
    assert panel.answer.result.toPlainText() == "42"

    # Its answer stands in for the tool.
    mock(workbench, "Recorded answers")
    assert pane.detail.mock.runs.itemText(0) == "The saved call"
    qtbot.waitUntil(lambda: workbench.tools.registry.named("add").state == "mocked")
    mock(workbench, "The tool itself")
    qtbot.waitUntil(lambda: workbench.tools.registry.named("add").state == "bound")

    # Tested, beside rows of a file, after the tool has become another.
    source = prompt.with_name("tools.py")
    source.write_text(TOOLS.replace("return a + b", "return a * b"), encoding="utf-8")
    rows = prompt.with_name("rows.csv")
    rows.write_text("a,b\n3,4\n5,x\n", encoding="utf-8")
    panel.saved.request_calls.emit()
    dialog = workbench.window.findChildren(CallsDialog)[0]
    monkeypatch.setattr(QFileDialog, "getOpenFileName", lambda *_: (str(rows), ""))
    dialog.rows_button.click()
    assert len(dialog.calls) == 3
    dialog.run_button.click()
    qtbot.waitUntil(lambda: not workbench.tools.calls.is_running)
    results = [dialog.rows.index(row, 3).data() for row in range(3)]
    assert results == ["$ is 80, not 42", "Done", "The arguments do not match the schema"]
    assert len(file.read_text(encoding="utf-8").splitlines()) == 1, "nothing is kept unasked"
    with file.open("a", encoding="utf-8") as other:  # as the command line's `record` does
        other.write('{"tool": "add", "arguments": {"a": 9}, "text": "11"}\n')
    qtbot.waitUntil(lambda: len(dialog.calls) == 4)
    dialog.table.setCurrentIndex(dialog.rows.index(0, 0))
    dialog.remove_button.click()
    assert [json.loads(line)["text"] for line in file.read_text("utf-8").splitlines()] == ["11"]
    dialog.close()


def test_cancel_ends_the_process_of_the_tool(
    qtbot: QtBot, prompt: Path, open_workbench: Open, tmp_path: Path
) -> None:
    workbench = open_workbench(prompt)
    trust(qtbot, workbench)
    choose(qtbot, workbench, "spin")
    panel = workbench.tools_pane.detail.try_panel
    mark = tmp_path / "pid"
    panel.form.set_values({"mark": str(mark)})
    QApplication.processEvents()
    qtbot.mouseClick(panel.call_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: mark.exists() and bool(mark.read_text()))
    pid = int(mark.read_text(encoding="utf-8"))
    assert is_running(pid)
    began = time.monotonic()
    qtbot.mouseClick(panel.cancel_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: panel.status.text() == "Stopped by you")
    qtbot.waitUntil(lambda: not is_running(pid))
    print(f"cancelled in {(time.monotonic() - began) * 1000:.0f} ms")
    assert panel.call_button.isEnabled()
    assert not panel.cancel_button.isVisible()


def bound_calls(qtbot: QtBot, workbench: Workbench, seconds: str) -> None:
    """Write another `tool_seconds` into the prompt, and wait until the tools have it."""
    page = workbench.window.tabs.current
    assert page is not None
    text = re.sub(r"tool_seconds: \S+", f"tool_seconds: {seconds}", page.editor.text())
    page.editor.selectAll()
    page.editor.insertPlainText(text)

    def is_read() -> bool:
        document = workbench.window.tabs.document
        return document is not None and document.source.text == text and workbench.is_settled

    qtbot.waitUntil(is_read)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="the system has no fork")
def test_hostile_tools_end_in_named_states(
    qtbot: QtBot, prompt: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(prompt)
    trust(qtbot, workbench)
    endings = {
        "leave": "The tool's process crashed",
        "flood": "Done",
        "chatter": "Done",
        "multiply_self": "Done",
        "listen": "The tool failed",
        "hang": "Stopped: it took too long",
        "add": "Done",
    }
    panel = workbench.tools_pane.detail.try_panel
    for name, words in endings.items():
        if name == "hang":  # only this is waited out: a busy machine takes its time
            bound_calls(qtbot, workbench, "0.5")
        elif name == "add":
            bound_calls(qtbot, workbench, "600")
        choose(qtbot, workbench, name)
        if name == "add":
            panel.form.set_values({"a": 1})
        call(qtbot, workbench)
        assert panel.status.text().startswith(words), name
    outcome = panel.answer.result.toPlainText()
    assert outcome == "3"
    # The studio lives: what is typed is written and previewed.
    page = workbench.window.tabs.current
    assert page is not None
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.End)
    qtbot.keyClicks(page.editor, "alive")
    qtbot.waitUntil(
        lambda: "alive" in str(workbench.preview.preview and workbench.preview.preview.cards),
    )
