"""The editing half as a person works with it: real keys go to whatever has the keyboard."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import (
    QApplication,
    QFileDialog,
    QLineEdit,
    QMenu,
    QPushButton,
    QWidget,
)
from pytestqt.qtbot import QtBot

from studio.core.prompty.parse import parse
from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import Services
from studio.ui.editor.page.page import EditorPage
from studio.viewmodels.document.swap import SwapFolder, make_swap
from tests.support.modal import answering, choose_file

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

CONTROL = Qt.KeyboardModifier.ControlModifier
SHIFT = Qt.KeyboardModifier.ShiftModifier
PROMPT = "---\nname: x\ninputs:\n  city:\n    kind: string\n---\nuser:\nHi {{ city }}\n"


def focused() -> QWidget:
    widget = QApplication.focusWidget()
    assert widget is not None, "nothing has the keyboard"
    return widget


def key(code: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    QTest.keyClick(focused(), code, modifiers)


def write(text: str) -> None:
    QTest.keyClicks(focused(), text)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    return path


def back_in(page: EditorPage, qtbot: QtBot) -> None:
    """Wait until a closed dialog has given the keyboard back, as a window manager does it."""
    page.window().activateWindow()
    qtbot.waitUntil(page.editor.hasFocus)


def is_read(page: EditorPage) -> bool:
    return page.document is not None and page.document.source.text == page.editor.text()


def test_write_fix_rename_replace_split_and_save(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    page = window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: is_read(page))
    # Write, with completion.
    key(Qt.Key.Key_End, CONTROL)
    write("Where is {{ci")
    qtbot.waitUntil(page.assist._popup.isVisible)
    key(Qt.Key.Key_Return)
    key(Qt.Key.Key_S, CONTROL)
    assert path.read_text(encoding="utf-8") == PROMPT + "Where is {{ city }}"
    # An undeclared name, and the fix that declares it.
    key(Qt.Key.Key_End)
    write(" and {{nobody")
    key(Qt.Key.Key_Escape)
    key(Qt.Key.Key_Period, CONTROL)
    menu = QApplication.activePopupWidget()
    assert isinstance(menu, QMenu)
    QTest.keyClick(menu, Qt.Key.Key_Down)
    QTest.keyClick(menu, Qt.Key.Key_Return)
    assert parse(page.editor.text()).input("nobody") is not None
    # Rename, from a use.
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.End)
    for _ in range(4):
        key(Qt.Key.Key_Left)

    key(Qt.Key.Key_F2)
    write("somebody")
    key(Qt.Key.Key_Return)
    back_in(page, qtbot)
    assert page.editor.text().count("somebody") == 2
    # Find and replace.
    key(Qt.Key.Key_H, CONTROL)
    write("Hi")
    key(Qt.Key.Key_Tab)
    write("Hello")
    key(Qt.Key.Key_Tab)
    key(Qt.Key.Key_Tab)
    key(Qt.Key.Key_Space)
    assert "Hello {{ city }}" in page.editor.text()
    key(Qt.Key.Key_Escape)
    assert page.editor.hasFocus()

    # Go to a line, split, write on the other side.
    key(Qt.Key.Key_G, CONTROL)
    write("7")
    key(Qt.Key.Key_Return)
    back_in(page, qtbot)
    assert page.editor.textCursor().blockNumber() == 6
    key(Qt.Key.Key_Backslash, CONTROL)
    assert window.tabs.current is not page
    key(Qt.Key.Key_End, CONTROL)
    write("!")
    assert page.editor.text().endswith("!")
    key(Qt.Key.Key_S, CONTROL)
    assert path.read_text(encoding="utf-8") == page.editor.text()
    assert not page.controller.is_dirty


def test_go_to_symbol_file_and_command_and_tidy(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    (path.parent / "b.prompty").write_text("user:   \nB\n", encoding="utf-8")
    window.files.set_roots([path.parent])
    page = window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: is_read(page))
    key(Qt.Key.Key_O, CONTROL | SHIFT)
    write("kind")
    key(Qt.Key.Key_Return)
    assert page.editor.marks.flashed == "kind"
    key(Qt.Key.Key_P, CONTROL)
    write("b.pro")
    key(Qt.Key.Key_Return)
    other = window.tabs.current
    assert other is not None
    assert other.controller.title == "b.prompty"
    key(Qt.Key.Key_P, CONTROL | SHIFT)
    write("tidy")
    key(Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: other.editor.text() == "user:\nB\n")
    key(Qt.Key.Key_Z, CONTROL)
    assert other.editor.text() == "user:   \nB\n"


def test_save_as_by_keyboard(
    window: MainWindow, path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    page = window.tabs.open(path)
    assert page is not None
    target = path.parent / "other name"

    with answering(QFileDialog, choose_file(target)):
        key(Qt.Key.Key_S, CONTROL | SHIFT)
    saved = target.with_suffix(".prompty")
    assert saved.read_text(encoding="utf-8") == PROMPT
    assert page.controller.path == saved
    assert page.crumbs.labels[0] == "other name.prompty"


def test_a_new_prompt_is_saved_under_its_name_beside_the_open_file(
    window: MainWindow, path: Path, qtbot: QtBot
) -> None:
    QApplication.setAttribute(Qt.ApplicationAttribute.AA_DontUseNativeDialogs)
    offered: list[str] = []

    def look(dialog: QFileDialog) -> None:
        offered.append(dialog.findChildren(QLineEdit)[0].text())
        dialog.reject()

    window.tabs.open(path)
    assert window.tabs.files.folder() == str(path.parent)
    page = window.tabs.new("---\nname: Support triage (v2)\n---\nuser:\nHi\n")
    qtbot.waitUntil(lambda: page.document is not None)
    with answering(QFileDialog, look):
        window.tabs.save()
    page = window.tabs.new("---\nname: A\n---\nuser:\nHi\n", "imported.prompty")
    qtbot.waitUntil(lambda: page.document is not None)
    with answering(QFileDialog, look):
        window.tabs.save()
    assert offered == ["support-triage-v2.prompty", "imported.prompty"]


def test_recovered_text_after_a_kill(
    open_window: Callable[[], MainWindow], services: Services, path: Path, qtbot: QtBot
) -> None:
    crashed = SwapFolder(services.paths.data / "swap")
    base = "0" * 32
    crashed.write(make_swap("1", path, "a.prompty", PROMPT + "typed before the kill", base))
    assert crashed._lock is not None
    crashed._lock.unlock()  # as the end of its process does
    window = open_window()
    qtbot.waitUntil(lambda: bool(window.notices.notices))
    button = next(each for each in window.findChildren(QPushButton) if each.text() == "Recover")
    button.setFocus()
    key(Qt.Key.Key_Space)
    page = window.tabs.current
    assert page is not None
    assert page.editor.text() == PROMPT + "typed before the kill"
    assert page.title == "● a.prompty"
    key(Qt.Key.Key_S, CONTROL)
    assert path.read_text(encoding="utf-8").endswith("typed before the kill")
