"""The line above the preview: its tabs, the count of tokens, and buttons for the messages."""

from __future__ import annotations

from collections.abc import Iterable

from PySide6.QtCore import QRectF, QSize, Qt, Signal
from PySide6.QtGui import QColor, QPainter, QPaintEvent, QResizeEvent
from PySide6.QtWidgets import (
    QBoxLayout,
    QLabel,
    QMenu,
    QSizePolicy,
    QTabBar,
    QToolButton,
    QWidget,
)

from studio.application.preview.count import Meter
from studio.application.words import tr
from studio.ui.parts.labels import icon_button
from studio.ui.parts.layouts import row_of
from studio.ui.style.colors import FollowsTheme, color_of, paint_text, theme_in_use

_SPACING = 4
_MARGINS = 20
"""Pixels around the parts of the bar, and between the tabs and the count."""


class _Bar(QWidget):
    def __init__(self, parent: QWidget) -> None:
        super().__init__(parent)
        self.meter = Meter("", "")
        self.setSizePolicy(QSizePolicy.Policy.Fixed, QSizePolicy.Policy.Fixed)

    def sizeHint(self) -> QSize:
        return QSize(40, 6)

    def color(self) -> str:
        """The tone of the filled part."""
        return {"free": "accent", "close": "warning", "over": "error"}[self.meter.fullness]

    def paintEvent(self, event: QPaintEvent) -> None:
        painter = QPainter(self)
        painter.setRenderHint(QPainter.RenderHint.Antialiasing)
        painter.setPen(Qt.PenStyle.NoPen)
        painter.setBrush(QColor(theme_in_use().border))
        box = QRectF(0, 0, self.width(), self.height())
        painter.drawRoundedRect(box, 3, 3)
        share = min(1.0, self.meter.share or 0.0)
        if share > 0:
            painter.setBrush(QColor(color_of(self.color())))
            painter.drawRoundedRect(QRectF(0, 0, max(6.0, box.width() * share), 6), 3, 3)


class TokenMeter(QWidget):
    """The count of tokens, with the bar where the context window's size is known."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.label = QLabel(self)
        self.label.setMinimumWidth(1)  # a narrower pane must be possible, to get a shorter text
        self.bar = _Bar(self)
        self.bar.hide()
        self._is_short = False
        self._row = row_of(self.bar, self.label, on=self, margins=(0, 0, 4, 0), spacing=8)
        self._paint()

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
        self.setAccessibleName(tr("Tokens: {text}").format(text=shown.text))
        self.setAccessibleDescription(shown.detail)
        self._paint()

    def needs(self) -> tuple[int, int, int]:
        """Widths in pixels: of bar and text, of the text over the bar, of the figure alone."""
        metrics = self.label.fontMetrics()
        bar = self.bar.sizeHint().width() if self.bar.meter.share is not None else 0
        texts = [metrics.horizontalAdvance(text) for text in self._texts()]
        return (texts[0] + bar + 14, max(texts[0], bar) + 5, texts[1] + 5)

    def fit(self, width: int) -> None:
        """Show as much as a width has room for."""
        whole, bare, short = self.needs()
        self.setHidden(width < short or not self.bar.meter.text)
        self._is_short = width < bare
        beside, below = QBoxLayout.Direction.LeftToRight, QBoxLayout.Direction.BottomToTop
        self._row.setDirection(beside if width >= whole else below)
        self._row.setSpacing(6 if width >= whole else 1)
        self._write()

    def _texts(self) -> tuple[str, str]:
        """The count with its unit and share, and the figure alone."""
        shown = self.bar.meter
        share = "" if shown.share is None or shown.fullness == "free" else f" · {shown.share:.0%}"
        return shown.text + share, shown.short

    def _write(self) -> None:
        self.bar.setHidden(self._is_short or self.bar.meter.share is None)
        self.label.setText(self._texts()[self._is_short])

    def _paint(self) -> None:
        is_free = self.bar.meter.fullness == "free"
        paint_text(self.label, "muted" if is_free else self.bar.color())


class PreviewBar(FollowsTheme, QWidget):
    """Every tab keeps its name: where there is little room, the token meter gives way."""

    request_copy = Signal(str)  # form: json, markdown or chat

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.tabs = QTabBar(expanding=False, drawBase=False)
        self.tabs.setAccessibleName(tr("Views of the preview"))
        for title in (
            tr("Messages"),
            tr("Request"),
            tr("Variables"),
            tr("Diff"),
        ):
            self.tabs.addTab(title)
        self.total = TokenMeter()
        self.raw_button = _tool_button("type", tr("Raw text instead of Markdown"))
        self.raw_button.setCheckable(True)
        self.probe_button = _tool_button(
            "shield-check",
            tr("Probe inputs: can a value change the structure of the messages?"),
        )
        self.copy_button = _tool_button("copy", tr("Copy the messages"))
        self.copy_button.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.copy_button.setMenu(self._copy_menu())
        self._buttons = (self.raw_button, self.probe_button, self.copy_button)
        row = row_of(self.tabs, 1, self.total, on=self, margins=(4, 0, 8, 0), spacing=_SPACING)
        for button in self._buttons:
            row.addWidget(button)
        self.follow_theme()

    def minimumSizeHint(self) -> QSize:
        """Return the room for every tab, the count's figure, and the button that never hides."""
        own = super().minimumSizeHint()
        needed = self.tabs.sizeHint().width() + _taken(self._buttons[-1:]) + self._figure()
        return QSize(needed, own.height())

    def recolor(self) -> None:
        """Fit the meter anew: while a style sheet goes and another comes, tabs are wider."""
        self._fit_meter()

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Show as much of the count as there is room for."""
        super().resizeEvent(event)
        self._fit_meter()

    def show_meter(self, meter: Meter | None) -> None:
        """Show a count; `None` for none."""
        self.total.show_meter(meter)
        self._fit_meter()

    def show_buttons(self, *, shown: bool) -> None:
        """Show the buttons while messages are looked at, which they are for."""
        for button in self._buttons:
            button.setVisible(shown)
        self._fit_meter()

    def _fit_meter(self) -> None:
        """Give the count's figure its room first; what the other buttons do is in the menu, too."""
        room = self.width() - self.tabs.sizeHint().width()
        if not self.copy_button.isHidden():
            for place, button in enumerate(self._buttons[:-1]):
                button.setHidden(room < _taken(self._buttons[place:]) + self._figure())
        shown = [button for button in self._buttons if not button.isHidden()]
        self.total.fit(room - _taken(shown) - _MARGINS)

    def _figure(self) -> int:
        return self.total.needs()[2] + _MARGINS

    def _copy_menu(self) -> QMenu:
        menu = QMenu(self)
        menu.addAction(tr("As JSON"), lambda: self.request_copy.emit("json"))
        menu.addAction(tr("As Markdown"), lambda: self.request_copy.emit("markdown"))
        menu.addAction(tr("As chat text"), lambda: self.request_copy.emit("chat"))
        menu.addSeparator()
        raw = menu.addAction(self.raw_button.toolTip(), self.raw_button.toggle)
        raw.setCheckable(True)
        self.raw_button.toggled.connect(raw.setChecked)
        menu.addAction(self.probe_button.toolTip(), self.probe_button.click)
        return menu


def _taken(buttons: Iterable[QToolButton]) -> int:
    return sum(button.sizeHint().width() + _SPACING for button in buttons)


def _tool_button(icon_name: str, tip: str) -> QToolButton:
    button = icon_button(icon_name, tip)
    button.setAutoRaise(True)
    return button
