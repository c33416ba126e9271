"""The operations of an OpenAPI description as a source of tools."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from studio.core.masking.masker import Masker, key_reference
from studio.core.masking.walk import masked
from studio.core.prompty.tool_spec import ToolSpec
from studio.core.prompty.yaml.reader import read_yaml
from studio.core.text.foreign_json import parse_json
from studio.core.text.values import Json, JsonObject
from studio.core.tools.limits import DEFAULT_LIMITS, ToolLimits
from studio.core.tools.mcp.server_config import expand
from studio.core.tools.openapi.description import (
    Description,
    OpenApiError,
    Operation,
    read_description,
)
from studio.core.tools.openapi.exchange import as_sent, check_address, send
from studio.core.tools.openapi.named_connection import (
    FindConnection,
    NamedConnection,
    address_for,
    name_of,
    no_connection,
)
from studio.core.tools.openapi.request import (
    ArgumentError,
    build_request,
    get_request,
    masked_request,
    server_url,
)
from studio.core.tools.source import ToolOutcome, ToolSourceError

LONGEST_DESCRIPTION = 8 * 1024 * 1024
"""Bytes of a description that are read."""


_VARIABLE = re.compile(r"\$\{env:\w+\}")


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
    ) -> None:
        """Make a source.

        Args:
            name: the declared tool's name.
            place: the description's file, or its URL.
            connection: the tool's `connection`: `endpoint`, `apiKey`; references unresolved.
            limits: bounds of a call.
            environment: the variables that references are resolved with, asked at each call.
            find: finds the connection that `connection` names, asked at each call.
            masker: is told the key that is sent; services repeat it.
        """
        self._masker = masker if masker is not None else Masker()
        self._name = name
        self._place = place
        self._connection = connection
        self._limits = limits
        self._environment = environment
        self._find = find
        self._description: Description | None = None
        self._operations: dict[str, Operation] = {}
        self._stamp: object = None

    @property
    def label(self) -> str:
        """The declared tool's name, said to be of OpenAPI."""
        return f"openapi: {self._name}"

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Every operation.

        Raises:
            ToolSourceError: the description cannot be read.
        """
        description = await self._read()
        return tuple(operation.spec for operation in description.operations)

    def place_of(self, name: str) -> str:
        """The operation's method and address, references unresolved."""
        description, operation = self._description, self._operations.get(name)
        if description is None or operation is None:
            return ""
        endpoint = self._connection.get("endpoint") or self._connection.get("url")
        given = endpoint if isinstance(endpoint, str) else ""
        base = server_url(description, given, str(self._place)).rstrip("/")
        named = f" as {name_of(self._connection)}" if name_of(self._connection) else ""
        return f"{operation.method.upper()} {base}{operation.path}{named}"

    async def request_text(self, name: str, arguments: JsonObject) -> str:
        """The request that a call would send, with its key masked, for the person to see first.

        Raises:
            ToolSourceError: there is no such operation, or the request cannot be made.
        """
        description = await self._read()
        operation = self._operations.get(name)
        if operation is None:
            raise ToolSourceError(f"{self.label} has no operation {name!r}")
        try:
            base, named = await self._base(description)
            has_key = named.has_key if named else bool(self._connection.get("apiKey"))
            request = masked_request(
                operation, arguments, base, description.credential, has_key=has_key
            )
            await check_address(request)
        except (OpenApiError, LookupError) as error:
            raise ToolSourceError(f"{self.label}: {error.args[0]}") from error
        return request.text()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Send one request; cancelling the task closes the connection."""
        started = time.perf_counter()
        try:
            description = await self._read()
            operation = self._operations.get(name)
            if operation is None:
                return ToolOutcome(f"{self.label} has no operation {name!r}", "unknown-tool")
            base, named = await self._base(description)
            key = await named.read_key() if named else self._own_key()
            self._masker.note(self._key_reference(), key, is_key=True)
            request = build_request(operation, arguments, base, description.credential, key)
            await check_address(request)
        except ArgumentError as error:
            return ToolOutcome(f"{name}: {error}", "bad-arguments")
        except (ToolSourceError, OpenApiError, LookupError) as error:
            return ToolOutcome(f"{self.label}: {error.args[0]}", "error")
        outcome = masked(await send(request, self.label, self._limits), self._masker)
        return replace(outcome, duration=time.perf_counter() - started)

    async def close(self) -> None:
        """Nothing runs between calls."""

    def _key_reference(self) -> str:
        """What stands for the key."""
        key = self._connection.get("apiKey")
        if isinstance(key, str) and _VARIABLE.fullmatch(key):
            return key
        return key_reference(name_of(self._connection) or self._name)

    def _own_key(self) -> str:
        key = self._connection.get("apiKey")
        return expand(key, self._environment()) if isinstance(key, str) else ""

    async def _base(self, description: Description) -> tuple[str, NamedConnection | None]:
        """Where requests go, as it is sent, and the connection whose key goes along, if any.

        Raises:
            OpenApiError: it is no address.
        """
        endpoint = self._connection.get("endpoint") or self._connection.get("url")
        known = self._environment()
        given = expand(endpoint, known) if isinstance(endpoint, str) else ""
        base = server_url(description, given, str(self._place))
        name = name_of(self._connection)
        named = self._find(name) if name else None
        return await as_sent(address_for(named, given, base) if named else base), named

    async def _read(self) -> Description:
        stamp, text = await self._text()
        if self._description is None or stamp != self._stamp:
            try:
                self._description = read_description(_loaded(text), self.label)
            except (OpenApiError, RecursionError) as error:
                raise ToolSourceError(f"{self.label}: {error}") from error
            self._stamp = stamp
            self._operations = {each.spec.name: each for each in self._description.operations}
        return self._description

    async def _text(self) -> tuple[object, str]:
        if isinstance(self._place, str):
            if self._description is not None:
                return self._stamp, ""
            return self._place, await self._fetched(self._place)
        try:
            facts = self._place.stat()
            if facts.st_size > LONGEST_DESCRIPTION:
                raise ToolSourceError(f"{self.label}: {self._place.name} is too large")
            text = self._place.read_text(encoding="utf-8", errors="replace")
        except OSError as error:
            raise ToolSourceError(
                f"{self.label}: {self._place.name} cannot be read: {error.strerror}"
            ) from error
        return (facts.st_mtime_ns, facts.st_size), text

    async def _fetched(self, url: str) -> str:
        limits = ToolLimits(self._limits.start_seconds, characters=LONGEST_DESCRIPTION)
        try:
            request = get_request(await as_sent(url))
        except OpenApiError as error:
            raise ToolSourceError(f"{self.label}: {error}") from error
        outcome = await send(request, self.label, limits)
        if outcome.status != "ok":
            raise ToolSourceError(outcome.text)
        return outcome.text


def _loaded(text: str) -> Json:
    """JSON or YAML; what is neither gives nothing."""
    try:
        loaded = parse_json(text)
    except ValueError:
        return read_yaml(text).value
    return loaded
