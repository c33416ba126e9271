"""A file or a pasted text of another program is offered to be imported."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from PySide6.QtCore import QMimeData
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QPushButton
from pytestqt.qtbot import QtBot

from studio.core.imports.imported import Imported
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.import_prompt import ImportDialog

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")

MESSAGES = [{"role": "system", "content": "Be kind."}, {"role": "user", "content": "Hi"}]
FILES = {
    "greet.prompt": "---\nmodel: googleai/gemini-2.5-flash\ninput:\n  schema:\n    name: string\n"
    "---\nHi {{name}}!\n",
    "triage.yaml": "prompts: ['A {{x}}']\nproviders: [openai:gpt-4o]\ntests:\n  - vars: {x: 1}\n",
    "request.json": json.dumps({"model": "m", "messages": MESSAGES}),
}
OTHERS = {
    "package.json": '{"name": "x", "version": "1.0.0"}',
    "settings.yaml": "theme: dark\n",
    "trip.inputs.json": '{"one": {"x": 1}}',
    "trip.experiment.yaml": "prompts: [trip.prompty]\n",
    "broken.json": "{",
    "trip.prompty": "user:\nHi\n",
}


def offers(window: MainWindow) -> list[QPushButton]:
    found = window.notices.findChildren(QPushButton)
    return [each for each in found if each.text() == "Import…" and each.isVisible()]


@pytest.mark.parametrize("name", FILES)
def test_a_prompt_of_another_program_opens_with_an_offer(
    window: MainWindow, tmp_path: Path, qtbot: QtBot, name: str
) -> None:
    path = tmp_path / name
    path.write_text(FILES[name], encoding="utf-8")
    page = window.tabs.open(path)
    qtbot.waitUntil(lambda: bool(offers(window)))
    offers(window)[0].click()
    dialog = window.findChild(ImportDialog)
    assert dialog is not None
    dialog.take.click()
    taken = window.tabs.current
    assert taken is not None
    assert taken is not page
    assert taken.title.endswith(".prompty")


@pytest.mark.parametrize("name", OTHERS)
def test_settings_data_and_own_files_are_offered_nothing(
    window: MainWindow, tmp_path: Path, name: str
) -> None:
    path = tmp_path / name
    path.write_text(OTHERS[name], encoding="utf-8")
    said: list[object] = []
    window.services.messages.noticed.connect(said.append)
    window.tabs.open(path)
    assert not said


@pytest.mark.parametrize("value", [MESSAGES, {"model": "m", "messages": MESSAGES}])
def test_pasted_messages_are_offered(window: MainWindow, qtbot: QtBot, value: object) -> None:
    page = window.tabs.new()
    data = QMimeData()
    data.setText(json.dumps(value, indent=2))
    QGuiApplication.clipboard().setMimeData(data)
    page.editor.paste()
    qtbot.waitUntil(lambda: bool(offers(window)))
    offers(window)[0].click()
    dialog = window.findChild(ImportDialog)
    assert dialog is not None
    assert "system:\nBe kind." in dialog.text.toPlainText()
    dialog.take.click()
    taken = window.tabs.current
    assert taken is not None
    assert taken.title == "pasted.prompty"


def test_text_pasted_into_a_prompt_is_offered_nothing(window: MainWindow) -> None:
    page = window.tabs.new("user:\n")
    said: list[object] = []
    window.services.messages.noticed.connect(said.append)
    data = QMimeData()
    data.setText(json.dumps(MESSAGES))
    QGuiApplication.clipboard().setMimeData(data)
    page.editor.paste()
    window.tabs.new()
    data = QMimeData()
    data.setText("user: hello\nassistant: hi\n")
    QGuiApplication.clipboard().setMimeData(data)
    current = window.tabs.current
    assert current is not None
    current.editor.paste()
    assert not said


def test_a_prompt_that_is_made_already_is_shown_and_saved_with_its_answers(
    window: MainWindow, tmp_path: Path
) -> None:
    answer = {"tool": "stock", "arguments": {}, "text": "7"}
    text = "user:\nHi {{ who }}\n"
    made = Imported(
        text, "1 recorded call", ("a: b is left out",), {"a": {"who": 1}}, answers=(answer,)
    )
    window.commands.exchange.import_path(tmp_path / "call.prompty", made=made)
    dialog = window.findChild(ImportDialog)
    assert dialog is not None
    assert dialog.text.toPlainText() == text
    assert dialog.notes.item(0).text() == "a: b is left out"
    assert "recorded results of its tools" in dialog.state.text()
    assert dialog.write(tmp_path / "call.prompty")
    assert json.loads((tmp_path / "call.inputs.json").read_text(encoding="utf-8"))["a"] == {
        "who": 1
    }
    assert json.loads((tmp_path / "call.calls.jsonl").read_text(encoding="utf-8")) == answer
    dialog.reject()
