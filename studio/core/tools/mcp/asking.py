"""What a server wants to know of the user while a tool works: elicitation, in MCP's word."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
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
