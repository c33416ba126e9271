from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.app.workbench import Workbench
from studio.ui.base.services import Services

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

PROMPT = """---
name: x
model:
  connection:
    key: ${env:STUDIO_TEST_VARIABLE}
inputs:
  city:
    kind: string
---
user:
Hi {{ city }}
"""


def test_the_editor_is_told_what_the_panes_know(
    services: Services, tmp_path: Path, qtbot: QtBot, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STUDIO_TEST_VARIABLE", "never shown")
    path = tmp_path / "a.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    bench = Workbench(services)
    window = bench.window
    with qtbot.waitActive(window):
        window.show()
        window.activateWindow()
    page = window.tabs.open(path)
    assert page is not None
    qtbot.waitUntil(lambda: page.document is not None)

    def told(words: str) -> str:
        cursor = page.editor.textCursor()
        cursor.setPosition(PROMPT.index(words) + 2)
        page.editor.setTextCursor(cursor)
        page.editor.ensureCursorVisible()
        return page.assist.hover_text(page.editor.cursorRect().center())

    assert "Value now" not in told("city }}")
    bench.inputs_pane.set_values({"city": "Bergen"})
    qtbot.waitUntil(lambda: "Bergen" in told("city }}"))
    assert "not trusted" in told("STUDIO_TEST")
    bench.tools.trust_folder(tmp_path)
    qtbot.waitUntil(lambda: "set in the environment" in told("STUDIO_TEST"))
    assert "never shown" not in told("STUDIO_TEST")
    qtbot.waitUntil(lambda: bench.is_settled)
    window.close()
    bench.close()
