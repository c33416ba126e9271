from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QAction, QTextCursor
from PySide6.QtWidgets import QApplication, QLabel, QMessageBox, QTextEdit
from pytestqt.qtbot import QtBot

from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import Services
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.theme import DARK, LIGHT, theme_in_use
from studio.ui.window.examples import bundled
from studio.viewmodels.document.swap import SwapFolder, make_swap
from tests.support.errors import has_errors

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def prompt(tmp_path: Path) -> Path:
    path = tmp_path / "a.prompty"
    path.write_text("---\nname: a\n---\nsystem:\nHi {{ town }}\n", encoding="utf-8")
    return path


def open_and_parse(window: MainWindow, path: Path, qtbot: QtBot) -> EditorPage:
    with qtbot.waitSignal(
        window.page_coordinator.document_changed, check_params_cb=lambda doc: doc is not None
    ):
        page = window.tabs.open(path)
    assert page is not None
    return page


def test_the_title_names_the_file_of_a_view_too(window: MainWindow, tmp_path: Path) -> None:
    window.tabs.take_views(lambda path: QLabel(path.name))
    window.tabs.open(tmp_path / "a.experiment.yaml")
    page = window.tabs.new("user:\nHi\n", "b.prompty")
    assert window.windowTitle() == "b.prompty — Prompt Studio"
    window.tabs.open(tmp_path / "a.experiment.yaml")
    assert window.windowTitle() == "a.experiment.yaml — Prompt Studio"
    window.tabs.sides.select(page)
    window.tabs.sides.active.setCurrentIndex(0)
    assert window.windowTitle() == "a.experiment.yaml — Prompt Studio"


def test_welcome_page_opens_an_own_copy_of_an_example(
    window: MainWindow, services: Services, qtbot: QtBot
) -> None:
    assert window.tabs.currentWidget() is window.welcome
    example = bundled("examples")[0]
    window.welcome.request_example.emit(example.path)
    page = window.tabs.current
    assert page is not None
    assert page.controller.path == services.paths.data / "examples" / example.path.name
    assert (services.paths.data / "examples" / "tools.py").exists()
    assert window.windowTitle() == f"{example.path.name} — Prompt Studio"
    qtbot.waitUntil(lambda: window.tabs.document is not None)
    assert window.tabs.document is not None
    assert not has_errors(window.tabs.document)


def test_every_template_opens_without_errors(window: MainWindow, qtbot: QtBot) -> None:
    for template in bundled("templates"):
        window.commands.files.new_from(template.path)
        page = window.tabs.current
        assert page is not None
        qtbot.waitUntil(lambda page=page: page.document is not None)
        assert page.document is not None
        assert not has_errors(page.document), template.name


