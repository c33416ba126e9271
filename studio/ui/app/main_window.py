"""The main window: creates and connects its parts, which implement the behavior."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6 import QtGui
from PySide6.QtCore import QMimeData, QSettings, Qt, QTimer, Signal
from PySide6.QtWidgets import QApplication, QMainWindow, QMenu, QMenuBar, QWidget

from studio.application.words import tr
from studio.ui.app.commands import Commands
from studio.ui.app.page_coordinator import PageCoordinator
from studio.ui.base.menus import BESIDE_PANES, ActionSet, add_actions, own_menu
from studio.ui.editor.tabs.tabs import EditorTabs
from studio.ui.files.pane import FilesPane
from studio.ui.outline.pane import OutlinePane
from studio.ui.style.application import apply_theme, fonts_of, theme_for
from studio.ui.style.theme import Theme, set_motion_reduced, theme_in_use
from studio.ui.window import toolbar
from studio.ui.window.docks import Docks
from studio.ui.window.notices import NoticeArea
from studio.ui.window.parts import Panes, WindowParts
from studio.ui.window.status import StatusBar
from studio.ui.window.welcome import WelcomePage

if TYPE_CHECKING:
    from studio.core.settings import Settings
    from studio.ui.app.files_coordinator import FilesCoordinator
    from studio.ui.base.services import Services
    from studio.ui.files.tree import FilesTree

_RECOVERY_MS = 500
"""Milliseconds after the first paint until files of a crashed session are searched."""
_TWICE_MS = 700
"""Maximum milliseconds between two presses of Esc that count as a double press."""
_TITLE_BAR = 40
"""Maximum height of a desktop's title bar, in pixels."""


