"""Composition root: creates the application, its services and its window, and runs them."""

from __future__ import annotations

import contextlib
import gc
import importlib.util
import os
import sys
from collections import deque
from collections.abc import Sequence
from importlib.abc import InspectLoader
from pathlib import Path
from threading import Thread
from typing import TYPE_CHECKING

from PySide6.QtCore import QCoreApplication, QEvent, QLockFile, QObject, QThreadPool, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from studio import __version__, quick_start  # noqa: F401 - first: it acts when imported
from studio.core.paths import narrow_home, resource, user_paths
from studio.core.text.files import private_folder
from studio.ui.app.document_commands import BEGINNINGS
from studio.ui.app.main_window import MainWindow
from studio.ui.base.services import build_services, install_language
from studio.ui.style.application import apply_theme, fonts_of, new_application, theme_for
from studio.ui.style.theme import hold_drawings, load_other_fonts, release_drawings
from studio.viewmodels.app.jobs import SWITCH_SECONDS, repeating_timer
from studio.viewmodels.document.controller import TextTrials

if TYPE_CHECKING:
    from studio.core.log import FaultFile
    from studio.core.settings import ThemeSetting
    from studio.ui.app.lifecycle import Lifecycle
    from studio.ui.app.workbench import Workbench


_QUIET_MS = 4_000
_MOST_TICKS = 30
_BUSY = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel}
)


class IdleCollector(QObject):
    """Runs the garbage collector only while the user is idle.

    Measured with a prompt of 6,000 lines: a full collection stops all threads for 90 ms, and runs
    at every second key press.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._timer = repeating_timer(self, self._tick, _QUIET_MS)
        self._touched = False
        self._waited = 0
        self._watched: QObject | None = None

    def start(self, window: QObject | None = None) -> None:
        """Exclude all present objects from garbage collection, and collect others in idle moments.

        Args:
            window: a `QWindow`, which receives keys and mouse events first. A filter on the
                application would be called for each event of each widget: 26,000 for a change of
                colors.
        """
        self._was_enabled = gc.isenabled()
        gc.freeze()
        gc.disable()
        self._watched = window
        if window is not None:
            window.installEventFilter(self)
        self._timer.start()

    def stop(self) -> None:
        """Restore Python's automatic garbage collection."""
        self._timer.stop()
        if self._watched is not None:
            self._watched.removeEventFilter(self)
            self._watched = None
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()

    def touch(self) -> None:
        """Note activity that a collection must not delay, such as a streaming reply."""
        self._touched = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note the activity of the user."""
        if event.type() in _BUSY:
            self._touched = True
        return False

    def _tick(self) -> None:
        """Collect after a pause in activity; after two minutes without a pause, collect anyway."""
        self._waited += 1
        if not self._touched or self._waited >= _MOST_TICKS:
            self._waited = 0
            young, _, grown_old = gc.get_count()
            if grown_old:
                gc.collect()
            elif young > gc.get_threshold()[0]:
                gc.collect(1)  # surviving objects become old: the next collection searches all
        self._touched = False


_LOCK = "first.lock"


class PrimaryInstance:
    """The role of the first running studio, held until it ends."""

    def __init__(self, data: Path) -> None:
        self._data = data
        self._lock: QLockFile | None = None

    def take(self) -> bool:
        """Become the primary instance if there is none; return False if nothing can be written."""
        with contextlib.suppress(OSError):
            private_folder(self._data)
        lock = QLockFile(str(self._data / _LOCK))
        lock.setStaleLockTime(0)  # a lock ends only with its process
        if not lock.tryLock(0):
            return False
        self._lock = lock
        return True

    def leave(self) -> None:
        """Release the role so that the next start becomes the primary instance."""
        if self._lock is not None:
            self._lock.unlock()
            self._lock = None


class FileOpenEvents(QObject):
    """Receives files that macOS opens: by a double click in Finder, or a drop on the studio's icon.

    It filters the events of the application on macOS only, since each event passes through it.
    """

    request_open = Signal(Path)  # a file that the system wants to open

    def __init__(self, application: QCoreApplication, parent: QObject | None = None) -> None:
        super().__init__(parent)
        application.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Handle the system's request to open a file; pass on all other events."""
        if event.type() != QEvent.Type.FileOpen:
            return super().eventFilter(watched, event)
        from PySide6.QtGui import QFileOpenEvent  # needed on macOS only

        name = ""
        if isinstance(event, QFileOpenEvent):
            name = event.file() or event.url().toLocalFile()
        if name:
            self.request_open.emit(Path(name))
        return bool(name)


FIRST_EXAMPLE = "react-agent.prompty"
"""Name of the bundled prompt in a picture if no file is named."""

