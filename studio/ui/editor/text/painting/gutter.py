"""The gutter left of the text: breakpoints, line numbers, problem marks and folds."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QMouseEvent, QPainter, QPaintEvent, QPolygonF, QTextBlock
from PySide6.QtWidgets import QWidget

from studio.application.words import tr
from studio.core.text.source import Severity
from studio.ui.style.theme import Theme, fill, icon, theme_in_use

if TYPE_CHECKING:
    from studio.application.document.revisions import LineChange
    from studio.core.prompty.document import PromptDocument
    from studio.ui.editor.text.prompt_view import PromptView

_CHANGE = 3
_MARKS = 18
_FOLDS = 16
_RUN_BAR = 3
_RIGHT = int((Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter).value)


class Breakpoints:
    """Breakpoints by name, which stay with their tool or message when lines move."""

    def __init__(self) -> None:
        self._tools: frozenset[str] = frozenset()
        self._messages: frozenset[str] = frozenset()

    def show(self, tools: frozenset[str], messages: frozenset[str]) -> None:
        """Set the tools and messages with breakpoints."""
        self._tools, self._messages = tools, messages

    def lines(self, document: PromptDocument | None) -> frozenset[int]:
        """Return the lines, from 0, where tools and messages with breakpoints start."""
        if document is None or not (self._tools or self._messages):
            return frozenset()
        # The modules of the format are loaded with the first breakpoint, not with the window.
        from studio.core.prompty.document import named_messages

        line_of = document.source.line_of
        tools = {
            line_of(tool.span.start)
            for tool in document.tools
            if tool.span is not None and tool.name in self._tools
        }
        messages = {
            line_of(section.span.start)
            for name, section in named_messages(document)
            if name in self._messages
        }
        return frozenset(tools | messages)


class Gutter(QWidget):
    """The strip beside the editor's lines, where a click toggles a breakpoint or a fold."""

    request_breakpoint = Signal(int)  # line, from 0, whose breakpoint is toggled
    request_fixes = Signal(int)  # line, from 0, whose light bulb was clicked

    def __init__(self, editor: PromptView, breakpoints: Callable[[], frozenset[int]]) -> None:
        """Make it.

        Args:
            editor: the editor.
            breakpoints: returns the lines, from 0, with breakpoints.
        """
        super().__init__(editor)
        self._editor = editor
        self._breakpoints = breakpoints
        self._severities: Mapping[int, Severity] = {}
        self._fixable: frozenset[int] = frozenset()
        self.changes: Mapping[int, LineChange] = {}
        """Changed lines since the shown run, or without one, since the last commit."""
        self._run: frozenset[int] = frozenset()
        self.setMouseTracking(True)
        self.setCursor(Qt.CursorShape.ArrowCursor)
        self.setAccessibleName(tr("Editor gutter: breakpoints, line numbers and folds"))

    def set_marks(
        self, severities: Mapping[int, Severity], fixable: frozenset[int] = frozenset()
    ) -> None:
        """Set the worst severity of each line, and the lines with fixes; lines from 0."""
        self._severities, self._fixable = severities, fixable
        self.update()

    def set_run(self, lines: frozenset[int]) -> None:
        """Show a bar beside the lines of the run cursor; lines from 0."""
        if lines != self._run:
            self._run = lines
            self.update()

    def set_changes(self, changes: Mapping[int, LineChange]) -> None:
        """Set the lines, from 0, that changed since the shown run or the last commit."""
        if changes != self.changes:
            self.changes = dict(changes)
            self.update()

    def needed_width(self) -> int:
        """Return the width of the marks and the largest line number."""
        digits = max(3, len(str(self._editor.blockCount())))
        return _MARKS + _FOLDS + 4 + digits * self._editor.fontMetrics().horizontalAdvance("9")

    def sizeHint(self) -> QSize:
        """Return the needed width."""
        return QSize(self.needed_width(), 0)

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the lines that are visible."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = theme_in_use()
        fill(painter, QRectF(event.rect()), theme.surface)
        painter.setFont(self._editor.font())
        caret = self._editor.textCursor().blockNumber()
        breakpoints = self._breakpoints()
        text_height = float(self._editor.fontMetrics().height()) + 2
        # A key changes one line: the other lines need no repaint.
        for block, top, height in self._editor.visible_blocks(event.rect()):
            line = block.blockNumber()
            self._paint_line(
                painter,
                theme,
                line,
                top,
                height,
                min(height, text_height),
                is_caret=line == caret,
                stops=line in breakpoints,
            )
        painter.end()

    def update_line(self, block: QTextBlock) -> None:
        """Repaint one line."""
        geometry = self._editor.geometry_of(block)
        self.update(0, int(geometry.top()), self.width(), int(geometry.height()) + 2)

    def _paint_line(
        self,
        painter: QPainter,
        theme: Theme,
        line: int,
        top: float,
        height: float,
        row: float,
        *,
        is_caret: bool,
        stops: bool,
    ) -> None:
        if is_caret:
            fill(painter, QRectF(0, top, self.width(), height), theme.current_line)
        if line in self._run:
            fill(painter, QRectF(0, top, _RUN_BAR, height), theme.accent)
        change = self.changes.get(line)
        if change is not None:
            self._paint_change(painter, change, top, height)
        severity = self._severities.get(line)
        if stops:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(QColor(theme.error))
            painter.drawEllipse(QPointF(_MARKS / 2, top + row / 2), 5.0, 5.0)
        elif is_caret and line in self._fixable:
            self._paint_bulb(painter, top + row / 2)
        elif severity is not None:
            self._paint_severity(painter, severity, top + row / 2)
        painter.setPen(QColor(theme.text if is_caret else theme.muted))
        numbers = QRectF(0, top, self.width() - _FOLDS - 2, row)
        painter.drawText(numbers, _RIGHT, str(line + 1))
        if line in self._editor.folding.folds:
            self._paint_fold(painter, top + row / 2, closed=self._editor.folding.is_closed(line))

    def _paint_change(
        self, painter: QPainter, change: LineChange, top: float, height: float
    ) -> None:
        """Paint a bar at the left edge, or a wedge where lines were removed."""
        accent = theme_in_use().accent
        painter.setPen(Qt.PenStyle.NoPen)
        if change == "removed":
            painter.setBrush(QColor(accent))
            corners = (QPointF(0, top - 4), QPointF(5, top), QPointF(0, top + 4))
            painter.drawPolygon(QPolygonF(list(corners)))
            return
        fill(painter, QRectF(0, top, _CHANGE, height), accent)

    def _paint_bulb(self, painter: QPainter, middle: float) -> None:
        """Paint a light bulb for a fix on the caret's line."""
        bulb = icon("lightbulb", "warning").pixmap(QSize(16, 16))
        painter.drawPixmap(QPointF(_MARKS / 2 - 8, middle - 8), bulb)

    def _paint_severity(self, painter: QPainter, severity: Severity, middle: float) -> None:
        """Paint a different shape for each severity, so that color is not the only sign."""
        theme = theme_in_use()
        color = {
            Severity.ERROR: theme.error,
            Severity.WARNING: theme.warning,
            Severity.HINT: theme.hint,
        }[severity]
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(color))
        x = _MARKS / 2
        if severity == Severity.ERROR:
            painter.drawRoundedRect(QRectF(x - 3.5, middle - 3.5, 7, 7), 1.5, 1.5)
        elif severity == Severity.WARNING:
            painter.drawPolygon(
                QPolygonF(
                    [
                        QPointF(x, middle - 4),
                        QPointF(x + 4.5, middle + 4),
                        QPointF(x - 4.5, middle + 4),
                    ]
                )
            )
        else:
            painter.drawEllipse(QPointF(x, middle), 2.5, 2.5)

    def _paint_fold(self, painter: QPainter, middle: float, *, closed: bool) -> None:
        theme = theme_in_use()
        x = self.width() - _FOLDS / 2 - 1
        pen = painter.pen()
        pen.setColor(QColor(theme.accent if closed else theme.muted))
        pen.setWidthF(1.4)
        painter.setPen(pen)
        points = (
            [QPointF(x - 2, middle - 4), QPointF(x + 2, middle), QPointF(x - 2, middle + 4)]
            if closed
            else [QPointF(x - 4, middle - 2), QPointF(x, middle + 2), QPointF(x + 4, middle - 2)]
        )
        painter.drawPolyline(QPolygonF(points))

    def mousePressEvent(self, event: QMouseEvent) -> None:
        """Toggle a breakpoint left of the numbers, or a fold right of them."""
        line = self._editor.line_at(event.position().y())
        if line is None or event.button() != Qt.MouseButton.LeftButton:
            return
        folds = self._editor.folding.folds
        if event.position().x() >= self.width() - _FOLDS - 2 and line in folds:
            self._editor.toggle_fold(line)
        elif (
            event.position().x() < _MARKS
            and line in self._fixable
            and line == self._editor.textCursor().blockNumber()
        ):
            self.request_fixes.emit(line)
        elif event.position().x() < self.width() - _FOLDS:
            self.request_breakpoint.emit(line)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Accept the end of a click here, so that the text does not receive it."""
        event.accept()
