from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QTextCursor
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.editor.page.page import EditorPage

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROL = Qt.KeyboardModifier.ControlModifier
ALT = Qt.KeyboardModifier.AltModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PROMPT = "---\nname: x\n---\nuser:\nHello {{ nobody }}\n"


@pytest.fixture
def prompts(tmp_path: Path) -> list[Path]:
    paths = [tmp_path / f"{name}.prompty" for name in "ab"]
    for path in paths:
        path.write_text(PROMPT.replace("name: x", f"name: {path.stem}"), encoding="utf-8")
    return paths


def opened(window: MainWindow, path: Path) -> EditorPage:
    page = window.tabs.open(path)
    assert page is not None
    return page


def split(window: MainWindow, qtbot: QtBot) -> tuple[EditorPage, EditorPage]:
    """Split with the key; the page that was there, and the new one."""
    before = window.tabs.current
    assert before is not None
    qtbot.keyClick(before.editor, Qt.Key.Key_Backslash, CONTROL)
    after = window.tabs.current
    assert after is not None
    assert after is not before
    return before, after


def test_both_sides_show_one_text_with_one_undo(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    opened(window, prompts[0])
    one, other = split(window, qtbot)
    other.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(other.editor, "typed here")
    assert one.editor.text().endswith("typed here")
    assert one.editor.caret() == 0
    assert one.title == other.title == "● a.prompty"
    qtbot.keyClick(other.editor, Qt.Key.Key_2, CONTROL)
    qtbot.waitUntil(one.editor.hasFocus)
    assert window.tabs.current is one
    while one.editor.text() != PROMPT.replace("x", "a"):
        qtbot.keyClick(one.editor, Qt.Key.Key_Z, CONTROL)
    assert other.editor.text() == one.editor.text()
    assert not other.controller.is_dirty


def test_problems_and_colours_stand_in_both(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    opened(window, prompts[0])
    one, other = split(window, qtbot)
    qtbot.waitUntil(lambda: one.document is not None)
    for page in (one, other):
        assert any("nobody" in each.message for each in page.editor.problems)
        assert page.editor.extraSelections()
    assert one.editor.document().firstBlock().layout().formats()


def test_folding_moves_the_caret_out_in_both(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    page = opened(window, prompts[0])
    qtbot.waitUntil(lambda: page.document is not None)
    one, other = split(window, qtbot)
    one.editor.go_to_line(2)
    other.editor.toggle_fold(0)
    assert one.editor.textCursor().blockNumber() == 0
    assert not one.editor.document().findBlockByNumber(1).isVisible()


def test_closing_one_side_keeps_the_document_and_asks_nothing(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    opened(window, prompts[0])
    one, other = split(window, qtbot)
    qtbot.keyClicks(other.editor, "x")
    assert window.tabs.close_page(one)  # a question would wait for an answer
    assert not window.tabs.sides.is_split
    assert window.tabs.current is other
    qtbot.waitUntil(lambda: not [page for page in window.tabs.pages() if page is one])
    qtbot.keyClicks(other.editor, "y")
    assert other.editor.text().startswith("xy")
    assert other.save()
    assert prompts[0].read_text(encoding="utf-8").startswith("xy")
    other.editor.undo()
    assert other.controller.is_dirty


def test_a_change_on_disk_is_settled_in_both_sides(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    opened(window, prompts[0])
    one, other = split(window, qtbot)
    qtbot.keyClicks(other.editor, "mine")
    with qtbot.waitSignal(one.controller.changed_on_disk):
        prompts[0].write_text("theirs", encoding="utf-8")
    assert one.disk.isVisible()
    assert other.disk.isVisible()
    qtbot.mouseClick(one.disk.reload, Qt.MouseButton.LeftButton)
    assert other.editor.text() == "theirs"
    assert not one.disk.isVisible()
    assert not other.disk.isVisible()


def test_two_documents_side_by_side_and_back_by_keyboard(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    a, b = (opened(window, path) for path in prompts)
    qtbot.keyClick(b.editor, Qt.Key.Key_2, CONTROL | ALT)
    assert window.tabs.sides.is_split
    assert window.tabs.current is b
    assert a.isVisible()
    assert b.isVisible()
    assert abs(a.width() - b.width()) < 20
    qtbot.keyClick(b.editor, Qt.Key.Key_2, CONTROL)
    qtbot.waitUntil(lambda: window.tabs.current is a)
    assert opened(window, prompts[1]) is b, "an open file is shown where it is"
    assert window.tabs.current is b
    qtbot.keyClick(b.editor, Qt.Key.Key_2, CONTROL | ALT)
    assert not window.tabs.sides.is_split, "a side that gave its last tab away is gone"
    assert set(window.tabs.pages()) == {a, b}


def test_one_side_only_keeps_every_document_once(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    opened(window, prompts[0])
    opened(window, prompts[1])
    _, other = split(window, qtbot)
    qtbot.keyClick(other.editor, Qt.Key.Key_1, CONTROL | Qt.KeyboardModifier.AltModifier)
    assert not window.tabs.sides.is_split
    assert sorted(page.controller.title for page in window.tabs.pages()) == [
        "a.prompty",
        "b.prompty",
    ]
    assert window.tabs.current is other


def test_a_single_page_is_not_moved_to_nowhere(window: MainWindow, prompts: list[Path]) -> None:
    page = opened(window, prompts[0])
    window.actions_by_id["view.move_over"].trigger()
    assert not window.tabs.sides.is_split
    assert window.tabs.current is page


def test_save_all_goes_on_after_a_page_that_cannot_be_saved(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    pages = [opened(window, path) for path in prompts]
    for page in pages:
        qtbot.keyClicks(page.editor, "x")
    prompts[0].chmod(0o444)
    prompts[1].chmod(0o644)
    assert not window.tabs.save_all()
    assert prompts[1].read_text(encoding="utf-8").startswith("x")
    assert pages[0].controller.is_dirty


def test_reload_of_a_prompt_without_a_file_loses_nothing(window: MainWindow, qtbot: QtBot) -> None:
    page = window.tabs.new("user:\nHi\n")
    with qtbot.waitSignal(window.services.messages.noticed) as told:
        window.actions_by_id["file.reload"].trigger()
    assert "no file" in told.args[0].what
    assert page.editor.text() == "user:\nHi\n"


def test_the_menu_of_a_tab_closes_the_others(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    a, _ = (opened(window, path) for path in prompts)
    menu = window.tabs.sides.active.menu_for(a)
    offered = [action.text() for action in menu.actions()]
    assert offered[:2] == ["Close\tCtrl+W", "Close the others"]
    menu.actions()[1].trigger()
    assert list(window.tabs.pages()) == [a]


def test_both_sides_break_lines_where_the_narrower_one_does(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    prompts[0].write_text(PROMPT + "many words in a row " * 40 + "\n", encoding="utf-8")
    opened(window, prompts[0])
    window.resize(1440, 900)
    one, other = split(window, qtbot)
    whole = window.tabs.sides.width()
    window.tabs.sides.setSizes([whole * 3 // 5, whole * 2 // 5])

    def widths() -> tuple[int, int]:
        return one.editor.viewport().width(), other.editor.viewport().width()

    qtbot.waitUntil(lambda: widths()[0] == widths()[1])
    for page in (one, other):
        qtbot.waitUntil(lambda page=page: page.editor.horizontalScrollBar().maximum() == 0)
    window.tabs.sides.setSizes([whole * 4 // 5, whole // 5])
    qtbot.waitUntil(lambda: widths()[0] > 2 * widths()[1])
    assert one.editor.horizontalScrollBar().maximum() == 0
    window.tabs.sides.join()
    left = window.tabs.current
    assert left is not None
    qtbot.waitUntil(lambda: left.editor.room == left.editor.viewport().width())


def test_a_new_prompt_is_written_at_its_first_message(window: MainWindow, qtbot: QtBot) -> None:
    window.actions_by_id["file.new"].trigger()
    page = window.tabs.current
    assert page is not None
    text = page.editor.text()
    qtbot.keyClicks(page.editor, "Hi. ")  # at once, before the text is read
    assert page.editor.text() == text.replace("system:\n", "system:\nHi. ")


def test_a_new_prompt_of_files_is_written_at_its_first_message(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    window.files.set_roots([tmp_path])
    window.files.tree.request_new_file.emit(tmp_path, "fresh.prompty")
    page = window.tabs.current
    assert page is not None
    text = page.editor.text()
    qtbot.keyClicks(page.editor, "Hi. ")
    assert page.editor.text() == text.replace("system:\n", "system:\nHi. ")


def test_a_closed_tab_is_opened_again_where_it_was(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    a, b = (opened(window, path) for path in prompts)
    b.editor.set_caret(PROMPT.index("Hello"))
    qtbot.keyClick(b.editor, Qt.Key.Key_W, CONTROL)
    qtbot.keyClick(a.editor, Qt.Key.Key_K, CONTROL)
    qtbot.keyClick(a.editor, Qt.Key.Key_W, CONTROL)
    assert not list(window.tabs.pages())
    for path in prompts:
        qtbot.keyClick(window, Qt.Key.Key_T, CONTROL | SHIFT)
        assert window.tabs.current is not None
        assert window.tabs.current.controller.path == path
    assert window.tabs.current.editor.caret() == PROMPT.index("Hello")
    with qtbot.waitSignal(window.services.messages.noticed):
        qtbot.keyClick(window, Qt.Key.Key_T, CONTROL | SHIFT)  # there is none left


def test_a_tab_goes_left_and_right_by_keys(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    a, b = (opened(window, path) for path in prompts)
    qtbot.keyClick(b.editor, Qt.Key.Key_PageUp, CONTROL | SHIFT)
    assert list(window.tabs.pages()) == [b, a]
    qtbot.keyClick(b.editor, Qt.Key.Key_PageDown, CONTROL | SHIFT)
    assert list(window.tabs.pages()) == [a, b]
    assert window.tabs.current is b


def test_the_tab_of_an_experiment_has_the_same_keys_and_a_menu(
    window: MainWindow, tmp_path: Path
) -> None:
    path = tmp_path / "a.experiment.yaml"
    path.write_text("prompts: [a.prompty]\n", encoding="utf-8")
    window.tabs.take_views(lambda path: QLabel(path.name))
    window.tabs.open(path)
    group = window.tabs.sides.active
    menu = group.menu_for_view(group.widget(0))
    offered = [action.text() for action in menu.actions() if not action.isSeparator()]
    assert offered[:2] == ["Close\tCtrl+W", "Copy its path"]
    window.actions_by_id["file.close"].trigger()
    assert not window.tabs.sides.has_tabs
    assert not window.actions_by_id["file.close"].isEnabled()
    window.actions_by_id["file.reopen"].trigger()
    assert window.tabs.sides.has_tabs
    window.actions_by_id["help.welcome"].trigger()
    window.actions_by_id["file.close"].trigger()  # the page before the tabs, not a tab behind it
    assert window.tabs.sides.has_tabs
    window.actions_by_id["file.close_all"].trigger()
    assert not window.tabs.sides.has_tabs


def test_the_keyboard_goes_to_the_files(
    window: MainWindow, prompts: list[Path], qtbot: QtBot
) -> None:
    page = opened(window, prompts[0])
    window.files.set_roots([prompts[0].parent])
    qtbot.keyClick(page.editor, Qt.Key.Key_E, CONTROL | SHIFT)
    tree = window.files.tree
    assert tree.hasFocus()
    for key, held in (
        (Qt.Key.Key_K, CONTROL | SHIFT),
        (Qt.Key.Key_Slash, CONTROL),
        (Qt.Key.Key_Up, ALT),
    ):
        qtbot.keyClick(tree, key, held)  # these are for the text, which nobody looks at here
    assert page.editor.text() == PROMPT.replace("name: x", "name: a")
    page.editor.setFocus()
    page.editor.go_to_line(5)
    qtbot.keyClick(page.editor, Qt.Key.Key_K, CONTROL | SHIFT)
    assert page.editor.text() == "---\nname: a\n---\nuser:\n"
