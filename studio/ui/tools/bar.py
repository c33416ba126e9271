"""The bar above the tools: search, filter, and the ways to their sources."""

from __future__ import annotations

from typing import get_args

from PySide6.QtCore import QCoreApplication, Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QHBoxLayout, QLabel, QLineEdit, QMenu, QToolButton, QWidget

from studio.core.tools.registry import ToolFilter
from studio.ui.base.marked_text import QT_TRANSLATE_NOOP
from studio.ui.style.colors import paint_text
from studio.ui.style.icons import icon

_FILTERS: dict[ToolFilter, str] = {
    "all": QT_TRANSLATE_NOOP("ToolsBar", "All tools"),
    "offered": QT_TRANSLATE_NOOP("ToolsBar", "Offered to the model"),
    "declared": QT_TRANSLATE_NOOP("ToolsBar", "Declared in the prompt"),
    "unbound": QT_TRANSLATE_NOOP("ToolsBar", "Not bound"),
    "mocked": QT_TRANSLATE_NOOP("ToolsBar", "Mocked"),
    "effects": QT_TRANSLATE_NOOP("ToolsBar", "With effects"),
}


_ROOM_FOR_COUNT = 340
"""Width, in pixels, from which the number of tools is said."""


class ToolsBar(QWidget):
    """Holds what was searched for and which tools are listed."""

    changed = Signal()  # the text or the filter
    typed = Signal()  # the user wrote in the search
    request_back = Signal()  # from one tool to all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.only: ToolFilter = "all"
        """Which tools are listed."""
        self.search = QLineEdit(self)
        self.search.setPlaceholderText(self.tr("Search tools"))
        self.search.setClearButtonEnabled(True)
        self.search.setAccessibleName(self.tr("Search tools"))
        self.count = QLabel(self)
        self.back = self._button("arrow-left", self.tr("All tools (Esc)"))
        self.filter = self._button("filter", self.tr("Which tools are listed"))
        self.filter.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.filter.setMenu(self._menu())
        self.filter.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self.sources = self._button("plug", self.tr("Where the tools come from: servers, trust"))
        self.sources.setCheckable(True)
        self.reload = self._button("refresh-cw", self.tr("Load the tools again"))
        self.own_window = self._button("external-link", self.tr("Tools in a window of their own"))
        self.own_window.setCheckable(True)
        row = QHBoxLayout(self)
        row.setContentsMargins(12, 8, 8, 8)
        row.setSpacing(4)
        row.addWidget(self.back)
        row.addWidget(self.search, 1)
        row.addSpacing(4)
        row.addWidget(self.count)
        for button in (self.filter, self.sources, self.reload, self.own_window):
            row.addWidget(button)
        self.back.hide()
        self.back.clicked.connect(self.request_back)
        self.search.textChanged.connect(self.changed)
        self.search.textEdited.connect(self.typed)
        paint_text(self.count, "muted")

    def fit(self, width: int, *, alone: bool) -> None:
        """Leave out what a width has no room for, and what one tool alone has no use for."""
        self.back.setVisible(alone)
        self.filter.setVisible(not alone)
        self.count.setVisible(not alone and width >= _ROOM_FOR_COUNT)

    @property
    def text(self) -> str:
        """What is searched for."""
        return self.search.text()

    def set_only(self, only: ToolFilter) -> None:
        """List these tools only."""
        self.only = only
        self.filter.setDown(only != "all")
        for action in self.filter.menu().actions():
            action.setChecked(action.data() == only)
        # Colored while it keeps tools from sight.
        self.filter.setIcon(icon("filter") if only == "all" else icon("funnel", "accent"))
        self.changed.emit()

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for only in get_args(ToolFilter):
            action = menu.addAction(QCoreApplication.translate("ToolsBar", _FILTERS[only]))
            action.setData(only)
            action.setCheckable(True)
            action.setChecked(only == self.only)
            group.addAction(action)
        group.triggered.connect(self._on_filter)
        return menu

    def _on_filter(self, action: QAction) -> None:
        only = next(each for each in get_args(ToolFilter) if each == action.data())
        self.set_only(only)

    def _button(self, drawing: str, words: str) -> QToolButton:
        button = QToolButton(self)
        button.setIcon(icon(drawing))
        button.setToolTip(words)
        button.setAccessibleName(words)
        return button
