"""Finds words on the screen that are not seen whole."""

from __future__ import annotations

from PySide6.QtCore import QPoint, QRect
from PySide6.QtGui import QTextDocument
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractScrollArea,
    QCheckBox,
    QComboBox,
    QLabel,
    QPushButton,
    QRadioButton,
    QTabBar,
    QToolButton,
    QWidget,
)

from studio.ui.parts.chip import Chip
from studio.ui.parts.elided_label import ElidedLabel

_SLACK = 2
_COMBO_FRAME = 34
"""Of a box for a choice: its arrow, its border, and the room around its words."""


def cut_words(window: QWidget) -> list[str]:
    """Labels and buttons with less room than their words need; what scrolls can be reached."""
    return [
        f"{type(widget).__name__} {said!r}: {have} of {need} px"
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and not isinstance(widget, Chip | ElidedLabel)
        for said, have, need in _cut(widget, window)
    ]


def _cut(widget: QWidget, window: QWidget) -> list[tuple[str, int, int]]:
    found: list[tuple[str, int, int]] = []
    if isinstance(widget, QLabel) and widget.text() and not widget.wordWrap():
        need, have = _words_width(widget), widget.contentsRect().width()
        if need > have + _SLACK:
            found.append((widget.text()[:60], have, need))
    elif isinstance(widget, QLabel) and widget.text():
        need, have = widget.heightForWidth(widget.width()), widget.height()
        if need > have + _SLACK:
            found.append((f"(height) {widget.text()[:60]}", have, need))
    elif isinstance(widget, QCheckBox | QRadioButton) and widget.text():
        need, have = widget.sizeHint().width(), widget.width()
        if need > have + _SLACK:
            found.append((widget.text()[:60], have, need))
    elif isinstance(widget, QTabBar) and widget.count() and not widget.tabsClosable():
        need, have = widget.sizeHint().width(), widget.width()
        if need > have + _SLACK:
            said = ", ".join(widget.tabText(index) for index in range(widget.count()))
            found.append((said[:60], have, need))
    elif isinstance(widget, QComboBox) and widget.currentText():
        need = widget.fontMetrics().horizontalAdvance(widget.currentText())
        have = widget.width() - _COMBO_FRAME
        if need > have:
            found.append((widget.currentText()[:60], have, need))
    elif isinstance(widget, QPushButton | QToolButton) and widget.text() and _shows_text(widget):
        # Made for its words by its own size hint; only one that a layout squeezed has less.
        need = widget.fontMetrics().horizontalAdvance(widget.text().replace("&", ""))
        if need > widget.width() and widget.objectName() != "line":
            found.append((widget.text()[:60], widget.width(), need))
    if found or not isinstance(widget, QLabel | QAbstractButton) or _scrolls(widget, window):
        return found
    place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
    inside = place.intersected(window.rect())
    parent = widget.parentWidget()
    if parent is not None and parent is not window:
        inside = inside.intersected(QRect(parent.mapTo(window, QPoint(0, 0)), parent.size()))
    if inside.width() + _SLACK < place.width() and getattr(widget, "text", lambda: "")():
        found.append((widget.text()[:60], inside.width(), place.width()))
    return found


def _shows_text(button: QPushButton | QToolButton) -> bool:
    if isinstance(button, QPushButton):
        return True
    shows = button.toolButtonStyle()
    return shows != shows.ToolButtonIconOnly or button.icon().isNull()


def _words_width(label: QLabel) -> int:
    if label.textFormat() != label.textFormat().PlainText and "<" in label.text():
        document = QTextDocument()
        document.setDefaultFont(label.font())
        document.setHtml(label.text())
        return round(document.idealWidth()) - 2 * round(document.documentMargin())
    metrics = label.fontMetrics()
    said = label.text().replace("&", "") if label.buddy() is not None else label.text()
    return max(metrics.horizontalAdvance(line) for line in said.split("\n"))


def _scrolls(widget: QWidget, window: QWidget) -> bool:
    parent = widget.parentWidget()
    while parent is not None and parent is not window:
        if isinstance(parent, QAbstractScrollArea):
            return True
        parent = parent.parentWidget()
    return False
