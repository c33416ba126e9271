"""From the welcome page to an answer of one's own provider, by clicks that are counted."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QLineEdit, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from studio.application.connections import model as model_choice
from studio.core.models.connections import PRESETS, Preset, read_connections
from studio.core.paths import user_paths
from studio.core.settings import load_settings
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.connections.model_popover import ModelPopover
from tests.support import patience
from tests.support.chat_server import (
    Answer,
    ChatServer,
    Received,
    chat_server,
    failure,
    json_body,
    streamed,
)
from tests.support.memory_keyring import memory_keyring
from tests.support.model_choice import offers_of
from tests.support.ports import refusing_port

KEY = "sk-pasted-in-the-first-minute-13579"

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
_VARIABLES = (
    "OPENAI_API_KEY",
    "OPENAI_BASE_URL",
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_BASE_URL",
    "GEMINI_API_KEY",
    "GOOGLE_API_KEY",
    "GOOGLE_GEMINI_BASE_URL",
    "AZURE_OPENAI_API_KEY",
    "AZURE_OPENAI_ENDPOINT",
    "OLLAMA_HOST",
)


class OllamaServer(ChatServer):
    """Answers as Ollama does."""

    def _answer(self, request: Received) -> Answer:
        if request.path == "/api/tags":
            names = ("qwen3:4b", "llama3.2:latest")
            return json_body({"models": [{"name": each, "model": each} for each in names]})
        if request.path == "/api/show":
            return json_body({"capabilities": ["completion"]})
        lines = ({"message": {"role": "assistant", "content": "Hello from llama."}, "done": True},)
        return json_body("\n".join(map(json.dumps, lines)) + "\n", kind="application/x-ndjson")


@dataclass
class User:
    """Clicks with the mouse in the middle of what is seen, and counts the clicks."""

    qtbot: QtBot
    bench: Workbench
    clicks: int = field(default=0)

    def click(self, widget: QWidget, at: QPoint | None = None) -> None:
        self.qtbot.waitUntil(lambda: widget.isVisible() and widget.isEnabled())
        place = at or widget.rect().center()
        window = widget.window()
        pressed = window.childAt(widget.mapTo(window, place))
        assert pressed is not None
        assert pressed is widget or widget.isAncestorOf(pressed), f"{pressed} lies over {widget}"
        QTest.mouseClick(pressed, Qt.MouseButton.LeftButton, pos=pressed.mapFrom(widget, place))
        self.clicks += 1

    def open(self) -> ModelPopover:
        """From the welcome page to the list of models: one click."""
        lines = self.bench.window.welcome.findChildren(QPushButton)
        self.click(next(each for each in lines if each.text() == "Choose a model"))
        return self.popover()

    def popover(self) -> ModelPopover:
        """The popover that is open."""
        popover = self.bench.coordinator.popover
        self.qtbot.waitUntil(lambda: popover.isVisible() and popover.line.hasFocus())
        return popover

    def titles(self, popover: ModelPopover) -> list[str]:
        return [each.title for each in offers_of(popover)]

    def take(self, popover: ModelPopover, title: str) -> None:
        """Click a line, once it is there."""
        self.qtbot.waitUntil(lambda: title in self.titles(popover))
        view = popover.list
        (item,) = view.findItems(title, Qt.MatchFlag.MatchExactly)
        self.click(view.viewport(), view.visualItemRect(item).center())

    def type(self, text: str) -> None:
        """Into whatever has the keyboard."""
        focus = QApplication.focusWidget()
        assert focus is not None
        QTest.keyClicks(focus, text)

    def press(
        self, key: Qt.Key, held: Qt.KeyboardModifier = Qt.KeyboardModifier.NoModifier
    ) -> None:
        focus = QApplication.focusWidget() or self.bench.window
        QTest.keyClick(focus, key, held)

    def run(self) -> str:
        """A new prompt, F5, and its answer: two keys."""
        self.bench.window.activateWindow()
        self.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
        self.qtbot.waitUntil(lambda: self.bench.is_settled)
        self.press(Qt.Key.Key_F5)
        self.clicks += 2
        return self.answer()

    def answer(self) -> str:
        """Wait for the run's end."""
        run = self.bench.run
        self.qtbot.waitUntil(lambda: run.state is not None and run.state.status == "done")
        assert run.state is not None
        return run.state.answer or ""


@pytest.fixture
def server() -> Iterator[ChatServer]:
    with chat_server() as running:
        yield running


@pytest.fixture
def nothing() -> Iterator[str]:
    """An address of this machine at which nothing answers."""
    with refusing_port() as port:
        yield f"127.0.0.1:{port}"


