"""The theme that the application has now, as Qt knows it, and how a widget follows it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent
from PySide6.QtGui import QGuiApplication, QPalette

from studio.ui.style.theme import DARK, LIGHT, Theme

if TYPE_CHECKING:
    from PySide6.QtWidgets import QWidget as Widget
else:
    Widget = object

_DARK_BELOW = 128
"""Lightness of a window's background, 0 to 255, below which a palette is the dark one's."""


def theme_in_use() -> Theme:
    """The theme whose palette the application has; the light one before there is any."""
    ground = QGuiApplication.palette().color(QPalette.ColorRole.Window)
    return DARK if ground.lightness() < _DARK_BELOW else LIGHT


def color_of(color: str) -> str:
    """A tone (`muted`, `error`, …) as the theme in use has it; `#rrggbb` is what it is."""
    return color if color.startswith("#") else str(getattr(theme_in_use(), color))


_RECOLOR = QEvent.Type(QEvent.registerEventType())


def recolor_now() -> None:
    """Let those that Qt told of another theme take its colors, before anything is painted."""
    QCoreApplication.sendPostedEvents(None, _RECOLOR.value)


class FollowsTheme(Widget):
    """Stands before a widget's class: one whose colors are not the palette's nor the style sheet's.

    Qt tells each widget of another palette or style; a widget that paints with `theme_in_use()`
    needs nothing more. This one fills texts, items or palettes of its own with colors: `recolor`
    does that anew.
    """

    _colored_in: Theme | None = None

    def follow_theme(self) -> None:
        """Color now, and each time that the application takes another theme."""
        self._colored_in = theme_in_use()
        self.recolor()

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        raise NotImplementedError

    def changeEvent(self, event: QEvent) -> None:
        """Hear from Qt that the theme is another."""
        super().changeEvent(event)
        # A widget that was never shown hears of a new style sheet alone.
        if event.type() in (QEvent.Type.PaletteChange, QEvent.Type.StyleChange):
            self.hear_of_theme()

    def hear_of_theme(self) -> None:
        """Color soon, if the theme is another than this has."""
        if self._colored_in is not None and theme_in_use() is not self._colored_in:
            self._colored_in = theme_in_use()
            # Later: Qt is walking through all widgets now, and to color may end some of them.
            QCoreApplication.postEvent(self, QEvent(_RECOLOR))

    def customEvent(self, event: QEvent) -> None:
        """Color after Qt has told everyone."""
        super().customEvent(event)
        if event.type() == _RECOLOR:
            self.follow_theme()
