"""An MCP server, over stdio or streamable HTTP, as a source of tools.

One connection serves all calls, several at once. A call is canceled by the protocol's notification;
a server that then stops answering is ended and restarted if needed. Prompts and resources of the
server are listed, opened and completed too.
"""

from __future__ import annotations

import asyncio
import os
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Literal
from urllib.parse import quote

from studio.core.prompty.document import ToolSpec
from studio.core.text.values import JsonObject
from studio.core.tools.mcp.connection import (
    AskForInput,
    CallTime,
    ConnectionLost,
    McpConnection,
    ServerRefusal,
    block_pictures,
    block_text,
)
from studio.core.tools.mcp.connector import Connector
from studio.core.tools.mcp.server_config import ServerAddress, address_pin
from studio.core.tools.python_server.tool_file import cut
from studio.core.tools.source import (
    DEFAULT_LIMITS,
    OfferArgument,
    OfferContent,
    ServerOffer,
    Tell,
    ToolLimits,
    ToolOutcome,
    ToolPicture,
    ToolSourceError,
    TrafficLog,
    tool_asked,
)

if TYPE_CHECKING:
    import mcp_types as types


_GAP = re.compile(r"\{[+#./;?&]?([^{}]+)\}")


async def open_offer(
    connection: McpConnection, offer: ServerOffer, given: Mapping[str, str]
) -> OfferContent:
    """Open a prompt or a resource.

    Args:
        connection: the connection to the server.
        offer: the prompt or resource as listed.
        given: arguments; empty ones are not sent.

    Raises:
        ServerRefusal: the server returns an error.
        ConnectionLost: the connection ended.
    """
    values = {name: text for name, text in given.items() if text}
    if offer.kind == "prompt":
        prompt = await connection.request(connection.client.get_prompt(offer.name, values))
        return OfferContent(
            tuple((each.role, block_text(each.content)) for each in prompt.messages),
            block_pictures(each.content for each in prompt.messages),
        )
    uri = _filled(offer.name, values) if offer.kind == "resource template" else offer.name
    read = await connection.request(connection.client.read_resource(uri))
    return OfferContent(
        tuple(("", block_text(each)) for each in read.contents), block_pictures(read.contents)
    )


async def complete_offer(
    connection: McpConnection,
    offer: ServerOffer,
    argument: str,
    text: str,
    given: Mapping[str, str],
) -> tuple[str, ...]:
    """Return the server's completions for an argument; empty if it has none.

    Args:
        connection: the connection to the server.
        offer: the prompt or template.
        argument: name of the argument.
        text: text typed so far.
        given: the other arguments.
    """
    import mcp_types as types

    if not connection.is_open or connection.client.server_capabilities.completions is None:
        return ()
    reference: types.PromptReference | types.ResourceTemplateReference
    if offer.kind == "prompt":
        reference = types.PromptReference(type="ref/prompt", name=offer.name)
    else:
        reference = types.ResourceTemplateReference(type="ref/resource", uri=offer.name)
    others = {name: value for name, value in given.items() if value and name != argument}
    asked = {"name": argument, "value": text}
    try:
        answer = await connection.request(
            connection.client.complete(reference, asked, others or None)
        )
    except (ServerRefusal, ConnectionLost):
        return ()
    return tuple(answer.completion.values)


async def list_offers(connection: McpConnection) -> tuple[ServerOffer, ...]:
    """Return the server's prompts, resources and templates of resources, from all pages.

    Raises:
        ServerRefusal: the server returns an error.
        ConnectionLost: the connection ended.
    """
    client = connection.client
    able = client.server_capabilities
    found: list[ServerOffer] = []
    if able.prompts is not None:
        async for prompts in connection.pages(client.list_prompts):
            found += (_offer("prompt", item, item.name) for item in prompts.prompts)
    if able.resources is not None:
        async for page in connection.pages(client.list_resources):
            found += (_offer("resource", item, str(item.uri)) for item in page.resources)
        async for templates in connection.pages(client.list_resource_templates):
            found += (
                _offer("resource template", item, item.uri_template)
                for item in templates.resource_templates
            )
    return tuple(found)


def _offer(
    kind: Literal["prompt", "resource", "resource template"],
    item: types.Prompt | types.Resource | types.ResourceTemplate,
    name: str,
) -> ServerOffer:
    """Return an SDK prompt or resource as a `ServerOffer`, described by its title if needed."""
    words = item.description or item.title or (item.name if item.name != name else "")
    return ServerOffer(kind, name, " ".join(words.split()), _arguments(item))


def _arguments(
    item: types.Prompt | types.Resource | types.ResourceTemplate,
) -> tuple[OfferArgument, ...]:
    given = getattr(item, "arguments", None) or ()
    template = getattr(item, "uri_template", "")
    names = [name.rstrip("*") for gap in _GAP.findall(template) for name in gap.split(",")]
    return (
        *(OfferArgument(each.name, each.description or "", bool(each.required)) for each in given),
        *(OfferArgument(name, required=True) for name in dict.fromkeys(names)),
    )


