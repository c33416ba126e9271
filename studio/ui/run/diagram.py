"""The loop diagram: one painted strip that lights the node where a run stands."""

from __future__ import annotations

from PySide6.QtCore import (
    QT_TRANSLATE_NOOP,
    QCoreApplication,
    QEvent,
    QPointF,
    QRectF,
    QSize,
    Qt,
    Signal,
)
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QColor,
    QFocusEvent,
    QFont,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPainterPath,
    QPaintEvent,
    QPen,
)
from PySide6.QtWidgets import QSizePolicy, QToolTip, QWidget

from studio.bridge.run_diagram import NODES, PLACE_OF_NODE, DiagramState, Node
from studio.ui.run.diagram_layout import DiagramLayout, lay_out
from studio.ui.theme import LIGHT, Theme

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
_REACH = 14.0
_COMPACT_REACH = 7.0


class LoopDiagram(QWidget):
    """Prompt → Model → Reply → Action → Tool → Observation and back; Final → Done leaves it."""

    break_toggled = Signal(str)  # place ("P1" …) whose breakpoint was clicked
    node_chosen = Signal(str)  # node whose inspector tab is wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = DiagramState()
        self._theme = LIGHT
        self._layout: DiagramLayout | None = None
        self._compact = False
        self._focused: Node = "prompt"
        self.setFocusPolicy(Qt.FocusPolicy.TabFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(self.tr("Loop diagram"))

    @property
    def state(self) -> DiagramState:
        """What is shown."""
        return self._state

    def show_state(self, state: DiagramState) -> None:
        """Light the node of `state`."""
        if state == self._state:
            return
        spoken = state.sentence != self._state.sentence
        self._state = state
        self.setAccessibleDescription(state.sentence)
        if spoken:
            QAccessible.updateAccessibility(
                QAccessibleEvent(self, QAccessible.Event.DescriptionChanged)
            )
        self.update()

    def set_compact(self, compact: bool) -> None:
        """Give up the labels of the two arcs where there is little height."""
        if compact != self._compact:
            self._compact = compact
            self._layout = None
            self.updateGeometry()
            self.update()

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        self.update()

    def sizeHint(self) -> QSize:
        """Wide, and as high as a node with its two arcs."""
        return QSize(960, self.minimumSizeHint().height())

    def minimumSizeHint(self) -> QSize:
        """Narrower than this the labels no longer fit."""
        text = QFontMetricsF(self.font()).height()
        return QSize(420, round(text + 10 + 2 * (_COMPACT_REACH + 4 if self._compact else 24)))

    # Painting -------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint arcs, arrows and nodes."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        layout = self._lay_out()
        self._paint_links(painter, layout)
        for node in NODES:
            self._paint_node(painter, node, layout.nodes[node])
        if not self._compact:
            self._paint_iteration(painter, layout)

    def changeEvent(self, event: QEvent) -> None:
        """Lay out again when the font changes."""
        if event.type() == QEvent.Type.FontChange:
            self._layout = None
            self.updateGeometry()
        super().changeEvent(event)

    def _lay_out(self) -> DiagramLayout:
        size = self.size()
        if self._layout is None or self._layout.size != (size.width(), size.height()):
            metrics = QFontMetricsF(self._node_font())
            widths = {node: metrics.horizontalAdvance(_label(node)) for node in NODES}
            reach = _COMPACT_REACH if self._compact else _REACH
            self._layout = lay_out(size.width(), size.height(), widths, metrics.height(), reach)
        return self._layout

    def _node_font(self) -> QFont:
        font = QFont(self.font())
        font.setWeight(QFont.Weight.Medium)
        return font

    def _paint_links(self, painter: QPainter, layout: DiagramLayout) -> None:
        theme, state = self._theme, self._state
        quiet = QColor(theme.muted)
        quiet.setAlphaF(0.5)
        for start, end, line in layout.arrows:
            passed = start in state.visited and (end in state.visited or end == state.live)
            colour = QColor(theme.accent) if passed and state.mood != "idle" else quiet
            self._stroke(painter, line, colour, passed)
        self._stroke(painter, layout.loop, quiet, strong=False)
        leaves = "final" in state.visited or state.live in ("final", "done")
        self._stroke(painter, layout.leave, QColor(theme.accent) if leaves else quiet, leaves)

    def _stroke(self, painter: QPainter, path: QPainterPath, colour: QColor, strong: bool) -> None:
        pen = QPen(colour, 1.6 if strong else 1.2)
        pen.setCapStyle(Qt.PenCapStyle.RoundCap)
        pen.setJoinStyle(Qt.PenJoinStyle.RoundJoin)
        painter.setPen(pen)
        painter.setBrush(Qt.BrushStyle.NoBrush)
        painter.drawPath(path)
        tip = path.currentPosition()
        last = path.elementAt(path.elementCount() - 2)
        _arrow_head(painter, QPointF(last.x, last.y), tip, colour)

    def _paint_node(self, painter: QPainter, node: Node, box: QRectF) -> None:
        fill, edge, ink, width = self._colours(node)
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill)
        radius = box.height() / 2
        painter.drawRoundedRect(box, radius, radius)
        painter.setPen(ink)
        painter.setFont(self._node_font())
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, _label(node))
        if node in self._state.breakpoints:
            painter.setPen(QPen(QColor(self._theme.surface), 1.5))
            painter.setBrush(QColor(self._theme.error))
            painter.drawEllipse(QPointF(box.left() + 6, box.top() + 4), 4.5, 4.5)
        if self.hasFocus() and node == self._focused:
            painter.setPen(QPen(QColor(self._theme.accent), 1.5, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)

    def _colours(self, node: Node) -> tuple[QColor, QColor, QColor, float]:
        """Fill, edge, ink and edge width of a node."""
        theme, state = self._theme, self._state
        if node == state.live:
            tone = {
                "error": theme.error, "done": theme.success, "stopped": theme.muted,
            }.get(state.mood, theme.accent)  # fmt: skip
            colour = QColor(tone)
            if state.mood == "paused":
                # Standing still: outlined, so that "here and waiting" differs from "here and busy"
                # by more than a colour.
                soft = QColor(tone)
                soft.setAlphaF(0.14)
                return soft, colour, colour, _PULSE_PEN
            ink = QColor(theme.surface if theme.name == "light" else theme.on_accent)
            return colour, colour, ink, 1.0
        if node in state.visited:
            soft = QColor(theme.accent)
            soft.setAlphaF(0.10)
            edge = QColor(theme.accent)
            edge.setAlphaF(0.55)
            return soft, edge, QColor(theme.text), 1.0
        return QColor(theme.surface), QColor(theme.border), QColor(theme.muted), 1.0

    def _paint_iteration(self, painter: QPainter, layout: DiagramLayout) -> None:
        state, theme = self._state, self._theme
        font = QFont(self.font())
        font.setPointSizeF(max(7.5, font.pointSizeF() - 1.0))
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        text = self.tr("next iteration")
        if state.iteration:
            text = (
                self.tr("iteration {number}")
                if state.max_iterations is None
                else self.tr("iteration {number} of {most}")
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

    # Mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click shows a node's tab; a click with Ctrl, or on the right, its breakpoint."""
        node = self._node_at(event.position())
        if node is None:
            return
        self._focused = node
        wants_break = event.button() == Qt.MouseButton.RightButton or bool(
            event.modifiers() & Qt.KeyboardModifier.ControlModifier
        )
        self._choose(node, wants_break)
        self.update()

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show that nodes can be clicked."""
        over = self._node_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move along the loop, Return shows the tab, F9 sets the breakpoint."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step:
            index = (NODES.index(self._focused) + step) % len(NODES)
            self._focused = NODES[index]
            self.setAccessibleDescription(f"{_label(self._focused)}: {_tip(self._focused)}")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self._focused, wants_break=False)
        elif event.key() == Qt.Key.Key_F9:
            self._choose(self._focused, wants_break=True)
        else:
            super().keyPressEvent(event)
            return
        self.update()

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Begin at the node where the run stands."""
        self._focused = self._state.live or "prompt"
        super().focusInEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Say what a node is when the pointer rests on it."""
        if isinstance(event, QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            node = self._node_at(QPointF(event.pos()))
            text = "" if node is None else _tip(node)
            if node in PLACE_OF_NODE:
                text += self.tr("\nRight-click for a breakpoint.")
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _choose(self, node: Node, wants_break: bool) -> None:
        if not wants_break:
            self.node_chosen.emit(node)
        elif node in PLACE_OF_NODE:
            self.break_toggled.emit(PLACE_OF_NODE[node])

    def _node_at(self, point: QPointF) -> Node | None:
        boxes = self._lay_out().nodes
        return next((node for node, box in boxes.items() if box.contains(point)), None)


def _arrow_head(painter: QPainter, before: QPointF, tip: QPointF, colour: QColor) -> None:
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
    painter.setBrush(colour)
    painter.drawPath(head)


def _label(node: Node) -> str:
    return QCoreApplication.translate("Diagram", _LABELS[node])


def _tip(node: Node) -> str:
    return QCoreApplication.translate("Diagram", _TIPS[node])
