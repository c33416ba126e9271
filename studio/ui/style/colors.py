"""Colors and fonts that panes derive from the theme."""

from __future__ import annotations

from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QRect, QRectF, Qt
from PySide6.QtGui import QColor, QFont, QGuiApplication, QPainter, QPalette, QPen
from PySide6.QtWidgets import QAbstractScrollArea, QLabel

from studio.ui.style.theme import DARK, LIGHT, Theme, mono_font

# The theme that the application has now, as Qt knows it, and how a widget follows it.

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
    """Recolor the registered widgets before anything is painted with another theme."""
    QCoreApplication.sendPostedEvents(None, _RECOLOR.value)


class FollowsTheme(Widget):
    """A mixin of widgets whose colors come neither from the palette nor from the style sheet.

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
        """Recolor after Qt has informed all widgets."""
        super().customEvent(event)
        if event.type() == _RECOLOR:
            self.follow_theme()


# Whether things may move: the user's setting, or the system's wish where this Qt tells it.

_REDUCED = "studioReducedMotion"
"""Property of the application: the user wants less motion."""


def set_motion_reduced(application: QCoreApplication, *, reduced: bool) -> None:
    """Take the user's setting."""
    application.setProperty(_REDUCED, reduced)


def is_motion_reduced() -> bool:
    """Whether nothing should move that need not."""
    application = QCoreApplication.instance()
    if application is None or application.property(_REDUCED):
        return True
    # A hint of Qt versions after 6.11; without it the system's wish is not known.
    # Both are held: where the first goes, PySide takes the second for gone too.
    style = QGuiApplication.styleHints()
    hints = style.accessibility()
    wish = getattr(hints, "motionPreference", None)
    return wish is not None and "Reduced" in str(wish())


SOFT_TINT = 0.12
"""Share of a color in the ground of words in that color."""

CHANGED_TINT = 0.28
"""Share of a color in the ground of words that changed; they are in the color of text."""


def blend(color: str, ground: str, share: float) -> str:
    """`share` of `color` over `ground`, as `#rrggbb`."""
    top, under = QColor(color), QColor(ground)
    mixed = (
        round(a * share + b * (1 - share))
        for a, b in (
            (top.red(), under.red()),
            (top.green(), under.green()),
            (top.blue(), under.blue()),
        )
    )
    return "#{:02x}{:02x}{:02x}".format(*mixed)


def input_color(theme: Theme, number: int | None) -> str:
    """The color of the input with that number, round and round; muted for none."""
    return theme.muted if number is None else theme.inputs[number % len(theme.inputs)]


def role_color(theme: Theme, role: str) -> str:
    """The color of a role's name and stripe."""
    return theme.roles.get(role, theme.muted)


def fixed_font(like: QFont) -> QFont:
    """The fixed-pitch font, about as large to the eye as `like`."""
    return mono_font(max(6.0, like.pointSizeF()))


def small_font(like: QFont, least: float = 7.5) -> QFont:
    """The same font one point smaller, of at least `least` points."""
    font = QFont(like)
    font.setPointSizeF(max(least, like.pointSizeF() - 1.0))
    return font


def paint_text(label: QLabel, color: str) -> None:
    """Write a label in a tone of the theme (`muted`, `error`, …), or in a fixed `#rrggbb`.

    By style sheets: a palette is lost when a label is polished before it gets its parent.
    """
    is_fixed = color.startswith("#")
    sheet = f"QLabel {{ color: {color}; }}" if is_fixed else ""
    if label.styleSheet() != sheet:
        label.setStyleSheet(sheet)
    tone = "" if is_fixed else color
    if (label.property("tone") or "") != tone:
        label.setProperty("tone", tone)
        label.style().unpolish(label)
        label.style().polish(label)


def paint_page(view: QAbstractScrollArea) -> None:
    """Give a view of text the theme's colors.

    Its viewport too: with a style sheet on the application that keeps the colors of its birth.
    """
    theme, palette, role = theme_in_use(), view.palette(), QPalette.ColorRole
    for each in (role.Base, role.Window):
        palette.setColor(each, QColor(theme.surface))
    palette.setColor(role.Text, QColor(theme.text))
    palette.setColor(role.PlaceholderText, QColor(theme.muted))
    view.setPalette(palette)
    view.viewport().setPalette(palette)


# Paints a rectangle in one color, or the frame of what has the keyboard.


def fill(painter: QPainter, room: QRectF, color: str | QColor) -> None:
    """Paint a rectangle in what the first picture of the window shows.

    Not by `fillRect`, which has PySide make the class of gradients, with its 169 ready ones: a
    hundredth of a start.
    """
    painter.setBackground(QColor(color))
    painter.eraseRect(room)


def paint_focus(painter: QPainter, room: QRect) -> None:
    """Paint a thin frame inside what has the keyboard."""
    painter.setPen(QPen(QColor(theme_in_use().accent), 1.0))
    painter.setBrush(Qt.BrushStyle.NoBrush)
    painter.drawRect(QRectF(room).adjusted(0.5, 0.5, -0.5, -0.5))
