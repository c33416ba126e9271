"""What a server wants to know of the user while a tool works: elicitation, in MCP's word.

The time in which a call waits for the user is its own.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Literal, TypeAlias

from studio.core.text.values import JsonObject

if TYPE_CHECKING:
    import mcp_types as types
    from mcp.client.context import ClientRequestContext
    from mcp.client.session import ElicitationFnT


@dataclass(frozen=True, slots=True)
class InputWanted:
    """A server asks: by a form, or by a page to be opened."""

    message: str
    """What it says."""

    schema: JsonObject = field(default_factory=dict)
    """What is to be filled in: an object of texts, numbers, choices."""

    url: str = ""
    """The page to open; empty for a form."""

    server: str = ""
    """Which server asks, for people."""


@dataclass(frozen=True, slots=True)
class InputGiven:
    """What the user answered."""

    action: Literal["accept", "decline", "cancel"]
    """Given, refused, or neither."""

    content: Mapping[str, Any] = field(default_factory=dict)
    """What was filled in."""


AskForInput: TypeAlias = Callable[[InputWanted], Awaitable[InputGiven]]
"""Asks the user; runs in the loop, and is cancelled with the call."""


def asker(ask: AskForInput) -> ElicitationFnT:
    """The SDK's callback for a way to ask."""

    async def answer(
        context: ClientRequestContext,
        params: types.ElicitRequestParams,
    ) -> types.ElicitResult | types.ErrorData:
        import mcp_types as types

        if isinstance(params, types.ElicitRequestURLParams):
            given = await ask(InputWanted(params.message, url=params.url))
            return types.ElicitResult(action=given.action)
        given = await ask(InputWanted(params.message, params.requested_schema))
        content = dict(given.content) if given.action == "accept" else None
        return types.ElicitResult(action=given.action, content=content)

    return answer


class CallTime:
    """The limits of the calls that run; which call a question is of, a server need not say."""

    def __init__(self, seconds: float, ask: AskForInput | None, server: str = "") -> None:
        """Make them.

        Args:
            seconds: the longest time of a call.
            ask: asks the user for what the server wants to know.
            server: which server it is, for people.
        """
        self._server = server
        self._seconds = seconds
        self._ask = ask
        self._running: set[asyncio.Timeout] = set()
        self._asking = 0

    @property
    def ask(self) -> AskForInput | None:
        """Asks the user, while no call's time runs out; None where nobody can be asked."""
        return self._ask_user if self._ask is not None else None

    def limit(self) -> asyncio.Timeout:
        """The limit of a call that begins; to be entered."""
        return asyncio.timeout(None if self._asking else self._seconds)

    @contextmanager
    def running(self, limit: asyncio.Timeout) -> Iterator[None]:
        """While the call runs, its limit stands still when the user is asked."""
        self._running.add(limit)
        try:
            yield
        finally:
            self._running.discard(limit)

    async def _ask_user(self, wanted: InputWanted) -> InputGiven:
        assert self._ask is not None
        self._asking += 1
        for limit in self._running:
            limit.reschedule(None)
        try:
            return await self._ask(replace(wanted, server=self._server))
        finally:
            self._asking -= 1
            if not self._asking:
                end = asyncio.get_running_loop().time() + self._seconds
                for limit in self._running:
                    limit.reschedule(end)
