from __future__ import annotations

from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from studio.ui.window.status import StatusBar


def test_a_long_sentence_of_a_run_leaves_room_for_the_other_cells(qtbot: QtBot) -> None:
    bar = StatusBar()
    qtbot.addWidget(bar)
    sentence = "Stopped at a problem: " + "the arguments cannot be read " * 8
    bar.resize(1600, 24)
    bar.set_run(sentence)
    cell = next(each for each in bar.findChildren(QToolButton) if each.toolTip() == sentence)

    assert cell.text().startswith("Stopped at a problem: ")
    assert cell.text().endswith("…")
    assert cell.sizeHint().width() < 640
    bar.resize(900, 24)
    bar.show()
    assert cell.sizeHint().width() < 320
    bar.set_run("Done in 2 iterations")
    assert cell.text() == "Done in 2 iterations"
