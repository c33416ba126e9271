"""The one asyncio loop, in one thread: models, tools and runs live there, never in the GUI."""

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
    """Lives in the GUI thread; its signal carries a call from the loop's thread over to it."""

    arrived = Signal(object)  # Callable[[], None]

    def __init__(self, parent: QObject) -> None:
        super().__init__(parent)
        self.arrived.connect(self._run, Qt.ConnectionType.QueuedConnection)

    def _run(self, call: Callable[[], None]) -> None:
        call()


class Background(QObject):
    """Runs coroutines in the loop's thread and hands their ends back to the GUI thread."""

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
        """Run `work` in the loop; in the GUI thread, show what it returns, or why it failed."""

        def done(future: Future[Result]) -> None:
            error = None if future.cancelled() else future.exception()
            if error is not None and fail is not None:
                fail(str(error))
            elif error is None and not future.cancelled():
                show(future.result())

        self.start(work, done)

    def post(self, call: Callable[[], None]) -> None:
        """Run `call` in the GUI thread soon; may be called from any thread."""
        try:
            self._relay.arrived.emit(call)
        except RuntimeError:
            # The window is gone and its relay with it: nobody is left to be told.
            return

    def stop(self) -> None:
        """Cancel everything, let it end, and stop the thread; waits up to five seconds."""
        if not self.is_running:
            return
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join(_STOP_SECONDS)

    def _main(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
        finally:
            # What is cancelled may begin something more to end cleanly (a process to be waited
            # for): that gets a moment before it is cancelled too.
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
    """Background task in the event loop; only the newest request's result is emitted.

    For long waits; `LatestJob` is for work of the processor, one thread for each core.
    """

    def __init__(self, background: Background) -> None:
        self._background = background
        self._revision = 0

    def start(
        self, work: Coroutine[object, object, Result], done: Callable[[Future[Result]], None]
    ) -> None:
        """Run `work` in the loop; `done` is called as by `Background`, if nothing newer is."""
        self._revision += 1
        revision = self._revision

        def end(ended: Future[Result]) -> None:
            if revision == self._revision:
                done(ended)

        self._background.start(work, end)
