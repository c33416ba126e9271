"""Colours and fonts of the window, as values, and the one place that applies them to Qt.

Colours meet WCAG AA against the surface that they are used on; a test holds that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

ThemeName: TypeAlias = Literal["light", "dark"]


@dataclass(frozen=True, slots=True)
class Theme:
    """One set of colours, all as `#rrggbb`."""

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
    """Colour of each role (system, developer, user, assistant, tool); the name is written too."""

    inputs: tuple[str, ...]
    """Colours for the values of inputs, taken in the order of declaration, round and round."""

    syntax: Mapping[str, str]
    """Colour by token style name of the editor's lexer."""


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
    syntax={},
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
    syntax={},
)
