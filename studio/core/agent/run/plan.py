"""The plan of a run: one value from the user's command to the last effect."""

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

# What is kept of a reply while it comes: a process that is killed loses a second of it.

KeepReply: TypeAlias = Callable[[Reply], None]
"""Writes what has come of a reply, over what it wrote of it before."""

KEEP_SECONDS = 1.0
"""Maximum age of what is not saved yet, in seconds."""


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
            self._timer = asyncio.get_running_loop().call_later(KEEP_SECONDS, self._write)

    def close(self) -> None:
        """End the reply; the next event holds all of it."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _write(self) -> None:
        self._timer = None
        if self._keep is not None:
            self._keep(self._reply)


OpenToolbox: TypeAlias = Callable[[], Coroutine[Any, Any, RunToolbox]]
"""Starts what the tools need (servers, child processes) and gives them; runs in the loop."""

NextMessages: TypeAlias = Callable[[RunState], Coroutine[None, None, Rendered]]
"""Waits for the messages of the next step and returns them."""

OnEvent: TypeAlias = Callable[[Event], None]
"""Callback for each event, in order."""

OnStream: TypeAlias = Callable[[ReplyDelta, Reply], None]
"""Callback for each delta with the reply so far; never journaled."""


@dataclass(frozen=True)
class RunPlan:
    """Everything that a run needs; whoever starts it adds where its facts go."""

    document: PromptDocument
    """Prompt as written in the editor."""

    inputs: JsonObject
    """The user's values."""

    model: ChatModel
    """Model that answers."""

    toolbox: RunToolbox = field(default_factory=NoTools)
    """Tools that the model can call."""

    open_toolbox: OpenToolbox | None = None
    """Makes the toolbox ready; None where it is."""

    options: RunOptions = field(default_factory=RunOptions)
    """Options of the run; breakpoints and exception filters come from the user's own list."""

    references: ReferenceContext | None = None
    """Resolver of `${…}` references, which knows the secrets among them."""

    past: Past | None = None
    """A run that is taken up again; None for a new one."""

    reenactment: Reenactment | None = None
    """A run of the past that is gone through again; its edits are made where they were made."""

    rendered: Rendered | None = None
    """The first rendering, where it was made already of the same prompt and values."""

    conversation: NextMessages | None = None
    """Gives the messages of each step in place of the prompt: a recorded program's requests."""

    journal: OnEvent | None = None
    """Writes each fact before anything else sees it."""

    shown: OnEvent | None = None
    """Callback for each event after it is written and the state has changed."""

    stream: OnStream | None = None
    """Callback for each delta of a reply."""

    kept: KeepReply | None = None
    """Writes how far a reply has come, each second, until its fact is written."""

    keep_call: KeepCall | None = None
    """Writes what a model call sent, and then also what came back."""

    async def with_tools(self) -> RunPlan:
        """Return the plan with its tools made ready.

        Raises:
            ToolSourceError: they cannot be.
        """
        if self.open_toolbox is None:
            return self
        return replace(self, toolbox=await self.open_toolbox(), open_toolbox=None)
