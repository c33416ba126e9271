"""Two prompts are run side by side, each in its own tab."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from tests.end_to_end.test_debugging import ASKS, FIRST


def _marks(workbench: Workbench) -> dict[str, str]:
    return {page.title: page.run_mark for page in workbench.window.tabs.pages()}


def test_f5_in_another_tab_starts_another_run_and_each_tab_shows_its_own(
    qtbot: QtBot,
    user_home: Path,
    scripted: Callable[..., None],
    open_workbench: Callable[[Path], Workbench],
) -> None:
    scripted(ASKS, FIRST)
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    one, other = folder / "react-agent.prompty", folder / "other.prompty"
    shutil.copy(one, other)
    workbench = open_workbench(one)
    window, run = workbench.window, workbench.run

    def press(key: Qt.Key) -> None:
        page = window.tabs.current
        assert page is not None
        qtbot.keyClick(page.editor, key)

    def stands() -> bool:
        return run.view.place == PausePoint.BEFORE_REQUEST

    press(Qt.Key.Key_F10)
    qtbot.waitUntil(stands)
    first = run.view.state
    assert first is not None
    assert _marks(workbench) == {"react-agent.prompty": "waiting"}

    window.tabs.open(other)
    qtbot.waitUntil(lambda: run.view.state is None)
    qtbot.waitUntil(lambda: workbench.is_settled)
    press(Qt.Key.Key_F10)
    qtbot.waitUntil(stands)
    second = run.view.state
    assert second is not None
    assert second.setup.run != first.setup.run
    assert _marks(workbench) == {"react-agent.prompty": "waiting", "other.prompty": "waiting"}

    window.tabs.open(one)
    qtbot.waitUntil(lambda: run.view.state is first)
    assert workbench.run_pane.timeline.current_card is not None
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not run.is_live)
    assert run.state is not None
    assert run.state.status == "done"
    assert _marks(workbench) == {"react-agent.prompty": "", "other.prompty": "waiting"}

    window.tabs.open(other)
    qtbot.waitUntil(lambda: run.view.state is second)
    assert run.view.is_waiting
