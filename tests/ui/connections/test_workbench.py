"""Connections in the whole studio: run with one, lose it, go on with another; be the model."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.core.agent.values.events import ModelChosen
from studio.core.models.connections import EMBEDDED, PRESETS, Connection
from studio.core.paths import resource
from studio.core.tools.trust.store import TrustStore
from studio.ui.app.workbench import Workbench
from studio.ui.connections.dialog import ConnectionsDialog, TrustDialog
from tests.support.chat_server import ChatServer, cut_body, streamed, text_chunks
from tests.support.model_change import change_model
from tests.support.model_choice import choose_model, go_to, offers_of
from tests.support.planted import bytes_below
from tests.support.tool_ids import tool_id

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
KEY = "sk-planted-in-the-window-9876543210"
CALL = 'Thought: I need the product.\nAction: calculator\nArgs: {"expression": "128 * 46"}'
ANSWER = "Thought: I have it.\nFinal Answer: 128 times 46 is 5888."
Open = Callable[[Path], Workbench]


@pytest.fixture
def example(user_home: Path) -> Path:
    """The person's own copy of the ReAct example."""
    folder = user_home / "data" / "examples"
    shutil.copytree(resource("examples"), folder)
    return folder / "react-agent.prompty"


@pytest.fixture
def script(user_home: Path) -> Path:
    path = user_home / "script.json"
    path.write_text(json.dumps([ANSWER]), encoding="utf-8")
    return path


def the(kind: type) -> object:
    """The open dialog of a kind."""
    found = [
        each
        for each in QApplication.topLevelWidgets()
        if isinstance(each, kind) and each.isVisible()
    ]
    assert len(found) == 1, found
    return found[0]


def run_to_end(qtbot: QtBot, workbench: Workbench) -> None:
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: workbench.run.state is not None)
    qtbot.waitUntil(lambda: not workbench.run.is_live)


def add_loopback(qtbot: QtBot, workbench: Workbench, server: ChatServer) -> None:
    """As a person: Connections, Add, address, a key, Test, a model of the list."""
    workbench.window.actions_by_id["run.connections"].trigger()
    dialog = the(ConnectionsDialog)
    assert isinstance(dialog, ConnectionsDialog)
    entry = "Any OpenAI-compatible server"
    next(each for each in dialog.tools.add.menu().actions() if each.text() == entry).trigger()
    form = dialog.form
    form.fields.widgets["name"].setText("Loopback")
    form.fields.widgets["base_url"].setText(server.url)
    form.commit()
    form.key.place.setCurrentIndex(form.key.place.findData("session"))
    form.key.place.activated.emit(0)
    qtbot.keyClicks(form.key.key, KEY)
    qtbot.keyClick(form.key.key, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "session" in form.key.state.text())
    qtbot.mouseClick(form.model.list, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: form.model.combo.count() > 0)
    form.model.combo.setCurrentIndex(0)
    form.model.combo.activated.emit(0)
    dialog.close()
    choose_model(workbench, "Loopback")


