"""The loop diagram: a painted strip that highlights the active node of a run."""

import time
from dataclasses import replace
from functools import partial

from PySide6 import QtGui
from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolTip, QWidget

from studio.application.run.diagram import NODES, PLACE_OF_NODE, DiagramState, Node
from studio.application.words import tr
from studio.ui.base.menus import ON_RUN, add_actions
from studio.ui.parts.kit import OwnKeys
from studio.ui.parts.painted_parts import PaintedPart, PaintedParts
from studio.ui.run.diagram.layout import (
    MOST_LANES,
    DiagramLayout,
    height_of,
    lay_out,
    lay_out_with_facts,
    lay_out_with_lanes,
)
from studio.ui.run.diagram.painter import DiagramDrawing, label_of, node_font, tip_of
from studio.ui.style.theme import icon, is_motion_reduced, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

_MOTION_MS = 33
_CLOCK_MS = 100
_CHOOSING = (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space)


def _drawn_rows(state: DiagramState) -> tuple[int, ...]:
    """Return the rows of calls with a lane: if there are many, those around the selected one."""
    rows = tuple(lane.row for lane in state.lanes)
    if len(rows) <= MOST_LANES:
        return rows
    shown = MOST_LANES - 1
    runs = next((lane.row for lane in state.lanes if lane.phase in ("running", "waits")), 0)
    middle = state.lane if state.lane is not None else runs
    first = max(0, min(rows.index(middle) - 1, len(rows) - shown))
    return rows[first : first + shown]


def _stations(state: DiagramState) -> tuple[Node, ...]:
    """Return the stops of the arrow keys: lanes replace Action and Tool."""
    return tuple(node for node in state.nodes if not (state.lanes and node == "tool"))


