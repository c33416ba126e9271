"""A debugger's task with real keys: stop, edit, go back, fork, compare, export."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QApplication, QFileDialog, QLineEdit, QMenu, QWidget
from pytestqt.qtbot import QtBot

from studio.core.agent.past.replay import branch_path
from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.core.runs.store import RunStore
from studio.core.tools.registry import FixedMock
from studio.ui.app.workbench import Workbench
from studio.ui.run.pane import RunPane
from studio.ui.run.side.edit_in_place import MessagesEditor

Open = Callable[[Path], Workbench]

ASKS = 'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
FIRST = "Thought: I have it.\nFinal Answer: It is 6000."
SECOND = "Thought: I was told so.\nFinal Answer: It is forty-two."


# The offscreen screen has no window manager to ask for these.
pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


@pytest.fixture
def example(user_home: Path) -> Path:
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    return folder / "react-agent.prompty"


class Person:
    """Somebody at the keyboard."""

    def __init__(self, qtbot: QtBot, workbench: Workbench) -> None:
        self.qtbot = qtbot
        self.workbench = workbench
        self.pane = workbench.run_pane

    def press(self, widget: QWidget, key: Qt.Key, *, ctrl: bool = False) -> None:
        modifier = Qt.KeyboardModifier.ControlModifier if ctrl else Qt.KeyboardModifier.NoModifier
        self.qtbot.keyClick(widget, key, modifier)

    def editor(self) -> QWidget:
        page = self.workbench.window.tabs.current
        assert page is not None
        return page.editor

    def take(self, label: str) -> None:
        """Press a button of the action bar, by keyboard."""
        buttons = {button.text(): button for button in self.pane.actions_bar.buttons}
        buttons[label].setFocus()
        self.press(buttons[label], Qt.Key.Key_Space)

    def write(self, text: str) -> None:
        """Write over the text in the editor in place, and make one step."""
        field = self.pane.editor.field
        assert field.hasFocus()
        self.press(field, Qt.Key.Key_A, ctrl=True)
        self.qtbot.keyClicks(field, text)
        self.press(field, Qt.Key.Key_Return, ctrl=True)

    def choose(self, action: QAction, start: str) -> None:
        """Open an action's menu, and take the line that begins so."""
        action.trigger()
        menu = QApplication.activePopupWidget()
        assert isinstance(menu, QMenu)
        for _ in menu.actions():
            chosen = menu.activeAction()
            if chosen is not None and chosen.text().startswith(start):
                break
            self.press(menu, Qt.Key.Key_Down)
        else:
            pytest.fail(f"the menu has no line {start!r}")
        self.press(menu, Qt.Key.Key_Return)

    def name_file(self, path: Path) -> None:
        """Put a file's name into the dialog that asks for one."""
        dialog = self.workbench.window.findChild(QFileDialog)
        assert dialog is not None
        name = dialog.findChild(QLineEdit)
        assert name is not None
        name.setText(str(path))  # in one go: typed, its list of completions takes the keys
        self.press(name, Qt.Key.Key_Return)

    def until_at(self, place: str) -> None:
        def stands() -> bool:
            state = self.workbench.run.state
            return state is not None and state.pause is not None and state.pause.place == place

        self.qtbot.waitUntil(stands)

    def until_over(self) -> None:
        self.qtbot.waitUntil(lambda: not self.workbench.run.is_live)

    def answer(self) -> str | None:
        state = self.workbench.run.state
        assert state is not None
        return state.answer

    def set_breakpoint_on(self, tool: str) -> None:
        """F9 on the line of the tool's declaration."""
        page = self.workbench.window.tabs.current
        assert page is not None
        lines = page.editor.text().splitlines()
        line = next(i for i, text in enumerate(lines, 1) if f"name: {tool}" in text)
        page.editor.go_to_line(line)
        self.press(page.editor, Qt.Key.Key_F9)
        assert {each.tool for each in self.workbench.run.breakpoints.value.breakpoints} == {tool}


