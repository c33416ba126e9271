"""Whose turn it is: what stands between a cell and the model that its variant shares."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from studio.application.experiments.limited_model import LimitedModel
from studio.core.experiments.limiter import ConnectionLimiter
from studio.core.experiments.results.cells import CellKey
from studio.core.models.base import ChatModel
from studio.core.models.choice import ModelChoice
from studio.core.wire.reply import RefusedOption

Limiters = Callable[..., ConnectionLimiter]
"""The room at a connection: `(name, is_local=…)`."""


@dataclass(frozen=True, slots=True)
class LeasedCell:
    """A cell that is under way."""

    key: CellKey
    """Which one."""

    identity: bytes
    """Of all that it sends, its repeat included."""

    refused: tuple[RefusedOption, ...] | None = None
    """Refused options that the identity does not count; None lets the server refuse any."""


class WaitingModel(ChatModel, Protocol):
    """A model for one cell, which may have to wait before it asks."""

    @property
    def waited(self) -> float:
        """Seconds that were spent on waiting: no latency."""
        ...


class Turns(Protocol):
    """Decides when a cell's requests are sent."""

    @property
    def is_timed(self) -> bool:
        """Whether the time that an answer takes is the model's own."""
        ...

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> WaitingModel:
        """A model for one run of one cell.

        Args:
            model: what answers.
            choice: its connection; None for `echo`.
            cell: who asks.
            name: begins the names of the requests: `s` for the cell's own, `j1s` for its first
                judge.
        """
        ...


class LimitedTurns:
    """Each request as soon as there is room at its connection."""

    is_timed = True

    def __init__(self, limiters: Limiters) -> None:
        """Take the rooms."""
        self._limiters = limiters

    def model(
        self, model: ChatModel, choice: ModelChoice | None, cell: LeasedCell, name: str
    ) -> LimitedModel:
        """A model behind the limiter of its connection; see `Turns`."""
        if choice is None:
            return LimitedModel(model, self._limiters("echo"), 0)
        connection = choice.connection
        limiter = self._limiters(connection.name, is_local=connection.kind == "embedded")
        refused = cell.refused if name == "s" else None  # a judge's options are its own
        known = None if refused is None else frozenset(option.name for option in refused)
        return LimitedModel(model, limiter, connection.retries, known)
