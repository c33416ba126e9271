"""Planted keys in the real window: nothing shows or keeps them, and a run goes on with them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtWidgets import QApplication, QInputDialog, QLabel, QTextEdit, QWidget
from pytestqt.qtbot import QtBot

from studio.core.agent.values.commands import Continue
from studio.core.log import start_log, stop_log
from studio.core.runs.store import RunStore
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.workbench import Workbench
from studio.viewmodels.app.crashes import crash_of
from studio.viewmodels.tools.calls import ToolTrial
from tests.support.chat_server import ChatServer, chat_server, events, streamed, text_chunks
from tests.support.modal import answering
from tests.support.planted import bytes_below, leaks, spellings
from tests.support.tool_ids import tool_id

NOTE = 'note/planted+5150 "q" & more'
KEPT = "kept-Planted/0123456789+abcd="
TOOL = "tool-Planted/5a5a5a+6b6b6b==77"
KEYS = {"note": NOTE, "kept": KEPT, "tool": TOOL}

PROMPT = """---
name: planted
model:
  connection: {kind: reference, name: Office}
inputs:
  note: {kind: string, default: "${env:PLANTED_NOTE}"}
metadata:
  agent:
    tools: [tools.py]
    env: [PLANTED_TOOL_KEY]
---
system:
Note: {{ note }}
user:
Go.
"""
TOOLS = '''
import os

def echo(text: str) -> str:
    """Say it again, and the key."""
    return f"{text} {os.environ['PLANTED_TOOL_KEY']}"
'''


@pytest.fixture
def model() -> Iterator[ChatServer]:
    with chat_server() as server:
        yield server


@pytest.fixture
def prompt(
    tmp_path: Path, user_home: Path, model: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> Path:
    monkeypatch.setenv("PLANTED_NOTE", NOTE)
    monkeypatch.setenv("PLANTED_TOOL_KEY", TOOL)
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "tools.py").write_text(TOOLS, encoding="utf-8")
    path = folder / "planted.prompty"
    path.write_text(PROMPT, encoding="utf-8")
    (user_home / "config").mkdir()
    (user_home / "config" / "connections.toml").write_text(
        'default = "Office"\n\n[[connection]]\nname = "Office"\nkind = "compatible"\n'
        f'model = "m"\nbase_url = "{model.url}"\nkey = "keyring"\nretries = 0\n',
        encoding="utf-8",
    )
    TrustStore(user_home / "data" / "trust.json").trust(folder)
    return path


def shown_in(window: QWidget) -> str:
    """All texts that the window has on its screen."""
    texts = [each.toPlainText() for each in window.findChildren(QTextEdit)]
    texts += [each.text() for each in window.findChildren(QLabel)]
    return "\n".join(texts)


def test_the_window_shows_and_keeps_no_key(
    qtbot: QtBot,
    user_home: Path,
    model: ChatServer,
    prompt: Path,
    open_workbench: Callable[[Path], Workbench],
) -> None:
    workbench = open_workbench(prompt)
    hide = workbench.connections.secrets.mask
    workbench.connections.keys.keep("Office", KEPT, only_session=True)
    said = "\n".join(text for key in KEYS.values() for text in sorted(spellings(key)))
    model.script(events([*text_chunks(said, 5), "[DONE]"], delay=0.002))
    streamed_texts: list[str] = []
    workbench.run.streamed.connect(streamed_texts.append)
    with qtbot.waitSignal(workbench.run.sessions.ended):
        workbench.run_coordinator.start(at_entry=False)
    state = workbench.run.state
    assert state is not None
    assert state.answer is not None
    assert "${env:PLANTED_NOTE}" in state.answer
    assert "${key:Office}" in state.answer
    assert "${env:PLANTED_TOOL_KEY}" in state.answer
    assert model.requests[-1].body["messages"][0]["content"].rstrip() == f"Note: {NOTE}"
    assert streamed_texts

    trials: list[ToolTrial] = []
    workbench.tools.trial_changed.connect(trials.append)
    workbench.tools.trials.start(tool_id(workbench.tools.registry, "echo"), {"text": "hi"})
    qtbot.waitUntil(lambda: bool(trials and trials[-1].outcome))
    outcome = trials[-1].outcome
    assert outcome is not None
    assert outcome.text == "hi ${env:PLANTED_TOOL_KEY}"

    start_log(user_home / "data" / "log", hide)
    try:
        raise ValueError(f"with {NOTE}, {KEPT} and {TOOL}")
    except ValueError as error:
        crash = crash_of(error, "window", {}, hide)
        logging.getLogger("studio").exception("it broke")
    finally:
        stop_log()
    qtbot.waitUntil(lambda: workbench.is_settled)
    places = [
        *bytes_below(user_home),
        ("the window", shown_in(workbench.window).encode()),
        ("the stream", "\n".join(streamed_texts).encode()),
        ("the crash", (crash.summary + crash.report).encode()),
    ]
    assert "\n".join(leaks(KEYS, places)) == ""


def test_a_run_of_the_past_asks_for_a_value_that_is_not_set(
    qtbot: QtBot,
    user_home: Path,
    model: ChatServer,
    prompt: Path,
    monkeypatch: pytest.MonkeyPatch,
    open_workbench: Callable[[Path], Workbench],
) -> None:
    first = open_workbench(prompt)
    first.connections.keys.keep("Office", KEPT, only_session=True)
    model.always(streamed("Well."))
    with qtbot.waitSignal(first.run.sessions.ended):
        first.run_coordinator.start(at_entry=False)
    monkeypatch.delenv("PLANTED_NOTE")
    # Another start of the studio, which has never seen the value.
    second = open_workbench(prompt)
    second.connections.keys.keep("Office", KEPT, only_session=True)
    store = RunStore(user_home / "data" / "runs.sqlite")
    (line,) = store.runs()
    store.close()
    with qtbot.waitSignal(second.history.opened):
        second.history.open(line.id)
    second.run.go_to(next(iter(second.run.past.events)).seq + 1)  # type: ignore[union-attr]
    second.past_runs.resume()
    qtbot.waitUntil(lambda: second.run.view.is_waiting)
    second.run.send(Continue())

    def is_missed() -> bool:
        state = second.run.state
        return state is not None and state.error is not None and state.pause is not None

    qtbot.waitUntil(is_missed)
    sent = len(model.requests)
    labels = {button.text(): button for button in second.run_pane.actions_bar.buttons}
    assert "Give the value…" in labels

    def give(dialog: QInputDialog) -> None:
        assert "${env:PLANTED_NOTE}" in dialog.labelText()
        dialog.setTextValue("a new note")
        dialog.accept()

    with answering(QInputDialog, give), qtbot.waitSignal(second.run.sessions.ended):
        labels["Give the value…"].click()
    assert QApplication.activeModalWidget() is None
    assert len(model.requests) == sent + 1
    assert model.requests[-1].body["messages"][0]["content"].rstrip() == "Note: a new note"
    assert "\n".join(leaks({"note": NOTE, "kept": KEPT}, bytes_below(user_home))) == ""
    assert b"a new note" not in b"".join(data for _, data in bytes_below(user_home))