_AFTER_PAINT = (
    # modules for the first key press
    "studio.application.highlight.lexer",
    "studio.core.prompty.document",
    "studio.ui.editor.text.carets.input",
    "studio.ui.editor.text.carets.line_edits",
    "studio.ui.editor.text.carets.selections",
    "studio.ui.editor.text.keys.typing",
    # modules of the panes
    "studio.ui.app.workbench",
    "studio.ui.app.lifecycle",
)
"""Modules that are loaded after the window is painted, in this order."""

_WITH_QT = ("studio.ui.", "studio.viewmodels.")

_SETTLED_MS = 50
_SETTLED_CHECKS = 4
_SETTLED_MOST = 400
_POOL_MS = 3000


class Studio(QObject):
    """The running program."""

    _found = Signal(str)  # a module with Qt whose dependencies are imported; "" after the last one
    _not_loaded = Signal(Exception)  # the installation is broken

    def __init__(
        self, *, theme: ThemeSetting | None = None, is_safe: bool = False, alone: bool = False
    ) -> None:
        """Create the window; `run` shows it.

        Args:
            theme: theme that overrides the settings.
            is_safe: use default settings, restore nothing, load no tools and trust no folder
                (`--safe`).
            alone: open a separate window (`--new-window`, a picture), which restores nothing and
                receives no files from later starts.
        """
        running = QApplication.instance()
        application = running if isinstance(running, QApplication) else new_application()
        super().__init__()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._application = application
        application.setApplicationName("prompt-studio")
        application.setApplicationDisplayName("Prompt Studio")
        application.setApplicationVersion(__version__)
        narrow_home(user_paths())
        self._services = build_services(user_paths(), is_safe=is_safe)
        if theme is not None:
            self._services.settings.lend_theme(theme)
        chosen = self._services.settings.value
        # Before any pane is created: widgets take their texts, and some their fonts, when they are
        # built.
        self._translators = install_language(application, chosen.language)
        apply_theme(application, theme_for(chosen.theme), fonts_of(chosen))
        self.window = MainWindow(self._services, keep_places=True)
        self.window.tabs.hold()
        hold_drawings()
        self.workbench: Workbench | None = None
        """The panes and their view models; created after the first paint."""
        self._faults: FaultFile | None = None
        self._first = PrimaryInstance(self._services.paths.data)
        self._is_first = not (alone or is_safe) and self._first.take()
        self._shows_example = False
        self.lifecycle: Lifecycle | None = None
        """Log, session and crash handling of the running studio; created with the panes."""
        self._trials = TextTrials() if os.name == "posix" else None
        self._loader: Thread | None = None
        self._waiting: deque[str] = deque()
        self._turns = QTimer(self, interval=0)
        self._turns.timeout.connect(self._import_next)
        self._found.connect(self._wait_for_turn)
        self._not_loaded.connect(self._tell_broken)
        self._collector = IdleCollector(self)
        self.window.installEventFilter(self)
        if sys.platform == "darwin":
            system = FileOpenEvents(application, self)
            system.request_open.connect(self.window.tabs.open)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Load the modules of the panes in a thread after the first paint of the window."""
        if event.type() == QEvent.Type.Paint and self._loader is None:
            self.window.removeEventFilter(self)
            self._loader = Thread(target=self._load, name="studio-loader", daemon=True)
            QTimer.singleShot(0, self._painted)
        return False

    def _painted(self) -> None:
        # Not yet: work that waits for the first paint, such as a measurement, comes first.
        QTimer.singleShot(0, self._after_paint)

    def _after_paint(self) -> None:
        """Complete the window after the first paint and start the loader, which would delay it."""
        release_drawings(self.window)
        self.window.complete()
        from studio.core.log import FaultFile

        self._faults = FaultFile(self._services.paths.data / "log")
        self._faults.open()
        # Reading a picture loads the plug-ins for all picture formats.
        self._application.setWindowIcon(QIcon(str(resource("icons", "prompt-studio.svg"))))
        load_other_fonts()
        self.window.tabs.release(self._trials)
        if self._loader is not None:
            self._loader.start()

    def _load(self) -> None:
        """Import the modules without Qt in a thread for most of a second; the window responds.

        Modules that create Qt classes are left to the thread of the window: Shiboken has a table of
        all classes without a lock, which Qt reads while it paints. A class that another thread adds
        meanwhile crashes the program, about once in 200 starts (6.11 before Python 3.12).
        """
        seen: set[str] = set()
        try:
            for name in _AFTER_PAINT:
                self._load_one(name, seen)
        except Exception as error:  # noqa: BLE001 - told in the window, which would stay empty
            self._not_loaded.emit(error)
            return
        self._found.emit("")

    def _load_one(self, name: str, seen: set[str]) -> None:
        """Import a module, or report one that uses Qt after all modules that it names."""
        if name in seen or name in sys.modules:
            return
        seen.add(name)
        if not name.startswith(_WITH_QT):
            importlib.import_module(name)
            return
        spec = importlib.util.find_spec(name)
        if spec is not None and isinstance(spec.loader, InspectLoader):
            code = spec.loader.get_code(name)
            for used in code.co_names if code is not None else ():
                if used.startswith("studio."):  # only module names contain dots
                    self._load_one(used, seen)
        self._found.emit(name)

    def _wait_for_turn(self, name: str) -> None:
        self._waiting.append(name)
        self._turns.start()

    def _import_next(self) -> None:
        """Import one module, for some milliseconds, between two events of the window."""
        name = self._waiting.popleft()
        if not self._waiting:
            self._turns.stop()
        if not name:
            self._make_workbench()
            return
        try:
            importlib.import_module(name)
        except Exception as error:  # noqa: BLE001 - as above
            self._found.disconnect()
            self._turns.stop()
            self._tell_broken(error)

    def _make_workbench(self) -> None:
        from studio.ui.app.lifecycle import Lifecycle
        from studio.ui.app.workbench import Workbench

        if self.window.isVisible():
            self.workbench = Workbench(self._services, self.window)
            self.workbench.run.streamed.connect(self._collector.touch)
            self._collector.start(self.window.windowHandle())
            self.lifecycle = Lifecycle(
                self._services,
                self.window.parts,
                self.window.commands,
                restore=self._restores,
                is_first=self._is_first,
                hide=self.workbench.connections.secrets.mask,
            )
            self.window.request_closing.connect(self.lifecycle.keep_session)
            self.window.closing.connect(self.lifecycle.rest)
            self.window.commands.trigger_held()

    def _tell_broken(self, error: Exception) -> None:
        """Report a failed load: the window has no panes, but its text can be saved."""
        from studio.ui.dialogs.crash import CrashDialog
        from studio.viewmodels.app.crashes import crash_of

        crash = crash_of(error, "thread", os.environ)
        sys.stderr.write(crash.report)
        dialog = CrashDialog(self._services.paths.data / "log", self.window)
        dialog.add(crash.summary, crash.report)
        dialog.open()
        self._collector.start(self.window.windowHandle())

    def run(self, files: Sequence[Path], *, example: bool = False, begin: str = "") -> int:
        """Show the window until it is closed, and return the exit code.

        Args:
            files: prompts to open.
            example: open a bundled agent if there is nothing else to show.
            begin: `run` or `step`, to be done with the last file when the panes are complete.
        """
        self._shows_example = example
        if begin and files:
            self.window.commands.hold(self.window.actions_by_id[BEGINNINGS[begin]])
        self._open(files)
        self.window.show()
        return self._end(self._application.exec())

    def take_picture(self, out: Path, files: Sequence[Path], size: tuple[int, int]) -> int:
        """Show the window, wait until it is complete, and save a picture of it."""
        self._shows_example = True
        self.window.resize(*size)
        self._open(files)
        self.window.show()
        quiet = 0
        checks = 0
        timer = QTimer(self)

        def check() -> None:
            nonlocal quiet, checks
            checks += 1
            stands = self.workbench is not None and self.workbench.is_settled
            quiet = quiet + 1 if stands else 0
            if quiet >= _SETTLED_CHECKS or checks >= _SETTLED_MOST:
                timer.stop()
                self._application.exit(0 if self.window.grab().save(str(out)) else 1)

        timer.timeout.connect(check)
        timer.start(_SETTLED_MS)
        code = self._application.exec()
        if code:
            sys.stderr.write(f"prompt-studio: {out}: the picture cannot be written\n")
        self.window.close()
        return self._end(code)

    @property
    def _restores(self) -> bool:
        return self._is_first and self._services.settings.value.restore_session

    def _open(self, files: Sequence[Path]) -> None:
        """Open the requested files, else the file that was active last, else the welcome page.

        The other files of the last session are opened when the window is complete (`Lifecycle`).
        """
        for path in files:
            self.window.tabs.open(path.resolve())
        if not files and self._restores:
            self._open_last()
        if self._shows_example and self.window.tabs.current is None:
            self.window.commands.files.open_example(resource("examples", FIRST_EXAMPLE))

    def _open_last(self) -> None:
        from studio.core.settings import SESSION, load_session

        session = load_session(self._services.paths.data / SESSION)
        recent = self._services.settings.value.recent[:1]
        path = next((Path(each) for each in (session.current, *recent) if each), None)
        page = self.window.tabs.open(path) if path is not None and path.is_file() else None
        for file in session.files:
            if page is not None and file.path == str(path):
                page.restore_place(file.caret, file.scroll)

    def _end(self, code: int) -> int:
        if self.lifecycle is not None:
            self.lifecycle.close()
        if self._trials is not None:
            self._trials.close()
        if self._loader is not None and self._loader.ident is not None:
            self._loader.join()
        if self.workbench is not None:
            self.workbench.close()
        QThreadPool.globalInstance().waitForDone(_POOL_MS)
        if self._faults is not None:
            self._faults.close()
        self._first.leave()
        return code
