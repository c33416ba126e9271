from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.core.tools.trust.store import ToolChange, ToolDefinition
from studio.ui.style.theme import DARK
from studio.ui.tools.detail import ChangeNote
from tests.support.themes import wear


def test_the_note_says_why_in_both_themes(qtbot: QtBot) -> None:
    note = ChangeNote()
    qtbot.addWidget(note)
    now = ToolDefinition("x", "New \u200bwords", {}, "place")
    note.show_change(ToolChange(now))
    assert "does not say whether it has side effects" in note.words.text()
    assert not note.difference.isVisibleTo(note)
    note.show_change(ToolChange(now, ToolDefinition("x", "Old words", {}, "place")))
    wear(DARK)
    assert "-Old words\n+New ⟨U+200B⟩words" in note.difference.toPlainText()
    note.show_change(None)
    assert not note.isVisibleTo(note.parentWidget() or note)
