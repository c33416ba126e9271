"""The wheel over combo and spin boxes: it scrolls the form that they are in."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QVBoxLayout, QWidget
from pytestqt.qtbot import QtBot

from studio.ui.parts.fields import ComboBox, DoubleSpinBox, SpinBox
from tests.support.wheel import turn_wheel


def test_a_box_without_the_keyboard_leaves_the_wheel_to_the_form(qtbot: QtBot) -> None:
    choice, typed = ComboBox(), ComboBox()
    count, price = SpinBox(), DoubleSpinBox()
    typed.setEditable(True)
    for combo in (choice, typed):
        combo.addItems(["object", "float", "audio"])
        combo.setCurrentIndex(1)
    count.setValue(5)
    price.setValue(2.5)
    form = QWidget()
    qtbot.addWidget(form)
    layout = QVBoxLayout(form)
    for box in (choice, typed, count, price):
        layout.addWidget(box)
        assert not turn_wheel(box, -1)
        assert box.focusPolicy() == Qt.FocusPolicy.StrongFocus  # the wheel gives no focus either
    assert (choice.currentText(), typed.currentText()) == ("float", "float")
    assert (count.value(), price.value()) == (5, 2.5)


def test_a_number_with_the_keyboard_is_changed_by_the_wheel(qtbot: QtBot) -> None:
    count = SpinBox()
    qtbot.addWidget(count)
    count.setValue(5)
    count.show()
    count.setFocus()
    qtbot.waitUntil(count.hasFocus)
    assert turn_wheel(count, 1)
    assert count.value() == 6
