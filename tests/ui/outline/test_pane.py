from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.outline.pane import OutlinePane
from studio.ui.style.theme import DARK
from tests.support.themes import wear

HEAD = (
    "---\nname: a\ninputs:\n  city:\n    kind: string\n"
    "tools:\n  - name: look\n    kind: function\n---\n"
)


@pytest.fixture
def pane(qtbot: QtBot) -> OutlinePane:
    made = OutlinePane()
    qtbot.addWidget(made)
    return made


def shown(pane: OutlinePane) -> list[str]:
    tree = pane._tree
    return [tree.topLevelItem(number).text(0) for number in range(tree.topLevelItemCount())]


def test_sections_come_change_and_go_and_the_items_of_the_others_stay(pane: OutlinePane) -> None:
    pane.set_document(parse(HEAD + "system:\nOne\nuser:\nTwo\n"))
    assert shown(pane) == ["name", "inputs", "tools", "system   One", "user   Two"]
    kept = pane._tree.topLevelItem(3)
    pane.set_document(parse(HEAD + "system:\nOne\nuser:\nTwo and more\nassistant:\nThree\n"))
    assert shown(pane)[3:] == ["system   One", "user   Two and more", "assistant   Three"]
    assert pane._tree.topLevelItem(3) is kept
    pane.set_document(parse(HEAD + "user:\nTwo\n"))
    assert shown(pane)[3:] == ["user   Two"]
    pane.set_document(parse("user:\nTwo\n"))
    assert shown(pane) == ["user   Two"]
    pane.set_document(None)
    assert shown(pane) == []


def test_a_tool_of_a_list_goes_by_its_new_name(pane: OutlinePane) -> None:
    pane.set_document(parse(HEAD + "system:\nOne\n"))
    assert pane._tree.topLevelItem(2).child(0).text(0) == "look"
    pane.set_document(parse(HEAD.replace("look", "find") + "system:\nOne\n"))
    assert pane._tree.topLevelItem(2).child(0).text(0) == "find"


def test_a_choice_goes_to_where_the_part_stands_now(pane: OutlinePane, qtbot: QtBot) -> None:
    pane.set_document(parse("system:\nOne\nuser:\nTwo\n"))
    text = "system:\nOne\nwith one more line\nuser:\nTwo\n"
    pane.set_document(parse(text))
    with qtbot.waitSignal(pane.request_go) as asked:
        pane._tree.itemActivated.emit(pane._tree.topLevelItem(1), 0)
    assert asked.args is not None
    assert asked.args[0].start == text.index("user:")
    pane.show_caret(len(text))
    assert pane._tree.currentItem() is pane._tree.topLevelItem(1)


def test_ten_thousand_sections_are_listed_in_pieces(pane: OutlinePane, qtbot: QtBot) -> None:
    text = HEAD + "user:\nHello\n" * 10_000
    pane.set_document(parse(text))
    assert not pane.is_settled
    qtbot.waitUntil(lambda: pane.is_settled)
    assert pane._tree.topLevelItemCount() == 3 + 10_000
    pane.show_caret(len(text))
    assert pane._tree.currentItem() is pane._tree.topLevelItem(10_002)


def test_another_theme_colours_every_part_anew(pane: OutlinePane) -> None:
    pane.set_document(parse(HEAD + "system:\nOne\n"))
    pane._tree.topLevelItem(1).setExpanded(False)
    wear(DARK)
    assert not pane._tree.topLevelItem(1).isExpanded()
    assert shown(pane)[3] == "system   One"
    color = pane._tree.topLevelItem(3).foreground(0).color().name()
    assert color == DARK.roles["system"].lower()
