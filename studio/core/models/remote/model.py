"""A model on a server: its calls, retries and time limits."""

import asyncio
import random
from collections.abc import AsyncGenerator, Callable, Iterable, Mapping, Sequence
from contextlib import aclosing, suppress
from urllib.parse import quote

from studio.core.models.base import (
    Capabilities,
    ModelError,
    ModelPlace,
    ModelRequest,
    TellOpening,
    nothing_asked,
)
from studio.core.models.bodies import as_sent, request_body
from studio.core.models.capabilities import Price
from studio.core.models.connections import Connection, address_of, provider_at
from studio.core.models.remote import faults
from studio.core.models.remote.openai_client import KeySource, OpenAIClient, vectors_of
from studio.core.models.remote.reply_stream import ReplyStream
from studio.core.models.remote.sdk import EventStream
from studio.core.models.secrets import Secret
from studio.core.text.amounts import duration
from studio.core.text.values import JsonObject
from studio.core.wire.media import MediaSource
from studio.core.wire.reply import RefusedOption, ReplyDelta, ReplyNotice, UsageDelta
from studio.core.wire.request import Provider, holds_message
from studio.core.wire.wire_call import WireRecorder

_FIRST_SECONDS = 0.5
_LONGEST_SECONDS = 8.0
_LONGEST_ASKED_SECONDS = 60.0


def wait_before(attempt: int, retries: int, asked: float | None = None) -> float | None:
    """Return the seconds to wait before the next attempt; None if there is none.

    Doubles from half a second with up to a quarter of jitter, so that many clients of a busy server
    do not retry together; a time from the server takes precedence.

    Args:
        attempt: the failed attempt, from 1.
        retries: maximum number of retries.
        asked: the server's seconds to wait; beyond a minute there is no automatic retry.
    """
    if attempt > retries:
        return None
    if asked is not None:
        return asked if asked <= _LONGEST_ASKED_SECONDS else None
    wait = min(_LONGEST_SECONDS, _FIRST_SECONDS * 2.0 ** (attempt - 1))
    return wait * random.uniform(0.75, 1.0)


_SLOW_SECONDS = 8.0
_NEEDED: Mapping[Provider, frozenset[str]] = {
    "openai-chat": frozenset(("model", "messages", "stream")),
    "openai-responses": frozenset(("model", "input", "stream")),
    "anthropic": frozenset(("model", "messages", "stream", "max_tokens")),
    "ollama": frozenset(("model", "messages", "stream")),
    "gemini": frozenset(("contents",)),
}
_PATHS: Mapping[Provider, str] = {
    "openai-chat": "/chat/completions",
    "openai-responses": "/responses",
    "anthropic": "/messages",
    "ollama": "/api/chat",
    "gemini": "/{model}:streamGenerateContent?alt=sse",
}
_RENAMED = {"max_tokens": "max_completion_tokens", "max_completion_tokens": "max_tokens"}

_KIND_NAMES = {"azure": "azure.ai.openai", "gemini": "gcp.gemini"}
_PROVIDERS = {
    "api.openai.com": "openai",
    "openai.azure.com": "azure.ai.openai",
    "services.ai.azure.com": "azure.ai.inference",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gcp.gemini",
    "api.mistral.ai": "mistral_ai",
    "api.groq.com": "groq",
    "api.deepseek.com": "deepseek",
    "api.x.ai": "x_ai",
    "api.perplexity.ai": "perplexity",
    "api.cohere.com": "cohere",
}
"""Providers by the suffix of their host, as in OpenTelemetry's `gen_ai.provider.name`."""


