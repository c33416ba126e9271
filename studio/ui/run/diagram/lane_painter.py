"""How the calls of one reply are drawn: a lane each, that moves while its call runs."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from studio.application.run.diagram import DiagramState
from studio.application.run.lanes import Lane
from studio.core.text.amounts import duration
from studio.ui.run.diagram.layout import DiagramLayout
from studio.ui.style.colors import blend, fixed_font
from studio.ui.style.theme import Theme

_ROUND_SECONDS = 1.2
"""Time in which the dot of a running call goes along its way."""


@dataclass(frozen=True, slots=True)
class LanePainting:
    """Paints the lanes of one picture."""

    state: DiagramState
    """What is shown."""

    theme: Theme
    """In which colors."""

    font: QFont
    """Small writing."""

    now: float
    """The time, in seconds since 1970: running calls have clocks."""

    moves: bool
    """Whether dots go along the ways of running calls; not where less motion is wanted."""

    focused: int | None = None
    """Row of the lane that has the keyboard."""

    def paint(self, painter: QPainter, layout: DiagramLayout) -> None:
        """Paint ways and lanes."""
        lanes = {lane.row: lane for lane in self.state.lanes}
        for row, into, out in layout.fans:
            self._paint_ways(painter, lanes[row], into, out)
        for row, box in layout.lanes.items():
            self._paint_lane(painter, lanes[row], box)
        if not layout.more.isEmpty():
            left = len(lanes) - len(layout.lanes)
            words = QCoreApplication.translate("LoopDiagram", "{count} more").format(count=left)
            painter.setFont(self.font)
            painter.setPen(QColor(self.theme.muted))
            painter.drawText(layout.more, Qt.AlignmentFlag.AlignCenter, words)

    def _paint_ways(
        self, painter: QPainter, lane: Lane, into: QPainterPath, out: QPainterPath
    ) -> None:
        quiet = blend(self.theme.muted, self.theme.window, 0.45)
        begun = lane.phase in ("running", "done", "failed")
        ended = lane.phase in ("done", "failed", "decided")
        painter.setBrush(Qt.BrushStyle.NoBrush)
        for path, is_taken in ((into, begun), (out, ended)):
            color = QColor(self.theme.accent if is_taken else quiet)
            line = Qt.PenStyle.SolidLine if is_taken or path is into else Qt.PenStyle.DashLine
            painter.setPen(QPen(color, 1.6 if is_taken else 1.2, line))
            painter.drawPath(path)
        if lane.phase == "running" and self.moves:
            at = into.pointAtPercent(((self.now - lane.began) / _ROUND_SECONDS) % 1.0)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(self.theme.accent))
            painter.drawEllipse(at, 3.0, 3.0)

    def _paint_lane(self, painter: QPainter, lane: Lane, box: QRectF) -> None:
        theme = self.theme
        tone = {
            "running": theme.accent,
            "waits": theme.warning,
            "failed": theme.error,
            "done": theme.success,
        }.get(lane.phase, theme.muted)
        is_running = lane.phase == "running"
        if lane.row == self.state.lane and self.state.live in ("action", "tool", "observation"):
            painter.setPen(QPen(QColor(theme.selection), 4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 8, 8)
        edge = theme.border if lane.phase in ("done", "asked", "decided") else tone
        painter.setPen(QPen(QColor(edge), 1.0))
        painter.setBrush(QColor(theme.accent if is_running else theme.surface))
        painter.drawRoundedRect(box, 6, 6)
        ink = QColor(theme.surface if theme.name == "light" else theme.on_accent)
        self._paint_sign(
            painter,
            lane,
            QPointF(box.left() + 13, box.center().y()),
            ink if is_running else QColor(tone),
        )
        words = lane.words
        if is_running and lane.began:
            words = duration(max(0.0, self.now - lane.began))
        self._paint_texts(painter, lane, box, words, ink if is_running else QColor(tone))
        if lane.row == self.focused:
            painter.setPen(QPen(QColor(theme.accent), 1.5, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 8, 8)

    def _paint_texts(
        self, painter: QPainter, lane: Lane, box: QRectF, words: str, tone: QColor
    ) -> None:
        inner = box.adjusted(24, 0, -8, 0)
        painter.setFont(self.font)
        painter.setPen(tone)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, words)
        inner.setWidth(inner.width() - QFontMetricsF(self.font).horizontalAdvance(words) - 8)
        font = fixed_font(self.font)
        name = QFontMetricsF(font).elidedText(
            lane.tool, Qt.TextElideMode.ElideRight, max(0.0, inner.width())
        )
        painter.setFont(font)
        painter.setPen(tone if lane.phase == "running" else QColor(self.theme.text))
        painter.drawText(inner, middle, name)

    def _paint_sign(self, painter: QPainter, lane: Lane, at: QPointF, color: QColor) -> None:
        """Shape first, color second: a tick, a play sign, two bars, a cross or a ring."""
        pen = QPen(color, 1.6)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)

        def point(x: float, y: float) -> QPointF:
            return at + QPointF(x, y)

        match lane.phase:
            case "done":
                painter.drawPolyline([point(-4, 0), point(-1.2, 3), point(4, -3.5)])
            case "failed":
                painter.drawLine(point(-3.2, -3.2), point(3.2, 3.2))
                painter.drawLine(point(-3.2, 3.2), point(3.2, -3.2))
            case "waits":
                painter.drawLine(point(-2, -3.2), point(-2, 3.2))
                painter.drawLine(point(2, -3.2), point(2, 3.2))
            case "running":
                painter.setBrush(color)
                painter.drawPolygon([point(-2.5, -3.6), point(3.5, 0), point(-2.5, 3.6)])
            case "asked" | "decided":
                painter.drawEllipse(at, 2.6, 2.6)