def _filled(template: str, values: Mapping[str, str]) -> str:
    """Return the URI for a template (RFC 6570, levels 1 and 2), with encoded values."""

    def value(match: re.Match[str]) -> str:
        names = [name.rstrip("*") for name in match[1].split(",")]
        mark = match[0][1]
        parts = [
            quote(values.get(name, ""), safe="/:?#[]@!$&'()*+,;=" if mark in "+#" else "")
            for name in names
        ]
        match mark:
            case "?" | "&":
                return mark + "&".join(
                    f"{name}={part}" for name, part in zip(names, parts, strict=True)
                )
            case "/" | "." | "#":
                return mark + (mark if mark != "#" else ",").join(parts)
            case ";":
                return "".join(f";{n}={part}" for n, part in zip(names, parts, strict=True))
            case _:
                return ",".join(parts)

    return _GAP.sub(value, template)


_CANNOT_ASK = re.compile(r"server-initiated requests", re.IGNORECASE)
_HOW_TO_BE_ASKED = (
    '\n(This server asks in the way of older protocols: write "protocol": "2025-11-25" beside its '
    "command or address in the file that names it.)"
)
_SIGN_OF_LIFE_SECONDS = 2.0
_FRESH_SECONDS = 30.0  # a list is requested again after this time, not at every pause in typing
_PATIENCE_SECONDS = 5.0  # a server that could not be started is not tried again before


@dataclass(frozen=True, slots=True)
class ServerFacts:
    """The facts about a server besides its tools."""

    words: Mapping[str, str] = field(default_factory=dict)
    """Description by the server: name, version, protocol, capabilities, instructions."""

    offers: tuple[ServerOffer, ...] = ()
    """Its prompts and resources."""


