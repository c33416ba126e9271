"""The bar above the tools: search, filter, and buttons for their sources.

Below it, progress bars for large descriptions, with a button to stop.
"""

from __future__ import annotations

from typing import assert_never, get_args

from PySide6.QtCore import Signal
from PySide6.QtGui import QAction, QActionGroup
from PySide6.QtWidgets import QMenu, QProgressBar, QPushButton, QToolButton, QWidget

from studio.application.words import marked, tr
from studio.core.text.amounts import size
from studio.core.text.invisible import reveal
from studio.core.tools.openapi.loading import ReadingProgress
from studio.core.tools.registry import ToolFilter
from studio.ui.parts.kit import column_of, icon_button, row_of, search_line, toned_label
from studio.ui.style.theme import icon

_FILTERS: dict[ToolFilter, str] = {
    "all": marked("All tools"),
    "offered": marked("Offered to the model"),
    "declared": marked("Declared in the prompt"),
    "unbound": marked("Not bound"),
    "mocked": marked("Mocked"),
    "effects": marked("With effects"),
}


_ROOM_FOR_COUNT = 340
"""Minimum width to show the number of tools, in pixels."""


class ToolsBar(QWidget):
    """Holds the search text and the filter of the tools."""

    changed = Signal()  # search text or filter
    typed = Signal()  # the user typed in the search field
    request_back = Signal()  # return from one tool to all

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.only: ToolFilter = "all"
        """Filter of the listed tools."""
        self.search = search_line(tr("Search tools"), parent=self)
        self.count = toned_label("muted", parent=self)
        self.back = icon_button("arrow-left", tr("All tools (Esc)"), self.request_back, parent=self)
        self.filter = icon_button("filter", tr("Which tools are listed"), parent=self)
        self.filter.setPopupMode(QToolButton.ToolButtonPopupMode.InstantPopup)
        self.filter.setMenu(self._menu())
        self.filter.setStyleSheet("QToolButton::menu-indicator { image: none; }")
        self.sources = icon_button(
            "plug", tr("Where the tools come from: files, servers"), parent=self
        )
        self.sources.setCheckable(True)
        self.reload = icon_button("refresh-cw", tr("Load the tools again"), parent=self)
        self.own_window = icon_button(
            "external-link", tr("Tools in a separate window"), parent=self
        )
        self.own_window.setCheckable(True)
        row = row_of(self.back, (self.search, 1), on=self, margins=(12, 8, 8, 8), spacing=4)
        row.addSpacing(4)
        row.addWidget(self.count)
        for button in (self.filter, self.sources, self.reload, self.own_window):
            row.addWidget(button)
        self.back.hide()
        self.search.textChanged.connect(self.changed)
        self.search.textEdited.connect(self.typed)

    def fit(self, width: int, *, alone: bool) -> None:
        """Hide parts that do not fit, and those that a single tool does not need."""
        self.back.setVisible(alone)
        self.filter.setVisible(not alone)
        self.count.setVisible(not alone and width >= _ROOM_FOR_COUNT)

    @property
    def text(self) -> str:
        """Return the search text."""
        return self.search.text()

    def set_only(self, only: ToolFilter) -> None:
        """List only matching tools."""
        self.only = only
        self.filter.setDown(only != "all")
        for action in self.filter.menu().actions():
            action.setChecked(action.data() == only)
        # Colored while it hides tools.
        self.filter.setIcon(icon("filter") if only == "all" else icon("funnel", "accent"))
        self.changed.emit()

    def _menu(self) -> QMenu:
        menu = QMenu(self)
        group = QActionGroup(menu)
        for only in get_args(ToolFilter):
            action = menu.addAction(tr(_FILTERS[only]))
            action.setData(only)
            action.setCheckable(True)
            action.setChecked(only == self.only)
            group.addAction(action)
        group.triggered.connect(self._on_filter)
        return menu

    def _on_filter(self, action: QAction) -> None:
        self.set_only(next(each for each in get_args(ToolFilter) if each == action.data()))


class ReadingBars(QWidget):
    """A progress bar for each description that is being read; hidden if there is none."""

    request_stop = Signal(str)  # key of the source whose reading to stop

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self._bars: dict[str, ReadingBar] = {}
        self._column = column_of(on=self, margins=0, spacing=0)
        self.hide()

    @property
    def shown(self) -> tuple[ReadingBar, ...]:
        """The bars from top to bottom."""
        return tuple(self._bars.values())

    def show_progress(self, key: str, progress: ReadingProgress) -> None:
        """Show the progress of reading a source's description."""
        bar = self._bars.get(key)
        if bar is None:
            bar = self._bars[key] = ReadingBar(self)
            bar.stop_button.clicked.connect(lambda *_, key=key: self.request_stop.emit(key))
            self._column.addWidget(bar)
            self.show()
        bar.show_progress(progress)

    def end(self, key: str) -> None:
        """Remove the bar of a description whose reading has ended or was stopped."""
        bar = self._bars.pop(key, None)
        if bar is not None:
            self._column.removeWidget(bar)
            bar.hide()
            bar.deleteLater()
        self.setVisible(bool(self._bars))

    def clear(self) -> None:
        """Remove all bars: another document is shown."""
        for key in [*self._bars]:
            self.end(key)


class ReadingBar(QWidget):
    """Progress of one reading as text and as a bar, with a button to stop it."""

    def __init__(self, parent: QWidget | None = None) -> None:
        super().__init__(parent)
        self.words = toned_label("muted", parent=self, wraps=True, is_plain=True)
        self.progress = QProgressBar(self, textVisible=False)
        self.stop_button = QPushButton(tr("Stop"), self, autoDefault=False)
        column = column_of(self.words, self.progress, spacing=4)
        row_of((column, 1), self.stop_button, on=self, margins=(12, 4, 8, 8), spacing=8)

    def show_progress(self, progress: ReadingProgress) -> None:
        """Show the progress."""
        done, whole, name = progress.done, progress.whole, reveal(progress.name, lines=False)
        self.stop_button.setAccessibleName(tr("Stop reading {name}").format(name=name))
        self.progress.setMaximum(whole)  # 0 of 0 is shown as a busy indicator
        self.progress.setValue(done if whole else 0)
        match progress.stage:
            case "fetched" if not whole:
                words = tr("Downloading {name}: {done}")
            case "fetched":
                words = tr("Downloading {name}: {done} of {whole}")
            case "read":
                words = tr("Reading {name}: {done} of {whole}")
            case "operations":
                words = tr("Reading {name}: {done} of {whole} operations")
            case _:
                assert_never(progress.stage)
        is_counted = progress.stage == "operations"
        shown = [f"{each:,}" if is_counted else size(each) for each in (done, whole)]
        text = words.format(name=name, done=shown[0], whole=shown[1])
        self.words.setText(text)
        self.progress.setAccessibleName(text)
