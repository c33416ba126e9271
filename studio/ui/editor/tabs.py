"""The tabs in the middle, with the welcome page where no document is open."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from PySide6.QtCore import QT_TRANSLATE_NOOP, Signal
from PySide6.QtWidgets import QFileDialog, QMessageBox, QStackedWidget, QTabWidget, QWidget

from studio.bridge.files import FileError
from studio.bridge.files_swap import Swap, SwapFolder
from studio.bridge.messages import Messages
from studio.bridge.settings import SettingsStore
from studio.core.prompty.document import PromptDocument
from studio.ui.editor.page import EditorPage
from studio.ui.theme import Theme

PROMPT_FILTER = QT_TRANSLATE_NOOP(
    "Tabs", "Prompts (*.prompty);;Markdown and text (*.md *.txt);;All files (*)"
)


class EditorTabs(QStackedWidget):
    """Opens, shows, saves and closes documents; signals speak of the current one."""

    current_changed = Signal(object)  # EditorPage | None
    parsed = Signal(object)  # PromptDocument
    caret_moved = Signal(int)  # offset
    title_changed = Signal(str)
    opened = Signal(object)  # Path
    zoom_asked = Signal(int)  # steps
    breakpoint_toggled = Signal(str)  # tool name

    def __init__(
        self,
        welcome: QWidget,
        messages: Messages,
        swaps: SwapFolder,
        settings: SettingsStore,
        theme: Theme,
    ) -> None:
        super().__init__()
        self._messages = messages
        self._swaps = swaps
        self._settings = settings
        self._theme = theme
        self._untitled = 0
        self._broken_tools: frozenset[str] = frozenset()
        self._welcome = welcome
        self._tabs = QTabWidget()
        self._tabs.setDocumentMode(True)
        self._tabs.setTabsClosable(True)
        self._tabs.setMovable(True)
        self._tabs.setAccessibleName(self.tr("Open prompts"))
        self.addWidget(welcome)
        self.addWidget(self._tabs)
        self._tabs.currentChanged.connect(self._on_current)
        self._tabs.tabCloseRequested.connect(self._on_close_requested)

    # -- what is open ---------------------------------------------------------------------------

    @property
    def current(self) -> EditorPage | None:
        """The page shown, or None on the welcome page."""
        page = self._tabs.currentWidget()
        return page if isinstance(page, EditorPage) else None

    def pages(self) -> Iterator[EditorPage]:
        """Every open page, left to right."""
        for index in range(self._tabs.count()):
            page = self._tabs.widget(index)
            if isinstance(page, EditorPage):
                yield page

    # -- open -----------------------------------------------------------------------------------

    def new(self, text: str = "", title: str = "") -> EditorPage:
        """A document without a file."""
        self._untitled += 1
        page = self._page()
        page.begin(text, title or f"Untitled-{self._untitled}.prompty")
        return self._show(page)

    def open(self, path: Path) -> EditorPage | None:
        """Show a file, in the tab that it has already where it is open."""
        path = path.absolute()
        for page in self.pages():
            if page.controller.path is not None and _same(page.controller.path, path):
                self._tabs.setCurrentWidget(page)
                return page
        page = self._page()
        try:
            page.open(path)
        except FileError as error:
            self._messages.error(str(error), error.hint, str(path))
            page.close_document()
            page.deleteLater()
            return None
        self.opened.emit(path)
        return self._show(page)

    def recover(self, swap: Swap) -> EditorPage:
        """Show text that a crash left."""
        page = self._page()
        page.recover(swap)
        return self._show(page)

    def ask_open(self) -> None:
        """Ask for files and show them."""
        names, _ = QFileDialog.getOpenFileNames(
            self, self.tr("Open prompt"), self._folder(), PROMPT_FILTER
        )
        for name in names:
            self.open(Path(name))

    # -- save and close -------------------------------------------------------------------------

    def save(self, page: EditorPage | None = None) -> bool:
        """Save a page, asking for a name where it has none."""
        page = page or self.current
        if page is None:
            return False
        return self.save_as(page) if page.controller.path is None else page.save()

    def save_as(self, page: EditorPage | None = None) -> bool:
        """Save a page under another name."""
        page = page or self.current
        if page is None:
            return False
        start = page.controller.path or Path(self._folder()) / page.controller.title
        name, _ = QFileDialog.getSaveFileName(
            self, self.tr("Save prompt"), str(start), PROMPT_FILTER
        )
        if not name:
            return False
        path = Path(name)
        if not page.save(path if path.suffix else path.with_suffix(".prompty")):
            return False
        self.opened.emit(page.controller.path)
        return True

    def save_all(self) -> bool:
        """Save every page that has something to save."""
        return all(self.save(page) for page in list(self.pages()) if page.controller.is_dirty)

    def close_page(self, page: EditorPage | None = None) -> bool:
        """Close a page; asks about unsaved text."""
        page = page or self.current
        if page is None:
            return False
        if page.controller.is_dirty and not self._may_close(page):
            return False
        page.close_document()
        self._tabs.removeTab(self._tabs.indexOf(page))
        page.deleteLater()
        if not self._tabs.count():
            self.setCurrentWidget(self._welcome)
            self._on_current()
        return True

    def close_all(self) -> bool:
        """Close every page; False when the person wants to stay."""
        return all(self.close_page(page) for page in list(self.pages()))

    def show_welcome(self) -> None:
        """Show the welcome page; the tabs stay open behind it."""
        self.setCurrentWidget(self._welcome)

    def show_tabs(self) -> None:
        """Go back from the welcome page to the tabs, where there are any."""
        if self._tabs.count():
            self.setCurrentWidget(self._tabs)

    def step(self, by: int) -> None:
        """Go to the next tab or the one before."""
        if self._tabs.count():
            self._tabs.setCurrentIndex((self._tabs.currentIndex() + by) % self._tabs.count())

    def show_breakpoints(self, tools: frozenset[str]) -> None:
        """Mark the tools that a run stops before, in every editor."""
        self._broken_tools = tools
        for page in self.pages():
            page.editor.show_breakpoints(tools)

    def set_theme(self, theme: Theme) -> None:
        """Take other colours."""
        self._theme = theme
        for page in self.pages():
            page.set_theme(theme)

    # -- inside ---------------------------------------------------------------------------------

    def _page(self) -> EditorPage:
        page = EditorPage(self._messages, self._swaps, self._settings.value, self._theme)
        page.title_changed.connect(lambda: self._on_title(page))
        page.parsed.connect(lambda document: self._on_parsed(page, document))
        page.open_asked.connect(self.open)
        page.editor.zoom_asked.connect(self.zoom_asked)
        page.editor.breakpoint_toggled.connect(self.breakpoint_toggled)
        page.editor.show_breakpoints(self._broken_tools)
        page.caret_moved.connect(lambda offset: self._on_caret(page, offset))
        return page

    def _show(self, page: EditorPage) -> EditorPage:
        index = self._tabs.addTab(page, page.title)
        self.setCurrentWidget(self._tabs)
        self._tabs.setCurrentIndex(index)
        self._on_title(page)
        page.editor.setFocus()
        return page

    def _folder(self) -> str:
        page = self.current
        if page is not None and page.controller.path is not None:
            return str(page.controller.path.parent)
        return self._settings.value.workspace or str(Path.home())

    def _may_close(self, page: EditorPage) -> bool:
        self._tabs.setCurrentWidget(page)
        button = QMessageBox.StandardButton
        box = QMessageBox(self.window())
        box.setIcon(QMessageBox.Icon.NoIcon)
        box.setWindowTitle(self.tr("Unsaved changes"))
        box.setText(self.tr("Save the changes to {title}?").format(title=page.controller.title))
        box.setInformativeText(self.tr("Without saving they are lost."))
        box.setStandardButtons(button.Save | button.Discard | button.Cancel)
        box.setDefaultButton(button.Save)
        answer = box.exec()
        if answer == button.Save:
            return self.save(page)
        return answer == button.Discard

    def _on_current(self) -> None:
        page = self.current
        self.current_changed.emit(page)
        self.title_changed.emit(page.title if page else "")

    def _on_title(self, page: EditorPage) -> None:
        index = self._tabs.indexOf(page)
        if index < 0:
            return
        self._tabs.setTabText(index, page.title)
        self._tabs.setTabToolTip(index, str(page.controller.path or self.tr("Not saved yet")))
        if page is self.current:
            self.title_changed.emit(page.title)

    def _on_parsed(self, page: EditorPage, document: PromptDocument) -> None:
        if page is self.current:
            self.parsed.emit(document)

    def _on_caret(self, page: EditorPage, offset: int) -> None:
        if page is self.current:
            self.caret_moved.emit(offset)

    def _on_close_requested(self, index: int) -> None:
        page = self._tabs.widget(index)
        if isinstance(page, EditorPage):
            self.close_page(page)


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return one == other
