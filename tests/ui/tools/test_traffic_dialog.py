"""The messages of a source are followed, read, and copied."""

from __future__ import annotations

import json
from pathlib import Path

from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.core.tools.registry import SourceStatus
from studio.core.tools.source import TrafficLog
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


def test_messages_are_filtered_and_saved(qtbot: QtBot, tmp_path: Path) -> None:
    parent = QWidget()
    qtbot.addWidget(parent)
    log = TrafficLog()
    log.sent("tools/list", "{}", 2, 1)
    log.received("", '{"tools": ["Rain"]}', 19, 1)
    log.sent("tools/call", "{}", 2)
    dialog = TrafficDialog(SourceStatus("mcp:x", "mcp: x", "ready"), parent)
    dialog.show_traffic("mcp:x", log.messages)
    dialog.filter.setText("LIST rain")
    hidden = [dialog.table.topLevelItem(row).isHidden() for row in range(3)]  # type: ignore[union-attr]
    assert hidden == [True, False, True]
    dialog.save(tmp_path / "t.jsonl")
    [line] = (tmp_path / "t.jsonl").read_text(encoding="utf-8").splitlines()
    assert json.loads(line)["text"] == '{"tools": ["Rain"]}'
    dialog.filter.setText("nothing like it")
    assert not dialog.save_button.isEnabled()
    dialog.save(tmp_path / "gone" / "t.jsonl")
    assert "t.jsonl" in dialog.hint.text()
    dialog.close()
