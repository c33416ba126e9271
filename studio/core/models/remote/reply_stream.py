"""Read a server's reply while it arrives, limit its pauses, and check its end."""

import asyncio
from collections.abc import AsyncGenerator, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace

from studio.core.models.base import ModelError
from studio.core.models.capabilities import Price, priced
from studio.core.models.remote.faults import Endpoint, RetryLaterError, stream_fault
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.models.remote.sdk import EventStream
from studio.core.models.scripted import deltas_of
from studio.core.text.values import parse_json
from studio.core.wire.chunks import chunk_error
from studio.core.wire.events import chunk_reader
from studio.core.wire.reply import (
    ChoiceDelta,
    Finished,
    ReasoningDelta,
    RefusalDelta,
    ReplyDelta,
    ReplyNotice,
    TextDelta,
    ToolCallDelta,
    UsageDelta,
)
from studio.core.wire.request import Provider
from studio.core.wire.whole import BadReplyError, read_response

MOST_EVENTS = 500_000
"""Maximum number of events in one reply."""

MOST_CALLS = 256
"""Maximum number of calls in one reply."""

MOST_ARGUMENTS = 4_000_000
"""Maximum number of characters in the arguments of all calls of one reply."""

MOST_TEXT = 4_000_000
"""Maximum number of characters in text, reasoning, refusal and further choices of one reply."""


