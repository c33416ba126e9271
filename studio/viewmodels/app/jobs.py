"""One-shot work on snapshots in Qt's thread pool; the newest revision wins."""

from collections import deque
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, SignalInstance

Result = TypeVar("Result")

SWITCH_SECONDS = 0.0005
"""Time slice of a job while the window waits for the interpreter, in seconds.

Python's own 5 ms are waited for at each return from Qt into Python: a key pressed while a long text
is read was painted after 72 ms (95th percentile, 5,000 lines), with this after 11 ms.
"""


def single_shot(
    owner: QObject, act: Callable[[], object] | SignalInstance, milliseconds: int = 0
) -> QTimer:
    """Make a timer that acts once after each start; it is not started yet."""
    timer = repeating_timer(owner, act, milliseconds)
    timer.setSingleShot(True)
    return timer


def repeating_timer(
    owner: QObject, act: Callable[[], object] | SignalInstance, milliseconds: int = 0
) -> QTimer:
    """Make a timer that acts again and again until it is stopped; it is not started yet."""
    timer = QTimer(owner, interval=milliseconds)
    timer.timeout.connect(act)
    return timer


class _Relay(QObject):
    """Owned by the job, so that the sender outlives a controller that died with a job in flight."""

    finished = Signal(int, object)  # revision, result
    failed = Signal(int, Exception)  # revision, exception


class _Job(Generic[Result]):
    """One piece of work on its way.

    No `QRunnable`: PySide 6.11 never frees one in ten of those whose `run` ends while `start` still
    hands them over, with all that they hold (measured: 45 documents a minute of typing).
    """

    def __init__(self, revision: int, work: Callable[[], Result], spent: deque[_Relay]) -> None:
        self._revision = revision
        self._work = work
        self._spent = spent
        self._relay: _Relay | None = _Relay()

    def connect(
        self, finished: Callable[[int, Result], None], failed: Callable[[int, Exception], None]
    ) -> None:
        """Report the end."""
        if self._relay is not None:
            self._relay.finished.connect(finished)
            self._relay.failed.connect(failed)

    def run(self) -> None:
        """Work; in the pool's thread."""
        relay, self._relay = self._relay, None
        if relay is None:
            return
        try:
            result = self._work()
        except Exception as error:  # noqa: BLE001 - the border of the pool: handed on, not swallowed
            relay.failed.emit(self._revision, error)
        else:
            relay.finished.emit(self._revision, result)
        # Not ended here, where the last hold on it may be: it belongs to the window's thread.
        self._spent.append(relay)


def in_thread(work: Callable[[], None]) -> None:
    """Work in a thread of its own, which may wait long and does not hold up the end."""
    Thread(target=work, daemon=True).start()


def in_pool(work: Callable[[], None]) -> None:
    """Work in Qt's pool, which has a thread for each core."""
    QThreadPool.globalInstance().start(work)


class LatestJob(QObject, Generic[Result]):
    """Keeps at most one job in flight; asked again meanwhile, it runs once more with the newest."""

    finished = Signal(object)  # the newest result
    failed = Signal(Exception)  # the exception of the newest
    busy_changed = Signal(bool)

    def __init__(
        self,
        parent: QObject | None = None,
        take: Callable[[Result], object] | None = None,
        fail: Callable[[Exception], object] | None = None,
        start: Callable[[Callable[[], None]], None] = in_pool,
    ) -> None:
        """Make it.

        Args:
            parent: its owner.
            take: takes each newest result.
            fail: takes the exception of the newest.
            start: where the work is done.
        """
        super().__init__(parent)
        if take is not None:
            self.finished.connect(take)
        if fail is not None:
            self.failed.connect(fail)
        self._start_job = start
        self._revision = 0
        self._flying: _Job[Result] | None = None
        self._spent: deque[_Relay] = deque()
        """Relays that have emitted; deleted by the window's thread."""
        self._waiting: Callable[[], Result] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a job is in flight."""
        return self._flying is not None

    def submit(self, work: Callable[[], Result]) -> None:
        """Run `work` in the pool; it must be closed over frozen values and touch no QObject."""
        self._revision += 1
        if self._flying is not None:
            self._waiting = work
            return
        self._start(work)

    def drop(self) -> None:
        """Forget the job in flight and any that waits; its result will not be reported."""
        self._revision += 1
        self._waiting = None

    def _start(self, work: Callable[[], Result]) -> None:
        while len(self._spent) > 1:  # the newest one's thread may not have left it yet
            self._spent.popleft()
        job = _Job(self._revision, work, self._spent)
        job.connect(self._on_finished, self._on_failed)
        self._flying = job
        self.busy_changed.emit(True)
        self._start_job(job.run)

    def _on_finished(self, revision: int, result: object) -> None:
        if self._land(revision):
            self.finished.emit(result)

    def _on_failed(self, revision: int, error: Exception) -> None:
        import logging  # not before the window's first paint

        # The user sees one sentence; the log has what a report needs.
        logging.getLogger("studio").warning("Work beside the window failed.", exc_info=error)
        if self._land(revision):
            self.failed.emit(error)

    def _land(self, revision: int) -> bool:
        """Free the runway; start what waits; say whether the landed result is still the newest."""
        self._flying = None
        newest = revision == self._revision
        if self._waiting is not None:
            work, self._waiting = self._waiting, None
            self._start(work)
        else:
            self.busy_changed.emit(False)
        return newest
