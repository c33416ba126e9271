from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from pytestqt.qtbot import QtBot

from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import Services

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def test_f9_on_a_tool_or_a_message_is_a_breakpoint_of_the_run(
    services: Services, qtbot: QtBot
) -> None:
    bench = Workbench(services)
    window = bench.window
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    page = window.tabs.open(resource("examples", "react-agent.prompty"))
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)
    line = page.editor.text().split("\n").index("  - name: lookup")
    page.editor.go_to_line(line + 2)
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert [each.tool for each in bench.run.breakpoints.value.breakpoints] == ["lookup"]
    assert page.editor.breakpoints == {line}
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert page.editor.breakpoints == frozenset()
    lines = page.editor.text().split("\n")
    user = lines.index("user:") + 1
    page.editor.go_to_line(user)
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert [each.message for each in bench.run.breakpoints.value.breakpoints] == ["user 1"]
    assert page.editor.breakpoints == {user - 1}
    # In its text the message is meant, too: off, and on again.
    page.editor.go_to_line(user + 2)
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert page.editor.breakpoints == frozenset()
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert page.editor.breakpoints == {user - 1}
    # They belong to this file, and are there when it is shown again.
    other = window.tabs.open(resource("examples", "chat.prompty"))
    assert other is not None
    qtbot.waitUntil(lambda: bench.run.breakpoints.value.breakpoints == ())
    assert other.editor.breakpoints == frozenset()
    window.tabs.open(resource("examples", "react-agent.prompty"))
    qtbot.waitUntil(lambda: page.editor.breakpoints == {user - 1})
    page.editor.go_to_line(1)
    qtbot.keyClick(page.editor, Qt.Key.Key_F9)
    assert "no tool and no message" in window.notices.notices[-1].what
    qtbot.waitUntil(lambda: bench.is_settled)
    window.close()
    bench.close()
