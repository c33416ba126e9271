"""Log, session and crash handling of a running studio.

It covers the log, uncaught exceptions, later starts, and the files to open at the next start. None
of this is needed or imported before the window's first paint.
"""

from collections.abc import Callable
from pathlib import Path

from PySide6.QtCore import QObject, Qt

from studio.application.words import tr
from studio.core.log import hard_crashes, set_aside, start_log, stop_log
from studio.core.plugins import failed
from studio.core.settings import SESSION, OpenFile, Session, load_session, save_session
from studio.ui.app.commands import Commands
from studio.ui.app.document_commands import BEGINNINGS
from studio.ui.base.services import Services
from studio.ui.dialogs.crash import CrashDialog
from studio.ui.window.parts import WindowParts
from studio.viewmodels.app.crashes import Crash, Crashes
from studio.viewmodels.app.instance import InstanceServer
from studio.viewmodels.app.jobs import repeating_timer

_KEEP_MS = 5000
"""Interval for saving the list of open files, so that it survives a crash."""


class Lifecycle(QObject):
    """Services from the creation of the panes to the end of the window."""

    def __init__(
        self,
        services: Services,
        window: WindowParts,
        commands: Commands,
        *,
        restore: bool,
        is_first: bool,
        hide: Callable[[str], str] = str,
    ) -> None:
        """Start the services.

        Args:
            services: the window's services.
            window: the parts of the window.
            commands: commands that later starts request.
            restore: reopen the other files of the last session.
            is_first: save the session and listen for later starts. False for a window beside
                another studio, whose session it would overwrite.
            hide: hides secrets in a text before it is logged or shown.
        """
        super().__init__(window.widget)
        self._services = services
        self._window = window
        self._commands = commands
        self._dialog: CrashDialog | None = None
        self._log = services.paths.data / "log"
        start_log(self._log, hide)
        self.crashes = Crashes(self, hide=hide)
        self.crashes.happened.connect(self.show_crash)
        self.crashes.watch()
        self.crashes.watch_tasks()
        self._server = InstanceServer(services.paths.data, self)
        self._server.request_open.connect(self._on_later_start)
        self._is_first = is_first
        if is_first:
            self._server.listen()
        self._timer = repeating_timer(self, self.keep_session, _KEEP_MS)
        if restore:
            self._restore()
        if is_first:
            self._timer.start()
        self._begin()
        for plugin in failed():
            key = f"plugin-{plugin.group}-{plugin.name}"
            self._services.messages.say("warning", plugin.error, key=key)

    def _begin(self) -> None:
        crashes = hard_crashes(self._log)
        if crashes:
            text = crashes[-1].text
            for crash in crashes:
                set_aside(crash)
            self._show(text)
        elif self._services.is_safe:
            self._services.messages.say(
                "info",
                tr("Safe mode: default settings, no tools, no trusted folder."),
                tr("Nothing was restored, and changed settings are not saved."),
                key="safe",
            )

    def rest(self) -> None:
        """Stop saving the session: the window is closing."""
        self._timer.stop()

    def close(self) -> None:
        """Stop the services and restore the previous handlers."""
        self._timer.stop()
        self._server.close()
        self.crashes.rest()
        stop_log()

    # -- exceptions ------------------------------------------------------------------------------

    def show_crash(self, crash: Crash) -> None:
        """Report an uncaught exception; further ones are added to the open dialog."""
        if self._dialog is None:
            self._dialog = self._new_dialog()
        self._dialog.add(crash.summary, crash.report)
        self._dialog.open()

    def _show(self, report: str) -> None:
        self._dialog = self._new_dialog()
        self._dialog.tell_of_end(report)
        self._dialog.open()

    def _new_dialog(self) -> CrashDialog:
        dialog = CrashDialog(self._log, self._window.widget)
        dialog.request_save_and_quit.connect(self._leave)
        dialog.destroyed.connect(self._forget_dialog)
        return dialog

    def _forget_dialog(self) -> None:
        self._dialog = None

    def _leave(self) -> None:
        if self._window.tabs.save_all():
            self._window.widget.close()

    # -- later starts ---------------------------------------------------------------------------

    def _on_later_start(self, paths: tuple[Path, ...], begin: str) -> None:
        for path in paths:
            self._window.tabs.open(path)
        if paths and begin in BEGINNINGS:
            self._commands.files.run_open(BEGINNINGS[begin])
        window = self._window.widget
        window.setWindowState(window.windowState() & ~Qt.WindowState.WindowMinimized)
        window.show()
        window.raise_()
        window.activateWindow()

    # -- the session ----------------------------------------------------------------------------

    def keep_session(self) -> None:
        """Save the list of open files."""
        if not self._is_first:
            return
        files: dict[str, OpenFile] = {}
        for page in self._window.tabs.pages():
            path = page.controller.path
            if path is not None and str(path) not in files:
                files[str(path)] = OpenFile(
                    str(page.controller.path),
                    page.editor.textCursor().position(),
                    page.editor.verticalScrollBar().value(),
                )
        session = Session(tuple(files.values()), str(self._window.tabs.path or ""))
        save_session(self._services.paths.data / SESSION, session)

    def _order(self, paths: list[Path]) -> None:
        """Restore the order of the tabs; other tabs follow."""
        group = self._window.tabs.sides.active
        target = 0
        for path in paths:
            shown = [page.controller.path for page in group.pages()]
            if path in shown:
                group.tabBar().moveTab(shown.index(path), target)
                target += 1

    def _restore(self) -> None:
        """Reopen the files of the last session besides the one that is already shown."""
        tabs = self._window.tabs
        session = load_session(self._services.paths.data / SESSION)
        shown, front = tabs.current, tabs.path
        gone = []
        for file in session.files:
            path = Path(file.path)
            if any(page.controller.path == path for page in tabs.pages()):
                continue
            if not path.is_file():
                gone.append(path.name)
                continue
            page = self._window.tabs.open(path)
            if page is not None:
                page.restore_place(file.caret, file.scroll)
        self._order([Path(file.path) for file in session.files])
        if shown is not None:
            tabs.sides.select(shown)
            shown.editor.setFocus()
        elif front is not None:
            tabs.open(front)
        if gone:
            self._services.messages.info(
                tr("No longer there: {names}.").format(names=", ".join(gone[:5]))
            )
