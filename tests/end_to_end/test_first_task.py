"""A new user's first task, in the real window: edit, preview, tools, step, export."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from studio.ui.dialogs.export.dialog import ExportDialog
from tests.support.tool_ids import tool_id

Open = Callable[[Path], Workbench]


@pytest.fixture
def example(user_home: Path) -> Path:
    """The person's own copy of the ReAct example, in the folder that the studio keeps them in."""
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    return folder / "react-agent.prompty"


def shown(workbench: Workbench) -> str:
    """All text of the preview's cards."""
    cards = workbench.preview_pane.messages.cards
    return "\n".join(body.toPlainText() for card in cards for body in card.bodies)


def press(qtbot: QtBot, workbench: Workbench, key: Qt.Key, *, shift: bool = False) -> None:
    """Press a key in the editor."""
    page = workbench.window.tabs.current
    assert page is not None
    modifier = Qt.KeyboardModifier.ShiftModifier if shift else Qt.KeyboardModifier.NoModifier
    qtbot.keyClick(page.editor, key, modifier)


def sentence(workbench: Workbench) -> str:
    return workbench.run_pane.view.sentence


def wait_for_place(qtbot: QtBot, workbench: Workbench, place: str) -> None:
    def stands() -> bool:
        state = workbench.run.state
        return state is not None and state.pause is not None and state.pause.place == place

    qtbot.waitUntil(stands)


def edit_a_line(qtbot: QtBot, workbench: Workbench) -> None:
    """Type at the end of the user section; the preview follows the unsaved text."""
    page = workbench.window.tabs.current
    assert page is not None
    place = page.editor.text().index("Question:")
    page.editor.go_to_line(page.editor.text()[:place].count("\n") + 1)
    qtbot.keyClick(page.editor, Qt.Key.Key_End)
    qtbot.keyClicks(page.editor, " Be exact")
    qtbot.waitUntil(lambda: "Be exact" in shown(workbench))


def test_edit_preview_tools_step_export(
    qtbot: QtBot, example: Path, open_workbench: Open, scripted: Callable[..., None], tmp_path: Path
) -> None:
    scripted(
        'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}',
        "Thought: I have it.\nFinal Answer: 128 times 46 is 5888.",
    )
    workbench = open_workbench(example)
    edit_a_line(qtbot, workbench)

    # Its tools, one of them tried for real.
    registry = workbench.tools.registry
    assert {spec.name for spec in registry.specs} == {"calculator", "lookup"}
    assert {entry.state for entry in registry.entries} == {"bound"}
    with qtbot.waitSignal(
        workbench.tools.trial_changed,
        check_params_cb=lambda trial: trial.outcome is not None,
    ) as tried:
        workbench.tools_pane.detail.try_panel.request_try.emit(
            tool_id(workbench.tools.registry, "calculator"), {"expression": "2 + 3"}
        )
    assert tried.args[0].outcome.text == "5"

    # One step at a time: prompt, reply, call, observation, and on to the answer.
    press(qtbot, workbench, Qt.Key.Key_F10)
    wait_for_place(qtbot, workbench, PausePoint.BEFORE_REQUEST)
    press(qtbot, workbench, Qt.Key.Key_F10)
    wait_for_place(qtbot, workbench, PausePoint.REPLY)
    press(qtbot, workbench, Qt.Key.Key_F10)
    wait_for_place(qtbot, workbench, PausePoint.TOOL_CALL)
    press(qtbot, workbench, Qt.Key.Key_F10)
    wait_for_place(qtbot, workbench, PausePoint.OBSERVATION)
    state = workbench.run.state
    assert state is not None
    assert [call.observation for call in state.step.calls] == ["5888"]
    press(qtbot, workbench, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert (state.status, state.answer) == ("done", "128 times 46 is 5888.")
    assert "Be exact" in state.setup.source

    # It is in History, and the file is exported as it was checked.
    with qtbot.waitSignal(
        workbench.history.listed,
        check_params_cb=lambda runs: bool(runs) and runs[0].status == "done",
    ):
        workbench.history.refresh()
    page = workbench.window.tabs.current
    assert page is not None
    workbench.window.actions_by_id["file.export"].trigger()
    dialog = workbench.window.findChild(ExportDialog)
    assert dialog is not None
    out = tmp_path / "exported.prompty"
    qtbot.waitUntil(lambda: dialog.write(out))
    dialog.close()
    assert out.read_text(encoding="utf-8") == page.editor.text()


@pytest.mark.embedded
def test_embedded_model_answers_in_the_window(
    qtbot: QtBot, example: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(example)
    press(qtbot, workbench, Qt.Key.Key_F10)
    wait_for_place(qtbot, workbench, PausePoint.BEFORE_REQUEST)
    press(qtbot, workbench, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert state.status == "done", sentence(workbench)
    assert "5888" in (state.answer or "")


def test_an_error_keeps_the_last_good_cards_and_names_the_problem(
    qtbot: QtBot, example: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(example)
    before = shown(workbench)
    page = workbench.window.tabs.current
    assert page is not None
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.End)
    qtbot.keyClicks(page.editor, "{% if")
    view = workbench.preview_pane.messages
    qtbot.waitUntil(lambda: view.is_dimmed)
    assert shown(workbench) == before
    assert workbench.preview_pane.banner.isVisible()


def test_a_card_and_the_caret_find_each_other(
    qtbot: QtBot, example: Path, open_workbench: Open
) -> None:
    workbench = open_workbench(example)
    page = workbench.window.tabs.current
    assert page is not None
    user = workbench.preview_pane.messages.cards[-1]
    qtbot.mouseClick(user, Qt.MouseButton.LeftButton, pos=QPoint(40, 12))
    line = page.editor.text()[: page.editor.caret()].count("\n")
    assert page.editor.text().splitlines()[line] == "user:"
    qtbot.waitUntil(lambda: user.is_lit)


def test_a_run_that_lacks_an_input_says_which(
    qtbot: QtBot, user_home: Path, open_workbench: Open
) -> None:
    path = user_home / "ask.prompty"
    path.write_text(
        "---\nname: ask\ninputs:\n  city:\n    kind: string\n    required: true\n---\n"
        "user:\nWhat is there to see in {{ city }}?\n",
        encoding="utf-8",
    )
    workbench = open_workbench(path)
    with qtbot.waitSignal(workbench.window.services.messages.noticed) as noticed:
        press(qtbot, workbench, Qt.Key.Key_F5)
    assert "'city'" in noticed.args[0].what
    assert workbench.run.state is None
