"""A person's own server, in the real window: set up, tried, used, lost; the run goes on without."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import (
    QAbstractButton,
    QComboBox,
    QFileDialog,
    QLineEdit,
)
from pytestqt.qtbot import QtBot

from studio.core.paths import resource
from studio.ui.app.workbench import Workbench
from studio.ui.connections.dialog import ConnectionsDialog
from tests.support.chat_server import ChatServer, chat_server, chunk, events, silent, streamed
from tests.support.drop import drop_files
from tests.support.modal import answering, choose_file
from tests.support.model_change import change_model
from tests.support.model_choice import choose_model

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")
Open = Callable[[Path], Workbench]
NO_KEYS = Qt.KeyboardModifier.NoModifier
KEY = "sk-typed-in-the-real-window-24680"


def pick(combo: QComboBox, data: str) -> None:
    """Choose an entry as a person does."""
    row = combo.findData(data)
    assert row >= 0, data
    combo.setCurrentIndex(row)
    combo.activated.emit(row)


def write(qtbot: QtBot, field: QLineEdit, text: str) -> None:
    """Write over what stands in a field, and leave it."""
    field.setFocus()
    field.selectAll()
    qtbot.keyClicks(field, text)
    qtbot.keyClick(field, Qt.Key.Key_Tab)


def set_up(qtbot: QtBot, workbench: Workbench, server: ChatServer) -> None:
    """Add the server, give it a key, try it, and choose one of its models."""
    server.models = [{"id": "small-1"}, {"id": "big-2"}]
    workbench.window.actions_by_id["run.connections"].trigger()
    dialog = workbench.window.findChild(ConnectionsDialog)
    assert isinstance(dialog, ConnectionsDialog)
    entry = "Any OpenAI-compatible server"
    next(each for each in dialog.tools.add.menu().actions() if each.text() == entry).trigger()
    form = dialog.form
    write(qtbot, form.fields.widgets["name"], "Mine")
    write(qtbot, form.fields.widgets["base_url"], server.url)
    pick(form.key.place, "session")
    qtbot.keyClicks(form.key.key, KEY)
    qtbot.keyClick(form.key.key, Qt.Key.Key_Return)
    qtbot.waitUntil(lambda: "session" in form.key.state.text())
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "Mine answers: 2 models" in dialog.trial.outcome.text())
    assert [form.model.combo.itemText(row) for row in range(2)] == ["big-2", "small-1"]
    form.model.combo.setCurrentIndex(1)
    form.model.combo.activated.emit(1)
    dialog.close()
    choose_model(workbench, "Mine")


@pytest.mark.embedded
def test_a_server_is_set_up_used_and_lost_and_the_embedded_model_takes_over(
    qtbot: QtBot, user_home: Path, open_workbench: Open
) -> None:
    path = user_home / "greet.prompty"
    path.write_text(
        "---\nname: greet\nmodel: {options: {maxOutputTokens: 16}}\n---\nuser:\nGreet Ada.\n",
        encoding="utf-8",
    )
    workbench = open_workbench(path)
    with ExitStack() as plug:
        server = plug.enter_context(chat_server())
        set_up(qtbot, workbench, server)

        server.script(streamed("Hello, Ada!"))
        workbench.window.actions_by_id["run.start"].trigger()
        qtbot.waitUntil(lambda: workbench.run.state is not None)
        qtbot.waitUntil(lambda: not workbench.run.is_live)
        state = workbench.run.state
        assert state is not None
        assert (state.status, state.answer) == ("done", "Hello, Ada!")
        assert server.requests[-1].body["model"] == "small-1"
        assert server.requests[-1].headers["authorization"] == f"Bearer {KEY}"

        # Half of a reply has come, and is on the screen, when the server goes away.
        server.always(events([chunk({"content": "Hello, dear "})], then=[silent()]))
        workbench.window.actions_by_id["run.start"].trigger()
        inspector = workbench.run_pane.inspector
        qtbot.waitUntil(lambda: "Hello, dear" in inspector.text_of("reply"))

    def stands() -> bool:
        now = workbench.run.state
        return now is not None and now.error is not None and now.pause is not None

    qtbot.waitUntil(stands)
    broken = workbench.run.state
    assert broken is not None
    assert broken.error is not None
    assert broken.error.code in ("cut-off", "refused")
    offers = workbench.run_pane.view.offers
    assert offers.is_error
    assert "The received part is kept" in offers.detail or "Start the server" in offers.detail
    assert "Hello, dear" in inspector.text_of("reply")
    assert "broke off" in inspector.text_of("reply")

    choose_model(workbench, "Embedded model")
    change_model(qtbot, workbench)
    workbench.window.actions_by_id["run.start"].trigger()

    def is_cut() -> bool:
        """16 tokens are few for a greeting: the answer is cut, and waits for the user."""
        now = workbench.run.state
        return now is not None and now.error is not None and now.error.code == "cut_answer"

    qtbot.waitUntil(is_cut)
    state = workbench.run.state
    assert state is not None
    assert state.setup.run == broken.setup.run  # the same run went on
    assert state.step.reply is not None
    assert state.step.reply.text
    shown = [label.text() for label in workbench.window.status.findChildren(QAbstractButton)]
    assert any("tok/s" in text for text in shown), shown
    assert not any("Embedded model" in text for text in shown), shown  # its name stands above
    assert "Embedded model" in workbench.window.model_button.text()
    workbench.run_pane.commands.stop()
    qtbot.waitUntil(lambda: not workbench.run.is_live)


@pytest.mark.embedded
def test_another_model_file_is_chosen_and_tried(
    qtbot: QtBot, user_home: Path, open_workbench: Open
) -> None:
    from studio.core.models.embedded.weights import bundled_weights

    folder = user_home / "models" / "below"
    folder.mkdir(parents=True)
    own = folder / "my-own-model.gguf"
    own.symlink_to(bundled_weights().path)
    workbench = open_workbench(resource("examples", "chat.prompty"))
    dialog = workbench.coordinator.manage()
    drop_files(dialog, own)  # anywhere on the dialog: a connection of its own
    assert dialog.list.name == "my-own-model"
    form = dialog.form
    assert form.weights.path.value() == str(own)
    # By the button, from the system's dialog.
    form.weights.path.take(Path())
    with answering(QFileDialog, choose_file(own)):
        qtbot.mouseClick(form.weights.path.browse, Qt.MouseButton.LeftButton)
    assert form.weights.path.value() == str(own)
    # Dropped on the field.
    form.weights.path.take(Path())
    drop_files(form.weights.path, own)
    assert form.weights.path.value() == str(own)
    form.fields.widgets["context"].setValue(1024)
    form.fields.widgets["context"].editingFinished.emit()
    qtbot.mouseClick(dialog.trial.test, Qt.MouseButton.LeftButton)
    qtbot.waitUntil(lambda: "my-own-model is ready" in dialog.trial.outcome.text())
    assert workbench.connections.server.settings.weights == own
    assert workbench.connections.server.settings.context == 1024
    dialog.close()
