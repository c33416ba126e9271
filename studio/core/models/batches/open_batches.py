"""Batch APIs of each provider: requests that are answered within a day.

A batch of OpenAI, or of a server with the same API, is a file of requests and files of replies; one
of Anthropic has all requests in its body, and replies line by line. All servers list their batches
in pages, and give each an id.
"""

import json
from abc import ABC, abstractmethod
from collections.abc import AsyncGenerator, Callable, Collection, Iterator, Mapping, Sequence
from contextlib import aclosing, suppress
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Literal, Protocol, TypeAlias

from studio.core.models.base import ModelError
from studio.core.models.connections import Connection, provider_at
from studio.core.models.remote.faults import Endpoint, status_fault
from studio.core.models.remote.model import shown_address
from studio.core.models.remote.openai_client import OpenAIClient
from studio.core.models.secrets import SecretStore
from studio.core.text.values import Json, JsonObject, object_of, objects_of, parse_json

# Batches of requests, which a provider answers within a day at half the price.

PRICE_SHARE = 0.5
"""Price of a request in a batch, as a share of its normal price; the same at all providers with
batches.
"""

_STREAMED = ("stream", "stream_options")
"""Options for a streamed reply, which no batch accepts."""

BatchStatus: TypeAlias = Literal["going", "completed", "failed", "expired", "cancelled"]
"""State of a batch. `failed`: the provider accepted none of its requests; `expired` and
`cancelled`: some requests may be answered, and cost money.
"""

Unanswered: TypeAlias = Literal["expired", "cancelled"]
"""Reason why a request has neither an answer nor an error of its own; it cost nothing."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    """One request (line) of a batch."""

    name: str
    """`custom_id` of the request: letters, digits and hyphens, 64 characters at most."""

    line: bytes
    """The line as sent, without line break."""

    path: str
    """Path of the API that answers it."""


@dataclass(frozen=True, slots=True)
class BatchBounds:
    """The size limits of one batch."""

    requests: int
    """Maximum number of requests."""

    bytes: int
    """Maximum size of all requests, in bytes."""


@dataclass(frozen=True, slots=True)
class BatchPart:
    """The requests of one batch."""

    mark: str
    """Hash by which the batch is found at the provider."""

    requests: tuple[BatchRequest, ...]
    """The requests, at least one."""


@dataclass(frozen=True, slots=True)
class RemoteBatch:
    """A batch as its provider describes it."""

    id: str
    """The provider's id of the batch."""

    status: BatchStatus
    """State of the batch."""

    answered: int = 0
    """Number of finished requests."""

    total: int = 0
    """Number of all requests; 0 if the provider does not say (yet)."""

    results: tuple[str, ...] = ()
    """Paths of the results, to read when the batch has ended."""

    failure: str = ""
    """Error message of the provider."""

    is_guess: bool = False
    """Whether it was identified only by time and size; when it has ended, its names confirm it."""

    is_full: bool = False
    """Whether it failed because too many requests are waiting; it may be accepted later."""


@dataclass(frozen=True, slots=True)
class BatchReply:
    """The result of one request."""

    name: str
    """`custom_id` of the request."""

    response: JsonObject | None = None
    """The whole response; None if there is none."""

    fault: ModelError | None = None
    """Error of the request; None if it has a response."""

    unanswered: Unanswered | None = None
    """Reason why the request was not processed; None if it was."""

    line: str = ""
    """The unchanged line of the results; empty if there is none."""

    request: BatchRequest | None = None
    """The request as sent; None until a cell receives the reply."""

    is_shared: bool = False
    """Whether an equal request of another cell was sent and paid for both."""


@dataclass(frozen=True, slots=True)
class NotedBatch:
    """A stored batch that was about to be sent, and for which sending is not confirmed."""

    mark: str
    """Hash of the batch."""

    noted: float
    """Time at which it was stored, in seconds since 1970."""

    requests: int
    """Number of requests."""

    holds: Callable[[str], bool]
    """Function that returns whether a name belongs to one of its requests."""

    known: Collection[str] = ()
    """The provider's ids of other batches."""