@pytest.fixture
def user(
    qtbot: QtBot, user_home: Path, monkeypatch: pytest.MonkeyPatch, nothing: str
) -> Iterator[Callable[..., User]]:
    """The studio as it starts for the first time, with these variables in its environment."""
    made: list[Workbench] = []

    def start(**variables: str) -> User:
        for name in _VARIABLES:
            monkeypatch.delenv(name, raising=False)
        # Nothing answers there, whatever runs on the machine of the tests.
        monkeypatch.setenv("OLLAMA_HOST", nothing)
        for name, value in variables.items():
            monkeypatch.setenv(name, value)
        bench = Workbench(build_services(user_paths()))
        bench.connections.look_seconds = patience.SECONDS  # the machine of the tests may be busy
        made.append(bench)
        bench.window.resize(1280, 800)
        with qtbot.waitActive(bench.window):
            bench.window.show()
            bench.window.activateWindow()
        return User(qtbot, bench)

    yield start
    for bench in made:
        bench.window.close()
        bench.close()
        bench.window.deleteLater()


def test_a_key_in_the_environment_needs_five_actions(
    user: Callable[..., User], server: ChatServer, user_home: Path
) -> None:
    server.models = [{"id": "gpt-small", "created": 1}, {"id": "gpt-large", "created": 2}]
    server.script(streamed("Lisbon is lovely."))
    person = user(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    popover = person.open()
    (found,) = [each for each in offers_of(popover) if each.group == "Keys found"]
    assert found.detail == "OPENAI_API_KEY of your environment"
    person.take(popover, "OpenAI")
    person.take(popover, "gpt-small")
    assert person.run() == "Lisbon is lovely."
    assert person.clicks == 5
    sent = server.requests[-1]
    assert (sent.body["model"], sent.headers["authorization"]) == ("gpt-small", f"Bearer {KEY}")
    kept = (user_home / "config" / "connections.toml").read_text(encoding="utf-8")
    assert KEY not in kept
    assert 'default = "OpenAI"' in kept


def test_a_key_is_pasted_refused_pasted_again_and_kept_in_the_key_store(
    user: Callable[..., User], server: ChatServer, user_home: Path
) -> None:
    server.list_answer = failure(401, "Incorrect API key provided", "invalid_api_key")
    server.script(streamed("Porto is near."))
    with memory_keyring() as store:
        person = user(OPENAI_BASE_URL=server.url)
        popover = person.open()
        person.take(popover, "Connect a provider or server…")
        person.take(popover, "OpenAI")
        assert "Paste a key first" in popover.note.text()
        person.type("sk-wrong-key-000000000000")
        assert popover.line.echoMode() == QLineEdit.EchoMode.Password
        person.press(Qt.Key.Key_Return)
        person.qtbot.waitUntil(lambda: "does not accept the key" in popover.note.text())
        server.list_answer = None
        person.type(KEY)
        person.press(Qt.Key.Key_Return)
        person.take(popover, "scripted-1")
        assert person.run() == "Porto is near."
        assert list(store.kept.values()) == [KEY]
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    connection = read_connections(user_home / "config" / "connections.toml").named("OpenAI")
    assert connection is not None
    assert (connection.key, connection.model) == ("keyring", "scripted-1")


def test_a_key_typed_into_the_line_is_understood(
    user: Callable[..., User], server: ChatServer
) -> None:
    with memory_keyring() as store:
        person = user(OPENAI_BASE_URL=server.url)
        popover = person.open()
        person.type(KEY)
        assert person.titles(popover)[0] == "Connect OpenAI with this key"
        person.press(Qt.Key.Key_Return)
        person.take(popover, "scripted-1")
        person.qtbot.waitUntil(lambda: list(store.kept.values()) == [KEY])


def test_a_key_that_is_not_used_is_forgotten(
    user: Callable[..., User], server: ChatServer, user_home: Path
) -> None:
    with memory_keyring() as store:
        person = user(OPENAI_BASE_URL=server.url)
        popover = person.open()
        person.type(KEY)
        person.press(Qt.Key.Key_Return)
        person.qtbot.waitUntil(lambda: "scripted-1" in person.titles(popover))
        person.press(Qt.Key.Key_Escape)  # back to the models
        assert "Embedded model" in person.titles(popover)
        person.press(Qt.Key.Key_Escape)
        assert not popover.isVisible()
        assert store.kept == {}
    assert not (user_home / "config" / "connections.toml").exists()


def test_a_running_ollama_is_offered_and_answers_after_five_actions(
    user: Callable[..., User],
) -> None:
    with chat_server(OllamaServer) as ollama:
        person = user(OLLAMA_HOST=f"127.0.0.1:{ollama.port}")
        popover = person.open()
        person.take(popover, "llama3.2:latest")
        assert person.run() == "Hello from llama."
        assert person.clicks <= 5
        assert ollama.requests[-1].body["model"] == "llama3.2:latest"


def test_a_server_of_this_computer_is_offered_at_once_and_never_chosen(
    user: Callable[..., User], server: ChatServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    server.models = [{"id": "small"}, {"id": "large"}]
    server.script(streamed("From my own machine."))
    monkeypatch.setattr(model_choice, "PRESETS", presets_at(server.url))
    person = user()
    person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    person.qtbot.waitUntil(lambda: person.bench.is_settled)
    assert not server.requests  # nothing is looked for before the control opens
    button = person.bench.window.model_button
    start = time.monotonic()
    person.click(button)
    popover = person.popover()
    person.qtbot.waitUntil(lambda: "large" in person.titles(popover))
    print(f"offered after {time.monotonic() - start:.2f} s")
    (asked,) = server.requests
    assert (asked.method, asked.path) == ("GET", "/v1/models")
    assert "authorization" not in asked.headers
    assert person.bench.connections.choice.connection.kind == "embedded"
    person.take(popover, "large")
    person.press(Qt.Key.Key_F5)
    assert person.answer() == "From my own machine."
    assert person.clicks + 2 == 4  # new, the control, the model, run
    assert server.requests[-1].body["model"] == "large"
    assert (button.text(), button.price) == ("large", "free, local")


def test_model_files_of_an_allowed_folder_are_listed_also_later(
    user: Callable[..., User], tmp_path: Path
) -> None:
    folder, elsewhere = tmp_path / "models", tmp_path / "elsewhere"
    for place, name in ((folder, "mine-7b"), (elsewhere, "secret")):
        place.mkdir()
        (place / f"{name}.gguf").write_bytes(b"GGUF" + bytes(2_000_000))
    (folder / "no-model.gguf").write_bytes(b"text")
    (folder / "linked.gguf").symlink_to(elsewhere / "secret.gguf")
    (folder / "below").symlink_to(elsewhere)
    person = user()
    popover = person.open()
    assert "mine-7b" not in person.titles(popover)
    person.type(str(folder))
    assert person.titles(popover) == ["List the model files of models"]
    person.press(Qt.Key.Key_Return)
    person.qtbot.waitUntil(lambda: "mine-7b" in person.titles(popover))
    assert not {"secret", "linked", "no-model"} & {*person.titles(popover)}
    popover.hide()
    again = person.bench.coordinator.choose()
    assert "mine-7b" in person.titles(again)
    again.hide()
    settings = person.bench.window.services.settings
    assert load_settings(settings.path)[0].model_folders == (str(folder),)


def presets_at(url: str) -> tuple[Preset, ...]:
    """The presets with another address for LM Studio."""
    return tuple(
        replace(each, connection=replace(each.connection, base_url=url))
        if each.id == "lm-studio"
        else each
        for each in PRESETS
    )


def test_an_address_that_is_typed_becomes_a_connection(
    user: Callable[..., User], server: ChatServer
) -> None:
    server.list_answer = failure(404, "no such path")
    person = user()
    popover = person.open()
    address = server.url.removeprefix("http://").removesuffix("/v1")
    person.type(address)
    assert person.titles(popover)[0] == f"Connect {address}"
    person.press(Qt.Key.Key_Return)
    person.qtbot.waitUntil(lambda: "Type the id of a model" in popover.note.text())
    person.type("mine-7b")
    person.press(Qt.Key.Key_Return)
    assert person.run() == "Hello from the server."
    assert server.requests[-1].body["model"] == "mine-7b"
    assert "authorization" not in server.requests[-1].headers


def test_azure_is_asked_for_one_thing_after_the_other(
    user: Callable[..., User], server: ChatServer
) -> None:
    server.script(streamed("From the deployment."))
    with memory_keyring():
        person = user()
        popover = person.open()
        person.type("azure")
        person.press(Qt.Key.Key_Return)
        assert "Enter the address first" in popover.note.text()
        person.type(server.url.removesuffix("/v1"))
        person.press(Qt.Key.Key_Return)
        person.type(KEY)
        person.press(Qt.Key.Key_Return)
        assert "name of your deployment" in popover.note.text()
        person.type("my-deployment")
        person.press(Qt.Key.Key_Return)
        person.take(popover, "my-deployment")
        assert person.run() == "From the deployment."
    assert server.requests[-1].body["model"] == "my-deployment"


def test_what_is_not_there_is_said_with_what_to_do(user: Callable[..., User], nothing: str) -> None:
    person = user(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=f"http://{nothing}")
    popover = person.open()
    person.take(popover, "Anthropic")
    person.qtbot.waitUntil(lambda: "Nothing responds at" in popover.note.text())
    popover.hide()
    # Nothing of it was saved, and the welcome page still stands.
    assert [each.kind for each in person.bench.connections.connections.connections] == ["embedded"]


def test_an_example_runs_from_its_card(user: Callable[..., User], server: ChatServer) -> None:
    server.script(streamed("At once."))
    person = user(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    popover = person.open()
    person.take(popover, "OpenAI")
    person.take(popover, "scripted-1")
    run = [
        each
        for each in person.bench.window.welcome.findChildren(QAbstractButton)
        if each.accessibleName().startswith("Run ")
    ]
    assert len(run) == 3
    person.click(run[0])
    assert person.answer() == "At once."
