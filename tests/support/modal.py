"""Answers for modal dialogs that keep their caller waiting, so that none of them waits for ever."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import TypeVar

from PySide6.QtCore import Qt, QTimer
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QDialog, QFileDialog, QLineEdit, QMessageBox, QWidget

from tests.support import patience

_LOOK_MS = 20
_SECONDS = patience.SECONDS

D = TypeVar("D", bound=QDialog)


@contextmanager
def answering(kind: type[D], act: Callable[[D], object]) -> Iterator[list[str]]:
    """Act in the modal dialog that opens inside; gives what it said, if it is a message.

    The act comes once the dialog has the keyboard. A dialog that is of another kind, that stays
    after the act, or in which the act fails, is closed, and the test fails: an `exec` in it would
    keep the event loop, in which no time limit of Python is heard.
    """
    said: list[str] = []
    wrong: list[BaseException] = []
    acted: list[D] = []
    end = monotonic() + _SECONDS

    def look() -> None:
        dialog = QApplication.activeModalWidget()
        if dialog is None or not dialog.isVisible():
            return
        if wrong or monotonic() > end:
            wrong.append(TimeoutError(f"{dialog!r} was left open; acted in: {acted}"))
            _close(dialog)
        elif not acted and isinstance(dialog, kind) and _has_keyboard(dialog):
            acted.append(dialog)
            said.append(dialog.text() if isinstance(dialog, QMessageBox) else "")
            try:
                act(dialog)
            except BaseException as error:  # noqa: BLE001 - raised again where the test sees it
                wrong.append(error)

    timer = QTimer()
    timer.timeout.connect(look)
    timer.start(_LOOK_MS)
    try:
        yield said
    finally:
        timer.stop()
    if wrong:
        raise wrong[0]
    assert acted, f"no {kind.__name__} came"


def agree(dialog: QMessageBox) -> None:
    """Say yes."""
    yes = dialog.button(QMessageBox.StandardButton.Yes)
    QTest.mouseClick(yes, Qt.MouseButton.LeftButton)


def choose_file(path: Path) -> Callable[[QFileDialog], None]:
    """Name a file, and take it."""

    def act(dialog: QFileDialog) -> None:
        name = dialog.findChild(QLineEdit)
        assert name is not None
        # In one go: typed, its list of completions takes the keys. And not by `selectFile`, which
        # does nothing while the field has the keyboard.
        name.setText(str(path))
        QTest.keyClick(name, Qt.Key.Key_Return)

    return act


def _has_keyboard(dialog: QWidget) -> bool:
    focused = QApplication.focusWidget()
    return focused is not None and (focused is dialog or dialog.isAncestorOf(focused))


def _close(dialog: QWidget) -> None:
    dialog.reject() if isinstance(dialog, QDialog) else dialog.close()
