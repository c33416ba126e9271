from __future__ import annotations

from PySide6.QtWidgets import QTextBrowser
from pytestqt.qtbot import QtBot

from studio.application.run.text import Block, Piece
from studio.ui.run.inspector.answer_view import AnswerView
from studio.ui.run.styled_text import StyledText


def test_a_long_answer_comes_part_by_part_and_whole(qtbot: QtBot) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    answer = "\n\n".join(f"- item {n} with **words** and more of them" for n in range(900))
    view.show_answer(answer, ())
    assert view.text.startswith("item 0 ")
    assert not view.is_whole
    qtbot.waitUntil(lambda: view.is_whole)
    assert "**" not in view.text
    assert [f"item {n} " in view.text for n in range(900)] == [True] * 900


def test_another_answer_takes_the_place_of_one_that_is_still_coming(qtbot: QtBot) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    view.show_answer("old words\n\n" * 3000, ())
    view.show_answer("New.", ())
    assert view.is_whole
    assert view.text == "New."


def test_a_note_takes_the_height_of_its_lines_and_leaves_the_rest_to_the_answer(
    qtbot: QtBot,
) -> None:
    view = AnswerView()
    qtbot.addWidget(view)
    view.resize(600, 200)
    view.show_answer("A line.\n\n" * 20, (Block("warning", (Piece("It was cut off."),)),))
    with qtbot.waitExposed(view):
        view.show()
    notes = view.findChild(StyledText)
    answer = view.findChild(QTextBrowser)
    assert notes is not None
    assert answer is not None
    assert 0 < notes.height() < 2.5 * notes.fontMetrics().lineSpacing()
    assert notes.verticalScrollBar().maximum() == 0
    one = notes.height()
    view.show_answer("Short.", (Block("warning", (Piece("It was cut off. " * 40),)),))
    qtbot.waitUntil(lambda: notes.height() > one)
    assert notes.height() <= 100
    view.show_answer("Short.", (Block("body", (Piece("{}\n" * 5000),)),))
    qtbot.waitUntil(lambda: notes.height() == 100)
