"""German words are longer than English ones: none is cut, at the two smallest sizes."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.core.agent.values.step import PausePoint
from studio.ui.app.workbench import Workbench
from studio.ui.experiments.view import ExperimentView
from tests.support.cut_words import cut_words
from tests.support.tool_ids import tool_id
from tests.ui.window.test_layout import overlapping
from tests.ui.window.test_layout_paused import paused, stands_at

pytestmark = [
    pytest.mark.qt_log_ignore("does not support propagateSizeHints"),
    pytest.mark.parametrize("language", ["de"], indirect=True),
]


@pytest.fixture
def bench(language: str, user_home: Path, tmp_path: Path) -> Iterator[Workbench]:
    made = paused(user_home, tmp_path)
    yield made
    made.window.close()
    made.close()
    made.window.deleteLater()


def whole(bench: Workbench) -> None:
    """Fail where words are cut or parts lie over each other."""
    assert cut_words(bench.window) == []
    assert overlapping(bench.window) == []


@pytest.mark.parametrize("size", [(900, 600), (1280, 800)], ids=lambda size: f"{size[0]}")
def test_no_german_word_is_cut(bench: Workbench, qtbot: QtBot, size: tuple[int, int]) -> None:
    window = bench.window
    window.resize(*size)
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: bench.is_settled)
    see = partial(qtbot.waitUntil, partial(whole, bench))
    see()
    for side in ("tools", "history"):
        window.docks.show(side)
        if side == "tools":
            bench.tools_pane.choose(tool_id(bench.tools_pane.registry, "calculator"))
        see()
    window.docks.show("files")
    for place in (PausePoint.BEFORE_REQUEST, PausePoint.REPLY, PausePoint.TOOL_CALL):
        window.actions_by_id["run.step"].trigger()
        qtbot.waitUntil(lambda place=place: stands_at(bench, place))
        see()
    bench.run_pane.timeline.ask_edit()
    see()


def test_no_german_word_is_cut_beside_an_answer_and_in_cases(
    bench: Workbench, qtbot: QtBot
) -> None:
    """The states of a plain prompt: an answer, its inputs unfolded, its cases after a run."""
    window = bench.window
    window.resize(1280, 800)
    with qtbot.waitExposed(window):
        window.show()
    qtbot.waitUntil(lambda: bench.is_settled)
    path = window.tabs.path
    assert path is not None
    assert window.tabs.open(path.with_name("chat.prompty")) is not None
    qtbot.waitUntil(lambda: window.tabs.document is not None and bench.is_settled)
    see = partial(qtbot.waitUntil, partial(whole, bench))
    window.actions_by_id["run.start"].trigger()
    qtbot.waitUntil(lambda: bench.preview_pane.answer.answer.phase == "done")
    see()
    window.actions_by_id["view.inputs"].trigger()
    see()
    window.actions_by_id["prompt.cases"].trigger()
    view = window.docks["cases"].widget().currentWidget()
    assert isinstance(view, ExperimentView)
    qtbot.waitUntil(lambda: view.controller.plan is not None)
    see()
    view.run_all()
    qtbot.waitUntil(lambda: not view.controller.is_running and view.controller.report is not None)
    see()