class BatchApi(Protocol):
    """The batch API of one server."""

    @property
    def bounds(self) -> BatchBounds:
        """The size limits of one batch."""
        ...

    def request(self, name: str, body: JsonObject) -> BatchRequest:
        """Build one request of a batch."""
        ...

    async def send(self, part: BatchPart, uploaded: Callable[[str], None]) -> RemoteBatch:
        """Send a batch.

        Args:
            part: requests of the batch.
            uploaded: called with the id of the file that was sent first, if the provider needs one.

        Raises:
            ModelError: the batch was not accepted, or (`retryable`) possibly it was.
        """
        ...

    async def find(self, noted: NotedBatch) -> RemoteBatch | None:
        """Find a batch that was sent without confirmation; None if there is none.

        Raises:
            ModelError: the request fails.
        """
        ...

    async def look(self, batch: str) -> RemoteBatch:
        """Return the state of a batch.

        Raises:
            ModelError: the request fails, or there is no such batch.
        """
        ...

    def replies(self, batch: RemoteBatch) -> AsyncGenerator[BatchReply, None]:
        """Yield the results of its requests, in any order; some can be missing.

        Raises:
            ModelError: the results cannot be read; those before the error were yielded.
        """
        ...

    def read(self, line: str) -> BatchReply | None:
        """Read a stored line of results; None if it belongs to no request."""
        ...

    async def cancel(self, batch: str) -> None:
        """Ask the provider not to begin further requests of a batch.

        Raises:
            ModelError: the request fails.
        """
        ...

    async def close(self) -> None:
        """Close the connections."""
        ...


def unstreamed(body: JsonObject) -> JsonObject:
    """Return a body for a batch: the same, without the options for a stream."""
    return {key: value for key, value in body.items() if key not in _STREAMED}


def as_line(value: Mapping[str, object]) -> bytes:
    """Return a value as one line of JSON in UTF-8."""
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8")


def parts_of(
    requests: Sequence[BatchRequest], bounds: BatchBounds
) -> Iterator[tuple[BatchRequest, ...]]:
    """Split requests into batches, in order; a request that is too large gets its own batch."""
    part: list[BatchRequest] = []
    size = 0
    for each in requests:
        if part and (len(part) >= bounds.requests or size + len(each.line) + 1 > bounds.bytes):
            yield tuple(part)
            part, size = [], 0
        part.append(each)
        size += len(each.line) + 1
    if part:
        yield tuple(part)


_MOST_PAGES = 20
_PAGE = 100


@dataclass(frozen=True, slots=True)
class BatchHost:
    """The clients for the batches of one server."""

    client: OpenAIClient
    """Client that sends batches, and reads their state and results."""

    downloads: OpenAIClient
    """Client that reads the files of replies, which are larger than any reply."""

    target: Endpoint
    """Names of server and model for messages."""

    async def close(self) -> None:
        """Close the connections."""
        await self.client.close()
        await self.downloads.close()


class RemoteBatches(ABC):
    """The batches of one server at one path."""

    def __init__(self, server: BatchHost, path: str, cursor: str) -> None:
        """Store the parameters; nothing is opened yet.

        Args:
            server: the clients, closed by `close`.
            path: path of the batches.
            cursor: name of the parameter with the id after which a page of their list begins.
        """
        self._server = server
        self._client = server.client
        self._path = path
        self._cursor = cursor

    @abstractmethod
    def _read(self, batch: JsonObject) -> RemoteBatch:
        """Read the server's description of a batch."""

    @abstractmethod
    def _reply(self, line: JsonObject) -> BatchReply | None:
        """Read one line of results; None if it belongs to no request."""

    async def look(self, batch: str) -> RemoteBatch:
        """Return the state of a batch; see `BatchApi`."""
        return self._read(await self._client.exchange("get", f"{self._path}/{batch}"))

    async def cancel(self, batch: str) -> None:
        """Ask the provider not to begin further requests; see `BatchApi`."""
        await self._client.exchange("post", f"{self._path}/{batch}/cancel")

    async def replies(self, batch: RemoteBatch) -> AsyncGenerator[BatchReply, None]:
        """Yield the results, however the batch ended; see `BatchApi`."""
        for path in batch.results:
            async with aclosing(self._server.downloads.lines(path)) as lines:
                async for line, value in lines:
                    reply = self._reply(value)
                    if reply is not None:
                        yield replace(reply, line=line)

    def read(self, line: str) -> BatchReply | None:
        """Read a stored line of results; see `BatchApi`."""
        value = parse_json(line)
        assert isinstance(value, Mapping)  # only such lines are stored
        reply = self._reply(value)
        return None if reply is None else replace(reply, line=line)

    async def close(self) -> None:
        """Close the connections."""
        await self._server.close()

    async def _listed(self) -> AsyncGenerator[list[JsonObject], None]:
        """Yield the pages of the list of batches, newest first, as long as they can be relevant."""
        path = f"{self._path}?limit={_PAGE}"
        after = ""
        for _ in range(_MOST_PAGES):
            page = await self._client.exchange("get", path + after)
            batches = objects_of(page.get("data"))
            yield batches
            if not batches or page.get("has_more") is not True:
                return
            after = f"&{self._cursor}={batches[-1].get('id')}"

    def _id(self, batch: JsonObject) -> str:
        found = batch.get("id")
        if not isinstance(found, str) or not found:
            raise self._client.bad_reply("its batch has no id")
        return found


