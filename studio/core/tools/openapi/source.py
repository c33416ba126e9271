"""The operations of an OpenAPI description as a source of tools."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from studio.core.masking.masker import Masker
from studio.core.masking.walk import masked
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.text.bounded_file import read_text
from studio.core.text.values import JsonObject, text_of
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits
from studio.core.tools.mcp.server_config import expand
from studio.core.tools.openapi.body import ArgumentError
from studio.core.tools.openapi.choice import ALL_OPERATIONS, OperationChoice
from studio.core.tools.openapi.credentials import ServiceKeys
from studio.core.tools.openapi.exchange import as_sent, check_address, send
from studio.core.tools.openapi.files import stamp_of
from studio.core.tools.openapi.loading import LONGEST_DESCRIPTION, load_description
from studio.core.tools.openapi.named_connection import (
    FindConnection,
    NamedConnection,
    address_for,
    name_of,
    no_connection,
)
from studio.core.tools.openapi.operation import (
    Description,
    OpenApiError,
    Operation,
    credentials_for,
)
from studio.core.tools.openapi.overview import OperationRow, operation_rows
from studio.core.tools.openapi.progress import (
    DescriptionReading,
    ReadingStoppedError,
    TellProgress,
    tell_nobody,
)
from studio.core.tools.openapi.request import (
    build_request,
    get_request,
    masked_request,
    server_url,
)
from studio.core.tools.source import ToolOutcome, ToolSourceError
from studio.core.tools.traffic import TrafficLog, curl_command

_MEGABYTE = 1024 * 1024
_TOO_LARGE = f"is larger than {LONGEST_DESCRIPTION // _MEGABYTE} MB, which is the most that is read"


class OpenApiSource:
    """One description, and the service it describes."""

    def __init__(
        self,
        name: str,
        place: Path | str,
        connection: JsonObject,
        limits: ToolLimits = DEFAULT_LIMITS,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        find: FindConnection = no_connection,
        masker: Masker | None = None,
        choice: OperationChoice = ALL_OPERATIONS,
        tell: TellProgress = tell_nobody,
    ) -> None:
        """Make a source.

        Args:
            name: the declared tool's name.
            place: the description's file, or its URL.
            connection: the tool's `connection`: `endpoint`, `apiKey`, `keys` by security scheme,
                `variables` of the servers' addresses; references unresolved.
            limits: bounds of a call.
            environment: the variables that references are resolved with, asked at each call.
            find: finds the connection that `connection` names, asked at each call.
            masker: is told the key that is sent; services repeat it.
            choice: the operations that are wanted.
            tell: is told how far the reading of a large description is.
        """
        self.is_stopped = False
        """Whether the user stopped the reading: no other begins by itself."""
        self._tell = tell
        self._under_way: tuple[DescriptionReading, asyncio.Future[Any]] | None = None
        self.traffic = TrafficLog()
        """What went to the service and came from it."""
        self._masker = masker if masker is not None else Masker()
        self._name = name
        self._place = place
        self._connection = connection
        self._limits = limits
        self._environment = environment
        self._find = find
        self._choice = choice
        self._description: Description | None = None
        self._operations: dict[str, Operation] = {}
        self._stamp: object = None
        self._reading = asyncio.Lock()
        self._keys = ServiceKeys(
            name,
            connection,
            limits.seconds,
            environment,
            self._masker,
            is_own=isinstance(place, Path),
        )

    @property
    def label(self) -> str:
        """The declared tool's name, said to be of OpenAPI."""
        return f"openapi: {self._name}"

    @property
    def problems(self) -> tuple[str, ...]:
        """What of the description was left out, known after `list_tools`."""
        return self._description.problems if self._description is not None else ()

    @property
    def operations(self) -> tuple[Operation, ...]:
        """The operations that are wanted, known after `list_tools`."""
        return self._description.operations if self._description is not None else ()

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Every operation.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        description = await self._read()
        return tuple(operation.spec for operation in description.operations)

    async def overview(self) -> tuple[OperationRow, ...]:
        """Every operation of the description, wanted or not.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        async with self._reading:
            try:
                _, whole = await self._loaded(ALL_OPERATIONS)
            except ReadingStoppedError:
                raise ToolSourceError(self._stopped_words) from None
        return await asyncio.to_thread(operation_rows, whole, self._choice)

    def stop_reading(self) -> None:
        """Stop the reading that is under way, because the user gave it up."""
        if self._under_way is not None:
            reading, work = self._under_way
            reading.stop()
            work.cancel()

    def place_of(self, name: str) -> str:
        """The operation's method and address, references unresolved."""
        description, operation = self._description, self._operations.get(name)
        if description is None or operation is None:
            return ""
        given = text_of(self._connection.get("endpoint") or self._connection.get("url"))
        base = server_url(description, given, str(self._place), operation).rstrip("/")
        named = f" as {name_of(self._connection)}" if name_of(self._connection) else ""
        return f"{operation.method.upper()} {base}{operation.path}{named}"

    async def request_text(self, name: str, arguments: JsonObject) -> str:
        """The request that a call would send, with its key masked, for the user to see first.

        Raises:
            ToolSourceError: there is no such operation, or the request cannot be made.
        """
        description = await self._read()
        operation = self._operations.get(name)
        if operation is None:
            raise ToolSourceError(f"{self.label} has no operation {name!r}")
        try:
            base, named = await self._base(description, operation)
            found = credentials_for(description, operation, self._keys.names(description, named))
            request = masked_request(operation, arguments, base, *(each for _, each in found))
            await check_address(request)
        except (OpenApiError, LookupError) as error:
            raise ToolSourceError(f"{self.label}: {error.args[0]}") from error
        return request.text()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Send one request; cancelling the task closes the connection."""
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
        except (ToolSourceError, OpenApiError, LookupError) as error:
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
        """Nothing runs between calls."""

    async def _base(
        self, description: Description, operation: Operation
    ) -> tuple[str, NamedConnection | None]:
        """Where requests go, as it is sent, and the connection whose key goes along, if any.

        Raises:
            OpenApiError: it is not an address.
        """
        endpoint = self._connection.get("endpoint") or self._connection.get("url")
        known = self._environment()
        given = expand(endpoint, known) if isinstance(endpoint, str) else ""
        base = server_url(description, given, str(self._place), operation)
        name = name_of(self._connection)
        named = self._find(name) if name else None
        return await as_sent(address_for(named, given, base) if named else base), named

    async def _read(self) -> Description:
        async with self._reading:
            if self.is_stopped:
                raise ToolSourceError(self._stopped_words)
            if self._description is None or not self._is_as_read(self._description):
                try:
                    self._stamp, read = await self._loaded(self._choice)
                except ReadingStoppedError:
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
        """The name of its file, also of one that is fetched; without one the host."""
        if isinstance(self._place, Path):
            return self._place.name
        return self._place.partition("?")[0].rstrip("/").rpartition("/")[2].rpartition("@")[2]

    async def _loaded(self, choice: OperationChoice) -> tuple[object, Description]:
        """The description read anew, and its file's stamp.

        Raises:
            ToolSourceError: it cannot be read.
            ReadingStoppedError: the user stopped it.
        """
        reading = DescriptionReading(self._shown_place, self._tell)
        work = asyncio.ensure_future(self._load(choice, reading))
        self._under_way = reading, work
        try:
            return await work
        except asyncio.CancelledError:
            if reading.is_stopped:
                raise ReadingStoppedError from None
            reading.stop()  # its thread ends with the next step
            raise
        finally:
            self._under_way = None
            reading.end()

    async def _load(
        self, choice: OperationChoice, reading: DescriptionReading
    ) -> tuple[object, Description]:
        stamp, text = await self._text(reading)
        variables = self._variables()
        path = self._place if isinstance(self._place, Path) else None
        try:
            return stamp, await asyncio.to_thread(
                load_description, text, self.label, choice, variables, reading, path
            )
        except (OpenApiError, LookupError, RecursionError) as error:
            raise ToolSourceError(f"{self.label}: {error.args[0]}") from error

    def _variables(self) -> Mapping[str, str]:
        """Values of variables in the servers' addresses, as the connection says."""
        given = self._connection.get("variables")
        listed = given.items() if isinstance(given, Mapping) else ()
        known = self._environment()
        return {name: expand(str(value), known) for name, value in listed}

    def _is_as_read(self, description: Description) -> bool:
        """Return whether its files are as they were; asked at every pause in typing."""
        if isinstance(self._place, str):
            return True
        try:
            stamps = {self._place: self._stamp, **description.files}
            return all(stamp_of(path) == stamp for path, stamp in stamps.items())
        except OSError:
            return False

    async def _text(self, reading: DescriptionReading) -> tuple[object, str]:
        if isinstance(self._place, str):
            return self._place, await self._fetched(self._place, reading)
        try:
            stamp = stamp_of(self._place)
            text = await asyncio.to_thread(
                read_text, self._place, LONGEST_DESCRIPTION, errors="replace"
            )
        except OSError as error:
            raise ToolSourceError(
                f"{self.label}: {self._place.name} cannot be read: {error.strerror}"
            ) from error
        return stamp, text

    async def _fetched(self, url: str, reading: DescriptionReading) -> str:
        limits = ToolLimits(self._limits.start_seconds, characters=LONGEST_DESCRIPTION)
        try:
            request = get_request(await as_sent(url))
        except OpenApiError as error:
            raise ToolSourceError(f"{self.label}: {error}") from error
        outcome = await send(request, self.label, limits, came=reading.fetched, is_parsed=False)
        if outcome.status != "ok":
            raise ToolSourceError(outcome.text)
        if outcome.truncated:
            raise ToolSourceError(f"{self.label}: the description at {url} {_TOO_LARGE}")
        return outcome.text
