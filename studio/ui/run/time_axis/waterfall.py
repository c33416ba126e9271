"""The waterfall: an iteration on a time axis, with a row for the reply and for each call."""

import time

from PySide6 import QtGui
from PySide6.QtCore import QPointF, QRectF, QSize, Qt, Signal
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.application.run.waterfall import BarTone, Waterfall, WaterfallBar, WaterfallRow
from studio.application.words import tr
from studio.core.text.amounts import duration
from studio.ui.style.theme import blend, paint_focus, small_font, theme_in_use
from studio.viewmodels.app.jobs import repeating_timer

_AXIS = 22.0
_MOST_ROWS = 5
_LEFT, _RIGHT = 190.0, 72.0
_NARROW = 760
_TICK_MS = 100
_STEPS = (0.001, 0.002, 0.005)
"""Distances of the axis marks in seconds, also multiplied by powers of ten."""


def axis_step(span: float, most: int) -> float:
    """Return the distance of marks, so that an axis has at most a given number.

    Args:
        span: length of the axis in seconds.
        most: maximum number of marks.
    """
    factor = 1.0
    while True:
        for each in _STEPS:
            if span / (each * factor) <= max(1, most):
                return each * factor
        factor *= 10.0


class WaterfallView(QWidget):
    """Paints a `Waterfall`; its rows are selected like cards."""

    row_chosen = Signal(int, object)  # number of the step; row of the call, None for the reply

    def __init__(self) -> None:
        super().__init__()
        self.shown = Waterfall()
        """The shown iteration."""
        self._call: int | None = None
        self._first = 0
        self._clock = repeating_timer(self, self.update, _TICK_MS)
        self.setFocusPolicy(Qt.FocusPolicy.StrongFocus)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        self.setAccessibleName(tr("This iteration in time"))

    def show_waterfall(self, shown: Waterfall, call: int | None) -> None:
        """Show an iteration.

        Args:
            shown: the iteration.
            call: row of the selected call; None for the reply.
        """
        rows = len(self.shown.rows)
        self.shown, self._call = shown, call
        self.setAccessibleDescription(shown.words)
        if len(shown.rows) != rows:
            self._first = 0
            self.updateGeometry()
        at = self._current()
        self._first = max(at - _MOST_ROWS + 1, min(self._first, at), 0)
        self._run_clock()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the height of up to five rows."""
        rows = max(1, min(_MOST_ROWS, len(self.shown.rows)))
        return QSize(640, round(_AXIS + rows * self._row_height() + 6))

    def minimumSizeHint(self) -> QSize:
        """Return the full height, with a short axis."""
        return QSize(360, self.sizeHint().height())

    def box_of(self, at: int) -> QRectF:
        """Return the rectangle of a row."""
        height = self._row_height()
        return QRectF(0, _AXIS + (at - self._first) * height, self.width(), height)

    def _row_height(self) -> float:
        return self.fontMetrics().height() + 10.0

    def _current(self) -> int:
        rows = self.shown.rows
        return next((at for at, row in enumerate(rows) if row.call == self._call), 0)

    def _run_clock(self) -> None:
        if self.shown.is_moving and self.isVisible():
            self._clock.start()
        else:
            self._clock.stop()

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Resume the animation."""
        super().showEvent(event)
        self._run_clock()

    def hideEvent(self, event: QtGui.QHideEvent) -> None:
        """Stop the timer while hidden."""
        super().hideEvent(event)
        self._clock.stop()

    # Painting -------------------------------------------------------------------------------------

    def paintEvent(self, event: QtGui.QPaintEvent) -> None:
        """Paint the axis, rows, bars and the current time."""
        theme = theme_in_use()
        painter = QtGui.QPainter(self)
        painter.setRenderHint(QtGui.QPainter.RenderHint.Antialiasing)
        painter.fillRect(self.rect(), QtGui.QColor(theme.window))
        now = time.time()
        span = max(self.shown.span(now), 0.001) * 1.08
        self._paint_axis(painter, span)
        rows = self.shown.rows
        for at in range(self._first, min(len(rows), self._first + _MOST_ROWS)):
            self._paint_row(painter, rows[at], self.box_of(at), span, now)
        if self.shown.is_moving:
            x = self._x(now - self.shown.began, span)
            painter.setPen(QtGui.QPen(QtGui.QColor(theme.accent), 1.5))
            painter.drawLine(QPointF(x, _AXIS - 4), QPointF(x, self.height() - 4))
        if self.hasFocus():
            paint_focus(painter, self.rect())

    def _names_width(self) -> float:
        return _LEFT if self.width() >= _NARROW else 132.0

    def _x(self, at: float, span: float) -> float:
        left = self._names_width()
        return left + (self.width() - left - _RIGHT) * at / span

    def _paint_axis(self, painter: QtGui.QPainter, span: float) -> None:
        theme = theme_in_use()
        painter.setFont(small_font(self.font()))
        room = self.width() - self._names_width() - _RIGHT
        step = axis_step(span, int(room / 64))
        painter.setPen(QtGui.QColor(theme.muted))
        line = QtGui.QColor(blend(theme.border, theme.window, 0.7))
        at = 0.0
        while at <= span:
            x = round(self._x(at, span)) + 0.5
            painter.setPen(line)
            painter.drawLine(QPointF(x, _AXIS - 2), QPointF(x, self.height() - 4))
            painter.setPen(QtGui.QColor(theme.muted))
            in_seconds = step >= 0.1 or not at
            words = f"{at:g} s" if in_seconds else f"{round(at * 1000):,} ms"
            label = QRectF(x - 32, 2, 64, _AXIS - 4)
            painter.drawText(label, Qt.AlignmentFlag.AlignCenter, words)
            at = round(at + step, 6)

    def _paint_row(
        self, painter: QtGui.QPainter, row: WaterfallRow, box: QRectF, span: float, now: float
    ) -> None:
        theme = theme_in_use()
        if row.call == self._call:
            painter.fillRect(box, QtGui.QColor(theme.selection))
            painter.fillRect(QRectF(0, box.top(), 3, box.height()), QtGui.QColor(theme.accent))
        self._paint_names(painter, row, box)
        font = small_font(self.font())
        painter.setFont(font)
        end = self._x(0, span)
        for bar in row.bars:
            end = self._paint_bar(painter, bar, box, span, now)
        painter.setPen(QtGui.QColor(self._ink(row)))
        tail = QRectF(end + 8, box.top(), self.width() - _RIGHT - end - 8, box.height())
        words = QtGui.QFontMetricsF(font).elidedText(
            row.tail, Qt.TextElideMode.ElideRight, max(0.0, tail.width())
        )
        painter.drawText(tail, Qt.AlignmentFlag.AlignVCenter, words)
        going = next((bar for bar in row.bars if bar.end is None), None)
        total = row.total
        if going is not None:
            total = duration(max(0.0, now - self.shown.began - going.begin))
        painter.setPen(QtGui.QColor(theme.text))
        right = QRectF(self.width() - _RIGHT, box.top(), _RIGHT - 16, box.height())
        at = Qt.AlignmentFlag.AlignVCenter | Qt.AlignmentFlag.AlignRight
        painter.drawText(right, at, total)

    def _ink(self, row: WaterfallRow) -> str:
        theme = theme_in_use()
        tones = {bar.tone for bar in row.bars}
        if "failed" in tones:
            return theme.error
        return theme.warning if "held" in tones else theme.muted

    def _paint_names(self, painter: QtGui.QPainter, row: WaterfallRow, box: QRectF) -> None:
        theme = theme_in_use()
        width = self._names_width() - 24
        metrics = QtGui.QFontMetricsF(self.font())
        painter.setFont(self.font())
        painter.setPen(QtGui.QColor(theme.text))
        name = metrics.elidedText(row.title, Qt.TextElideMode.ElideRight, width)
        place = QRectF(16, box.top(), width, box.height())
        painter.drawText(place, Qt.AlignmentFlag.AlignVCenter, name)
        used = metrics.horizontalAdvance(name) + 8
        font = small_font(self.font())
        detail = QtGui.QFontMetricsF(font).elidedText(
            row.detail, Qt.TextElideMode.ElideRight, max(0.0, width - used)
        )
        painter.setFont(font)
        is_chosen = row.call == self._call
        painter.setPen(QtGui.QColor(theme.text if is_chosen else theme.muted))
        painter.drawText(place.adjusted(used, 0, 0, 0), Qt.AlignmentFlag.AlignVCenter, detail)

    def _paint_bar(
        self, painter: QtGui.QPainter, bar: WaterfallBar, box: QRectF, span: float, now: float
    ) -> float:
        """Paint a bar and return the position of its end."""
        theme = theme_in_use()
        tones: dict[BarTone, str] = {
            "wait": blend(theme.muted, theme.window, 0.4),
            "model": theme.roles["assistant"],
            "tool": theme.roles["tool"],
            "failed": theme.error,
            "held": theme.warning,
        }
        begin = self._x(bar.begin, span)
        close = self._x(now - self.shown.began if bar.end is None else bar.end, span)
        height = min(14.0, box.height() - 10)
        place = QRectF(begin, box.center().y() - height / 2, max(2.0, close - begin), height)
        color = QtGui.QColor(tones[bar.tone])
        if bar.tone == "held":
            painter.setPen(QtGui.QPen(color, 1.2, Qt.PenStyle.DashLine))
            painter.setBrush(Qt.BrushStyle.NoBrush)
        else:
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
        painter.drawRoundedRect(place, 3, 3)
        return place.right()

    # Mouse and keys -------------------------------------------------------------------------------

    def mousePressEvent(self, event: QtGui.QMouseEvent) -> None:
        """Go to the card of the clicked row."""
        rows = range(len(self.shown.rows))
        at = next((at for at in rows if self.box_of(at).contains(event.position())), -1)
        if at >= 0 and event.position().y() > _AXIS:
            self._choose(at)

    def wheelEvent(self, event: QtGui.QWheelEvent) -> None:
        """Scroll if not all rows fit."""
        most = max(0, len(self.shown.rows) - _MOST_ROWS)
        by = -1 if event.angleDelta().y() > 0 else 1
        self._first = max(0, min(most, self._first + by))
        self.update()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Move through the rows on Up and Down."""
        by = {Qt.Key.Key_Up: -1, Qt.Key.Key_Down: 1}.get(Qt.Key(event.key()), 0)
        if not by:
            super().keyPressEvent(event)
            return
        at = self._current() + by
        if 0 <= at < len(self.shown.rows):
            self._choose(at)

    def _choose(self, at: int) -> None:
        self.row_chosen.emit(self.shown.step, self.shown.rows[at].call)
