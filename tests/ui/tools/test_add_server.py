"""Servers are written down in a form, or taken over from other programs."""

from __future__ import annotations

import pytest
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget
from pytestqt.qtbot import QtBot

from studio.application.tools.known_servers import KnownServer
from studio.ui.tools.add_server import AddServerDialog

TIME = KnownServer("time", "Claude Desktop", {"command": "uvx", "args": ["t"]}, "uvx t")


@pytest.fixture
def parent(qtbot: QtBot) -> QWidget:
    made = QWidget()
    qtbot.addWidget(made)
    return made


@pytest.fixture
def dialog(parent: QWidget) -> AddServerDialog:
    made = AddServerDialog([TIME], ["x cannot be read"], parent)
    made.open()
    return made


def test_a_form_and_what_is_ticked_are_added(qtbot: QtBot, dialog: AddServerDialog) -> None:
    assert "Claude Desktop" in dialog.others.item(0).text()
    dialog.others.item(0).setCheckState(Qt.CheckState.Checked)
    dialog.name.setText("web")
    dialog.address.setText("https://example.com/mcp")
    dialog.settings.setPlainText("X-Key: ${env:KEY}")
    with qtbot.waitSignal(dialog.request_add) as asked:
        dialog.add_button.click()
    web = {"type": "http", "url": "https://example.com/mcp", "headers": {"X-Key": "${env:KEY}"}}
    assert asked.args[0] == (("web", web), ("time", TIME.entry))


def test_what_is_missing_is_told_and_nothing_is_added(
    qtbot: QtBot, dialog: AddServerDialog
) -> None:
    with qtbot.assertNotEmitted(dialog.request_add):
        dialog.add_button.click()
        assert "command line" in dialog.remark.text()
        dialog.address.setText("npx x")
        dialog.add_button.click()
    assert "name" in dialog.remark.text()
    dialog.reject()
