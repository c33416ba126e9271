"""The dialog of connections, with a real server on the other side."""

from __future__ import annotations

import tomllib
from dataclasses import replace
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QMessageBox, QPushButton
from pytestqt.qtbot import QtBot

from studio.core.models.connections import PRESETS, Connection, read_connections
from studio.core.models.remote.faults import LearnedRefusal, kept_refusals
from studio.core.models.secrets import KEYRING
from studio.ui.connections.dialog import ConnectionsDialog
from studio.ui.style.theme import DARK
from studio.viewmodels.connections.controller import ConnectionsController
from tests.support.chat_server import ChatServer, streamed
from tests.support.drop import drop_files
from tests.support.model_choice import use_model
from tests.support.planted import bytes_below
from tests.support.themes import wear

KEY = "sk-planted-in-the-dialog-0123456789"


def preset(identifier: str) -> Connection:
    return next(each.connection for each in PRESETS if each.id == identifier)


def add(dialog: ConnectionsDialog, title: str) -> None:
    """Choose an entry of the Add menu."""
    next(action for action in dialog.tools.add.menu().actions() if action.text() == title).trigger()


def write(qtbot: QtBot, field, text: str) -> None:
    """Write into a line and leave it."""
    field.setFocus()
    field.selectAll()
    qtbot.keyClick(field, Qt.Key.Key_Delete)
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Tab)


def saved(user_home: Path) -> dict:
    return tomllib.loads((user_home / "config" / "connections.toml").read_text(encoding="utf-8"))


@pytest.mark.parametrize("made", PRESETS, ids=lambda made: made.id)
def test_every_preset_can_be_added(dialog: ConnectionsDialog, made, user_home: Path) -> None:
    add(dialog, made.title)
    assert dialog.current is not None
    assert dialog.current.kind == made.connection.kind
    assert made.hint in dialog.form.hint.text()
    assert not dialog.form.problems
    entry = saved(user_home)["connection"][-1]
    assert entry["name"].startswith(made.connection.name)
    shown = {name for name, line in dialog.form.lines.items() if line.isVisibleTo(dialog.form)}
    assert "name" in shown
    assert ("base_url" in shown) == dialog.current.is_remote
    assert ("weights" in shown) == (dialog.current.kind == "embedded")


def test_a_server_of_this_machine_needs_no_key(
    qtbot: QtBot, dialog: ConnectionsDialog, server: ChatServer, user_home: Path
) -> None:
    add(dialog, "Any OpenAI-compatible server")
    assert saved(user_home)["connection"][-1]["key"] == KEYRING
    write(qtbot, dialog.form.fields.widgets["base_url"], server.url)
    assert "key" not in saved(user_home)["connection"][-1]
    place = dialog.form.key.place
    place.setCurrentIndex(place.findData(KEYRING))  # the user's own word counts
    place.activated.emit(place.currentIndex())
    dialog.form.commit()
    assert saved(user_home)["connection"][-1]["key"] == KEYRING
    write(
        qtbot, dialog.form.fields.widgets["base_url"], server.url.replace("127.0.0.1", "localhost")
    )
    assert saved(user_home)["connection"][-1]["key"] == KEYRING


def test_a_test_asks_for_each_ability_and_keeps_what_was_found(
    qtbot: QtBot, dialog: ConnectionsDialog, server: ChatServer, user_home: Path
) -> None:
    server.always(streamed("It is red."))
    dialog.add_connection(Connection("Loop", "compatible", model="m-1", base_url=server.url))
    table = dialog.form.tried
    assert not dialog.form.shown_tried.isVisible()
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: dialog.form.shown.tried != {})
    words = {name: verdict.text() for name, (verdict, _) in table.rows.items()}
    assert words == {
        "streaming": "yes",
        "tools": "no",
        "parallel": "no",
        "schema": "no",
        "vision": "yes",
        "reasoning": "no",
        "stop": "no",
    }
    assert table.rows["tools"][1].text() == "It is red."
    assert dialog.form.shown_tried.isChecked()
    assert "m-1" in table.about.text()
    kept = saved(user_home)["connection"][-1]["tried"]
    assert (kept["model"], kept["vision"], kept["tools"]) == ("m-1", "yes", "no")
    # What was seen is known: pictures are sent from now on.
    assert "Yes" in dialog.form.abilities.form.widgets["vision"].itemText(0)
    dialog.show_connection("Embedded model")
    assert not dialog.form.shown_tried.isVisible()
    dialog.show_connection("Loop")
    assert table.rows["vision"][0].text() == "yes"


