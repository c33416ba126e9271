"""A model on a server: one call, its retries, its time limits, its reply piece by piece."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncGenerator, Mapping
from contextlib import aclosing, suppress
from dataclasses import replace

from studio.core.models.base import Capabilities, ModelError, ModelRequest
from studio.core.models.bodies import request_body
from studio.core.models.capabilities import Price
from studio.core.models.connections import Connection, address_of
from studio.core.models.faults import (
    RetryLaterError,
    Target,
    UnsupportedParameterError,
    stream_fault,
)
from studio.core.models.openai_client import EventStream, KeySource, OpenAIClient
from studio.core.models.retry import wait_before
from studio.core.models.scripted import deltas_of
from studio.core.models.secrets import Secret
from studio.core.text.values import Json, JsonObject
from studio.core.wire.chunks import chunk_error
from studio.core.wire.events import chunk_reader
from studio.core.wire.media import MediaSource
from studio.core.wire.process import BadReplyError, read_response
from studio.core.wire.reply import Finished, Notice, ReplyDelta, UsageDelta
from studio.core.wire.request import Provider

_SLOW_SECONDS = 8.0
_NEEDED = frozenset(("model", "messages", "input", "stream"))
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}


class RemoteModel:
    """A model on a server that speaks OpenAI's API."""

    def __init__(
        self,
        connection: Connection,
        model_id: str,
        key: Secret | KeySource | None,
        *,
        capabilities: Capabilities | None = None,
        price: Price | None = None,
        media: MediaSource | None = None,
    ) -> None:
        """Take where and what; nothing is opened before the first use.

        Args:
            connection: the server; of a remote kind.
            model_id: id under which it knows the model.
            key: its key, or how to look it up; `None` where it asks for none.
            capabilities: what may be sent.
            price: what tokens cost, where the server does not say.
            media: reads the prompt's local files.
        """
        self._connection = connection
        self._model_id = model_id
        self._capabilities = capabilities or Capabilities()
        self._media = media
        self._price = price
        self._target = Target(connection.name, shown_address(connection), model_id)
        self._client = OpenAIClient(connection, key, self._target)
        self._not_taken: dict[str, str] = {}

    def __repr__(self) -> str:
        return f"RemoteModel({self._model_id!r} at {self._connection.name!r})"

    @property
    def label(self) -> str:
        """The model's name for people."""
        return f"{self._model_id or 'no model'} ({self._connection.name})"

    @property
    def capabilities(self) -> Capabilities:
        """What may be sent to it."""
        return self._capabilities

    def request_body(self, request: ModelRequest) -> JsonObject:
        """The exact body, without what the server was found not to take."""
        body = dict(
            request_body(
                request,
                model_id=self._model_id,
                capabilities=self._capabilities,
                provider=self._provider,
                media=self._media,
            )
        )
        for parameter, instead in self._not_taken.items():
            if parameter in body:
                value = body.pop(parameter)
                if instead:
                    body[instead] = value
        return body

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Answer, with retries while nothing has been said yet.

        Raises:
            ModelError: the server cannot be reached, refuses, or breaks off.
        """
        attempt = 1
        while True:
            said = False
            try:
                async with aclosing(self._attempt(request)) as deltas:
                    async for delta in deltas:
                        said = said or not isinstance(delta, Notice)
                        yield delta
            except UnsupportedParameterError as error:
                notice = None if said else self._do_without(error, request)
                if notice is None:
                    raise
                yield Notice(notice)
            except RetryLaterError as error:
                wait = wait_before(attempt, self._connection.retries, error.after)
                if said or wait is None:
                    raise
                attempt += 1
                tries = self._connection.retries + 1
                yield Notice(f"{error.message} Try {attempt} of {tries} in {wait:.1f} s …")
                await asyncio.sleep(wait)
            else:
                return

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    @property
    def _provider(self) -> Provider:
        return "openai-responses" if self._connection.api == "responses" else "openai-chat"

    def _do_without(self, error: UnsupportedParameterError, request: ModelRequest) -> str | None:
        """Leave a parameter out from now on; `None` where that cannot help."""
        name = error.parameter
        if name in _NEEDED or name in self._not_taken or name not in self.request_body(request):
            return None
        instead = _RENAMED.get(name, "")
        if instead in self._not_taken:
            instead = ""
        self._not_taken[name] = instead
        how = f"sent as {instead!r}" if instead else "left out"
        return f"{self._target.name} takes no {name!r}: {how}, and asked again."

    async def _attempt(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """One call."""
        opening = asyncio.create_task(self._begin(self.request_body(request)))
        try:
            await asyncio.wait({opening}, timeout=_SLOW_SECONDS)
            if not opening.done():
                yield Notice(f"Waiting for {self._target.name} to begin its reply …")
            stream, first = await opening
            async with aclosing(self._read(stream, first)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            opening.cancel()
            with suppress(asyncio.CancelledError, ModelError):
                stream, _ = await opening
                await stream.close()

    async def _begin(self, body: JsonObject) -> tuple[EventStream, object | None]:
        """Send, and wait for the first event (`None`: there is none)."""
        path = "/responses" if self._provider == "openai-responses" else "/chat/completions"
        seconds = self._connection.first_byte_seconds
        stream: EventStream | None = None
        try:
            async with asyncio.timeout(seconds):
                stream = await self._client.post(path, body)
                return stream, await stream.next() if stream.is_events else None
        except BaseException as error:
            if stream is not None:
                await stream.close()
            if isinstance(error, TimeoutError):
                raise ModelError(
                    "timeout",
                    f"{self._target.name} did not begin to answer in {seconds:g} s.",
                    "Run again, or allow more time in the connection.",
                    retryable=True,
                ) from None
            raise

    async def _read(
        self, stream: EventStream, first: object | None
    ) -> AsyncGenerator[ReplyDelta, None]:
        if not stream.is_events:
            for delta in await self._whole(stream):
                yield self._priced(delta)
            return
        reader = chunk_reader(self._provider)
        some = False
        event = first
        while event is not None:
            if not isinstance(event, Mapping):
                raise self._client.bad_reply("an event of the stream is not an object")
            said = chunk_error(event)
            if said is not None:
                raise stream_fault(said, self._target, self._client.mask)
            for delta in reader.read(event):
                some = some or not isinstance(delta, UsageDelta)
                yield self._priced(delta)
            event = await self._next(stream)
        ending = reader.end()
        if ending[-1] == Finished("unknown"):
            # Every server says why it ends; without that the stream was cut between two events.
            raise self._cut_off() if some else self._client.bad_reply("the reply is empty")
        for delta in ending:
            yield delta

    async def _next(self, stream: EventStream) -> object | None:
        seconds = self._connection.stall_seconds
        try:
            async with asyncio.timeout(seconds):
                return await stream.next()
        except TimeoutError:
            raise ModelError(
                "stalled",
                f"{self._target.name} stopped in the middle of its reply, for {seconds:g} s.",
                "What had come is kept. Run again.",
                retryable=True,
            ) from None

    async def _whole(self, stream: EventStream) -> tuple[ReplyDelta, ...]:
        """The reply of a server that does not stream."""
        kind = stream.content_type
        if "json" not in kind:
            what = f"it sent {kind.partition(';')[0] or 'something'} where a reply was expected"
            raise self._client.bad_reply(what)
        text = await stream.body()
        try:
            value: Json = json.loads(text)
        except ValueError:
            raise self._client.bad_reply("its reply is not JSON") from None
        if not isinstance(value, Mapping):
            raise self._client.bad_reply("its reply is not an object")
        said = chunk_error(value)
        if said is not None:
            raise stream_fault(said, self._target, self._client.mask)
        try:
            reply = read_response(value)
        except BadReplyError as error:
            raise self._client.bad_reply(str(error)) from None
        notice = Notice(f"{self._target.name} does not stream: the reply came whole.")
        end = Finished(reply.finish_reason or "unknown")
        return (notice, *deltas_of(reply, max(1, len(text))), end)

    def _priced(self, delta: ReplyDelta) -> ReplyDelta:
        """Figures with their cost, where the server says none and the price is known."""
        if self._price is None or not isinstance(delta, UsageDelta) or delta.usage.cost is not None:
            return delta
        return UsageDelta(replace(delta.usage, cost=self._price.of(delta.usage)))

    def _cut_off(self) -> ModelError:
        return RetryLaterError(
            "cut-off",
            f"The reply of {self._target.name} broke off.",
            "What had come is kept. Run again.",
        )


def shown_address(connection: Connection) -> str:
    """A connection's address without the user and password that it may hold."""
    scheme, separator, rest = address_of(connection).partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
