"""The seam between the agent loop and the places where tools run; bounds, and their messages."""

from __future__ import annotations

import json
import re
import shlex
import time
from collections import deque
from collections.abc import Awaitable, Callable, Iterable, Mapping
from contextvars import ContextVar
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Literal, Protocol, TypeAlias, get_args, runtime_checkable

from studio.core.prompty.document import ToolSpec
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
        """List every tool of the source.

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
    """A source whose calls say something while they run.

    One with a process to start first has `says_when_asked = True` and calls `tool_asked` when it is
    started; the time of any other call begins at once.
    """

    async def call_with_progress(self, name: str, arguments: JsonObject, tell: Tell) -> ToolOutcome:
        """Call one tool, as `ToolSource.call` does, and pass on what it says meanwhile."""
        ...


class ToolSourceError(Exception):
    """A source of tools that cannot be used; the text is meant for the user."""


# Limits of a tool's time and output.


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """Bounds of one call; exceeding one is a named outcome, never a hang."""

    seconds: float = 30.0
    """Longest time of a call, counted from the moment its process is ready."""

    start_seconds: float = 30.0
    """Longest time for a process or server to become ready."""

    characters: int = 1_000_000
    """Longest answer that is kept; the rest is cut with a remark. The part that the model gets
    is another rule (`output_rule`)."""

    memory_megabytes: int = 8192
    """Address space of a Python file's process and of each that it starts, where the system has
    such a bound (Linux)."""

    resident_megabytes: int = 4096
    """Memory that an MCP server may hold together with what it started."""

    answer_megabytes: float = 32.0
    """One answer of an MCP server, or one event of it, as it comes over the wire."""

    at_once: int = 4
    """Calls of one Python file that may run at the same time, each in a process of its own."""


DEFAULT_LIMITS = ToolLimits()


# How much of a tool's answer the model gets; the whole answer is kept beside it.

Keep: TypeAlias = Literal["head", "tail", "both"]
"""Which part of a long answer the model gets: its beginning, its end, or half of each."""

_LEAST, _MOST = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class OutputRule:
    """The rule for a long answer."""

    characters: int = 100_000
    """Most characters that the model gets of one answer."""

    keep: Keep = "head"
    """Which of them."""


USUAL_RULE = OutputRule()


def read_rule(value: Json) -> OutputRule:
    """Read the rule of a prompt's `metadata.agent.tool_output`: a number, or characters and keep.

    What is no usable number or part is as usual.
    """
    if not isinstance(value, Mapping):
        value = {"characters": value}
    count, keep = value.get("characters"), value.get("keep")
    rule = USUAL_RULE
    if isinstance(count, int) and not isinstance(count, bool) and _LEAST <= count <= _MOST:
        rule = replace(rule, characters=count)
    part: Keep | None = next((each for each in get_args(Keep) if each == keep), None)
    return replace(rule, keep=part) if part is not None else rule


def limited(outcome: ToolOutcome, rule: OutputRule) -> ToolOutcome:
    """Return an outcome with what the model gets as its text, and the whole answer beside it."""
    text, most = outcome.text, rule.characters
    if len(text) <= most:
        return outcome
    note = f"… cut: {len(text):,} characters, the limit is {most:,}"
    match rule.keep:
        case "head":
            cut = f"{text[:most]}\n{note}"
        case "tail":
            cut = f"{note}\n{text[-most:]}"
        case "both":
            half = most // 2
            cut = f"{text[: most - half]}\n{note}\n{text[-half:]}"
    return replace(outcome, text=cut, truncated=True, whole=text)


# Messages to and from a source of tools, newest last, within bounds.

MOST_MESSAGES = 300
LONGEST_MESSAGE = 200_000
"""Characters of one message that are kept."""

MOST_CHARACTERS = 6_000_000
"""Characters of all messages that are kept."""

_CUT = re.compile(r"\n… [\d,]+ characters in all\Z")


@dataclass(frozen=True, slots=True)
class TrafficMessage:
    """One message."""

    number: int
    """Its place, from 1."""

    when: float
    """Seconds since the epoch."""

    direction: Literal["sent", "received"]
    """Sent by the studio, or received by it."""

    title: str
    """Title in a few words: a method, a request line, a status."""

    size: int
    """Its size in bytes, as it is on the wire without headers of HTTP."""

    text: str
    """The message; a long one is cut."""

    seconds: float | None = None
    """Of an answer, the time since its question."""

    curl: str = ""
    """Of a request by HTTP, the command that sends it again; keys masked."""


def is_whole(text: str) -> bool:
    """Return whether the text of a message was kept as it was, and not cut."""
    return _CUT.search(text, max(0, len(text) - 40)) is None


def lines_of(messages: Iterable[TrafficMessage]) -> str:
    """Return messages as a file has them, one a line; `tools serve` answers by such a file."""
    return "".join(f"{json.dumps(asdict(each), ensure_ascii=False)}\n" for each in messages)


class TrafficLog:
    """Of one source."""

    def __init__(self) -> None:
        self._messages: deque[TrafficMessage] = deque()
        self._characters = 0
        self._count = 0
        self._asked: dict[object, tuple[str, float]] = {}

    @property
    def messages(self) -> tuple[TrafficMessage, ...]:
        """The newest, in order."""
        return tuple(self._messages)

    def sent(
        self, title: str, text: str, size: int, question: object = None, curl: str = ""
    ) -> None:
        """Note a message that is sent.

        Args:
            title: what it is.
            text: the message.
            size: its bytes.
            question: by which its answer will be known; None where there will be none.
            curl: the command that sends it again.
        """
        if question is not None:
            self._asked[question] = (title, time.monotonic())
        self._add("sent", title, text, size, None, curl)

    def received(self, title: str, text: str, size: int, question: object = None) -> None:
        """Note a message that came.

        Args:
            title: what it is; empty for the title of its question.
            text: the message.
            size: its bytes.
            question: which question it answers; None for none.
        """
        asked, began = self._asked.pop(question, ("", None)) if question is not None else ("", None)
        seconds = time.monotonic() - began if began is not None else None
        self._add("received", title or asked, text, size, seconds, "")

    def _add(
        self,
        direction: Literal["sent", "received"],
        title: str,
        text: str,
        size: int,
        seconds: float | None,
        curl: str,
    ) -> None:
        self._count += 1
        if len(text) > LONGEST_MESSAGE:
            text = f"{text[:LONGEST_MESSAGE]}\n… {len(text):,} characters in all"
        self._messages.append(
            TrafficMessage(self._count, time.time(), direction, title, size, text, seconds, curl)
        )
        self._characters += len(text)
        while len(self._messages) > MOST_MESSAGES or self._characters > MOST_CHARACTERS:
            self._characters -= len(self._messages.popleft().text)


def curl_command(method: str, url: str, headers: Mapping[str, str], body: str) -> str:
    """Return a request as a command of `curl`, for a POSIX shell."""
    parts = ["curl", "-X", method, shlex.quote(url)]
    for name, value in headers.items():
        if name.lower() not in ("host", "content-length"):
            parts += ["-H", shlex.quote(f"{name}: {value}")]
    if body:
        parts += ["--data-binary", shlex.quote(body)]
    return " ".join(parts)
