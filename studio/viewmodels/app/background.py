"""The asyncio loop for models, tools and runs, which runs in one thread beside the GUI thread."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import Future
from typing import TypeVar

from PySide6.QtCore import QObject, Qt, Signal

Result = TypeVar("Result")

_STOP_SECONDS = 5.0
_ROUND_SECONDS = 1.0


class _Relay(QObject):
    """Lives in the GUI thread and passes calls from the loop's thread to it by a signal."""

    arrived = Signal(object)  # Callable[[], None]

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.arrived.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def _run(self, call: Callable[[], None]) -> None:
        call()


class Background(QObject):
    """Runs coroutines in the loop's thread and reports their results in the GUI thread."""

    def __init__(self, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._loop = asyncio.new_event_loop()
        self._relay = _Relay(self)
        self._thread = threading.Thread(target=self._main, name="studio-background", daemon=True)
        self._thread.start()

    @property
    def is_running(self) -> bool:
        """Whether coroutines can still be started."""
        return self._thread.is_alive() and not self._loop.is_closed()

    def start(
        self,
        work: Coroutine[object, object, Result],
        done: Callable[[Future[Result]], None] | None = None,
    ) -> Future[Result]:
        """Run `work` in the loop; `done` is called in the GUI thread with the finished future.

        Cancelling the future cancels the coroutine.
        """
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        if done is not None:
            future.add_done_callback(lambda ended: self.post(lambda: done(ended)))
        return future

    def ask(
        self,
        work: Coroutine[object, object, Result],
        show: Callable[[Result], object],
        fail: Callable[[str], object] | None = None,
    ) -> None:
        """Run `work` in the loop, then show its result or its error in the GUI thread."""

        def done(future: Future[Result]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None and fail is not None:
                fail(str(error))
            elif error is None and not future.cancelled():
                show(future.result())

        self.start(work, done)

    def post(self, call: Callable[[], None]) -> None:
        """Run `call` in the GUI thread soon. Safe to call from any thread."""
        try:
            self._relay.arrived.emit(call)
        except RuntimeError:
            # The window and its relay are deleted: there is nothing left to notify.
            return

    def stop(self) -> None:
        """Cancel all tasks, wait for them, and stop the thread; wait at most five seconds."""
        if not self.is_running:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            # A cancelled task may start another one to end cleanly (such as waiting for a process):
            # it gets a moment before it is cancelled as well.
            for is_cancelled in (True, False, True):
                tasks = asyncio.all_tasks(self._loop)
                if not tasks:
                    break
                if is_cancelled:
                    for task in tasks:
                        task.cancel()
                self._loop.run_until_complete(asyncio.wait(tasks, timeout=_ROUND_SECONDS))
            self._loop.run_until_complete(self._loop.shutdown_asyncgens())
            self._loop.run_until_complete(self._loop.shutdown_default_executor())
            self._loop.close()


class LatestTask:
    """A background task in the event loop; only the result of the newest one is reported.

    Use it for long waits; `LatestJob` is for computation, with one thread for each core.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        self._revision = 0

    def start(
        self, work: Coroutine[object, object, Result], done: Callable[[Future[Result]], None]
    ) -> None:
        """Run `work` in the loop; call `done` as `Background` does, unless a newer task started."""
        self._revision += 1
        revision = self._revision

        def end(ended: Future[Result]) -> None:
            if revision == self._revision:
                done(ended)

        self._background.start(work, end)