BatchEndpoint = Literal["/v1/chat/completions", "/v1/responses", "/chat/completions"]
"""Path of each request in a batch; the last is Azure's name for it."""

MARK = "prompt_studio"
"""Key of a batch's `metadata` that contains its hash."""

_OPENAI_BOUNDS = BatchBounds(50_000, 190 * 1024**2)
"""OpenAI accepts 50,000 requests and 200 MB in one file."""

_OPENAI_CLOCKS_DIFFER = 3600.0
"""Maximum difference between the clocks of both sides, in seconds."""

_STATUS: Mapping[str, BatchStatus] = {
    "completed": "completed",
    "failed": "failed",
    "expired": "expired",
    "cancelled": "cancelled",
}
_UNANSWERED: Mapping[str, Unanswered] = {
    "batch_expired": "expired",
    "batch_cancelled": "cancelled",
    "batch_canceled": "cancelled",
}
_FULL = ("token_limit_exceeded", "token_limit", "request_limit_exceeded", "rate_limit_exceeded")

_ANTHROPIC_BOUNDS = BatchBounds(100_000, 240 * 1024**2)
"""Anthropic accepts 100,000 requests and 256 MB in one batch."""

_ANTHROPIC_CLOCKS_DIFFER = 600.0
_ANTHROPIC_PATH = "/messages/batches"
_ANTHROPIC_STATUS: Mapping[str, int] = {
    "invalid_request_error": 400,
    "authentication_error": 401,
    "billing_error": 402,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "api_error": 500,
    "overloaded_error": 529,
}
"""HTTP status for each kind of error in Anthropic's results."""


