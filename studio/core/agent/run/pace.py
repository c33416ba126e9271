"""How fast a reply comes: when its first piece is there, and how many tokens a second follow."""

from __future__ import annotations

import time
from dataclasses import dataclass

from studio.core.wire.reply import Finished, ReplyDelta, ReplyNotice, Usage, UsageDelta


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


_ONE_PIECE_SECONDS = 0.001
"""What comes within this has come at once."""