class ReplyStream:
    """A reader for one reply."""

    def __init__(
        self,
        stream: EventStream,
        client: OpenAIClient,
        target: Endpoint,
        provider: Provider,
        *,
        stall_seconds: float,
        call_seconds: float,
        ends: float,
        price: Price | None,
    ) -> None:
        """Store the open stream and its limits.

        Args:
            stream: the open reply.
            client: converts its errors.
            target: the server, for messages.
            provider: form of the events.
            stall_seconds: maximum pause in the reply.
            call_seconds: maximum time of the whole call.
            ends: end of that time, by the loop's clock.
            price: price of tokens, if the server gives no cost.
        """
        self._stream = stream
        self._client = client
        self._target = target
        self._reader = chunk_reader(provider)
        self._stall_seconds = stall_seconds
        self._call_seconds = call_seconds
        self._ends = ends
        self._price = price
        self._some = False
        self._events = self._arguments = self._text = 0
        self._calls: set[int] = set()

    async def deltas(self, first: Sequence[object]) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the reply in pieces.

        Args:
            first: the first events received; empty for a reply without events.

        Raises:
            ModelError: the reply broke off, stalled, or is invalid.
        """
        if not self._stream.is_events:
            for delta in await self._whole():
                self._count(delta)
                yield delta
            return
        events = first
        while events:
            made, fault = self._read(events)
            for delta in joined(made):
                yield delta
            if fault is not None:
                raise fault
            events = await self._next()
        if not self._reader.has_ended and not self._stream.is_done:
            # Every server sends a finish reason; without one the stream was cut between two events.
            raise self._cut_off()
        if not self._reader.has_ended and not self._some:
            raise self._client.bad_reply("the reply is empty")
        for delta in self._reader.end():
            yield delta

    def _read(self, events: Sequence[object]) -> tuple[list[ReplyDelta], ModelError | None]:
        """Read the deltas of events, up to the first invalid event."""
        made: list[ReplyDelta] = []
        for event in events:
            if not isinstance(event, Mapping):
                return made, self._client.bad_event("that is not an object")
            error = chunk_error(event)
            if error is not None:
                return made, stream_fault(error, self._target, self._client.mask)
            try:
                self._events += 1
                for delta in self._reader.read(event):
                    self._some = self._some or not isinstance(delta, UsageDelta)
                    self._count(delta)
                    made.append(priced(delta, self._price))
            except ModelError as fault:
                return made, fault
        return made, None

    def _count(self, delta: ReplyDelta) -> None:
        """Count a piece of the reply against the limits.

        Raises:
            ModelError: a limit on events, calls, arguments or text is exceeded.
        """
        if isinstance(delta, ToolCallDelta):
            self._calls.add(delta.index)
            self._arguments += len(delta.arguments)
        elif isinstance(delta, TextDelta | ReasoningDelta | RefusalDelta | ChoiceDelta):
            self._text += len(delta.text)
        for count, most, what in (
            (self._events, MOST_EVENTS, "events"),
            (len(self._calls), MOST_CALLS, "calls"),
            (self._arguments, MOST_ARGUMENTS, "characters of arguments"),
            (self._text, MOST_TEXT, "characters of text"),
        ):
            if count > most:
                raise ModelError(
                    "too-large",
                    f"The reply of {self._target.name} has more than {most:,} {what}.",
                    "The received part is kept.",
                )

    async def _next(self) -> list[object]:
        seconds = self._stall_seconds
        loop = asyncio.get_running_loop()
        if loop.time() >= self._ends:
            raise self._too_long()
        try:
            async with asyncio.timeout_at(min(loop.time() + seconds, self._ends)):
                return await self._stream.some()
        except TimeoutError:
            if loop.time() >= self._ends:
                raise self._too_long() from None
            raise ModelError(
                "stalled",
                f"{self._target.name} stopped in the middle of its reply, for {seconds:g} s.",
                "The received part is kept. Run again.",
                retryable=True,
            ) from None

    async def _whole(self) -> tuple[ReplyDelta, ...]:
        """Return the deltas of a reply that is not streamed."""
        kind = self._stream.content_type
        if "json" not in kind:
            what = f"it sent {kind.partition(';')[0] or 'something'} where a reply was expected"
            raise self._client.bad_reply(what)
        try:
            async with asyncio.timeout_at(self._ends):
                text = await self._stream.body()
        except TimeoutError:
            raise self._too_long() from None
        try:
            value = parse_json(text)
        except ValueError:
            # No JSON, a number with thousands of digits, or nested too deeply.
            raise self._client.bad_reply("its reply is not JSON that can be read") from None
        if not isinstance(value, Mapping):
            raise self._client.bad_reply("its reply is not an object")
        words = chunk_error(value)
        if words is not None:
            raise stream_fault(words, self._target, self._client.mask)
        try:
            reply = read_response(value)
        except BadReplyError as error:
            raise self._client.bad_reply(str(error)) from None
        notice = ReplyNotice(f"{self._target.name} does not stream: the reply arrived as a whole.")
        end = Finished(reply.finish_reason or "unknown")
        made = (notice, *deltas_of(reply, max(1, len(text))), end)
        return tuple(priced(delta, self._price) for delta in made)

    def _too_long(self) -> ModelError:
        return ModelError(
            "timeout",
            f"{self._target.name} did not finish its reply within {self._call_seconds:g} s.",
            "The received part is kept. Allow more time in the connection (call_seconds).",
        )

    def _cut_off(self) -> ModelError:
        when = "" if self._some else " before its first word"
        return RetryLaterError(
            "cut-off",
            f"The reply of {self._target.name} broke off{when}.",
            "The received part is kept. Run again.",
        )


def joined(deltas: Iterable[ReplyDelta]) -> Iterator[ReplyDelta]:
    """Yield the deltas with adjacent pieces of one text joined; the reply stays the same.

    Each delta creates a new `Reply`, which copies the whole text so far: one delta per network
    packet instead of one per token avoids quadratic time for a reply of a megabyte.
    """
    first: ReplyDelta | None = None
    more: list[str] = []
    for delta in deltas:
        if first is not None and _goes_on(first, delta):
            more.append(_text_of(delta))
            continue
        if first is not None:
            yield _longer(first, more)
        first, more = delta, []
    if first is not None:
        yield _longer(first, more)


def _goes_on(first: ReplyDelta, delta: ReplyDelta) -> bool:
    """Return whether a delta only adds text to the same part as the one before it."""
    match delta:
        case TextDelta() | ReasoningDelta():
            return type(delta) is type(first)
        case ToolCallDelta(index=index, id=None, name=None):
            return isinstance(first, ToolCallDelta) and first.index == index
        case _:
            return False


def _text_of(delta: ReplyDelta) -> str:
    match delta:
        case TextDelta(text) | ReasoningDelta(text):
            return text
        case ToolCallDelta(arguments=arguments):
            return arguments
        case _:
            return ""


def _longer(first: ReplyDelta, more: Sequence[str]) -> ReplyDelta:
    match first:
        case TextDelta(text) | ReasoningDelta(text):
            return replace(first, text="".join((text, *more)))
        case ToolCallDelta(arguments=arguments):
            return replace(first, arguments="".join((arguments, *more)))
        case _:
            return first
