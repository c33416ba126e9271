"""The interface between the agent loop and sources of tools; limits, and recorded messages."""

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
    """An image or audio from a tool."""

    kind: str
    """Media type ("image/png")."""

    data: str
    """Bytes in base64."""


MOST_PICTURES = 6_000_000
"""Maximum number of base64 characters from one answer, since each later request repeats them."""


def bounded(pictures: Iterable[ToolPicture]) -> tuple[ToolPicture, ...]:
    """Return the first images of an answer, up to the limit."""
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
    """Seconds from calling the tool to its result, without starting its process."""

    stderr: str = ""
    """Output of the tool's process on stderr."""

    value: Json = None
    """Result as a value; None if there is none."""

    truncated: bool = False
    """Whether the output limit cut the text."""

    whole: str = ""
    """The whole result, if `text` is only a part of it for the model."""

    head: str = ""
    """Status and headers of an HTTP response, one per line."""

    pictures: tuple[ToolPicture, ...] = ()
    """Images, audio and documents of the result; `text` describes them too."""

    @property
    def is_error(self) -> bool:
        """Whether the model should be informed of a failure."""
        return self.status != "ok"


_ON_ASKED: ContextVar[Callable[[], None] | None] = ContextVar("on_asked", default=None)
"""Callback of `timed` for the task of a call, since toolboxes pass no clock."""


def tool_asked() -> None:
    """Start the time of the call: its process runs, and its tool is called now."""
    begin = _ON_ASKED.get()
    if begin is not None:
        begin()


async def timed(
    call: Awaitable[ToolOutcome], asked: Callable[[], None] | None = None
) -> ToolOutcome:
    """Return the outcome of a call with the seconds from calling the tool to its result.

    Args:
        call: the call; a source that starts a process for it then calls `tool_asked`.
        asked: called when the tool is called.
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
    """An argument of a server's prompt or of a URI template."""

    name: str
    """Name of the argument."""

    description: str = ""
    """Description by the server."""

    required: bool = False
    """Whether it is required."""


@dataclass(frozen=True, slots=True)
class ServerOffer:
    """A prompt or resource of an MCP server."""

    kind: Literal["prompt", "resource", "resource template"]
    """Kind of offer."""

    name: str
    """Name; for a resource its URI."""

    description: str = ""
    """Description by the server."""

    arguments: tuple[OfferArgument, ...] = ()
    """Arguments for opening it, in order."""


@dataclass(frozen=True, slots=True)
class OfferContent:
    """The content of a server's prompt or resource."""

    parts: tuple[tuple[str, str], ...]
    """(role, text) in order; the role is empty for a resource. Content that is no text is
    described.
    """

    pictures: tuple[ToolPicture, ...] = ()
    """Images in the content."""


class ToolSource(Protocol):
    """A source of tools, through which they are called."""

    @property
    def label(self) -> str:
        """Name of the source, for the user ("tools.py")."""
        ...

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Return every tool of the source.

        Raises:
            ToolSourceError: the source cannot be read or started; its text says what to do.
        """
        ...

    def place_of(self, name: str) -> str:
        """Return the place of a listed tool: a file, a command line, a method and address.

        An approval of the tool is only valid for that place.
        """
        ...

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call one tool; canceling the task stops the call."""
        ...

    async def close(self) -> None:
        """Stop the processes and connections of the source."""
        ...


class ToolSourceKind(Protocol):
    """The object of an entry point in `prompt_studio.tool_sources`."""

    @property
    def kind(self) -> str:
        """Word in `kind:` of a declared tool."""
        ...

    def open(self, name: str, options: JsonObject, folder: Path) -> ToolSource:
        """Create the source of one declared tool; it starts nothing before its tools are listed.

        It is called for prompts in trusted folders only.

        Args:
            name: name of the declared tool, which the source must offer.
            options: the declaration as written.
            folder: the prompt's folder.
        """
        ...


Tell: TypeAlias = Callable[[str], None]
"""Callback for the output and progress of a running call."""


@runtime_checkable
class LiveSource(Protocol):
    """A source whose calls report output or progress while they run.

    A source that starts a process first has `says_when_asked = True` and calls `tool_asked` when it
    has started; for others the time begins at once.
    """

    async def call_with_progress(self, name: str, arguments: JsonObject, tell: Tell) -> ToolOutcome:
        """Call one tool like `ToolSource.call`, and pass on its output and progress."""
        ...


class ToolSourceError(Exception):
    """Raised when a source of tools cannot be used; the text is for the user."""


# Limits of a tool's time and output.


