"""The current theme, and the only code that applies it to Qt.

A new palette is applied to visible widgets at once, and to the others in time slices: Qt stores
each widget's style rules with their colors, and nine of ten widgets are in hidden panes and
dialogs.

The small style sheet on top of Fusion contains what a palette cannot express.

It refers to roles of the palette instead of colors, so that both themes share it: a new theme is a
new palette, and no widget needs a new sheet.

The palette holds the theme's colors, to which the style sheet refers.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from string import Template
from typing import TYPE_CHECKING

import shiboken6
from PySide6.QtCore import QCoreApplication, QDir, QObject, Qt
from PySide6.QtGui import QColor, QGuiApplication, QPalette
from PySide6.QtWidgets import QApplication, QStyleFactory, QWidget

from studio.core.paths import resource, resource_text
from studio.ui.style.theme import (
    DARK,
    LIGHT,
    UI_POINTS,
    FollowsTheme,
    Theme,
    ThemeChoice,
    recolor_now,
    ui_font,
)
from studio.viewmodels.app.jobs import repeating_timer

if TYPE_CHECKING:
    from studio.core.settings import Settings


IMAGES = "theme"
"""Qt's search path for the theme's images: a style sheet cannot tint icons."""

SHEET_ROLES: Mapping[str, str] = {
    "window": "window",
    "surface": "base",
    "raised": "light",
    "border": "mid",
    "text": "text",
    "muted": "placeholder-text",
    "accent": "accent",
    "hint": "link",
    "selection": "highlight",
    "error": "bright-text",
    "handle": "dark",
    # Three roles that Fusion does not use.
    "on_accent": "midlight",
    "warning": "shadow",
    "success": "link-visited",
}
"""Palette role in the notation of style sheets, by the theme's name of a color."""


def palette(theme: Theme) -> QPalette:
    """Return the theme as a palette, with the inactive and disabled groups."""
    role = QPalette.ColorRole
    colors = {
        role.Window: theme.window,
        role.WindowText: theme.text,
        role.Base: theme.surface,
        role.AlternateBase: theme.current_line,
        role.Text: theme.text,
        role.Button: theme.window,
        role.ButtonText: theme.text,
        role.BrightText: theme.error,
        role.ToolTipBase: theme.raised,
        role.ToolTipText: theme.text,
        role.PlaceholderText: theme.muted,
        role.Highlight: theme.selection,
        role.HighlightedText: theme.text,
        role.Accent: theme.accent,
        role.Link: theme.hint,
        role.LinkVisited: theme.success,
        role.Light: theme.raised,
        role.Midlight: theme.on_accent,
        role.Mid: theme.border,
        role.Dark: theme.handle,
        role.Shadow: theme.warning,
    }
    made = QPalette()
    for each, color in colors.items():
        # One call for all groups: an inactive window must keep its selection readable.
        made.setColor(each, QColor(color))
    faint = QColor(theme.muted)
    faint.setAlphaF(0.55)
    for each in (role.WindowText, role.Text, role.ButtonText, role.HighlightedText):
        made.setColor(QPalette.ColorGroup.Disabled, each, faint)
    made.setColor(QPalette.ColorGroup.Disabled, role.Highlight, QColor(theme.raised))
    return made


_DIALOG = 36
"""Minimum width of a question, in points of its text.

A short one would give a window that is too narrow for its title and the desktop's buttons.
"""
# Spin boxes are left to Fusion: with a rule of their own, their text overlaps the border
# (measured).
_SHEET = Template(resource_text("themes", "studio.qss"))


def stylesheet(points: float) -> str:
    """Return the application's style sheet for a text size; colors come from the palette."""
    return _SHEET.substitute(
        {name: f"palette({role})" for name, role in SHEET_ROLES.items()},
        key=0.85 * points,
        dialog=round(_DIALOG * points),
        display=2.2 * points,
        heading=1.35 * points,
        section=1.2 * points,
        check=f"{IMAGES}:check.svg",
        close=f"{IMAGES}:close.svg",
        float=f"{IMAGES}:float.svg",
        arrow_down=f"{IMAGES}:arrow-down.svg",
        arrow_up=f"{IMAGES}:arrow-up.svg",
    )


_SLICE_SECONDS = 0.008
"""Maximum seconds per time slice for styling hidden widgets."""
_STYLE = "Fusion"
_STYLED = "studioStyled"
"""Property of the application: it uses the studio's style."""


def new_application() -> QApplication:
    """Create the application in the style that `apply_theme` needs.

    The style is passed as an argument: passing an object makes PySide create the class of styles
    with its 600 names, which takes 3 % of a start.
    """
    app = QApplication([*sys.argv[:1], "-style", _STYLE])
    app.setProperty(_STYLED, True)
    return app


