"""How the loop diagram is drawn: its arcs, arrows and nodes, for a state and a theme."""

from __future__ import annotations

from dataclasses import dataclass

from PySide6.QtCore import QCoreApplication, QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from studio.application.run.diagram import NODES, DiagramState, Node
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.run.diagram.layout import DiagramLayout
from studio.ui.style.theme import Theme

_LABELS: dict[Node, str] = {
    "prompt": QT_TRANSLATE_NOOP("Diagram", "Prompt"),
    "model": QT_TRANSLATE_NOOP("Diagram", "Model"),
    "reply": QT_TRANSLATE_NOOP("Diagram", "Reply"),
    "action": QT_TRANSLATE_NOOP("Diagram", "Action"),
    "tool": QT_TRANSLATE_NOOP("Diagram", "Tool"),
    "observation": QT_TRANSLATE_NOOP("Diagram", "Observation"),
    "final": QT_TRANSLATE_NOOP("Diagram", "Final"),
    "done": QT_TRANSLATE_NOOP("Diagram", "Done"),
}

_TIPS: dict[Node, str] = {
    "prompt": QT_TRANSLATE_NOOP(
        "Diagram", "The prompt is rendered; the request is ready to be sent."
    ),
    "model": QT_TRANSLATE_NOOP("Diagram", "The model answers."),
    "reply": QT_TRANSLATE_NOOP(
        "Diagram", "The reply is read: an action, a final answer, or something that cannot be read."
    ),
    "action": QT_TRANSLATE_NOOP(
        "Diagram", "The tool call that the model asked for, before it runs."
    ),
    "tool": QT_TRANSLATE_NOOP("Diagram", "The tool runs."),
    "observation": QT_TRANSLATE_NOOP(
        "Diagram", "What the model will be told of the tool's result."
    ),
    "final": QT_TRANSLATE_NOOP("Diagram", "The answer, before the run ends."),
    "done": QT_TRANSLATE_NOOP("Diagram", "The run has ended with an answer."),
}
_PULSE_PEN = 2.0


