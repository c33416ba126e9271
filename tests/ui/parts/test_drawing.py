"""Icons as parts of a layout."""

from pytestqt.qtbot import QtBot

from studio.ui.parts.kit import Drawing
from studio.ui.style.theme import DARK, LIGHT
from tests.support.themes import wear


def colors_in(drawing: Drawing) -> set[str]:
    picture = drawing.grab().toImage()
    return {
        picture.pixelColor(x, y).name()
        for x in range(picture.width())
        for y in range(picture.height())
    }


def test_an_icon_has_its_tone_in_the_theme_that_is_in_use_when_it_is_painted(
    qtbot: QtBot,
) -> None:
    wear(LIGHT)
    drawing = Drawing("circle-x", 32, "error")
    qtbot.addWidget(drawing)
    assert LIGHT.error in colors_in(drawing)
    wear(DARK)
    assert DARK.error in colors_in(drawing)
    drawing.draw("circle-check", "success")
    assert DARK.success in colors_in(drawing)
    assert DARK.error not in colors_in(drawing)