class McpSource:
    """The tools of one MCP server."""

    says_when_asked = True
    """Whether a call's time begins only when its process has started."""

    def __init__(
        self,
        name: str,
        address: ServerAddress,
        *,
        allowed: tuple[str, ...] = (),
        limits: ToolLimits = DEFAULT_LIMITS,
        environment: Callable[[], Mapping[str, str]] = lambda: os.environ,
        on_change: Callable[[], None] | None = None,
        ask: AskForInput | None = None,
    ) -> None:
        """Create a source; nothing is started before it is needed.

        Args:
            name: name of the server.
            address: how to reach it.
            allowed: tools that may be used; empty for all.
            limits: limits of a call.
            environment: returns the variables for references.
            on_change: called when the server reports changed lists.
            ask: asks the user for input that the server requests; None to refuse such requests.
        """
        self._on_change = on_change
        self.traffic = TrafficLog()
        """Messages to and from the server."""
        self._time = CallTime(limits.seconds, ask, name)
        self._connector = Connector(
            address, limits, environment, self._time.ask, self._changed, self.traffic
        )
        self._name = name
        self._address = address
        self._allowed = allowed
        self._limits = limits
        self._connection: McpConnection | None = None
        self._opening = asyncio.Lock()
        self._calls = 0
        self._listed: tuple[float, tuple[ToolSpec, ...]] | None = None
        self._facts: ServerFacts | None = None
        self._failure: tuple[float, ToolSourceError] | None = None
        self._endings: set[asyncio.Task[None]] = set()

    @property
    def label(self) -> str:
        """Name of the server, marked as MCP."""
        return f"mcp: {self._name}"

    @property
    def problems(self) -> tuple[str, ...]:
        """One sentence for each of its tools, prompts and resources that is unreadable."""
        return self._connection.left_out if self._connection is not None else ()

    @property
    def log(self) -> str:
        """The server's newest output on stderr and log messages."""
        messages = self._connection.take_messages() if self._connection is not None else ""
        return self._connector.read_log(messages)

    async def list_tools(self) -> tuple[ToolSpec, ...]:
        """Return every tool, including those that the document does not allow.

        Raises:
            ToolSourceError: the server cannot be reached or started, or returns an error.
        """
        if self._listed is not None and time.monotonic() - self._listed[0] < _FRESH_SECONDS:
            return self._listed[1]
        connection = await self._connected()
        try:
            listed = await asyncio.wait_for(
                connection.list_tools(self.label), self._limits.start_seconds
            )
        except TimeoutError as error:
            await self.restart()
            raise ToolSourceError(
                f"{self.label} did not list its tools within {self._limits.start_seconds:g} s"
            ) from error
        except (ServerRefusal, ConnectionLost) as error:
            reason = self._connector.reason(error)
            await self.restart()
            raise ToolSourceError(f"{self.label} does not list its tools: {reason}") from error
        self._listed = (time.monotonic(), listed)
        self._facts = None
        return listed

    def forget_list(self) -> None:
        """Request tools, prompts and resources from the server again at the next load."""
        self._listed = self._facts = self._failure = None

    def place_of(self, name: str) -> str:
        """Return the command line or address, with a digest of its hidden parts."""
        pin = address_pin(self._address)
        return "\n".join([*pin.lines, f"({pin.digest[:16]})"])

    async def facts(self) -> ServerFacts:
        """Return the server's description, prompts and resources, for the tools view."""
        if self._facts is not None:
            return self._facts
        connection = await self._connected()
        try:
            offers = await asyncio.wait_for(list_offers(connection), self._limits.start_seconds)
        except (ServerRefusal, ConnectionLost, TimeoutError):
            offers = ()
        self._facts = ServerFacts(connection.facts, offers)
        return self._facts

    async def open_offer(self, offer: ServerOffer, given: Mapping[str, str]) -> OfferContent:
        """Open a prompt or a resource.

        Raises:
            ToolSourceError: the server cannot be reached, or returns an error.
        """
        connection = await self._connected()
        try:
            return await asyncio.wait_for(
                open_offer(connection, offer, given), self._limits.seconds
            )
        except TimeoutError as error:
            raise ToolSourceError(f"did not answer within {self._limits.seconds:g} s") from error
        except (ServerRefusal, ConnectionLost) as error:
            raise ToolSourceError(self._connector.reason(error)) from error

    async def complete(
        self, offer: ServerOffer, argument: str, text: str, given: Mapping[str, str]
    ) -> tuple[str, ...]:
        """Return the server's completions for an argument; empty if it has none."""
        connection = await self._connected()
        try:
            return await asyncio.wait_for(
                complete_offer(connection, offer, argument, text, given), _SIGN_OF_LIFE_SECONDS
            )
        except TimeoutError:
            return ()

    async def call(self, name: str, arguments: JsonObject) -> ToolOutcome:
        """Call a tool; cancelling the task stops the call at the server."""
        return await self.call_with_progress(name, arguments, None)

    async def call_with_progress(
        self, name: str, arguments: JsonObject, tell: Tell | None
    ) -> ToolOutcome:
        """Call a tool, and pass on the progress that its server reports."""
        if self._allowed and name not in self._allowed:
            return ToolOutcome(f"{name} is not among allowedTools", "unknown-tool")
        try:
            connection = await self._connected()
        except ToolSourceError as error:
            return ToolOutcome(str(error), "crashed")
        status: Literal["ok", "error", "crashed", "timeout"] = "ok"
        value = None
        pictures: tuple[ToolPicture, ...] = ()
        self._calls += 1
        tool_asked()
        try:
            async with self._time.limit() as limit:
                with self._time.running(limit):
                    result = await connection.call(name, arguments, tell)
            text, value, pictures = result.text, result.structured, result.pictures
            status = "error" if result.is_error else "ok"
        except TimeoutError:
            text = f"{name} was canceled after {self._limits.seconds:g} s"
            status = "timeout"
            self._check_later(connection)
        except ServerRefusal as error:
            text, status = self._connector.reason(error), "error"
        except ConnectionLost as error:
            text = f"{self.label} disconnected while it ran {name}: {self._connector.reason(error)}"
            status = "crashed"
            await self.restart()
        except BaseException:
            self._check_later(connection)
            raise
        finally:
            self._calls -= 1
        if status == "error" and _CANNOT_ASK.search(text) and not self._address.is_old:
            text += _HOW_TO_BE_ASKED
        text, truncated = cut(text, self._limits.characters)
        return ToolOutcome(text, status, value=value, truncated=truncated, pictures=pictures)

    async def restart(self) -> None:
        """End the server; the next request starts it again."""
        _ = self.log
        connection, child = self._connection, self._connector.take_child()
        self._connection = self._listed = self._facts = None
        if connection is not None:
            await connection.abandon()
        if child is not None:
            await child.close()

    async def close(self) -> None:
        """Close the connection; end a server that does not exit by itself."""
        for task in tuple(self._endings):
            task.cancel()
        self._connector.close()
        await self.restart()

    async def _connected(self) -> McpConnection:
        async with self._opening:
            if self._connection is not None and self._connection.is_open:
                return self._connection
            if self._failure and time.monotonic() - self._failure[0] < _PATIENCE_SECONDS:
                raise self._failure[1].with_traceback(None)
            await self.restart()
            try:
                self._connection = await self._connector.connect()
            except ToolSourceError as error:
                reason = await self._connector.failure(error)
                await self.restart()
                failure = ToolSourceError(f"{self.label} {reason}")
                self._failure = (time.monotonic(), failure)
                raise failure from error
            except BaseException:
                await self.restart()
                raise
            return self._connection

    def _changed(self) -> None:
        self.forget_list()
        if self._on_change is not None:
            self._on_change()

    def _check_later(self, connection: McpConnection) -> None:
        """Check that the server still answers, and end it if a call has made it hang."""
        if self._connector.child is None:
            return
        task = asyncio.create_task(self._check(connection))
        self._endings.add(task)
        task.add_done_callback(self._endings.discard)

    async def _check(self, connection: McpConnection) -> None:
        if self._calls:
            return  # other calls are running and will show it
        try:
            await asyncio.wait_for(connection.list_tools(self.label), _SIGN_OF_LIFE_SECONDS)
        except (TimeoutError, ServerRefusal, ConnectionLost):
            if connection is self._connection:
                await self.restart()
