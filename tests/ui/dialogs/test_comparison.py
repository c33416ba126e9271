"""A prompt rewritten for another protocol, from the window."""

from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.core.agent.protocols.loops import choose_protocol
from studio.core.paths import resource
from studio.core.prompty.parse import parse
from studio.ui.app.main_window import MainWindow
from studio.ui.dialogs.comparison import RewriteDialog
from studio.ui.style.application import finish_restyling
from studio.ui.style.theme import DARK, LIGHT

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def rewrite(window: MainWindow, qtbot: QtBot) -> RewriteDialog:
    """Open the dialog, once the text is read."""
    window.actions_by_id["edit.protocol"].trigger()
    shown: list[RewriteDialog] = []

    def is_shown() -> bool:
        shown[:] = [each for each in window.findChildren(RewriteDialog) if each.isVisible()]
        return bool(shown)

    qtbot.waitUntil(is_shown)
    return shown[0]


def test_the_difference_is_shown_and_one_undo_takes_it_back(
    window: MainWindow, qtbot: QtBot
) -> None:
    text = resource("examples", "react-agent.prompty").read_text(encoding="utf-8")
    window.tabs.new(text)
    page = window.tabs.current
    assert page is not None
    qtbot.waitUntil(lambda: page.editor.reading.now() is not None)  # it is tried apart first
    dialog = rewrite(window, qtbot)
    assert [dialog.target.itemData(at) for at in range(2)] == ["native", "json_action"]
    assert "+     protocol: native" in dialog.view.toPlainText()
    dialog.target.setCurrentIndex(1)
    assert "+     protocol: json_action" in dialog.view.toPlainText()
    for theme in (DARK, LIGHT):
        window.set_theme(theme)
        finish_restyling()
        assert theme.success in dialog.view.toHtml()
    dialog.buttons.button(dialog.buttons.StandardButton.Cancel).click()
    assert page.editor.text() == text

    dialog = rewrite(window, qtbot)
    dialog.target.setCurrentIndex(1)
    dialog.buttons.accepted.emit()
    assert choose_protocol(parse(page.editor.text())).protocol == "json_action"
    page.editor.undo()
    assert page.editor.text() == text
