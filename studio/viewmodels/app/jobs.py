"""One-shot jobs on snapshots in Qt's thread pool; only the newest result counts."""

from collections import deque
from collections.abc import Callable
from threading import Thread
from typing import Generic, TypeVar

from PySide6.QtCore import QObject, QThreadPool, QTimer, Signal, SignalInstance

Result = TypeVar("Result")

SWITCH_SECONDS = 0.0005
"""Time slice of a job while the window waits for the interpreter, in seconds.

Python's default of 5 ms delays each return from Qt to Python: a key pressed during the parse of a
long text was painted after 72 ms (95th percentile, 5,000 lines), with this value after 11 ms.
"""


def single_shot(
    owner: QObject, act: Callable[[], object] | SignalInstance, milliseconds: int = 0
) -> QTimer:
    """Create a timer, not started yet, that calls a function once after each start."""
    timer = repeating_timer(owner, act, milliseconds)
    timer.setSingleShot(True)
    return timer


def repeating_timer(
    owner: QObject, act: Callable[[], object] | SignalInstance, milliseconds: int = 0
) -> QTimer:
    """Create a timer, not started yet, that calls a function repeatedly."""
    timer = QTimer(owner, interval=milliseconds)
    timer.timeout.connect(act)
    return timer


class _Relay(QObject):
    """Emits the result of a job; the job owns it, since its controller may be deleted earlier."""

    finished = Signal(int, object)  # revision, result
    failed = Signal(int, Exception)  # revision, exception


class _Job(Generic[Result]):
    """A running job.

    It is no `QRunnable`: if `run` ends while `start` is still passing it on, PySide 6.11 leaks one
    in ten of them with their data (measured: 45 documents per minute of typing).
    """

    def __init__(self, revision: int, work: Callable[[], Result], spent: deque[_Relay]) -> None:
        self._revision = revision
        self._work = work
        self._spent = spent
        self._relay: _Relay | None = _Relay()

    def connect(
        self, finished: Callable[[int, Result], None], failed: Callable[[int, Exception], None]
    ) -> None:
        """Connect functions to the result and the error."""
        if self._relay is not None:
            self._relay.finished.connect(finished)
            self._relay.failed.connect(failed)

    def run(self) -> None:
        """Do the work in the thread of the pool."""
        relay, self._relay = self._relay, None
        if relay is None:
            return
        try:
            result = self._work()
        except Exception as error:  # noqa: BLE001 - the border of the pool: handed on, not swallowed
            relay.failed.emit(self._revision, error)
        else:
            relay.finished.emit(self._revision, result)
        # Not deleted here, where the last reference may be: it belongs to the window's thread.
        self._spent.append(relay)


def in_thread(work: Callable[[], None]) -> None:
    """Run long work in a separate daemon thread, which does not delay the exit."""
    Thread(target=work, daemon=True).start()


def in_pool(work: Callable[[], None]) -> None:
    """Run work in Qt's pool, which has one thread per core."""
    QThreadPool.globalInstance().start(work)


class LatestJob(QObject, Generic[Result]):
    """Runs at most one job at a time; of the jobs submitted meanwhile, only the newest runs."""

    finished = Signal(object)  # result of the newest job
    failed = Signal(Exception)  # exception of the newest job
    busy_changed = Signal(bool)

    def __init__(
        self,
        parent: QObject | None = None,
        take: Callable[[Result], object] | None = None,
        fail: Callable[[Exception], object] | None = None,
        start: Callable[[Callable[[], None]], None] = in_pool,
    ) -> None:
        """Create it.

        Args:
            parent: its owner.
            take: called with each newest result.
            fail: called with the exception of the newest job.
            start: runs the work, such as `in_pool`.
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
        """Relays that have emitted; the window's thread deletes them."""
        self._waiting: Callable[[], Result] | None = None

    @property
    def is_busy(self) -> bool:
        """Whether a job is running."""
        return self._flying is not None

    def submit(self, work: Callable[[], Result]) -> None:
        """Run `work` in the pool. It must use only frozen values and no QObject."""
        self._revision += 1
        if self._flying is not None:
            self._waiting = work
            return
        self._start(work)

    def drop(self) -> None:
        """Discard the running job and the waiting one; their results are not reported."""
        self._revision += 1
        self._waiting = None

    def _start(self, work: Callable[[], Result]) -> None:
        while len(self._spent) > 1:  # the thread of the newest relay may still use it
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
        import logging  # not before the first paint

        # The user sees one sentence; the log has the details for a report.
        logging.getLogger("studio").warning("Work in the background failed.", exc_info=error)
        if self._land(revision):
            self.failed.emit(error)

    def _land(self, revision: int) -> bool:
        """Start the waiting job; return whether the finished result is still the newest."""
        self._flying = None
        newest = revision == self._revision
        if self._waiting is not None:
            work, self._waiting = self._waiting, None
            self._start(work)
        else:
            self.busy_changed.emit(False)
        return newest
