"""Pictures of the editor's states, for `make shots`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Protocol

from PySide6.QtCore import QEventLoop, QPoint, Qt, QTimer
from PySide6.QtGui import QImage
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QWidget

from studio.ui.app.workbench import Workbench
from studio.ui.editor.page.page import EditorPage
from studio.ui.window.palette import CommandPalette

_MOST_LOOKS = 12_000
"""Ten minutes: only ends what hangs."""


class Camera(Protocol):
    """What takes the pictures."""

    def take(self, name: str, widget: QWidget | None = None) -> None:
        """One picture a theme."""


def wait(milliseconds: int) -> None:
    loop = QEventLoop()
    QTimer.singleShot(milliseconds, loop.quit)
    loop.exec()


def dialog() -> QWidget:
    """The dialog that is open, or is about to be."""
    for _ in range(_MOST_LOOKS):
        for widget in QApplication.topLevelWidgets():
            if widget.isVisible() and widget.isWindow() and widget.objectName() != "window":
                return widget
        wait(50)
    raise SystemExit("no dialog came")


def editing(workbench: Workbench, camera: Camera, home: Path) -> None:
    """Every state of the editor that a person meets, one after the other."""
    window = workbench.window
    folder = home / "data" / "examples"
    page = window.tabs.open(folder / "react-agent.prompty")
    assert page is not None
    wait(900)
    for name, act in STATES.items():
        act(workbench, page)
        wait(500)
        camera.take(f"20-editor-{name}")
        _calm(page)
    window.tabs.sides.split()
    wait(500)
    camera.take("20-editor-split")
    window.tabs.sides.join()
    window.tabs.sides.split(Qt.Orientation.Vertical)
    wait(500)
    camera.take("20-editor-split-down")
    window.tabs.sides.join()
    _dialogs(workbench, camera, folder)


def _dialogs(workbench: Workbench, camera: Camera, folder: Path) -> None:
    window = workbench.window
    page = window.tabs.current
    assert page is not None
    window.actions_by_id["edit.replace_in_files"].trigger()
    wait(200)
    QTest.keyClicks(window.docks["search"].findChildren(QLineEdit)[0], "question")
    wait(700)
    camera.take("21-replace-in-files")
    window.docks.hide("search")
    picture = QImage(240, 120, QImage.Format.Format_RGB32)
    picture.fill(Qt.GlobalColor.darkCyan)
    QApplication.clipboard().setImage(picture)
    _asked(camera, "21-paste-picture", page.editor.paste)
    _caret_in(page, "question")
    page.names.rename()
    wait(300)
    camera.take("21-rename")
    _calm(page)
    page.editor.insertPlainText("mine ")
    path = page.controller.path
    assert path is not None
    before = path.read_text(encoding="utf-8")
    path.write_text("theirs\n" + before, encoding="utf-8")
    wait(900)
    camera.take("22-changed-on-disk")
    page.disk.show_comparison()
    wait(300)
    camera.take("22-compare", dialog())
    dialog().close()
    path.write_text(before, encoding="utf-8")
    wait(900)
    page.disk.take_file()
    sealed = folder / "sealed.prompty"
    sealed.write_text("system:\nHi\n", encoding="utf-8")
    sealed.chmod(0o444)
    window.tabs.open(sealed)
    wait(600)
    camera.take("23-read-only")
    window.tabs.close_page()


def _calm(page: EditorPage) -> None:
    """Back to the text as it was."""
    popup = QApplication.activePopupWidget()
    if popup is not None:
        popup.close()
    page.find_bar.leave()
    palette = page.window().findChild(CommandPalette)
    if palette is not None:
        palette.hide()
    QTest.keyClick(page.editor, Qt.Key.Key_Escape)
    while page.editor.document().isUndoAvailable():
        page.editor.undo()


def _end(page: EditorPage, text: str) -> None:
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.End)
    page.editor.insertPlainText(text)


def _complete(workbench: Workbench, page: EditorPage) -> None:
    _end(page, "\n{{ ")
    page.assist.complete()


def _snippet(workbench: Workbench, page: EditorPage) -> None:
    _end(page, "\n")
    page.assist.insert_snippet("user:\n${1:A question}\n\nassistant:\n${2:Its answer}\n\n$0")


def _bulb(workbench: Workbench, page: EditorPage) -> None:
    _end(page, "\n{{ nobody }}")
    wait(700)
    page.assist.show_fixes()


def _crumbs(workbench: Workbench, page: EditorPage) -> None:
    page.editor.go_to_line(9, 5)
    wait(300)
    page.crumbs.take_keyboard()
    menu = page.crumbs.menu_of(2)
    menu.popup(page.crumbs.mapToGlobal(QPoint(120, page.crumbs.height())))


def _find(workbench: Workbench, page: EditorPage) -> None:
    page.find_bar.ask(replace=True)
    QTest.keyClicks(QApplication.focusWidget() or page, "the")


def _spelling(workbench: Workbench, page: EditorPage) -> None:
    store = workbench.window.services.settings
    store.set(replace(store.value, spelling="en_US"))
    _end(page, "\nThis is a helpfull exampel.")
    wait(1500)
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.Left)
    page.editor.moveCursor(page.editor.textCursor().MoveOperation.Left)
    page.assist.show_fixes()


def _uses(workbench: Workbench, page: EditorPage) -> None:
    _caret_in(page, "question")
    workbench.window.actions_by_id["edit.uses"].trigger()


def _caret_in(page: EditorPage, words: str) -> None:
    cursor = page.editor.textCursor()
    cursor.setPosition(page.editor.source().to_utf16(page.editor.text().rindex(words) + 1))
    page.editor.setTextCursor(cursor)


def _asked(camera: Camera, name: str, ask: Callable[[], object]) -> None:
    """A picture of a question that is waited for."""

    def shoot() -> None:
        camera.take(name, dialog())
        dialog().close()

    QTimer.singleShot(700, shoot)
    ask()


STATES: dict[str, Callable[[Workbench, EditorPage], None]] = {
    "completion": _complete,
    "snippet": _snippet,
    "quick-fix": _bulb,
    "breadcrumbs": _crumbs,
    "find": _find,
    "uses": _uses,
    "spelling": _spelling,
}
