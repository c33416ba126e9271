"""Colors and fonts that panes derive from the theme."""

from __future__ import annotations

from PySide6.QtGui import QColor, QFont, QPalette
from PySide6.QtWidgets import QAbstractScrollArea, QLabel

from studio.ui.style.in_use import theme_in_use
from studio.ui.style.theme import Theme, mono_font

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
