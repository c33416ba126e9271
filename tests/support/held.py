"""Keys and buttons that Qt takes for held."""

from __future__ import annotations

from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QWidget


def hold(modifier: Qt.KeyboardModifier) -> None:
    """Have Qt take a modifier for held, as it does after each click or key with it."""
    QTest.keyRelease(QWidget(), Qt.Key.Key_F35, modifier)


def let_go() -> None:
    """Let go of what a test held.

    `QTest.keyClick(widget, key, Control)` leaves Ctrl held until the next event, which may be of
    another test: there a list that is told its current row would keep the row before selected.
    """
    if QApplication.keyboardModifiers() != Qt.KeyboardModifier.NoModifier:
        hold(Qt.KeyboardModifier.NoModifier)
    if QApplication.mouseButtons() != Qt.MouseButton.NoButton:
        QTest.mouseRelease(QWidget(), Qt.MouseButton.LeftButton)
