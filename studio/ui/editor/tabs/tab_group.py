"""The tabs of one side of the editor area, and what can be done with each."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QIcon
from PySide6.QtWidgets import QMenu, QTabWidget, QWidget

from studio.ui.base.menus import ON_TAB, add_actions, add_own, keys_of, own_menu
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.icons import icon


class TabGroup(QTabWidget):
    """Tabs that can be moved and closed; a dot in the title: there is something to save."""

    page_changed = Signal()
    request_close = Signal(EditorPage)
    request_keep = Signal(EditorPage)  # EditorPage that is no longer only looked at
    request_close_others = Signal(EditorPage)  # EditorPage that stays open
    request_move_over = Signal(EditorPage)  # EditorPage that goes to the other side
    request_close_view = Signal(QWidget)  # a tab that is not a prompt

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
        bar.tabBarDoubleClicked.connect(self._on_double_click)

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

    def take(self, page: QWidget) -> None:
        """Take a page's tab away; the page lives on."""
        self.removeTab(self.indexOf(page))

    def add_view(self, view: QWidget, title: str, tip: str) -> None:
        """Show what is not a prompt, such as an experiment, in a tab of its own."""
        index = self.addTab(view, title)
        self.setTabToolTip(index, tip)
        self.setCurrentIndex(index)

    def name(self, page: EditorPage) -> None:
        """Put the page's title on its tab, with an eye where it is only looked at."""
        index = self.indexOf(page)
        self.setTabText(index, page.title)
        self.setTabIcon(index, icon("eye") if page.is_looked_at else QIcon())
        tip = str(page.controller.path or self.tr("Not saved yet"))
        if page.run_mark:
            # A run says more than that the file is only looked at, which its tip says, too.
            waits = page.run_mark == "waiting"
            self.setTabIcon(index, icon("circle-pause" if waits else "circle-play"))
            tip += "\n" + (
                self.tr("Its run waits for you") if waits else self.tr("Its run goes on")
            )
        if page.is_looked_at:
            tip += "\n" + self.tr("Only looked at: a double click, or a change, keeps the tab")
        self.setTabToolTip(index, tip)

    def step(self, by: int) -> None:
        """Go to the next tab or the one before, round the ends."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + by) % self.count())

    def move_shown(self, by: int) -> None:
        """Move the tab shown to the left (-1) or to the right (1), round the ends."""
        if self.count():
            at = self.currentIndex()
            self.tabBar().moveTab(at, (at + by) % self.count())

    def set_aside(self, aside: bool) -> None:
        """Whether the keyboard is in the other side; its tab then has the accent's mark."""
        bar = self.tabBar()
        if bar.property("aside") != aside:
            bar.setProperty("aside", aside)
            bar.style().unpolish(bar)
            bar.style().polish(bar)

    def menu_for(self, page: EditorPage) -> QMenu:
        """What can be done with a tab."""
        menu = own_menu(self)
        for text, signal, same in (
            (self.tr("Close"), self.request_close, "file.close"),
            (self.tr("Close the others"), self.request_close_others, ""),
            (self.tr("Move to the other side"), self.request_move_over, "view.move_over"),
        ):
            keys = keys_of(self.window(), same) if same else ""
            add_own(menu, text, partial(signal.emit, page), keys=keys)
        menu.addSeparator()
        if page.controller.path is not None:
            self._add_copy(menu, str(page.controller.path))
        if page is self.current:
            add_actions(menu, self.window(), ON_TAB)
        return menu

    def menu_for_view(self, view: QWidget) -> QMenu:
        """What can be done with a tab that is not a prompt."""
        menu = own_menu(self)
        close = partial(self.request_close_view.emit, view)
        add_own(menu, self.tr("Close"), close, keys=keys_of(self.window(), "file.close"))
        menu.addSeparator()
        self._add_copy(menu, self.tabToolTip(self.indexOf(view)))
        add_actions(menu, self.window(), ("file.close_all", "file.reopen"))
        return menu

    def _add_copy(self, menu: QMenu, path: str) -> None:
        copy = partial(QGuiApplication.clipboard().setText, path)
        add_own(menu, self.tr("Copy its path"), copy, drawing="copy")

    def _page(self, index: int) -> EditorPage | None:
        page = self.widget(index)
        return page if isinstance(page, EditorPage) else None

    def _on_close(self, index: int) -> None:
        page = self._page(index)
        if page is not None:
            self.request_close.emit(page)
        elif (view := self.widget(index)) is not None:
            self.request_close_view.emit(view)

    def _on_double_click(self, index: int) -> None:
        page = self._page(index)
        if page is not None:
            self.request_keep.emit(page)

    def _on_menu(self, at: QPoint) -> None:
        index = self.tabBar().tabAt(at)
        page, view = self._page(index), self.widget(index)
        if page is not None:
            self.menu_for(page).popup(self.tabBar().mapToGlobal(at))
        elif view is not None:
            self.menu_for_view(view).popup(self.tabBar().mapToGlobal(at))