class OpenAIBatches(RemoteBatches):
    """The batches of OpenAI, or of a server with the same API, for one path."""

    def __init__(self, server: BatchHost, endpoint: BatchEndpoint) -> None:
        """Store the parameters; nothing is opened yet.

        Args:
            server: the clients, closed by `close`.
            endpoint: path of each request in a batch.
        """
        super().__init__(server, "/batches", "after")
        self._endpoint = endpoint

    @property
    def bounds(self) -> BatchBounds:
        """The size limits of one batch."""
        return _OPENAI_BOUNDS

    def request(self, name: str, body: JsonObject) -> BatchRequest:
        """Build one request of a batch."""
        line = {"custom_id": name, "method": "POST", "url": self._endpoint, "body": body}
        return BatchRequest(name, as_line(line), self._endpoint)

    async def send(self, part: BatchPart, uploaded: Callable[[str], None]) -> RemoteBatch:
        """Send the file, then begin a batch for it; see `BatchApi`."""
        data = b"\n".join(each.line for each in part.requests) + b"\n"
        name = f"prompt-studio-{part.mark[:16]}.jsonl"
        file = await self._client.upload("/files", {"purpose": "batch"}, name, data)
        found = file.get("id")
        if not isinstance(found, str) or not found:
            raise self._client.bad_reply("it gave the uploaded file no id")
        uploaded(found)
        try:
            batch = await self._client.exchange(
                "post",
                "/batches",
                {
                    "input_file_id": found,
                    "endpoint": self._endpoint,
                    "completion_window": "24h",
                    "metadata": {MARK: part.mark},
                },
            )
        except ModelError as error:
            if not error.retryable:  # the batch was rejected: its file is useless
                await self._forget(found)
            raise
        return self._read(batch)

    async def _forget(self, file: str) -> None:
        with suppress(ModelError):
            await self._client.exchange("delete", f"/files/{file}")

    async def find(self, noted: NotedBatch) -> RemoteBatch | None:
        """Look for the hash in the list of batches; see `BatchApi`."""
        async with aclosing(self._listed()) as pages:
            async for batches in pages:
                for each in batches:
                    marks = each.get("metadata")
                    if isinstance(marks, Mapping) and marks.get(MARK) == noted.mark:
                        return self._read(each)
                created = [each.get("created_at") for each in batches]
                times = [float(each) for each in created if isinstance(each, int | float)]
                if times and min(times) < noted.noted - _OPENAI_CLOCKS_DIFFER:
                    return None
        return None

    def _read(self, batch: JsonObject) -> RemoteBatch:
        count = object_of(batch.get("request_counts"))
        # An error file's id may be present and empty; expired and canceled batches have answers
        # too.
        files = [batch.get("output_file_id"), batch.get("error_file_id")]
        errors = batch.get("errors")
        faults = objects_of(errors.get("data")) if isinstance(errors, Mapping) else []
        return RemoteBatch(
            self._id(batch),
            _STATUS.get(str(batch.get("status")), "going"),
            _number(count.get("completed")) + _number(count.get("failed")),
            _number(count.get("total")),
            tuple(f"/files/{each}/content" for each in files if isinstance(each, str) and each),
            self._client.mask("; ".join(_words(each) for each in faults[:3])),
            is_full=bool(faults) and all(each.get("code") in _FULL for each in faults),
        )

    def _reply(self, line: JsonObject) -> BatchReply | None:
        name = line.get("custom_id")
        if not isinstance(name, str):
            return None
        response, error = line.get("response"), line.get("error")
        if isinstance(error, Mapping) and error:
            missing = _UNANSWERED.get(str(error.get("code")))
            if missing is not None:
                return BatchReply(name, unanswered=missing)
            return BatchReply(name, fault=self._fault(500, error))
        if not isinstance(response, Mapping):
            return BatchReply(name, fault=self._client.bad_reply("a line contains no response"))
        status, body = response.get("status_code"), response.get("body")
        if isinstance(status, int) and status >= 300:
            held = body.get("error", body) if isinstance(body, Mapping) else body
            return BatchReply(name, fault=self._fault(status, held))
        if not isinstance(body, Mapping):
            return BatchReply(name, fault=self._client.bad_reply("a response contains no body"))
        return BatchReply(name, body)

    def _fault(self, status: int, error: object) -> ModelError:
        return status_fault(status, {}, error, self._server.target, self._server.downloads.mask)


