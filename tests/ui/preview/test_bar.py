from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.application.preview.count import Fullness, Meter
from studio.ui.preview.bar import PreviewBar, TokenMeter
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


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


@pytest.mark.parametrize("figure", ["≈7", "≈845", "≈9,999", "≈128k"])
def test_the_figure_is_in_sight_at_400_pixels(qtbot: QtBot, figure: str) -> None:
    wear(LIGHT)
    bar = PreviewBar()
    qtbot.addWidget(bar)
    bar.show_meter(Meter(f"{figure} tokens", "", figure, 0.9, "close"))
    bar.resize(400, 36)
    with qtbot.waitExposed(bar):
        bar.show()
    assert bar.minimumSizeHint().width() <= 400
    assert bar.total.isVisible()
    assert bar.total.text == figure
    label = bar.total.label
    assert label.width() >= label.fontMetrics().horizontalAdvance(figure)
    probe = next(each for each in bar.copy_button.menu().actions() if "Probe" in each.text())
    with qtbot.waitSignal(bar.probe_button.clicked):
        probe.trigger()
