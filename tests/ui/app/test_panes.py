from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.viewmodels.app.notifications import NotificationAction
from tests.support.drop import drop_files

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def test_files_shows_a_folder_and_opens_from_it(
    window: MainWindow, qtbot: QtBot, tmp_path: Path
) -> None:
    (tmp_path / "sub").mkdir()
    prompt = tmp_path / "sub" / "one.prompty"
    prompt.write_text("system:\n", encoding="utf-8")
    (tmp_path / "other.bin").write_bytes(b"x")
    window.commands.files.show_folder(tmp_path)
    assert window.services.settings.value.workspace == str(tmp_path)
    model = window.files.tree.files
    assert model is not None
    qtbot.waitUntil(lambda: model.rowCount(model.index(str(tmp_path))) == 1)
    window.files.tree.doubleClicked.emit(model.index(str(prompt)))
    page = window.tabs.current
    assert page is not None
    assert page.controller.path == prompt
    assert [path.name for path in window.files.prompts()] == ["one.prompty"]


def test_go_to_file_finds_by_name(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    for name in ("alpha.prompty", "beta.prompty"):
        (tmp_path / name).write_text("system:\n", encoding="utf-8")
    window.commands.files.show_folder(tmp_path)
    qtbot.keyClick(window, Qt.Key.Key_P, Qt.KeyboardModifier.ControlModifier)
    qtbot.keyClicks(window.commands.chooser.palette._field, "bet")
    qtbot.keyClick(window.commands.chooser.palette._field, Qt.Key.Key_Return)
    page = window.tabs.current
    assert page is not None
    assert page.controller.title == "beta.prompty"


def test_a_dropped_file_is_opened(window: MainWindow, tmp_path: Path) -> None:
    path = tmp_path / "dropped.prompty"
    path.write_text("system:\n", encoding="utf-8")
    drop_files(window, path)
    page = window.tabs.current
    assert page is not None
    assert page.controller.path == path


def test_a_folder_dropped_on_the_text_is_shown_in_files(window: MainWindow, tmp_path: Path) -> None:
    page = window.tabs.new("user:\nHi\n")
    drop_files(page.editor.viewport(), tmp_path)
    assert window.files.roots == (tmp_path,)
    assert page.editor.text() == "user:\nHi\n"


def test_a_fix_offered_in_problems_is_made_and_undone(window: MainWindow, qtbot: QtBot) -> None:
    text = "---\ninputs:\n  city:\n    kind: string\n---\nsystem:\nHi {{ city }} {{ town }}\n"
    page = window.tabs.new(text)
    qtbot.waitUntil(lambda: bool(page.editor.problems))
    fixes = [fix for problem in page.editor.problems for fix in problem.fixes]
    window.page_coordinator.problems.request_fix.emit(fixes[0])
    assert page.editor.text() != text
    window.actions_by_id["edit.undo"].trigger()
    assert page.editor.text() == text


def test_notices_replace_their_like_and_go_when_closed(window: MainWindow, qtbot: QtBot) -> None:
    done: list[str] = []
    messages = window.services.messages
    messages.say("warning", "First", key="same")
    messages.say(
        "warning",
        "Second",
        key="same",
        offers=(NotificationAction("Do", lambda: done.append("x")),),
    )
    assert [notice.what for notice in window.notices.notices] == ["Second"]
    card = window.notices._cards[0]
    card.offers[0].click()
    assert done == ["x"]
    assert window.notices.notices == []
    messages.error("Broken", "Mend it.", "/place")
    messages.withdraw("")
    assert window.notices.notices[0].where == "/place"
    window.notices._cards[0].close_button.click()
    assert not window.notices.isVisible()


def test_more_problems_of_later_stages_join_and_leave(window: MainWindow, qtbot: QtBot) -> None:
    from studio.core.text.source import Problem, Severity, Span

    page = window.tabs.new("system:\nHello\n")
    qtbot.waitUntil(lambda: window.tabs.document is not None)
    late = Problem("late", Severity.WARNING, "Found while rendering.", Span(8, 13))
    window.page_coordinator.show_more_problems((late, late))
    assert (
        window.page_coordinator.problems._list.topLevelItem(0).text(0) == "Found while rendering."
    )
    assert late in page.editor.problems
    window.page_coordinator.show_more_problems(())
    assert window.page_coordinator.problems._list.topLevelItemCount() == 0
    assert page.editor.problems == ()


def test_the_menu_beside_the_panes_hides_neither_menus_nor_side_bar(window: MainWindow) -> None:
    offered = window.createPopupMenu().actions()
    assert window.actions_by_id["view.side"] in offered
    assert "Files" in {action.text() for action in offered}
    assert window.toolbar.toggleViewAction() not in offered
    assert window.strip.toggleViewAction() not in offered


def test_a_kept_layout_without_the_toolbar_has_it_again(window: MainWindow) -> None:
    window.tabs.new("user:\nHi\n")
    window.toolbar.hide()
    window.docks.save()
    window.docks.restore()
    assert window.toolbar.isVisible()
