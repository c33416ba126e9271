from __future__ import annotations

import gc
import threading
import weakref

from PySide6.QtCore import QEvent, QObject, Qt
from PySide6.QtGui import QKeyEvent
from PySide6.QtWidgets import QApplication
from pytestqt.qtbot import QtBot

from studio.app import IdleCollector


class _Ring:
    def __init__(self) -> None:
        self.itself = self


def test_the_heap_is_searched_in_quiet_moments_only(qtbot: QtBot, qapp: QApplication) -> None:
    gc.enable()  # as in a program of its own; the tests themselves keep it off
    collector, window = IdleCollector(), QObject()
    collector.start(window)
    try:
        assert gc.get_freeze_count() > 0
        assert not gc.isenabled()
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
    assert gc.isenabled()
    assert gc.get_freeze_count() == 0
    gc.disable()


def test_no_other_thread_ends_an_object_of_the_window(qtbot: QtBot) -> None:
    collector = IdleCollector()
    collector.start()
    ended_in: list[int] = []
    try:
        ring = _Ring()
        weakref.finalize(ring, lambda: ended_in.append(threading.get_ident()))
        del ring

        def work() -> None:
            kept = []
            for _ in range(20 * gc.get_threshold()[0]):
                kept.append([kept])

        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
        assert not ended_in
        collector._tick()
        assert ended_in == [threading.get_ident()]
    finally:
        collector.stop()