class AnthropicBatches(RemoteBatches):
    """The batches of one account at Anthropic."""

    def __init__(self, server: BatchHost) -> None:
        """Store the parameters; nothing is opened yet.

        Args:
            server: the clients, closed by `close`.
        """
        super().__init__(server, _ANTHROPIC_PATH, "after_id")

    @property
    def bounds(self) -> BatchBounds:
        """The size limits of one batch."""
        return _ANTHROPIC_BOUNDS

    def request(self, name: str, body: JsonObject) -> BatchRequest:
        """Build one request of a batch."""
        return BatchRequest(name, as_line({"custom_id": name, "params": body}), _ANTHROPIC_PATH)

    async def send(self, part: BatchPart, uploaded: Callable[[str], None]) -> RemoteBatch:
        """Begin a batch, which needs no file; see `BatchApi`."""
        data = b'{"requests":[' + b",".join(each.line for each in part.requests) + b"]}"
        return self._read(await self._client.exchange("post", self._path, data))

    async def find(self, noted: NotedBatch) -> RemoteBatch | None:
        """Look for a batch of that time and size with the names; see `BatchApi`.

        A batch has no hash here, and shows the names of its requests only when it has ended: a
        running one that may be the batch is used, and checked when it has ended.
        """
        async with aclosing(self._listed()) as pages:
            async for batches in pages:
                for each in batches:
                    if _seconds(each.get("created_at")) < noted.noted - _ANTHROPIC_CLOCKS_DIFFER:
                        return None
                    found = self._read(each)
                    if found.id in noted.known or found.total != noted.requests:
                        continue
                    if found.status == "going":
                        return replace(found, is_guess=True)
                    if await self._holds(found, noted):
                        return found
        return None

    async def _holds(self, batch: RemoteBatch, noted: NotedBatch) -> bool:
        async with aclosing(self.replies(batch)) as replies:
            async for reply in replies:
                return noted.holds(reply.name)
        return False

    def _read(self, batch: JsonObject) -> RemoteBatch:
        found = self._id(batch)
        count = object_of(batch.get("request_counts"))
        numbers = {key: each for key, each in count.items() if isinstance(each, int)}
        total, waiting = sum(numbers.values()), numbers.get("processing", 0)
        status: BatchStatus = "going"
        if batch.get("processing_status") == "ended":
            status = "completed"
            if numbers.get("canceled"):
                status = "cancelled"
            elif numbers.get("expired"):
                status = "expired"
        # The results' address comes from the server; only its path is used, at the known host.
        return RemoteBatch(
            found, status, total - waiting, total, (f"{self._path}/{found}/results",)
        )

    def _reply(self, line: JsonObject) -> BatchReply | None:
        name, result = line.get("custom_id"), line.get("result")
        if not isinstance(name, str) or not isinstance(result, Mapping):
            return None
        message = result.get("message")
        match result.get("type"):
            case "succeeded" if isinstance(message, Mapping):
                return BatchReply(name, message)
            case "expired":
                return BatchReply(name, unanswered="expired")
            case "canceled" | "cancelled":
                return BatchReply(name, unanswered="cancelled")
            case "errored":
                return BatchReply(name, fault=self._fault(result.get("error")))
            case _:
                return BatchReply(
                    name, fault=self._client.bad_reply("a result contains no message")
                )

    def _fault(self, error: Json) -> ModelError:
        held = error.get("error", error) if isinstance(error, Mapping) else error
        kind = str(held.get("type")) if isinstance(held, Mapping) else ""
        status = _ANTHROPIC_STATUS.get(kind, 500)
        return status_fault(status, {}, held, self._server.target, self._server.downloads.mask)


def _number(value: Json) -> int:
    return value if isinstance(value, int) else 0


def _words(error: JsonObject) -> str:
    line = error.get("line")
    where = f"line {line}: " if isinstance(line, int) else ""
    return f"{where}{error.get('message') or error.get('code') or 'no reason'}"


def _seconds(text: Json) -> float:
    """Return a provider's time, in seconds since 1970; the current time if it is unreadable."""
    try:
        return datetime.fromisoformat(str(text)).timestamp()
    except ValueError:
        return float("inf")


_MEGABYTES = 8192.0
"""Maximum size of a file of replies, which is read line by line."""


def has_batches(connection: Connection) -> bool:
    """Return whether a connection's API has batches."""
    return connection.is_remote and provider_at(connection) in (
        "openai-chat",
        "openai-responses",
        "anthropic",
    )


def open_batches(connection: Connection, secrets: SecretStore) -> BatchApi:
    """Return the batches of a connection; nothing is sent yet.

    Raises:
        ModelError: the connection has no batches.
    """
    if not has_batches(connection):
        raise ModelError(
            "no-batches",
            f"The connection {connection.name!r} has no batches.",
            "OpenAI, Azure, Anthropic and servers that speak OpenAI's API have them.",
        )
    target = Endpoint(connection.name, shown_address(connection), connection.model)
    wide = replace(connection, reply_megabytes=_MEGABYTES)
    client, downloads = (
        OpenAIClient(each, lambda: secrets.read(connection.key, connection.name), target)
        for each in (connection, wide)
    )
    server = BatchHost(client, downloads, target)
    if provider_at(connection) == "anthropic":
        return AnthropicBatches(server)
    endpoint: BatchEndpoint = "/v1/chat/completions"
    if provider_at(connection) == "openai-responses":
        endpoint = "/v1/responses"
    elif connection.kind == "azure":
        endpoint = "/chat/completions"
    return OpenAIBatches(server, endpoint)