def test_add_test_and_list_models(
    qtbot: QtBot, dialog: ConnectionsDialog, server: ChatServer, user_home: Path
) -> None:
    server.models = [{"id": "small-1", "context_length": 2048}, {"id": "large-2"}]
    add(dialog, "Any OpenAI-compatible server")
    write(qtbot, dialog.form.fields.widgets["name"], "Loopback")
    write(qtbot, dialog.form.fields.widgets["base_url"], server.url)
    dialog.form.key.place.setCurrentIndex(dialog.form.key.place.findData("none"))
    dialog.form.key.place.activated.emit(0)
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    assert dialog.trial.cancel.isVisible()
    qtbot.waitUntil(lambda: "2 models" in dialog.trial.outcome.text())
    assert dialog.trial.test.isVisible()
    combo = dialog.form.model.combo
    assert [combo.itemText(row) for row in range(combo.count())] == ["large-2", "small-1"]
    combo.setCurrentText("small-1")
    combo.activated.emit(combo.currentIndex())
    entry = saved(user_home)["connection"][-1]
    assert (entry["name"], entry["base_url"], entry["model"]) == (
        "Loopback",
        server.url,
        "small-1",
    )
    # The server's own word on its model is what is known.
    assert "2,048" in dialog.form.abilities.form.widgets["context_window"].specialValueText()
    row = dialog.list.item(dialog.list.count() - 1)
    assert "works" in row.data(Qt.ItemDataRole.AccessibleTextRole)


def test_what_does_not_answer_is_said_in_plain_words(
    qtbot: QtBot, dialog: ConnectionsDialog
) -> None:
    dialog.add_connection(replace(preset("ollama"), base_url="http://127.0.0.1:9/v1"))
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Nothing responds" in dialog.trial.outcome.text())
    assert "Start the server" in dialog.trial.hint.text()
    assert "Error" not in dialog.trial.outcome.text()


def test_a_try_can_be_cancelled(
    qtbot: QtBot, dialog: ConnectionsDialog, controller: ConnectionsController
) -> None:
    # A port that accepts and never answers: the kernel's backlog does it.
    import socket

    with socket.socket() as listening:
        listening.bind(("127.0.0.1", 0))
        listening.listen(1)
        address = f"http://127.0.0.1:{listening.getsockname()[1]}/v1"
        dialog.add_connection(replace(preset("ollama"), base_url=address))
        qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
        qtbot.mouseClick(dialog.trial.cancel, Qt.MouseButton.LeftButton)
        assert dialog.trial.test.isVisible()
        assert dialog.current is not None
        assert controller.trials.of(dialog.current).state == "untried"


def test_errors_stand_beside_their_fields_and_nothing_wrong_is_saved(
    qtbot: QtBot, dialog: ConnectionsDialog, user_home: Path
) -> None:
    add(dialog, "OpenAI")
    form = dialog.form
    write(qtbot, form.fields.widgets["base_url"], "http://me:secret-password@host/v1")
    assert "password" in form.lines["base_url"].note.text()
    assert form.lines["base_url"].tone == "error"
    write(qtbot, form.fields.widgets["base_url"], f"https://host/v1?key={KEY}")
    assert form.lines["base_url"].tone == "error"
    assert "until the marked fields are correct" in dialog.banner.text
    # A key that comes now is not lost without a word.
    form.key.place.setCurrentIndex(form.key.place.findData("session"))
    form.key.place.activated.emit(0)
    qtbot.keyClicks(form.key.key, KEY)
    qtbot.mouseClick(form.key.keep, Qt.MouseButton.LeftButton)
    assert "not saved" in form.key.state.text()
    form.key.place.setCurrentIndex(form.key.place.findData("environment"))
    form.key.place.activated.emit(0)
    write(qtbot, form.fields.widgets["base_url"], "")
    assert not dialog.banner.isVisible()
    write(qtbot, form.fields.widgets["name"], "Embedded model")
    assert "already" in form.lines["name"].note.text()
    write(qtbot, form.fields.widgets["name"], "Mine")
    assert not form.problems
    form.fields.widgets["headers"].setPlainText(f"Authorization: Bearer {KEY}")
    form.commit()
    assert "key" in form.lines["headers"].note.text()
    form.fields.widgets["headers"].setPlainText("X-Team: prompts")
    write(qtbot, form.key.variable, KEY)
    assert form.lines["key"].tone == "error"
    text = (user_home / "config" / "connections.toml").read_text(encoding="utf-8")
    assert "secret-password" not in text
    assert KEY not in text
    write(qtbot, form.key.variable, "MY_KEY")
    assert saved(user_home)["connection"][-1] == {
        "name": "Mine",
        "kind": "openai",
        "key": "${env:MY_KEY}",
        "headers": {"X-Team": "prompts"},
    }