def test_a_new_connection_runs_breaks_and_is_replaced(
    qtbot: QtBot,
    example: Path,
    open_workbench: Open,
    server: ChatServer,
    script: Path,
    user_home: Path,
) -> None:
    workbench = open_workbench(example)
    add_loopback(qtbot, workbench, server)
    assert workbench.connections.choice.declaration.id == "scripted-1"

    server.script(streamed(CALL), streamed(ANSWER))
    run_to_end(qtbot, workbench)
    state = workbench.run.state
    assert state is not None
    assert (state.status, state.answer) == ("done", "128 times 46 is 5888.")
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"

    # The plug is pulled in the middle of the second reply.
    server.script(streamed(CALL))
    server.always(cut_body(text_chunks(ANSWER)[:4]))
    workbench.run_pane.commands.run_or_continue()

    def stands() -> bool:
        now = workbench.run.state
        return now is not None and now.error is not None and now.pause is not None

    qtbot.waitUntil(stands)
    broken = workbench.run.state
    assert broken is not None
    assert broken.error is not None
    assert (broken.error.kind, broken.error.code) == ("model", "cut-off")
    assert broken.step.partial is not None  # what had come is kept
    assert ANSWER.startswith(broken.step.partial.text)
    assert broken.step.partial.text
    qtbot.waitUntil(lambda: server.url in workbench.run_pane.view.offers.detail)
    assert workbench.run_pane.view.offers.is_error

    # Another connection takes over, in the same run.
    connections = workbench.connections
    made = Connection("Script", "scripted", settings={"script": str(script)})
    every = connections.connections
    connections.save(replace(every, connections=(*every.connections, made)))
    choose_model(workbench, "Script")
    change_model(qtbot, workbench)
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert state.setup.run == broken.setup.run
    assert (state.status, state.answer) == ("done", "128 times 46 is 5888.")
    assert any(isinstance(each, ModelChosen) for each in workbench.run.past.events)  # type: ignore[union-attr]

    workbench.close()
    kept = bytes_below(user_home)
    assert any(name.endswith(".sqlite") and data for name, data in kept)
    assert not [name for name, data in kept if KEY.encode() in data]


