"""What a closed tab leaves in memory: nothing."""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from PySide6.QtCore import QEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot
from shiboken6 import isValid

from studio.ui.app.main_window import MainWindow
from studio.ui.editor.highlight.highlighter import Highlighter
from studio.ui.editor.page.page import EditorPage
from studio.ui.editor.text.prompt_text import PromptText
from studio.viewmodels.document.controller import DocumentController

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

PARTS = (EditorPage, DocumentController, PromptText, Highlighter)


def alive() -> dict[str, int]:
    """How many there are of each part of a tab."""
    QApplication.sendPostedEvents(None, QEvent.Type.DeferredDelete.value)  # type: ignore[call-overload]
    gc.collect()
    found = [each for each in gc.get_objects() if isinstance(each, PARTS) and isValid(each)]
    return {part.__name__: sum(isinstance(each, part) for each in found) for part in PARTS}


def test_a_closed_tab_is_gone(window: MainWindow, qtbot: QtBot, tmp_path: Path) -> None:
    path = tmp_path / "a.prompty"
    path.write_text("---\nname: a\n---\nuser:\nHello\n", encoding="utf-8")
    before = alive()
    for _ in range(3):
        page = window.tabs.open(path)
        assert page is not None
        qtbot.waitUntil(lambda page=page: page.document is not None)
        del page
        window.actions_by_id["file.close"].trigger()
        assert window.tabs.current is None
    assert alive() == before
