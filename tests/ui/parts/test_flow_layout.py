from __future__ import annotations

from PySide6.QtWidgets import QLabel, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.parts.kit import FlowLayout


def test_items_wrap_where_the_room_ends(qtbot: QtBot) -> None:
    page = QWidget()
    qtbot.addWidget(page)
    flow = FlowLayout(page, spacing=4)
    for _ in range(6):
        label = QLabel("word")
        label.setFixedSize(50, 20)
        flow.addWidget(label)
    assert flow.heightForWidth(1_000) == 20
    assert flow.heightForWidth(160) == 44
    assert flow.heightForWidth(10) == 6 * 20 + 5 * 4
    page.resize(160, 100)
    flow.activate()
    places = [flow.itemAt(index).geometry().topLeft().toTuple() for index in range(6)]
    assert places == [(0, 0), (54, 0), (108, 0), (0, 24), (54, 24), (108, 24)]
    assert flow.takeAt(9) is None
