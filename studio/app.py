"""Composition root: makes the application, its services and its window, and runs them."""

from __future__ import annotations

import gc
import importlib
import sys
import traceback
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from threading import Thread
from types import TracebackType
from typing import TYPE_CHECKING

from PySide6.QtCore import QEvent, QObject, QThreadPool, QTimer, Signal
from PySide6.QtGui import QIcon
from PySide6.QtWidgets import QApplication

from studio import __version__
from studio.bridge.collector import CalmCollector
from studio.bridge.jobs import SWITCH_SECONDS
from studio.bridge.messages import Notice
from studio.core.paths import user_paths
from studio.core.resource_files import resource
from studio.core.settings import ThemeSetting
from studio.ui.services import build_services
from studio.ui.theme import apply_theme, theme_for
from studio.ui.window import MainWindow

if TYPE_CHECKING:
    from studio.ui.workbench import Workbench

# What is made while starting stays anyway; looking through it for garbage costs a tenth of a start.
gc.disable()

FIRST_EXAMPLE = "react-agent.prompty"
"""What a first start opens: the loop at its most visible."""

_SETTLED_MS = 50
_SETTLED_CHECKS = 4
_SETTLED_MOST = 400
_POOL_MS = 3000


class Studio(QObject):
    """The running program."""

    _loaded = Signal()  # everything that the panes need is imported

    def __init__(self, *, theme: ThemeSetting | None = None) -> None:
        application = QApplication.instance() or QApplication(sys.argv[:1])
        super().__init__()
        sys.setswitchinterval(SWITCH_SECONDS)
        self._application = application
        application.setApplicationName("prompt-studio")
        application.setApplicationDisplayName("Prompt Studio")
        application.setApplicationVersion(__version__)
        self._services = build_services(user_paths())
        if theme is not None:
            settings = self._services.settings
            settings.set(replace(settings.value, theme=theme))
        # Before any pane is made: some take their fonts when they are built.
        apply_theme(application, theme_for(self._services.settings.value.theme))
        self.window = MainWindow(self._services, keep_places=True)
        self.workbench: Workbench | None = None
        """The panes and what feeds them; made once the window has been painted."""
        application.setWindowIcon(QIcon(str(resource("icons", "prompt-studio.svg"))))
        sys.excepthook = self._on_crash
        self._loader: Thread | None = None
        self._loaded.connect(self._make_workbench)
        self._collector = CalmCollector(self)
        self.window.installEventFilter(self)

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """After the window's first paint, load what the panes need, beside the window."""
        if event.type() == QEvent.Type.Paint and self._loader is None:
            self.window.removeEventFilter(self)
            self._loader = Thread(target=self._load, name="studio-loader", daemon=True)
            self._loader.start()
        return False

    def _load(self) -> None:
        """Importing takes most of a second; in a thread, the window answers meanwhile."""
        importlib.import_module("studio.ui.workbench")
        gc.enable()
        self._loaded.emit()

    def _make_workbench(self) -> None:
        from studio.ui.workbench import Workbench

        if self.window.isVisible():
            self.workbench = Workbench(self._services, self.window)
            self._collector.start()

    def run(self, files: Sequence[Path]) -> int:
        """Show the window until it is closed; returns the exit code."""
        self._open(files)
        self.window.show()
        return self._end(self._application.exec())

    def take_picture(self, out: Path, files: Sequence[Path], size: tuple[int, int]) -> int:
        """Show the window, wait until everything in it stands, and write a picture of it."""
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

    def _open(self, files: Sequence[Path]) -> None:
        """The files asked for, else the one of last time, else the first example."""
        recent = [Path(name) for name in self._services.settings.value.recent[:1]]
        for path in files or [path for path in recent if path.is_file()]:
            self.window.open_path(path.resolve())
        if self.window.tabs.current is None:
            self.window.commands.open_example(resource("examples", FIRST_EXAMPLE))

    def _end(self, code: int) -> int:
        if self._loader is not None:
            self._loader.join()
        if self.workbench is not None:
            self.workbench.close()
        QThreadPool.globalInstance().waitForDone(_POOL_MS)
        sys.excepthook = sys.__excepthook__
        return code

    def _on_crash(
        self, kind: type[BaseException], error: BaseException, trace: TracebackType | None
    ) -> None:
        """A defect of the studio: said, and survived; the text typed is in its swap file."""
        traceback.print_exception(kind, error, trace)
        if issubclass(kind, KeyboardInterrupt):
            self._application.quit()
            return
        last = traceback.extract_tb(trace)[-1:] if trace is not None else []
        self._services.messages.say(
            Notice(
                "error",
                "Something went wrong inside the studio. What you typed is safe.",
                "Save your work; if it comes again, report the lines on the error stream.",
                f"{kind.__name__}: {error}" + (f" ({last[0].name})" if last else ""),
                key="crash",
            )
        )
