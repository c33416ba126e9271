"""The seam between the agent loop and the places where tools run."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterable
from contextvars import ContextVar
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, runtime_checkable

from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.values import Json, JsonObject


@dataclass(frozen=True, slots=True)
class ToolPicture:
    """A picture, or a piece of audio, that a tool gave."""

    kind: str
    """Its media type ("image/png")."""

    data: str
    """Its bytes, in base64."""


MOST_PICTURES = 6_000_000
"""Characters of base64 that one answer may add to a conversation, each request of which has it."""


def bounded(pictures: Iterable[ToolPicture]) -> tuple[ToolPicture, ...]:
    """Return the first pictures of an answer that a conversation has room for."""
    kept: list[ToolPicture] = []
    left = MOST_PICTURES
    for each in pictures:
        left -= len(each.data)
        if left >= 0:
            kept.append(each)
    return tuple(kept)


@dataclass(frozen=True, slots=True)
class ToolOutcome:
    """The outcome of one call. A tool's failure is an outcome, never an exception."""

    text: str
    """The observation: the result as text (JSON for anything but a string), or the error."""

    status: Literal[
        "ok", "error", "timeout", "cancelled", "crashed", "unknown-tool", "bad-arguments"
    ]
    """Status of the outcome."""

    duration: float = 0.0
    """Seconds from asking the tool to its result; starting its process is no part of the call."""

    stderr: str = ""
    """Output of the tool's process on its error stream."""

    value: Json = None
    """The result as a value, where there is one."""

    truncated: bool = False
    """Whether the output limit cut the text."""

    whole: str = ""
    """The whole answer, where `text` is a part of it that was cut for the model."""

    head: str = ""
    """Of an answer by HTTP, its status and headers, in lines."""

    pictures: tuple[ToolPicture, ...] = ()
    """Pictures, audio and documents of the result; `text` describes them, too."""

    @property
    def is_error(self) -> bool:
        """Return whether the model should be informed of a failure."""
        return self.status != "ok"


_ON_ASKED: ContextVar[Callable[[], None] | None] = ContextVar("on_asked", default=None)
"""Callback of `timed`, set for the task of a call: toolboxes hand no clock through."""


def tool_asked() -> None:
    """Begin the time of the call: its process runs, and its tool is asked now."""
    begin = _ON_ASKED.get()
    if begin is not None:
        begin()


async def timed(
    call: Awaitable[ToolOutcome], asked: Callable[[], None] | None = None
) -> ToolOutcome:
    """Return the outcome of a call with the seconds from asking the tool to its result.

    Args:
        call: the call; whatever starts a process for it says `tool_asked` when that is done.
        asked: called when the tool is asked.
    """
    started = time.perf_counter()

    def begin() -> None:
        nonlocal started
        if asked is not None:
            asked()
        started = time.perf_counter()

    token = _ON_ASKED.set(begin)
    try:
        outcome = await call
    finally:
        _ON_ASKED.reset(token)
    return replace(outcome, duration=time.perf_counter() - started)


@dataclass(frozen=True, slots=True)
class OfferArgument:
    """An argument of a server's prompt, or a gap in a template of addresses."""

    name: str
    """Its name."""

    description: str = ""
    """Description by the server."""

    required: bool = False
    """Whether it must be given."""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """The prompts and resources of an MCP server."""

    kind: Literal["prompt", "resource", "resource template"]
    """Which kind."""

    name: str
    """Its name; of a resource its URI."""

    description: str = ""
    """Description by the server."""

    arguments: tuple[OfferArgument, ...] = ()
    """Arguments for opening it, in order."""


@dataclass(frozen=True, slots=True)
class OfferContent:
    """A prompt or resource of a server, opened."""

    parts: tuple[tuple[str, str], ...]
    """(role, text) in order; the role is empty for a resource. What is not a text is described."""

    pictures: tuple[ToolPicture, ...] = ()
    """The pictures in it."""


class ToolSource(Protocol):
    """A place that tools come from and where they are called."""

    @property
    def label(self) -> str:
        """The source's name for people ("tools.py")."""
        ...

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Every tool of the source.

        Raises:
            ToolSourceError: the source cannot be read or started; its text says what to do.
        """
        ...

    def place_of(self, name: str) -> str:
        """Return the address of a listed tool: a file, a command line, a method and address.

        An approval of the tool holds there only.
        """
        ...

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call one tool; cancelling the task stops the call for real."""
        ...

    async def close(self) -> None:
        """Stop whatever runs behind the source."""
        ...


class ToolSourceKind(Protocol):
    """The target of an entry point of `prompt_studio.tool_sources`."""

    @property
    def kind(self) -> str:
        """The word in `kind:` of a declared tool."""
        ...

    def open(self, name: str, options: JsonObject, folder: Path) -> ToolSource:
        """Make the source of one declared tool; nothing is started before its tools are asked for.

        It is called for prompts in trusted folders only.

        Args:
            name: the declared tool's name; the source offers a tool of that name.
            options: the declaration as it is written.
            folder: the prompt's folder.
        """
        ...


Tell: TypeAlias = Callable[[str], None]
"""Callback for the output and progress of a running call."""


@runtime_checkable
class LiveSource(Protocol):
    """A source whose calls say something while they run."""

    async def call_with_progress(self, name: str, arguments: JsonObject, tell: Tell) -> ToolOutcome:
        """Call one tool, as `ToolSource.call` does, and pass on what it says meanwhile."""
        ...


class ToolSourceError(Exception):
    """A source of tools that cannot be used; the text is meant for the user."""
