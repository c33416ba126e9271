"""A reply while it comes: how fast that is, and what is kept of it.

A process that is killed loses a second of it.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeAlias

from studio.core.wire.reply import Finished, Reply, ReplyDelta, ReplyNotice, Usage, UsageDelta

_ONE_PIECE_SECONDS = 0.001
"""What comes within this has come at once."""

KeepReply: TypeAlias = Callable[[Reply], None]
"""Writes what has come of a reply, over what it wrote of it before."""

KEEP_SECONDS = 1.0
"""How old what is not kept yet can be."""


@dataclass
class ReplyPace:
    """Takes the time of the pieces of one reply."""

    asked_at: float
    """When it was asked for, by the monotonic clock."""

    first_at: float | None = None
    """When its first piece came; None before."""

    last_at: float | None = None
    """When its last piece came."""

    def note(self, delta: ReplyDelta) -> None:
        """One more piece has come; figures, notices and the end are none of the model's words."""
        if isinstance(delta, ReplyNotice | UsageDelta | Finished):
            return
        self.last_at = time.monotonic()
        if self.first_at is None:
            self.first_at = self.last_at

    @property
    def first_seconds(self) -> float | None:
        """Seconds from the request to the first piece."""
        return None if self.first_at is None else round(self.first_at - self.asked_at, 4)

    def rate(self, usage: Usage | None, seconds: float) -> float | None:
        """Output tokens a second; None where nobody counted them.

        Args:
            usage: the figures of the reply.
            seconds: how long the whole call took, for a reply that came in one piece.
        """
        if usage is None or not usage.output_tokens or self.first_at is None:
            return None
        coming = (self.last_at or self.first_at) - self.first_at
        spent = coming if coming >= _ONE_PIECE_SECONDS else seconds
        return round(usage.output_tokens / spent, 1) if spent > 0 else None


class ReplyKeeper:
    """Writes the newest state of one reply, at most once in `KEEP_SECONDS`."""

    def __init__(self, keep: KeepReply | None) -> None:
        """Take what writes; None writes nothing."""
        self._keep = keep
        self._reply = Reply()
        self._timer: asyncio.TimerHandle | None = None

    def note(self, reply: Reply) -> None:
        """Take how far the reply has come; it is written soon, also where nothing more comes."""
        if self._keep is None or not reply.says_something:
            return
        self._reply = reply
        if self._timer is None:
            loop = asyncio.get_running_loop()
            self._timer = loop.call_later(KEEP_SECONDS, self._write)

    def close(self) -> None:
        """The reply has ended: the fact that tells of it holds all."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self) -> None:
        self._timer = None
        if self._keep is not None:
            self._keep(self._reply)
