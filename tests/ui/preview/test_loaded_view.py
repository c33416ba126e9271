"""What of an agent file is loaded when, as the preview shows it."""

from __future__ import annotations

from pathlib import Path

import pytest
from pytestqt.qtbot import QtBot

from studio.application.document.loading import loaded_parts
from studio.application.document.reading import read_document
from studio.ui.preview.loaded_view import LoadedView

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")


def test_the_parts_stand_in_their_order(tmp_path: Path, qtbot: QtBot) -> None:
    skill = tmp_path / "tides" / "SKILL.md"
    skill.parent.mkdir()
    (skill.parent / "table.md").write_text("high and low\n" * 20, encoding="utf-8")
    text = "---\nname: tides\ndescription: Tells the tides.\n---\n<b>Read</b> [it](table.md).\n"
    view = LoadedView()
    qtbot.addWidget(view)
    view.show_parts(loaded_parts(read_document(text, skill)))
    shown = view.toPlainText().splitlines()
    assert shown[0].startswith("Always: name and description, about ")
    assert "Tells the tides." in shown
    assert "When the skill is used: body, about " in view.toPlainText()
    assert "<b>Read</b> [it](table.md)." in shown
    assert shown[-1].startswith("When it is read: table.md, about ")
