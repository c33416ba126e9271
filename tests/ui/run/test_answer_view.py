from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.ui.run.answer_view import AnswerView


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
