"""Several carets: every key and command acts at each of them, and one undo brings all back."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent, QMimeData, QPointF, Qt, QUrl
from PySide6.QtGui import QGuiApplication, QInputMethodEvent, QKeyEvent, QMouseEvent, QTextCursor
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.application.highlight.lexer import PYTHON_FILE
from studio.core.prompty.parse import parse
from studio.core.text.source import Span, TextEdit
from studio.ui.app.main_window import MainWindow
from studio.ui.editor.text.view import PromptEditor

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
ALT = Qt.KeyboardModifier.AltModifier
KEEP = QTextCursor.MoveMode.KeepAnchor


@pytest.fixture
def editor(qtbot: QtBot) -> Iterator[PromptEditor]:
    view = PromptEditor()
    qtbot.addWidget(view)
    view.resize(600, 300)
    with qtbot.waitExposed(view):
        view.show()
    yield view
    view.close()


def load(editor: PromptEditor, marked: str) -> None:
    """Load a text; `|` is a caret, `<...>` a selection whose caret is at its end."""
    text, places, anchor = "", [], -1
    for char in marked:
        at = len(text.encode("utf-16-le")) // 2
        if char == "|":
            places.append((at, at))
        elif char == "<":
            anchor = at
        elif char == ">":
            places.append((anchor, at))
        else:
            text += char
    editor.load(text)
    editor.set_document(parse(text))
    if places:
        cursors = []
        for start, end in places:
            cursor = editor.textCursor()
            cursor.setPosition(start)
            cursor.setPosition(end, KEEP)
            cursors.append(cursor)
        editor.moveCursor(QTextCursor.MoveOperation.Start)
        editor.caret_choice.select([(each.anchor(), each.position()) for each in cursors])


def marked(editor: PromptEditor) -> str:
    """The text with its carets and selections."""
    units = editor.text().encode("utf-16-le")
    marks: list[tuple[int, int, str]] = []
    for each in editor.carets.all():
        if each.hasSelection():
            marks += [(each.selectionStart(), 1, "<"), (each.selectionEnd(), 0, ">")]
        else:
            marks.append((each.position(), 2, "|"))
    parts, last = [], 0
    for at, _, sign in sorted(marks):
        parts.append(units[last * 2 : at * 2].decode("utf-16-le") + sign)
        last = at
    return "".join(parts) + units[last * 2 :].decode("utf-16-le")


def keys(*pressed: tuple[Qt.Key, Qt.KeyboardModifier] | str) -> Callable[[PromptEditor], None]:
    def press(editor: PromptEditor) -> None:
        for each in pressed:
            if isinstance(each, str) and each.isascii():
                QTest.keyClicks(editor, each)
            elif isinstance(each, str):  # QTest knows only keys of one code unit
                event = QKeyEvent(QKeyEvent.Type.KeyPress, 0, PLAIN, each)
                QApplication.sendEvent(editor, event)
            else:
                QTest.keyClick(editor, *each)

    return press


PLAIN = Qt.KeyboardModifier.NoModifier
CASES = {
    "a pair is closed": ("a | b |", keys("("), "a (|) b (|)"),
    "a pair is put around": ("<one> <two>", keys("("), "(<one>) (<two>)"),
    "and typed on in it": ("<one> <two>", keys("(a"), "(a|) (a|)"),
    "a selection becomes an expression": ("<one> <t👩‍🚀>", keys("{{"), "{{ <one> }} {{ <t👩‍🚀> }}"),
    "braces open an expression": ("| and |", keys("{{"), "{{ | }} and {{ | }}"),
    "a closing bracket is typed over": ("| and |", keys("(x)"), "(x)| and (x)|"),
    "an empty pair goes as one": ("| and |", keys("(", (Qt.Key.Key_Backspace, PLAIN)), "| and |"),
    "a list goes on": ("- a|\n- b|\n", keys((Qt.Key.Key_Return, PLAIN)), "- a\n- |\n- b\n- |\n"),
    "an indent is kept": (
        "  a|\n  b|",
        keys((Qt.Key.Key_Return, PLAIN), "c"),
        "  a\n  c|\n  b\n  c|",
    ),
    "Tab fills up": ("a|\nbb|", keys((Qt.Key.Key_Tab, PLAIN)), "a |\nbb  |"),
    "Tab indents each line once": (
        "<a> <b>\n<c>",
        keys((Qt.Key.Key_Tab, PLAIN)),
        "  <a> <b>\n  <c>",
    ),
    "Shift+Tab outdents": ("  a|\n  b|", keys((Qt.Key.Key_Backtab, SHIFT)), "a|\nb|"),
    "by words": (
        "|one two\n|three four",
        keys((Qt.Key.Key_Right, CONTROL)),
        "one| two\nthree| four",
    ),
    "to a word selected": (
        "one two|\nthree four|",
        keys((Qt.Key.Key_Left, CONTROL | SHIFT), "x"),
        "one x|\nthree x|",
    ),
    "a word is erased": (
        "one two|\nthree four|",
        keys((Qt.Key.Key_Backspace, CONTROL)),
        "one |\nthree |",
    ),
    "the word ahead is erased": (
        "|one two\n|three four",
        keys((Qt.Key.Key_Delete, CONTROL)),
        "| two\n| four",
    ),
    "Home goes to the first word": (
        "  one|\n  two|",
        keys((Qt.Key.Key_Home, PLAIN)),
        "  |one\n  |two",
    ),
    "and from there to the start": (
        "  |one\n  |two",
        keys((Qt.Key.Key_Home, PLAIN)),
        "|  one\n|  two",
    ),
    "carets that meet are one": ("a|b|c", keys((Qt.Key.Key_Home, PLAIN), "x"), "x|abc"),
    "selections that meet are one": ("|one|", keys((Qt.Key.Key_Home, SHIFT), "x"), "x|"),
    "neighbors": ("<one><two>", keys("x"), "x|x|"),
    "characters of two units": ("😀|\n😀|", keys((Qt.Key.Key_Backspace, PLAIN), "👍"), "👍|\n👍|"),
    "marks that combine": (
        "e\u0301|x\ne\u0301|y",
        keys((Qt.Key.Key_Left, PLAIN)),
        "|e\u0301x\n|e\u0301y",
    ),
    "from right to left": ("שלום|\nשלום|", keys("x"), "שלוםx|\nשלוםx|"),
    "at the end of the text": ("a|\n|", keys("b"), "ab|\nb|"),
    "a long line": (f"{'x' * 5000}|{'y' * 5000}|", keys("("), f"{'x' * 5000}(|{'y' * 5000}(|)"),
}


@pytest.mark.parametrize("case", CASES)
def test_a_key_does_the_same_at_each_caret(editor: PromptEditor, case: str) -> None:
    before, press, after = CASES[case]
    load(editor, before)
    assert marked(editor) == before
    text = editor.text()
    press(editor)
    assert marked(editor) == after
    while editor.document().isUndoAvailable():
        editor.undo()
    assert editor.text() == text


LINES = {
    "down": ("a|\nb|\nc\nd|\ne", lambda e: e.lines.move(1), "c\na|\nb|\ne\nd|"),
    "up": ("a\nb|\nc|\nd\ne|", lambda e: e.lines.move(-1), "b|\nc|\na\ne|\nd"),
    "up, where the first cannot": ("a|\nb\nc|", lambda e: e.lines.move(-1), "a|\nc|\nb"),
    "copied down": ("a|b\nc\n|d", lambda e: e.lines.copy(1), "ab\na|b\nc\nd\n|d"),
    "copied up": ("a|b\nc\n|d", lambda e: e.lines.copy(-1), "a|b\nab\nc\n|d\nd"),
    "deleted": ("aa|\nb\nc|c\nd", lambda e: e.lines.delete(), "b|\nd|"),
    "deleted at the end": ("a\nb\nccc|", lambda e: e.lines.delete(), "a\nb|"),
    "one line, two carets": ("a|a|\nb", lambda e: e.lines.delete(), "b|"),
    "a column between two units": ("ab|c\na😀", lambda e: e.lines.delete(), "a|😀"),
    "joined": ("a|\nb\n\nc|\n  d", lambda e: e.lines.join(), "a| b\n\nc| d"),
    "commented": ("a|\nb\n|c", lambda e: e.lines.comment(), "{# a #}|\nb\n{# |c #}"),
    "and in again": ("{# a| #}\n{# b| #}", lambda e: e.lines.comment(), "a|\nb|"),
    "each part by its own kind": (
        "---\n<name: x\n\n---\nuser:\n  Hi>\nyou",
        lambda e: e.lines.comment(),
        "---\n# <name: x\n\n---\n{# user: #}\n  {# Hi #}>\nyou",
    ),
    "and in again, each part": (
        "---\n# <name: x\n---\n{# user: #}\n{# Hi> #}",
        lambda e: e.lines.comment(),
        "---\n<name: x\n---\nuser:\nHi>",
    ),
    "out where one part is not": (
        "---\n# <name: x\n---\nHi>",
        lambda e: e.lines.comment(),
        "---\n# # <name: x\n---\n{# Hi #}>",
    ),
    "a delimiter and another line": (
        "-|--\nname: x\n-|--\nH|i",
        lambda e: e.lines.comment(),
        "-|--\nname: x\n-|--\n{# H|i #}",
    ),
    "a rule in the body is no delimiter": (
        "---\nname: x\n---\nuser:\n-|--\nHi",
        lambda e: e.lines.comment(),
        "---\nname: x\n---\nuser:\n{# -|-- #}\nHi",
    ),
    "in the template's language": (
        "---\nname: x\n<template: mustache\n---\nuser:\nH>i",
        lambda e: e.lines.comment(),
        "---\nname: x\n# <template: mustache\n---\n{{! user: }}\n{{! H>i }}",
    ),
    "no comments in format strings": (
        "---\ntemplate: fstring\n<name: x\n---\nH>i",
        lambda e: e.lines.comment(),
        "---\ntemplate: fstring\n# <name: x\n---\nH>i",
    ),
    "indented": ("a|\nb\n|c", lambda e: e.lines.indent(1), "  a|\nb\n  |c"),
    "selected": ("a|\nb\nc|\n", lambda e: e.lines.select(), "<a\n>b\n<c\n>"),
    "a line below": ("  a|b\nc|", lambda e: e.lines.open_line(1), "  ab\n  |\nc\n|"),
    "a line above": ("  a|b\nc|", lambda e: e.lines.open_line(-1), "  |\n  ab\n|\nc"),
}


@pytest.mark.parametrize("case", LINES)
def test_a_command_on_lines_takes_those_of_each_caret(editor: PromptEditor, case: str) -> None:
    before, act, after = LINES[case]
    load(editor, before)
    act(editor)
    assert marked(editor) == after
    if editor.document().isUndoAvailable():
        editor.undo()
        assert marked(editor) == before  # in one step, and the carets with it
        editor.redo()
        assert marked(editor) == after


def test_undo_and_redo_bring_the_carets_along(editor: PromptEditor) -> None:
    load(editor, "<one> two <one>")
    QTest.keyClicks(editor, "a")
    assert marked(editor) == "a| two a|"
    editor.undo()
    assert marked(editor) == "<one> two <one>"
    editor.redo()
    assert marked(editor) == "a| two a|"
    # Another step in the place of one that was undone has carets of its own.
    editor.undo()
    editor.carets.drop()
    editor.moveCursor(QTextCursor.MoveOperation.End)
    QTest.keyClicks(editor, "b")
    editor.undo()
    editor.redo()
    assert len(editor.carets) == 0


def test_undo_takes_the_last_word_at_every_caret(editor: PromptEditor) -> None:
    load(editor, "<one> x <one>")
    QTest.keyClicks(editor, "some case")
    assert marked(editor) == "some case| x some case|"
    steps = ["some case| x some case|", "some| x some|", "<one> x <one>"]
    for step in steps[1:]:
        editor.undo()
        assert marked(editor) == step
    for step in steps[-2::-1]:
        editor.redo()
        assert marked(editor) == step
    editor.undo()
    QTest.keyClicks(editor, "thing")
    assert marked(editor) == "something| x something|"
    editor.undo()
    assert marked(editor) == "some| x some|"


def test_a_word_at_other_places_is_another_step(editor: PromptEditor) -> None:
    load(editor, "a| b|")
    QTest.keyClicks(editor, "x")
    QTest.keyClick(editor, Qt.Key.Key_Left)
    QTest.keyClicks(editor, "yz")
    assert marked(editor) == "ayz|x byz|x"
    editor.undo()
    assert marked(editor) == "a|x b|x"
    editor.undo()
    assert marked(editor) == "a| b|"
    QTest.keyClicks(editor, "no")
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    editor.undo()
    assert marked(editor) == "ano| bno|"


def test_the_next_match_is_a_whole_word_where_a_word_was_taken(editor: PromptEditor) -> None:
    load(editor, "|one phone one_two one ones")
    for _ in range(4):
        editor.caret_choice.add_next()
    assert marked(editor) == "<one> phone one_two <one> ones"
    load(editor, "<one> phone one")
    editor.caret_choice.add_next()
    assert marked(editor) == "<one> ph<one> one"  # what is selected by hand is looked for as it is


def test_matches_of_several_lines_and_of_all(editor: PromptEditor) -> None:
    load(editor, "<a\nb> a\nb a\nb")
    editor.caret_choice.add_next()
    assert marked(editor) == "<a\nb> <a\nb> a\nb"
    editor.caret_choice.skip_next()
    assert marked(editor) == "<a\nb> a\nb <a\nb>"
    editor.caret_choice.take_back()
    editor.caret_choice.take_back()
    assert marked(editor) == "<a\nb> a\nb a\nb"
    load(editor, "x |x x\nx")
    editor.caret_choice.add_all()
    assert marked(editor) == "<x> <x> <x>\n<x>"
    load(editor, "<a\nbb\n\nc>")
    editor.caret_choice.at_line_ends()
    assert marked(editor) == "a|\nbb|\n|\nc|"


def test_columns_are_those_on_the_screen(editor: PromptEditor) -> None:
    editor.load("abcdef\n😀bcdef\nab\ne\u0301bcdef")
    start, end = editor.textCursor(), editor.textCursor()
    start.setPosition(2)
    end.setPosition(editor.document().findBlockByNumber(3).position() + 4)
    editor.caret_choice.select_column(start, end)
    QTest.keyClicks(editor, "x")
    assert editor.text() == "abxdef\n😀xcdef\nabx\ne\u0301bxdef"


def clipboard(text: str) -> None:
    QGuiApplication.clipboard().setText(text)


def test_a_line_taken_without_a_selection_is_pasted_as_a_line(editor: PromptEditor) -> None:
    load(editor, "on|e\ntwo\nth😀ree")
    editor.copy()
    assert QGuiApplication.clipboard().text() == "one\n"
    load(editor, "one\ntwo\nth|ree")
    editor.paste()
    assert marked(editor) == "one\ntwo\none\nth|ree"
    QTest.keyClick(editor, Qt.Key.Key_Delete, SHIFT)  # the desktop's other key for it
    assert marked(editor) == "one\ntwo\non|e"
    QTest.keyClick(editor, Qt.Key.Key_Insert, SHIFT)
    assert marked(editor) == "one\ntwo\nthree\non|e"
    load(editor, "<a>bc")
    editor.paste()  # over a selection it is a text as any other
    assert marked(editor) == "three\n|bc"
    clipboard("one\n")  # from another program
    load(editor, "a|b")
    editor.paste()
    assert marked(editor) == "aone\n|b"


def test_each_caret_gets_its_own_part(editor: PromptEditor) -> None:
    load(editor, "<a\nb> <c>\n")
    editor.copy()
    load(editor, "1| 2|")
    editor.paste()
    assert marked(editor) == "1a\nb| 2c|"
    clipboard("x\r\ny\r\n")
    load(editor, "1| 2|")
    editor.paste()
    assert marked(editor) == "1x| 2y|"
    clipboard("x\ny\nz")
    load(editor, "1| 2|")
    editor.paste()
    assert marked(editor) == "1x\ny\nz| 2x\ny\nz|"
    load(editor, "a|\nb\nc|")
    editor.cut()
    assert editor.text() == "b"
    editor.paste()
    assert editor.text() == "a\nc\nb"


@pytest.mark.parametrize(
    "held", [b"no JSON", b"\xff", b"[" * 100_000, b'{"a": 1, "b": 2}', b"[1, 2]", b'"12"', b"null"]
)
def test_parts_that_another_program_made_up_are_left_out(editor: PromptEditor, held: bytes) -> None:
    data = QMimeData()
    data.setText("x\ny")
    data.setData("application/x-prompt-studio-parts", held)
    QGuiApplication.clipboard().setMimeData(data)
    load(editor, "1| 2|")
    editor.paste()
    assert marked(editor) == "1x| 2y|"


def test_a_picture_is_not_pasted_as_text(editor: PromptEditor) -> None:
    load(editor, "a|")
    data = QMimeData()
    data.setData("application/x-other", b"1")
    QGuiApplication.clipboard().setMimeData(data)
    editor.paste()
    assert editor.text() == "a"


@pytest.mark.qt_log_ignore("This plugin does not support")
def test_what_an_input_method_composes_is_written_at_each_caret(editor: PromptEditor) -> None:
    load(editor, "a|\nb|")
    QApplication.sendEvent(editor, QInputMethodEvent("にほ", []))
    event = QInputMethodEvent("", [])
    event.setCommitString("日本")
    QApplication.sendEvent(editor, event)
    assert marked(editor) == "a日本|\nb日本|"
    editor.undo()
    assert marked(editor) == "a|\nb|"


def test_alt_gr_writes_at_each_caret(editor: PromptEditor) -> None:
    """On Windows it is Ctrl with Alt: a German keyboard has its braces there."""
    load(editor, "a |\nb |")
    QTest.keyClick(editor, "[", CONTROL | ALT)
    assert marked(editor) == "a [|]\nb [|]"


def test_a_completion_is_written_at_each_caret(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("---\ninputs:\n  city:\n    kind: string\n---\nuser:\nx x\n")
    qtbot.waitUntil(lambda: page.document is not None and page.editor.hasFocus())
    editor = page.editor
    cursor = editor.textCursor()
    cursor.setPosition(editor.text().index("x x"))
    editor.setTextCursor(cursor)
    editor.caret_choice.add_all()
    QTest.keyClick(editor, Qt.Key.Key_Delete)
    QTest.keyClicks(editor, "{{ci")
    page.assist.complete()
    QTest.keyClick(editor, Qt.Key.Key_Tab)
    assert "user:\n{{ city }} {{ city }}\n" in editor.text()


def test_the_keys_of_vs_code(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("user:\n  red and red\nblue\n")
    editor = page.editor
    qtbot.waitUntil(editor.hasFocus)
    editor.go_to_line(2, 4)
    QTest.keyClick(editor, Qt.Key.Key_L, CONTROL | SHIFT)
    QTest.keyClicks(editor, "x")
    assert marked(editor) == "user:\n  x| and x|\nblue\n"
    QTest.keyClick(editor, Qt.Key.Key_Escape)
    QTest.keyClick(editor, Qt.Key.Key_Return, CONTROL)
    assert marked(editor) == "user:\n  x and x\n  |\nblue\n"
    QTest.keyClick(editor, Qt.Key.Key_BracketRight, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_BracketLeft, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_BracketLeft, CONTROL)
    QTest.keyClick(editor, Qt.Key.Key_Return, CONTROL | SHIFT)
    assert marked(editor) == "user:\n  x and x\n|\n\nblue\n"


def test_a_key_at_carets_far_from_each_other_changes_their_lines_only(
    editor: PromptEditor,
) -> None:
    """Qt colors and lays out again all from the first to the last place of one change."""
    load(editor, "|a\n" + "line\n" * 200 + "b|\n")
    changed: list[int] = []
    editor.document().contentsChange.connect(lambda _at, _gone, added: changed.append(added))
    QTest.keyClicks(editor, "(")
    assert editor.text() == "(a\n" + "line\n" * 200 + "b()\n"
    assert max(changed) < 20
    editor.undo()
    assert editor.text() == "a\n" + "line\n" * 200 + "b\n"


def test_a_step_where_nothing_changed_is_no_part_of_the_one_before(editor: PromptEditor) -> None:
    load(editor, "|a")
    QTest.keyClicks(editor, "x")
    editor.caret_choice.select([(0, 0), (2, 2)])
    QTest.keyClick(editor, Qt.Key.Key_Backspace)
    assert marked(editor) == "|x|"
    editor.undo()
    assert editor.text() == "xa"
    editor.undo()
    assert editor.text() == "a"


@pytest.mark.parametrize(
    "go",
    [
        lambda editor: editor.go_to_line(3),
        lambda editor: editor.reveal(Span(4, 5)),
        lambda editor: editor.set_caret(4),
        lambda editor: editor.show_place(4),
        lambda editor: editor.selectAll(),
        lambda editor: editor.structure.grow(parse(editor.text())),
    ],
)
def test_a_jump_leaves_one_caret(editor: PromptEditor, go: Callable[[PromptEditor], None]) -> None:
    """Those left behind would write where nobody looks."""
    load(editor, "|a\n|b\nc")
    go(editor)
    assert len(editor.carets) == 0


def test_page_keys_take_every_caret_along(editor: PromptEditor) -> None:
    load(editor, "|a\n|b\n" + "line\n" * 60)
    keys((Qt.Key.Key_PageDown, PLAIN))(editor)
    first, second = editor.carets.in_order()
    assert 5 < first.blockNumber() == second.blockNumber() - 1
    keys((Qt.Key.Key_PageUp, PLAIN), (Qt.Key.Key_PageUp, PLAIN))(editor)
    assert len(editor.carets) == 0  # they met in the first line


def test_carets_that_an_edit_of_somebody_else_brought_together_are_one(
    editor: PromptEditor,
) -> None:
    load(editor, "a|a b|b\n")
    editor.apply_edits((TextEdit(Span(0, 5), "c"),))
    QTest.keyClicks(editor, "x")
    assert editor.text() == "cx\n"


def test_no_caret_writes_in_lines_that_are_folded_away(editor: PromptEditor) -> None:
    load(editor, "system:\nfoo\nx\nuser:\nx\nfoo\n")
    editor.toggle_fold(3)
    editor.go_to_line(2)
    editor.caret_choice.add_all()
    assert [each.block().isVisible() for each in editor.carets.all()] == [True, True]
    editor.toggle_fold(3)  # they leave what is folded away again
    assert [each.blockNumber() for each in editor.carets.in_order()] == [1, 3]


def test_the_menu_of_a_right_click_is_for_all_carets(editor: PromptEditor) -> None:
    load(editor, "<one> <two>")
    place = editor.viewport().rect().center()
    pressed = QMouseEvent(
        QEvent.Type.MouseButtonPress,
        QPointF(place),
        editor.mapToGlobal(QPointF(place)),
        Qt.MouseButton.RightButton,
        Qt.MouseButton.RightButton,
        PLAIN,
    )
    QApplication.sendEvent(editor.viewport(), pressed)
    assert editor.carets.selected() == ["one", "two"]


def test_files_are_put_in_at_one_caret(window: MainWindow, tmp_path: Path, qtbot: QtBot) -> None:
    (tmp_path / "a.png").write_bytes(b"")
    prompt = tmp_path / "one.prompty"
    prompt.write_text("---\ntemplate:\n  parser: {kind: section}\n---\nuser[]:\nx x\n")
    page = window.tabs.open(prompt)
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)
    page.editor.set_caret(page.editor.text().index("x x"))
    page.editor.caret_choice.add_all()
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(tmp_path / "a.png"))])
    QGuiApplication.clipboard().setMimeData(data)
    page.editor.paste()
    assert page.editor.text().endswith("user[]:\n![image](a.png) x\n")
    assert not page.editor.textCursor().hasSelection()  # the next key would erase it
    page.editor.undo()
    assert page.editor.text().endswith("user[]:\nx x\n")


def test_a_snippet_takes_the_place_of_what_is_selected(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("user:\n😀 one two\n")
    qtbot.waitUntil(lambda: page.document is not None)
    page.editor.set_caret(page.editor.text().index("one"))
    page.editor.caret_choice.add_next()
    page.assist.insert_snippet("{{ ${1:name} }}")
    assert page.editor.text() == "user:\n😀 {{ name }} two\n"
    assert page.editor.textCursor().selectedText() == "name"


def test_folded_lines_come_into_sight_before_they_are_commented(editor: PromptEditor) -> None:
    load(editor, "---\nname: x\nmodel:\n  id: y\n---\nuser:\nHi\n")
    editor.folding.toggle(0)
    assert not editor.document().findBlockByNumber(1).isVisible()
    first, last = editor.textCursor(), editor.textCursor()
    first.setPosition(0)
    last.movePosition(QTextCursor.MoveOperation.End)
    last.movePosition(QTextCursor.MoveOperation.Up)
    editor.caret_choice.select([(each.position(), each.position()) for each in (first, last)])
    before = editor.text()
    editor.lines.comment()  # what is folded away stays as it is
    assert editor.text() == before.replace("Hi", "{# Hi #}")
    assert not editor.document().findBlockByNumber(1).isVisible()
    editor.carets.drop()
    editor.selectAll()
    editor.lines.comment()
    assert editor.document().findBlockByNumber(1).isVisible()
    assert editor.text().startswith("---\n# name: x\n# model:\n#   id: y\n---\n{# user: #}\n")


def test_lines_that_nobody_has_read_yet_are_commented_by_their_own_kind(
    editor: PromptEditor,
) -> None:
    """A long text is read while the window has nothing else to do; a command does not guess."""
    front = "".join(f"  k{number}: v\n" for number in range(3_000))
    editor.load(f"---\nmetadata:\n{front}---\nuser:\nHi\n")
    assert not editor.highlighter.is_done_to(3_000)
    cursor = editor.textCursor()
    cursor.setPosition(editor.document().findBlockByNumber(3_000).position())
    editor.setTextCursor(cursor)
    editor.lines.comment()
    assert editor.document().findBlockByNumber(3_000).text() == "  # k2998: v"


def test_code_of_a_tool_file_is_commented_as_python(editor: PromptEditor) -> None:
    editor.highlighter.begin_with(PYTHON_FILE)
    editor.load("def f():\n    return 1\n")
    editor.selectAll()
    editor.lines.comment()
    assert editor.text() == "# def f():\n#     return 1\n"
