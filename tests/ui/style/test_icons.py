"""Icons are painted where there is room."""

from __future__ import annotations

import pytest
from PySide6.QtCore import QSize
from PySide6.QtWidgets import QApplication

from studio.ui.style.theme import icon


@pytest.mark.parametrize("size", [QSize(0, 16), QSize(16, 0), QSize(0, 0)])
def test_a_button_without_room_has_no_picture_and_no_warning(
    qapp: QApplication, size: QSize
) -> None:
    """A layout that is being made gives its buttons none for a moment: seen on busy machines."""
    assert icon("play").pixmap(size).isNull()


def test_an_icon_has_the_size_that_is_asked_for(qapp: QApplication) -> None:
    assert icon("play").pixmap(QSize(16, 16)).deviceIndependentSize().toSize() == QSize(16, 16)