def test_edit_go_back_fork_compare_export(
    qtbot: QtBot, example: Path, open_workbench: Open, scripted: Callable[..., None], tmp_path: Path
) -> None:
    scripted(ASKS, FIRST, SECOND)
    workbench = open_workbench(example)
    person = Person(qtbot, workbench)
    pane = workbench.run_pane

    # To a breakpoint on the tool; other arguments; on to the answer.
    person.set_breakpoint_on("calculator")
    person.press(person.editor(), Qt.Key.Key_F5)
    person.until_at(PausePoint.TOOL_CALL)
    assert "calculator" in pane.bar.sentence.whole
    person.take("Edit arguments…")
    person.write('{"expression": "1000 * 6"}')
    person.until_at(PausePoint.OBSERVATION)  # applied, and one step on
    person.press(pane.timeline, Qt.Key.Key_F5)
    person.until_over()
    state = workbench.run.state
    assert state is not None
    (call,) = state.steps[0].calls
    assert (call.arguments, call.observation) == ({"expression": "1000 * 6"}, "6000")
    assert "edited" in state.steps[0].marks
    assert person.answer() == "It is 6000."

    # Two places back in the timeline (past the reply, to the observation), and another truth.
    pane.timeline.setFocus()
    cards = pane.timeline.cards
    row = next(i for i, card in enumerate(cards) if card.kind == "observation")
    while pane.timeline.currentIndex().row() > row:
        person.press(pane.timeline, Qt.Key.Key_Up)
    person.press(pane.timeline, Qt.Key.Key_Return, ctrl=True)
    person.until_at(PausePoint.OBSERVATION)
    person.take("Edit observation…")
    person.write("forty-two")
    person.until_at(PausePoint.BEFORE_REQUEST)  # applied, and one step on
    person.press(pane.timeline, Qt.Key.Key_F5)
    person.until_over()
    assert person.answer() == "It is forty-two."
    _, second = pane.view.branches
    assert second.is_current

    # Both ways side by side: they part at the observation.
    with qtbot.waitSignal(workbench.run.compared) as compared:
        person.choose(pane.bar.branches, "Compare ")
    comparison = compared.args[0]
    at = comparison.first_difference
    assert at is not None
    left, right = comparison.rows[at].left, comparison.rows[at].right
    assert left is not None
    assert right is not None
    assert ("6000" in left.summary, "forty-two" in right.summary) == (True, True)
    assert pane.comparing.isVisible()
    assert (pane.comparing.left.toPlainText(), pane.comparing.right.toPlainText()) == (
        "6000",
        "forty-two",
    )
    person.press(pane.comparing, Qt.Key.Key_Escape)
    assert not pane.comparing.isVisible()

    # The trace of the branch that is shown, to a file.
    target = tmp_path / "run.tracy"
    person.choose(pane.bar.export, "Trace")
    with qtbot.waitSignal(workbench.exchange.exported):
        person.name_file(target)
    trace = json.loads(target.read_text(encoding="utf-8"))["trace"]
    assert trace["result"]["answer"] == "It is forty-two."
    tool = trace["__frames"][0]["__frames"][1]
    assert (tool["inputs"], tool["result"]) == ({"expression": "1000 * 6"}, "forty-two")

    # All of it is in the history, both ways.
    store = RunStore(workbench.window.services.paths.data / "runs.sqlite")
    try:
        (kept,) = store.runs()
        assert (kept.status, kept.branches, kept.answer) == ("done", 1, "It is forty-two.")
        events = list(store.events(kept.id))
        assert len(branch_path(events, len(events))) < len(events)
    finally:
        store.close()


def test_an_edit_at_the_request_goes_into_the_file_too(
    qtbot: QtBot, example: Path, open_workbench: Open, scripted: Callable[..., None]
) -> None:
    scripted("Thought: easy.\nFinal Answer: 5888.")
    workbench = open_workbench(example)
    person = Person(qtbot, workbench)
    pane = workbench.run_pane
    start = workbench.window.actions_by_id["run.start"]
    assert start.iconText().startswith("Run")
    person.press(person.editor(), Qt.Key.Key_F10)
    person.until_at(PausePoint.BEFORE_REQUEST)
    assert start.iconText().startswith("Continue")
    state = workbench.run.state
    assert state is not None
    system = state.step.messages[0].text
    line = next(each for each in system.splitlines() if each.startswith("Answer the question"))
    page = workbench.window.tabs.current
    assert page is not None
    assert page.editor.text().count(line) == 1

    person.take("Edit messages…")
    editor = pane.editor
    messages = editor.findChild(MessagesEditor)
    assert messages is not None
    messages._list.setCurrentRow(0)
    messages._text.setPlainText(system.replace(line, f"{line} Be exact."))
    person.press(editor.also_file, Qt.Key.Key_Space)
    assert editor.also_file.isChecked()
    person.press(messages._text, Qt.Key.Key_Return, ctrl=True)
    person.until_at(PausePoint.REPLY)

    state = workbench.run.state
    assert state is not None
    assert f"{line} Be exact." in state.step.messages[0].text
    assert f"{line} Be exact.\n" in page.editor.text()
    page.editor.undo()
    assert "Be exact." not in page.editor.text()


FORMS = (
    ("Report", "run.html"),
    ("Journal", "run.jsonl"),
    ("OpenTelemetry", "run.otlp.json"),
    ("Messages", "run.messages.jsonl"),
    ("Trace", "run.tracy"),
)


