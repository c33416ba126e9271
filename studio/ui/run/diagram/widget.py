"""The loop diagram: one painted strip that lights the node where a run stands."""

from __future__ import annotations

from functools import partial

from PySide6.QtCore import QEvent, QPointF, QSize, Qt, Signal
from PySide6.QtGui import (
    QAccessible,
    QAccessibleEvent,
    QContextMenuEvent,
    QFocusEvent,
    QFontMetricsF,
    QHelpEvent,
    QKeyEvent,
    QMouseEvent,
    QPainter,
    QPaintEvent,
)
from PySide6.QtWidgets import QMenu, QSizePolicy, QToolTip, QWidget

from studio.application.run.diagram import NODES, PLACE_OF_NODE, DiagramState, Node
from studio.ui.parts.own_keys import OwnKeys
from studio.ui.run.diagram.layout import DiagramLayout, height_of, lay_out, lay_out_with_facts
from studio.ui.run.diagram.painter import DiagramDrawing, label_of, node_font, tip_of
from studio.ui.style.icons import icon
from studio.ui.style.theme import LIGHT, Theme

_COMPACT_REACH = 7.0


class LoopDiagram(QWidget):
    """Prompt → Model → Reply → Action → Tool → Observation and back; Final → Done leaves it."""

    break_toggled = Signal(str)  # place whose breakpoint was clicked
    request_run_to = Signal(str)  # place that the run should go on to
    node_chosen = Signal(str)  # node whose inspector tab is wanted

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._state = DiagramState()
        self._theme = LIGHT
        self._layout: DiagramLayout | None = None
        self._compact = False
        self._focused: Node = "prompt"
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setMouseTracking(True)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Maximum)
        self.setAccessibleName(self.tr("Loop diagram"))
        OwnKeys(self, {"F9": self._on_break_key, "Ctrl+F10": self._on_run_key})

    @property
    def state(self) -> DiagramState:
        """What is shown."""
        return self._state

    def show_state(self, state: DiagramState) -> None:
        """Light the node of `state`."""
        if state == self._state:
            return
        spoken = state.sentence != self._state.sentence
        if state.nodes != self._state.nodes:
            self._layout = None
            self.updateGeometry()
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
        """Wide, and as high as its nodes with the ways above and below."""
        if self._compact:
            return QSize(960, self.minimumSizeHint().height())
        text = QFontMetricsF(self.font()).height()
        return QSize(960, round(height_of(text, self._state.nodes)))

    def minimumSizeHint(self) -> QSize:
        """Narrower than this the labels no longer fit; lower, nothing of it would be left."""
        text = QFontMetricsF(self.font()).height()
        return QSize(420, round(text + 10 + 2 * (_COMPACT_REACH + 4)))

    # Painting -------------------------------------------------------------------------------------

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint arcs, arrows and nodes."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        focused = self._focused if self.hasFocus() else None
        drawing = DiagramDrawing(self._state, self._theme, self.font(), focused)
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
            metrics = QFontMetricsF(node_font(self.font()))
            widths = {node: metrics.horizontalAdvance(label_of(node)) for node in NODES}
            if self._compact:
                self._layout = lay_out(
                    size.width(), size.height(), widths, metrics.height(), _COMPACT_REACH
                )
            else:
                self._layout = lay_out_with_facts(
                    size.width(), size.height(), metrics.height(), self._state.nodes
                )
        return self._layout

    # Mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """A click shows a node's tab; a click with Ctrl sets its breakpoint."""
        node = self._node_at(event.position())
        if node is None or event.button() != Qt.MouseButton.LeftButton:
            return
        self._focused = node
        wants_break = bool(event.modifiers() & Qt.KeyboardModifier.ControlModifier)
        self._choose(node, wants_break)
        self.update()

    def contextMenuEvent(self, event: QContextMenuEvent) -> None:
        """Offer the breakpoint of a node, and to run to it."""
        by_key = event.reason() == QContextMenuEvent.Reason.Keyboard
        node = self._focused if by_key else self._node_at(QPointF(event.pos()))
        if node is None or node not in PLACE_OF_NODE:
            return
        self._focused = node
        menu = self.menu_of(node)
        box = self._lay_out().nodes[node].toRect()
        menu.exec(self.mapToGlobal(box.bottomLeft()) if by_key else event.globalPos())
        menu.deleteLater()

    def menu_of(self, node: Node) -> QMenu:
        """What can be done at a node where a run can stand."""
        menu = QMenu(self)
        held = node in self._state.breakpoints
        words = self.tr("Remove the breakpoint") if held else self.tr("Set a breakpoint")
        stop = menu.addAction(icon("circle-dot"), f"{words}\tF9")
        stop.triggered.connect(partial(self.break_toggled.emit, PLACE_OF_NODE[node]))
        run = menu.addAction(icon("skip-forward"), self.tr("Run to here") + self.tr("\tCtrl+F10"))
        run.triggered.connect(partial(self.request_run_to.emit, PLACE_OF_NODE[node]))
        return menu

    def mouseMoveEvent(self, event: QMouseEvent) -> None:
        """Show that nodes can be clicked."""
        over = self._node_at(event.position()) is not None
        self.setCursor(Qt.CursorShape.PointingHandCursor if over else Qt.CursorShape.ArrowCursor)

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Arrows move along the loop, Return shows the tab."""
        step = {Qt.Key.Key_Right: 1, Qt.Key.Key_Left: -1}.get(Qt.Key(event.key()), 0)
        if step:
            nodes = self._state.nodes
            at = nodes.index(self._focused) if self._focused in nodes else 0
            self._focused = nodes[(at + step) % len(nodes)]
            self.setAccessibleDescription(f"{label_of(self._focused)}: {tip_of(self._focused)}")
        elif event.key() in (Qt.Key.Key_Return, Qt.Key.Key_Enter, Qt.Key.Key_Space):
            self._choose(self._focused, wants_break=False)
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
            text = "" if node is None else tip_of(node)
            if node in PLACE_OF_NODE:
                text += self.tr("\nRight-click to stop here or to run to here.")
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

    def _node_at(self, point: QPointF) -> Node | None:
        boxes = self._lay_out().nodes
        return next((node for node, box in boxes.items() if box.contains(point)), None)
