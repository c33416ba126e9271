from __future__ import annotations

from pathlib import Path

from PySide6.QtWidgets import QToolButton
from pytestqt.qtbot import QtBot

from studio.application.trust import FolderTrust
from studio.core.prompty.parse import parse
from studio.ui.window.status import StatusBar


def test_only_the_runs_sentence_is_cut_where_there_is_no_room(qtbot: QtBot) -> None:
    """The bar squeezed its cells, and said "No …lems"."""
    bar = StatusBar()
    qtbot.addWidget(bar)
    document = parse("system:\nHi {{ name }}\n")
    bar.set_place(document.source, 4)
    bar.set_document(document)
    bar.set_file("utf-8", "\r\n", bom=True)
    bar.set_problems(document.problems)
    bar.set_trust(FolderTrust(Path("/work"), is_trusted=False))
    bar.set_tokens("≈12,345 tokens")
    bar.set_speed("123.4 tokens/s")
    bar.set_run("Waiting for you before the tool calculator, in iteration 2 of 6")
    bar.show()
    shown = {}
    for width in (1600, 900, 540):
        bar.resize(width, 24)
        cells = [each for each in bar.findChildren(QToolButton) if each.isVisible()]
        qtbot.waitUntil(
            lambda cells=cells: all(cell.width() >= cell.sizeHint().width() for cell in cells)
        )
        assert all(bar.rect().contains(cell.geometry()) for cell in cells)
        shown[width] = {cell.accessibleName() for cell in cells}
    always = {"Line and column", "Problems", "Run", "Tokens", "Trust in the folder"}
    assert shown[1600] == {*always, "Encoding and line ends", "Dialect", "Speed of the model"}
    assert "Encoding and line ends" not in shown[540]
    assert shown[540] >= always
    bar.resize(1600, 24)
    assert all(each.isVisible() for each in bar.findChildren(QToolButton))


def test_a_long_sentence_of_a_run_leaves_room_for_the_other_cells(qtbot: QtBot) -> None:
    bar = StatusBar()
    qtbot.addWidget(bar)
    sentence = "Stopped at a problem: " + "the arguments cannot be read " * 8
    bar.resize(1600, 24)
    bar.set_run(sentence)
    cell = next(each for each in bar.findChildren(QToolButton) if each.toolTip() == sentence)

    assert cell.text().startswith("Stopped at a problem: ")
    assert cell.text().endswith("…")
    # Fonts differ: what another test of this process set up stays.
    assert len(cell.text()) * 2 < len(sentence)
    assert cell.sizeHint().width() < cell.fontMetrics().averageCharWidth() * 60
    narrow = cell.fontMetrics().averageCharWidth() * 30
    bar.resize(narrow, 24)
    bar.show()
    assert cell.sizeHint().width() <= narrow
    bar.set_run("Done in 2 iterations")
    assert cell.text() == "Done in 2 iterations"
