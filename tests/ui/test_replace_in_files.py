from __future__ import annotations

from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from studio.core.search_files import Query
from studio.ui.app.main_window import MainWindow
from studio.ui.search.find_in_files import FileReplacer, FindInFiles
from tests.support.modal import agree, answering

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    folder = tmp_path / "prompts"
    folder.mkdir()
    (folder / "a.prompty").write_text("user:\ncity and city\n", encoding="utf-8")
    (folder / "b.prompty").write_bytes("\ufeffuser:\r\nIn the city.\r\n".encode())
    (folder / "c.prompty").write_text("user:\nno match\n", encoding="utf-8")
    return folder


def test_replace_all_in_the_open_text_and_on_disk_by_keyboard(
    window: MainWindow, folder: Path, qtbot: QtBot
) -> None:
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.keyClicks(page.editor, "city! ")
    qtbot.keyClick(window, Qt.Key.Key_H, CONTROL | SHIFT)
    dialog = window.findChild(FindInFiles)
    assert dialog is not None
    qtbot.keyClicks(dialog.field, "city")
    qtbot.waitUntil(lambda: dialog.count.text() == "4 matches in 2 files")
    qtbot.keyClicks(dialog.new, "town")
    with answering(QMessageBox, agree):
        qtbot.mouseClick(dialog.replace_all, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.count.text().endswith("Nothing found."))
    assert dialog.count.text().startswith("Replaced: 4 matches in 2 files.")
    assert page.editor.text() == "town! user:\ntown and town\n"
    assert (folder / "a.prompty").read_text(encoding="utf-8") == "user:\ncity and city\n"
    assert (folder / "b.prompty").read_bytes() == "\ufeffuser:\r\nIn the town.\r\n".encode()
    page.editor.undo()
    assert page.editor.text() == "city! user:\ncity and city\n"
    dialog.close()


def test_only_ticked_files_are_replaced_in(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    dialog = FindInFiles([folder], "city", FileReplacer(window.tabs), window, replace=True)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.found.topLevelItemCount() == 2)
    first = dialog.found.topLevelItem(0)
    assert first is not None
    first.setCheckState(0, Qt.CheckState.Unchecked)
    dialog.new.setText("town")
    with answering(QMessageBox, agree):
        dialog.replace_all.click()
    assert "city" in (folder / "a.prompty").read_text(encoding="utf-8")
    assert "town" in (folder / "b.prompty").read_text(encoding="utf-8")
    qtbot.waitUntil(lambda: "Replaced: 1 match in 1 file." in dialog.count.text())
    dialog.close()


def test_a_file_that_cannot_be_written_is_told_and_the_others_are_done(
    window: MainWindow, folder: Path
) -> None:
    (folder / "a.prompty").chmod(0o444)
    done = FileReplacer(window.tabs).replace(
        (folder / "a.prompty", folder / "b.prompty"), Query("city"), "town"
    )
    assert (done.places, done.files) == (1, 1)
    assert "read-only" in done.failed[0]


def test_groups_of_a_pattern(window: MainWindow, folder: Path) -> None:
    query = Query(r"(\w+) and (\w+)", regex=True)
    FileReplacer(window.tabs).replace((folder / "a.prompty",), query, r"\2 or \1")
    assert (folder / "a.prompty").read_text(encoding="utf-8") == "user:\ncity or city\n"


def test_unsaved_text_is_what_is_found(window: MainWindow, folder: Path, qtbot: QtBot) -> None:
    page = window.tabs.open(folder / "c.prompty")
    assert page is not None
    page.editor.insertPlainText("needle ")
    dialog = FindInFiles([folder], "needle", FileReplacer(window.tabs), window)
    dialog.show()
    qtbot.waitUntil(lambda: dialog.count.text() == "1 match in 1 file")
    dialog.close()


def test_an_open_file_is_replaced_in_its_editor_by_whatever_path_the_folder_has(
    window: MainWindow, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "link").symlink_to(folder)
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    done = FileReplacer(window.tabs).replace(
        (tmp_path / "link" / "a.prompty",), Query("city"), "town"
    )
    assert (done.places, done.files) == (2, 1)
    assert page.editor.text() == "user:\ntown and town\n"
    assert "city" in (folder / "a.prompty").read_text(encoding="utf-8")
