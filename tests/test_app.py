"""A file that the system hands over is asked to be shown; other events pass."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QEvent, QUrl
from PySide6.QtGui import QFileOpenEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.app import FileOpenEvents


def test_a_file_of_the_system_is_asked_to_be_shown(qtbot: QtBot, qapp: QApplication) -> None:
    events = FileOpenEvents(qapp)
    seen: list[Path] = []
    events.request_open.connect(seen.append)
    try:
        assert QApplication.sendEvent(qapp, QFileOpenEvent("/prompts/a b.prompty"))
        assert QApplication.sendEvent(
            qapp, QFileOpenEvent(QUrl.fromLocalFile("/prompts/ü.prompty"))
        )
        QApplication.sendEvent(qapp, QEvent(QEvent.Type.ApplicationActivate))
    finally:
        qapp.removeEventFilter(events)
    assert seen == [Path("/prompts/a b.prompty"), Path("/prompts/ü.prompty")]
