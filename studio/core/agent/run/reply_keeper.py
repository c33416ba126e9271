"""What is kept of a reply while it comes: a process that is killed loses a second of it."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import TypeAlias

from studio.core.wire.reply import Reply

KeepReply: TypeAlias = Callable[[Reply], None]
"""Writes what has come of a reply, over what it wrote of it before."""

KEEP_SECONDS = 1.0
"""How old what is not kept yet can be."""


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
