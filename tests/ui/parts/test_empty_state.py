"""What a banner is painted with."""

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.parts.empty_state import Banner
from studio.ui.style.theme import DARK, LIGHT, Theme
from tests.support.themes import wear


@pytest.mark.parametrize("theme", [LIGHT, DARK], ids=lambda theme: theme.name)
def test_the_bar_at_its_left_has_the_color_of_its_tone(qtbot: QtBot, theme: Theme) -> None:
    wear(theme)
    banner = Banner()
    qtbot.addWidget(banner)
    banner.resize(400, 40)
    for tone, color in (("error", theme.error), ("warning", theme.warning)):
        banner.say("Something is the matter.", tone=tone)
        assert banner.grab().toImage().pixelColor(1, 20).name() == color
