"""The card of the tools says which of them the model is told of."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QLabel
from pytestqt.qtbot import QtBot

from studio.core.prompty.document import HoistedTool, ToolSpec
from studio.ui.parts.kit import Chip
from studio.ui.preview.cards.tools_card import ToolsCard

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_tools_that_were_left_out_have_no_chip_and_the_title_says_why(qtbot: QtBot) -> None:
    card = ToolsCard()
    qtbot.addWidget(card)
    specs = (ToolSpec("search"), ToolSpec("convert"))
    hoisted = [HoistedTool(name, "function", {}) for name in ("convert", "mail")]

    card.show_tools(specs, hoisted, "2 of 3 tools, by the words of the question: search, convert")

    assert [chip.text() for chip in card.findChildren(Chip) if not chip.isHidden()] == [
        "search",
        "convert · function",
    ]
    title = card.findChildren(QLabel)[0]
    assert title.text() == "2 of 3 tools, by the words of the question"
    assert "search, convert" in title.toolTip()
    card.show_tools(specs, ())
    assert title.text() == "2 tools"
    assert not title.toolTip()
