"""Where a run is written, and what the loop's thread hands back while it goes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol, TypeAlias

from studio.core.agent.values.events import Event
from studio.core.agent.values.run_setup import RunSetup
from studio.core.agent.values.state import RunState
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import KeptCall, WireCall


class Journal(Protocol):
    """Where the facts of runs are written before they are shown."""

    def begin(self, setup: RunSetup) -> None:
        """A run is about to begin."""
        ...

    def write(self, run: str, event: Event) -> None:
        """Keep one fact; when this returns it is safe."""
        ...

    def keep_reply(self, run: str, reply: Reply) -> None:
        """Keep how far a reply has come, until the next fact."""
        ...

    def keep_call(self, run: str, seq: int, call: WireCall | KeptCall) -> None:
        """Keep what a model call sent and received."""
        ...

    def call(self, run: str, seq: int) -> WireCall | None:
        """What a model call sent and received; None where it is not kept."""
        ...


@dataclass(frozen=True, slots=True)
class Arrived:
    """One fact, with the state that it led to."""

    event: Event
    """The fact."""

    state: RunState
    """The run after it."""


@dataclass(frozen=True, slots=True)
class Streamed:
    """How far the reply has come."""

    reply: Reply
    """All of it so far."""


@dataclass(frozen=True, slots=True)
class Ended:
    """Driving has stopped: the run is over, or it could not go on."""

    fault: str = ""
    """For the user: what went wrong outside of the run; empty where nothing did."""


Arrival: TypeAlias = Arrived | Streamed | Ended
"""Closed: consumers `match` and `assert_never`."""