class RemoteModel:
    """A model on a remote server."""

    def __init__(
        self,
        connection: Connection,
        model_id: str,
        key: Secret | KeySource | None,
        *,
        capabilities: Capabilities | None = None,
        price: Callable[[], Price | None] | None = None,
        media: MediaSource | None = None,
        refusals: faults.RefusedOptions | None = None,
    ) -> None:
        """Store the parameters; nothing is opened before the first use.

        Args:
            connection: the server, of a remote kind.
            model_id: model id on the server.
            key: its key, or a function that looks it up; None if it needs none.
            capabilities: abilities of the model.
            price: looks up the price of tokens, if the server gives none; called once, at the first
                use, since the table of prices is slow to load.
            media: reads the prompt's local files.
            refusals: stores the rejected options; None keeps them for this model only.
        """
        self._connection = connection
        self._model_id = model_id
        self._capabilities = capabilities or Capabilities()
        self._media = media
        self._look_up_price = price
        self._price: Price | None = None
        self._target = faults.Endpoint(connection.name, shown_address(connection), model_id)
        self._client = OpenAIClient(connection, key, self._target)
        self._refusals = refusals if refusals is not None else faults.RefusedOptions()

    def __repr__(self) -> str:
        return f"RemoteModel({self._model_id!r} at {self._connection.name!r})"

    @property
    def label(self) -> str:
        """The model's name for the user."""
        return f"{self._model_id or 'no model'} ({self._connection.name})"

    @property
    def place(self) -> ModelPlace:
        """The model and its server."""
        scheme, separator, rest = shown_address(self._connection).partition("://")
        place = rest.partition("/")[0]
        host, kind = place.partition(":")[0], self._connection.kind
        named = (
            name for end, name in _PROVIDERS.items() if host == end or host.endswith(f".{end}")
        )
        provider = next(named, "") or ("" if kind == "compatible" else _KIND_NAMES.get(kind, kind))
        if not provider:
            # If only an address is known, the conventions use the form of the API.
            is_name = host != "localhost" and any(map(str.isalpha, host))
            provider = host if is_name else "openai"
        return ModelPlace(self._model_id, provider, f"{scheme}{separator}{place}")

    @property
    def capabilities(self) -> Capabilities:
        """Return the features that the model supports."""
        return self._capabilities

    @property
    def provider(self) -> Provider:
        """Form of its requests and replies."""
        return provider_at(self._connection)

    @property
    def price(self) -> Price | None:
        """The price of its tokens; None if it is not known."""
        if self._look_up_price is not None:
            self._price, self._look_up_price = self._look_up_price(), None
        return self._price

    def whole_body(self, request: ModelRequest) -> JsonObject:
        """Return the complete body, including options that the server rejects."""
        return request_body(
            request,
            model_id=self._model_id,
            capabilities=self._capabilities,
            provider=self.provider,
            media=self._media,
        )

    def request_body(self, request: ModelRequest) -> JsonObject:
        """Return the exact body, without options that the server is known to reject."""
        return self.sent_body(request)[0]

    def sent_body(self, request: ModelRequest) -> tuple[JsonObject, tuple[RefusedOption, ...]]:
        """Return the exact body, and the options that its model is known to reject."""
        return faults.without_refused(self.whole_body(request), self.known_refusals())

    def known_refusals(self) -> tuple[faults.LearnedRefusal, ...]:
        """Return the options that the server is known to reject for this model."""
        return refusals_of(self._refusals, self._connection, self._model_id)

    def learn(self, refusals: Iterable[faults.LearnedRefusal]) -> None:
        """Store options that another process found to be rejected."""
        known = {each.option for each in self.known_refusals()}
        for refusal in refusals:
            if refusal.option not in known:
                self._refusals.learn(refusal)

    async def prepare(self, tell: TellOpening) -> None:
        """Open the client and read the price, which is not part of the server's time.

        Raises:
            ModelError: the key is missing.
        """
        await self._client.prepare()
        _ = self.price

    async def stream(self, request: ModelRequest) -> AsyncGenerator[ReplyDelta, None]:
        """Yield the reply, with retries until its first piece.

        Raises:
            ModelError: the server cannot be reached, returns an error, or breaks off.
            MissingValueError: a secret in the request has no value here.
        """
        request = as_sent(request)
        attempt, named = 1, frozenset[str]()
        while True:
            has_replied = False
            body, refused = self.sent_body(request)
            for option in refused:
                if option.name not in named:
                    yield option
            named = frozenset(option.name for option in refused)
            try:
                async with aclosing(self._attempt(body, request.wire)) as deltas:
                    async for delta in deltas:
                        has_replied = has_replied or not isinstance(delta, ReplyNotice | UsageDelta)
                        yield delta
            except faults.UnsupportedParameterError as error:
                if has_replied or not self.do_without(error, body):
                    raise
            except ModelError as error:
                # `retries` limits all causes together; a loop around the model must not retry
                # again.
                error.retries = self._connection.retries - (attempt - 1)
                error.is_exhausted = not has_replied or not error.retries
                if has_replied or not error.retryable:
                    raise
                asked = error.after if isinstance(error, faults.RetryLaterError) else None
                wait = wait_before(attempt, self._connection.retries, asked)
                if wait is None:
                    raise
                attempt += 1
                tries = self._connection.retries + 1
                yield ReplyNotice(f"{error.message} Try {attempt} of {tries} in {duration(wait)}.")
                await asyncio.sleep(wait)
            else:
                return

    async def embed(self, texts: Sequence[str], model: str) -> tuple[tuple[float, ...], ...]:
        """Return an embedding for each text, from another model of the same server.

        Raises:
            ModelError: the server does not return them.
        """
        return await vectors_of(self._client, texts, model)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.close()

    def do_without(self, error: faults.UnsupportedParameterError, sent: JsonObject) -> bool:
        """Omit an option from now on; return whether the request can be sent without it.

        Args:
            error: the server's error.
            sent: the body that was rejected.
        """
        name = error.parameter
        if name in _NEEDED[self.provider] or name not in sent:
            return False
        known = {each.option for each in self.known_refusals()}
        if name not in known:  # else a parallel request has learned it already
            instead = _RENAMED.get(name, "")
            address = shown_address(self._connection)
            self._refusals.learn(
                faults.LearnedRefusal(
                    address,
                    self.provider,
                    self._model_id,
                    name,
                    "" if instead in known else instead,
                )
            )
        return True

    async def _attempt(
        self, body: JsonObject, wire: WireRecorder | None
    ) -> AsyncGenerator[ReplyDelta, None]:
        """Make one call, and yield its events."""
        ends = asyncio.get_running_loop().time() + self._connection.call_seconds
        if not holds_message(body):
            raise nothing_asked()
        opening = asyncio.create_task(self._begin(body, wire))
        try:
            await asyncio.wait({opening}, timeout=_SLOW_SECONDS)
            if not opening.done():
                yield ReplyNotice(f"Waiting for {self._target.name} to start its reply …")
            stream, first = await opening
            reading = ReplyStream(
                stream,
                self._client,
                self._target,
                self.provider,
                stall_seconds=self._connection.stall_seconds,
                ends=ends,
                price=self.price,
                call_seconds=self._connection.call_seconds,
            )
            async with aclosing(reading.deltas(first)) as deltas:
                async for delta in deltas:
                    yield delta
        finally:
            opening.cancel()
            with suppress(asyncio.CancelledError, ModelError):
                stream, _ = await opening
                await stream.close()

    async def _begin(
        self, body: JsonObject, wire: WireRecorder | None
    ) -> tuple[EventStream, list[object]]:
        """Send the request and wait for the first events; empty if there are none."""
        path = _PATHS[self.provider].format(model=_in_address(self._model_id))
        seconds = min(self._connection.first_byte_seconds, self._connection.call_seconds)
        stream: EventStream | None = None
        await self._client.prepare()
        try:
            async with asyncio.timeout(seconds):
                stream = await self._client.post(path, body, wire)
                return stream, await stream.some() if stream.is_events else []
        except BaseException as error:
            if stream is not None:
                await stream.close()
            if isinstance(error, TimeoutError):
                raise ModelError(
                    "timeout",
                    f"{self._target.name} did not start its reply within {seconds:g} s.",
                    "Run again, or allow more time in the connection.",
                    retryable=True,
                ) from None
            raise


def _in_address(model_id: str) -> str:
    """Return a model's path in Gemini's URLs: `models/…`, or the collection in its id."""
    named = model_id if "/" in model_id else f"models/{model_id}"
    return quote(named, safe="/-._~")


def refusals_of(
    refusals: faults.RefusedOptions, connection: Connection, model: str
) -> tuple[faults.LearnedRefusal, ...]:
    """Return the options that are known to be rejected for a model of a connection."""
    place = (provider_at(connection), model)
    at_address = refusals.at(shown_address(connection))
    return tuple(each for each in at_address if (each.api, each.model) == place)


def shown_address(connection: Connection) -> str:
    """Return a connection's address without user name and password."""
    scheme, separator, rest = address_of(connection).partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{separator}{host.rpartition('@')[2]}{slash}{path}"
