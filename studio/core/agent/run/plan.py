"""What a run is made of: one value from the user's wish to its last effect."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from studio.core.agent.loop.toolbox import NoTools, RunToolbox
from studio.core.agent.past.reenactment import Reenactment
from studio.core.agent.past.tree import Past
from studio.core.agent.run.reply_keeper import KeepReply
from studio.core.agent.values.events import Event, Rendered
from studio.core.agent.values.options import RunOptions
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.reference_values import ReferenceContext
from studio.core.text.values import Json
from studio.core.wire.reply import Reply, ReplyDelta
from studio.core.wire.wire_call import KeepCall

OpenToolbox: TypeAlias = Callable[[], Coroutine[Any, Any, RunToolbox]]
"""Starts what the tools need (servers, child processes) and gives them; runs in the loop."""

OnEvent: TypeAlias = Callable[[Event], None]
"""Told of each fact, in order."""

OnStream: TypeAlias = Callable[[ReplyDelta, Reply], None]
"""Told of each delta and of the reply so far; never journaled."""


@dataclass(frozen=True)
class RunPlan:
    """Everything that a run needs; whoever starts it adds where its facts go."""

    document: PromptDocument
    """The prompt, as it stands in the editor."""

    inputs: Mapping[str, Json]
    """The user's values."""

    model: ChatModel
    """What answers."""

    toolbox: RunToolbox = field(default_factory=NoTools)
    """What the model may call."""

    open_toolbox: OpenToolbox | None = None
    """Makes the toolbox ready; None where it is."""

    options: RunOptions = field(default_factory=RunOptions)
    """How it goes; breakpoints and exception filters come from the user's own list."""

    references: ReferenceContext | None = None
    """Where `${…}` references find their values, and what knows the secrets among them."""

    past: Past | None = None
    """A run that is taken up again; None for a new one."""

    reenactment: Reenactment | None = None
    """A run of the past that is gone through again; its edits are made where they were made."""

    rendered: Rendered | None = None
    """The first rendering, where it was made already of the same prompt and values."""

    journal: OnEvent | None = None
    """Writes each fact before anything else sees it."""

    shown: OnEvent | None = None
    """Told of each fact once it is written and the state has moved."""

    stream: OnStream | None = None
    """Told of each delta of a reply."""

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
