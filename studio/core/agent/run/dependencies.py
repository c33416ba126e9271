"""Everything outside of a run that it works with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TypeAlias

from studio.core.agent.loop.toolbox import RunToolbox
from studio.core.agent.past.reenactment import Reenactment
from studio.core.agent.run.performer import OnStream
from studio.core.agent.run.reply_keeper import KeepReply
from studio.core.agent.values.events import Event, Rendered
from studio.core.models.base import ChatModel
from studio.core.prompty.document import PromptDocument
from studio.core.prompty.references import ReferenceContext
from studio.core.text.values import Json
from studio.core.wire.wire_call import KeepCall

OnEvent: TypeAlias = Callable[[Event], None]
"""Told of each fact, in order."""


@dataclass(frozen=True)
class RunDependencies:
    """Everything outside of a run that it works with."""

    document: PromptDocument
    """The prompt."""

    inputs: Mapping[str, Json]
    """The user's values."""

    model: ChatModel
    """What answers."""

    toolbox: RunToolbox
    """What the model may call."""

    journal: OnEvent | None = None
    """Writes each fact before anything else sees it."""

    shown: OnEvent | None = None
    """Told of each fact once it is written and the state has moved."""

    stream: OnStream | None = None
    """Told of each delta of a reply."""

    references: ReferenceContext | None = None
    """Where `${…}` references find their values, and what knows the secrets among them."""

    reenactment: Reenactment | None = None
    """A run of the past that is gone through again; its edits are made where they were made."""

    rendered: Rendered | None = None
    """The first rendering, where it was made already of the same prompt and values."""

    kept: KeepReply | None = None
    """Writes how far a reply has come, each second, until its fact is written."""

    keep_call: KeepCall | None = None
    """Writes what a model call sent, and then also what came back."""
