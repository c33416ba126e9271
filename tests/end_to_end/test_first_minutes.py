"""From the welcome page to an answer of one's own provider, by clicks that are counted."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from PySide6.QtCore import QPoint, Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QAbstractButton, QApplication, QPushButton, QWidget
from pytestqt.qtbot import QtBot

from studio.core.models.connection_file import read_connections
from studio.core.paths import user_paths
from studio.ui.app.workbench import Workbench
from studio.ui.base.services import build_services
from studio.ui.connections.provider_dialog import ProviderDialog
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
from tests.support.ports import refusing_port

KEY = "sk-pasted-in-the-first-minute-13579"
MOST_CLICKS = 6
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

    def begin(self, identifier: str) -> ProviderDialog:
        """From the welcome page to a provider: two clicks."""
        lines = self.bench.window.welcome.findChildren(QPushButton)
        self.click(next(each for each in lines if each.text() == "Connect a provider"))
        dialog = self.dialog()
        self.click(dialog.choices[identifier])
        return dialog

    def dialog(self) -> ProviderDialog:
        """The dialog that is open."""
        dialog = self.bench.window.findChild(ProviderDialog)
        assert isinstance(dialog, ProviderDialog)
        self.qtbot.waitUntil(dialog.isActiveWindow)
        return dialog

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

    def choose_model(self, dialog: ProviderDialog, name: str) -> None:
        models = dialog.fields.models
        self.qtbot.waitUntil(lambda: models.isVisible() and models.count() > 0)
        (item,) = models.findItems(name, Qt.MatchFlag.MatchExactly)
        self.click(models.viewport(), models.visualItemRect(item).center())

    def said(self, dialog: ProviderDialog) -> str:
        return (
            f"{dialog.trial.outcome.text()} {dialog.trial.hint.text()} {dialog.fields.note.text()}"
        )

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


def test_a_key_in_the_environment_needs_four_clicks(
    user: Callable[..., User], server: ChatServer, user_home: Path
) -> None:
    server.models = [{"id": "gpt-small", "created": 1}, {"id": "gpt-large", "created": 2}]
    server.script(streamed("Lisbon is lovely."))
    person = user(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    dialog = person.begin("openai")
    assert "key in OPENAI_API_KEY" in dialog.choices["openai"].accessibleName()
    person.choose_model(dialog, "gpt-small")
    person.click(dialog.run)
    assert person.answer() == "Lisbon is lovely."
    assert person.clicks == 4
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
        dialog = person.begin("openai")
        person.click(dialog.trial.test)
        assert "Paste a key first" in person.said(dialog)
        person.type("sk-wrong-key-000000000000")  # the keyboard stands in the field already
        person.press(Qt.Key.Key_Return)
        person.qtbot.waitUntil(lambda: "key" in dialog.trial.hint.text().lower())
        assert not dialog.run.isEnabled()
        server.list_answer = None
        dialog.fields.key.clear()
        dialog.fields.key.setFocus()
        person.type(KEY)
        person.click(dialog.trial.test)
        person.choose_model(dialog, "scripted-1")
        person.click(dialog.run)
        assert person.answer() == "Porto is near."
        assert person.clicks == 6  # with one of them too early
        assert list(store.kept.values()) == [KEY]
    assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"
    connection = read_connections(user_home / "config" / "connections.toml").named("OpenAI")
    assert connection is not None
    assert (connection.key, connection.model) == ("keyring", "scripted-1")


def test_ollama_is_found_running_and_answers_after_four_clicks(user: Callable[..., User]) -> None:
    with chat_server(OllamaServer) as ollama:
        person = user(OLLAMA_HOST=f"127.0.0.1:{ollama.port}")
        dialog = person.begin("ollama")
        person.qtbot.waitUntil(
            lambda: "running, 2 models" in dialog.choices["ollama"].accessibleName()
        )
        person.choose_model(dialog, "llama3.2:latest")
        person.click(dialog.run)
        assert person.answer() == "Hello from llama."
        assert person.clicks == 4
        assert ollama.requests[-1].body["model"] == "llama3.2:latest"


def test_a_local_server_answers_a_new_prompt_after_five_actions(
    user: Callable[..., User], server: ChatServer
) -> None:
    server.models = [{"id": "small", "created": 2}, {"id": "large", "created": 1}]
    server.script(streamed("From my own machine."))
    person = user()
    person.press(Qt.Key.Key_N, Qt.KeyboardModifier.ControlModifier)
    page = person.bench.window.tabs.current
    assert page is not None
    person.qtbot.waitUntil(lambda: person.bench.is_settled)
    person.bench.window.actions_by_id["run.provider"].trigger()
    dialog = person.dialog()
    person.click(dialog.choices["compatible"])
    person.type(server.url)
    person.press(Qt.Key.Key_Return)
    person.qtbot.waitUntil(dialog.run.isEnabled)
    assert dialog.fields.answers().model == "small"
    assert dialog.price.text() == "Free: it answers on this machine."
    person.qtbot.waitUntil(dialog.fields.model.hasFocus)
    person.press(Qt.Key.Key_Return)  # the fifth action: new, connect, server, address, run
    assert person.answer() == "From my own machine."
    assert server.requests[-1].body["model"] == "small"


def test_a_priced_model_says_its_price_before_the_run_and_is_not_chosen_by_itself(
    user: Callable[..., User], server: ChatServer
) -> None:
    server.models = [{"id": "gpt-5-mini", "created": 1}, {"id": "gpt-5-nano", "created": 2}]
    person = user(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    dialog = person.begin("openai")
    person.choose_model(dialog, "gpt-5-mini")
    words = "A million tokens cost $0.2500 sent, $2.00 received."
    person.qtbot.waitUntil(lambda: dialog.price.text() == words)


def test_azure_is_asked_for_its_deployment(
    user: Callable[..., User], server: ChatServer, user_home: Path
) -> None:
    server.script(streamed("From the deployment."))
    with memory_keyring():
        person = user()
        dialog = person.begin("azure")
        person.type(server.url.removesuffix("/v1"))
        person.press(Qt.Key.Key_Tab)
        person.type(KEY)
        person.press(Qt.Key.Key_Return)
        assert "name of your deployment" in person.said(dialog)
        person.type("my-deployment")
        person.click(dialog.trial.test)
        person.click(dialog.run)
        assert person.answer() == "From the deployment."
    assert person.clicks <= MOST_CLICKS
    assert server.requests[-1].body["model"] == "my-deployment"


def test_another_server_lists_nothing_and_the_model_is_typed(
    user: Callable[..., User], server: ChatServer
) -> None:
    server.list_answer = failure(404, "no such path")
    person = user()
    dialog = person.begin("compatible")
    person.type("localhost")
    person.press(Qt.Key.Key_Return)
    assert "Write the whole address" in person.said(dialog)
    dialog.fields.address.selectAll()
    person.type(server.url)
    person.press(Qt.Key.Key_Return)
    person.qtbot.waitUntil(lambda: "Type the id of a model" in dialog.trial.hint.text())
    person.qtbot.waitUntil(dialog.fields.model.hasFocus)
    person.type("mine-7b")
    person.press(Qt.Key.Key_Return)
    person.click(dialog.run)
    assert person.answer() == "Hello from the server."
    assert person.clicks <= MOST_CLICKS
    assert "authorization" not in server.requests[-1].headers or KEY not in str(server.requests)


def test_what_is_not_there_is_said_with_what_to_do(user: Callable[..., User], nothing: str) -> None:
    person = user(ANTHROPIC_API_KEY=KEY, ANTHROPIC_BASE_URL=f"http://{nothing}")
    dialog = person.begin("ollama")
    person.qtbot.waitUntil(lambda: "not running" in dialog.choices["ollama"].accessibleName())
    person.qtbot.waitUntil(lambda: "Start the server" in dialog.trial.hint.text())
    person.click(dialog.choices["anthropic"])
    person.qtbot.waitUntil(lambda: "Nothing answers at" in dialog.trial.outcome.text())
    assert dialog.trial.hint.text()
    assert not dialog.run.isEnabled()
    dialog.close()
    # Nothing of it was saved, and the welcome page still stands.
    assert [each.kind for each in person.bench.connections.connections.connections] == ["embedded"]


def test_an_example_runs_from_its_card(user: Callable[..., User], server: ChatServer) -> None:
    server.script(streamed("At once."))
    person = user(OPENAI_API_KEY=KEY, OPENAI_BASE_URL=server.url)
    dialog = person.begin("openai")
    person.choose_model(dialog, "scripted-1")
    person.click(dialog.take)
    run = [
        each
        for each in person.bench.window.welcome.findChildren(QAbstractButton)
        if each.accessibleName().startswith("Run ")
    ]
    assert len(run) == 3
    person.click(run[0])
    assert person.answer() == "At once."
