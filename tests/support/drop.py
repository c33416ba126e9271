"""Files that are dragged over a widget and let go, by real events."""

from __future__ import annotations

from pathlib import Path

from PySide6.QtCore import QMimeData, QPoint, QPointF, Qt, QUrl
from PySide6.QtGui import QDragEnterEvent, QDropEvent
from PySide6.QtWidgets import QApplication, QWidget

_COPY = Qt.DropAction.CopyAction
_LEFT = Qt.MouseButton.LeftButton
_NO_KEYS = Qt.KeyboardModifier.NoModifier


def drop_files(widget: QWidget, *paths: Path, at: QPoint | None = None) -> None:
    """Drag files over a widget, which must want them, and let them go there."""
    data = QMimeData()
    data.setUrls([QUrl.fromLocalFile(str(path)) for path in paths])
    place = at if at is not None else QPoint(5, 5)
    enter = _enter(place, data)
    QApplication.sendEvent(widget, enter)
    assert enter.isAccepted(), f"{widget!r} wants none of {paths}"
    QApplication.sendEvent(widget, QDropEvent(QPointF(place), _COPY, data, _LEFT, _NO_KEYS))


def _enter(place: QPoint, data: QMimeData) -> QDragEnterEvent:
    try:
        return QDragEnterEvent(QPointF(place), _COPY, data, _LEFT, _NO_KEYS)
    except TypeError:  # Qt 6.11 takes whole points only, which Qt 6.12 warns of
        return QDragEnterEvent(place, _COPY, data, _LEFT, _NO_KEYS)
