"""Painting of the loop diagram: arcs, arrows and nodes, for a state and a theme.

Each call of a reply has a lane, which is animated while the call runs.
"""

from dataclasses import dataclass

from PySide6.QtCore import QPointF, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QFontMetricsF, QPainter, QPainterPath, QPen

from studio.application.run.diagram import DiagramState, Lane, Node
from studio.application.words import marked, tr
from studio.core.text.amounts import duration
from studio.ui.run.diagram.layout import DiagramLayout
from studio.ui.style.theme import Theme, blend, fixed_font, small_font

_ROUND_SECONDS = 1.2
"""Seconds in which the dot of a running call moves along its path."""


_LABELS: dict[Node, str] = {
    "prompt": marked("Prompt"),
    "model": marked("Model"),
    "reply": marked("Reply"),
    "action": marked("Action"),
    "tool": marked("Tool"),
    "observation": marked("Observation"),
    "final": marked("Final"),
    "done": marked("Done"),
}

_TIPS: dict[Node, str] = {
    "prompt": marked("The prompt is rendered; the request is ready to be sent."),
    "model": marked("The model answers."),
    "reply": marked("The reply is parsed: an action, a final answer, or neither."),
    "action": marked("The tool call that the model requested, before it runs."),
    "tool": marked("The tool runs."),
    "observation": marked("The result of the tool, for the model."),
    "final": marked("The answer, before the run ends."),
    "done": marked("The run has ended with an answer."),
}
_PULSE_PEN = 2.0
_BESIDE_LABEL = 64.0
"""Pixels between the center of the iteration's label and that of a count beside it."""


