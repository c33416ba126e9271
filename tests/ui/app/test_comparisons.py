"""Comparing with what was there before, from the palette to the words that are marked."""

from __future__ import annotations

import shlex
import shutil
import subprocess
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QListWidget, QTextBrowser
from pytestqt.qtbot import QtBot

from studio.ui.app.files_coordinator import FilesCoordinator
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.comparison import ComparisonDialog
from studio.ui.files.tree import FilesTree
from studio.ui.parts.text_views import ComparisonView

pytestmark = pytest.mark.qt_log_ignore("does not support")

PROMPT = "---\nname: Trip\n---\nsystem:\nBe brief.\n\nuser:\nGo to Rome now.\n"


def open_prompt(window: MainWindow, folder: Path, qtbot: QtBot) -> Path:
    path = folder / "trip.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    page = window.tabs.open(path)
    assert page is not None
    with qtbot.waitSignal(page.parsed):
        pass
    return path


def shown(window: MainWindow, qtbot: QtBot) -> ComparisonDialog:
    qtbot.waitUntil(lambda: window.findChild(ComparisonDialog) is not None)
    dialog = window.findChild(ComparisonDialog)
    assert dialog is not None
    return dialog


def test_with_saved_in_text_messages_and_request(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    page.editor.go_to_line(8, 7)
    QTest.keyClicks(page.editor, "old ")
    window.actions_by_id["prompt.compare_saved"].trigger()
    dialog = shown(window, qtbot)
    views = [dialog.tabs.widget(index) for index in range(3)]
    for view in views:
        assert isinstance(view, QTextBrowser)
        assert "old " in view.toPlainText()
        assert "underline" in view.toHtml()
    dialog.close()


def test_lines_are_taken_back_while_the_window_goes_on(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    path = open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    page.editor.go_to_line(8, 7)
    QTest.keyClicks(page.editor, "old ")
    page.editor.go_to_line(2, 11)
    QTest.keyClicks(page.editor, "s")
    window.actions_by_id["prompt.compare_saved"].trigger()
    dialog = shown(window, qtbot)
    assert not dialog.isModal()
    view = dialog.tabs.widget(0)
    assert isinstance(view, ComparisonView)
    assert view.toPlainText().count("Revert these lines") == 1  # both changes are near
    QTest.keyClicks(page.editor, "!")  # the comparison is of an older text now
    view.part_chosen.emit(0)
    assert "Trips!" in page.editor.text()
    qtbot.waitUntil(lambda: "Trips!" in dialog.tabs.widget(0).toPlainText())  # type: ignore[attr-defined]
    dialog.tabs.widget(0).part_chosen.emit(0)  # type: ignore[attr-defined]
    assert page.editor.text() == path.read_text(encoding="utf-8")
    qtbot.waitUntil(lambda: "same" in dialog.tabs.tabText(0))
    page.editor.undo()
    assert "Trips!" in page.editor.text()
    dialog.close()


def test_a_text_that_was_saved_over_is_offered(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    page.editor.go_to_line(8, 7)
    QTest.keyClicks(page.editor, "old ")
    assert window.tabs.save()
    window.actions_by_id["prompt.compare"].trigger()
    palette = window.commands.chooser.palette
    qtbot.waitUntil(palette.isVisible)
    rows = palette.findChild(QListWidget)
    assert rows is not None
    assert rows.item(0).text() == "Saved file"
    assert rows.item(1).text().startswith("Saved ")
    field = palette.findChild(QLineEdit)
    QTest.keyClick(field, Qt.Key.Key_Down)
    QTest.keyClick(field, Qt.Key.Key_Return)
    dialog = shown(window, qtbot)
    view = dialog.tabs.widget(0)
    assert isinstance(view, QTextBrowser)
    assert "Go to Rome now." in view.toPlainText()
    dialog.close()


def test_what_was_kept_goes_along_with_a_new_name(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    QTest.keyClicks(page.editor, "x")
    assert window.tabs.save()
    window.files.set_roots((tmp_path,))  # what is renamed stands in a tree
    files = window.findChild(FilesCoordinator)
    assert files is not None
    assert page.controller.path is not None
    files.rename(page.controller.path, "journey.prompty")
    window.actions_by_id["prompt.compare"].trigger()
    palette = window.commands.chooser.palette
    qtbot.waitUntil(palette.isVisible)
    rows = palette.findChild(QListWidget)
    assert rows is not None
    assert rows.item(1).text().startswith("Saved ")
    palette.close()


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_lines_changed_since_the_commit_are_marked(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "trip.prompty").write_text(PROMPT, encoding="utf-8")
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run(("git", *identity, *words), cwd=tmp_path, check=True, capture_output=True)
    open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    page.editor.go_to_line(5, 1)
    QTest.keyClicks(page.editor, "x")
    qtbot.waitUntil(lambda: page.editor.mark_bar.marks.get("change") == (4,))
    page.editor.undo()
    qtbot.waitUntil(lambda: page.editor.mark_bar.marks.get("change") == ())


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_commit_of_another_program_takes_the_marks_away(
    window: MainWindow, tmp_path: Path, qtbot: QtBot
) -> None:
    (tmp_path / "trip.prompty").write_text(PROMPT, encoding="utf-8")
    git = ("git", "-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "first")):
        subprocess.run((*git, *words), cwd=tmp_path, check=True, capture_output=True)
    window.commands.files.show_folder(tmp_path)
    open_prompt(window, tmp_path, qtbot)
    page = window.tabs.current
    assert page is not None
    page.editor.go_to_line(5, 1)
    QTest.keyClicks(page.editor, "x")
    assert page.save()
    qtbot.waitUntil(lambda: page.editor.mark_bar.marks.get("change") == (4,))
    tree = window.findChild(FilesTree)
    qtbot.waitUntil(lambda: any(mark.state == "M" for mark in tree.marks.values()))
    subprocess.run((*git, "commit", "-qam", "second"), cwd=tmp_path, check=True)
    QGuiApplication.instance().applicationStateChanged.emit(Qt.ApplicationState.ApplicationActive)
    qtbot.waitUntil(lambda: page.editor.mark_bar.marks.get("change") == ())


@pytest.mark.skipif(shutil.which("git") is None, reason="needs git")
def test_a_repository_that_git_refuses_is_named_with_what_to_do(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    repository = tmp_path / "it's; mine"
    repository.mkdir()
    subprocess.run(("git", "init", "-q"), cwd=repository, check=True, capture_output=True)
    monkeypatch.setenv("GIT_TEST_ASSUME_DIFFERENT_OWNER", "1")
    open_prompt(window, repository, qtbot)
    window.actions_by_id["prompt.compare"].trigger()
    palette = window.commands.chooser.palette
    qtbot.waitUntil(palette.isVisible)
    field = palette.findChild(QLineEdit)
    QTest.keyClicks(field, "Git refuses")
    with qtbot.waitSignal(window.services.messages.noticed) as told:
        QTest.keyClick(field, Qt.Key.Key_Return)
    *command, named = shlex.split(told.args[0].hint.partition(": ")[2])
    assert command[-1] == "safe.directory"
    assert Path(named).resolve() == repository.resolve()