class LoopDiagram(QWidget):
    """Prompt → Model → Reply → Action → Tool → Observation and back; Final → Done ends it."""

    break_toggled = Signal(str)  # pause point whose breakpoint was clicked
    request_run_to = Signal(str)  # pause point to continue to
    node_chosen = Signal(str)  # node whose inspector tab is requested
    lane_chosen = Signal(int)  # row of the call whose lane was selected

    def __init__(self) -> None:
        super().__init__()
        self.state = DiagramState()
        """The shown state."""
        self._layout: DiagramLayout | None = None
        self._compact = False
        self._focused: Node = "prompt"
        self._lane: int | None = None
        """The lane with the focus, instead of a node."""
        self.clock = repeating_timer(self, self.update)
        """Timer for clocks, and for dots unless motion is reduced."""
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(tr("Loop diagram"))
        PaintedParts(self, self._parts)
        OwnKeys(self, {"F9": self._on_break_key, "Ctrl+F10": self._on_run_key})

    def show_state(self, state: DiagramState) -> None:
        """Show a state and highlight its node."""
        if state == self.state:
            return
        spoken = state.sentence != self.state.sentence
        if state.nodes != self.state.nodes:
            self._layout = None
            self.updateGeometry()
        if _drawn_rows(state) != _drawn_rows(self.state):
            self._layout, self._lane = None, None
        self.state = state
        self._run_clock()
        self.setAccessibleDescription(state.sentence)
        if spoken:
            QtGui.QAccessible.updateAccessibility(
                QtGui.QAccessibleEvent(self, QtGui.QAccessible.Event.DescriptionChanged)
            )
        self.update()

    def _parts(self) -> list[PaintedPart]:
        """Return the nodes and lanes, for screen readers."""
        state, places = self.state, self._lay_out()
        notes = dict(state.notes)
        parts = []
        for node in state.nodes:
            if node not in places.nodes:
                continue
            lines = [label_of(node), notes.get(node, "")]
            lines += [tr("the run is at this point")] if node == state.live else []
            lines += [tr("breakpoint")] if node in state.breakpoints else []
            name = ", ".join(filter(None, lines))
            parts.append(PaintedPart(name, places.nodes[node].toAlignedRect()))
        for lane in state.lanes:
            if lane.row in places.lanes:
                name = ", ".join(filter(None, (lane.tool, lane.words)))
                parts.append(PaintedPart(name, places.lanes[lane.row].toAlignedRect()))
        return parts

    def _run_clock(self) -> None:
        """Run the timer while several calls run; a single call has its time in the bar above."""
        runs = any(lane.phase == "running" for lane in self.state.lanes)
        if not runs or not self.isVisible():
            self.clock.stop()
            return
        self.clock.start(_CLOCK_MS if is_motion_reduced() else _MOTION_MS)

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Resume the animation."""
        super().showEvent(event)
        self._run_clock()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Stop the timer while hidden."""
        super().hideEvent(event)
        self.clock.stop()

    def set_compact(self, compact: bool) -> None:
        """Omit the labels of the two arcs if there is little height."""
        if compact != self._compact:
            self._compact = compact
            self._layout = None
            self.updateGeometry()
            self.update()

    def sizeHint(self) -> QSize:
        """Return a wide size, as high as the nodes with the paths above and below."""
        if self._compact:
            return QSize(960, self.minimumSizeHint().height())
        text = QtGui.QFontMetricsF(self.font()).height()
        return QSize(960, round(height_of(text, self.state.nodes)))

    def minimumSizeHint(self) -> QSize:
        """Return the smallest size in which the labels fit and the loop is recognizable."""
        text = QtGui.QFontMetricsF(self.font()).height()
        return QSize(420, round(text + 20))

    # Painting -------------------------------------------------------------------------------------

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint arcs, arrows and nodes."""
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        focused = self._focused if self.hasFocus() else None
        drawing = DiagramDrawing(
            self.state,
            theme_in_use(),
            self.font(),
            focused if self._lane is None else None,
            self._lane if self.hasFocus() else None,
            time.time(),
            not is_motion_reduced(),
        )
        drawing.paint(painter, self._lay_out(), compact=self._compact)

    def changeEvent(self, event: QEvent) -> None:
        """Lay out again when the font changes."""
        if event.type() == QEvent.Type.FontChange:
            self._layout = None
            self.updateGeometry()
        super().changeEvent(event)

    def _lay_out(self) -> DiagramLayout:
        size = self.size()
        if self._layout is None or self._layout.size != (size.width(), size.height()):
            metrics = QtGui.QFontMetricsF(node_font(self.font()))
            widths = {node: metrics.horizontalAdvance(label_of(node)) for node in NODES}
            if self._compact:
                row = lay_out(size.width(), size.height(), widths, metrics.height(), 0)
                self._layout = replace(row, loop=QtGui.QPainterPath(), leave=QtGui.QPainterPath())
            elif rows := _drawn_rows(self.state):
                self._layout = lay_out_with_lanes(
                    size.width(),
                    size.height(),
                    metrics.height(),
                    rows,
                    has_more=len(rows) < len(self.state.lanes),
                )
            else:
                self._layout = lay_out_with_facts(
                    size.width(), size.height(), widths, metrics.height(), self.state.nodes
                )
        return self._layout

    # Mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Show a node's tab on a click; toggle its breakpoint on a click with Ctrl."""
        if event.button() != Qt.MouseButton.LeftButton:
            return
        lane = self._lane_at(event.position())
        if lane is not None:
            self._lane = lane
            self.lane_chosen.emit(lane)
            self.update()
            return
        node = self._node_at(event.position())
        if node is None:
            return
        self._focused, self._lane = node, None
        wants_break = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        self._choose(node, wants_break)
        self.update()

    def contextMenuEvent(self, event: QtGui.QContextMenuEvent) -> None:
        """Show the menu of a node: its breakpoint, and run to it."""
        by_key = event.reason() == QtGui.QContextMenuEvent.Reason.Keyboard
        node = self._focused if by_key else self._node_at(QPointF(event.pos()))
        if node is None or node not in PLACE_OF_NODE:
            return
        self._focused = node
        menu = self.menu_of(node)
        box = self._lay_out().nodes[node].toRect()
        menu.exec(self.mapToGlobal(box.bottomLeft()) if by_key else event.globalPos())
        menu.deleteLater()

    def menu_of(self, node: Node) -> QMenu:
        """Build the menu of a node with a pause point."""
        menu = QMenu(self)
        held = node in self.state.breakpoints
        words = tr("Remove the breakpoint") if held else tr("Set a breakpoint")
        stop = menu.addAction(icon("circle-dot"), f"{words}\tF9")
        stop.triggered.connect(partial(self.break_toggled.emit, PLACE_OF_NODE[node]))
        run = menu.addAction(icon("skip-forward"), tr("Run to this point") + tr("\tCtrl+F10"))
        run.triggered.connect(partial(self.request_run_to.emit, PLACE_OF_NODE[node]))
        menu.addSeparator()
        add_actions(menu, self.window(), ON_RUN)
        return menu

    def mouseMoveEvent(self, event: QtGui.QMouseEvent) -> None:
        """Show the hand cursor over nodes."""
        at = event.position()
        over = self._node_at(at) is not None or self._lane_at(at) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Move along the loop with the arrow keys; show the tab on Return."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        down = {Qt.Key.Key_Down: 1, Qt.Key.Key_Up: -1}.get(Qt.Key(event.key()), 0)
        rows = _drawn_rows(self.state)
        if step:
            nodes = _stations(self.state)
            at = nodes.index(self._focused) if self._focused in nodes else 0
            self._focused, self._lane = nodes[(at + step) % len(nodes)], None
            if self._focused == "action" and rows:
                self._lane = rows[0]
            self._tell_focused()
        elif down and rows and self._lane is not None:
            self._lane = rows[(rows.index(self._lane) + down) % len(rows)]
            self._tell_focused()
        elif self._lane is not None and event.key() in _CHOOSING:
            self.lane_chosen.emit(self._lane)
        elif event.key() in _CHOOSING:
            self._choose(self._focused, wants_break=False)
        else:
            super().keyPressEvent(event)
            return
        self.update()

    def _tell_focused(self) -> None:
        """Notify screen readers of the focused part."""
        words = f"{label_of(self._focused)}: {tip_of(self._focused)}"
        if self._lane is not None:
            lane = next(each for each in self.state.lanes if each.row == self._lane)
            words = ", ".join(filter(None, (lane.tool, lane.words)))
        self.setAccessibleDescription(words)

    def focusInEvent(self, event: QtGui.QFocusEvent) -> None:
        """Start at the active node of the run."""
        self._focused = self.state.live or "prompt"
        super().focusInEvent(event)
        self.update()

    def event(self, event: QEvent) -> bool:
        """Show a tooltip for the node under the pointer."""
        if isinstance(event, QtGui.QHelpEvent) and event.type() == QEvent.Type.ToolTip:
            node = self._node_at(QPointF(event.pos()))
            text = "" if node is None else tip_of(node)
            notes = dict(self.state.notes)
            if node in notes:
                text += f"\n{notes[node]}"
            if node in PLACE_OF_NODE:
                text += tr("\nRight-click to set a breakpoint or to run to this point.")
            QToolTip.showText(event.globalPos(), text, self)
            return True
        return super().event(event)

    def _on_break_key(self) -> None:
        self._choose(self._focused, wants_break=True)

    def _on_run_key(self) -> None:
        if self._focused in PLACE_OF_NODE:
            self.request_run_to.emit(PLACE_OF_NODE[self._focused])

    def _choose(self, node: Node, wants_break: bool) -> None:
        if not wants_break:
            self.node_chosen.emit(node)
        elif node in PLACE_OF_NODE:
            self.break_toggled.emit(PLACE_OF_NODE[node])

    def _lane_at(self, point: QPointF) -> int | None:
        boxes = self._lay_out().lanes
        return next((row for row, box in boxes.items() if box.contains(point)), None)

    def _node_at(self, point: QPointF) -> Node | None:
        boxes = self._lay_out().nodes
        return next((node for node, box in boxes.items() if box.contains(point)), None)
