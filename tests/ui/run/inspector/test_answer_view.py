from __future__ import annotations

from PySide6.QtWidgets import QApplication, QLabel, QStackedWidget, QTextBrowser, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.application.run.text import Block, Piece
from studio.ui.run.inspector.answer_view import AnswerView
from studio.ui.run.styled_text import StyledText
from studio.ui.style.application import _Rest, apply_theme
from studio.ui.style.theme import DARK, LIGHT
from tests.support.themes import wear


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


def test_an_answer_that_is_hidden_takes_another_theme(qtbot: QtBot, qapp: QApplication) -> None:
    pages = QStackedWidget()
    qtbot.addWidget(pages)
    view, other = AnswerView(), QLabel("Another tab")
    for page in (view, other):
        pages.addWidget(page)
    pages.resize(400, 300)
    wear(LIGHT)
    with qtbot.waitExposed(pages):
        pages.show()
    view.show_answer('{"queue": "safety"}', (Block("body", (Piece("{}"),)),))
    pages.setCurrentWidget(other)
    apply_theme(qapp, DARK)
    rest = qapp.findChild(_Rest)
    assert rest is not None
    rest.begin([view, *view.findChildren(QWidget)][::-1])
    while rest._widgets:
        rest._work_until(0.0)  # one by one, as on a busy machine
    pages.setCurrentWidget(view)
    for page in view.findChildren(QTextEdit):
        picture = page.viewport().grab().toImage()
        ground = picture.pixelColor(picture.width() - 2, picture.height() - 2)
        assert ground.name() == DARK.surface, page.accessibleName()
