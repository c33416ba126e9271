"""The commands of the window: a table from action ids to functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QApplication

from studio.application.words import tr
from studio.core.paths import resource
from studio.core.settings import Settings
from studio.ui.app.document_commands import EditorCommands, ExchangeCommands, FileCommands
from studio.ui.editor.page.page import EditorPage

if TYPE_CHECKING:
    from PySide6.QtGui import QAction

    from studio.ui.app.comparisons import Comparisons
    from studio.ui.app.navigation import Chooser, Navigation
    from studio.ui.app.page_coordinator import PageCoordinator
    from studio.ui.base.menus import ActionSet
    from studio.ui.dialogs.settings.dialog import SettingsDialog
    from studio.ui.run.pane import RunPane
    from studio.ui.window.parts import Panes, WindowParts


_USUAL_SIZE = Settings().editor_font_size

_BEGIN = frozenset(("run.step", "run.into", "run.out", "run.rerun", "run.replay"))
"""Actions that start a run if none is running."""
_IN_PLACE = frozenset(("run.start", "run.stop"))
"""Actions after which the answer beside the text suffices, without the run pane."""


class Commands(QObject):
    """Executes the actions of one window."""

    trust_changed = Signal()  # a folder is no longer trusted
    request_cases_run = Signal()  # run the shown cases

    def __init__(
        self, window: WindowParts, panes: Callable[[], Panes], page: PageCoordinator
    ) -> None:
        """Create the commands.

        Args:
            window: parts of the window.
            panes: returns the panes, which are created after the window.
            page: the active page and its problems.
        """
        super().__init__(window.widget)
        self._window = window
        self._panes = panes
        self._page = page
        self._held: dict[QAction, EditorPage | None] = {}
        self._editing = EditorCommands(window, self)
        self.files = FileCommands(window, self)
        """New prompts, examples, folders, and recovery after a crash."""
        self.exchange = ExchangeCommands(window, panes)
        """Export and import."""
        window.tabs.saved_over.connect(self._keep_earlier)

    @cached_property
    def navigation(self) -> Navigation:
        """Return the caret history, created on first use."""
        from studio.ui.app.navigation import Navigation

        return Navigation(self._window.tabs, self)

    def follow_places(self) -> None:
        """Start recording caret positions, after the first paint."""
        self.navigation.note_place()

    @cached_property
    def comparisons(self) -> Comparisons:
        """Return the comparisons of the prompt with its earlier texts."""
        from studio.ui.app.comparisons import Comparisons

        return Comparisons(self._window, self._panes, lambda: self.chooser.palette)

    # Imported here, so that the modules for comparison are not loaded with the window.
    def _compare(self, page: EditorPage) -> None:
        self.comparisons.ask(page)

    def _compare_saved(self, page: EditorPage) -> None:
        self.comparisons.with_saved(page)

    def follow_rename(self, old: Path, new: Path) -> None:
        """Handle a file or folder that was renamed in Files."""
        self.comparisons.follow_rename(old, new)

    def _keep_earlier(self, path: Path, text: str) -> None:
        self.comparisons.keep(path, text)

    @cached_property
    def chooser(self) -> Chooser:
        """Return the dialog for choosing one of many items, created on first use."""
        from studio.ui.app.navigation import Chooser

        return Chooser(self._window, self.files.new_from, self)

    def _asking(self, name: str) -> Callable[[], None]:
        def ask() -> None:
            getattr(self.chooser, name)()

        return ask

    def connect_actions(self, actions: ActionSet) -> None:
        """Connect each action of the table to its function; panes connect the others."""
        table = self._table()
        for action in actions:
            act = table.get(action.objectName()) or partial(self.hold, action)
            action.triggered.connect(lambda _=False, act=act: act())

    def hold(self, action: QAction) -> None:
        """Store an action that was triggered before its pane exists, for `trigger_held`."""
        if self._panes().run is None:
            self._held.setdefault(action, self._window.tabs.current)

    def trigger_held(self) -> None:
        """Trigger the actions that were requested before the panes existed, on the shown page."""
        for action, page in self._held.items():
            if page in (None, self._window.tabs.current):
                self.files.trigger_when_read(action)
        self._held.clear()

    def connect_run(self, pane: RunPane) -> None:
        """Connect the run actions to the run pane."""
        actions = self._window.actions
        for identifier, act in {
            "run.start": pane.commands.run_or_continue,
            "run.step": lambda: pane.commands.step("over"),
            "run.into": lambda: pane.commands.step("into"),
            "run.out": lambda: pane.commands.step("out"),
            "run.approve": pane.commands.approve,
            "run.pause": pane.commands.pause,
            "run.stop": pane.commands.stop,
            "run.breakpoints": pane.request_breakpoints.emit,
            "run.go": pane.timeline.setFocus,
            "run.console": pane.state_panel.open_console,
            "run.find": pane.search.open_search,
            "run.branches": pane.bar.branches.trigger,
            "run.rerun": lambda: pane.commands.request_offer.emit("rerun"),
            "run.replay": lambda: pane.commands.request_offer.emit("replay"),
            "run.export": pane.bar.export.trigger,
        }.items():
            actions[identifier].triggered.connect(partial(self._run, pane, identifier, act))
        actions["run.approve"].setEnabled(pane.view.approvable is not None)
        pane.approvable_changed.connect(actions["run.approve"].setEnabled)
        buttons = self._window.run_buttons
        buttons.name_run(pane.bar.run.text())
        pane.bar.run_named.connect(buttons.name_run)
        pane.bar.step_named.connect(buttons.tell_step)
        pane.bar.choice_shown.connect(buttons.mute_run)
        pane.bar.stop.enabledChanged.connect(buttons.show_stops)
        for identifier, source in {
            "run.start": pane.bar.run,
            "run.step": pane.bar.over,
            "run.into": pane.bar.into,
            "run.out": pane.bar.out,
            "run.pause": pane.bar.pause,
            "run.stop": pane.bar.stop,
            "run.branches": pane.bar.branches,
            "run.find": pane.bar.search,
            "run.rerun": pane.bar.restart,
            "run.replay": pane.bar.restart,
            "run.export": pane.bar.export,
        }.items():
            actions[identifier].setEnabled(source.isEnabled())
            source.enabledChanged.connect(actions[identifier].setEnabled)

    def _run(
        self, pane: RunPane, identifier: str, act: Callable[[], None], _: bool = False
    ) -> None:
        """Show the pane and run an action, unless the answer suffices or a run may be refused."""
        if identifier == "run.start" and self._window.docks.is_shown("cases"):
            self.request_cases_run.emit()
            return
        if identifier in _IN_PLACE:
            is_shown = pane.view.is_waiting and pane.view.needs_stage
        else:
            is_shown = bool(identifier not in _BEGIN or pane.view.is_live or pane.view.record)
        if is_shown:
            self._window.docks.show("run")
        act()

    def _table(self) -> dict[str, Callable[[], object]]:
        window, tabs = self._window, self._window.tabs
        return {
            "file.new": self.files.new,
            "file.template": self._asking("ask_template"),
            "file.open": tabs.ask_open,
            "file.folder": self.files.ask_folder,
            "file.add_folder": self.files.ask_more_folder,
            "file.quick": self._asking("ask_file"),
            "file.save": tabs.save,
            "file.save_as": tabs.save_as,
            "file.save_all": tabs.save_all,
            "file.reload": self._on_page(lambda page: page.disk.take_file()),
            "file.close": tabs.close_tab,
            "file.close_all": tabs.close_tabs,
            "file.reopen": self.files.reopen,
            "file.export": self.exchange.export,
            "file.import": self.exchange.ask_import,
            "file.settings": self.settings,
            "file.quit": window.widget.close,
            "edit.back": lambda: self.navigation.go(-1),
            "edit.forward": lambda: self.navigation.go(1),
            "edit.line": self._asking("ask_line"),
            "edit.symbol": self._asking("ask_symbol"),
            "edit.uses": self._asking("ask_use"),
            "edit.snippet": self._asking("ask_snippet"),
            "edit.spelling": self._asking("ask_spelling"),
            **self._editing.table(self._on_page),
            "view.commands": self._asking("ask_command"),
            "view.light": lambda: self._set(theme="light"),
            "view.dark": lambda: self._set(theme="dark"),
            "view.system": lambda: self._set(theme="system"),
            "view.zoom_in": lambda: self.zoom(1),
            "view.zoom_out": lambda: self.zoom(-1),
            "view.zoom_reset": lambda: self.zoom(0),
            "view.wrap": lambda: self._set(word_wrap=self._is_on("view.wrap")),
            "view.whitespace": lambda: self._set(show_whitespace=self._is_on("view.whitespace")),
            "view.values": lambda: self._set(inline_values=self._is_on("view.values")),
            "view.problems": lambda: window.docks.show("problems"),
            "view.files": self.files.go_to_files,
            "view.reset": window.docks.reset,
            "view.side": window.docks.toggle_side,
            "view.right": window.docks.toggle_right,
            "view.bottom": window.docks.toggle_bottom,
            "view.all_sides": window.docks.toggle_all,
            "view.maximize": self._maximize,
            "view.run_window": self._run_window,
            "prompt.check": self._page.check,
            "prompt.compare": self._on_page(self._compare),
            "prompt.compare_saved": self._on_page(self._compare_saved),
            "run.breakpoint": self._on_page(self.toggle_breakpoint),
            "help.guide": self.guide,
            "help.tour": self.tour,
            "help.storage": self.show_storage,
            "help.shortcuts": self.show_shortcuts,
            "help.welcome": tabs.show_welcome,
            "help.about": self.about,
        }

    def _maximize(self) -> None:
        docks = self._window.docks
        docks.maximize(docks.name_at(QApplication.focusWidget()))

    def _run_window(self) -> None:
        docks = self._window.docks
        if "run" in docks:
            docks.show("run")
            docks["run"].setFloating(not docks["run"].isFloating())
            docks.leave_to_window("run")

    def _on_page(self, act: Callable[[EditorPage], object]) -> Callable[[], None]:
        def run() -> None:
            page = self._window.tabs.current
            if page is not None:
                self._window.tabs.show_tabs()
                act(page)

        return run

    # -- the prompt -----------------------------------------------------------------------------

    def declare_input(self, name: str) -> None:
        """Declare an input in the front matter, as one undo step."""
        from studio.core.prompty.edit.edits import declare_input
        from studio.core.prompty.edit.keep_dialect import keeping_dialect
        from studio.core.prompty.known_fields import used_kinds

        page, document = self._window.tabs.current, self._window.tabs.document
        if page is not None and document is not None and document.source.text == page.editor.text():
            kind = used_kinds(document).get(name, "string")
            edits = keeping_dialect(document, declare_input(document, name, kind))
            page.editor.apply_edits(edits)

    def toggle_breakpoint(self, page: EditorPage) -> None:
        """Set or clear a breakpoint on the tool or the message at the caret."""
        if not page.editor.toggle_breakpoint():
            self._window.messages.info(
                tr("There is no tool and no message on this line."),
                tr(
                    "A run can stop before a call of a tool or before a request with a message: "
                    "put the caret on the tool or the role. Other breakpoints are set in the Run "
                    "pane's diagram."
                ),
            )

    def settings(self) -> None:
        """Open the settings."""
        self._settings_dialog().open()

    def show_shortcuts(self) -> None:
        """Open the settings on the page of shortcuts."""
        dialog = self._settings_dialog()
        dialog.show_shortcuts()
        dialog.open()

    def _settings_dialog(self) -> SettingsDialog:
        from studio.ui.dialogs.settings.dialog import SettingsDialog

        window = self._window
        dialog = SettingsDialog(window.services, window.widget)
        dialog.request_connections.connect(window.actions["run.connections"].trigger)
        dialog.trust_forgotten.connect(self.trust_changed)
        return dialog

    def guide(self) -> None:
        """Open the user guide."""
        from studio.ui.dialogs.help import HelpDialog

        dialog = HelpDialog(self._window.widget)
        dialog.show()

    def tour(self) -> None:
        """Start the tour of the window."""
        from studio.ui.app.tour import Tour

        if self._window.tabs.current is None:
            self.files.open_example(resource("examples", "react-agent.prompty"))
        self._window.tabs.show_tabs()
        Tour(self._window).start()

    def show_storage(self) -> None:
        """Open the settings on the page of stored data."""
        dialog = self._settings_dialog()
        dialog.show_storage()
        dialog.open()

    def about(self) -> None:
        """Show the program's version and license."""
        from studio.ui.dialogs.help import AboutDialog

        AboutDialog(self._window.widget).open()

    # -- settings -------------------------------------------------------------------------------

    def _set(self, **changes: object) -> None:
        store = self._window.services.settings
        store.set(replace(store.value, **changes))  # type: ignore[arg-type]

    def _is_on(self, identifier: str) -> bool:
        return self._window.actions[identifier].isChecked()

    def zoom(self, by: int) -> None:
        """Enlarge or shrink the text of all editors; 0 restores the default size."""
        size = self._window.services.settings.value.editor_font_size + by if by else _USUAL_SIZE
        self._set(editor_font_size=max(6.0, min(size, 40.0)))