def test_a_key_is_used_and_never_shown_again(
    qtbot: QtBot, dialog: ConnectionsDialog, server: ChatServer, user_home: Path
) -> None:
    dialog.add_connection(replace(preset("compatible"), base_url=server.url, key=""))
    key = dialog.form.key
    key.place.setCurrentIndex(key.place.findData("session"))
    key.place.activated.emit(0)
    qtbot.keyClicks(key.key, KEY)
    assert key.key.displayText() != KEY
    qtbot.mouseClick(key.keep, Qt.MouseButton.LeftButton)
    assert key.key.text() == ""
    qtbot.waitUntil(lambda: "this session" in key.state.text())
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "1 model" in dialog.trial.outcome.text())
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    # Shown again, the form says only that there is one.
    name = dialog.list.name
    dialog.show_connection("Embedded model")
    dialog.show_connection(name)
    qtbot.waitUntil(lambda: "this session" in key.state.text())
    assert key.key.text() == ""
    # A new name takes the key along.
    write(qtbot, dialog.form.fields.widgets["name"], "Renamed")
    server.requests.clear()
    qtbot.waitUntil(lambda: "this session" in key.state.text())
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: bool(server.requests))
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    kept = bytes_below(user_home)
    assert any(data for _, data in kept)
    assert not [name for name, data in kept if KEY.encode() in data]


def test_duplicate_default_delete(
    qtbot: QtBot, dialog: ConnectionsDialog, controller: ConnectionsController
) -> None:
    assert not dialog.tools.delete.isEnabled()  # the embedded model is always there
    add(dialog, "OpenAI")
    qtbot.mouseClick(dialog.tools.duplicate, Qt.MouseButton.LeftButton)
    assert dialog.list.name == "OpenAI copy"
    qtbot.mouseClick(dialog.tools.make_default, Qt.MouseButton.LeftButton)
    assert controller.connections.default == "OpenAI copy"
    assert controller.choice.connection.name == "OpenAI copy"
    qtbot.mouseClick(dialog.tools.delete, Qt.MouseButton.LeftButton)
    box = dialog.findChild(QMessageBox)
    assert box is not None
    button = next(each for each in box.findChildren(QPushButton) if each.text() == "Delete")
    qtbot.mouseClick(button, Qt.MouseButton.LeftButton)
    names = [each.name for each in controller.connections.connections]
    assert names == ["Embedded model", "OpenAI"]
    assert controller.connections.default == "Embedded model"


def test_capabilities_are_corrected(dialog: ConnectionsDialog, user_home: Path) -> None:
    dialog.add_connection(replace(preset("openai"), model="gpt-4o"))
    field = dialog.form.abilities
    dialog.form.able.setChecked(True)
    assert "known" in field.form.widgets["tools"].itemText(0)
    assert "128,000" in field.form.widgets["context_window"].specialValueText()
    tools = field.form.widgets["tools"]
    tools.setCurrentIndex(tools.findData(False))
    tools.activated.emit(tools.currentIndex())
    field.form.widgets["context_window"].setValue(32_000)
    field.form.widgets["input"].setValue(1.5)
    field.form.widgets["output"].setValue(3.0)
    field.form.widgets["context_window"].editingFinished.emit()
    assert saved(user_home)["connection"][-1]["capabilities"] == {
        "tools": False,
        "context_window": 32_000,
        "price": {"input": 1.5, "output": 3.0},
    }


