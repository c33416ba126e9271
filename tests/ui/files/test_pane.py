"""The pane of files, with real keys: looking, naming, the bin, the filter and the marks."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import QModelIndex, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QLineEdit, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.text.source import Severity
from studio.ui.app.files_coordinator import FilesCoordinator, moved_to_bin
from studio.ui.app.main_window import MainWindow
from studio.ui.files.pane import FolderSection
from studio.ui.files.tree import FilesTree
from studio.ui.parts.fields import NameField
from studio.ui.search.find_in_files import FindInFiles
from studio.viewmodels.app.notifications import Notification
from tests.support.drop import drop_files

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

Row = Callable[[str], QModelIndex]
TempPaths = pytest.TempPathFactory


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name in ("a.prompty", "b.prompty", "c.prompty"):
        (tmp_path / name).write_text(f"user:\n{name} ![image](pic.png)\n", encoding="utf-8")
    (tmp_path / "rows.jsonl").write_text("{}\n", encoding="utf-8")
    return tmp_path


@pytest.fixture
def tree(window: MainWindow, folder: Path, qtbot: QtBot) -> FilesTree:
    window.resize(1440, 900)  # in a narrow window the side bar is icons
    window.commands.files.show_folder(folder)
    tree = window.files.tree
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 4)
    return tree


def click(tree: FilesTree, path: Path) -> None:
    index = tree.files.index(str(path))
    at = tree.visualRect(index).center()
    QTest.mouseClick(tree.viewport(), Qt.MouseButton.LeftButton, pos=at)


def titles(window: MainWindow) -> list[str]:
    return [page.controller.title for page in window.tabs.pages()]


def type_name(tree: FilesTree, name: str) -> None:
    (field,) = (each for each in tree.findChildren(NameField) if each.isVisible())
    QTest.keyClick(field, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(field, name)
    QTest.keyClick(field, Qt.Key.Key_Return)


def test_one_click_looks_and_leaves_the_keyboard(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot
) -> None:
    tree.setFocus()
    click(tree, folder / "a.prompty")
    assert titles(window) == ["a.prompty"]
    assert tree.hasFocus()
    click(tree, folder / "b.prompty")
    assert titles(window) == ["b.prompty"]  # in the place of the first
    QTest.keyClick(tree, Qt.Key.Key_Return)
    page = window.tabs.current
    assert page is not None
    assert page.editor.hasFocus()
    click(tree, folder / "c.prompty")
    assert titles(window) == ["b.prompty", "c.prompty"]
    looked = window.tabs.current
    assert looked is not None
    QTest.keyClicks(looked.editor, "x")  # what is changed stays
    click(tree, folder / "a.prompty")
    assert titles(window) == ["b.prompty", "c.prompty", "a.prompty"]


def test_a_new_name_goes_to_the_open_text_and_to_who_names_it(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot
) -> None:
    (folder / "pic.png").write_bytes(b"x")
    page = window.tabs.open(folder / "a.prompty")
    assert page is not None
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 5)
    tree.setFocus()
    tree.setCurrentIndex(tree.files.index(str(folder / "pic.png")))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    type_name(tree, "photo.png")
    assert (folder / "photo.png").exists()
    assert "![image](photo.png)" in page.editor.text()
    assert "![image](photo.png)" in (folder / "b.prompty").read_text(encoding="utf-8")
    page.editor.undo()
    assert "![image](pic.png)" in page.editor.text()
    tree.setFocus()
    tree.setCurrentIndex(tree.files.index(str(folder / "a.prompty")))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    type_name(tree, "z.prompty")
    assert page.controller.path == folder / "z.prompty"
    assert page.controller.title == "z.prompty"
    assert not (folder / "a.prompty").exists()


def test_what_was_renamed_stays_marked(tree: FilesTree, folder: Path, qtbot: QtBot) -> None:
    tree.setFocus()
    tree.setCurrentIndex(tree.files.index(str(folder / "a.prompty")))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    type_name(tree, "z.prompty")
    qtbot.waitUntil(lambda: tree.path_at(tree.currentIndex()) == folder / "z.prompty")
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 4)
    assert tree.path_at(tree.currentIndex()) == folder / "z.prompty"


def test_new_duplicate_and_bin(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot
) -> None:
    tree.ask_new(folder)
    type_name(tree, "fresh")
    assert (folder / "fresh.prompty").read_text(encoding="utf-8").startswith("---")
    assert titles(window) == ["fresh.prompty"]
    tree.request_duplicate.emit(folder / "b.prompty")
    assert (folder / "b-copy.prompty").exists()
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 6)
    tree.setFocus()
    tree.setCurrentIndex(tree.files.index(str(folder / "b-copy.prompty")))
    QTest.keyClick(tree, Qt.Key.Key_Delete)
    assert not (folder / "b-copy.prompty").exists()
    assert titles(window) == ["fresh.prompty"]


def test_a_place_without_a_bin_offers_to_delete_for_good(
    window: MainWindow, tree: FilesTree, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    said: list[Notification] = []
    window.services.messages.noticed.connect(said.append)
    inner = folder / "inner"
    inner.mkdir()
    (inner / "x.txt").write_text("x", encoding="utf-8")
    files = window.findChild(FilesCoordinator)
    assert files is not None
    files.move_to_bin(folder / "gone.prompty")
    assert said[-1].what == "gone.prompty no longer exists."
    monkeypatch.setattr("studio.ui.app.files_coordinator.moved_to_bin", lambda _: False)
    files.move_to_bin(inner)
    assert inner.is_dir()
    (offer,) = said[-1].offers
    offer.act()
    assert not inner.exists()


def test_the_bin_is_made_for_who_never_had_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "share"))
    path, link = tmp_path / "a b #1.txt", tmp_path / "link"
    path.write_text("x", encoding="utf-8")
    link.symlink_to(path)
    assert moved_to_bin(link)
    assert path.is_file()
    assert moved_to_bin(path)
    if sys.platform == "linux":
        assert (tmp_path / "share" / "Trash" / "files" / path.name).is_file()


def test_the_filter_shows_only_names_that_fit(
    tree: FilesTree, window: MainWindow, qtbot: QtBot
) -> None:
    QTest.keyClicks(window.files.filter, "row")
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 1)
    window.files.filter.clear()
    qtbot.waitUntil(lambda: tree.files.rowCount(tree.rootIndex()) == 4)


def test_the_filter_finds_files_in_folders_that_were_never_opened(
    tree: FilesTree, window: MainWindow, folder: Path, qtbot: QtBot
) -> None:
    deep = folder / "more" / "inner" / "needle.prompty"
    deep.parent.mkdir(parents=True)
    deep.write_text("user:\nHi\n", encoding="utf-8")
    QTest.keyClicks(window.files.filter, "Needle")
    qtbot.waitUntil(lambda: tree.visualRect(tree.files.index(str(deep))).isValid())
    more = tree.files.index(str(folder / "more"))
    assert tree.isExpanded(more)
    window.files.filter.clear()
    assert not tree.isExpanded(more)


def test_the_open_file_is_shown_and_marked(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot
) -> None:
    page = window.tabs.open(folder / "c.prompty")
    assert page is not None
    assert tree.path_at(tree.currentIndex()) == folder / "c.prompty"
    assert isinstance(window.files.filter, QLineEdit)
    page.editor.go_to_line(2, 1)
    QTest.keyClicks(page.editor, "{{ nobody }} ")
    path = folder / "c.prompty"
    qtbot.waitUntil(lambda: path in tree.marks and tree.marks[path].severity is Severity.WARNING)
    assert tree.marks[path].is_unsaved
    page.editor.undo()
    qtbot.waitUntil(lambda: path not in tree.marks)


def test_recent_folders_come_back_from_the_menu(
    window: MainWindow, tree: FilesTree, folder: Path
) -> None:
    other = folder / "deep"
    other.mkdir()
    window.commands.files.show_folder(other)
    window.commands.files.fill_recent()
    offered = [each.text() for each in window.recent_menu.actions() if each.text()]
    assert offered == [str(other), str(folder)]
    window.recent_menu.actions()[1].trigger()
    assert window.files.roots == (folder,)


def git(folder: Path, *words: str) -> None:
    own = ("-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false")
    subprocess.run(["git", *own, *words], cwd=folder, check=True, capture_output=True)


def test_gits_letters_stand_beside_the_files(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot
) -> None:
    git(folder, "init", "-q")
    (folder / ".gitattributes").write_text("*.prompty filter=hostile\n", encoding="utf-8")
    git(folder, "add", "a.prompty", "b.prompty", ".gitattributes")
    git(folder, "commit", "-qm", "one")
    git(folder, "add", "rows.jsonl")
    # What a repository sets up is never run only because its folder is looked at.
    touched = folder.parent / f"{folder.name}-touched"
    git(folder, "config", "filter.hostile.clean", f"touch {touched}; cat")
    page = window.tabs.open(folder / "b.prompty")
    assert page is not None
    page.editor.insertPlainText("new ")
    assert window.tabs.save()

    def letters() -> dict[str, str | None]:
        return {path.name: mark.state for path, mark in tree.marks.items() if mark.state}

    expected = {"b.prompty": "M", "c.prompty": "U", "rows.jsonl": "A"}
    qtbot.waitUntil(lambda: letters() == expected)
    assert not touched.exists()


def test_several_folders_are_shown_searched_and_renamed_in_together(
    window: MainWindow, tree: FilesTree, folder: Path, qtbot: QtBot, tmp_path_factory: TempPaths
) -> None:
    other = tmp_path_factory.mktemp("other")
    (other / "far.md").write_text("needle\n", encoding="utf-8")
    named = Path(os.path.relpath(folder / "rows.jsonl", other)).as_posix()
    (other / "far.prompty").write_text(f"user:\n${{file:{named}}}\n", encoding="utf-8")
    drop_files(window, other)
    assert window.files.roots == (folder, other)
    assert window.services.settings.value.folders == (folder, other)
    sections = {each.folder: each for each in window.files.findChildren(FolderSection)}
    first, second = sections[folder], sections[other]
    assert first.tree is tree
    assert first.leave.isVisible()
    qtbot.waitUntil(lambda: second.tree.files.rowCount(second.tree.rootIndex()) == 2)
    page = window.tabs.open(other / "far.md")
    assert page is not None
    assert second.tree.path_at(second.tree.currentIndex()) == other / "far.md"
    tree.setFocus()
    tree.setCurrentIndex(tree.files.index(str(folder / "rows.jsonl")))
    QTest.keyClick(tree, Qt.Key.Key_F2)
    type_name(tree, "lines.jsonl")
    assert "lines.jsonl" in (other / "far.prompty").read_text(encoding="utf-8")
    (folder / "a.prompty").write_text("needle\n", encoding="utf-8")
    window.actions_by_id["edit.find_in_files"].trigger()
    search = window.findChild(FindInFiles)
    assert search is not None
    QTest.keyClicks(search.field, "needle")
    rows = search.found
    qtbot.waitUntil(lambda: rows.topLevelItemCount() == 2)
    shown = [rows.topLevelItem(row) for row in (0, 1)]
    assert [row.text(0) for row in shown if row is not None] == [
        f"{folder.name}/a.prompty",
        f"{other.name}/far.md",
    ]
    QTest.mouseClick(first.leave, Qt.MouseButton.LeftButton)
    assert window.files.roots == (other,)
    assert window.services.settings.value.folders == (other,)
    assert folder.is_dir()
    assert first.folder == other  # the first place shows what is left
    assert not first.leave.isVisible()
    assert not second.isVisible()


def test_without_a_folder_that_of_the_open_file_is_offered(
    window: MainWindow, folder: Path, qtbot: QtBot
) -> None:
    window.tabs.open(folder / "a.prompty")
    window.docks.show("files")
    (this,) = (
        each for each in window.files.findChildren(QPushButton) if each.text().endswith(folder.name)
    )
    assert this.isVisible()
    qtbot.mouseClick(this, Qt.MouseButton.LeftButton)
    assert window.files.roots == (folder,)
