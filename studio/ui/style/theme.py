"""Colors and fonts of the window, as values, and the one place that applies them to Qt.

Colors meet WCAG AA against the surface that they are used on; a test holds that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Literal, TypeAlias

from PySide6.QtGui import QFont, QFontDatabase

from studio.core.resource_files import resource

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
    """Where text is read and written: editor, cards, lists, fields."""

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


LIGHT = Theme(
    name="light",
    window="#f4f5f7",
    surface="#ffffff",
    raised="#eef0f3",
    border="#d5d9e0",
    text="#1f2430",
    muted="#5b6475",
    accent="#2f5fd0",
    on_accent="#ffffff",
    selection="#d3e0fb",
    handle="#c3c9d3",
    current_line="#f3f6fc",
    error="#c0262d",
    warning="#8f5a00",
    hint="#2f5fd0",
    success="#1d7a45",
    roles={
        "system": "#7a3fb0",
        "developer": "#7a3fb0",
        "user": "#2257c4",
        "assistant": "#1d7a45",
        "tool": "#8f5a00",
    },
    inputs=("#0b6e79", "#a23b72", "#5f5bb5", "#7a5c00", "#1d7a45", "#b0452b"),
    syntax={
        "key": "#2257c4",
        "string": "#1d7a45",
        "number": "#9a4a00",
        "constant": "#9a4a00",
        "comment": "#66707f",
        "punctuation": "#5b6475",
        "fence": "#66707f",
        "role": "#7a3fb0",
        "attribute": "#8f5a00",
        "delimiter": "#b02a72",
        "variable": "#0b6e79",
        "filter": "#7a3fb0",
        "keyword": "#b02a72",
        "operator": "#5b6475",
        "heading": "#1f2430",
        "strong": "#1f2430",
        "emphasis": "#1f2430",
        "code": "#9a4a00",
        "link": "#2257c4",
        "list": "#b02a72",
        "reference": "#0b6e79",
        "name": "#2257c4",
        "error": "#c0262d",
    },
)

DARK = Theme(
    name="dark",
    window="#1b1e25",
    surface="#21252d",
    raised="#2a2f39",
    border="#3a404c",
    text="#e3e6ec",
    muted="#a0a8b8",
    accent="#7aa5ff",
    on_accent="#10151f",
    selection="#34466b",
    handle="#4a5261",
    current_line="#272c36",
    error="#ff8a86",
    warning="#f0b95b",
    hint="#7aa5ff",
    success="#6fd39a",
    roles={
        "system": "#c79bf2",
        "developer": "#c79bf2",
        "user": "#8ab4ff",
        "assistant": "#6fd39a",
        "tool": "#f0b95b",
    },
    inputs=("#5fd0dc", "#f09cc6", "#b3aef7", "#e0c15c", "#7fd9a2", "#f7a58c"),
    syntax={
        "key": "#8ab4ff",
        "string": "#8fd6a8",
        "number": "#f2b27a",
        "constant": "#f2b27a",
        "comment": "#8f99aa",
        "punctuation": "#a0a8b8",
        "fence": "#8f99aa",
        "role": "#c79bf2",
        "attribute": "#e6c07b",
        "delimiter": "#f28fb8",
        "variable": "#6fd3de",
        "filter": "#c79bf2",
        "keyword": "#f28fb8",
        "operator": "#a0a8b8",
        "heading": "#ffffff",
        "strong": "#ffffff",
        "emphasis": "#e3e6ec",
        "code": "#f2b27a",
        "link": "#8ab4ff",
        "list": "#f28fb8",
        "reference": "#6fd3de",
        "name": "#8ab4ff",
        "error": "#ff8a86",
    },
)

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
