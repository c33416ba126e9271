"""What a run is started from, and what the loop's thread hands back while it goes."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from studio.core.agent.loop.toolbox import RunToolbox
from studio.core.agent.past.reenactment import Reenactment
from studio.core.agent.past.tree import Past
from studio.core.agent.values.events import Event
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.run_setup import RunSetup
from studio.core.agent.values.state import RunState
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.references import ReferenceContext
from studio.core.text.values import Json
from studio.core.wire.reply import Reply
from studio.core.wire.wire_call import KeptCall, WireCall

OpenToolbox: TypeAlias = Callable[[], Coroutine[Any, Any, RunToolbox]]
"""Starts what the tools need (servers, child processes) and gives them; runs in the loop."""


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


@dataclass(frozen=True)
class RunPlan:
    """Everything that a run needs."""

    document: PromptDocument
    """The prompt, as it stands in the editor."""

    inputs: Mapping[str, Json]
    """The user's values."""

    model: ChatModel
    """What answers."""

    toolbox: RunToolbox | None = None
    """The tools, where they are at hand already."""

    open_toolbox: OpenToolbox | None = None
    """Makes the tools ready; used where `toolbox` is None."""

    options: RunOptions = field(default_factory=RunOptions)
    """How it goes; breakpoints and exception filters come from the user's own list."""

    references: ReferenceContext | None = None
    """Where `${…}` references find their values."""

    past: Past | None = None
    """A run that is taken up again; None for a new one."""

    reenactment: Reenactment | None = None
    """A run that is gone through again, with all that the user did in it."""


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
