"""A thin bar that says how full the model's context window is."""

from __future__ import annotations

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QColor, QPainter, QPaintEvent
from PySide6.QtWidgets import QBoxLayout, QHBoxLayout, QLabel, QSizePolicy, QWidget

from studio.application.preview.meter import Meter
from studio.ui.style.colours import paint_text
from studio.ui.style.theme import Theme


class _Bar(QWidget):
    def __init__(self, theme: Theme, parent: QWidget) -> None:
        super().__init__(parent)
        self.theme = theme
        self.meter = Meter("", "")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def colour(self) -> str:
        """The colour of the filled part."""
        tones = {"free": self.theme.accent, "close": self.theme.warning, "over": self.theme.error}
        return tones[self.meter.fullness]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(self.theme.border))
        box = QRectF(0, 0, self.width(), self.height())
        painter.drawRoundedRect(box, 3, 3)
        share = min(1.0, self.meter.share or 0.0)
        if share > 0:
            painter.setBrush(QColor(self.colour()))
            painter.drawRoundedRect(QRectF(0, 0, max(6.0, box.width() * share), 6), 3, 3)


class TokenMeter(QWidget):
    """The count of tokens, with the bar where the context window's size is known."""

    def __init__(self, theme: Theme, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(self)
        self.label.setMinimumWidth(1)  # a narrower pane must be possible, to get a shorter text
        self.bar = _Bar(theme, self)
        self.bar.hide()
        self._is_short = False
        self._row = QHBoxLayout(self)
        self._row.setContentsMargins(0, 0, 4, 0)
        self._row.setSpacing(6)
        self._row.addWidget(self.bar)
        self._row.addWidget(self.label)
        self.set_theme(theme)

    @property
    def text(self) -> str:
        """The count as it is written."""
        return self.label.text()

    def show_meter(self, meter: Meter | None) -> None:
        """Show a count; `None` for none."""
        shown = meter or Meter("", "")
        self.bar.meter = shown
        self.bar.update()
        self._write()
        self.setToolTip(shown.detail)
        self.setAccessibleName(self.tr("Tokens: {text}").format(text=shown.text))
        self.setAccessibleDescription(shown.detail)
        self._paint()

    def needs(self) -> tuple[int, int, int]:
        """Widths in pixels: of bar and text, of the text over the bar, of the figure over it."""
        metrics = self.label.fontMetrics()
        bar = self.bar.sizeHint().width() if self.bar.meter.share is not None else 0
        texts = [metrics.horizontalAdvance(text) for text in self._texts()]
        return (texts[0] + bar + 14, max(texts[0], bar) + 5, max(texts[1], bar) + 5)

    def fit(self, width: int) -> None:
        """Show as much as a width has room for."""
        whole, bare, short = self.needs()
        self.setHidden(width < short)  # the status bar has the figure too
        self._is_short = width < bare
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.BottomToTop
        self._row.setDirection(beside if width >= whole else below)
        self._row.setSpacing(6 if width >= whole else 1)
        self._write()

    def _texts(self) -> tuple[str, str]:
        """The count with its unit and share, and the figure alone."""
        shown = self.bar.meter
        share = "" if shown.share is None or shown.fullness == "free" else f" · {shown.share:.0%}"
        return shown.text + share, shown.text.partition(" ")[0]

    def _write(self) -> None:
        self.bar.setHidden(self.bar.meter.share is None)
        self.label.setText(self._texts()[self._is_short])

    def set_theme(self, theme: Theme) -> None:
        """Take the colours of a theme."""
        self.bar.theme = theme
        self._paint()
        self.bar.update()

    def _paint(self) -> None:
        is_free = self.bar.meter.fullness == "free"
        paint_text(self.label, self.bar.theme.muted if is_free else self.bar.colour())
