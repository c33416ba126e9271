"""The operations of an OpenAPI description as a source of tools.

A request to a service is sent exactly as shown, and its answer is read within limits.
"""

from __future__ import annotations

import asyncio
import base64
import os
from collections.abc import Callable, Mapping
from contextlib import aclosing
from pathlib import Path
from typing import TYPE_CHECKING, Any

from studio.core.masking.masker import Masker
from studio.core.masking.walk import masked
from studio.core.prompty.document import ToolSpec
from studio.core.text.amounts import counted
from studio.core.text.files import read_text
from studio.core.text.values import Json, JsonObject, parse_json, text_of
from studio.core.tools.mcp.server_config import expand
from studio.core.tools.openapi import credentials, loading, schemas
from studio.core.tools.openapi.request import (
    MASK,
    HttpRequest,
    build_request,
    get_request,
    masked_request,
    server_url,
)
from studio.core.tools.openapi.serialization import ArgumentError
from studio.core.tools.python_server.tool_file import cut
from studio.core.tools.source import (
    DEFAULT_LIMITS,
    ToolLimits,
    ToolOutcome,
    ToolPicture,
    ToolSourceError,
    TrafficLog,
    curl_command,
)
from studio.core.whole_imports import HTTP, import_packages

if TYPE_CHECKING:
    import httpx2


_LARGEST_PICTURE = 16 * 1024 * 1024
_SECRET_HEADERS = ("set-cookie", "authorization", "proxy-authorization", "www-authenticate")


async def as_sent(address: str) -> str:
    """Return a URL in the form that the HTTP client sends.

    Raises:
        OpenApiError: it is not an address.
    """
    await import_packages(HTTP)
    import httpx2

    try:
        return str(httpx2.URL(address))
    except httpx2.InvalidURL as error:
        raise schemas.OpenApiError(f"{address!r} is not an address: {error}") from error


async def check_address(request: HttpRequest) -> None:
    """Check that the client sends the URL exactly as in the request.

    Raises:
        OpenApiError: the client would change or reject it.
    """
    address = request.url.replace(MASK, "key")  # only a mask is not encoded
    sent = await as_sent(address)
    if sent != address:
        raise schemas.OpenApiError(f"the address {address!r} would be sent as {sent!r}")


async def send(
    request: HttpRequest,
    label: str,
    limits: ToolLimits,
    traffic: TrafficLog | None = None,
    came: Callable[[int, int], None] = lambda done, whole: None,
    *,
    is_parsed: bool = True,
) -> ToolOutcome:
    """Send a request and read its answer within the limits.

    Args:
        request: the request.
        label: name of the source, for the user.
        limits: limits of a call.
        traffic: records the answer.
        came: called with the bytes received and expected (0: unknown).
        is_parsed: whether to parse the answer, which is slow for a large one.
    """
    await import_packages(HTTP)
    import httpx2

    try:
        made = _exactly(request)
        async with (
            asyncio.timeout(limits.seconds),
            httpx2.AsyncClient(timeout=limits.seconds) as http,
            aclosing(await http.send(made, stream=True)) as response,
        ):
            kind = response.headers.get("content-type", "").partition(";")[0].strip().lower()
            is_picture = kind.startswith(("image/", "audio/"))
            most = _LARGEST_PICTURE if is_picture else limits.characters * 4
            body = bytearray()
            length = response.headers.get("content-length", "")
            is_packed = "content-encoding" in response.headers  # its length is the compressed one
            whole = int(length) if length.isdecimal() and not is_packed else 0
            async for chunk in response.aiter_bytes():
                body += chunk
                came(len(body), whole)
                if len(body) > most:
                    break
            text = bytes(body).decode(response.charset_encoding or "utf-8", "replace")
            status, reason = response.status_code, response.reason_phrase
            place = response.headers.get("location", "")
            head = _head(response)
    except (TimeoutError, httpx2.TimeoutException):
        failed = ToolOutcome(f"{label} did not answer within {limits.seconds:g} s", "timeout")
        return _noted(failed, traffic, request)
    except (httpx2.HTTPError, httpx2.InvalidURL, LookupError, ValueError) as error:
        failed = ToolOutcome(f"{label} cannot be reached: {error}", "error")
        return _noted(failed, traffic, request)
    pictures: tuple[ToolPicture, ...] = ()
    if is_picture:
        pictures = (ToolPicture(kind, base64.b64encode(body).decode()),)
        text = f"[{kind}, {counted(len(body), 'byte')}]"
    if traffic is not None:
        title = f"HTTP {status} {reason}".strip()
        traffic.received(title, f"{head}\n\n{text}", len(body), id(request))
    text, truncated = cut(text, limits.characters)
    if not 200 <= status < 300:
        to = f" to {place}, which is not followed" if place and 300 <= status < 400 else ""
        return ToolOutcome(
            f"HTTP {status} {reason}{to}: {text}".strip(": "), "error", head=head, pictures=pictures
        )
    value = _value(text) if is_parsed else text
    return ToolOutcome(text, "ok", value=value, truncated=truncated, head=head, pictures=pictures)


