"""Inputs that belong together, under a quiet heading: those of the run, and the parameters."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from PySide6.QtCore import QSize, Qt
from PySide6.QtWidgets import QSizePolicy, QToolButton, QVBoxLayout, QWidget

from studio.ui.style.icons import icon
from studio.ui.style.in_use import FollowsTheme, theme_in_use


@dataclass(frozen=True, slots=True)
class GroupWords:
    """What a group says of itself, in the language of the window."""

    heading: str
    """The heading; `{shown}` stands for the names, cut where they are many."""

    name: str
    """The heading for a screen reader; `{names}` stands for all names."""

    tip: str
    """What its values are."""


class FieldGroup(FollowsTheme, QWidget):
    """A heading that opens and closes the rows under it; hidden without rows."""

    def __init__(self, words: GroupWords, parent: QWidget) -> None:
        super().__init__(parent)
        self._words = words
        self.heading = QToolButton(self)
        self.heading.setCheckable(True)
        self.heading.setAutoRaise(True)
        self.heading.setIconSize(QSize(14, 14))
        self.heading.setToolButtonStyle(Qt.ToolButtonStyle.ToolButtonTextBesideIcon)
        self.heading.setSizePolicy(QSizePolicy.Policy.Preferred, QSizePolicy.Policy.Fixed)
        self.heading.setToolTip(words.tip)
        self._page = QWidget(self)
        self.rows = QVBoxLayout(self._page)
        self.rows.setContentsMargins(0, 0, 0, 0)
        self.rows.setSpacing(12)
        layout = QVBoxLayout(self)
        layout.setContentsMargins(0, 0, 0, 0)
        layout.setSpacing(8)
        layout.addWidget(self.heading)
        layout.addWidget(self._page)
        self._page.hide()
        self.hide()
        self.heading.toggled.connect(self._show_rows)
        self.follow_theme()

    @property
    def is_open(self) -> bool:
        """Whether the rows are shown."""
        return self.heading.isChecked()

    def set_open(self, is_open: bool) -> None:
        """Show the rows, or only the heading."""
        self.heading.setChecked(is_open)

    def tell(self, names: Sequence[str], given: int) -> None:
        """Say which inputs are in the group, and how many of them the user filled."""
        self.setHidden(not names)
        shown = ", ".join(names)
        shown = shown if len(shown) <= 40 else f"{shown[:39]}…"
        filled = self.tr(" · {given} given").format(given=given) if given else ""
        self.heading.setText(self._words.heading.format(shown=shown) + filled)
        self.heading.setAccessibleName(self._words.name.format(names=", ".join(names)) + filled)

    def recolor(self) -> None:
        """Take the colors of the theme in use."""
        theme = theme_in_use()
        self.heading.setStyleSheet(
            f"QToolButton {{ color: {theme.muted}; border: none; padding: 2px 0; }}"
            f"QToolButton:checked {{ background: transparent; }}"
            f"QToolButton:hover, QToolButton:focus {{ color: {theme.text}; }}"
        )
        self._show_rows(self.is_open)

    def _show_rows(self, is_open: bool) -> None:
        name = "chevron-down" if is_open else "chevron-right"
        self.heading.setIcon(icon(name, "muted"))
        self._page.setHidden(not is_open)
