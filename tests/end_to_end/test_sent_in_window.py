"""The Request tab of 451 messages, live and from the history: what its button copies."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication, QToolButton
from pytestqt.qtbot import QtBot

from studio.application.run.inspector.tabs import Inspection
from studio.core.models.remote.model import RemoteModel
from studio.core.models.secrets import Secret
from studio.core.paths import user_paths
from studio.core.prompty.parse import parse
from studio.core.runs.store import RunStore
from studio.ui.app.workbench import Workbench
from tests.application.run.test_text import KEY, plan_of
from tests.support.planted import bytes_below, leaks
from tests.support.wire_server import connection, wire_server

PROMPT = """---
name: Long
---
{% for n in range(225) %}
user:
Question {{ n }}

assistant:
Answer {{ n }}
{% endfor %}
user:
And now?
"""

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def copied(qtbot: QtBot, workbench: Workbench) -> str:
    inspector = workbench.run_pane.inspector
    button = next(
        each for each in inspector.findChildren(QToolButton) if each.toolTip() == "Copy this tab"
    )
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    return QApplication.clipboard().text()


def test_all_of_a_long_request_is_copied_live_and_from_the_history(
    qtbot: QtBot, user_home: Path, tmp_path: Path, open_workbench: Callable[[Path], Workbench]
) -> None:
    prompt = tmp_path / "caller.prompty"
    prompt.write_text(PROMPT, encoding="utf-8")
    workbench = open_workbench(prompt)
    with wire_server() as server:
        plan = plan_of(server, "chat", "native")
        server.turns = 1
        model = RemoteModel(connection(server, "chat"), "asked-model", Secret(KEY))
        workbench.run.start(replace(plan, document=parse(PROMPT, prompt), inputs={}, model=model))
        qtbot.waitUntil(
            lambda: workbench.run.state is not None and not workbench.run.is_live,
        )
        state = workbench.run.state
        assert state is not None
        assert state.status == "done"
        (sent,) = server.requests
    assert len(sent.body["messages"]) == 451

    workbench.run.inspect(Inspection(1, "request"))
    shown = workbench.run_pane.inspector.text_of("request")
    assert "371 messages left out here; Copy takes all" in shown
    assert copied(qtbot, workbench).encode() == sent.data

    with closing(RunStore(user_paths().data / "runs.sqlite")) as store:
        (run,) = store.runs()
    workbench.history.open(run.id)
    qtbot.waitUntil(lambda: workbench.run.view.record != "")
    workbench.run.inspect(Inspection(1, "request"))
    assert copied(qtbot, workbench).encode() == sent.data
    assert leaks({"key": KEY}, bytes_below(user_home)) == []