def test_typing_shows_problems_outline_status_and_dirty_mark(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    page = open_and_parse(window, prompt, qtbot)
    assert "town" in window.page_coordinator.problems._list.topLevelItem(0).text(0)
    assert window.status.problems.text().strip() == "1 warning"
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    with qtbot.waitSignal(window.page_coordinator.document_changed):
        qtbot.keyClicks(page.editor, "user:")
        qtbot.keyClick(page.editor, Qt.Key.Key_Return)
        qtbot.keyClicks(page.editor, "Hello")
    assert window.windowTitle().startswith("● a.prompty")
    qtbot.waitUntil(lambda: any("user" in name for name, _ in window.outline.symbols()))
    qtbot.waitUntil(lambda: window.status.place.text() == "Ln 7, Col 6")
    page.editor.selectAll()
    qtbot.waitUntil(lambda: "selected" in window.status.place.text())
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.waitUntil(lambda: window.status.place.text() == "Ln 7, Col 6")
    qtbot.keyClick(window, Qt.Key.Key_S, CONTROL)
    assert prompt.read_text(encoding="utf-8").endswith("user:\nHello")
    assert window.windowTitle().startswith("a.prompty")


def test_a_project_says_which_problems_are_shown(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    (prompt.parent / "prompt-studio.toml").write_text(
        '[check]\nportability = true\nignore = ["undeclared-variable"]\n', encoding="utf-8"
    )
    prompt.write_text("---\nname: a\n---\nsystem:\nHi {{ town | title }}\n", encoding="utf-8")
    page = open_and_parse(window, prompt, qtbot)
    assert [item.code for item in page.editor.problems] == ["portable-filter"]
    assert window.page_coordinator.problems._list.topLevelItemCount() == 1


def test_a_problem_leads_to_its_place(window: MainWindow, prompt: Path, qtbot: QtBot) -> None:
    open_and_parse(window, prompt, qtbot)
    window.page_coordinator.problems._list.itemActivated.emit(
        window.page_coordinator.problems._list.topLevelItem(0), 0
    )
    page = window.tabs.current
    assert page is not None
    assert "town" in page.editor.marks.flashed


def test_outline_follows_the_caret_and_leads_back(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    page = open_and_parse(window, prompt, qtbot)
    page.editor.go_to_line(5)
    tree = window.outline._tree
    qtbot.waitUntil(lambda: bool(tree.currentItem()) and "system" in tree.currentItem().text(0))
    window.outline._tree.itemActivated.emit(window.outline._tree.topLevelItem(0), 0)
    assert page.editor.marks.flashed == "name"


def test_the_keys_of_a_text_act_on_the_text_that_has_the_keyboard(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    page = open_and_parse(window, prompt, qtbot)
    before = page.editor.text()
    read_only = QTextEdit("what the model said", window)
    read_only.setReadOnly(True)
    read_only.show()
    with qtbot.waitActive(window):
        window.activateWindow()
    read_only.setFocus()
    for name in ("edit.all", "edit.copy", "edit.cut", "edit.paste", "edit.undo"):
        window.actions_by_id[name].trigger()

    assert QApplication.clipboard().text() == "what the model said"
    assert read_only.toPlainText() == "what the model said"
    assert page.editor.text() == before
    assert not page.editor.textCursor().hasSelection()


def test_palette_by_keyboard_finds_and_runs_a_command(window: MainWindow, qtbot: QtBot) -> None:
    qtbot.keyClick(window, Qt.Key.Key_P, CONTROL | SHIFT)
    palette = window.commands.chooser.palette
    assert palette.isVisible()
    qtbot.keyClicks(palette._field, "drk")
    assert palette._list.item(0).text() == "Dark theme"
    qtbot.keyClick(palette._field, Qt.Key.Key_Return)
    assert not palette.isVisible()
    qtbot.waitUntil(lambda: theme_in_use() is DARK)


def test_the_palette_opens_from_inside_the_editor(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    page = open_and_parse(window, prompt, qtbot)
    text = page.editor.text()
    page.editor.setFocus()
    qtbot.keyClick(page.editor, Qt.Key.Key_P, CONTROL | Qt.KeyboardModifier.ShiftModifier)
    assert window.commands.chooser.palette.isVisible()
    assert page.editor.text() == text
    qtbot.keyClick(window.commands.chooser.palette._field, Qt.Key.Key_Escape)
    assert not window.commands.chooser.palette.isVisible()
    assert window.focusWidget() is page.editor


def test_go_to_file_offers_what_stands_beside_the_prompt_where_no_folder_is_open(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    (prompt.parent / "beside.prompty").write_text("user:\nHi\n", encoding="utf-8")
    open_and_parse(window, prompt, qtbot)
    window.commands.chooser.ask_file()
    offered = [choice.text for choice in window.commands.chooser.palette._choices]
    assert offered.count(prompt.name) == 1
    assert "beside.prompty" in offered


def test_palette_shows_shortcuts_and_what_is_off(window: MainWindow) -> None:
    window.commands.chooser.ask_command()
    choices = {choice.text: choice for choice in window.commands.chooser.palette._choices}
    assert choices["Run or continue"].detail == "F5"
    assert not choices["Save"].enabled
    assert choices["New prompt"].enabled
    window.commands.chooser.palette.leave()


def test_theme_is_applied_everywhere_and_remembered(
    window: MainWindow, services: Services, prompt: Path, qtbot: QtBot
) -> None:
    open_and_parse(window, prompt, qtbot)
    window.actions_by_id["view.dark"].trigger()
    assert QApplication.palette().window().color().name() == DARK.window
    assert services.settings.value.theme == "dark"
    window.actions_by_id["view.light"].trigger()
    assert theme_in_use() is LIGHT


def test_no_two_actions_share_a_key(window: MainWindow) -> None:
    seen: dict[str, str] = {}
    for action in window.actions_by_id:
        for key in action.shortcuts():
            assert key.toString() not in seen, (action.text(), seen[key.toString()])
            seen[key.toString()] = action.text()


def test_every_action_does_something(window: MainWindow) -> None:
    table = set(window.commands._table())
    names = {action.objectName() for action in window.actions_by_id}
    assert table <= names
    # Those of the run, of tools and of inputs are joined with their panes, and tested there.
    joined = ("run.", "tools.", "view.inputs", "view.set_", "prompt.cases")
    assert {name for name in names - table if not name.startswith(joined)} == set()


def test_a_shortcut_can_be_rebound(window: MainWindow, services: Services, qtbot: QtBot) -> None:
    services.settings.set(replace(services.settings.value, shortcuts={"file.new": "Ctrl+Alt+Q"}))
    assert window.actions_by_id["file.new"].shortcut().toString() == "Ctrl+Alt+Q"
    qtbot.keyClick(window, Qt.Key.Key_Q, CONTROL | Qt.KeyboardModifier.AltModifier)
    assert window.tabs.current is not None


def test_text_of_a_crash_is_offered_and_recovered(
    services: Services, open_window: Callable[[], MainWindow], prompt: Path, qtbot: QtBot
) -> None:
    crashed = SwapFolder(services.paths.data / "swap")
    crashed.write(make_swap("x", prompt, prompt.name, "system:\nlost words", "old"))
    crashed._lock.unlock()  # as the system does for a process that is gone
    window = open_window()
    qtbot.waitUntil(lambda: bool(window.notices.notices))
    (notice,) = window.notices.notices
    assert "a.prompty" in notice.what
    notice.offers[0].act()
    page = window.tabs.current
    assert page is not None
    assert page.editor.text() == "system:\nlost words"
    assert page.controller.is_dirty
    assert page.controller.path == prompt
    assert prompt.read_text(encoding="utf-8").startswith("---")
    assert services.swaps.left_behind() == []
    crashed.close()


def test_recovered_text_comes_into_the_tab_of_its_file(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    open_and_parse(window, prompt, qtbot)
    swap = make_swap("x", prompt, prompt.name, "system:\nlost words", "")
    page = window.tabs.recover(swap)
    assert list(window.tabs.pages()) == [page]
    assert page.editor.text() == "system:\nlost words"
    assert page.controller.is_dirty
    assert page.save()
    assert prompt.read_text(encoding="utf-8") == "system:\nlost words"

    page.editor.insertPlainText("typed since then ")
    other = window.tabs.recover(swap)
    assert other is not page
    assert page.editor.text().startswith("typed since then ")


def test_a_change_on_disk_reloads_what_is_clean_and_asks_about_what_is_not(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    page = open_and_parse(window, prompt, qtbot)
    before = page.editor.text()
    prompt.write_text("system:\nouter\n", encoding="utf-8")
    qtbot.waitUntil(lambda: page.editor.text() == "system:\nouter\n")
    assert not page.controller.is_dirty
    page.editor.undo()
    assert page.editor.text() == before
    page.editor.moveCursor(QTextCursor.MoveOperation.End)
    qtbot.keyClicks(page.editor, "mine")
    prompt.write_text("system:\nouter again\n", encoding="utf-8")
    qtbot.waitUntil(page.disk.isVisible)
    assert page.editor.text().endswith("mine")
    page.disk.reload.click()
    assert page.editor.text() == "system:\nouter again\n"
    page.editor.undo()
    assert page.editor.text().endswith("mine")


def test_closing_asks_about_unsaved_text(
    window: MainWindow, prompt: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = window.services.settings
    store.set(replace(store.value, hot_exit=False))
    page = open_and_parse(window, prompt, qtbot)
    qtbot.keyClicks(page.editor, "x")
    answers = [QMessageBox.StandardButton.Cancel, QMessageBox.StandardButton.Save]
    monkeypatch.setattr(QMessageBox, "exec", lambda self: answers.pop(0))
    assert not window.close()
    assert window.isVisible()
    assert window.close()
    assert prompt.read_text(encoding="utf-8").startswith("x---")


def test_the_layout_comes_back_and_can_be_reset(
    services: Services, open_window: Callable[[], MainWindow]
) -> None:
    first = open_window()
    first.tabs.new("user:\nHello")
    first.actions_by_id["view.bottom"].trigger()
    assert first.docks["problems"].isVisible()
    first.resize(760, 520)
    first.docks.save()
    second = open_window()
    second.tabs.new("user:\nHello")
    assert second.docks["problems"].isVisible()
    assert second.size() == first.size()
    second.actions_by_id["view.reset"].trigger()
    assert not second.docks["problems"].isVisible()


def test_a_file_that_cannot_be_opened_is_said(window: MainWindow, tmp_path: Path) -> None:
    assert window.tabs.open(tmp_path / "none.prompty") is None
    (notice,) = window.notices.notices
    assert notice.weight == "error"
    assert notice.hint
    assert window.tabs.current is None


def test_opening_twice_shows_the_same_tab(
    window: MainWindow, prompt: Path, tmp_path: Path, qtbot: QtBot
) -> None:
    open_and_parse(window, prompt, qtbot)
    link = tmp_path / "link.prompty"
    link.symlink_to(prompt)
    assert window.tabs.open(link) is window.tabs.current
    assert len(list(window.tabs.pages())) == 1


def test_zoom_is_for_every_editor_and_remembered(
    window: MainWindow, services: Services, qtbot: QtBot
) -> None:
    window.commands.files.new()
    window.commands.files.new()
    window.actions_by_id["view.zoom_in"].trigger()
    assert services.settings.value.editor_font_size == 11.0
    assert {page.editor.font().pointSizeF() for page in window.tabs.pages()} == {11.0}


def test_every_control_has_a_name(window: MainWindow, prompt: Path, qtbot: QtBot) -> None:
    from PySide6.QtWidgets import QAbstractButton, QComboBox, QLineEdit, QTreeView

    open_and_parse(window, prompt, qtbot)
    nameless = [
        widget
        for kind in (QAbstractButton, QComboBox, QLineEdit, QTreeView)
        for widget in window.findChildren(kind)
        if not widget.objectName().startswith("qt_")
        and type(widget).__name__ not in ("CloseButton", "QDockWidgetTitleButton")
        and not widget.accessibleName()
        and not getattr(widget, "text", str)()
        and not widget.toolTip()
        and not isinstance(widget.parent(), QLineEdit)  # its own clear button
    ]
    assert [(widget, widget.parent()) for widget in nameless] == []


def test_a_narrow_window_keeps_the_buttons_of_a_run(window: MainWindow, qtbot: QtBot) -> None:
    start = window.toolbar.widgetForAction(window.actions_by_id["run.start"])
    assert not start.isVisible()  # the welcome page has nothing to run
    window.tabs.new("user:\nHi\n", "a.prompty")
    window.model_button.show_model("a-model-with-a-long-name-2026-11-21", "A connection")
    window.model_button.show_price("from $0.0065 per 1,000")
    window.resize(900, 600)
    window.run_buttons.show_stops(True)  # a run goes on
    for name in ("run.start", "run.step", "run.stop"):
        button = window.toolbar.widgetForAction(window.actions_by_id[name])
        qtbot.waitUntil(button.isVisible)
        assert button.geometry().right() < window.toolbar.width()


def test_what_was_asked_for_before_a_prompt_is_read_is_for_no_other_prompt(
    window: MainWindow, prompt: Path, qtbot: QtBot
) -> None:
    window.tabs.new("user:\nHi\n", "b.prompty")  # its document is not read yet
    assert window.tabs.document is None
    done: list[str] = []
    old, new = QAction(window), QAction(window)
    old.triggered.connect(lambda: done.append("old"))
    new.triggered.connect(lambda: done.append("new"))
    window.commands.files.trigger_when_read(old)
    window.tabs.open(prompt)
    window.commands.files.trigger_when_read(new)
    qtbot.waitUntil(lambda: bool(done))
    assert done == ["new"]
