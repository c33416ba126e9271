from __future__ import annotations

import pytest
from pytestqt.qtbot import QtBot

from studio.ui.preview.pane import PreviewBar
from studio.ui.style.theme import LIGHT
from tests.support.themes import wear

pytestmark = pytest.mark.qt_log_ignore("This plugin does not support")


def test_the_menu_copies_and_probes_beside_whole_tabs_at_400_pixels(qtbot: QtBot) -> None:
    wear(LIGHT)
    bar = PreviewBar()
    qtbot.addWidget(bar)
    bar.resize(400, 36)
    with qtbot.waitExposed(bar):
        bar.show()
    assert bar.minimumSizeHint().width() <= 400
    last = bar.tabs.tabRect(bar.tabs.count() - 1)
    assert last.right() <= bar.tabs.width() < bar.more.geometry().left()
    actions = {each.text(): each for each in bar.more.menu().actions()}
    with qtbot.waitSignal(bar.request_copy) as copied:
        actions["Copy as Markdown"].trigger()
    assert copied.args == ["markdown"]
    assert any("Probe" in text for text in actions)
