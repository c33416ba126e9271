from __future__ import annotations

import pytest
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.ui.parts.kit import Drawing
from studio.ui.style.application import Fonts, apply_theme
from studio.ui.style.theme import DARK, LIGHT, Theme, hold_drawings, release_drawings
from studio.ui.window.welcome import WelcomePage

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


def has_ink(mark: Drawing, theme: Theme) -> bool:
    image = mark.grab().toImage()
    pixels = (image.pixelColor(x, y).name() for x in range(20) for y in range(20))
    return theme.text in set(pixels)


def test_the_marks_of_the_examples_come_with_the_other_drawings(
    qapp: QApplication, qtbot: QtBot
) -> None:
    """They were left out for ever when the page was the window's first picture."""
    apply_theme(qapp, LIGHT)
    hold_drawings()
    page = WelcomePage()
    qtbot.addWidget(page)
    page.show()
    # The studio's own sign has its own colors.
    marks = [mark for mark in page.findChildren(Drawing) if mark.width() == 20]
    assert len(marks) >= 3
    assert not any(has_ink(mark, LIGHT) for mark in marks)
    release_drawings(page)
    assert all(has_ink(mark, LIGHT) for mark in marks)
    apply_theme(qapp, DARK)
    assert all(has_ink(mark, DARK) for mark in marks)
    apply_theme(qapp, LIGHT)