def test_a_dropped_model_file_becomes_a_connection(
    qtbot: QtBot, dialog: ConnectionsDialog, tmp_path: Path
) -> None:
    weights = tmp_path / "tiny-model.gguf"
    weights.write_bytes(b"GGUF" + bytes(2000))
    drop_files(dialog, weights)
    assert dialog.current is not None
    assert dialog.current.name == "tiny-model"
    assert dialog.current.settings == {"weights": str(weights)}
    (tmp_path / "text.gguf").write_text("not a model")
    dialog.form.weights.path.take(tmp_path / "text.gguf")
    assert "not a GGUF" in dialog.form.lines["weights"].note.text()
    assert dialog.current.settings == {"weights": str(weights)}


def test_a_file_that_cannot_be_written_is_said(
    qtbot: QtBot, dialog: ConnectionsDialog, user_home: Path
) -> None:
    folder = user_home / "config"
    folder.rmdir() if folder.exists() else None
    folder.write_text("in the way")
    add(dialog, "Ollama")
    assert dialog.banner.isVisible()
    assert "cannot be saved" in dialog.banner.text
    folder.unlink()
    add(dialog, "Ollama")
    assert not dialog.banner.isVisible()
    assert read_connections(folder / "connections.toml").named("Ollama") is not None


def test_a_renamed_connection_is_followed(
    dialog: ConnectionsDialog, controller: ConnectionsController
) -> None:
    dialog.add_connection(preset("ollama"))
    dialog.add_connection(replace(preset("replay"), settings={"through": "Ollama"}))
    use_model(controller, "Ollama")
    dialog.show_connection("Ollama")
    dialog.form.fields.widgets["name"].setText("Home")
    dialog.form.commit()
    assert controller.chosen == "Home"
    replay = controller.connections.named("Replay")
    assert replay is not None
    assert replay.settings["through"] == "Home"
    wear(DARK)


def test_every_bound_has_a_field_and_is_kept(dialog: ConnectionsDialog, user_home: Path) -> None:
    add(dialog, "Ollama")
    limits = dialog.form.limits
    assert dialog.current is not None
    whole = replace(
        dialog.current,
        first_byte_seconds=11.0,
        stall_seconds=12.0,
        call_seconds=13.0,
        retries=4,
        reply_megabytes=5.5,
        event_megabytes=2.5,
        error_kilobytes=64.0,
    )
    limits.set_values({key: getattr(whole, key) for key in limits.widgets})
    assert limits.written_to(dialog.current) == whole
    limits.widgets["event_megabytes"].setValue(1.5)
    limits.widgets["event_megabytes"].editingFinished.emit()
    assert saved(user_home)["connection"][-1]["event_megabytes"] == 1.5


def test_options_that_the_server_refused_are_shown_and_forgotten(
    qtbot: QtBot, dialog: ConnectionsDialog, server: ChatServer
) -> None:
    add(dialog, "Any OpenAI-compatible server")
    write(qtbot, dialog.form.fields.widgets["base_url"], server.url)
    line = dialog.form.refusals
    assert not line.isVisibleTo(dialog.form)
    kept_refusals().learn(LearnedRefusal(server.url, "openai-chat", "m-1", "temperature"))
    kept_refusals().learn(LearnedRefusal("http://127.0.0.1:9", "openai-chat", "m-1", "seed"))
    assert dialog.current is not None
    dialog.show_connection(dialog.current.name)
    assert line.isVisibleTo(dialog.form)
    assert "temperature by m-1 (" in line.words.text()
    assert "seed" not in line.words.text()
    qtbot.mouseClick(line.forget, Qt.MouseButton.LeftButton)
    assert not line.isVisibleTo(dialog.form)
    assert kept_refusals().at(server.url) == ()
    assert kept_refusals().at("http://127.0.0.1:9") != ()
