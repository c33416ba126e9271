"""Batches in the real window: chosen by a box, refused by a sentence, read after a stop."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.ui.experiments.view import ExperimentView
from tests.support import patience
from tests.support.batch_server import BatchServer, Ending, batch_server
from tests.ui.experiments.test_view import opened


@pytest.fixture
def server(user_home: Path, tmp_path: Path) -> Iterator[BatchServer]:
    (user_home / "config").mkdir(parents=True, exist_ok=True)
    (tmp_path / "a.prompty").write_text("user:\n{{ q }}\n")
    (tmp_path / "a.experiment.yaml").write_text(
        "prompts: [a.prompty]\nproviders: [small]\ntests: [{vars: {q: one}}, {vars: {q: two}}]\n"
        "defaultTest: {assert: [{type: equals, value: 'yes'}]}\n"
    )
    with batch_server() as made:
        (user_home / "config" / "connections.toml").write_text(
            f'[[connection]]\nname = "small"\nkind = "compatible"\nmodel = "m"\n'
            f'base_url = "{made.url}"\n'
        )
        yield made


def stopped(qtbot: QtBot, view: ExperimentView) -> None:
    qtbot.mouseClick(view.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: not view.controller.is_running, timeout=patience.MS)


def test_a_stopped_run_goes_on_with_its_batches(
    qtbot: QtBot, open_workbench: Callable[[], Workbench], server: BatchServer, tmp_path: Path
) -> None:
    server.endings = [Ending(looks=10**9)]
    view = opened(qtbot, open_workbench(), tmp_path / "a.experiment.yaml")
    view.batch_box.click()
    qtbot.mouseClick(view.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(server.reached["look"].is_set, timeout=patience.MS)
    stopped(qtbot, view)
    qtbot.waitUntil(
        lambda: "still answered and charged" in view.head.status_label.text(), timeout=patience.MS
    )
    (batch,) = server.batches.values()
    batch.ending = Ending()
    before = view.controller.result
    qtbot.mouseClick(view.run_button, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(
        lambda: (
            not view.controller.is_running
            and view.controller.report is not None
            and view.controller.report.is_whole
        ),
        timeout=patience.MS,
    )
    assert view.controller.result == before
    assert list(server.asked.values()) == [1, 1]
