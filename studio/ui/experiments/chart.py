"""The charts of a result, painted by hand: bars with intervals, and scatter plots."""

from PySide6.QtCore import QPointF, QRect, QRectF, QSize, QSizeF, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.application.experiments.charts import ChartFigure, ChartLine, ChartPoint
from studio.application.experiments.run.spending import short_number
from studio.core.text.amounts import duration
from studio.ui.parts.painted_parts import PaintedPart, PaintedParts
from studio.ui.style.theme import theme_in_use

_LINE = 24
_HEAD = 22
_FOOT = 20
_NAME = 0.28
_PLANE = 150
_WORDS = 14
_TICKS = 5
_APART = 56
"""Minimum pixels between two tick labels."""


class ExperimentChart(QWidget):
    """Paints one figure."""

    def __init__(self) -> None:
        super().__init__()
        self._figure = ChartFigure("")
        PaintedParts(self, self._parts)
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def show_figure(self, figure: ChartFigure) -> None:
        """Show a figure."""
        self._figure = figure
        self.setAccessibleName(figure.title)
        self.setAccessibleDescription(figure.words)
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """Return the size for a line for each bar, a title and an axis."""
        height = _LINE * max(1, len(self._figure.lines)) if not self._figure.points else _PLANE
        return QSize(360, _HEAD + _FOOT + height)

    def minimumSizeHint(self) -> QSize:
        """Return a narrow size, which is sufficient."""
        return QSize(220, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Paint the title, the axis, the bars or points, and the values."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(QColor(theme_in_use().muted))
        painter.drawText(
            QRectF(0, 0, self.width(), _HEAD - 4),
            int(Qt.AlignmentFlag.AlignLeft),
            self._figure.title,
        )
        if self._figure.points:
            self._paint_plane(painter)
        else:
            self._paint_lines(painter)

    def _parts(self) -> list[PaintedPart]:
        """Return the bars or points with their values, for screen readers."""
        figure = self._figure
        if figure.points:
            return [
                PaintedPart(
                    f"{each.name}: {each.words}",
                    QRectF(self._place_of(each) - QPointF(5, 5), QSizeF(10, 10)).toAlignedRect(),
                )
                for each in figure.points
            ]
        return [
            PaintedPart(
                f"{each.name}: {each.words}", QRect(0, _HEAD + _LINE * at, self.width(), _LINE)
            )
            for at, each in enumerate(figure.lines)
        ]

    def _place_of(self, point: ChartPoint) -> QPointF:
        left, right = 44.0, self.width() - 90.0
        top, bottom = _HEAD + 4.0, self.height() - _FOOT - 4.0
        x = left + (right - left) * min(1.0, point.x / self._figure.most)
        return QPointF(x, bottom + (top - bottom) * point.y)

    # -- bars -----------------------------------------------------------------------------------

    def _paint_lines(self, painter: QPainter) -> None:
        left, right = self.width() * _NAME, self.width() - 56.0
        self._paint_axis(painter, left, right)
        for at, each in enumerate(self._figure.lines):
            self._paint_line(painter, each, _HEAD + _LINE * at + _LINE / 2, left, right)

    def _paint_line(
        self, painter: QPainter, each: ChartLine, y: float, left: float, right: float
    ) -> None:
        theme, most = theme_in_use(), self._figure.most
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        color = QColor(theme.muted if each.is_muted else theme.accent)
        left_middle = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        painter.setPen(QColor(theme.text))
        painter.setFont(self.font() if each.is_muted else bold)
        name = painter.fontMetrics().elidedText(
            each.name, Qt.TextElideMode.ElideRight, int(left) - 14
        )
        painter.drawText(QRectF(0, y - _LINE / 2, left - 10, _LINE), left_middle, name)
        low, x, high = (
            left + (right - left) * min(1.0, value / most)
            for value in (each.low, each.value, each.high)
        )
        painter.setPen(QPen(color, 1.6))
        painter.drawLine(int(low), int(y), int(high), int(y))
        for end in (low, high):
            painter.drawLine(int(end), int(y) - 5, int(end), int(y) + 5)
        painter.setBrush(color)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.drawEllipse(QRectF(x - 5, y - 5, 10, 10))
        painter.setPen(QColor(theme.text))
        figures = QRectF(right + 8, y - _LINE / 2, 48, _LINE)
        painter.drawText(figures, left_middle, _value_text(each.value, self._figure.unit))

    def _paint_axis(self, painter: QPainter, left: float, right: float) -> None:
        """Paint the lines and labels of the horizontal axis."""
        theme = theme_in_use()
        bottom = self.height() - _FOOT
        every = next(
            each
            for each in (1, _TICKS)
            if (right - left) * each / _TICKS >= _APART or each == _TICKS
        )
        for tick in range(_TICKS + 1):
            x = left + (right - left) * tick / _TICKS
            painter.setPen(QColor(theme.border))
            painter.drawLine(int(x), _HEAD, int(x), bottom)
            if self._figure.unit == "#" or tick % every:
                continue
            painter.setPen(QColor(theme.muted))
            place = QRectF(x - 30, bottom + 2, 60, _FOOT - 2)
            value = self._figure.most * tick / _TICKS
            painter.drawText(
                place, int(Qt.AlignmentFlag.AlignHCenter), _value_text(value, self._figure.unit)
            )

    # -- points ---------------------------------------------------------------------------------

    def _paint_plane(self, painter: QPainter) -> None:
        theme = theme_in_use()
        left, right = 44.0, self.width() - 90.0
        self._paint_axis(painter, left, right)
        top, bottom = _HEAD + 4.0, self.height() - _FOOT - 4.0
        painter.setPen(QColor(theme.muted))
        for share in (0.0, 0.5, 1.0):
            y = bottom + (top - bottom) * share
            place = QRectF(0, y - 10, left - 8, 20)
            where = int(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
            painter.drawText(place, where, _value_text(share, "%"))
        before: tuple[str, QPointF] | None = None
        last = {each.name: each for each in self._figure.points}
        named: list[QPointF] = []
        for each in self._figure.points:
            place_of = self._place_of(each)
            color = QColor(self._color(each))
            if before is not None and before[0] == each.name:
                painter.setPen(QPen(color, 1.6))
                painter.drawLine(before[1], place_of)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.setBrush(color)
            painter.drawEllipse(place_of, 4.5, 4.5)
            if last[each.name] is each:
                painter.setPen(QColor(theme.text))
                words = place_of + QPointF(8, 4)
                while any(
                    abs(words.y() - other.y()) < _WORDS and abs(words.x() - other.x()) < 60
                    for other in named
                ):
                    words -= QPointF(0, _WORDS)
                named.append(words)
                painter.drawText(words, each.name[:14])
            before = each.name, place_of

    def _color(self, point: ChartPoint) -> str:
        theme = theme_in_use()
        if point.is_muted:
            return theme.muted
        colors = (theme.accent, theme.success, theme.warning, theme.error)
        names = list(dict.fromkeys(each.name for each in self._figure.points if not each.is_muted))
        return colors[names.index(point.name) % len(colors)]


def _value_text(value: float, unit: str) -> str:
    """Format a value of an axis."""
    match unit:
        case "%":
            return f"{round(100 * value)} %"
        case "$":
            return f"${short_number(value)}"
        case "s":
            return duration(value)
        case _:
            return f"{short_number(value)} {unit}"
