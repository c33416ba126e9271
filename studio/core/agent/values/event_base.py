"""What every event has."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class EventBase:
    """What every event has; the journal gives it when it writes the event."""

    seq: int = 0
    """Place in the run's journal, from 1."""

    at: float = 0.0
    """When, in seconds since 1970 UTC."""

    released: tuple[str, ...] = ()
    """References of secrets that the prompt or the user put in here for the first time; their
    values may be sent from then on."""
