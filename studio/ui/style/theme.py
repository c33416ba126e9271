"""Colors and fonts of the window, as values, and the one place that applies them to Qt.

Colors meet WCAG AA against the surface that they are used on; a test holds that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6.QtGui import QFont, QFontDatabase

from studio.core.paths import resource, resource_table

if TYPE_CHECKING:
    from pathlib import Path


ThemeName: TypeAlias = Literal["light", "dark"]
ThemeChoice: TypeAlias = Literal["light", "dark", "system"]


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colors, all as `#rrggbb`."""

    name: ThemeName
    """Which of the two."""

    window: str
    """Behind everything: toolbar, docks, status bar."""

    surface: str
    """Background of text: editor, cards, lists, fields."""

    raised: str
    """Card headers, hovered rows, popups."""

    border: str
    """Lines between things."""

    text: str
    """Text."""

    muted: str
    """Secondary text."""

    accent: str
    """The one accent: focus, selection marks, the live state, primary buttons."""

    on_accent: str
    """Text on the accent."""

    selection: str
    """Behind selected text and rows."""

    handle: str
    """Handles of scroll bars."""

    current_line: str
    """Behind the caret's line."""

    error: str
    """Errors."""

    warning: str
    """Warnings."""

    hint: str
    """Hints."""

    success: str
    """Things that went well."""

    roles: Mapping[str, str]
    """Color of each role (system, developer, user, assistant, tool); the name is written too."""

    inputs: tuple[str, ...]
    """Colors for the values of inputs, taken in the order of declaration, round and round."""

    syntax: Mapping[str, str]
    """Color by token style name of the editor's lexer."""


def _bundled(name: ThemeName) -> Theme:
    tables = resource_table("themes", "colors.txt")
    roles, syntax = tables[f"{name}.roles"], tables[f"{name}.syntax"]
    colors = dict(tables[name])
    inputs = tuple(colors.pop("inputs").split())
    return Theme(name, **colors, roles=roles, inputs=inputs, syntax=syntax)


LIGHT, DARK = _bundled("light"), _bundled("dark")

_UI_FAMILY = "Inter"
_MONO_FAMILY = "JetBrains Mono"
UI_POINTS = 10.0
_MONO_POINTS = 10.0


_LATER_FACES = ("Inter-Bold", "Inter-Italic", "Inter-Medium", "JetBrainsMono-Bold")
"""Faces of Markdown, of a run and of colored text: none is in a window's first picture."""


@cache
def _load_fonts() -> None:
    """Register the bundled fonts; without them Qt falls back to the system's."""
    for path in _font_files(later=False):
        QFontDatabase.addApplicationFont(str(path))


@cache
def load_other_fonts() -> None:
    """Register the faces that a window's first picture has no use for."""
    for path in _font_files(later=True):
        QFontDatabase.addApplicationFont(str(path))


def _font_files(*, later: bool) -> list[Path]:
    files = sorted(path for path in resource("fonts").iterdir() if path.suffix in (".otf", ".ttf"))
    return [path for path in files if (path.stem in _LATER_FACES) == later]


def ui_font(size: float = UI_POINTS, family: str = "") -> QFont:
    """The font of the interface, in points; the bundled family where none is named."""
    _load_fonts()
    font = QFont([*([family] if family else []), _UI_FAMILY, "sans-serif"])
    font.setPointSizeF(size)
    return font


def mono_font(size: float = _MONO_POINTS, family: str = "") -> QFont:
    """The font of text that is source, in points, with ligatures off.

    JetBrains Mono draws `---` as one line otherwise.
    """
    _load_fonts()
    font = QFont([*([family] if family else []), _MONO_FAMILY, "monospace"])
    font.setPointSizeF(size)
    font.setStyleHint(QFont.StyleHint.Monospace)
    font.setFixedPitch(True)
    for name in ("calt", "liga", "clig"):
        font.setFeature(QFont.Tag(name), 0)
    return font