@dataclass(frozen=True, slots=True)
class DiagramDrawing:
    """The data of one painting of the loop."""

    state: DiagramState
    """State to show."""

    theme: Theme
    """Theme with the colors."""

    font: QFont
    """Font of texts; that of nodes is slightly bolder."""

    focused: Node | None = None
    """The node with the focus, if the diagram has it."""

    lane: int | None = None
    """The lane with the focus, instead of a node."""

    now: float = 0.0
    """Current time in seconds since 1970, for the clocks of running calls."""

    moves: bool = False
    """Whether running calls are animated."""

    def paint(self, painter: QPainter, layout: DiagramLayout, *, compact: bool) -> None:
        """Paint the diagram; without the labels of the arcs if it is compact."""
        self._paint_links(painter, layout)
        for node, box in layout.nodes.items():
            self._paint_node(painter, node, box)
        passes = {(start, end): times for start, end, times in self.state.passes}
        for start, end, path in (*layout.arrows, ("reply", "final", layout.leave)):
            times = passes.get((start, end), 0)
            if times > 1 and layout.has_facts and not path.isEmpty():
                self._paint_times(painter, layout, start, path, times)
        if layout.lanes:
            self._paint_lanes(painter, layout)
            for row, box in layout.lanes.items():
                self._paint_marks(painter, "action", box, is_stop=row in self.state.lane_breaks)
        if not compact:
            self._paint_iteration(painter, layout)
            self._paint_notes(painter, layout)

    def _paint_notes(self, painter: QPainter, layout: DiagramLayout) -> None:
        """Paint the notes below a node: retries, repairs and the user's edits."""
        font = small_font(self.font)
        metrics = QFontMetricsF(font)
        painter.setFont(font)
        for node, words in self.state.notes:
            box = layout.nodes.get(node)
            if box is None or box.height() <= 36:
                continue
            # The exit path goes down from the center of Reply: its note is to the left.
            is_left = node == "reply" and not layout.leave.isEmpty()
            room = box.width() / 2 - 6 if is_left else box.width() + 12
            shown = metrics.elidedText(words, Qt.TextElideMode.ElideRight, max(room, 40.0))
            pill = QRectF(0, 0, metrics.horizontalAdvance(shown) + 8, metrics.height() - 1)
            pill.moveCenter(QPointF(box.center().x(), box.bottom() + pill.height() / 2 + 1))
            if is_left:
                pill.moveRight(box.center().x() - 4)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(blend(self.theme.accent, self.theme.window, 0.14)))
            painter.drawRoundedRect(pill, 5, 5)
            painter.setPen(QColor(self.theme.accent))
            painter.drawText(pill, Qt.AlignmentFlag.AlignCenter, shown)

    def _paint_links(self, painter: QPainter, layout: DiagramLayout) -> None:
        taken = {(start, end): times for start, end, times in self.state.passes}
        quiet = blend(self.theme.muted, self.theme.window, 0.45)
        ways = [*layout.arrows]
        if not layout.loop.isEmpty():
            ways.append(("observation", "prompt", layout.loop))
        if not layout.leave.isEmpty():
            ways.append(("reply", "final", layout.leave))
        for start, end, path in ways:
            times = taken.get((start, end), 0)
            color = self.theme.accent if times else quiet
            self._stroke(painter, path, QColor(color), times > 0)

    def _paint_times(
        self, painter: QPainter, layout: DiagramLayout, start: Node, path: QPainterPath, times: int
    ) -> None:
        """Paint the number of passes above an arrow, or above the row of nodes if it is wider."""
        font = small_font(self.font)
        painter.setFont(font)
        painter.setPen(QColor(self.theme.accent))
        metrics = QFontMetricsF(font)
        text = f"×{times}"
        box = QRectF(0, 0, metrics.horizontalAdvance(text) + 2, metrics.height())
        middle = path.boundingRect()
        box.moveCenter(QPointF(middle.center().x(), middle.top() - metrics.height() / 2 - 1))
        if box.width() > middle.width() + 2:
            box.moveBottom(layout.nodes[start].top() + 1)
            from_label = abs(box.center().x() - layout.loop_label.x())
            if not layout.loop.isEmpty() and from_label < _BESIDE_LABEL:
                return  # the number of the iteration is there and says nearly the same
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

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
        radius = 8.0 if box.height() > 36 else box.height() / 2
        if node == self.state.live and not self.state.is_past and self.state.phase == "paused":
            painter.setPen(QPen(QColor(self.theme.selection), 4))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)
        painter.setPen(QPen(edge, width))
        painter.setBrush(fill)
        painter.drawRoundedRect(box, radius, radius)
        painter.setPen(ink)
        painter.setFont(node_font(self.font))
        fact = dict(self.state.facts).get(node, "")
        has_two = box.height() > 36 and bool(fact)
        if has_two:
            line = box.adjusted(4, 5, -4, 0)
            line.setHeight((box.height() - 10) / 2)
            painter.drawText(line, Qt.AlignmentFlag.AlignCenter, self._fit(painter, node, line))
            line.translate(0, line.height())
            self._paint_fact(painter, node, line, fact)
        else:
            painter.drawText(box, Qt.AlignmentFlag.AlignCenter, self._fit(painter, node, box))
        self._paint_marks(painter, node, box)
        if node == self.focused:
            painter.setPen(QPen(QColor(self.theme.accent), 1.5, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-3, -3, 3, 3), radius + 3, radius + 3)

    def _paint_marks(
        self, painter: QPainter, node: Node, box: QRectF, *, is_stop: bool = False
    ) -> None:
        """Paint a red disc for a breakpoint, or an amber diamond for a log point."""
        if is_stop or node in self.state.breakpoints:
            painter.setPen(QPen(QColor(self.theme.surface), 1.5))
            painter.setBrush(QColor(self.theme.error))
            painter.drawEllipse(QPointF(box.left() + 6, box.top()), 4.5, 4.5)
        if node in self.state.log_points:
            painter.setPen(QPen(QColor(self.theme.surface), 1.5))
            painter.setBrush(QColor(self.theme.warning))
            at = QPointF(box.left() + 20, box.top() - 1)
            painter.drawPolygon(
                [at + QPointF(*each) for each in ((0, -5.5), (5.5, 0), (0, 5.5), (-5.5, 0))]
            )

    def _fit(self, painter: QPainter, node: Node, box: QRectF) -> str:
        metrics = QFontMetricsF(painter.font())
        name = label_of(node)
        if node == "observation" and self.state.lanes:
            name = tr("Results")
        return metrics.elidedText(name, Qt.TextElideMode.ElideRight, box.width() - 4)

    def _paint_fact(self, painter: QPainter, node: Node, box: QRectF, fact: str) -> None:
        """Paint a node's second line: its cost, or the tool's name in a fixed-pitch font."""
        is_live = node == self.state.live and not self.state.is_past
        font = fixed_font(small_font(self.font)) if node == "tool" else small_font(self.font)
        painter.setFont(font)
        if node in self.state.failed and not is_live:
            painter.setPen(QColor(self.theme.error))
        elif not is_live:
            painter.setPen(QColor(self.theme.muted))
        metrics = QFontMetricsF(font)
        texts = (fact, fact.partition(" · ")[0], fact.partition(" tok")[0])
        fits = (text for text in texts if metrics.horizontalAdvance(text) <= box.width())
        elided = metrics.elidedText(fact, Qt.TextElideMode.ElideRight, box.width())
        shown = elided if node == "tool" else next(fits, elided)
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, shown)

    def _colors(self, node: Node) -> tuple[QColor, QColor, QColor, float]:
        """Return the fill color, edge color, text color and edge width of a node."""
        theme, state = self.theme, self.state
        if node == state.live:
            tone = {
                "error": theme.error,
                "done": theme.success,
                "stopped": theme.muted,
                "incomplete": theme.warning,
            }.get(state.phase, theme.accent)
            color = QColor(tone)
            if state.is_past:
                # Selected but not current: background of a selected row, with an edge in the accent
                # color.
                return QColor(theme.selection), color, QColor(theme.text), _PULSE_PEN
            ink = QColor(theme.surface if theme.name == "light" else theme.on_accent)
            return color, color, ink, 1.0
        if node in state.visited:
            tone = theme.error if node in state.failed else theme.accent
            soft = QColor(blend(tone, theme.surface, 0.10))
            return soft, QColor(blend(tone, theme.surface, 0.7)), QColor(theme.text), 1.0
        return QColor(theme.surface), QColor(theme.border), QColor(theme.muted), 1.0

    def _paint_iteration(self, painter: QPainter, layout: DiagramLayout) -> None:
        state, theme = self.state, self.theme
        if layout.loop.isEmpty():
            return
        font = small_font(self.font)
        painter.setFont(font)
        metrics = QFontMetricsF(font)
        text = tr("next iteration")
        if state.iteration:
            text = (
                tr("iteration {number}")
                if state.max_iterations is None
                else tr("iteration {number} of {most}")
            ).format(number=state.iteration, most=state.max_iterations)
        width = metrics.horizontalAdvance(text) + 16
        box = QRectF(layout.loop_label.x() - width / 2, layout.loop_label.y() - 8, width, 16)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme.window))
        painter.drawRect(box)
        painter.setPen(QColor(theme.text if state.iteration else theme.muted))
        painter.drawText(box, Qt.AlignmentFlag.AlignCenter, text)

    # The calls of one reply: a lane each, which is animated while its call runs.

    def _paint_lanes(self, painter: QPainter, layout: DiagramLayout) -> None:
        """Paint paths and lanes."""
        lanes = {lane.row: lane for lane in self.state.lanes}
        for row, into, out in layout.fans:
            self._paint_ways(painter, lanes[row], into, out)
        for row, box in layout.lanes.items():
            self._paint_lane(painter, lanes[row], box)
        if not layout.more.isEmpty():
            left = len(lanes) - len(layout.lanes)
            words = tr("{count} more").format(count=left)
            painter.setFont(small_font(self.font))
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
        self._paint_lane_texts(painter, lane, box, words, ink if is_running else QColor(tone))
        if lane.row == self.lane:
            painter.setPen(QPen(QColor(theme.accent), 1.5, Qt.PenStyle.DotLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
            painter.drawRoundedRect(box.adjusted(-2, -2, 2, 2), 8, 8)

    def _paint_lane_texts(
        self, painter: QPainter, lane: Lane, box: QRectF, words: str, tone: QColor
    ) -> None:
        inner, small = box.adjusted(24, 0, -8, 0), small_font(self.font)
        painter.setFont(small)
        painter.setPen(tone)
        middle = Qt.AlignmentFlag.AlignVCenter
        painter.drawText(inner, middle | Qt.AlignmentFlag.AlignRight, words)
        inner.setWidth(inner.width() - QFontMetricsF(small).horizontalAdvance(words) - 8)
        font = fixed_font(small)
        name = QFontMetricsF(font).elidedText(
            lane.tool, Qt.TextElideMode.ElideRight, max(0.0, inner.width())
        )
        painter.setFont(font)
        painter.setPen(tone if lane.phase == "running" else QColor(self.theme.text))
        painter.drawText(inner, middle, name)

    def _paint_sign(self, painter: QPainter, lane: Lane, at: QPointF, color: QColor) -> None:
        """Paint a symbol with a distinct shape and color: check, play, pause, cross or ring."""
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


def node_font(font: QFont) -> QFont:
    """Return the font of the nodes."""
    made = QFont(font)
    made.setWeight(QFont.Weight.Medium)
    return made


def _arrow_head(painter: QPainter, before: QPointF, tip: QPointF, color: QColor) -> None:
    """Paint a small filled triangle at `tip`, pointing away from `before`."""
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
    """Return the label of a node."""
    return tr(_LABELS[node])


def tip_of(node: Node) -> str:
    """Describe a node in one sentence."""
    return tr(_TIPS[node])
