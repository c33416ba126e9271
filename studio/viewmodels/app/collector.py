"""Python's collector of cyclic garbage: in the window's thread, and never while somebody types.

By itself Python searches in whatever thread has just made an object. Where that is not the thread
of the window, Qt's objects among the garbage are ended in the wrong thread: a watcher of files then
leaves its closed handle to the event loop, which warns of it without end, and the window hangs.
"""

import gc

from PySide6.QtCore import QEvent, QObject

from studio.viewmodels.app.jobs import repeating_timer

_QUIET_MS = 4_000
_MOST_TICKS = 30
_BUSY = frozenset(
    {QEvent.Type.KeyPress, QEvent.Type.MouseButtonPress, QEvent.Type.MouseMove, QEvent.Type.Wheel}
)


class IdleCollector(QObject):
    """Runs the garbage collector only when the window was not used for a while.

    Measured with a prompt of 6,000 lines: a full search stops every thread for 90 ms, and comes
    with one key in two.
    """

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._was_enabled = gc.isenabled()
        self._timer = repeating_timer(self, self._tick, _QUIET_MS)
        self._touched = False
        self._waited = 0
        self._watched: QObject | None = None

    def start(self, window: QObject | None = None) -> None:
        """Exclude all present objects from collections, and collect the rest in quiet moments.

        Args:
            window: gets keys and mouse first (a `QWindow`). Not the application: a filter there is
                asked about every event of every widget, 26,000 for a change of colors.
        """
        self._was_enabled = gc.isenabled()
        gc.freeze()
        gc.disable()
        self._watched = window
        if window is not None:
            window.installEventFilter(self)
        self._timer.start()

    def stop(self) -> None:
        """Leave it to Python as before."""
        self._timer.stop()
        if self._watched is not None:
            self._watched.removeEventFilter(self)
            self._watched = None
        gc.unfreeze()
        if self._was_enabled:
            gc.enable()

    def touch(self) -> None:
        """Note activity that must not be kept waiting, such as a streaming reply."""
        self._touched = True

    def eventFilter(self, watched: QObject, event: QEvent) -> bool:
        """Note that somebody is at work."""
        if event.type() in _BUSY:
            self._touched = True
        return False

    def _tick(self) -> None:
        """Search after a quiet spell; after two minutes without one, search anyway."""
        self._waited += 1
        if not self._touched or self._waited >= _MOST_TICKS:
            self._waited = 0
            young, _, grown_old = gc.get_count()
            if grown_old:
                gc.collect()
            elif young > gc.get_threshold()[0]:
                gc.collect(1)  # what it leaves is old: the next one searches everything
        self._touched = False
