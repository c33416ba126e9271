"""A run whose process died is named at the next start, and gone on with."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.core.agent.past.replay import walk
from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.core.runs.rows import RunSummary
from studio.core.runs.store import RunStore
from studio.ui.app.workbench import Workbench

Open = Callable[[Path], Workbench]

ASKS = 'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
ENDS = "Thought: I have it.\nFinal Answer: It is 5888."

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_an_interrupted_run_is_named_and_gone_on_with(
    qtbot: QtBot, user_home: Path, open_workbench: Open, scripted: Callable[..., None]
) -> None:
    scripted(ASKS, ENDS)
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    prompt = folder / "react-agent.prompty"
    before = open_workbench(prompt)
    page = before.window.tabs.current
    assert page is not None
    qtbot.keyClick(page.editor, Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: before.run.state is not None and not before.run.is_live)
    past = before.run.past
    assert past is not None
    before.window.close()

    # The same journal as far as a process wrote it that died before the tool ran.
    tree = walk(past.events).tree
    place = next(each for each in tree.checkpoints if each.place == PausePoint.TOOL_CALL)
    with closing(RunStore(user_home / "data" / "runs.sqlite")) as store:
        store.delete(past.setup.run)
        writer = store.journal(past.setup.run)
        for event in past.events[: place.id]:
            writer.write(event)

    workbench = open_workbench(prompt)
    notices = workbench.window.notices
    words = "The run of ReAct agent was interrupted."
    qtbot.waitUntil(lambda: any(each.what == words for each in notices.notices))
    button = next(
        each for each in notices.findChildren(QPushButton) if each.text() == "Continue the run"
    )
    button.setFocus()
    qtbot.keyClick(button, Qt.Key.Key_Space)

    def stands() -> bool:
        state = workbench.run.state
        return state is not None and state.pause is not None and workbench.run.is_live

    qtbot.waitUntil(stands)
    state = workbench.run.state
    assert state is not None
    assert state.place == PausePoint.TOOL_CALL
    assert not any(each.what == words for each in notices.notices)
    qtbot.keyClick(workbench.run_pane.timeline, Qt.Key.Key_1)
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert workbench.run.state is not None
    assert workbench.run.state.steps[0].calls[0].observation == "5888"

    runs = tuple(RunSummary(f"r{number}", updated=number, prompt="Letters") for number in range(3))
    for count, said in (
        (1, "The run of Letters was interrupted."),
        (2, "The run of Letters and one other run were interrupted."),
        (3, "The run of Letters and 2 other runs were interrupted."),
    ):
        workbench.past_runs.offer_interrupted(runs[:count])
        qtbot.waitUntil(lambda said=said: any(each.what == said for each in notices.notices))