def theme_for(choice: ThemeChoice) -> Theme:
    """Return the theme of a choice; "system" is light if the desktop reports nothing."""
    if choice == "light":
        return LIGHT
    if choice == "dark":
        return DARK
    dark = QGuiApplication.styleHints().colorScheme() == Qt.ColorScheme.Dark
    return DARK if dark else LIGHT


@dataclass(frozen=True, slots=True)
class Fonts:
    """The user's choice of the interface's font."""

    family: str = ""
    """Font family; empty for the bundled one."""

    points: float = UI_POINTS
    """Font size in points."""


def fonts_of(settings: Settings) -> Fonts:
    """Return the fonts of the settings."""
    return Fonts(settings.interface_font, settings.interface_font_size)


def apply_theme(app: QApplication, theme: Theme, fonts: Fonts | None = None) -> None:
    """Apply Fusion, the theme's palette, the fonts and the style sheet to the application.

    It uses its own palette, because `setColorScheme` has no effect without a desktop (measured). A
    new theme with the same fonts is on all visible widgets when this returns, and on the others
    soon after.
    """
    # A style sheet hides the style's name; and each of these steps queries every existing widget.
    if app.property(_STYLED) is None:
        app.setStyle(QStyleFactory.create(_STYLE))
        app.setProperty(_STYLED, True)
    fonts = fonts or Fonts()
    font, sheet = ui_font(fonts.points, fonts.family), stylesheet(fonts.points)
    if app.font() == font and app.styleSheet() == sheet:
        if app.palette() != palette(theme):
            _take_colors(app, theme)
            restyle(app)
        return
    # Remove the sheet first: replacing it directly queries each widget once for every ancestor
    # (measured with 1,100 widgets: 0.38 s, and 0.15 s this way).
    app.setStyleSheet("")
    if app.font() != font:
        app.setFont(font)
    _take_colors(app, theme)
    app.setStyleSheet(sheet)
    recolor_now()


def _take_colors(app: QApplication, theme: Theme) -> None:
    QDir.setSearchPaths(IMAGES, [str(resource("themes", theme.name))])
    app.setPalette(palette(theme))


def restyle(app: QApplication) -> None:
    """Apply the palette's colors: to visible widgets now, to the others soon."""
    # The sheet is read again for its images, which are now in another folder.
    app.style().unpolish(app)
    seen: list[QWidget] = []
    hidden: list[QWidget] = []
    for widget in app.allWidgets():
        (seen if widget.isVisible() else hidden).append(widget)
    for widget in seen:
        _polish(widget)
    _tell(seen)
    recolor_now()
    rest = app.findChild(_Rest) or _Rest(app)
    rest.begin(hidden)


def finish_restyling() -> None:
    """Style the hidden widgets now."""
    app = QCoreApplication.instance()
    rest = app.findChild(_Rest) if app is not None else None
    if rest is not None:
        rest.finish()


def _polish(widget: QWidget) -> None:
    style = widget.style()
    style.unpolish(widget)
    style.polish(widget)
    widget.update()


def _tell(widgets: Iterable[QWidget]) -> None:
    for widget in widgets:
        if isinstance(widget, FollowsTheme):
            widget.hear_of_theme()


def _depth(widget: QWidget) -> int:
    """Return the number of a widget's ancestors."""
    depth, around = 0, widget.parentWidget()
    while around is not None:
        depth, around = depth + 1, around.parentWidget()
    return depth


class _Rest(QObject):
    """The hidden widgets that still have the previous theme's colors."""

    def __init__(self, app: QApplication) -> None:
        super().__init__(app)
        self._widgets: list[QWidget] = []
        self._timer = repeating_timer(self, self._on_turn)

    def begin(self, widgets: list[QWidget]) -> None:
        """Start styling widgets, the innermost first; this replaces an unfinished list.

        A widget that sets others' palettes must come after them: styling a widget resets its
        palette.
        """
        self._widgets = sorted(widgets, key=_depth)
        self._timer.start()

    def finish(self) -> None:
        """Style all remaining widgets."""
        self._work_until(None)

    def _on_turn(self) -> None:
        self._work_until(time.monotonic() + _SLICE_SECONDS)

    def _work_until(self, end: float | None) -> None:
        done: list[QWidget] = []
        while self._widgets and not (done and end is not None and time.monotonic() >= end):
            widget = self._widgets.pop()
            # Recoloring may have deleted some of them and created others.
            if shiboken6.isValid(widget):
                _polish(widget)
                done.append(widget)
        _tell(each for each in done if shiboken6.isValid(each))
        recolor_now()
        if not self._widgets:
            self._timer.stop()
