"""Servers are pasted, tried and written down, or taken over from other programs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.application.tools.pasted_server import PastedServer
from studio.core.prompty.document import ToolSpec
from studio.ui.tools.add_server import AddServerDialog

TIME = PastedServer("time", {"command": "uvx", "args": ["t"]}, "uvx t", "Claude Desktop")


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def dialog(parent: QWidget) -> AddServerDialog:
    made = AddServerDialog([TIME], ["x cannot be read"], parent, ("prompt", "folder", "own"))
    made.open()
    return made


def test_what_is_pasted_is_tried_and_then_added(qtbot: QtBot, dialog: AddServerDialog) -> None:
    assert "Claude Desktop" in dialog.others.item(0).text()
    dialog.others.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.form.widgets["name"].setText("web")
    dialog.form.widgets["address"].setPlainText("https://example.com/mcp")
    dialog.form.widgets["settings"].setPlainText("X-Key: ${env:KEY}")
    dialog.form.widgets["login"].setChecked(True)
    with qtbot.waitSignal(dialog.request_try) as asked:
        dialog.add_button.click()
    assert [each.name for each in asked.args[0]] == ["web"]
    dialog.show_tools((ToolSpec("look"), ToolSpec("write")), "")
    dialog.tools.item(1).setCheckState(Qt.CheckState.Unchecked)
    with qtbot.waitSignal(dialog.request_add) as added:
        dialog.add_button.click()
    web = {
        "type": "http",
        "url": "https://example.com/mcp",
        "headers": {"X-Key": "${env:KEY}"},
        "auth": "browser",
    }
    assert added.args == [(("web", web), ("time", TIME.entry)), "prompt", ("look",)]


def test_a_server_that_does_not_work_is_added_only_at_the_second_press(
    qtbot: QtBot, dialog: AddServerDialog
) -> None:
    dialog.form.widgets["address"].setPlainText("npx x")
    dialog.add_button.click()
    dialog.show_tools((), "mcp: x cannot be started")
    assert "cannot be started" in dialog.remark.text()
    with qtbot.waitSignal(dialog.request_add) as added:
        dialog.add_button.click()
    assert added.args == [(("x", {"command": "npx", "args": ["x"]}),), "prompt", ()]


def test_what_is_missing_is_told_and_nothing_is_tried(
    qtbot: QtBot, dialog: AddServerDialog
) -> None:
    with qtbot.assertNotEmitted(dialog.request_try), qtbot.assertNotEmitted(dialog.request_add):
        dialog.add_button.click()
        assert "command line" in dialog.remark.text()
        dialog.form.widgets["address"].setPlainText("{")
        dialog.add_button.click()
    assert "JSON" in dialog.remark.text()
    dialog.reject()


def test_a_server_is_edited_and_removed_in_the_same_form(qtbot: QtBot, parent: QWidget) -> None:
    entry = {
        "command": "uvx",
        "args": ["t"],
        "env": {"A": "1"},
        "cwd": "sub",
        "protocol": "2025-11-25",
    }
    dialog = AddServerDialog((), (), parent, ("own",), ("time", entry))
    dialog.open()
    assert dialog.form.widgets["address"].toPlainText() == "uvx t"
    assert (
        dialog.form.widgets["settings"].toPlainText(),
        dialog.form.widgets["folder"].text(),
    ) == ("A=1", "sub")
    dialog.form.widgets["settings"].setPlainText("A=2")
    dialog.add_button.click()
    dialog.show_tools((), "")
    with qtbot.waitSignal(dialog.request_add) as saved:
        dialog.add_button.click()
    assert saved.args[0] == (("time", {**entry, "env": {"A": "2"}}),)
    other = AddServerDialog((), (), parent, ("own",), ("time", entry))
    other.open()
    with qtbot.waitSignal(other.request_remove):
        other.remove_button.click()
