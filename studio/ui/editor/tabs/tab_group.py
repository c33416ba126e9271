"""One side of the editor area: tabs of pages."""

from __future__ import annotations

from collections.abc import Iterator

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QTabWidget

from studio.ui.editor.page.page import EditorPage


class TabGroup(QTabWidget):
    """Tabs that can be moved and closed; a dot in the title: there is something to save."""

    page_changed = Signal()
    close_asked = Signal(object)  # EditorPage
    others_asked = Signal(object)  # EditorPage that stays open
    over_asked = Signal(object)  # EditorPage that goes to the other side

    def __init__(self) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setTabsClosable(True)
        self.setMovable(True)
        self.setAccessibleName(self.tr("Open prompts"))
        self.currentChanged.connect(self.page_changed)
        self.tabCloseRequested.connect(self._on_close)
        bar = self.tabBar()
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._on_menu)

    @property
    def current(self) -> EditorPage | None:
        """The page shown, where there is one."""
        return self._page(self.currentIndex())

    def pages(self) -> Iterator[EditorPage]:
        """Every page, left to right."""
        for index in range(self.count()):
            page = self._page(index)
            if page is not None:
                yield page

    def add(self, page: EditorPage) -> None:
        """Show a page in a tab of its own."""
        self.setCurrentIndex(self.addTab(page, page.title))
        self.name(page)

    def take(self, page: EditorPage) -> None:
        """Take a page's tab away; the page lives on."""
        self.removeTab(self.indexOf(page))

    def name(self, page: EditorPage) -> None:
        """Put the page's title on its tab."""
        index = self.indexOf(page)
        self.setTabText(index, page.title)
        self.setTabToolTip(index, str(page.controller.path or self.tr("Not saved yet")))

    def step(self, by: int) -> None:
        """Go to the next tab or the one before, round the ends."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + by) % self.count())

    def set_aside(self, aside: bool) -> None:
        """Whether the keyboard is in the other side; its tab then has the accent's mark."""
        bar = self.tabBar()
        if bar.property("aside") != aside:
            bar.setProperty("aside", aside)
            bar.style().unpolish(bar)
            bar.style().polish(bar)

    def menu_for(self, page: EditorPage) -> QMenu:
        """What can be done with a tab."""
        menu = QMenu(self)
        menu.aboutToHide.connect(menu.deleteLater)
        for text, signal in (
            (self.tr("Close"), self.close_asked),
            (self.tr("Close the others"), self.others_asked),
            (self.tr("Move to the other side"), self.over_asked),
        ):
            menu.addAction(text).triggered.connect(lambda _=False, signal=signal: signal.emit(page))
        return menu

    def _page(self, index: int) -> EditorPage | None:
        page = self.widget(index)
        return page if isinstance(page, EditorPage) else None

    def _on_close(self, index: int) -> None:
        page = self._page(index)
        if page is not None:
            self.close_asked.emit(page)

    def _on_menu(self, at: QPoint) -> None:
        page = self._page(self.tabBar().tabAt(at))
        if page is not None:
            self.menu_for(page).popup(self.tabBar().mapToGlobal(at))
