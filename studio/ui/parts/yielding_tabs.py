"""Tabs that move closer together if there is little room, and scroll if that is not enough."""

from PySide6.QtCore import QCoreApplication, QEvent, Qt
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QTabBar

_AROUND_TAB = 20
"""Width that the style sheet adds to a tab's name, in pixels."""


class YieldingTabs(QTabBar):
    """Tab bar that never elides names: tabs without room are reached by scrolling."""

    def __init__(self, *, fits_itself: bool = True) -> None:
        """Create it.

        Args:
            fits_itself: whether it fits its own width; otherwise its owner calls `fit`.
        """
        super().__init__()
        self._fits_itself = fits_itself
        self.setExpanding(False)
        self.setDrawBase(False)
        self.setElideMode(Qt.TextElideMode.ElideNone)
        self.setUsesScrollButtons(True)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Fit the tabs to the new width."""
        super().resizeEvent(event)
        if self._fits_itself:
            self.fit(self.width())

    def tabLayoutChange(self) -> None:  # noqa: N802 - Qt's name
        """Fit the tabs to changed names."""
        super().tabLayoutChange()
        if self._fits_itself:
            self.fit(self.width())

    def fit(self, room: int) -> None:
        """Move the tabs closer together if the names need more than this width in pixels."""
        metrics = self.fontMetrics()
        names = [self.tabText(at) for at in range(self.count()) if self.isTabVisible(at)]
        needed = sum(metrics.horizontalAdvance(name) + _AROUND_TAB for name in names)
        is_tight = needed > room
        if bool(self.property("tight")) is not is_tight:
            self.setProperty("tight", is_tight)
            self.style().unpolish(self)
            self.style().polish(self)
            QCoreApplication.sendEvent(self, QEvent(QEvent.Type.StyleChange))  # remeasures
