"""How many rows each variant passes, with 95 % intervals, drawn by hand."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QFont, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QSizePolicy, QWidget

from studio.application.experiments.report import VariantReport, percent
from studio.ui.style.theme import LIGHT, Theme

_LINE = 24
_HEAD = 22
_FOOT = 20
_NAME = 0.28
_MOST = 6


class PassRateChart(QWidget):
    """A line for each variant: the share as a point, its interval as a bar."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._theme = LIGHT
        self._variants: tuple[VariantReport, ...] = ()
        self._baseline = ""
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)

    def set_theme(self, theme: Theme) -> None:
        """Paint in these colours."""
        self._theme = theme
        self.update()

    def show_variants(self, variants: tuple[VariantReport, ...], baseline: str) -> None:
        """Draw these."""
        self._variants = variants[:_MOST]
        self._baseline = baseline
        lines = [
            self.tr("{name}: {share} of {rows} rows").format(
                name=each.name, share=percent(each.share), rows=len(each.verdicts)
            )
            for each in variants
        ]
        self.setAccessibleName(self.tr("Pass rate"))
        self.setAccessibleDescription("; ".join(lines))
        self.updateGeometry()
        self.update()

    def sizeHint(self) -> QSize:
        """A line for each variant, a head and an axis."""
        return QSize(360, _HEAD + _FOOT + _LINE * max(1, len(self._variants)))

    def minimumSizeHint(self) -> QSize:
        """Narrow is enough."""
        return QSize(220, self.sizeHint().height())

    def paintEvent(self, event: QPaintEvent) -> None:
        """Draw axis, bars, points and figures."""
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        theme = self._theme
        bold = QFont(self.font())
        bold.setWeight(QFont.Weight.DemiBold)
        left = self.width() * _NAME
        right = self.width() - 56.0
        left_middle = int(Qt.AlignmentFlag.AlignLeft | Qt.AlignmentFlag.AlignVCenter)
        self._paint_axis(painter, left, right)
        for at, each in enumerate(self._variants):
            y = _HEAD + _LINE * at + _LINE / 2
            is_base = each.name == self._baseline
            color = QColor(theme.muted if is_base else theme.accent)
            painter.setPen(QColor(theme.text))
            painter.setFont(self.font() if is_base else bold)
            name = painter.fontMetrics().elidedText(
                each.name, Qt.TextElideMode.ElideRight, int(left) - 14
            )
            painter.drawText(QRectF(0, y - _LINE / 2, left - 10, _LINE), left_middle, name)
            if not each.verdicts:
                continue
            low, high = (left + (right - left) * bound for bound in each.interval)
            painter.setPen(QPen(color, 1.6))
            painter.drawLine(int(low), int(y), int(high), int(y))
            for end in (low, high):
                painter.drawLine(int(end), int(y) - 5, int(end), int(y) + 5)
            x = left + (right - left) * each.share
            painter.setBrush(color)
            painter.setPen(Qt.PenStyle.NoPen)
            painter.drawEllipse(QRectF(x - 5, y - 5, 10, 10))
            painter.setPen(QColor(theme.text))
            figures = QRectF(right + 8, y - _LINE / 2, 48, _LINE)
            painter.drawText(figures, left_middle, percent(each.share))

    def _paint_axis(self, painter: QPainter, left: float, right: float) -> None:
        bottom = self.height() - _FOOT
        painter.setPen(QColor(self._theme.muted))
        painter.drawText(
            QRectF(0, 0, self.width(), _HEAD - 4), int(Qt.AlignmentFlag.AlignLeft),
            self.tr("Rows passed, with 95 % intervals"),
        )  # fmt: skip
        for tenth in range(0, 11, 2):
            x = left + (right - left) * tenth / 10
            painter.setPen(QColor(self._theme.border))
            painter.drawLine(int(x), _HEAD, int(x), bottom)
            painter.setPen(QColor(self._theme.muted))
            place = QRectF(x - 24, bottom + 2, 48, _FOOT - 2)
            painter.drawText(place, int(Qt.AlignmentFlag.AlignHCenter), f"{tenth * 10}")
