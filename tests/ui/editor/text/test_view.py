from __future__ import annotations

import time
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtGui import QInputMethodEvent, QTextCursor, QTextOption
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QMenu, QToolTip
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.core.text.source import Span, TextEdit
from studio.ui.editor.completion.assist import EditorAssist
from studio.ui.editor.page.find_bar import FindBar
from studio.ui.editor.page.naming import Naming
from studio.ui.editor.text.painting.rows import CaretLine
from studio.ui.editor.text.view import PromptEditor
from studio.ui.style.theme import DARK, LIGHT
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = (
    "---\nname: x\ninputs:\n  city:\n    kind: string\n---\n"
    "system:\nHello {{ city }} 😀 {{ town }}\n"
)


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(700, 400)
    with qtbot.waitActive(view):
        view.show()
        view.activateWindow()
    view.setFocus()
    yield view
    view.close()


def caret_at(editor: PromptEditor, offset: int) -> None:
    cursor = editor.textCursor()
    cursor.setPosition(editor.source().to_utf16(offset))
    editor.setTextCursor(cursor)


def test_a_line_without_blanks_is_wrapped_in_time_that_grows_with_it(editor: PromptEditor) -> None:
    editor.load("system:\nHello\n")
    assert editor.wordWrapMode() == QTextOption.WrapMode.WrapAtWordBoundaryOrAnywhere
    began = time.process_time()
    editor.load("system:\n" + "a=b," * 100_000)  # by words it takes 10 s for each layout
    assert time.process_time() - began < 8
    assert editor.wordWrapMode() == QTextOption.WrapMode.WrapAnywhere


def test_typing_two_braces_makes_an_expression(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("system:\n")
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, "Hi {{name")
    assert editor.text() == "system:\nHi {{ name }}"


