"""The view of a comparison: signs, words, links, and another theme."""

from __future__ import annotations

from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from pytestqt.qtbot import QtBot

from studio.application.comparison import ComparedPart, compare_texts
from studio.core.text.source import Span
from studio.ui.parts.text_views import ComparisonView

BEFORE = "\n".join(["Go to Rome now.", *map(str, range(20))])
ROWS = compare_texts(BEFORE, BEFORE.replace("Rome", "Oslo"))


def place_of(view: ComparisonView, text: str) -> QPoint:
    cursor = view.document().find(text)
    cursor.setPosition(cursor.selectionStart() + 2)
    return view.cursorRect(cursor).center()


def test_signs_numbers_and_gaps_are_said_in_characters(qtbot: QtBot) -> None:
    view = ComparisonView()
    qtbot.addWidget(view)
    view.show_rows(ROWS, "Compared with <old>")
    assert view.toPlainText().split("\n") == [
        "Compared with <old>",
        "   1  − Go to Rome now.",
        "   1  + Go to Oslo now.",
        "   2    0",
        "   3    1",
        "   4    2",
        "   ⋯  17 lines are the same",
    ]
    view.show_rows((), "Nothing differs")
    assert view.toPlainText() == "Nothing differs"


def test_a_part_that_is_written_in_the_editor_is_a_link(qtbot: QtBot) -> None:
    view = ComparisonView()
    qtbot.addWidget(view)
    view.resize(500, 600)
    view.show_parts((ComparedPart("plain", ROWS), ComparedPart("linked", ROWS, Span(0, 1))))
    with qtbot.waitExposed(view):
        view.show()
    assert view.anchorAt(place_of(view, "plain")) == ""
    with qtbot.waitSignal(view.part_chosen) as chosen:
        QTest.mouseClick(view.viewport(), Qt.MouseButton.LeftButton, pos=place_of(view, "linked"))
    assert chosen.args == [1]
