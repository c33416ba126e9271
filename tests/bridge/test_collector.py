from __future__ import annotations

import gc
import weakref

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.bridge.collector import CalmCollector


class _Ring:
    def __init__(self) -> None:
        self.itself = self


def test_the_heap_is_searched_in_quiet_moments_only(qtbot: QtBot, qapp: QApplication) -> None:
    before = gc.get_threshold()
    collector, window = CalmCollector(), QObject()
    collector.start(window)
    try:
        assert gc.get_freeze_count() > 0
        assert gc.get_threshold()[2] > 100_000
        ring = _Ring()
        gone = weakref.ref(ring)
        gc.collect(0)
        gc.collect(1)  # now it is old, and young searches do not find it
        del ring
        press = QKeyEvent(QEvent.Type.KeyPress, Qt.Key.Key_A, Qt.KeyboardModifier.NoModifier, "a")
        QApplication.sendEvent(window, press)
        collector._tick()
        assert gone() is not None
        collector.touch()
        collector._tick()
        assert gone() is not None
        collector._tick()
        assert gone() is None
    finally:
        collector.stop()
    assert gc.get_threshold() == before
    assert gc.get_freeze_count() == 0
