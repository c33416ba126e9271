"""The theme as Qt's palette, which the style sheet names its colors by."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from PySide6.QtGui import QColor, QPalette

if TYPE_CHECKING:
    from studio.ui.style.theme import Theme

IMAGES = "theme"
"""Qt's search path to the theme's own drawings: a style sheet cannot tint."""

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
    # Three roles that Fusion paints nothing with.
    "on_accent": "midlight",
    "warning": "shadow",
    "success": "link-visited",
}
"""Role of the palette, as a style sheet writes it, by the theme's name of a color."""


def palette(theme: Theme) -> QPalette:
    """The theme as a palette, with the inactive and disabled groups said too."""
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
