"""The editor area: one group of tabs, or two beside or above each other.

It also has the context menu of each tab.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtGui import QGuiApplication, QIcon, QResizeEvent
from PySide6.QtWidgets import QApplication, QMenu, QSplitter, QTabWidget, QWidget

from studio.application.words import tr
from studio.ui.base.menus import ON_TAB, add_actions, add_own, keys_of, own_menu
from studio.ui.editor.page.page import EditorPage
from studio.ui.style.theme import icon


class TabGroup(QTabWidget):
    """Tabs that can be moved and closed; a dot in a title marks unsaved changes."""

    request_close = Signal(EditorPage)
    request_keep = Signal(EditorPage)  # EditorPage whose preview tab is to be kept
    request_close_others = Signal(EditorPage)  # EditorPage that stays open
    request_move_over = Signal(EditorPage)  # EditorPage to move to the other side
    request_close_view = Signal(QWidget)  # a tab without a prompt

    def __init__(self) -> None:
        super().__init__()
        self.setDocumentMode(True)
        self.setTabsClosable(True)
        self.setMovable(True)
        self.setAccessibleName(tr("Open prompts"))
        self.tabCloseRequested.connect(self._on_close)
        bar = self.tabBar()
        bar.setContextMenuPolicy(Qt.ContextMenuPolicy.CustomContextMenu)
        bar.customContextMenuRequested.connect(self._on_menu)
        bar.tabBarDoubleClicked.connect(self._on_double_click)

    @property
    def current(self) -> EditorPage | None:
        """The shown page, if there is one."""
        return self._page(self.currentIndex())

    def pages(self) -> Iterator[EditorPage]:
        """Yield every page, left to right."""
        for index in range(self.count()):
            page = self._page(index)
            if page is not None:
                yield page

    def add(self, page: EditorPage) -> None:
        """Show a page in a new tab."""
        self.setCurrentIndex(self.addTab(page, page.title))
        self.name(page)

    def take(self, page: QWidget) -> None:
        """Remove a page's tab without deleting the page."""
        self.removeTab(self.indexOf(page))

    def add_view(self, view: QWidget, title: str, tip: str) -> None:
        """Show a view that is not a prompt, such as an experiment, in a new tab."""
        index = self.addTab(view, title)
        self.setTabToolTip(index, tip)
        self.setCurrentIndex(index)

    def name(self, page: EditorPage) -> None:
        """Set the title of a page's tab, with an eye icon for a preview."""
        index = self.indexOf(page)
        self.setTabText(index, page.title)
        self.setTabIcon(index, icon("eye") if page.is_looked_at else QIcon())
        tip = str(page.controller.path or tr("Not saved yet"))
        if page.run_mark:
            # The state of a run takes precedence over the preview icon; the tooltip shows both.
            waits = page.run_mark == "waiting"
            self.setTabIcon(index, icon("circle-pause" if waits else "circle-play"))
            tip += "\n" + (tr("Its run is waiting for you") if waits else tr("Its run is running"))
        if page.is_looked_at:
            tip += "\n" + tr("Preview tab: double-click it or edit the file to keep it open")
        self.setTabToolTip(index, tip)

    def step(self, by: int) -> None:
        """Go to the next or previous tab; wrap around at the end."""
        if self.count():
            self.setCurrentIndex((self.currentIndex() + by) % self.count())

    def move_shown(self, by: int) -> None:
        """Move the shown tab to the left (-1) or right (1); wrap around at the end."""
        if self.count():
            at = self.currentIndex()
            self.tabBar().moveTab(at, (at + by) % self.count())

    def set_aside(self, aside: bool) -> None:
        """Set whether the other side has the focus, so that the accent marks the tab there."""
        bar = self.tabBar()
        if bar.property("aside") != aside:
            bar.setProperty("aside", aside)
            bar.style().unpolish(bar)
            bar.style().polish(bar)

    def menu_for(self, page: EditorPage) -> QMenu:
        """Build the menu of a tab."""
        menu = own_menu(self)
        for text, signal, same in (
            (tr("Close"), self.request_close, "file.close"),
            (tr("Close the others"), self.request_close_others, ""),
            (tr("Move to the other side"), self.request_move_over, "view.move_over"),
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
        """Build the menu of a tab without a prompt."""
        menu = own_menu(self)
        close = partial(self.request_close_view.emit, view)
        add_own(menu, tr("Close"), close, keys=keys_of(self.window(), "file.close"))
        menu.addSeparator()
        self._add_copy(menu, self.tabToolTip(self.indexOf(view)))
        add_actions(menu, self.window(), ("file.close_all", "file.reopen"))
        return menu

    def _add_copy(self, menu: QMenu, path: str) -> None:
        copy = partial(QGuiApplication.clipboard().setText, path)
        add_own(menu, tr("Copy its path"), copy, drawing="copy")

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


class EditorSides(QSplitter):
    """Holds the groups of tabs; the side that had the focus last is the current one."""

    current_changed = Signal()
    halves_changed = Signal(int)  # number of sides
    request_close = Signal(EditorPage)
    request_keep = Signal(EditorPage)  # EditorPage whose preview tab is to be kept
    request_close_others = Signal(EditorPage)  # EditorPage that stays open
    request_close_view = Signal(QWidget)  # a tab without a prompt

    def __init__(self, make_twin: Callable[[EditorPage], EditorPage]) -> None:
        """Create it with one side.

        Args:
            make_twin: creates another page for the document of a page.
        """
        super().__init__(Qt.Orientation.Horizontal)
        self._make_twin = make_twin
        self.setChildrenCollapsible(False)
        self._groups: list[TabGroup] = []
        self._is_even = False
        """Whether both sides have equal sizes, until the user drags the divider."""
        self.splitterMoved.connect(self._on_dragged)
        self.active = self._new_group()
        """The side that has or last had the focus."""

    # -- contents -------------------------------------------------------------------------------

    @property
    def current(self) -> EditorPage | None:
        """The page that has or last had the focus."""
        return self.active.current

    @property
    def is_split(self) -> bool:
        """Whether there are two sides."""
        return len(self._groups) > 1

    @property
    def has_tabs(self) -> bool:
        """Whether any tab is open."""
        return any(group.count() for group in self._groups)

    def add_view(self, view: QWidget, title: str, tip: str) -> None:
        """Show a view that is not a prompt in the current side."""
        self.active.add_view(view, title, tip)

    def pages(self) -> Iterator[EditorPage]:
        """Yield every page, starting with the current side."""
        for group in sorted(self._groups, key=lambda each: each is not self.active):
            yield from group.pages()

    def views_of(self, page: EditorPage) -> list[EditorPage]:
        """Return all pages that show the same document, including the page itself."""
        return [each for each in self.pages() if each.controller is page.controller]

    def page_of(self, path: Path) -> EditorPage | None:
        """Return the page of an open file."""
        for page in self.pages():
            if page.controller.path is not None and _same(page.controller.path, path):
                return page
        return None

    def other_group(self) -> TabGroup | None:
        """Return the side that is not the current one."""
        return next((group for group in self._groups if group is not self.active), None)

    # -- actions --------------------------------------------------------------------------------

    def add(self, page: EditorPage) -> None:
        """Show a page in the current side."""
        self.active.add(page)

    def select(self, view: QWidget) -> None:
        """Show the tab of a page or view, and make its side the current one."""
        group = self._group_of(view)
        if group is not None:
            group.setCurrentWidget(view)
            self._activate(group)

    def name(self, page: EditorPage) -> None:
        """Set the title of a page's tab."""
        group = self._group_of(page)
        if group is not None:
            group.name(page)

    def take(self, page: QWidget) -> None:
        """Remove a page; a side without pages is removed as well."""
        group = self._group_of(page)
        if group is None:
            return
        group.take(page)
        if not group.count() and self.is_split:
            self._drop(group)

    # -- two sides ------------------------------------------------------------------------------

    def split(self, orientation: Qt.Orientation = Qt.Orientation.Horizontal) -> None:
        """Show the current document in the other side too: same text and undo, separate carets."""
        page = self.current
        if page is None:
            return
        self._open_side(orientation)
        there = self.active.pages()
        shown = next((each for each in there if each.controller is page.controller), None)
        if shown is None:
            shown = self._make_twin(page)
            self.add(shown)
            shown.editor.setTextCursor(page.editor.textCursor())
            shown.editor.centerCursor()
        self.select(shown)
        shown.editor.setFocus()

    def move_over(self) -> None:
        """Move the shown page to the other side, which is created if necessary."""
        page = self.current
        if page is None or (not self.is_split and len(list(self.pages())) < 2):
            return  # a side needs a page
        self.select(page)
        twin = next((each for each in self.views_of(page) if each is not page), None)
        if twin is not None:
            self.request_close.emit(page)
            self.select(twin)
            twin.editor.setFocus()
            return
        self._put_over(page)
        page.editor.setFocus()

    def join(self) -> None:
        """Merge all pages into one side."""
        kept = self.active
        current = self.current
        for page in list(self.pages()):
            if kept.indexOf(page) >= 0 or not self.is_split:
                continue
            if len(self.views_of(page)) > 1:
                self.request_close.emit(page)
            else:
                self.take(page)
                self.add(page)
        if current is not None:
            self.select(current)
            current.editor.setFocus()

    def go_over(self) -> None:
        """Focus the other side."""
        other = self.other_group()
        if other is not None and other.current is not None:
            self._activate(other)
            other.current.editor.setFocus(Qt.FocusReason.ShortcutFocusReason)

    # -- states of runs -------------------------------------------------------------------------

    def show_breakpoints(
        self, tools: frozenset[str], messages: frozenset[str] = frozenset()
    ) -> None:
        """Mark the tools and messages of the shown prompt that have breakpoints."""
        current = self.current
        for page in self.pages():
            if current is not None and page.controller is current.controller:
                page.editor.show_breakpoints(tools, messages)
            else:
                page.editor.show_breakpoints(frozenset())

    def show_runs(self, marks: Mapping[str, str]) -> None:
        """Mark the tabs of prompts whose run is running or waits for the user.

        Args:
            marks: `running` or `waiting` by the prompt's path, which is empty for unsaved prompts.
        """
        for page in self.pages():
            path = page.controller.path
            mark = marks.get("" if path is None else str(path), "")
            if mark != page.run_mark:
                page.run_mark = mark
                self.name(page)

    # -- internals ------------------------------------------------------------------------------

    def _open_side(self, orientation: Qt.Orientation) -> None:
        """Make the other side the current one; create it if there is only one side."""
        other = self.other_group()
        if other is None:
            other = self._new_group()
            _application().focusChanged.connect(self._on_focus)
        self.setOrientation(orientation)
        self._is_even = True
        self._share()
        self._activate(other)
        self._tell_halves()

    def _put_over(self, page: EditorPage) -> None:
        """Move a page of the current side to the other one, which is created if necessary."""
        other = self.other_group()
        self.take(page)
        if other is None:
            self._open_side(self.orientation())
        else:
            self._activate(other)
        self.add(page)

    def _new_group(self) -> TabGroup:
        group = TabGroup()
        group.currentChanged.connect(lambda: self._on_page(group))
        group.request_close.connect(self.request_close)
        group.request_keep.connect(self.request_keep)
        group.request_close_others.connect(self.request_close_others)
        group.request_move_over.connect(self.move_over)
        group.request_close_view.connect(self.request_close_view)
        self._groups.append(group)
        self.addWidget(group)
        return group

    def _drop(self, group: TabGroup) -> None:
        _application().focusChanged.disconnect(self._on_focus)
        self._groups.remove(group)
        group.hide()
        group.deleteLater()
        self._activate(self._groups[0])
        self._tell_halves()
        if self.current is not None:
            self.current.editor.setFocus(Qt.FocusReason.OtherFocusReason)

    def resizeEvent(self, event: QResizeEvent) -> None:
        """Keep equal sizes of both sides."""
        super().resizeEvent(event)
        if self._is_even and self.is_split:
            self._share()

    def _share(self) -> None:
        across = self.orientation() == Qt.Orientation.Horizontal
        extent = self.width() if across else self.height()
        self.setSizes([extent // 2, extent // 2])

    def _on_dragged(self) -> None:
        self._is_even = False

    def _tell_halves(self) -> None:
        across = self.is_split and self.orientation() == Qt.Orientation.Horizontal
        self.halves_changed.emit(2 if across else 1)

    def _activate(self, group: TabGroup) -> None:
        for each in self._groups:
            each.set_aside(each is not group)
        if group is not self.active:
            self.active = group
            self.current_changed.emit()

    def _group_of(self, page: QWidget) -> TabGroup | None:
        return next((group for group in self._groups if group.indexOf(page) >= 0), None)

    def _on_page(self, group: TabGroup) -> None:
        if group is self.active:
            self.current_changed.emit()

    def _on_focus(self, old: QWidget | None, new: QWidget | None) -> None:
        for group in self._groups:
            if new is not None and group.isAncestorOf(new):
                self._activate(group)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one == other


def _application() -> QApplication:
    application = QApplication.instance()
    assert isinstance(application, QApplication)
    return application