def test_the_popover_lists_models_and_takes_typed_ones(
    qtbot: QtBot, example: Path, open_workbench: Open, server: ChatServer
) -> None:
    server.models = [{"id": "one"}, {"id": "two"}]
    workbench = open_workbench(example)
    connections = workbench.connections
    compatible = next(each.connection for each in PRESETS if each.id == "compatible")
    made = replace(compatible, name="Loopback", base_url=server.url, key="", model="one")
    connections.save(replace(connections.connections, connections=(EMBEDDED, made)))
    choose_model(workbench, "Loopback")
    assert workbench.window.model_button.text() == "one"
    popover = workbench.coordinator.choose()
    qtbot.waitUntil(lambda: "two" in [each.title for each in offers_of(popover)])
    assert [each.title for each in offers_of(popover) if each.is_used] == ["one"]
    qtbot.keyClicks(popover.line, "another")
    assert [each.title for each in offers_of(popover)] == ["Ask Loopback for another"]
    qtbot.keyClick(popover.line, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    assert connections.choice.declaration.id == "another"
    server.script(streamed(ANSWER))
    run_to_end(qtbot, workbench)
    assert server.requests[-1].body["model"] == "another"
    choose_model(workbench, "Embedded model")
    popover = workbench.coordinator.choose()
    levels = [popover.level.itemText(row) for row in range(popover.level.count())]
    assert levels == ["Unaided", "Readable", "Careful", "Guided"]
    assert popover.level.isVisible()
    popover.hide()


ENDPOINT = "https://models.example.org"


@pytest.fixture
def stranger(user_home: Path) -> Path:
    """A prompt that brings an endpoint of its own, in a folder that is trusted."""
    path = user_home / "stranger.prompty"
    TrustStore(user_home / "data" / "trust.json").trust(path.parent)
    path.write_text(
        "---\nname: stranger\nmodel:\n  id: big\n  connection:\n    kind: key\n"
        f"    endpoint: {ENDPOINT}/v1\n    apiKey: ${{env:STRANGER_KEY}}\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    return path


def test_a_new_endpoint_is_asked_about(
    qtbot: QtBot, stranger: Path, open_workbench: Open, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("STRANGER_KEY", KEY)
    workbench = open_workbench(stranger)
    connections = workbench.connections
    assert connections.needs_trust() == ENDPOINT
    workbench.run_pane.commands.run_or_continue()
    dialog = the(TrustDialog)
    assert isinstance(dialog, TrustDialog)
    assert dialog.endpoint.text() == ENDPOINT
    assert "STRANGER_KEY" in dialog.explanation.text()
    assert dialog.refuse.isDefault()
    qtbot.mouseClick(dialog.refuse, Qt.MouseButton.LeftButton)
    assert workbench.run.state is None

    # Once: this run only.
    workbench.run_pane.commands.run_or_continue()
    dialog = the(TrustDialog)
    assert isinstance(dialog, TrustDialog)
    qtbot.mouseClick(dialog.once, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: workbench.run.state is not None)
    workbench.run.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    assert connections.needs_trust() == ENDPOINT
    assert connections.connections.trusted == ()

    # Always: kept, and taken back in the dialog.
    workbench.run_pane.commands.run_or_continue()
    dialog = the(TrustDialog)
    assert isinstance(dialog, TrustDialog)
    qtbot.mouseClick(dialog.always, Qt.MouseButton.LeftButton)
    assert connections.connections.trusted == (ENDPOINT,)
    assert connections.needs_trust() == ""
    workbench.run.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)


def test_a_prompt_that_names_its_connection_gets_it(
    qtbot: QtBot, user_home: Path, open_workbench: Open, server: ChatServer
) -> None:
    path = user_home / "named.prompty"
    path.write_text(
        "---\nname: named\nmodel:\n  id: big\n  connection:\n    kind: reference\n"
        "    name: Loopback\n---\nuser:\nHello\n",
        encoding="utf-8",
    )
    workbench = open_workbench(path)
    connections = workbench.connections
    assert "not configured here" in connections.choice.refusal
    dialog = workbench.coordinator.manage()
    assert "not configured here" in dialog.uses.text()
    compatible = next(each.connection for each in PRESETS if each.id == "compatible")
    dialog.add_connection(replace(compatible, name="Loopback", base_url=server.url, key=""))
    assert connections.choice.connection.name == "Loopback"
    assert "Loopback answers" in dialog.uses.text()
    dialog.close()
    run_to_end(qtbot, workbench)
    assert server.requests[-1].body["model"] == "big"


def test_a_choice_for_the_folder_and_the_way_back(
    qtbot: QtBot, user_home: Path, open_workbench: Open, example: Path
) -> None:
    chat = user_home / "shop" / "chat.prompty"
    chat.parent.mkdir()
    chat.write_text("---\nname: chat\nmodel: {id: gpt-9}\n---\nuser:\nHello\n", encoding="utf-8")
    workbench = open_workbench(example)
    popover = workbench.coordinator.choose()
    assert popover.protocol.isVisible()
    popover.hide()
    workbench.window.tabs.open(chat)
    qtbot.waitUntil(lambda: workbench.is_settled)
    popover = workbench.coordinator.choose()
    assert not popover.agent.isVisible()  # a chat has no protocol
    assert popover.passport.use.text() == "Use in shop"
    popover.hide()
    here = Connection("Here", "compatible", base_url="http://127.0.0.1:9/v1", model="small")
    connections, button = workbench.connections, workbench.window.model_button
    connections.save(replace(connections.connections, connections=(EMBEDDED, here)))
    choose_model(workbench, "Here", for_folder=True)
    assert connections.connections.folders == {str(chat.parent.resolve()): "Here"}
    assert (connections.chosen, connections.choice.connection) == ("", here)
    assert (button.text(), button.price, button.property("replaced")) == (
        "small",
        "free, local",
        True,
    )
    assert "The file requests gpt-9." in button.toolTip()
    popover = workbench.coordinator.choose()
    asked = offers_of(popover)[0]
    assert (asked.title, asked.is_replaced) == ("gpt-9", True)
    go_to(popover, "gpt-9")
    qtbot.keyClick(popover.line, Qt.Key.Key_Return)
    assert (connections.connections.folders, connections.choice.connection) == ({}, EMBEDDED)


def test_a_run_of_another_prompt_goes_on_with_that_prompts_connection(
    qtbot: QtBot, user_home: Path, open_workbench: Open
) -> None:
    made, files = [], []
    for name in ("one", "two"):
        script = user_home / f"{name}.json"
        script.write_text(json.dumps([f"Said by {name}."]), encoding="utf-8")
        made.append(Connection(name, "scripted", settings={"script": str(script)}))
        files.append(user_home / f"{name}.prompty")
        files[-1].write_text(
            f"---\nname: {name}\nmodel:\n  connection: {{kind: reference, name: {name}}}\n---\n"
            "user:\nHi\n",
            encoding="utf-8",
        )
    workbench = open_workbench(files[0])
    connections = workbench.connections
    connections.save(replace(connections.connections, connections=(EMBEDDED, *made)))
    workbench.run_pane.commands.step()
    qtbot.waitUntil(lambda: workbench.run_pane.view.is_waiting)
    run = workbench.run.view.state
    assert run is not None
    workbench.run_pane.commands.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)

    workbench.window.tabs.open(files[1])
    qtbot.waitUntil(lambda: workbench.is_settled)
    assert connections.choice.connection.name == "two"
    workbench.history_pane.request_open.emit(run.setup.run)
    qtbot.waitUntil(lambda: bool(workbench.run.view.record))
    workbench.run_pane.commands.request_offer.emit("resume")
    qtbot.waitUntil(lambda: workbench.run_pane.view.is_waiting)
    workbench.run_pane.commands.run_or_continue()
    qtbot.waitUntil(lambda: not workbench.run.is_live)
    state = workbench.run.state
    assert state is not None
    assert state.answer == "Said by one."


def test_a_tool_uses_a_connection_of_the_studio_as_soon_as_it_is_there(
    qtbot: QtBot, user_home: Path, open_workbench: Open, server: ChatServer
) -> None:
    folder = user_home / "service"
    folder.mkdir()
    paths = {"/models": {"get": {"operationId": "list_models", "summary": "Lists them."}}}
    description = {"openapi": "3.1.0", "servers": [{"url": "https://x.test"}], "paths": paths}
    (folder / "api.json").write_text(json.dumps(description), encoding="utf-8")
    prompt = folder / "service.prompty"
    prompt.write_text(
        "---\nname: service\ntools:\n  - name: office\n    kind: openapi\n"
        "    specification: api.json\n    connection: {kind: reference, name: Office}\n---\n"
        "system:\nHi\n",
        encoding="utf-8",
    )
    TrustStore(user_home / "data" / "trust.json").trust(folder)
    workbench = open_workbench(prompt)
    (status,) = workbench.tools.registry.sources
    assert "'Office' is not configured here" in status.message

    connections = workbench.connections
    office = Connection("Office", "compatible", base_url=server.url, key="keyring")
    kept = connections.connections
    connections.save(replace(kept, connections=(*kept.connections, office)))
    with qtbot.waitSignal(
        connections.keys.found,
        check_params_cb=lambda name, key: (name, key.place) == ("Office", "session"),
    ):
        connections.keys.keep("Office", KEY, only_session=True)
    qtbot.waitUntil(lambda: workbench.tools.registry.sources[0].message == "")
    shown: list[str] = []
    workbench.tools.request_shown.connect(lambda _, text: shown.append(text))
    asked_after = -1
    address, masked = f"GET {server.url}/models\n", "\nAuthorization: Bearer •••"

    def is_shown() -> bool:
        """Whether an answer has both; asks anew after each (the first may be of the old source)."""
        nonlocal asked_after
        if asked_after < len(shown):
            asked_after = len(shown)
            workbench.tools.show_request("list_models", {})
        return any(text.startswith(address) and text.endswith(masked) for text in shown)

    qtbot.waitUntil(is_shown)
    workbench.tools.trials.start(tool_id(workbench.tools.registry, "list_models"), {})
    qtbot.waitUntil(lambda: bool(server.requests))
    assert server.requests[0].headers["authorization"] == f"Bearer {KEY}"
