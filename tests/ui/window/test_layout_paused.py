"""The figures of a paused run at every size, and of everything at 200 %."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource, user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.run.styled_text import StyledText
from tests.support import patience
from tests.support.cut_words import cut_words
from tests.ui.window.test_layout import overlapping, place_in, rows_and_columns

_REPLY = 'Thought: I need it.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
_SIZES = {
    # rows and columns of the text; width and height of the run; width and height of the inspector
    (1440, 900): (33, 50, 720, 740, 380, 430),
    (1280, 800): (28, 40, 680, 640, 380, 360),
    (1920, 1080): (42, 72, 960, 900, 380, 430),
}


@pytest.fixture
def bench(qtbot: QtBot, language: str, user_home: Path, tmp_path: Path) -> Iterator[Workbench]:
    """The ReAct agent, paused with its tool's result."""
    made = paused(user_home, tmp_path)
    with qtbot.waitActive(made.window):
        made.window.show()
        made.window.activateWindow()
    qtbot.waitUntil(lambda: made.is_settled)
    for place in (
        PausePoint.BEFORE_REQUEST,
        PausePoint.REPLY,
        PausePoint.TOOL_CALL,
        PausePoint.OBSERVATION,
    ):
        made.window.actions_by_id["run.step"].trigger()
        qtbot.waitUntil(lambda place=place: stands_at(made, place))
    yield made
    made.window.close()
    made.close()
    made.window.deleteLater()


def paused(home: Path, folder: Path) -> Workbench:
    config = home / "config"
    config.mkdir(parents=True)
    (home / "script.json").write_text(json.dumps([_REPLY] * 9), encoding="utf-8")
    (config / "connections.toml").write_text(
        'default = "Script"\n\n[[connection]]\nname = "Script"\nkind = "scripted"\n'
        f"settings = {{ script = {json.dumps(str(home / 'script.json'))} }}\n",
        encoding="utf-8",
    )
    shutil.copytree(resource("examples"), home / "data" / "examples")
    bench = Workbench(build_services(user_paths()))
    bench.window.resize(1440, 900)
    bench.window.tabs.open(home / "data" / "examples" / "react-agent.prompty")
    return bench


def stands_at(bench: Workbench, place: str) -> bool:
    state = bench.run.state
    return state is not None and state.pause is not None and state.pause.place == place


def check_figures(bench: Workbench, size: tuple[int, int]) -> None:
    """Fail where a part of the window is smaller than its figure, hidden in part or cut."""
    rows, columns, _, height, *inspector = _SIZES[size]
    window, pane = bench.window, bench.run_pane
    page = window.tabs.current
    assert page is not None
    shown = rows_and_columns(page)
    assert shown[0] >= rows, size
    assert shown[1] >= columns, size
    assert pane.height() >= height, size
    assert overlapping(window) == [], size
    diagram = pane.diagram
    assert pane.rect().contains(diagram.mapTo(pane, diagram.rect().bottomRight()))
    assert diagram.height() >= diagram.minimumSizeHint().height()
    assert pane.inspector.width() >= inspector[0], size
    # With the bar above it, in which the pause is answered.
    top = place_in(window, pane.side.actions_bar).top()
    assert place_in(window, pane.inspector).bottom() - top >= inspector[1], size
    assert pane.timeline.height() >= 9 * 44, size  # nine cards
    assert cut_words(window) == [], size


@pytest.mark.parametrize("language", ["en", "de"], indirect=True)
def test_a_paused_run_has_its_room_at_every_size(bench: Workbench, qtbot: QtBot) -> None:
    window, pane = bench.window, bench.run_pane
    page = window.tabs.current
    assert page is not None
    for size in _SIZES:
        width = _SIZES[size][2]
        window.resize(*size)
        window.docks.reset()  # a width of the user's own is kept from size to size
        window.docks.show("run")
        qtbot.waitUntil(lambda width=width: pane.isVisible() and pane.width() >= width)
        qtbot.waitUntil(lambda: page.editor.width() + pane.width() <= window.width() - 48)
        # Laid out in several turns of the loop: waited for, not taken at this moment.
        qtbot.waitUntil(partial(check_figures, bench, size))
        result = pane.inspector.text_of("tool")
        assert "128 * 46" in result
        assert "5888" in result
        (text,) = (each for each in pane.inspector.findChildren(StyledText) if each.isVisible())
        assert text.toPlainText() == result
        if size[1] >= 900:  # whole, without scrolling
            qtbot.waitUntil(lambda text=text: text.verticalScrollBar().maximum() == 0)
            console = pane.state_panel.console.list
            letters = console.fontMetrics()
            assert console.height() >= 8 * letters.lineSpacing(), size
            assert console.width() >= letters.horizontalAdvance("0" * 42), size
        values = pane.state_panel.variables
        assert values.columnWidth(1) >= 1.5 * values.columnWidth(0), size
        heads = pane.diagram.height() + pane.head.height() + pane.played.height()
        assert heads <= 132, size
        assert text.horizontalScrollBar().maximum() == 0, size
        state = pane.state_panel
        if size == (1920, 1080):
            assert place_in(window, state).top() >= place_in(window, pane.diagram).bottom()
            assert state.isVisible()


def test_at_200_percent_all_is_as_large_and_sharp(tmp_path: Path) -> None:
    """In a process of its own: Qt takes the scale when it starts."""
    environment = {
        **os.environ,
        "QT_SCALE_FACTOR": "2",
        "QT_QPA_PLATFORM": "offscreen",
        "PROMPT_STUDIO_HOME": str(tmp_path / "home"),
    }
    child = subprocess.run(
        [sys.executable, "-m", "tests.ui.window.measure_scaled", str(tmp_path)],
        env=environment,
        capture_output=True,
        text=True,
        timeout=patience.SECONDS,
        check=False,
        cwd=Path(__file__).resolve().parents[3],
    )
    assert child.returncode == 0, child.stderr
    said = json.loads(child.stdout.splitlines()[-1])
    assert said["ratio"] == 2.0
    assert said["picture"] == [2880, 1800]
    assert said["rows"] >= 34
    assert said["columns"] >= 72
    assert 420 <= said["right"] <= 460
    assert said["cards"] >= 540
    assert said["overlapping"] == []
    assert said["cut"] == []
    assert said["sharp"], "the text was drawn at half of the size and stretched"
