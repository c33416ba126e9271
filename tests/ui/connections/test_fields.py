"""The line of an editable list: its letters are whole under the style sheet."""

from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication, QStyle, QStyleOptionFrame
from pytestqt.qtbot import QtBot

from studio.ui.connections.fields import ModelField
from studio.ui.style.application import apply_theme
from studio.ui.style.theme import DARK, LIGHT, Theme


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_letters_are_whole(theme: Theme, qapp: QApplication, qtbot: QtBot) -> None:
    apply_theme(qapp, theme)
    field = ModelField()
    qtbot.addWidget(field)
    field.show()
    line = field.combo.lineEdit()
    assert line is not None
    option = QStyleOptionFrame()
    line.initStyleOption(option)
    room = line.style().subElementRect(QStyle.SubElement.SE_LineEditContents, option, line)
    assert room.height() >= line.fontMetrics().height()
