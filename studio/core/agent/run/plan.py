"""The plan of a run: one value that holds everything it needs."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from studio.core.agent.loop.calls import NoTools, RunToolbox
from studio.core.agent.past.replay import Past, Reenactment
from studio.core.agent.values.events import Event, Rendered
from studio.core.agent.values.options import RunOptions
from studio.core.agent.values.state import RunState
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import JsonObject
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.wire_call import KeepCall

# A partial reply is saved while it arrives: a killed process loses one second of it.

KeepReply: TypeAlias = Callable[[Reply], None]
"""Function that saves a partial reply, replacing the one saved before."""

KEEP_SECONDS = 1.0
"""Maximum time that a partial reply is unsaved, in seconds."""


class ReplyKeeper:
    """A writer of the newest state of one reply, at most once in `KEEP_SECONDS`."""

    def __init__(self, keep: KeepReply | None) -> None:
        """Take the function that saves; None saves nothing."""
        self._keep = keep
        self._reply = Reply()
        self._timer: asyncio.TimerHandle | None = None

    def note(self, reply: Reply) -> None:
        """Take the partial reply; it is saved soon, even if nothing more arrives."""
        if self._keep is None or not reply.says_something:
            return
        self._reply = reply
        if self._timer is None:
            self._timer = asyncio.get_running_loop().call_later(KEEP_SECONDS, self._write)

    def close(self) -> None:
        """Stop saving; the next event contains the whole reply."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self) -> None:
        self._timer = None
        if self._keep is not None:
            self._keep(self._reply)


OpenToolbox: TypeAlias = Callable[[], Coroutine[Any, Any, RunToolbox]]
"""Function that starts the tools (servers, child processes) and returns them; runs in the loop."""

NextMessages: TypeAlias = Callable[[RunState], Coroutine[None, None, Rendered]]
"""Function that waits for the messages of the next step and returns them."""

OnEvent: TypeAlias = Callable[[Event], None]
"""Callback for each event, in order."""

OnStream: TypeAlias = Callable[[ReplyDelta, Reply], None]
"""Callback for each delta with the reply so far; never journaled."""


@dataclass(frozen=True)
class RunPlan:
    """All parameters of a run; the code that starts it adds the callbacks for events."""

    document: PromptDocument
    """Prompt as written in the editor."""

    inputs: JsonObject
    """The user's values."""

    model: ChatModel
    """Model that answers."""

    toolbox: RunToolbox = field(default_factory=NoTools)
    """Tools that the model can call."""

    open_toolbox: OpenToolbox | None = None
    """Starts the tools; None if `toolbox` is ready."""

    options: RunOptions = field(default_factory=RunOptions)
    """Options of the run; breakpoints and exception filters come from the user's own list."""

    references: ReferenceContext | None = None
    """Resolver of `${…}` references, which knows the secrets among them."""

    past: Past | None = None
    """The past run to continue; None for a new run."""

    reenactment: Reenactment | None = None
    """A past run whose edits are repeated at the same pause points."""

    rendered: Rendered | None = None
    """The first rendering, if it was made already with the same prompt and values."""

    conversation: NextMessages | None = None
    """Function for each step's messages in place of the prompt: a recorded program's requests."""

    journal: OnEvent | None = None
    """Function that writes each event before it is applied."""

    shown: OnEvent | None = None
    """Callback for each event after it is written and the state has changed."""

    stream: OnStream | None = None
    """Callback for each delta of a reply."""

    kept: KeepReply | None = None
    """Function that saves the partial reply once a second until its event is written."""

    keep_call: KeepCall | None = None
    """Function that saves a model call's request, and later its response."""

    async def with_tools(self) -> RunPlan:
        """Return the plan with its tools started.

        Raises:
            ToolSourceError: the tools cannot be started.
        """
        if self.open_toolbox is None:
            return self
        return replace(self, toolbox=await self.open_toolbox(), open_toolbox=None)
