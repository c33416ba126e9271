from __future__ import annotations

from pytestqt.qtbot import QtBot

from studio.application.preview.meter import Fullness, Meter
from studio.ui.preview.bar import TokenMeter
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear


def test_the_filled_part_of_the_meter_has_the_color_of_its_tone(qtbot: QtBot) -> None:
    wear(LIGHT)
    meter = TokenMeter()
    qtbot.addWidget(meter)
    meter.bar.resize(40, 6)
    shown: tuple[tuple[Fullness, str], ...] = (
        ("free", LIGHT.accent),
        ("close", LIGHT.warning),
        ("over", LIGHT.error),
    )
    for fullness, color in shown:
        meter.show_meter(Meter("≈12,345 tokens", "", "≈12k", 0.9, fullness))
        assert meter.bar.grab().toImage().pixelColor(8, 3).name() == color
