from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.theme import LIGHT, Fonts, apply_theme
from studio.ui.welcome import WelcomePage

pytestmark = pytest.mark.qt_log_ignore("does not support propagateSizeHints")

NARROW = 440
"""Pixels between the docks of a window of 1280."""


@pytest.mark.parametrize("points", [10.0, 16.0])
def test_the_page_fits_between_the_docks(qapp: QApplication, qtbot: QtBot, points: float) -> None:
    apply_theme(qapp, LIGHT, Fonts(points=points))
    page = WelcomePage()
    qtbot.addWidget(page)
    page.resize(NARROW, 400)
    page.show()
    assert page.widget().minimumSizeHint().width() <= page.viewport().width()
    apply_theme(qapp, LIGHT)