class MainWindow(QMainWindow):
    """The studio's window. Its owner passes in panes and connects its signals."""

    request_closing = Signal()  # closing is requested; the user may still cancel
    closing = Signal()  # the user agreed to close: release all resources

    def __init__(
        self, services: Services, panes: Panes | None = None, *, keep_places: bool = False
    ) -> None:
        """Create the window.

        Args:
            services: services of the window.
            panes: complete panes.
            keep_places: create empty docks for panes that `take_panes` adds.
        """
        super().__init__()
        self.services = services
        self.panes = panes or Panes()
        self._keep_places = keep_places
        # Before any widget is created: its layout uses fonts and metrics.
        self._fonts = fonts_of(services.settings.value)
        apply_theme(_application(), theme_for(services.settings.value.theme), self._fonts)
        self._escaped_at: int | None = None
        """Time of the first Esc of a possible double press, by the keyboard's clock."""
        self._recovery = QTimer(self, singleShot=True)
        self.setObjectName("window")
        self.setMinimumSize(720, 480)
        self.setAcceptDrops(True)
        self._fit_screen()
        self.actions_by_id = ActionSet(self, services.settings.value.shortcuts)
        self.welcome = WelcomePage(self._keys_of)
        self.tabs = EditorTabs(self.welcome, services.messages, services.swaps, services.settings)
        self.files = FilesPane()
        self.outline = OutlinePane()
        self.status = StatusBar()
        self.model_button = toolbar.ModelButton()
        self.notices = NoticeArea(self, services.messages)
        store = services.paths.data / "window.ini"
        self.docks = Docks(self, QSettings(str(store), QSettings.Format.IniFormat))
        self._place()
        self.parts = WindowParts(
            self,
            services,
            self.actions_by_id,
            self.tabs,
            self.files,
            self.outline,
            self.docks,
            self.status,
            self.toolbar,
            self.run_buttons,
            self.model_button,
            self.recent_menu,
        )
        """Parts of the window for all objects that work with it."""
        self.page_coordinator = PageCoordinator(self.parts)
        self.commands = Commands(self.parts, lambda: self.panes, self.page_coordinator)
        self._wire()
        self._begin()
        if not keep_places:
            self.complete()

    def _place(self) -> None:
        self.setCentralWidget(self.tabs)
        self.setStatusBar(self.status)
        self.docks.add(
            {
                "files": self.files,
                "outline": self.outline,
                "tools": self.panes.tools or self._room(),
                "inputs": self.panes.inputs or self._room(),
                "preview": self.panes.preview or self._room(),
                "run": self.panes.run or self._room(),
                "cases": QWidget(),
                "problems": QWidget(),
                "search": QWidget(),
                "history": self.panes.history or self._room(),
            }
        )
        self.menus = QMenuBar()
        self._named_menus = toolbar.name_menus(self.menus)
        self.recent_menu = QMenu(tr("Open recent"), self.menus)
        self.toolbar = toolbar.build_toolbar(self.actions_by_id, self.model_button, self.menus)
        self.addToolBar(self.toolbar)
        self.run_buttons = toolbar.RunButtons(self.toolbar, self.actions_by_id)
        self.strip = toolbar.SideStrip(self.actions_by_id, self.docks)
        self.addToolBar(Qt.ToolBarArea.LeftToolBarArea, self.strip)

    def _wire(self) -> None:
        """Connect all parts of the window."""
        tabs, messages = self.tabs, self.services.messages
        tabs.current_changed.connect(self.page_coordinator.show_page)
        tabs.parsed.connect(self.page_coordinator.show_document)
        tabs.caret_moved.connect(self.page_coordinator.show_caret)
        tabs.selection_changed.connect(self.page_coordinator.show_selection)
        tabs.title_changed.connect(self._on_title)
        tabs.opened.connect(self._on_opened)
        tabs.opened.connect(self.files.offer_folder_of)
        tabs.opened.connect(self.commands.exchange.offer_import)
        tabs.pasted_whole.connect(self.commands.exchange.offer_pasted)
        tabs.request_zoom.connect(self.commands.zoom)
        tabs.currentChanged.connect(self._on_welcome)
        self.outline.request_reveal.connect(tabs.reveal)
        self.outline.request_go.connect(tabs.go_to)
        self.files.tree_made.connect(self._on_tree)
        self.files.request_open.connect(tabs.open)
        self.files.request_look.connect(tabs.look)
        self.files.request_folder.connect(self.commands.files.ask_folder)
        self.files.request_this.connect(self.commands.files.show_folder)
        self.files.request_leave.connect(self.commands.files.leave_folder)
        self.welcome.request_open.connect(tabs.open)
        self.welcome.request_example.connect(self.commands.files.open_example)
        self.welcome.request_run.connect(self.commands.files.run_example)
        self.welcome.request_action.connect(lambda each: self.actions_by_id[each].trigger())
        self.status.place.clicked.connect(self.actions_by_id["edit.line"].trigger)
        self.status.problems.clicked.connect(lambda: self.docks.show("problems"))
        self.recent_menu.aboutToShow.connect(self.commands.files.fill_recent)
        tabs.sides.halves_changed.connect(self.docks.set_halves)
        self.services.settings.changed.connect(self._on_settings)
        self._recovery.timeout.connect(self.commands.files.offer_recovery)
        QtGui.QGuiApplication.styleHints().colorSchemeChanged.connect(self._on_color_scheme)
        self.commands.connect_actions(self.actions_by_id)
        self._wire_panes()
        if self.services.settings.notice:
            # The message stays until it is closed: the user's settings are not in use.
            file = str(self.services.settings.path)
            messages.say("warning", self.services.settings.notice, where=file, key="settings")

    def _wire_panes(self) -> None:
        if self.panes.preview is not None:
            self.panes.preview.request_reveal.connect(self.tabs.reveal)
            self.panes.preview.request_reveal.connect(lambda _: self.docks.show_center())
            self.page_coordinator.caret_moved.connect(self.panes.preview.messages.light)
        if self.panes.run is not None:
            self.commands.connect_run(self.panes.run)

    def _keys_of(self, action: str) -> str:
        keys = self.actions_by_id[action].shortcut()
        return keys.toString(QtGui.QKeySequence.SequenceFormat.NativeText)

    def _room(self) -> QWidget | None:
        return QWidget() if self._keep_places else None

    def _begin(self) -> None:
        settings = self.services.settings.value
        self._on_settings(settings)
        self.page_coordinator.show_page(None)
        self._on_title("")
        self._arranged = not self.services.is_safe and self.docks.restore()
        if settings.folders:
            self.files.set_roots(settings.folders)
        self._recovery.start(_RECOVERY_MS)

    @cached_property
    def _files_coordinator(self) -> FilesCoordinator:
        """Return the coordinator of files, created with the first tree."""
        from studio.ui.app.files_coordinator import FilesCoordinator

        coordinator = FilesCoordinator(self.parts)
        coordinator.renamed.connect(self.commands.follow_rename)
        return coordinator

    # -- for the window's owner -----------------------------------------------------------------

    def complete(self) -> None:
        """Create the parts that the first paint does not need; with `keep_places`, on request."""
        from studio.ui.base.menus import FocusMenus

        toolbar.fill_menus(self._named_menus, self.actions_by_id, self.docks, self.recent_menu)
        FocusMenus(self)
        self.commands.follow_places()

    def take_panes(self, panes: Panes) -> None:
        """Put panes into their empty docks."""
        self.page_coordinator.list_problems()
        self.panes = panes
        named = {
            "tools": panes.tools,
            "inputs": panes.inputs,
            "preview": panes.preview,
            "run": panes.run,
            "history": panes.history,
        }
        self.docks.fill({name: pane for name, pane in named.items() if pane is not None})
        self._wire_panes()

    def set_theme(self, theme: Theme) -> None:
        """Apply another theme everywhere."""
        apply_theme(_application(), theme, self._fonts)

    # -- slots ----------------------------------------------------------------------------------

    def _on_welcome(self) -> None:
        if self.isVisible():
            is_shown = self.tabs.currentWidget() is self.welcome
            self.docks.set_welcome(is_shown)
            for each in toolbar.RUN:  # nothing to run there
                self.actions_by_id[each].setVisible(not is_shown)

    def _on_tree(self, tree: FilesTree) -> None:
        self._files_coordinator.take(tree)

    def _on_title(self, title: str) -> None:
        shown = title or "Prompt Studio"
        if self.services.is_safe:
            shown = tr("{title} (safe mode)").format(title=shown)
        self.setWindowTitle(tr("{title} — Prompt Studio").format(title=shown) if title else shown)

    def _on_opened(self, path: Path) -> None:
        settings = self.services.settings
        settings.set(settings.value.with_recent(path))

    def _on_settings(self, settings: Settings) -> None:
        self.welcome.set_recent(settings.recent)
        self.actions_by_id.set_shortcuts(settings.shortcuts)
        self.actions_by_id["view.wrap"].setChecked(settings.word_wrap)
        self.actions_by_id["view.whitespace"].setChecked(settings.show_whitespace)
        self.actions_by_id["view.values"].setChecked(settings.inline_values)
        for theme in ("light", "dark", "system"):
            self.actions_by_id[f"view.{theme}"].setChecked(settings.theme == theme)
        for page in self.tabs.pages():
            page.apply_settings(settings)
        set_motion_reduced(_application(), reduced=settings.reduce_motion)
        fonts = fonts_of(settings)
        if theme_for(settings.theme) is not theme_in_use() or fonts != self._fonts:
            self._fonts = fonts
            self.set_theme(theme_for(settings.theme))

    def _on_color_scheme(self) -> None:
        if self.services.settings.value.theme == "system":
            self.set_theme(theme_for("system"))

    def _fit_screen(self) -> None:
        room = self.screen().availableGeometry()
        # The desktop's frame must fit as well; Qt knows its size only after the window is shown.
        self.resize(min(1440, room.width() - 8), min(900, room.height() - _TITLE_BAR))

    # -- events ---------------------------------------------------------------------------------

    def createPopupMenu(self) -> QMenu:  # noqa: N802 - Qt's name
        """Build the context menu of docks and toolbars.

        Qt's own menu can hide the toolbar and its menus, with no way to show them again.
        """
        menu = own_menu(self)
        add_actions(menu, self, BESIDE_PANES)
        menu.addSeparator()
        menu.addActions(self.docks.toggles())
        return menu

    def showEvent(self, event: QtGui.QShowEvent) -> None:
        """Arrange the docks when the window has its size for the first time."""
        super().showEvent(event)
        if not self._arranged:
            self._arranged = True
            self.docks.reset()
        self.docks.fit()
        self._on_welcome()

    def resizeEvent(self, event: QtGui.QResizeEvent) -> None:
        """Hide docks that have no room beside the editor, or show them again."""
        super().resizeEvent(event)
        self.docks.fit()

    def keyPressEvent(self, event: QtGui.QKeyEvent) -> None:
        """Return from the run to the editor on an unused Esc; while typing, on a double press."""
        if event.key() != Qt.Key.Key_Escape or not self.docks.is_running:
            super().keyPressEvent(event)
            return
        page = self.tabs.current
        is_typing = page is not None and page.editor.hasFocus()
        # The time of the key press, not of its handling: a busy window handles it later.
        before, now = self._escaped_at, event.timestamp()
        if not is_typing or (before is not None and 0 <= now - before < _TWICE_MS):
            self._escaped_at = None
            self.docks.write()
        else:
            self._escaped_at = now

    def dragEnterEvent(self, event: QtGui.QDragEnterEvent) -> None:
        """Accept files anywhere on the window."""
        if _files(event.mimeData()):
            event.acceptProposedAction()

    def dropEvent(self, event: QtGui.QDropEvent) -> None:
        """Open the dropped files; folders are added to Files."""
        for path in _files(event.mimeData()):
            if path.is_dir():
                self.commands.files.add_folder(path)
            elif not self.commands.exchange.take_dropped(path):
                self.tabs.open(path)

    def closeEvent(self, event: QtGui.QCloseEvent) -> None:
        """Store unsaved text or ask about it, save the layout, and close."""
        self.request_closing.emit()
        is_hot = self.services.settings.value.hot_exit and not self.services.is_safe
        if not (self.tabs.keep_all() if is_hot else self.tabs.close_all()):
            event.ignore()
            return
        self._recovery.stop()
        self.page_coordinator.rest()
        if "_files_coordinator" in self.__dict__:
            self._files_coordinator.rest()
        if not self.services.is_safe:
            self.docks.save()
        self.docks.end()
        self.notices.clear()
        self.closing.emit()
        self.services.swaps.close()
        event.accept()


def _files(data: QMimeData) -> list[Path]:
    return [Path(url.toLocalFile()) for url in data.urls() if url.isLocalFile()]


def _application() -> QApplication:
    app = QApplication.instance()
    if not isinstance(app, QApplication):
        raise TypeError("a window needs a QApplication")
    return app
