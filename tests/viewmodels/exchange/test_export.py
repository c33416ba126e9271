from __future__ import annotations

from pathlib import Path

from pytestqt.qtbot import QtBot

from studio.viewmodels.exchange.export import ExportController
from tests.application.exchange.test_export import PROMPT, order


def test_the_controller_makes_and_writes(qtbot: QtBot, tmp_path: Path) -> None:
    controller = ExportController()
    with qtbot.waitSignal(controller.made) as caught:
        controller.order(order("prompty", city="Oslo"))
    assert caught.args is not None
    path = tmp_path / "out.prompty"
    assert controller.write(path, caught.args[0]) == ""
    assert path.read_text(encoding="utf-8") == PROMPT
    assert "could not be written" in controller.write(tmp_path / "no" / "x", caught.args[0])
