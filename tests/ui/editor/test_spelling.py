from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtGui import QTextCharFormat
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.page import EditorPage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = "user:\nA quesiton for {{ usr }}\n"


def marked(page: EditorPage) -> list[str]:
    dashes = QTextCharFormat.UnderlineStyle.DashUnderline
    return [
        each.cursor.selectedText()
        for each in page.editor.extraSelections()
        if each.format.underlineStyle() == dashes
    ]


@pytest.fixture
def page(window: MainWindow, tmp_path: Path) -> EditorPage:
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    page = window.tabs.open(path)
    assert page is not None
    return page


def choose(window: MainWindow, language: str) -> None:
    """Choose a language in the palette."""
    window.actions_by_id["edit.spelling"].trigger()
    palette = window.commands.chooser.palette
    choice = next(each for each in palette._choices if each.text == language)
    palette.leave()
    choice.act()


def test_off_at_first_then_marked_and_corrected(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    qtbot.waitUntil(lambda: page.document is not None)
    assert not window.services.settings.value.spelling
    assert not marked(page)
    choose(window, "en_US")
    qtbot.waitUntil(lambda: marked(page) == ["quesiton"])
    page.editor.go_to_line(2, 4)
    first = page.assist.fix_menu().actions()[0]
    assert first.text() == "question"
    first.trigger()
    assert page.editor.text() == PROMPT.replace("quesiton", "question")
    qtbot.waitUntil(lambda: not marked(page))
    page.editor.undo()
    qtbot.waitUntil(lambda: marked(page) == ["quesiton"])
    choose(window, "Off")
    assert not marked(page)


def test_a_learned_word_is_known_and_kept(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    choose(window, "en_US")
    qtbot.waitUntil(lambda: marked(page) == ["quesiton"])
    page.editor.go_to_line(2, 4)
    actions = page.assist.fix_menu().actions()
    next(each for each in actions if "your words" in each.text()).trigger()
    assert window.services.settings.value.own_words == ("quesiton",)
    qtbot.waitUntil(lambda: not marked(page))


def test_a_language_that_is_not_there_is_told(
    window: MainWindow, page: EditorPage, qtbot: QtBot
) -> None:
    store = window.services.settings
    qtbot.waitUntil(lambda: page.document is not None)
    with qtbot.waitSignal(window.services.messages.noticed) as told:
        store.set(replace(store.value, spelling="xx_XX"))
    assert "xx_XX" in told.args[0].what
