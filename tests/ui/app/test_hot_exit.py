"""Quitting asks nothing: unsaved texts are there again at the next start."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QMessageBox
from pytestqt.qtbot import QtBot

from studio.core.paths import user_paths
from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import build_services
from tests.support.modal import answering

Start = Callable[[], MainWindow]

PROMPT = "---\nname: Trip\n---\nsystem:\nBe brief.\n\nuser:\nHello\n"


@pytest.fixture
def start(qtbot: QtBot, user_home: Path) -> Iterator[Start]:
    """Start the studio's window anew, in one user's folders."""
    windows: list[MainWindow] = []

    def begin() -> MainWindow:
        window = MainWindow(build_services(user_paths()))
        windows.append(window)
        with qtbot.waitExposed(window):
            window.show()
        return window

    yield begin
    for window in windows:
        for page in list(window.tabs.pages()):
            page.editor.document().setModified(False)
        window.close()
        window.deleteLater()


def typed(window: MainWindow, path: Path | None, text: str) -> None:
    page = window.tabs.new(PROMPT) if path is None else window.tabs.open(path)
    assert page is not None
    page.editor.go_to_line(5, 3)
    QTest.keyClicks(page.editor, text)


def test_unsaved_texts_come_back_without_a_question(
    start: Start, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "trip.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    first = start()
    typed(first, path, "kept")
    typed(first, None, "also")
    assert first.close()  # a question would wait here for ever
    assert path.read_text(encoding="utf-8") == PROMPT
    second = start()
    shown = second.tabs.open(path)
    assert shown is not None
    qtbot.waitUntil(lambda: len(list(second.tabs.pages())) == 2)
    qtbot.waitUntil(lambda: shown.editor.text() == PROMPT.replace("Be brief", "Bekept brief"))
    untitled = next(page for page in second.tabs.pages() if page is not shown)
    assert untitled.editor.text() == PROMPT.replace("Be brief", "Bealso brief")
    assert second.tabs.current is shown
    assert shown.controller.is_dirty
    assert untitled.controller.is_dirty
    line = shown.editor.textCursor()
    assert (line.blockNumber(), line.positionInBlock()) == (4, 6)
    QTest.keyClicks(shown.editor, "!")  # goes on where it was left
    assert "Bekept! brief" in shown.editor.text()


def test_what_came_back_and_is_saved_does_not_come_again(
    start: Start, qtbot: QtBot, tmp_path: Path
) -> None:
    path = tmp_path / "trip.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    first = start()
    typed(first, path, "kept")
    first.close()
    second = start()
    qtbot.waitUntil(lambda: second.tabs.current is not None)
    assert second.tabs.save()
    assert "Bekept" in path.read_text(encoding="utf-8")
    second.close()
    assert second.services.swaps.left_behind(kept=True) == []


def test_a_file_that_changed_meanwhile_is_said(start: Start, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "trip.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    first = start()
    typed(first, path, "kept")
    first.close()
    path.write_text(PROMPT + "More.\n", encoding="utf-8")
    second = start()
    qtbot.waitUntil(lambda: second.tabs.current is not None)
    page = second.tabs.current
    assert page is not None
    qtbot.waitUntil(page.disk.reload.isVisible)  # its signal may have come with the page
    assert "Bekept" in page.editor.text()
    assert page.controller.is_dirty


def test_text_that_cannot_be_kept_is_asked_about(start: Start) -> None:
    root = user_paths().data / "swap"
    root.parent.mkdir(parents=True, exist_ok=True)
    root.write_text("a file where the folder should be", encoding="utf-8")
    window = start()
    typed(window, None, "kept")
    with answering(
        QMessageBox, lambda box: box.button(QMessageBox.StandardButton.Cancel).click()
    ) as said:
        assert not window.close()
    assert len(said) == 1
    assert window.tabs.current is not None
    assert "kept" in window.tabs.current.editor.text()


def test_the_setting_asks_as_before(start: Start) -> None:
    window = start()
    store = window.services.settings
    store.set(replace(store.value, hot_exit=False))
    typed(window, None, "gone")
    with answering(
        QMessageBox, lambda box: box.button(QMessageBox.StandardButton.Discard).click()
    ) as said:
        assert window.close()
    assert len(said) == 1
    assert window.services.swaps.left_behind(kept=True) == []
