"""The messages of a source are followed, read, and copied."""

from __future__ import annotations

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.tools.registry import SourceStatus
from studio.core.tools.traffic import TrafficLog
from studio.ui.tools.traffic_dialog import TrafficDialog


def test_messages_are_followed_and_copied(qtbot: QtBot) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    log = TrafficLog()
    log.sent("GET http://h/", "GET http://h/", 0, 1, "curl -X GET http://h/")
    log.received("HTTP 200 OK", "HTTP 200 OK\n\n{}", 2, 1)
    dialog = TrafficDialog(SourceStatus("openapi:x", "openapi: x", "ready"), parent)
    with qtbot.waitSignal(dialog.request_traffic) as asked:
        dialog.show()
    assert asked.args == ["openapi:x"]
    dialog.show_traffic("other", log.messages)
    assert dialog.table.topLevelItemCount() == 0
    dialog.show_traffic("openapi:x", log.messages)
    assert dialog.hint.isHidden()
    dialog.table.setCurrentItem(dialog.table.topLevelItem(0))
    assert dialog.curl_button.isVisible()
    dialog.curl_button.click()
    assert QGuiApplication.clipboard().text() == "curl -X GET http://h/"
    for _ in range(400):
        log.received("more", "{}", 2)
    dialog.show_traffic("openapi:x", log.messages)
    assert dialog.table.topLevelItemCount() == len(log.messages)
    last = dialog.table.topLevelItem(dialog.table.topLevelItemCount() - 1)
    dialog.table.setCurrentItem(last)
    assert dialog.message == log.messages[-1]
    assert not dialog.curl_button.isVisible()
    dialog.close()
