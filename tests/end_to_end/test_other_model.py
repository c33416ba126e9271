"""By keys: a run whose prompt asks for another model by now stands still until the user says."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.core.agent.values.events import ModelChosen
from studio.core.agent.values.step import PausePoint
from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from tests.support.chat_server import ChatServer, Exchange, chat_server, streamed
from tests.support.model_choice import use_model

CALL = 'Thought: I look.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
END = "Thought: I know.\nFinal Answer: It is 5888."


@pytest.fixture
def server(user_home: Path) -> Iterator[ChatServer]:
    """A server with two connections to it, each with a model of its own."""
    config = user_home / "config"
    config.mkdir(parents=True, exist_ok=True)
    with chat_server() as running:
        running.script(streamed(CALL))
        running.always(streamed(END))
        blocks = [
            f'[[connection]]\nname = "{name}"\nkind = "compatible"\n'
            f'base_url = "{running.url}"\nmodel = "{model}"\n'
            for name, model in (("One", "small"), ("Two", "large"))
        ]
        text = 'default = "One"\n\n' + "\n".join(blocks)
        (config / "connections.toml").write_text(text, encoding="utf-8")
        yield running


def _asked(server: ChatServer) -> list[str]:
    return [each.body["model"] for each in server.requests if each.method == "POST"]


@pytest.fixture
def workbench(
    server: ChatServer, user_home: Path, open_workbench: Callable[[Path], Workbench]
) -> Workbench:
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    return open_workbench(folder / "react-agent.prompty")


def press(key: Qt.Key, modifiers: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier) -> None:
    """A key to whatever has the keyboard."""
    widget = QApplication.focusWidget()
    assert widget is not None
    QTest.keyClick(widget, key, modifiers)


def _labels(workbench: Workbench) -> list[str]:
    return [each.label for each in workbench.run.view.offers.offers]


def test_another_connection_is_asked_about_kept_changed_and_journaled(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    run, pane = workbench.run, workbench.run_pane
    page = workbench.window.tabs.current
    assert page is not None
    page.editor.setFocus()
    press(Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: run.view.place == PausePoint.BEFORE_REQUEST)
    assert run.view.choice == ""
    assert workbench.window.actions_by_id["run.step"].toolTip() == "Send the request  (F10)"

    # The toolbar's control: F5 sends nothing, it leads to the question.
    use_model(workbench.connections, "Two")
    assert run.view.choice == "model"
    assert workbench.window.actions_by_id["run.step"].toolTip().startswith("Run to the next pause")
    assert _labels(workbench)[:2] == ["Continue with small (One)", "Change to large (Two)"]
    for key in (Qt.Key.Key_F5, Qt.Key.Key_F10, Qt.Key.Key_F11):
        page.editor.setFocus()
        press(key)
        qtbot.waitUntil(lambda: QApplication.focusWidget() is pane.actions_bar.buttons[0])
    assert _asked(server) == []
    press(Qt.Key.Key_1)
    qtbot.waitUntil(lambda: run.view.choice == "")
    press(Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: run.view.place == PausePoint.REPLY)
    press(Qt.Key.Key_F10)
    qtbot.waitUntil(lambda: run.view.place == PausePoint.TOOL_CALL)
    assert _asked(server) == ["small"]
    assert workbench.window.actions_by_id["run.step"].toolTip() == "Run calculator  (F10)"
    assert run.state is not None
    assert [each.kind for each in run.state.step.touches] == ["kept"]

    # The front matter: what the file says counts where nothing is picked above it.
    workbench.connections.use_file()
    assert run.view.choice == ""
    text = page.editor.toPlainText()
    cursor = page.editor.textCursor()
    cursor.setPosition(text.index("  options:"))
    cursor.insertText("  connection: {kind: reference, name: Two}\n")
    qtbot.waitUntil(lambda: workbench.connections.choice.connection.name == "Two")
    assert run.view.choice == ""  # it was declined for this run a moment ago
    cursor.insertText("  id: huge\n")
    qtbot.waitUntil(lambda: run.view.choice == "model")
    assert _labels(workbench)[:2] == ["Continue with small (One)", "Change to huge (Two)"]
    pane.timeline.setFocus()
    press(Qt.Key.Key_2)
    qtbot.waitUntil(lambda: run.view.choice == "")
    assert "huge (Two)" in pane.head.about.whole
    card = run.view.timeline.cards[-1]
    assert (card.kind, card.badges) == ("action", ("model changed",))
    assert "huge (Two) instead of small (One)" in card.touched
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not run.is_live)
    assert _asked(server) == ["small", "huge"]
    assert workbench.window.actions_by_id["run.step"].toolTip().startswith("Run to the next pause")
    prompts = [each.summary for each in run.view.timeline.cards if each.kind == "prompt"]
    assert ["huge (Two)" in each for each in prompts] == [False, True]
    past = run.past
    assert past is not None
    chosen = [each for each in past.events if isinstance(each, ModelChosen)]
    assert [(each.model.name, each.over.name) for each in chosen] == [
        ("small (One)", "large (Two)"),
        ("huge (Two)", "small (One)"),
    ]


def test_a_pick_while_the_model_answers_pauses_the_run_and_asks(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    answers = asyncio.Event()
    held: list[asyncio.AbstractEventLoop] = []

    async def wait(exchange: Exchange) -> None:
        held.append(asyncio.get_running_loop())
        await answers.wait()
        await streamed(CALL)(exchange)

    server.first(wait)
    run, page = workbench.run, workbench.window.tabs.current
    assert page is not None
    page.editor.setFocus()
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: bool(held))
    use_model(workbench.connections, "Two")
    held[0].call_soon_threadsafe(answers.set)
    qtbot.waitUntil(lambda: run.view.choice == "model")
    assert _asked(server) == ["small"]
    workbench.run_pane.timeline.setFocus()
    press(Qt.Key.Key_2)
    qtbot.waitUntil(lambda: run.view.choice == "")
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not run.is_live)
    assert _asked(server) == ["small", "large"]


def test_a_run_of_the_past_is_gone_on_with_by_its_own_model_or_the_new_one(
    qtbot: QtBot, workbench: Workbench, server: ChatServer
) -> None:
    run, pane = workbench.run, workbench.run_pane
    page = workbench.window.tabs.current
    assert page is not None
    page.editor.setFocus()
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: run.state is not None and not run.is_live)
    assert run.state is not None
    name = run.state.setup.run
    use_model(workbench.connections, "Two")
    assert _labels(workbench)[:2] == ["Continue with small (One)", "Change to large (Two)"]

    with qtbot.waitSignal(workbench.history.opened):
        workbench.history.open(name)
    qtbot.waitUntil(lambda: bool(run.view.record))
    pane.timeline.setFocus()
    press(Qt.Key.Key_Home)
    press(Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    press(Qt.Key.Key_1)
    qtbot.waitUntil(lambda: run.view.choice == "model")
    press(Qt.Key.Key_2)
    qtbot.waitUntil(lambda: run.view.choice == "")
    press(Qt.Key.Key_F5)
    qtbot.waitUntil(lambda: not run.is_live)
    assert _asked(server) == ["small", "small", "large"]