def _noted(outcome: ToolOutcome, traffic: TrafficLog | None, request: HttpRequest) -> ToolOutcome:
    if traffic is not None:
        traffic.received(outcome.status, outcome.text, 0, id(request))
    return outcome


def _head(response: httpx2.Response) -> str:
    """Return status and headers for the user, without credentials."""
    lines = [f"HTTP {response.status_code} {response.reason_phrase}".strip()]
    for name, value in response.headers.multi_items():
        lines.append(f"{name}: {MASK if name.lower() in _SECRET_HEADERS else value}")
    return "\n".join(lines)


def _exactly(request: HttpRequest) -> httpx2.Request:
    """Return the request in the client's form, unchanged."""
    import httpx2

    headers = [(name.encode(), value.encode()) for name, value in request.headers.items()]
    content = request.body.encode() or None
    return httpx2.Request(request.method, request.url, headers=headers, content=content)


def _value(text: str) -> Json:
    try:
        value = parse_json(text)
    except ValueError:
        return text
    return value if isinstance(value, Mapping | list | str | int | float | None) else text


_MEGABYTE = 1024 * 1024
_TOO_LARGE = (
    f"is larger than {loading.LONGEST_DESCRIPTION // _MEGABYTE} MB, which is the most that is read"
)


class OpenApiSource:
    """The source for one description and its service."""

    def __init__(
        self,
        name: str,
        place: Path | str,
        connection: JsonObject,
        limits: ToolLimits = DEFAULT_LIMITS,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        find: credentials.FindConnection = credentials.no_connection,
        masker: Masker | None = None,
        choice: loading.OperationChoice = loading.ALL_OPERATIONS,
        tell: loading.TellProgress = loading.tell_nobody,
    ) -> None:
        """Create a source.

        Args:
            name: name of the declared tool.
            place: the description's file or URL.
            connection: the tool's `connection`: `endpoint`, `apiKey`, `keys` by security scheme,
                `variables` of the servers' addresses; references unresolved.
            limits: limits of a call.
            environment: returns the variables for references, at each call.
            find: returns the connection that `connection` names, at each call.
            masker: receives the sent key, which services may repeat.
            choice: the selected operations.
            tell: receives the progress of reading a large description.
        """
        self.is_stopped = False
        """Whether the user stopped the reading, which then does not restart by itself."""
        self._tell = tell
        self._under_way: tuple[loading.DescriptionReading, asyncio.Future[Any]] | None = None
        self.traffic = TrafficLog()
        """Messages to and from the service."""
        self._masker = masker if masker is not None else Masker()
        self._name = name
        self._place = place
        self._connection = connection
        self._limits = limits
        self._environment = environment
        self._find = find
        self._choice = choice
        self._description: schemas.Description | None = None
        self._operations: dict[str, schemas.Operation] = {}
        self._stamp: object = None
        self._reading = asyncio.Lock()
        self._keys = credentials.ServiceKeys(
            name,
            connection,
            limits.seconds,
            environment,
            self._masker,
            is_own=isinstance(place, Path),
        )

    @property
    def label(self) -> str:
        """Name of the declared tool, marked as OpenAPI."""
        return f"openapi: {self._name}"

    @property
    def problems(self) -> tuple[str, ...]:
        """The omitted parts of the description; known after `list_tools`."""
        return self._description.problems if self._description is not None else ()

    @property
    def operations(self) -> tuple[schemas.Operation, ...]:
        """The selected operations; known after `list_tools`."""
        return self._description.operations if self._description is not None else ()

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Return a tool for every operation.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        description = await self._read()
        return tuple(operation.spec for operation in description.operations)

    async def overview(self) -> tuple[loading.OperationRow, ...]:
        """Return every operation of the description, selected or not.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        async with self._reading:
            try:
                _, whole = await self._loaded(loading.ALL_OPERATIONS)
            except loading.ReadingStoppedError:
                raise ToolSourceError(self._stopped_words) from None
        return await asyncio.to_thread(loading.operation_rows, whole, self._choice)

    def stop_reading(self) -> None:
        """Stop the current reading, at the user's request."""
        if self._under_way is not None:
            reading, work = self._under_way
            reading.stop()
            work.cancel()

    def place_of(self, name: str) -> str:
        """Return the operation's method and address, with references unresolved."""
        description, operation = self._description, self._operations.get(name)
        if description is None or operation is None:
            return ""
        given = text_of(self._connection.get("endpoint") or self._connection.get("url"))
        base = server_url(description, given, str(self._place), operation).rstrip("/")
        named = (
            f" as {credentials.name_of(self._connection)}"
            if credentials.name_of(self._connection)
            else ""
        )
        return f"{operation.method.upper()} {base}{operation.path}{named}"

    async def request_text(self, name: str, arguments: JsonObject) -> str:
        """Return the request that a call would send, with its key masked, for the user.

        Raises:
            ToolSourceError: there is no such operation, or the request cannot be built.
        """
        description = await self._read()
        operation = self._operations.get(name)
        if operation is None:
            raise ToolSourceError(f"{self.label} has no operation {name!r}")
        try:
            base, named = await self._base(description, operation)
            found = schemas.credentials_for(
                description, operation, self._keys.names(description, named)
            )
            request = masked_request(operation, arguments, base, *(each for _, each in found))
            await check_address(request)
        except (schemas.OpenApiError, LookupError) as error:
            raise ToolSourceError(f"{self.label}: {error.args[0]}") from error
        return request.text()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Send one request; canceling the task closes the connection."""
        try:
            description = await self._read()
            operation = self._operations.get(name)
            if operation is None:
                return ToolOutcome(f"{self.label} has no operation {name!r}", "unknown-tool")
            base, named = await self._base(description, operation)
            sent = await self._keys.read(description, operation, named)
            request = build_request(operation, arguments, base, *sent.signatures)
            await check_address(request)
        except ArgumentError as error:
            return ToolOutcome(f"{name}: {error}", "bad-arguments")
        except (ToolSourceError, schemas.OpenApiError, LookupError) as error:
            return ToolOutcome(f"{self.label}: {error.args[0]}", "error")
        shown = masked_request(operation, arguments, base, *(each for each, _ in sent.signatures))
        self.traffic.sent(
            f"{shown.method} {shown.url}",
            shown.text(),
            len(request.body.encode()),
            id(request),
            curl_command(shown.method, shown.url, shown.headers, shown.body),
        )
        answer = await send(request, self.label, self._limits, self.traffic)
        if sent.has_token and answer.head.startswith("HTTP 401"):
            self._keys.forget_tokens()
        return masked(answer, self._masker)

    async def close(self) -> None:
        """Do nothing, since nothing runs between calls."""

    async def _base(
        self, description: schemas.Description, operation: schemas.Operation
    ) -> tuple[str, credentials.NamedConnection | None]:
        """Return the address for requests, and the connection of its key, if any.

        Raises:
            OpenApiError: it is not an address.
        """
        endpoint = self._connection.get("endpoint") or self._connection.get("url")
        known = self._environment()
        given = expand(endpoint, known) if isinstance(endpoint, str) else ""
        base = server_url(description, given, str(self._place), operation)
        name = credentials.name_of(self._connection)
        named = self._find(name) if name else None
        return await as_sent(credentials.address_for(named, given, base) if named else base), named

    async def _read(self) -> schemas.Description:
        async with self._reading:
            if self.is_stopped:
                raise ToolSourceError(self._stopped_words)
            if self._description is None or not self._is_as_read(self._description):
                try:
                    self._stamp, read = await self._loaded(self._choice)
                except loading.ReadingStoppedError:
                    self.is_stopped = True
                    raise ToolSourceError(self._stopped_words) from None
                self._description = read
                self._operations = {each.spec.name: each for each in read.operations}
            return self._description

    @property
    def _stopped_words(self) -> str:
        return (
            f"{self.label}: the reading of {self._shown_place} was stopped; "
            "load the tools again to read it"
        )

    @property
    def _shown_place(self) -> str:
        """The name of its file, also of a downloaded one; without a name the host."""
        if isinstance(self._place, Path):
            return self._place.name
        return self._place.partition("?")[0].rstrip("/").rpartition("/")[2].rpartition("@")[2]

    async def _loaded(self, choice: loading.OperationChoice) -> tuple[object, schemas.Description]:
        """Return the description, read again, and its file's time and size.

        Raises:
            ToolSourceError: the description cannot be read.
            ReadingStoppedError: the user stopped it.
        """
        reading = loading.DescriptionReading(self._shown_place, self._tell)
        work = asyncio.ensure_future(self._load(choice, reading))
        self._under_way = reading, work
        try:
            return await work
        except asyncio.CancelledError:
            if reading.is_stopped:
                raise loading.ReadingStoppedError from None
            reading.stop()  # its thread ends at the next step
            raise
        finally:
            self._under_way = None
            reading.end()

    async def _load(
        self, choice: loading.OperationChoice, reading: loading.DescriptionReading
    ) -> tuple[object, schemas.Description]:
        stamp, text = await self._text(reading)
        variables = self._variables()
        path = self._place if isinstance(self._place, Path) else None
        try:
            return stamp, await asyncio.to_thread(
                loading.load_description, text, self.label, choice, variables, reading, path
            )
        except (schemas.OpenApiError, LookupError, RecursionError) as error:
            raise ToolSourceError(f"{self.label}: {error.args[0]}") from error

    def _variables(self) -> Mapping[str, str]:
        """Return the connection's values of variables in the servers' addresses."""
        given = self._connection.get("variables")
        listed = given.items() if isinstance(given, Mapping) else ()
        known = self._environment()
        return {name: expand(str(value), known) for name, value in listed}

    def _is_as_read(self, description: schemas.Description) -> bool:
        """Return whether its files are unchanged; called at every pause in typing."""
        if isinstance(self._place, str):
            return True
        try:
            stamps = {self._place: self._stamp, **description.files}
            return all(schemas.stamp_of(path) == stamp for path, stamp in stamps.items())
        except OSError:
            return False

    async def _text(self, reading: loading.DescriptionReading) -> tuple[object, str]:
        if isinstance(self._place, str):
            return self._place, await self._fetched(self._place, reading)
        try:
            stamp = schemas.stamp_of(self._place)
            text = await asyncio.to_thread(
                read_text, self._place, loading.LONGEST_DESCRIPTION, errors="replace"
            )
        except OSError as error:
            raise ToolSourceError(
                f"{self.label}: {self._place.name} cannot be read: {error.strerror}"
            ) from error
        return stamp, text

    async def _fetched(self, url: str, reading: loading.DescriptionReading) -> str:
        limits = ToolLimits(self._limits.start_seconds, characters=loading.LONGEST_DESCRIPTION)
        try:
            request = get_request(await as_sent(url))
        except schemas.OpenApiError as error:
            raise ToolSourceError(f"{self.label}: {error}") from error
        outcome = await send(request, self.label, limits, came=reading.fetched, is_parsed=False)
        if outcome.status != "ok":
            raise ToolSourceError(outcome.text)
        if outcome.truncated:
            raise ToolSourceError(f"{self.label}: the description at {url} {_TOO_LARGE}")
        return outcome.text
