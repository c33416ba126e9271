"""Icons: the bundled Lucide drawings, tinted by the palette at the moment they are painted."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING

from PySide6.QtCore import QByteArray, QPoint, QRect, QRectF, QSize, Qt
from PySide6.QtGui import QColor, QGuiApplication, QIcon, QIconEngine, QPainter, QPalette, QPixmap
from PySide6.QtWidgets import QWidget

from studio.core.paths import resource, resource_text
from studio.ui.style.colors import color_of

if TYPE_CHECKING:
    from PySide6.QtSvg import QSvgRenderer


@cache
def _names() -> frozenset[str]:
    # Asked once: a start makes sixty icons.
    return frozenset(path.stem for path in resource("icons").iterdir() if path.suffix == ".svg")


@cache
def _drawing(name: str) -> str:
    return resource_text("icons", f"{name}.svg")


@cache
def _renderer(name: str, color: str) -> QSvgRenderer:
    from PySide6.QtSvg import QSvgRenderer  # not before the first paint

    svg = _drawing(name).replace("currentColor", color)
    return QSvgRenderer(QByteArray(svg.encode()))


class _Tinted(QIconEngine):
    """Draws one icon in the palette's text color, or in a color of its own."""

    def __init__(self, name: str, color: str | None) -> None:
        super().__init__()
        self._name = name
        self._color = color

    def paint(self, painter: QPainter, rect: QRect, mode: QIcon.Mode, state: QIcon.State) -> None:
        if _HELD:
            return
        disabled = mode == QIcon.Mode.Disabled
        group = QPalette.ColorGroup.Disabled if disabled else QPalette.ColorGroup.Active
        ink = QGuiApplication.palette().color(group, QPalette.ColorRole.ButtonText)
        color = ink.name() if disabled or self._color is None else color_of(self._color)
        painter.save()
        painter.setOpacity(painter.opacity() * (ink.alphaF() if disabled else 1.0))
        _renderer(self._name, color).render(painter, QRectF(rect))
        painter.restore()

    def pixmap(self, size: QSize, mode: QIcon.Mode, state: QIcon.State) -> QPixmap:
        if size.isEmpty():  # a button that has no room yet, in a layout that is being made
            return QPixmap()
        pixmap = QPixmap(size)
        pixmap.fill(Qt.GlobalColor.transparent)
        painter = QPainter(pixmap)
        self.paint(painter, QRect(QPoint(0, 0), size), mode, state)
        painter.end()
        return pixmap

    def clone(self) -> QIconEngine:
        return _Tinted(self._name, self._color)


_HELD: list[bool] = []
"""Filled while drawings are held back."""


def hold_drawings() -> None:
    """Leave the places of icons empty until `release_drawings`: the window is about to be painted.

    To read a dozen drawings takes as long as to paint a text of some thousand lines.
    """
    _HELD[:] = [True]


def release_drawings(window: QWidget) -> None:
    """Paint the icons that were left out."""
    if _HELD:
        _HELD.clear()
        for widget in window.findChildren(QWidget):
            if widget.isVisible():
                widget.update()


@cache
def icon(name: str, color: str | None = None) -> QIcon:
    """The icon of that name, without `.svg`.

    Args:
        name: file name in `resources/icons`.
        color: a tone of the theme or `#rrggbb` to draw it in; None is the palette's. All but
            a fixed color follow the theme.

    Raises:
        FileNotFoundError: no such drawing is bundled.
    """
    if name not in _names():
        raise FileNotFoundError(f"there is no icon named {name!r} in resources/icons")
    return QIcon(_Tinted(name, color))


def dot(color: str) -> QPixmap:
    """Return a dot of eight pixels in the color of an input."""
    pixmap = QPixmap(16, 16)
    pixmap.setDevicePixelRatio(2)
    pixmap.fill(Qt.GlobalColor.transparent)
    painter = QPainter(pixmap)
    painter.setRenderHint(QPainter.RenderHint.Antialiasing)
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(QColor(color))
    painter.drawEllipse(0, 0, 8, 8)
    painter.end()
    return pixmap