@dataclass(frozen=True, slots=True)
class DiagramDrawing:
    """One picture of the loop."""

    state: DiagramState
    """What is shown."""

    theme: Theme
    """In which colours."""

    font: QFont
    """In which writing; nodes are a little stronger."""

    focused: Node | None = None
    """The node that has the keyboard, where the diagram has it."""

    def paint(self, painter: QPainter, layout: DiagramLayout, *, compact: bool) -> None:
        """Paint all of it; without the labels of the arcs where there is little height."""
        self._paint_links(painter, layout)
        for node in NODES:
            self._paint_node(painter, node, layout.nodes[node])
        if not compact:
            self._paint_iteration(painter, layout)

    def _paint_links(self, painter: QPainter, layout: DiagramLayout) -> None:
        theme, state = self.theme, self.state
        quiet = QColor(theme.muted)
        quiet.setAlphaF(0.5)
        for start, end, line in layout.arrows:
            passed = start in state.visited and (end in state.visited or end == state.live)
            color = QColor(theme.accent) if passed and state.phase != "idle" else quiet
            self._stroke(painter, line, color, passed)
        self._stroke(painter, layout.loop, quiet, strong=False)
        leaves = "final" in state.visited or state.live in ("final", "done")
        self._stroke(painter, layout.leave, QColor(theme.accent) if leaves else quiet, leaves)

    def _stroke(self, painter: QPainter, path: QPainterPath, color: QColor, strong: bool) -> None:
        pen = QPen(color, 1.6 if strong else 1.2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        tip = path.currentPosition()
        last = path.elementAt(path.elementCount() - 2)
        _arrow_head(painter, QPointF(last.x, last.y), tip, color)

    def _paint_node(self, painter: QPainter, node: Node, box: QRectF) -> None:
        fill, edge, ink, width = self._colors(node)
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill)
        radius = box.height() / 2
        painter.drawRoundedRect(box, radius, radius)
        painter.setPen(ink)
        painter.setFont(node_font(self.font))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, label_of(node))
        if node in self.state.breakpoints:
            painter.setPen(QPen(QColor(self.theme.surface), 1.5))
            painter.setBrush(QColor(self.theme.error))
            painter.drawEllipse(QPointF(box.left() + 6, box.top() + 4), 4.5, 4.5)
        if node == self.focused:
            painter.setPen(QPen(QColor(self.theme.accent), 1.5, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)

    def _colors(self, node: Node) -> tuple[QColor, QColor, QColor, float]:
        """Fill, edge, ink and edge width of a node."""
        theme, state = self.theme, self.state
        if node == state.live:
            tone = {
                "error": theme.error, "done": theme.success, "stopped": theme.muted,
                "incomplete": theme.warning,
            }.get(state.phase, theme.accent)  # fmt: skip
            color = QColor(tone)
            if state.phase == "paused":
                # Standing still: outlined, so that "here and waiting" differs from "here and busy"
                # by more than a colour.
                soft = QColor(tone)
                soft.setAlphaF(0.14)
                return soft, color, color, _PULSE_PEN
            ink = QColor(theme.surface if theme.name == "light" else theme.on_accent)
            return color, color, ink, 1.0
        if node in state.visited:
            soft = QColor(theme.accent)
            soft.setAlphaF(0.10)
            edge = QColor(theme.accent)
            edge.setAlphaF(0.55)
            return soft, edge, QColor(theme.text), 1.0
        return QColor(theme.surface), QColor(theme.border), QColor(theme.muted), 1.0

    def _paint_iteration(self, painter: QPainter, layout: DiagramLayout) -> None:
        state, theme = self.state, self.theme
        font = QFont(self.font)
        font.setPointSizeF(max(7.5, font.pointSizeF() - 1.0))
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        text = QCoreApplication.translate("LoopDiagram", "next iteration")
        if state.iteration:
            text = (
                QCoreApplication.translate("LoopDiagram", "iteration {number}")
                if state.max_iterations is None
                else QCoreApplication.translate("LoopDiagram", "iteration {number} of {most}")
            ).format(number=state.iteration, most=state.max_iterations)
        width = metrics.horizontalAdvance(text) + 16
        box = QRectF(layout.loop_label.x() - width / 2, layout.loop_label.y() - 8, width, 16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.window))
        painter.drawRect(box)
        painter.setPen(QColor(theme.text if state.iteration else theme.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)
        if state.tool:
            below = QRectF(0, 0, 200, metrics.height())
            below.moveCenter(QPointF(layout.nodes["tool"].center().x(), layout.leave_level))
            painter.setPen(QColor(theme.muted))
            name = metrics.elidedText(state.tool, Qt.TextElideMode.ElideRight, below.width())
            back = QRectF(0, 0, metrics.horizontalAdvance(name) + 10, below.height())
            back.moveCenter(below.center())
            painter.fillRect(back, QColor(theme.window))
            painter.drawText(below, Qt.AlignmentFlag.AlignCenter, name)


def node_font(font: QFont) -> QFont:
    """The writing of the nodes."""
    made = QFont(font)
    made.setWeight(QFont.Weight.Medium)
    return made


def _arrow_head(painter: QPainter, before: QPointF, tip: QPointF, color: QColor) -> None:
    """A small filled triangle at `tip`, pointing away from `before`."""
    across = tip - before
    length = max(0.001, (across.x() ** 2 + across.y() ** 2) ** 0.5)
    unit = QPointF(across.x() / length, across.y() / length)
    side = QPointF(-unit.y(), unit.x())
    back = tip - unit * 6.0
    head = QPainterPath(tip)
    head.lineTo(back + side * 3.4)
    head.lineTo(back - side * 3.4)
    head.closeSubpath()
    painter.setPen(Qt.PenStyle.NoPen)
    painter.setBrush(color)
    painter.drawPath(head)


def label_of(node: Node) -> str:
    """What a node is called."""
    return QCoreApplication.translate("Diagram", _LABELS[node])


def tip_of(node: Node) -> str:
    """What happens at a node, in one sentence."""
    return QCoreApplication.translate("Diagram", _TIPS[node])
