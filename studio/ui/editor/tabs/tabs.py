"""The tabs in the center, or the welcome page if no document is open."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtGui import QFocusEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from studio.application.document.files import FileError
from studio.core.experiments.file.names import is_experiment
from studio.ui.editor.page.page import EditorPage
from studio.ui.editor.tabs.sides import EditorSides
from studio.viewmodels.document.controller import UNTITLED

if TYPE_CHECKING:
    from studio.core.prompty.document import PromptDocument
    from studio.core.text.source import Span
    from studio.ui.editor.tabs.page_files import PageFiles
    from studio.viewmodels.app.notifications import Notifications
    from studio.viewmodels.app.settings import SettingsStore
    from studio.viewmodels.document.controller import TextTrials
    from studio.viewmodels.document.swap import Swap, SwapFolder


class EditorTabs(QStackedWidget):
    """Opens, shows, saves and closes documents; signals refer to the current one."""

    current_changed = Signal(EditorPage)  # EditorPage | None
    parsed = Signal(object)  # PromptDocument
    caret_moved = Signal(int)  # offset
    selection_changed = Signal()
    jumping = Signal()  # the caret is about to jump to another line
    title_changed = Signal(str)
    path_moved = Signal(str, str)  # previous path of a prompt, empty if it had none; new path
    opened = Signal(Path)
    saved = Signal(Path)
    first_saved = Signal(str, str)  # id of a document without a file, its new path
    input_renamed = Signal(str, str)  # previous and new name of an input of the current page
    saved_over = Signal(Path, str)  # a file, and the text that it contained before
    view_closed = Signal(QWidget)  # of a file that is not a prompt
    request_zoom = Signal(int)  # steps
    pasted_whole = Signal(str)  # pasted text that is the whole document
    breakpoint_toggled = Signal(str)  # tool name
    message_breakpoint_toggled = Signal(str)  # message, as "user 2"

    def __init__(
        self, welcome: QWidget, messages: Notifications, swaps: SwapFolder, settings: SettingsStore
    ) -> None:
        super().__init__()
        self._messages = messages
        self._swaps = swaps
        self._settings = settings
        self._untitled = 0
        self._holds = False
        self._trials: TextTrials | None = None
        self._closed: list[tuple[Path, int, int]] = []
        """Files of closed tabs, the newest last: path, caret in UTF-16 units, scroll position."""
        self._welcome = welcome
        self.sides = EditorSides(self._page)
        self.addWidget(welcome)
        self.addWidget(self.sides)
        self.sides.current_changed.connect(self._on_current)
        self.sides.request_close.connect(self.close_page)
        self.sides.request_keep.connect(self.keep)
        self.sides.request_close_others.connect(self.close_others)
        self.sides.request_close_view.connect(self.close_view)
        self._views: dict[Path, QWidget] = {}
        self._make_view: Callable[[Path], QWidget] | None = None
        self._view_waits: list[Path] = []

    # -- contents -------------------------------------------------------------------------------

    @property
    def current(self) -> EditorPage | None:
        """The shown page, or None on the welcome page."""
        return self.sides.current

    @property
    def shown_id(self) -> str:
        """Id of the content of the active tab, constant while it is open; empty for none."""
        page = self.current
        return page.controller.id if page is not None else str(self.path or "")

    @property
    def path(self) -> Path | None:
        """File of the active tab, a prompt or not; None without one."""
        page, view = self.current, self.sides.active.currentWidget()
        if page is not None:
            return page.controller.path
        return next((path for path, each in self._views.items() if each is view), None)

    @property
    def document(self) -> PromptDocument | None:
        """The newest parsed document of the shown text."""
        page = self.current
        return page.document if page else None

    def document_now(self) -> PromptDocument | None:
        """Return the document of the shown text, so that a run uses what the user sees."""
        page = self.current
        return page.controller.reading.read_now() if page else None

    @property
    def folder(self) -> Path | None:
        """Folder of the shown file; None for a text that was never saved."""
        path = self.document.source.path if self.document is not None else None
        return path.parent if path is not None else None

    def reveal(self, span: Span | None) -> None:
        """Scroll to a span of the shown text without moving the focus."""
        self._go_to(span, take_keyboard=False)

    def go_to(self, span: Span | None) -> None:
        """Go to a span of the shown text and focus it."""
        self._go_to(span, take_keyboard=True)

    def _go_to(self, span: Span | None, *, take_keyboard: bool) -> None:
        page = self.current
        if page is not None and span is not None:
            self.show_tabs()
            page.editor.reveal(span, take_keyboard=take_keyboard)

    def focusInEvent(self, event: QFocusEvent) -> None:
        """Pass the focus to the text."""
        page = self.current
        if page is not None:
            page.editor.setFocus(event.reason())

    def pages(self) -> Iterator[EditorPage]:
        """Yield every open page; a document in both sides has two."""
        yield from self.sides.pages()

    # -- open -----------------------------------------------------------------------------------

    def new(self, text: str = "", title: str = "") -> EditorPage:
        """Open a new document without a file."""
        self._untitled += 1
        page = self._page()
        page.begin(text, title or f"{UNTITLED}{self._untitled}.prompty")
        return self._show(page)

    def open(self, path: Path) -> EditorPage | None:
        """Show a file in its tab, or in a new one."""
        path = path.absolute()
        if is_experiment(path):
            self.open_view(path)
            if path in self._views:
                self._views[path].setFocus()
            return None
        page = self.open_text(path)
        if page is not None:
            self.keep(page)
            page.editor.setFocus()
        return page

    def look(self, path: Path) -> None:
        """Preview a file in a tab that the next preview replaces, unless opened or changed."""
        path = path.absolute()
        if is_experiment(path):
            self.open_view(path)
            return
        if self.sides.page_of(path) is not None:
            self.open_text(path)
            return
        before = next((each for each in self.pages() if each.is_looked_at), None)
        keyboard = self.window().focusWidget()
        page = self.open_text(path)
        if page is None:
            return
        if before is not None and before.controller.is_dirty:
            self.keep(before)
        elif before is not None:
            self._drop(before)
        page.is_looked_at = True
        self._on_title(page)
        page.controller.dirty_changed.connect(lambda: self.keep(page))
        if keyboard is not None:
            keyboard.setFocus(Qt.FocusReason.OtherFocusReason)

    def keep(self, page: EditorPage) -> None:
        """Keep a preview tab open."""
        if page.is_looked_at:
            page.is_looked_at = False
            self.sides.name(page)

    def open_text(self, path: Path) -> EditorPage | None:
        """Show a file as text, even if it has another view."""
        path = path.absolute()
        held = self.sides.page_of(path)
        if held is not None:
            self._bring(held)
            return held
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

    def _bring(self, tab: QWidget) -> None:
        self.sides.select(tab)
        self.setCurrentWidget(self.sides)

    def recover(self, swap: Swap) -> EditorPage:
        """Show text that a crash left, in the file's tab unless that has other changes."""
        held = self.sides.page_of(Path(swap.path)) if swap.path else None
        if held is not None and not held.controller.is_dirty:
            held.recover(swap)
            self._bring(held)
            return held
        page = self._page()
        page.recover(swap)
        return self._show(page)

    def recover_all(self, swaps: list[Swap]) -> None:
        """Restore the texts that were kept when quitting; the active tab stays active."""
        shown = self.current
        for swap in reversed(swaps):
            self.recover(swap)
        if shown is not None:
            self._bring(shown)

    # -- views that are not prompts -------------------------------------------------------------

    def take_views(self, make: Callable[[Path], QWidget]) -> None:
        """Set the function that creates views of other files, and open the waiting ones."""
        self._make_view = make
        waiting, self._view_waits = self._view_waits, []
        for path in waiting:
            self.open_view(path)

    def open_view(self, path: Path) -> None:
        """Show the view of a file as soon as views can be created."""
        if self._make_view is None:
            self._view_waits.append(path)
            return
        view = self._views.get(path)
        if view is None:
            view = self._views[path] = self._make_view(path)
            self.sides.add_view(view, path.name, str(path))
            self.opened.emit(path)
        self._bring(view)
        self.title_changed.emit(path.name)

    def close_view(self, view: QWidget) -> None:
        """Close a view, which has no unsaved changes."""
        self._closed += [(path, 0, 0) for path, each in self._views.items() if each is view]
        self._views = {path: each for path, each in self._views.items() if each is not view}
        self.sides.take(view)
        self.view_closed.emit(view)
        self._leave(view)

    def _leave(self, tab: QWidget) -> None:
        """Delete the content of a closed tab; show the welcome page after the last one."""
        tab.deleteLater()
        if not self.sides.has_tabs:
            self.show_welcome()
            self._on_current()

    # -- save and close -------------------------------------------------------------------------

    @cached_property
    def files(self) -> PageFiles:
        """Dialogs and questions about the files of pages, created on first use."""
        from studio.ui.editor.tabs.page_files import PageFiles  # not before the first paint

        files = PageFiles(self, self.sides, self._swaps, self._settings)
        files.named.connect(self.opened)
        return files

    def ask_open(self) -> None:
        """Ask for files and show them."""
        for path in self.files.ask_open():
            self.open(path)

    def save(self, page: EditorPage | None = None) -> bool:
        """Save a page; ask for a name if it has none."""
        page = page or self.current
        return page is not None and self.files.save(page)

    def save_as(self, page: EditorPage | None = None) -> bool:
        """Save a page under another name."""
        page = page or self.current
        return page is not None and self.files.save_as(page)

    def save_all(self) -> bool:
        """Save every page with unsaved changes; continue after a page that cannot be saved."""
        return self.files.save_all()

    def close_tab(self) -> None:
        """Close the active tab, or the welcome page in front of the tabs."""
        if self.currentWidget() is self._welcome:
            self.show_tabs()
            return
        shown = self.sides.active.currentWidget()
        if isinstance(shown, EditorPage):
            self.close_page(shown)
        elif shown is not None:
            self.close_view(shown)

    def close_tabs(self) -> None:
        """Close all tabs, or none if the user cancels."""
        if self.close_all():
            for view in list(self._views.values()):
                self.close_view(view)

    def reopen(self) -> bool:
        """Reopen the file of the last closed tab, with its caret position.

        Returns:
            False if there is no file that can be opened.
        """
        while self._closed:
            path, caret, scroll = self._closed.pop()
            if path in self._views or self.sides.page_of(path) is not None or not path.is_file():
                continue
            page = self.open(path)
            if page is not None:
                page.restore_place(caret, scroll)
            return True
        return False

    def close_page(self, page: EditorPage | None = None) -> bool:
        """Close a page; ask about unsaved text that no other page shows."""
        page = page or self.current
        return page is not None and self._close([page])

    def _drop(self, page: EditorPage) -> None:
        twin = next((each for each in self.sides.views_of(page) if each is not page), None)
        if twin is not None:
            page.hand_over(twin)
        else:
            path, editor = page.controller.path, page.editor
            place = editor.textCursor().position(), editor.verticalScrollBar().value()
            self._closed += [(path, *place)] if path is not None else []
            page.close_document()
        self.sides.take(page)
        self._leave(page)

    def close_others(self, page: EditorPage) -> bool:
        """Close every page except one; return False if the user cancels."""
        return self._close([each for each in self.pages() if each is not page])

    def close_all(self) -> bool:
        """Close every page; return False if the user cancels."""
        return self._close(list(self.pages()))

    def keep_all(self) -> bool:
        """Close every page; unsaved texts are restored at the next start.

        Returns:
            False if they cannot be stored and the user cancels.
        """
        if not self.files.keep_for_next_start():
            return self.close_all()
        for page in list(self.pages()):
            self._drop(page)
        return True

    def _close(self, pages: list[EditorPage]) -> bool:
        """Close pages after one question for all of them."""
        is_dirty = any(page.controller.is_dirty for page in pages)
        if is_dirty and not self.files.may_close(pages):
            return False
        for page in pages:
            self._drop(page)
        return True

    # -- all of them ----------------------------------------------------------------------------

    def show_welcome(self) -> None:
        """Show the welcome page; the tabs stay open behind it."""
        self.setCurrentWidget(self._welcome)

    def show_tabs(self) -> None:
        """Return from the welcome page to the tabs, if there are any."""
        if self.sides.has_tabs:
            self.setCurrentWidget(self.sides)

    def hold(self) -> None:
        """Delay coloring and parsing until `release`, for the first paint."""
        self._holds = True

    def release(self, trials: TextTrials | None = None) -> None:
        """Color and parse the shown texts.

        Args:
            trials: tries these and later texts before they are parsed.
        """
        self._holds, self._trials = False, trials
        for page in self.pages():
            page.controller.reading.trials = trials
            page.editor.highlighter.release()
            page.controller.reading.release()

    # -- internals ------------------------------------------------------------------------------

    def _page(self, twin: EditorPage | None = None) -> EditorPage:
        page = EditorPage(self._messages, self._swaps, self._settings.value, twin=twin)
        page.title_changed.connect(lambda: self._on_title(page))
        page.controller.path_moved.connect(self.path_moved)
        page.parsed.connect(partial(self._tell_of, page, self.parsed))
        if twin is None:
            page.controller.reading.trials = self._trials
            page.controller.saved.connect(self.saved)
            page.controller.path_moved.connect(partial(self._on_path_moved, page))
            page.controller.saved_over.connect(self.saved_over)
        page.request_open.connect(self.open)
        page.input_renamed.connect(self.input_renamed)
        page.assist.word_learned.connect(self._learn)
        page.editor.request_zoom.connect(self.request_zoom)
        page.editor.pasted_whole.connect(self.pasted_whole)
        page.editor.breakpoint_toggled.connect(self.breakpoint_toggled)
        page.editor.message_breakpoint_toggled.connect(self.message_breakpoint_toggled)
        if self._holds:
            page.editor.highlighter.hold()
            page.controller.reading.hold()
        page.editor.caret_moved.connect(partial(self._tell_of, page, self.caret_moved))
        page.editor.selectionChanged.connect(partial(self._tell_of, page, self.selection_changed))
        page.editor.jumping.connect(partial(self._tell_of, page, self.jumping))
        return page

    def _on_path_moved(self, page: EditorPage, before: str, now: str) -> None:
        if not before:
            self.first_saved.emit(page.controller.id, now)

    def _show(self, page: EditorPage) -> EditorPage:
        self.sides.add(page)
        self.setCurrentWidget(self.sides)
        self._on_title(page)
        page.editor.setFocus()
        return page

    def _learn(self, word: str) -> None:
        settings = self._settings.value
        self._settings.set(replace(settings, own_words=(*settings.own_words, word)))

    def _on_current(self) -> None:
        page = self.current
        self.current_changed.emit(page)
        shown = self.sides.active.currentWidget()
        view = next((path.name for path, each in self._views.items() if each is shown), "")
        self.title_changed.emit(page.title if page else view)

    def _on_title(self, page: EditorPage) -> None:
        self.sides.name(page)
        self._tell_of(page, self.title_changed, page.title)

    def _tell_of(self, page: EditorPage, signal: SignalInstance, *values: object) -> None:
        """Forward a page's signal if the page is the current one."""
        if page is self.current:
            signal.emit(*values)
