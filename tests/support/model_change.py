"""The answer to the question whether a run goes on with another model."""

from __future__ import annotations

from PySide6.QtWidgets import QAbstractButton
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench


def change_model(qtbot: QtBot, workbench: Workbench) -> None:
    """Say that the run goes on with the model that was picked since."""
    bar, run = workbench.run_pane.actions_bar, workbench.run

    def offered() -> list[QAbstractButton]:
        return [each for each in bar.buttons if each.text().startswith("Change to ")]

    qtbot.waitUntil(lambda: run.view.choice == "model" and bool(offered()))
    offered()[0].click()
    qtbot.waitUntil(lambda: run.view.choice == "")