@dataclass(frozen=True, slots=True)
class ToolLimits:
    """The limits of one call; exceeding one is an error outcome, never a hang."""

    seconds: float = 30.0
    """Maximum time of a call in seconds, from the moment its process is ready."""

    start_seconds: float = 30.0
    """Maximum time for a process or server to become ready, in seconds."""

    characters: int = 1_000_000
    """Maximum stored length of a result in characters; the rest is cut with a remark. The part for
    the model has another rule (`output_rule`).
    """

    memory_megabytes: int = 8192
    """Maximum address space of a Python file's process and each of its children in MB, if the
    system has such a limit (Linux).
    """

    resident_megabytes: int = 4096
    """Maximum resident memory of an MCP server including its child processes, in MB."""

    answer_megabytes: float = 32.0
    """Maximum size of one answer or event of an MCP server, in MB."""

    at_once: int = 4
    """Maximum number of parallel calls of one Python file, each in its own process."""


DEFAULT_LIMITS = ToolLimits()


# The part of a tool's result that the model gets; the whole result is stored beside it.

Keep: TypeAlias = Literal["head", "tail", "both"]
"""Part of a long result for the model: its beginning, its end, or half of each."""

_LEAST, _MOST = 100, 1_000_000


@dataclass(frozen=True, slots=True)
class OutputRule:
    """The rule for the model's part of a long result."""

    characters: int = 100_000
    """Maximum number of characters for the model."""

    keep: Keep = "head"
    """Part of the result."""


USUAL_RULE = OutputRule()


def read_rule(value: Json) -> OutputRule:
    """Read the rule of a prompt's `metadata.agent.tool_output`: a number, or characters and keep.

    Invalid values are replaced by defaults.
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
    """Return an outcome with the model's part as its text, and the whole result beside it."""
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


# Messages to and from a source of tools, newest last, within limits.

MOST_MESSAGES = 300
LONGEST_MESSAGE = 200_000
"""Maximum stored length of one message, in characters."""

MOST_CHARACTERS = 6_000_000
"""Maximum stored length of all messages, in characters."""

_CUT = re.compile(r"\n… [\d,]+ characters in all\Z")


@dataclass(frozen=True, slots=True)
class TrafficMessage:
    """A recorded message."""

    number: int
    """Number of the message, from 1."""

    when: float
    """Time, in seconds since 1970."""

    direction: Literal["sent", "received"]
    """Whether the studio sent or received it."""

    title: str
    """Short title: a method, a request line, a status."""

    size: int
    """Size in bytes, without HTTP headers."""

    text: str
    """Text of the message; truncated if it is long."""

    seconds: float | None = None
    """Seconds since the request, for an answer; else None."""

    curl: str = ""
    """Command that sends an HTTP request again, with masked keys; else empty."""


def is_whole(text: str) -> bool:
    """Return whether the text of a message was stored whole."""
    return _CUT.search(text, max(0, len(text) - 40)) is None


def lines_of(messages: Iterable[TrafficMessage]) -> str:
    """Return messages as lines of a file, which `tools serve` can use for its answers."""
    return "".join(f"{json.dumps(asdict(each), ensure_ascii=False)}\n" for each in messages)


class TrafficLog:
    """The recorded messages of one source."""

    def __init__(self) -> None:
        self._messages: deque[TrafficMessage] = deque()
        self._characters = 0
        self._count = 0
        self._asked: dict[object, tuple[str, float]] = {}

    @property
    def messages(self) -> tuple[TrafficMessage, ...]:
        """The newest messages, in order."""
        return tuple(self._messages)

    def sent(
        self, title: str, text: str, size: int, question: object = None, curl: str = ""
    ) -> None:
        """Record a message that is sent.

        Args:
            title: title of the message.
            text: the message.
            size: size in bytes.
            question: key that identifies the answer; None if there is none.
            curl: the command that sends it again.
        """
        if question is not None:
            self._asked[question] = (title, time.monotonic())
        self._add("sent", title, text, size, None, curl)

    def received(self, title: str, text: str, size: int, question: object = None) -> None:
        """Record a message that was received.

        Args:
            title: title of the message; empty for that of its request.
            text: the message.
            size: size in bytes.
            question: key of the request that it answers; None for none.
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
    """Return a request as a `curl` command for a POSIX shell."""
    parts = ["curl", "-X", method, shlex.quote(url)]
    for name, value in headers.items():
        if name.lower() not in ("host", "content-length"):
            parts += ["-H", shlex.quote(f"{name}: {value}")]
    if body:
        parts += ["--data-binary", shlex.quote(body)]
    return " ".join(parts)