def test_one_undo_takes_one_typed_pair_back(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("")
    qtbot.keyClicks(editor, "(")
    assert editor.text() == "()"
    qtbot.keyClick(editor, Qt.Key.Key_Z, Qt.KeyboardModifier.ControlModifier)
    assert editor.text() == ""


def test_text_keeps_characters_that_plain_text_would_change(editor: PromptEditor) -> None:
    odd = "a\u00a0b \u2028 c\td 😀"
    editor.load(odd)
    assert editor.text() == odd


def test_offsets_are_code_points(editor: PromptEditor) -> None:
    editor.load("😀😀x")
    caret_at(editor, 2)
    assert editor.caret() == 2
    assert editor.textCursor().position() == 4
    editor.reveal(Span(2, 3))
    assert editor.marks.flashed == "x"


def test_reload_keeps_undo_and_the_caret(editor: PromptEditor) -> None:
    editor.load("one\ntwo\nthree\n")
    caret_at(editor, 9)
    editor.replace_all("zero\none\ntwo\nthree\n")
    assert editor.text().startswith("zero")
    assert editor.caret() == 14
    editor.undo()
    assert editor.text() == "one\ntwo\nthree\n"


def test_edits_are_one_undo_step(editor: PromptEditor) -> None:
    editor.load("a b c")
    editor.apply_edits((TextEdit(Span(0, 1), "xx"), TextEdit(Span(4, 5), "yy")))
    assert editor.text() == "xx b yy"
    editor.undo()
    assert editor.text() == "a b c"


def test_problems_are_underlined_where_they_are(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    document = parse(PROMPT)
    problem = next(each for each in document.problems if "town" in each.message)
    editor.set_document(document)
    chosen = [
        selection.cursor.selectedText()
        for selection in editor.extraSelections()
        if selection.format.underlineColor().name() == LIGHT.warning
    ]
    assert document.source.slice(problem.span) in chosen


def test_a_fix_is_applied_and_can_be_undone(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    caret_at(editor, PROMPT.index("town") + 1)
    assist = EditorAssist(editor)
    (problem, *_) = [each for each in assist.problems_here() if each.fixes]
    assert assist.apply(problem.fixes[0], PROMPT)
    assert parse(editor.text()).input("town") is not None
    editor.undo()
    assert editor.text() == PROMPT


def test_a_fix_is_made_for_the_text_as_it_stands(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    stale = next(fix for each in editor.problems for fix in each.fixes)
    editor.replace_all(PROMPT.replace("name: x", "name: another name"))  # not read yet
    changed = editor.text()
    assist = EditorAssist(editor)
    assert not assist.apply(stale, PROMPT)
    assert editor.text() == changed
    caret_at(editor, changed.index("town") + 1)
    assist.fix_menu().actions()[0].trigger()
    assert parse(editor.text()).input("town") is not None
    assert "name: another name\n" in editor.text()


def test_a_click_on_the_bulb_offers_the_fixes(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    line = PROMPT[: PROMPT.index("town")].count("\n")
    editor.go_to_line(line + 1)
    block = editor.textCursor().block()
    at = QPoint(8, int(editor.geometry_of(block).center().y()))
    with qtbot.waitSignal(editor.request_fixes) as asked:
        qtbot.mouseClick(editor._gutter, Qt.MouseButton.LeftButton, pos=at)
    assert asked.args == [line]
    with qtbot.assertNotEmitted(editor.request_fixes):
        editor.go_to_line(1)
        qtbot.mouseClick(editor._gutter, Qt.MouseButton.LeftButton, pos=at)


def test_a_hint_says_that_there_is_no_fix_and_takes_no_keyboard(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.load("system:\nHi\n")
    editor.set_document(parse(editor.text()))
    EditorAssist(editor).show_fixes()
    qtbot.waitUntil(lambda: QToolTip.text() == "No quick fix here")
    assert QApplication.activePopupWidget() is None
    qtbot.keyClicks(editor, "x")
    assert editor.text() == "xsystem:\nHi\n"
    QToolTip.hideText()
    qtbot.waitUntil(lambda: not QToolTip.isVisible())


def test_undo_brings_the_changed_place_into_view(editor: PromptEditor) -> None:
    text = "name: x\n" + "".join(f"line {number}\n" for number in range(300))
    editor.load(text)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    editor.apply_edits((TextEdit(Span(0, 4), "title"),))  # as a form does

    def lines() -> list[int]:
        return [block.blockNumber() for block, _, _ in editor.visible_blocks()]

    assert 0 not in lines()
    editor.undo()
    assert 0 in lines()
    editor.ensureCursorVisible()
    editor.redo()
    assert 0 in lines()
    editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(editor, "x")
    before = lines()
    assert 0 not in before
    editor.undo()
    assert lines() == before


def test_return_takes_the_first_fix(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    caret_at(editor, PROMPT.index("town") + 1)
    EditorAssist(editor).show_fixes()
    qtbot.waitUntil(lambda: any(menu.isVisible() for menu in editor.findChildren(QMenu)))
    (menu,) = (menu for menu in editor.findChildren(QMenu) if menu.isVisible())
    qtbot.keyClick(menu, Qt.Key.Key_Return)
    assert parse(editor.text()).input("town") is not None


def test_rename_changes_every_place_and_definition_goes_both_ways(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    assist = Naming(editor, lambda: True, lambda: None)
    caret_at(editor, PROMPT.index("{{ city") + 4)
    assist.go_to_definition()
    assert editor.marks.flashed == "city"
    assert editor.caret() == PROMPT.index("city")
    assist.go_to_definition()
    assert editor.caret() == PROMPT.index("{{ city") + 3
    assert assist.rename_to("place")
    assert editor.text() == PROMPT.replace("city", "place")
    assert not assist.rename_to("not a name")


def test_completion_with_real_keys(editor: PromptEditor, qtbot: QtBot) -> None:
    assist = EditorAssist(editor)
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(editor, "{{ci")
    qtbot.waitUntil(assist._popup.isVisible)
    assert assist._popup.labels()[0] == "city"
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text().endswith("{{ city }}")
    assert not assist._popup.isVisible()


def test_enter_after_the_whole_word_begins_a_line(editor: PromptEditor, qtbot: QtBot) -> None:
    assist = EditorAssist(editor)
    text = "---\ninputs:\n  city:\n    kind: \n---\nuser:\nHi\n"
    editor.load(text)
    editor.set_document(parse(text))
    caret_at(editor, text.index("kind: ") + 6)
    qtbot.keyClicks(editor, "obj")
    qtbot.waitUntil(assist._popup.isVisible)
    qtbot.keyClicks(editor, "ect")  # the list is some keys behind
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    assert editor.text() == text.replace("kind: ", "kind: object\n    ")


def test_a_completed_key_leaves_the_dialect(editor: PromptEditor, qtbot: QtBot) -> None:
    text = "---\nname: x\nmodel:\n  \n---\nuser:\n![image](https://x.org/a.png)\n"
    editor.load(text)
    editor.set_document(parse(text))
    assist = EditorAssist(editor)
    caret_at(editor, text.index("  \n---") + 2)
    qtbot.keyClicks(editor, "provi")
    qtbot.waitUntil(assist._popup.isVisible)
    assert assist._popup.labels()[0] == "provider"
    editor.set_document(parse(editor.text()))
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    document = parse(editor.text())
    assert document.dialect == "section"
    assert "provider: " in editor.text()
    assert document.template.parser == "section"
    assert editor.text()[: editor.caret()].endswith("provider: ")


def test_hover_tells_about_inputs_keys_and_problems(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    assist = EditorAssist(editor)

    def at(word: str) -> str:
        caret_at(editor, PROMPT.index(word) + 1)
        return assist.hover_text(editor.cursorRect().center())

    assert "string" in at("city }}")
    assert "not declared" in at("town")
    assert "inputs" in at("inputs:")
    assert at("Hello") == ""


def test_folding_hides_lines_and_going_there_opens_them(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    editor.set_document(parse(PROMPT))
    editor.toggle_fold(0)
    assert not editor.document().findBlockByNumber(3).isVisible()
    assert editor.document().findBlockByNumber(6).isVisible()
    editor.reveal(Span(PROMPT.index("city"), PROMPT.index("city") + 4))
    assert editor.document().findBlockByNumber(3).isVisible()


def test_find_with_a_pattern_and_replace_all_as_one_step(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.load("cat 😀 cot\ncut dog")
    bar = FindBar(editor, editor)
    bar.ask(replace=True)
    bar._regex.setChecked(True)
    bar._find.setText("c(.)t")
    bar._replace.setText(r"[\1]")
    assert bar._count.text() == "3 matches"
    bar.go(1)
    assert editor.textCursor().selectedText() == "cat"
    bar.go(-1)
    assert editor.textCursor().selectedText() == "cut"
    bar.replace_all()
    assert editor.text() == "[a] 😀 [o]\n[u] dog"
    editor.undo()
    assert editor.text() == "cat 😀 cot\ncut dog"
    bar._find.setText("(")
    assert bar._count.text().startswith("Pattern:")
    bar.leave()


def test_comment_toggle_keeps_the_selection(editor: PromptEditor) -> None:
    editor.load(PROMPT)
    caret_at(editor, 5)
    editor.lines.comment()
    assert editor.text().split("\n")[1] == "# name: x"
    editor.lines.comment()
    assert editor.text() == PROMPT


def test_tab_indents_and_shift_tab_takes_it_back(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("a\nb")
    editor.selectAll()
    qtbot.keyClick(editor, Qt.Key.Key_Tab)
    assert editor.text() == "  a\n  b"
    qtbot.keyClick(editor, Qt.Key.Key_Backtab)
    assert editor.text() == "a\nb"


def test_a_breakpoint_is_on_the_tool_or_the_message_and_moves_with_it(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    text = "---\ntools:\n  - name: look\n    kind: function\n---\nsystem:\nHi\n"
    editor.load(text)
    editor.set_document(parse(text))
    with qtbot.waitSignal(editor.breakpoint_toggled) as asked:
        assert editor.toggle_breakpoint(3)
    assert asked.args == ["look"]
    editor.show_breakpoints(frozenset({"look"}))
    assert editor.breakpoints == {2}
    longer = text.replace("tools:", "name: x\ntools:")
    editor.replace_all(longer)
    editor.set_document(parse(longer))
    assert editor.breakpoints == {3}
    with qtbot.waitSignal(editor.message_breakpoint_toggled) as message:
        assert editor.toggle_breakpoint(6)
    assert message.args == ["system 1"]
    editor.show_breakpoints(frozenset(), frozenset({"system 1"}))
    assert editor.breakpoints == {6}
    with qtbot.waitSignal(editor.message_breakpoint_toggled) as in_its_text:
        assert editor.toggle_breakpoint(7)
    assert in_its_text.args == ["system 1"]
    assert not editor.toggle_breakpoint(0)


def test_composed_text_stays_out_until_it_is_done(editor: PromptEditor) -> None:
    editor.load("abc")
    QApplication.sendEvent(editor, QInputMethodEvent("に", []))
    assert editor.text() == "abc"
    done = QInputMethodEvent("", [])
    done.setCommitString("日")
    QApplication.sendEvent(editor, done)
    assert editor.text() == "日abc"


def test_long_texts_are_coloured_in_slices_to_the_end(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("system:\n" + "Hello {{ name }} and *you*\n" * 6000)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    last = editor.document().findBlockByNumber(6000)
    assert last.layout().formats()
    editor.moveCursor(QTextCursor.MoveOperation.Start)
    qtbot.keyClicks(editor, "```")
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    assert editor.highlighter.state_before(last).zone == "fence"


def test_theme_changes_the_colours_of_text(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("system:\n")
    first = editor.document().firstBlock()
    assert first.layout().formats()[0].format.foreground().color().name() == LIGHT.syntax["role"]
    wear(DARK)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    assert first.layout().formats()[0].format.foreground().color().name() == DARK.syntax["role"]


def test_theme_reaches_the_last_line_of_a_long_text(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("Hello {{ name }}\n" * 5000)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    wear(DARK)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    last = editor.document().findBlockByNumber(4999)
    colors = {each.format.foreground().color().name() for each in last.layout().formats()}
    assert DARK.syntax["variable"] in colors


def test_the_visible_lines_of_a_long_text_are_coloured_first(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.load("Hello {{ name }}\n" * 20_000)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    assert not editor.highlighter.is_done
    editor.viewport().repaint()
    block = editor.firstVisibleBlock()
    assert block.blockNumber() > 10_000
    assert block.layout().formats()
    assert not editor.highlighter.is_done
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    assert editor.document().findBlockByNumber(10_000).layout().formats()


def test_a_line_that_waits_for_its_turn_keeps_its_colours(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.load("user:\n" + "Hello {{ name }}\n" * 20)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    block = editor.document().findBlockByNumber(5)
    block.setUserState(-1)  # as a new theme leaves it
    editor.highlighter.show_range(block, block)
    assert not editor.highlighter.is_done
    assert block.next().layout().formats(), "the other side may show it right now"
    qtbot.waitUntil(lambda: editor.highlighter.is_done)


def remove_lines(editor: PromptEditor, first: int, last: int) -> None:
    cursor = QTextCursor(editor.document().findBlockByNumber(first))
    cursor.setPosition(
        editor.document().findBlockByNumber(last).position(), QTextCursor.MoveMode.KeepAnchor
    )
    cursor.removeSelectedText()


def test_lines_that_wait_for_their_turn_may_go_away(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load("user:\n" + "Hello {{ name }}\n" * 20)
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    block = editor.document().findBlockByNumber(5)
    block.setUserState(-1)
    editor.highlighter.show_range(block, block)
    assert not editor.highlighter.is_done
    remove_lines(editor, 3, 15)
    assert all(
        place.block() == editor.document().findBlock(place.position())
        for place in editor.highlighter._pending
    )
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    assert editor.document().findBlockByNumber(4).layout().formats()


@pytest.mark.parametrize("caret", [5, 200])
def test_the_line_that_the_caret_left_is_one_of_the_text(qtbot: QtBot, caret: int) -> None:
    # A line that went away still says that it is valid; to ask for its place crashed.
    editor = PromptEditor()
    qtbot.addWidget(editor)
    editor.load("line\n" * 300)
    light = CaretLine(editor)
    cursor = QTextCursor(editor.document().findBlockByNumber(200))
    editor.setTextCursor(cursor)
    light.follow(cursor)
    cursor.setPosition(editor.document().findBlockByNumber(caret).position())
    editor.setTextCursor(cursor)
    remove_lines(editor, 100, 300)
    left = light.follow(editor.textCursor())
    if caret == 200:
        assert left is None
    else:
        assert left == editor.document().findBlockByNumber(100)


def test_loading_a_long_text_asks_for_no_line_one_by_one(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    """Of 3,000 lines none is read while the text is set: the window can be painted at once."""
    editor.load(PROMPT + "# Line\n" * 3_000)
    assert not editor.highlighter.is_done
    assert {block_state(editor, line) for line in (0, 1_500, 3_000)} == {-1}
    qtbot.waitUntil(lambda: block_state(editor, 0) != -1)  # the paint reads what it shows
    qtbot.waitUntil(lambda: editor.highlighter.is_done)
    editor.load(PROMPT)
    assert block_state(editor, 0) != -1  # a short text has its colours at once
    qtbot.waitUntil(lambda: editor.highlighter.is_done)  # at once too, but on a busy machine


def block_state(editor: PromptEditor, line: int) -> int:
    return editor.document().findBlockByNumber(line).userState()


def test_a_folded_part_stays_folded_when_lines_come_in_above_it(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    text = "---\nname: a\n---\nsystem:\nBe brief.\nAnd kind.\n\nuser:\nHello.\nWorld.\n"
    editor.load(text)
    editor.set_document(parse(text))
    editor.toggle_fold(7)
    assert not editor.document().findBlockByNumber(8).isVisible()
    editor.go_to_line(5)
    qtbot.keyClick(editor, Qt.Key.Key_Return)
    editor.set_document(parse(editor.text()))
    assert editor.folding.is_closed(8)
    assert not editor.folding.is_closed(3)
    assert not editor.document().findBlockByNumber(9).isVisible()
    assert editor.document().findBlockByNumber(7).isVisible()


def test_a_part_that_is_no_fold_any_more_comes_back(editor: PromptEditor) -> None:
    text = "system:\nBe brief.\n\nuser:\nHello.\nWorld.\n"
    editor.load(text)
    editor.set_document(parse(text))
    editor.toggle_fold(3)
    editor.replace_all(text.replace("user:", "used"))
    editor.set_document(parse(editor.text()))
    assert editor.document().findBlockByNumber(4).isVisible()


def test_folds_of_a_long_text_are_found_without_the_window_waiting(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    text = "---\nname: a\n---\n" + "user:\nA line that is there.\n" * 5_000
    editor.load(text)
    document = parse(text)
    with qtbot.waitSignal(editor.folding.found):
        editor.set_document(document)
        assert not editor.folding.folds
    assert editor.folding.folds[3].last == 4
    editor.toggle_fold(3)
    assert editor.folding.is_closed(3)
    assert not editor.document().findBlockByNumber(4).isVisible()


def test_the_caret_stays_in_sight_when_a_fix_adds_lines_above_it(
    editor: PromptEditor, qtbot: QtBot
) -> None:
    editor.load(PROMPT + "A line.\n" * 60)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    start = PROMPT.index("    kind")
    editor.apply_edits((TextEdit(Span(start, start), "    default: Oslo\n" * 5),))
    assert editor.viewport().rect().contains(editor.cursorRect().center())
    editor.verticalScrollBar().setValue(0)  # the person looks elsewhere
    editor.apply_edits((TextEdit(Span(start, start), "    default: Oslo\n" * 5),))
    assert editor.verticalScrollBar().value() == 0


def test_the_caret_stays_in_sight_when_a_bar_takes_room(editor: PromptEditor, qtbot: QtBot) -> None:
    editor.load(PROMPT + "A line.\n" * 60)
    editor.moveCursor(QTextCursor.MoveOperation.End)
    editor.resize(editor.width(), 200)
    qtbot.waitUntil(lambda: editor.viewport().height() <= 200)
    assert editor.viewport().rect().contains(editor.cursorRect().center())
    editor.resize(editor.width(), 400)
    qtbot.waitUntil(lambda: editor.viewport().height() > 300)
    editor.verticalScrollBar().setValue(0)  # the person looks elsewhere
    editor.resize(editor.width(), 200)
    qtbot.waitUntil(lambda: editor.viewport().height() <= 200)
    assert editor.verticalScrollBar().value() == 0
