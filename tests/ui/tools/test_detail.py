from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.registry import SourceStatus, ToolEntry, ToolRegistry
from studio.ui.theme import LIGHT
from studio.ui.tools.pane import ToolsPane
from tests.support.labels import PLANTED, labels_read_as_rich

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def test_no_label_reads_what_others_wrote_as_html(qtbot: QtBot) -> None:
    pane = ToolsPane(LIGHT)
    qtbot.addWidget(pane)
    schema: JsonObject = {
        "type": "object",
        "properties": {PLANTED: {"type": "string", "description": PLANTED}},
    }
    entry = ToolEntry(ToolSpec(PLANTED, PLANTED, schema), problem=PLANTED)
    source = SourceStatus("mcp:x", PLANTED, "failed", PLANTED, facts={"name": PLANTED})
    pane.show_registry(ToolRegistry((entry,), (source,)))
    shown = [each.text() for each in pane.findChildren(QLabel) if "PLANTED" in each.text()]
    assert len(shown) >= 5
    assert labels_read_as_rich(pane) == []