def _plays_back(qtbot: QtBot, person: Person, pane: RunPane) -> None:
    """Play the run that is over: the cursor goes through all cards, and the views go along."""
    qtbot.waitUntil(pane.played.button.isEnabled)
    shown: list[int] = []
    pane.views.moved.connect(lambda _: shown.append(pane.scrubber.row))
    pane.scrubber.setFocus()
    person.press(pane.scrubber, Qt.Key.Key_Space)
    qtbot.waitUntil(lambda: not pane.played.is_playing)
    assert shown == list(range(len(pane.timeline.cards)))
    assert len(shown) > 3


def test_a_run_leaves_in_every_form_and_comes_back(
    qtbot: QtBot, example: Path, open_workbench: Open, scripted: Callable[..., None], tmp_path: Path
) -> None:
    scripted(ASKS, FIRST)
    workbench = open_workbench(example)
    person = Person(qtbot, workbench)
    person.press(person.editor(), Qt.Key.Key_F5)
    person.until_over()
    _plays_back(qtbot, person, workbench.run_pane)
    for start, name in FORMS:
        person.choose(workbench.run_pane.bar.export, start)
        with qtbot.waitSignal(workbench.exchange.exported):
            person.name_file(tmp_path / name)
        qtbot.waitUntil(lambda: workbench.window.findChild(QFileDialog) is None)
    texts = {name: (tmp_path / name).read_text(encoding="utf-8") for _, name in FORMS}
    assert "5888" in texts["run.html"]
    assert "Content-Security-Policy" in texts["run.html"]
    assert "<script" not in texts["run.html"]
    assert json.loads(texts["run.jsonl"].splitlines()[0])["t"] == "Started"
    assert json.loads(texts["run.otlp.json"])["resourceSpans"]
    calls = [json.loads(line)["messages"] for line in texts["run.messages.jsonl"].splitlines()]
    assert [messages[-1]["content"] for messages in calls] == [ASKS, FIRST]
    assert json.loads(texts["run.tracy"])["trace"]["result"]["answer"] == "It is 6000."

    # The journal comes back as a run of its own, is opened, and replays without model or tool.
    workbench.window.docks.show("history")
    history = workbench.history_pane
    history.import_button.setFocus()
    person.press(history.import_button, Qt.Key.Key_Space)
    with qtbot.waitSignal(workbench.exchange.imported) as imported:
        person.name_file(tmp_path / "run.jsonl")
    (taken,) = imported.args[0]
    qtbot.waitUntil(lambda: len(history.model.rows) == 2)
    row = next(at for at, each in enumerate(history.model.rows) if each.run.id == taken)
    history.table.selectRow(row)
    history.table.setFocus()
    with qtbot.waitSignal(workbench.history.opened):
        person.press(history.table, Qt.Key.Key_Return)
    person.take("Replay exactly")
    person.until_over()
    state = workbench.run.state
    assert state is not None
    assert state.answer == "It is 6000."
    assert "replayed" in state.steps[0].marks
    assert "The replay is identical" in workbench.window.notices.notices[-1].what


def test_a_reply_becomes_an_example_and_a_result_a_mock(
    qtbot: QtBot, example: Path, open_workbench: Open, scripted: Callable[..., None]
) -> None:
    scripted(ASKS, FIRST)
    workbench = open_workbench(example)
    person = Person(qtbot, workbench)
    pane = workbench.run_pane
    page = workbench.window.tabs.current
    assert page is not None
    before = page.editor.text()
    person.press(person.editor(), Qt.Key.Key_F10)
    person.until_at(PausePoint.BEFORE_REQUEST)
    person.press(person.editor(), Qt.Key.Key_F10)
    person.until_at(PausePoint.REPLY)
    person.take("Edit the reply…")
    person.press(pane.editor.also_file, Qt.Key.Key_Space)
    pane.editor.field.setFocus()
    person.press(pane.editor.field, Qt.Key.Key_Return, ctrl=True)
    person.until_at(PausePoint.TOOL_CALL)
    example_text = f"user:\nQuestion: What is 128 * 46?\n\nassistant:\n{ASKS}\n\nuser:\nQuestion: "
    assert example_text in page.editor.text()
    page.editor.undo()
    assert page.editor.text() == before

    person.take("Run calculator")
    person.until_at(PausePoint.OBSERVATION)
    person.take("Edit observation…")
    person.press(pane.editor.also_file, Qt.Key.Key_Space)
    pane.editor.field.setFocus()
    with qtbot.waitSignal(workbench.tools.registry_changed):
        person.write("seven")
    entry = next(each for each in workbench.tools.registry.entries if each.name == "calculator")
    assert entry.mock == FixedMock("seven")
