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

from studio.ui.parts.kit import Chip, ElidedLabel
from studio.ui.parts.yielding_tabs import YieldingTabs

_SLACK = 2
_COMBO_FRAME = 34
"""Of a box for a choice: its arrow, its border, and the room around its words."""


def cut_words(window: QWidget) -> list[str]:
    """Labels and buttons with less room than their words need; what scrolls can be reached."""
    return [
        f"{type(widget).__name__} {said!r}: {have} of {need} px"
        for widget in window.findChildren(QWidget)
        if widget.isVisible() and not isinstance(widget, Chip | ElidedLabel | YieldingTabs)
        for said, have, need in _cut(widget, window)
    ]


def _cut(widget: QWidget, window: QWidget) -> list[tuple[str, int, int]]:
    said, have, need = _measured(widget)
    if need > have:
        return [(said[:60], have, need)]
    if not isinstance(widget, QLabel | QAbstractButton) or _scrolls(widget, window):
        return []
    place = QRect(widget.mapTo(window, QPoint(0, 0)), widget.size())
    inside = place.intersected(window.rect())
    parent = widget.parentWidget()
    if parent is not None and parent is not window:
        inside = inside.intersected(QRect(parent.mapTo(window, QPoint(0, 0)), parent.size()))
    if inside.width() + _SLACK < place.width() and widget.text():
        return [(widget.text()[:60], inside.width(), place.width())]
    return []


def _measured(widget: QWidget) -> tuple[str, int, int]:
    """What a widget says, the pixels that it has for that, and those that it needs."""
    if isinstance(widget, QTabBar) and widget.count() and not widget.tabsClosable():
        said = ", ".join(widget.tabText(index) for index in range(widget.count()))
        return said, widget.width() + _SLACK, widget.sizeHint().width()
    if isinstance(widget, QComboBox) and widget.currentText():
        need = widget.fontMetrics().horizontalAdvance(widget.currentText())
        return widget.currentText(), widget.width() - _COMBO_FRAME, need
    if not isinstance(widget, QLabel | QAbstractButton) or not (said := widget.text()):
        return "", 0, 0
    if isinstance(widget, QLabel) and widget.wordWrap():
        need = widget.heightForWidth(widget.width())
        return f"(height) {said}", widget.height() + _SLACK, need
    if isinstance(widget, QLabel):
        return said, widget.contentsRect().width() + _SLACK, _words_width(widget)
    if isinstance(widget, QCheckBox | QRadioButton):
        return said, widget.width() + _SLACK, widget.sizeHint().width()
    if (
        not isinstance(widget, QPushButton | QToolButton)
        or not _shows_text(widget)
        or widget.objectName() == "line"
    ):
        return said, 0, 0
    # Made for its words by its own size hint; only one that a layout squeezed has less.
    return said, widget.width(), widget.fontMetrics().horizontalAdvance(said.replace("&", ""))


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
